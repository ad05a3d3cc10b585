"""``graphrefine communities``: groups of nodes that are alike."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.common import check_table_output, read_graph_of, show_table_or_json
from graphrefine.cli.options import JSON, READING, TABLE, THREADS, IntegerOrAuto, Option, command
from graphrefine.display.console import note, progress_bar

if TYPE_CHECKING:
    from graphrefine.display.table import Table


@command(
    "communities",
    first=("graph", "count", "output", "seed"),
    short_help="Groups of nodes that are alike, named by their hubs.",
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        Option(["--graph"], metavar="GRAPH", help="The graph of the embedding: for hubs, edges inside, modularity."),
        Option(["--count"], default="auto", show_default=True, metavar="K", type=IntegerOrAuto(),
               help="How many; 'auto': by the modularity, of the graph or of near vectors."),
        TABLE,
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Seed of k-means."),
        Option(["--embedding-format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        THREADS, JSON, *READING,
    ],
)  # fmt: skip
def communities(
    embedding: str, graph: str | None, count: int | str, output: str | None, embedding_format: str | None, seed: int,
    threads: int | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Find groups of nodes whose vectors are alike, the largest first, each named by its hub.

    \b
    graphrefine communities friends --graph friends.csv -o communities.csv
    graphrefine communities friends --count 12
    """  # noqa: D301
    from graphrefine.analysis.communities import find_communities
    from graphrefine.embedding.embedding import load

    check_table_output(output, embedding, graph, options["nodes"])
    vectors = load(embedding, format=embedding_format)
    links = read_graph_of(vectors, graph, options, threads=threads)
    start, number = perf_counter(), None if count == "auto" else int(count)
    with progress_bar() as bar:
        table = find_communities(vectors, links, count=number, seed=seed, threads=threads, watcher=bar)
    spent = perf_counter() - start
    if output is None and not as_json:
        print(_list_communities(table))
        note("-o TABLE writes the community of each node")
        return None
    lines = [] if as_json else str(_list_communities(table)).splitlines()
    return show_table_or_json(
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
    """Return a table with a row for each community."""
    from graphrefine.display.table import Table

    listed = table.stats["communities"]
    return Table({name: [each[name] for each in listed] for name in (listed[0] if listed else ())})
