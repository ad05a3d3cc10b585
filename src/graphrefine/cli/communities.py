"""``graphrefine communities``: groups of nodes that are alike."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_table_output, command, load_with_graph, show_table_or_json
from graphrefine.display.console import note, progress_bar


@command(
    "communities",
    first=("graph", "count", "output", "seed"),
    short_help="Groups of nodes that are alike, named by their hubs.",
    params=[
        opt.EMBEDDING,
        Option(["--graph"], metavar="GRAPH", help="The graph of the embedding: for hubs, edges inside, modularity."),
        Option(["--count"], default="auto", show_default=True, metavar="K", type=opt.IntegerOrAuto(),
               help="How many; 'auto': by the modularity, of the graph or of near vectors."),
        opt.TABLE, opt.SEED, opt.EMBEDDING_FORMAT, opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def communities(
    embedding: str, graph: str | None, count: int | str, output: str | None, embedding_format: str | None,
    threads: int | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Find groups of nodes whose vectors are alike, the largest first, each named by its hub."""
    from graphrefine.analysis.communities import find_communities
    from graphrefine.display.table import table_of

    check_table_output(output, embedding, graph, options["nodes"])
    vectors, links, origin = load_with_graph(embedding, graph, options, format=embedding_format, threads=threads)
    start, number = perf_counter(), None if count == "auto" else int(count)
    with progress_bar() as bar:
        table = find_communities(vectors, links, count=number, threads=threads, watcher=bar, **options)
    spent = perf_counter() - start
    text = str(table_of(table.stats["communities"]))  # a row for each, where the table has one for each node
    if output is None and not as_json:
        print(text)
        note("-o TABLE writes the community of each node")
        return None
    return show_table_or_json(table, output=output, as_json=as_json, lines=text.splitlines(), seconds=spent, **origin)
