"""``graphrefine info``: what is in a graph, and what embedding it takes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from graphrefine.cli.options import GRAPH, JSON, MEMORY, READING, REFINING, THREADS, command, reading_options
from graphrefine.display.console import note, progress_bar, seconds, show_json, show_table
from graphrefine.progress import Stages
from graphrefine.system.memory import budget_of

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.pipeline.forecast import Estimate
    from graphrefine.pipeline.memory_plan import MemoryPlan
    from graphrefine.refine.settings import RefineSettings

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
COMPONENT_BYTES = 24  # for each entry, while components are counted


@command(
    "info",
    first=("dim", "weights", "directed", "quality"),
    short_help="What is in a graph, and what embedding it takes.",
    params=[GRAPH, MEMORY, THREADS, JSON, *REFINING, *READING],
)  # fmt: skip
def info(graph: str, memory: str | None, threads: int | None, as_json: bool, **options: Any) -> None:
    """Print what is in GRAPH, and what embedding it will take: time and memory are predicted from a short trial.

    GRAPH is what embed takes. A line says how it was read: format, columns, direction, weights, what is not used.

    Where the memory does not suffice, how embed would do without is printed instead of the time.
    """
    from graphrefine.cli.describe import dimension_line, remarks
    from graphrefine.methods.refine import two_sides
    from graphrefine.methods.registry import find_method
    from graphrefine.pipeline.forecast import Estimate, compare_tiers, estimate
    from graphrefine.pipeline.memory_plan import choose_dimension
    from graphrefine.readers.read import read
    from graphrefine.refine.settings import refine_settings
    from graphrefine.system.threads import usable_threads

    reading, default_dim = reading_options(options), options["dim"] is None
    if automatic := options["dim"] == "auto":
        options["dim"] = None
    settings = refine_settings(options.pop("preset"), **options)
    threads, auto_dim = usable_threads(threads), None
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            whole = read(graph, threads=threads, **reading)
        if default_dim:
            settings = replace(settings, dim=min(settings.dim, find_method("refine").most_columns(whole, settings)))
        method, budget = find_method("refine"), budget_of(memory)
        if automatic:
            with stages.stage("dimension"):
                dimension = choose_dimension(whole, budget=budget, threads=threads)
            settings, auto_dim = replace(settings, dim=dimension.dim), dimension.stats()
        plan = None if method.on_disk(whole, settings) else _plan(whole, settings, budget=budget, threads=threads)
        large = None if plan is None or plan.mode == "memory" else plan
        method.check(whole, settings, in_memory=large is None)
        with stages.stage("predict"):
            cost = large or estimate(whole, settings, threads=threads)
            tiers = {}
            if isinstance(cost, Estimate) and not two_sides(whole, settings):
                tiers = compare_tiers(whole, settings, cost, threads=threads)
        with stages.stage("count"):
            figures = count_figures(whole, memory=budget)
    if as_json:
        prediction: dict[str, Any] = {"dim": settings.dim, "threads": threads}
        if auto_dim is not None:
            prediction["auto_dim"] = auto_dim
        if isinstance(cost, Estimate):
            prediction |= {"quality": settings.quality, **_cost_figures(cost)}
            prediction["tiers"] = {quality: _cost_figures(each) for quality, each in tiers.items()}
        if plan is not None:
            prediction["plan"] = plan.to_dict()
        return show_json({**figures, "reading": whole.reading, "predicted": prediction})
    pairs = figure_texts({**figures, "reading": whole.reading}, settings, cost, threads=threads)
    if auto_dim is not None:
        pairs.append(("dimension", f"{settings.dim}: {dimension_line(auto_dim)}"))
    if tiers:
        pairs.append(("qualities", _tiers_in_words(tiers)))
    show_table(pairs, left=(1,))
    for line in remarks(whole):
        note(f"note: {line}")
    return None


def _plan(graph: Graph, settings: RefineSettings, *, budget: int, threads: int) -> MemoryPlan:
    """Return the plan of `embed`, which leaves learning out where the budget has no room for it."""
    from graphrefine.methods.registry import find_method
    from graphrefine.pipeline.memory_plan import BudgetError, learning_need, plan_local

    plan = partial(plan_local, graph, settings, budget, method=find_method("refine"), threads=threads)
    try:
        return plan(extra=learning_need(graph, settings))
    except BudgetError:
        return plan()


def count_figures(graph: Graph, *, memory: int | None = None) -> dict[str, Any]:
    """Return counts of a graph; components only if ``memory``, in bytes, has room for them: they need the most."""
    import numpy as np

    components: dict[str, Any] = {"components": None, "largest_component": None}
    if memory is None or graph.entries * COMPONENT_BYTES <= memory:
        count, member_of = graph.components()
        components = {"components": count, "largest_component": int(np.bincount(member_of).max())}
    quantiles = np.quantile(graph.out_counts, SHARES).tolist()
    weights = graph.weights
    return {
        **graph.summary(),
        "weights": None if weights is None else {"min": float(weights.min()), "max": float(weights.max())},
        **components,
        "degree_quantiles": {f"{share:g}": value for share, value in zip(SHARES, quantiles, strict=True)},
    }


def figure_texts(
    figures: dict[str, Any], settings: RefineSettings, cost: Estimate | MemoryPlan, *, threads: int
) -> list[tuple[str, str]]:
    """Return the same stats in words, and the cost of embedding the graph."""
    weights = "{min:g} to {max:g}".format(**figures["weights"]) if figures["weights"] else "none"
    quantiles = figures["degree_quantiles"].items()
    degrees = (f"{round(100 * float(share))}%: {value:g}" for share, value in quantiles)
    parts = "not counted: too large for the memory"
    if figures["components"] is not None:
        parts = f"{figures['components']:,}, the largest of {figures['largest_component']:,} nodes"
    return [
        ("graph", figures["source"]),
        ("read", figures["reading"]),
        ("nodes", f"{figures['nodes']:,} ({_sides(figures)}{figures['isolated']:,} isolated)"),
        ("edges", f"{figures['edges']:,} {_kind(figures)}"),
        ("weights", weights),
        ("components", parts),
        ("out-degree" if figures["directed"] else "degree", ", ".join(degrees)),
        ("embedding", f"dim {settings.dim} {_cost_in_words(cost, threads)}"),
    ]


def _cost_figures(cost: Estimate) -> dict[str, float]:
    return {"compute_seconds": cost.seconds, "peak_mb": cost.peak_bytes / 1e6}


def _tiers_in_words(tiers: dict[str, Estimate]) -> str:
    each = (f"{quality} {seconds(cost.seconds)}, {cost.peak_bytes / 1e6:,.0f} MB" for quality, cost in tiers.items())
    return "; ".join(each)


def _cost_in_words(cost: Estimate | MemoryPlan, threads: int) -> str:
    from graphrefine.pipeline.memory_plan import MemoryPlan

    if isinstance(cost, MemoryPlan):
        return cost.in_words()
    cores = "1 thread" if threads == 1 else f"{threads} threads"
    peak = f"{cost.peak_bytes / 1e6:,.0f} MB"
    return f"takes about {seconds(cost.seconds)} on {cores} and {peak}, reading and writing aside"


def _sides(figures: dict[str, Any]) -> str:
    if not figures.get("bipartite"):
        return ""
    return f"{figures['sources']:,} sources, {figures['nodes'] - figures['sources']:,} targets; "


def _kind(figures: dict[str, Any]) -> str:
    if figures.get("bipartite"):
        return "between sources and targets"
    return "directed" if figures["directed"] else "undirected"
