"""``graphrefine check``: whether an embedding is whole, can be made again, and is close enough to another one."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from graphrefine.analysis.check import Verdict, check, check_uses
from graphrefine.analysis.drift import SAMPLE
from graphrefine.cli.drift import describe_drift
from graphrefine.cli.options import READING, reading_options
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.embedding.formats import format_place

BEYOND = 1  # exit code of an embedding that is not as it should be


def check_embedding(
    embedding: str,
    graph: str | None,
    against: str | None,
    embedding_format: str | None,
    every: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Print the verdict on an embedding, and exit with 1 where something is wrong."""
    start = perf_counter()
    check_uses(_take_typed("features", *(str(option.name) for option in READING)), graph=graph)
    check_uses(_take_typed("k", "every", "seed"), against=against)
    reading = {name: value for name, value in reading_options(options).items() if value is not None}
    with progress_bar() as bar:
        verdict = check(
            embedding,
            graph=graph,
            reading=reading,
            against=against,
            format=embedding_format,
            sample=None if every else SAMPLE,
            watcher=bar,
            **options,
        )
    spent = perf_counter() - start
    if as_json:
        figures = {"ok": verdict.ok, "problems": verdict.problems, "remarks": verdict.remarks, **verdict.figures}
        if "remade" in figures:
            figures["reading"] = figures["remade"].pop("reading")
        show_json({**figures, "graph": graph, "against": against, "seconds": spent})
    else:
        _print(verdict, format_place(embedding), against)
    if not verdict.ok:
        raise click.exceptions.Exit(BEYOND)


def _take_typed(*names: str) -> dict[str, Any]:
    """Those of the options that the user has written, be it with the value that they have anyway."""
    context, default = click.get_current_context(), click.core.ParameterSource.DEFAULT
    return {name: context.params[name] for name in names if context.get_parameter_source(name) not in (None, default)}


def _print(verdict: Verdict, place: str, against: str | None) -> None:
    figures = verdict.figures
    if "remade" in figures:
        note(f"read: {figures['remade']['reading']}")
    for remark in verdict.remarks:
        note(f"note: {remark}")
    if "drift" in figures:
        for line in describe_drift(figures["drift"]):
            note(line)
    words = []
    if figures.get("whole") or (figures.get("whole") is None and verdict.ok and "expected" in figures):
        words.append("whole")
    if figures.get("remade", {}).get("same_vectors"):
        words.append("the same bits here")
    if against is not None and verdict.ok:
        words.append(f"{format_place(against)} is within the limits")
    if "fingerprint" in figures:
        size = f"{figures['nodes']:,} nodes x {figures['dim']}"
        print(f"{place}: {', '.join([size, figures['fingerprint']['name'], *words])}")
    for problem in verdict.problems:
        print(f"problem: {problem}")
