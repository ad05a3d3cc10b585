"""``graphrefine info``: what is in a graph, and what embedding it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphrefine.cli.arguments import reading_options
from graphrefine.cli.describe import described, figures, remarks
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
    """What is in GRAPH, and what embedding it will take: time and memory are predicted from a short trial."""
    reading, given_dim = reading_options(options), options["dim"]
    chosen = refine_settings(options.pop("preset"), **options)
    threads = usable_threads(threads)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            found = read(graph, threads=threads, **reading)
        if given_dim is None:
            chosen = replace(chosen, dim=min(chosen.dim, find_method("refine").most_columns(found, chosen)))
        method, budget = find_method("refine"), budget_of(memory)
        plan = None if method.on_disk(found, chosen) else plan_local(found, chosen, budget)
        large = None if plan is None or plan.mode == "memory" else plan
        method.check(found, chosen, in_memory=large is None)
        with stages.stage("predict"):
            cost = large or estimate(found, chosen, threads=threads)
        with stages.stage("count"):
            counted = figures(found, memory=budget)
    if as_json:
        predicted: dict[str, Any] = {"dim": chosen.dim, "threads": threads}
        if isinstance(cost, Estimate):
            predicted |= {"compute_seconds": cost.seconds, "peak_mb": cost.peak_bytes / 1e6}
        if plan is not None:
            predicted["plan"] = plan.figures()
        return show_json({**counted, "predicted": predicted})
    show_pairs(described(counted, chosen, cost, threads=threads))
    for line in remarks(found):
        note(line)
    return None
