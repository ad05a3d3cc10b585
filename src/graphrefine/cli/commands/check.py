"""Options and help of ``graphrefine check``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, READING, THREADS, Command, Option, under

CHECK = Command(
    "check",
    work="check:check_embedding",
    first=("graph", "against", "max_drift", "min_neighbors"),
    short_help="Is an embedding whole, the same here, close to another?",
    help="""Whether an embedding is whole, can be made again here, and is close enough to another one.

    Its file is held to the checksum and the fingerprint that it was written with. Limits hold for each side of a
    bipartite graph. Exit code 0: all is well; 1: a file, EMBEDDING or NEW, is damaged or of no use, other vectors come
    out here, or NEW is beyond a limit; 2: a mistake in the command, such as a path that is missing, cannot be read or
    is no embedding.

    \b
    graphrefine check friends
    graphrefine check friends --graph friends.csv
    graphrefine check monday --against tuesday --max-drift 0.2 --max-lost 0.01
    """,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        Option(["--graph"], metavar="FILE",
               help="The graph that it was made from: run its recipe again, and compare the bits."),
        Option(["--features"], metavar="FILE", help="The features that it was made with, beside --graph."),
        Option(["--expect"], metavar="FINGERPRINT",
               help="The fingerprint that it must have, or the digits of a part; for formats that hold none."),
        *under(
            "Another embedding",
            Option(["--against"], metavar="NEW", help="A newer embedding, of any making, to be held to the limits."),
            Option(["--max-drift"], type=float, metavar="X",
                   help="Largest mean distance of unit vectors after the best rotation, from 0 to 2."),
            Option(["--min-neighbors"], type=float, metavar="X",
                   help="Smallest mean share of nearest nodes, and of nearest targets of a source, that is kept: 0 to "
                        "1."),
            Option(["--max-lost"], type=float, metavar="X",
                   help="Largest share of the nodes that NEW does not have, or has as zeros, from 0 to 1."),
            Option(["-k"], type=int, default=10, show_default=True, metavar="K",
                   help="How many neighbors to compare; fewer where these would be all."),
            Option(["--all", "every"], is_flag=True,
                   help="Compare the neighbors of all shared nodes, not of a sample of 10,000 (of each side)."),
            Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Seed of the sample."),
        ),
        Option(["--embedding-format"], metavar="NAME",
               help="Format of EMBEDDING and NEW where their suffixes do not say."),
        Option(["--table"], metavar="NAME", help="Of a PostgreSQL server: the table."),
        THREADS, JSON, *READING,
    ],
)  # fmt: skip
