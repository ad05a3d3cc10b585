"""Answers of commands: a table in a file, its first rows on stdout, or figures and rows as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphrefine.cli.options import reading_options
from graphrefine.display.console import note, show_json
from graphrefine.display.table import SHOWN, Table
from graphrefine.embedding.table import VectorTable
from graphrefine.graph.graph import Graph
from graphrefine.readers.read import read

MOST_ROWS = 1000  # in JSON


def show_answer(
    table: Table, *, output: str | None, as_json: bool, lines: Sequence[str] = (), seconds: float, **origin: Any
) -> None:
    """Write a table to its file, or print its first rows, and lines about it; with ``--json`` figures and rows."""
    if output is not None:
        table.save(output)
    if as_json:
        rows = {} if output is not None else {"rows": table[:MOST_ROWS].records()}
        return show_json({**origin, **table.figures, "output": output, "count": len(table), "seconds": seconds, **rows})
    for line in lines:
        note(line)
    if output is not None:
        print(f"{output}: {len(table):,} rows")
    elif len(table):
        print(table)
        if len(table) > SHOWN:
            note(f"the first {SHOWN} of {len(table):,} rows; -o FILE writes all")
    return None


def read_graph_of(table: VectorTable, graph: str | None, options: dict[str, Any]) -> Graph | None:
    """Read a graph beside an embedding, directed or bipartite as its recipe says; None without one.

    The options of reading are taken out of a command's.
    """
    reading = reading_options(options)
    if graph is None:
        return None
    if reading["directed"] is None or table.sides.kind == "columns":
        reading["directed"] = table.sides.kind == "columns"
    reading["bipartite"] |= table.sides.kind == "rows"
    links = read(graph, **reading)
    note(f"read: {links.reading}")
    return links
