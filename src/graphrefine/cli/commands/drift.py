"""Options and help of ``graphrefine drift``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, TABLE, THREADS, Command, Option

DRIFT = Command(
    "drift",
    work="drift:drift",
    first=("output", "k", "every", "format"),
    short_help="What has become of each node: moved, lost, new.",
    help="""What has become of the nodes of OLD in NEW: moved how far, lost, new, and how many neighbors each has kept.

    Rotations do not count: NEW is aligned to OLD first. Two seeds on one graph do not keep all neighbors either; the
    page on answers has figures to compare with.

    \b
    graphrefine drift monday tuesday -o drift.csv
    """,
    params=[
        click.Argument(["old"], metavar="OLD"),
        click.Argument(["new"], metavar="NEW"),
        Option(["-k"], type=int, default=10, show_default=True, metavar="K", help="How many neighbors to compare."),
        Option(["--all", "every"], is_flag=True,
               help="Compare the neighbors of all shared nodes, not of a sample of 10,000 (of each side)."),
        TABLE,
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Seed of the sample."),
        Option(["--format"], metavar="NAME", help="Format of OLD and NEW where their suffixes do not say."),
        THREADS, JSON,
    ],
)  # fmt: skip
