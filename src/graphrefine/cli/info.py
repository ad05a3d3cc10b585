"""``graphrefine info``: what is in a graph, and what embedding it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from graphrefine.cli.options import GRAPH, JSON, MEMORY, READING, REFINING, THREADS, Command, reading_options


@click.command(
    cls=Command,
    params=[GRAPH, MEMORY, THREADS, JSON, *REFINING, *READING],
    short_help="What is in a graph, and what embedding it takes.",
)
def info(graph: str, memory: str | None, threads: int | None, as_json: bool, **options: Any) -> None:
    """What is in GRAPH, and what embedding it will take: time and memory are predicted from a short trial.

    Where the memory does not suffice, how embed would do without is told in place of the time.
    """
    from graphrefine.cli.describe import described, figures, remarks
    from graphrefine.methods.registry import find
    from graphrefine.progress import Stages
    from graphrefine.readers.read import read
    from graphrefine.refine.refine import settings
    from graphrefine.run.forecast import Estimate, estimate
    from graphrefine.run.memory_plan import budget_of, make_plan
    from graphrefine.system.threads import usable_threads
    from graphrefine.visuals.console import note, progress_bar, show_json, show_pairs

    reading, given_dim = reading_options(options), options["dim"]
    chosen = settings(options.pop("preset"), **options)
    threads = usable_threads(threads)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            found = read(graph, threads=threads, **reading)
        if given_dim is None:
            chosen = replace(chosen, dim=min(chosen.dim, find("refine").most_columns(found, chosen)))
        method, budget = find("refine"), budget_of(memory)
        plan = None if method.on_disk(found, chosen) else make_plan(found, chosen, budget)
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
