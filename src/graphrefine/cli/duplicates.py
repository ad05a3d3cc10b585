"""``graphrefine duplicates``: pairs of nodes that look like the same thing."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_table_output, command, load_with_graph, show_table_or_json
from graphrefine.display.console import progress_bar, seconds

if TYPE_CHECKING:
    from graphrefine.display.table import Table


@command(
    "duplicates",
    first=("graph", "output", "above", "min_degree"),
    short_help="Pairs of nodes that look like the same thing.",
    params=[
        opt.EMBEDDING,
        Option(["--graph"], metavar="GRAPH", help="The graph of the embedding, whose neighbors decide."),
        Option(["--above"], type=float, metavar="COSINE",
               help="Lowest cosine of a pair.  [default: 0.98; with --graph, that of the 20 nearest nodes of each]"),
        Option(["--overlap"], type=float, metavar="SHARE",
               help="Lowest share of common neighbors, with --graph.  [default: 0.5]"),
        Option(["--min-degree"], type=int, metavar="N",
               help="Leave out nodes with fewer neighbors, such as leaves.  [default: 3, if degrees are known]"),
        opt.TABLE, opt.EMBEDDING_FORMAT, opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def duplicates(
    embedding: str, graph: str | None, output: str | None, embedding_format: str | None, threads: int | None,
    as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Find pairs of nodes that look like the same thing, the most alike first.

    With --graph the neighbors decide: of the nodes that are near by their vectors, those that have most of their
    neighbors in common. Without it the cosine alone does, and leaves of one hub, which have the same vector, are left
    out only where EMBEDDING holds degrees.
    """
    from graphrefine.analysis.duplicates import find_duplicates

    check_table_output(output, embedding, graph, options["nodes"])
    vectors, links, origin = load_with_graph(embedding, graph, options, format=embedding_format, threads=threads)
    start = perf_counter()
    with progress_bar() as bar:
        table = find_duplicates(vectors, links, threads=threads, watcher=bar, **options)
    spent = perf_counter() - start
    show_table_or_json(table, output=output, as_json=as_json, lines=_describe(table, spent), seconds=spent, **origin)


def _describe(table: Table, spent: float) -> list[str]:
    """Return lines on what the table itself does not say."""
    stats = table.stats
    few = f"with fewer than {stats['min_degree']} neighbors"
    reasons = {"few_neighbors": few, "zero_vectors": "with a zero vector", "not_in_graph": "not in the graph"}
    others = ", ".join(f"{count:,} {reasons[reason]}" for reason, count in stats["left_out"].items() if count)
    lines = [
        f"{stats['pairs']:,} pairs in {stats['groups']:,} groups, of {stats['compared']:,} nodes compared in "
        f"{seconds(spent)}" + (f"; left out: {others}" if others else "")
    ]
    if stats["pairs"] > len(table):
        lines.append(f"identical nodes are listed once each: {len(table):,} rows for all pairs")
    if stats["kinds"] is None:
        lines.append("note: the embedding holds no degrees, so leaves of one hub are pairs too; pass --graph")
    return lines
