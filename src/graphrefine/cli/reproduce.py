"""``graphrefine reproduce``: the paper's tables, figures and claims, our figures beside the paper's."""

from __future__ import annotations

from typing import Any

import click

from graphrefine import paper
from graphrefine.paper.setup import Setup
from graphrefine.visuals.console import note, seconds, show_json, show_table


def reproduce(output: str | None, list_only: bool, only: str | None, as_json: bool, **options: Any) -> None:
    """Run the experiments of the paper, and print the verdicts."""
    setup = (paper.quick if options["quick"] else paper.full)(
        threads=options["threads"], data=options["data"], seed=options["seed"]
    )
    names = [name.strip() for name in only.split(",")] if only is not None else None
    if list_only:
        return _list(setup, names, output, as_json)
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output': the folder for the report")
    try:
        reproduction = paper.reproduce(output, setup, only=names, progress=True)
    except KeyboardInterrupt:
        note(f"finished measurements are kept in {output}; the same command goes on from there")
        raise
    if as_json:
        return show_json(reproduction.results)
    rows = [("experiment", "verdict", "because")]
    rows += [(name, word, _shorten(reason)) for name, word, reason in reproduction.headlines]
    show_table(rows, left=(0, 1, 2))
    work = reproduction.results["work"]
    counts = f"{work['computed']} measurements computed, {work['reused']} reused, {work['failed']} failed"
    print(f"\n{counts}; {output}/report.html")
    return None


def _list(setup: Setup, names: list[str] | None, output: str | None, as_json: bool) -> None:
    """Print the experiments with their work."""
    experiments = paper.select_experiments(names)
    outlooks = [(experiment, paper.survey(experiment, setup, output)) for experiment in experiments]
    if as_json:
        keys = ("work", "finished", "seconds_left")
        entries = [{"name": e.name, "title": e.title, **dict(zip(keys, o, strict=True))} for e, o in outlooks]
        return show_json({"experiments": entries})
    rows = [("experiment", "what", "work", "finished", "about")]
    rows += [(e.name, e.title, f"{o.measurements}", f"{o.finished}", seconds(o.seconds_left)) for e, o in outlooks]
    show_table(rows, left=(0, 1))
    print("\nwork that several experiments share is done once, and counted for each of them here")
    return None


def _shorten(text: str, limit: int = 150) -> str:
    return text if len(text) <= limit else f"{text[: limit - 4]} ..."
