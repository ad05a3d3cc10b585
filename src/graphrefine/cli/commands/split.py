"""Options and help of ``graphrefine split``."""

from __future__ import annotations

import click

from graphrefine.cli.options import GRAPH, JSON, READING, THREADS, Command, Option, under

_PARTS = under(
    "The parts",
    Option(["--test"], type=float, default=0.1, show_default=True, metavar="PART", help="Part of the edges to test."),
    Option(["--validation"], type=float, default=0.05, show_default=True, metavar="PART",
           help="Part of the edges to choose settings by; 0 for none."),
    Option(["--negatives"], type=float, default=1.0, show_default=True, metavar="N",
           help="Pairs without an edge for each edge, in every part; 0 for none."),
    Option(["--negatives-by"], type=click.Choice(["uniform", "degree"]), default="uniform", show_default=True,
           help="Draw them from all pairs alike; or pair the ends of a part's own edges anew, so that degrees tell "
                "nothing."),
    Option(["--connected"], is_flag=True,
           help="Keep a spanning forest in train, so that no node loses its last edge. The other parts are then no "
                "uniform sample of the edges."),
    Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Seed of the split."),
)  # fmt: skip

SPLIT = Command(
    "split",
    work="split:split",
    first=("output", "test", "validation", "negatives"),
    short_help="Train, validation and test edges, with negatives.",
    help="""Train, validation and test edges of GRAPH, with pairs that are no edges, for a model of your own.

    Nothing leaks: an edge is in one part alone, in both directions if it has none; a negative is no edge of any part,
    and in one part alone. FOLDER gets a table for each (train, train_negatives, ...), the nodes, and split.json with
    the recipe. A column of times is not split by: --until and --since read the graph before and after a moment.

    \b
    graphrefine split friends.csv -o parts
    graphrefine embed parts/train.csv --nodes parts/nodes.txt -o friends
    """,
    params=[
        GRAPH,
        Option(["-o", "--output"], required=True, metavar="FOLDER", help="Folder to make, or an earlier split to "
               "replace."),
        Option(["--table", "table"], type=click.Choice(["csv", "tsv", "jsonl", "parquet", "arrow"]), default="csv",
               show_default=True, help="Format of the tables."),
        *_PARTS, THREADS, JSON, *READING,
    ],
)  # fmt: skip
