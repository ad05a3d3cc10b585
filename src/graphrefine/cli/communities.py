"""``graphrefine communities``: groups of nodes that are alike."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from graphrefine.analysis.communities import find_communities
from graphrefine.cli.answer import read_graph_of, show_answer
from graphrefine.display.console import note, progress_bar
from graphrefine.display.table import Table
from graphrefine.display.table_files import check_table_path
from graphrefine.embedding.embedding import load


def communities(
    embedding: str, graph: str | None, count: int | None, output: str | None, embedding_format: str | None, seed: int,
    threads: int | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Print groups of nodes that are alike, and write the group of each node."""
    if output is not None:
        check_table_path(output)
    vectors = load(embedding, format=embedding_format)
    links = read_graph_of(vectors, graph, {**options, "threads": threads})
    start = perf_counter()
    with progress_bar() as bar:
        table = find_communities(vectors, links, count=count, seed=seed, threads=threads, watcher=bar)
    spent = perf_counter() - start
    if output is None and not as_json:
        print(_list_communities(table))
        note("-o TABLE writes the community of each node")
        return None
    lines = [] if as_json else str(_list_communities(table)).splitlines()
    return show_answer(
        table,
        output=output,
        as_json=as_json,
        lines=lines,
        seconds=spent,
        embedding=embedding,
        graph=graph,
        **({} if links is None else {"reading": links.reading}),
    )


def _list_communities(table: Table) -> Table:
    """A row for each community."""
    listed = table.figures["communities"]
    return Table({name: [each[name] for each in listed] for name in (listed[0] if listed else ())})
