"""Options and help of ``graphrefine info``."""

from __future__ import annotations

from graphrefine.cli.options import GRAPH, JSON, MEMORY, READING, REFINING, THREADS, Command

INFO = Command(
    "info",
    work="info:info",
    first=("dim", "weights", "directed", "quality"),
    short_help="What is in a graph, and what embedding it takes.",
    help="""What is in GRAPH, and what embedding it will take: time and memory are predicted from a short trial.

    GRAPH is what embed takes. How it was read is told in a line: format, columns, direction, weights, what is not used.

    Where the memory does not suffice, how embed would do without is told in place of the time.
    """,
    params=[GRAPH, MEMORY, THREADS, JSON, *REFINING, *READING],
)  # fmt: skip
