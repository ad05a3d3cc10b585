"""``graphrefine info``: what is in a graph, and what embedding it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphrefine.cli.arguments import reading_options
from graphrefine.cli.describe import count_figures, figure_texts, remarks
from graphrefine.methods.registry import find_method
from graphrefine.progress import Stages
from graphrefine.readers.read import read
from graphrefine.refine.settings import refine_settings
from graphrefine.run.forecast import Estimate, estimate
from graphrefine.run.memory_plan import plan_local
from graphrefine.system.memory import budget_of
from graphrefine.system.threads import usable_threads
from graphrefine.visuals.console import note, progress_bar, show_json, show_pairs


def info(graph: str, memory: str | None, threads: int | None, as_json: bool, **options: Any) -> None:
    """Print the size of a graph, and the cost of embedding it."""
    reading, default_dim = reading_options(options), options["dim"] is None
    settings = refine_settings(options.pop("preset"), **options)
    threads = usable_threads(threads)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            whole = read(graph, threads=threads, **reading)
        if default_dim:
            settings = replace(settings, dim=min(settings.dim, find_method("refine").most_columns(whole, settings)))
        method, budget = find_method("refine"), budget_of(memory)
        plan = None if method.on_disk(whole, settings) else plan_local(whole, settings, budget)
        large = None if plan is None or plan.mode == "memory" else plan
        method.check(whole, settings, in_memory=large is None)
        with stages.stage("predict"):
            cost = large or estimate(whole, settings, threads=threads)
        with stages.stage("count"):
            figures = count_figures(whole, memory=budget)
    if as_json:
        prediction: dict[str, Any] = {"dim": settings.dim, "threads": threads}
        if isinstance(cost, Estimate):
            prediction |= {"compute_seconds": cost.seconds, "peak_mb": cost.peak_bytes / 1e6}
        if plan is not None:
            prediction["plan"] = plan.figures()
        return show_json({**figures, "predicted": prediction})
    show_pairs(figure_texts(figures, settings, cost, threads=threads))
    for line in remarks(whole):
        note(line)
    return None
