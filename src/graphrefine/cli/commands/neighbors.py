"""Options and help of ``graphrefine neighbors``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, LABEL_READING, SKIP, TABLE, THREADS, Command, Option

NEIGHBORS = Command(
    "neighbors",
    work="neighbors:neighbors",
    first=("k", "score", "unlinked", "output"),
    short_help="The nodes nearest to a node.",
    help="""The nodes nearest to each NODE, the nearest first, itself left out.

    \b
    who is most like her, whom she may want to know, the nearest chess players:
    graphrefine neighbors friends ada -k 5
    graphrefine neighbors friends ada --score link --unlinked friends.csv
    graphrefine neighbors friends ada --labels labels.csv --label chess
    every node's, and what to recommend to every user:
    graphrefine neighbors friends --all -o near.parquet
    graphrefine neighbors shop --all --score link --side source -o offers.csv
    """,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        click.Argument(["nodes"], metavar="NODE...", nargs=-1),
        Option(["-k"], type=int, default=10, show_default=True, metavar="K", help="How many neighbors."),
        Option(["--score"], type=click.Choice(["cosine", "dot", "link"]), default="cosine", show_default=True,
               help="What is near: nodes that are alike (cosine), the inner product, for vectors whose length counts "
                    "(dot), or nodes that are likely to be linked, hubs first (link)."),
        Option(["--from", "listed"], metavar="FILE", help="Names of further nodes, one on each line; - for stdin."),
        Option(["--all", "every"], is_flag=True, help="The neighbors of every node, written to -o block by block."),
        TABLE,
        Option(["--vectors"], metavar="FILE",
               help="Search for the vectors of this embedding instead of nodes, such as those of new nodes."),
        Option(["--labels"], metavar="LABELS", help="Which node has which label; for --label."),
        Option(["--label"], metavar="LABEL", help="Find only nodes that have this label."),
        Option(["--variable"], default="group", show_default=True, metavar="NAME", help="Of a .mat file of labels."),
        Option(["--unlinked"], metavar="GRAPH",
               help="Leave out nodes that are neighbors in this graph: near, but not linked yet."),
        Option(["--side"], type=click.Choice(["source", "target"]),
               help="The side of the nodes, where a name stands on both of a bipartite graph."),
        Option(["--index/--exact"], default=None,
               help="Search by an index, made if there is none and kept beside EMBEDDING; or all vectors.  "
                    "[default: by an index beyond a million nodes]"),
        Option(["--format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        SKIP, THREADS, JSON, *LABEL_READING,
    ],
)  # fmt: skip
