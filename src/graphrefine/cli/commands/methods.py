"""Options and help of ``graphrefine methods``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, Command

METHODS = Command(
    "methods",
    work="methods:methods",
    short_help="Which methods there are, what they cost, what they can take.",
    help="""
    The methods that `embed --method` knows: where each was published, its cost, the largest graph it can take here.

    With NAMEs, these methods with their settings, as `--set SETTING=VALUE` takes them. The largest graph is for 10
    edges a node, the default settings and the memory that is free now.
    """,
    params=[click.Argument(["names"], metavar="[NAME]...", nargs=-1), JSON],
)  # fmt: skip
