"""Options and help of ``graphrefine explore``."""

from __future__ import annotations

import click

from graphrefine.cli.options import LABEL_READING, LABELS_VARIABLE, READING, TOKEN, Command, Option

EXPLORE = Command(
    "explore",
    work="explore:explore",
    first=("graph", "labels", "columns", "port"),
    short_help="A page to look at an embedding, and an API to ask it.",
    help="""Open a page that shows EMBEDDING as a map: find a node, see its neighbors, color, select.

    The page and its API are served on this machine alone unless --host says otherwise, until Ctrl-C.
    """,
    params=[
        click.Argument(["embedding"], metavar="EMBEDDING"),
        Option(["--graph"], metavar="GRAPH",
               help="The graph it was made from: for neighborhoods, communities, and nodes that are not yet linked."),
        Option(["--labels"], metavar="LABELS", help="Labels of nodes, as for graphrefine evaluate labels."),
        Option(["--columns"], metavar="TABLE",
               help="Further columns to color by: a csv, tsv or parquet file with a column of nodes."),
        Option(["--index/--exact"], default=None,
               help="Search neighbors by an index, kept beside EMBEDDING and made while it serves if there is none; "
                    "or all vectors.  [default: by an index beyond a million nodes]"),
        Option(["--host"], default="127.0.0.1", show_default=True, metavar="ADDRESS",
               help="Address to listen on; beyond this machine a token is needed, and made if none is given."),
        Option(["--port"], type=int, default=0, metavar="N", help="Port to listen on.  [default: any that is free]"),
        *TOKEN,
        Option(["--no-browser"], is_flag=True, help="Do not open the page in a browser."),
        Option(["--embedding-format"], metavar="NAME", help="Format of EMBEDDING where its suffix does not say."),
        Option(["--json", "as_json"], is_flag=True, help="Print one line of JSON with the address, then serve."),
        *LABEL_READING, *LABELS_VARIABLE, *READING,
    ],
)  # fmt: skip
