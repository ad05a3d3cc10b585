"""Options and help of ``graphrefine map``."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli.options import JSON, LABEL_READING, THREADS, Command, Option


def _parse_names(_: Any, __: Any, value: str) -> int:
    if value == "none":
        return 0
    if not value.isdecimal():
        raise click.BadParameter(f"{value!r} is not a number, nor 'none'")
    return int(value)


MAP = Command(
    "map",
    work="map:map",
    first=("output", "labels", "method", "title"),
    short_help="The nodes in the plane: a picture, a page or a table.",
    help="""Place the nodes of EMBEDDING in the plane, near those that are like them, and draw them.

    \b
    graphrefine map friends -o friends.png
    graphrefine map friends --labels clubs.csv -o friends.html

    The layout is kept beside EMBEDDING, in the folder EMBEDDING.map, for the next time.
    """,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="A picture (.png, .svg), a page to look around in (.html), or a table (.parquet)."),
        Option(["--labels"], metavar="LABELS",
               help="What to color by: a table (node, label), or a .mat file, as for graphrefine evaluate labels."),
        Option(["--method"], type=click.Choice(["auto", "clusters", "pca"]), default="auto", show_default=True,
               help="How nodes are placed: near those that are like them, or on the principal plane."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N", help="Of the layout."),
        Option(["--title"], metavar="TEXT", help="Of the picture.  [default: the embedding's name and size]"),
        Option(["--names"], default="12", show_default=True, metavar="N|none", callback=_parse_names,
               help="How many nodes have their names on a picture: those with the most neighbors."),
        Option(["--dark"], is_flag=True, help="A picture for a dark page."),
        Option(["--variable"], default="group", show_default=True, metavar="NAME", help="Of a .mat file of labels."),
        Option(["--format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        THREADS, JSON, *LABEL_READING,
    ],
)  # fmt: skip
