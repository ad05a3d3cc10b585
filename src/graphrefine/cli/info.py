"""``graphrefine info``: what is in a graph, and what embedding it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from graphrefine.cli import options as opt
from graphrefine.cli.options import command, describe_dimension, reading_options, show_notes
from graphrefine.display.console import progress_bar, seconds, show_json, show_table
from graphrefine.progress import Stages
from graphrefine.system.memory import budget_of

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.pipeline.forecast import Estimate

SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)  # of the nodes, by degree: most graphs differ in the upper ones
COMPONENT_BYTES = 24  # for each entry, while components are counted


@command(
    "info",
    first=("dim", "weights", "directed", "quality"),
    short_help="What is in a graph, and what embedding it takes.",
    params=[opt.GRAPH, opt.MEMORY, opt.THREADS, opt.JSON, *opt.REFINING, *opt.READING],
)  # fmt: skip
def info(graph: str, memory: str | None, threads: int | None, as_json: bool, **options: Any) -> None:
    """Print what is in GRAPH, and what embedding it will take: time and memory are predicted from a short trial.

    GRAPH is what embed takes. A line says how it was read: format, columns, direction, weights, what is not used.

    Where the memory does not suffice, how embed would do without is printed instead of the time.
    """
    from graphrefine.methods.registry import find_method
    from graphrefine.pipeline.forecast import estimate
    from graphrefine.pipeline.memory_plan import choose_dimension, plan_run
    from graphrefine.readers.read import read
    from graphrefine.refine.settings import refine_settings
    from graphrefine.system.threads import usable_threads

    reading, default_dim = reading_options(options), options["dim"] is None
    if automatic := options["dim"] == "auto":
        options["dim"] = None
    settings = refine_settings(options.pop("preset"), **options)
    method, budget = find_method("refine"), budget_of(memory)
    threads, auto_dim = usable_threads(threads), None
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            whole = read(graph, threads=threads, **reading)
        if default_dim:
            settings = replace(settings, dim=min(settings.dim, method.most_columns(whole, settings)))
        if automatic:
            with stages.stage("dimension"):
                dimension = choose_dimension(whole, budget=budget, threads=threads)
            settings, auto_dim = replace(settings, dim=dimension.dim), dimension.stats()
        plan = None
        if not method.on_disk(whole, settings):
            plan = plan_run(whole, settings, learn=True, method=method, budget=budget, threads=threads)
        large = plan is not None and plan.mode != "memory"
        method.check(whole, settings, in_memory=not large)
        with stages.stage("predict"):
            cost, tiers = (None, {}) if large else estimate(whole, settings, threads=threads)
        with stages.stage("count"):
            stats = {**_count(whole, memory=budget), "reading": whole.reading}
    if as_json:
        prediction: dict[str, Any] = {"dim": settings.dim, "threads": threads}
        if auto_dim is not None:
            prediction["auto_dim"] = auto_dim
        if cost is not None:
            prediction |= {"quality": settings.quality, **_cost_stats(cost)}
            prediction["tiers"] = {quality: _cost_stats(each) for quality, each in tiers.items()}
        if plan is not None:
            prediction["plan"] = plan.to_dict()
        return show_json({**stats, "predicted": prediction})
    pairs = _describe(stats)
    words = "" if plan is None else plan.in_words()
    if cost is not None:
        cores = "1 thread" if threads == 1 else f"{threads} threads"
        words = f"takes about {_describe_cost(cost, f' on {cores} and')}, reading and writing aside"
    pairs.append(("embedding", f"dim {settings.dim} {words}"))
    if auto_dim is not None:
        pairs.append(("dimension", f"{settings.dim}: {describe_dimension(auto_dim)}"))
    if tiers:
        pairs.append(("qualities", "; ".join(f"{name} {_describe_cost(each)}" for name, each in tiers.items())))
    show_table(pairs, left=(1,))
    show_notes(whole)
    return None


def _count(graph: Graph, *, memory: int) -> dict[str, Any]:
    """Return counts of a graph; components only if ``memory``, in bytes, has room for them: they need the most."""
    import numpy as np

    # A graph on disk may be larger than the memory.
    count = largest = None
    if graph.entries * COMPONENT_BYTES <= memory:
        count, member_of = graph.components()
        largest = int(np.bincount(member_of).max())
    quantiles = np.quantile(graph.out_counts, SHARES).tolist()
    weights = graph.weights
    return {
        **graph.summary(),
        "weights": None if weights is None else {"min": float(weights.min()), "max": float(weights.max())},
        "components": count,
        "largest_component": largest,
        "degree_quantiles": {f"{share:g}": value for share, value in zip(SHARES, quantiles, strict=True)},
    }


def _cost_stats(cost: Estimate) -> dict[str, float]:
    return {"compute_seconds": cost.seconds, "peak_mb": cost.peak_bytes / 1e6}


def _describe_cost(cost: Estimate, between: str = ",") -> str:
    return f"{seconds(cost.seconds)}{between} {cost.peak_bytes / 1e6:,.0f} MB"


def _describe(stats: dict[str, Any]) -> list[tuple[str, str]]:
    """Return counts of a graph in words."""
    kind, sides = "directed" if stats["directed"] else "undirected", ""
    if stats.get("bipartite"):
        kind = "between sources and targets"
        sides = f"{stats['sources']:,} sources, {stats['nodes'] - stats['sources']:,} targets; "
    degrees = (f"{round(100 * float(share))}%: {value:g}" for share, value in stats["degree_quantiles"].items())
    parts = "not counted: too large for the memory"
    if stats["components"] is not None:
        parts = f"{stats['components']:,}, the largest of {stats['largest_component']:,} nodes"
    return [
        ("graph", stats["source"]),
        ("read", stats["reading"]),
        ("nodes", f"{stats['nodes']:,} ({sides}{stats['isolated']:,} isolated)"),
        ("edges", f"{stats['edges']:,} {kind}"),
        ("weights", "{min:g} to {max:g}".format(**stats["weights"]) if stats["weights"] else "none"),
        ("components", parts),
        ("out-degree" if stats["directed"] else "degree", ", ".join(degrees)),
    ]
