"""``graphrefine info``: what is in a graph, and what embedding it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from graphrefine.cli_options import GRAPH, JSON, READING, REFINING, THREADS, Command, reading_options


@click.command(
    cls=Command,
    params=[GRAPH, THREADS, JSON, *REFINING, *READING],
    short_help="What is in a graph, and what embedding it takes.",
)
def info(graph: str, threads: int | None, as_json: bool, **options: Any) -> None:
    """What is in GRAPH, and what embedding it will take: time and memory are predicted from a short trial."""
    from graphrefine.console import note, progress_bar, show_json, show_pairs
    from graphrefine.describe import described, figures, remarks
    from graphrefine.graph import usable_threads
    from graphrefine.methods import find
    from graphrefine.plan import estimate
    from graphrefine.progress import Stages
    from graphrefine.reader import read
    from graphrefine.refine import settings

    reading, given_dim = reading_options(options), options["dim"]
    chosen = settings(options.pop("preset"), **options)
    threads = usable_threads(threads)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            found = read(graph, threads=threads, **reading)
        if given_dim is None:
            chosen = replace(chosen, dim=min(chosen.dim, find("refine").most_columns(found, chosen)))
        find("refine").check(found, chosen)
        with stages.stage("predict"):
            cost = estimate(found, chosen, threads=threads)
        with stages.stage("count"):
            counted = figures(found)
    if as_json:
        predicted = {"compute_seconds": cost.seconds, "peak_mb": cost.peak_bytes / 1e6}
        return show_json({**counted, "predicted": {"dim": chosen.dim, "threads": threads, **predicted}})
    show_pairs(described(counted, chosen, cost, threads=threads))
    for line in remarks(found):
        note(line)
    return None
