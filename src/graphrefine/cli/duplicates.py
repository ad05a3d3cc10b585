"""``graphrefine duplicates``: pairs of nodes that look like the same thing."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from graphrefine.analysis.duplicates import find_duplicates
from graphrefine.cli.answer import read_graph_of, show_answer
from graphrefine.display.console import progress_bar, seconds
from graphrefine.display.table import Table
from graphrefine.display.table_files import check_table_path
from graphrefine.embedding.embedding import load


def duplicates(
    embedding: str, graph: str | None, output: str | None, embedding_format: str | None, threads: int | None,
    as_json: bool, above: float | None, overlap: float | None, min_degree: int | None, **options: Any,
) -> None:  # fmt: skip
    """Print pairs of nodes that look like the same thing."""
    if output is not None:
        check_table_path(output)
    vectors = load(embedding, format=embedding_format)
    links = read_graph_of(vectors, graph, {**options, "threads": threads})
    start = perf_counter()
    with progress_bar() as bar:
        table = find_duplicates(
            vectors, links, above=above, overlap=overlap, min_degree=min_degree, threads=threads, watcher=bar
        )
    spent = perf_counter() - start
    origin = {"embedding": embedding, "graph": graph, **({} if links is None else {"reading": links.reading})}
    show_answer(table, output=output, as_json=as_json, lines=_describe(table, spent), seconds=spent, **origin)


def _describe(table: Table, spent: float) -> list[str]:
    """What the table does not say itself."""
    figures, left_out = table.figures, table.figures["left_out"]
    reasons = {
        "few_neighbors": f"fewer than {figures['min_degree']} neighbors",
        "zero_vectors": "a zero vector",
        "not_in_graph": "no place in the graph",
    }
    others = ", ".join(f"{count:,} with {reasons[reason]}" for reason, count in left_out.items() if count)
    lines = [
        f"{figures['pairs']:,} pairs in {figures['groups']:,} groups, of {figures['compared']:,} nodes compared in "
        f"{seconds(spent)}" + (f"; left out: {others}" if others else "")
    ]
    if figures["pairs"] > len(table):
        lines.append(f"copies that cannot be told apart are listed once each: {len(table):,} rows for all pairs")
    if figures["kinds"] is None:
        lines.append("note: the embedding holds no degrees, so leaves of one hub are not told apart; --graph does that")
    return lines
