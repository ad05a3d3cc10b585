"""Options and help of ``graphrefine duplicates``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, READING, TABLE, THREADS, Command, Option

DUPLICATES = Command(
    "duplicates",
    work="duplicates:duplicates",
    first=("graph", "output", "above", "min_degree"),
    short_help="Pairs of nodes that look like the same thing.",
    help="""Pairs of nodes that look like the same thing, the most alike first.

    With --graph the neighbors decide: of the nodes that are near by their vectors, those that have most of their
    neighbors in common. Without it the cosine alone does, and leaves of one hub, which have the same vector, are told
    apart only where EMBEDDING holds degrees.

    \b
    graphrefine duplicates papers --graph citations.csv -o pairs.csv
    graphrefine duplicates papers --above 0.99
    """,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        Option(["--graph"], metavar="GRAPH", help="The graph of the embedding, whose neighbors decide."),
        Option(["--above"], type=float, metavar="COSINE",
               help="Lowest cosine of a pair.  [default: 0.98 without --graph; with it, the 20 nearest nodes of each "
                    "are looked at]"),
        Option(["--overlap"], type=float, metavar="SHARE",
               help="Lowest share of common neighbors, with --graph.  [default: 0.5]"),
        Option(["--min-degree"], type=int, metavar="N",
               help="Leave out nodes with fewer neighbors, such as leaves.  [default: 3, if degrees are known]"),
        TABLE,
        Option(["--embedding-format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        THREADS, JSON, *READING,
    ],
)  # fmt: skip
