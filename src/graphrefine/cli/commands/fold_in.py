"""Options and help of ``graphrefine fold-in``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, READING, SKIP, THREADS, Command, Option

FOLD_IN = Command(
    "fold-in",
    work="fold_in:fold_in",
    first=("old", "output", "extend", "weights"),
    short_help="Vectors for new nodes, from their edges alone.",
    help="""Vectors for new nodes from their edges to nodes of OLD, without its graph and in milliseconds.

    EDGES is a file as for graphrefine embed, whose edges lead from a new node to one of OLD, or to another new node:
    the new one comes first. Where OLD is of a directed or bipartite graph, edges lead from a source to a target, as in
    its graph, and one end of each is new.
    """,
    params=[
        click.Argument(["edges"], metavar="EDGES"),
        Option(["--into", "old"], required=True, metavar="OLD", help="The embedding that has the known nodes."),
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="Where the vectors of the new nodes go; the suffix says how, as for graphrefine embed."),
        Option(["--output-format"], metavar="NAME", help="Format of OUT where its suffix does not say."),
        Option(["--extend"], is_flag=True, help="Write the known nodes too, the new ones below them."),
        SKIP, THREADS, JSON, *(option for option in READING if option.name not in ("directed", "bipartite", "nodes")),
    ],
)  # fmt: skip
