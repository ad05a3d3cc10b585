"""Options and help of ``graphrefine communities``."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli.options import JSON, READING, TABLE, THREADS, Command, Option


def _parse_count(_: Any, __: Any, value: str) -> int | None:
    if value == "auto":
        return None
    try:
        return int(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a whole number nor 'auto'") from None


COMMUNITIES = Command(
    "communities",
    work="communities:communities",
    first=("graph", "count", "output", "seed"),
    short_help="Groups of nodes that are alike, named by their hubs.",
    help="""Groups of nodes whose vectors are alike, the largest first, each named by its hub.

    \b
    graphrefine communities friends --graph friends.csv -o communities.csv
    graphrefine communities friends --count 12
    """,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        Option(["--graph"], metavar="GRAPH", help="The graph of the embedding: for hubs, edges inside, modularity."),
        Option(["--count"], default="auto", show_default=True, metavar="K", callback=_parse_count,
               help="How many; 'auto': by the modularity, of the graph or of near vectors."),
        TABLE,
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Seed of k-means."),
        Option(["--embedding-format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        THREADS, JSON, *READING,
    ],
)  # fmt: skip
