"""Options and help of ``graphrefine demo``."""

from __future__ import annotations

from graphrefine.cli.options import JSON, THREADS, Command, Option

DEMO = Command(
    "demo",
    work="demo:demo",
    short_help="See it work on a real graph.",
    help="""Embed a real graph that every installation has, score the vectors, and draw a map of them.

    The graph: 1,797 handwritten digits from scikit-learn, each joined to its ten nearest. The labels: which digit
    it is.
    """,
    params=[
        Option(["-o", "--output"], default="demo-output", show_default=True, metavar="FOLDER",
               help="For the map."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Of the sketch, the splits and the map."),
        THREADS, JSON,
    ],
)  # fmt: skip
