"""Options and help of ``graphrefine ingest``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, READING, THREADS, Command, Option

INGEST = Command(
    "ingest",
    work="ingest:ingest",
    first=("output", "memory", "weights", "directed"),
    short_help="Edges to a graph on disk, whatever their number.",
    help="""Make a graph on disk of edges that need not fit into memory; embed and info take it as they take any file.

    EDGES are files (edge lists, csv, tsv, parquet, arrow, also compressed), folders of files, or patterns in quotes;
    several are parts of one list. Graphs in other formats (mat, GraphML, JSON ...) are read whole, if they fit.
    """,
    params=[
        click.Argument(["edges"], metavar="EDGES...", nargs=-1, required=True),
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="The graph on disk, a folder, usually called NAME.grf. Unfinished work is in OUT.work beside it; a "
                    "run that was killed goes on from there."),
        Option(["--memory"], metavar="AMOUNT",
               help="Largest amount of memory, as in 8GB or 512MB.  [default: most of the free memory]"),
        THREADS, JSON, *READING,
    ],
)  # fmt: skip
