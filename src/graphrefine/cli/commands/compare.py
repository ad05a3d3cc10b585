"""Options and help of ``graphrefine compare``."""

from __future__ import annotations

from typing import Any

import click

from graphrefine.cli.options import (
    GRAPH,
    JSON,
    LABEL_READING,
    LABELS_VARIABLE,
    READING,
    THREADS,
    Command,
    Option,
    parse_counts,
    parse_numbers,
    parse_penalty,
)
from graphrefine.errors import InputError
from graphrefine.system.memory import parse_size


def _parse_names(_: Any, __: Any, value: str | None) -> list[str] | None:
    return None if value is None else [name.strip() for name in value.split(",") if name.strip()]


def _parse_size(_: Any, __: Any, value: str | None) -> int | None:
    if value is None:
        return None
    try:
        return parse_size(value)
    except InputError:
        raise click.BadParameter(f"{value!r} is not a size, as in 8GB or 500MB") from None


COMPARE = Command(
    "compare",
    work="compare:compare",
    first=("labels", "methods", "dims", "output"),
    short_help="Quality and cost of methods on a graph.",
    help="""Embed GRAPH by many methods, each in a process of its own, and show the quality and the cost of each.

    Rows are sorted by quality: Micro F1 of the labels, or AUC of held-out edges. A method that cannot take the graph,
    fails, or passes a limit is a row with the reason.
    """,
    params=[
        GRAPH,
        Option(["--labels"], metavar="FILE",
               help="Labels of nodes, as for evaluate labels, or an attribute of GRAPH's nodes: methods are judged by "
                    "node classification.  [default: by edges that are held out]"),
        Option(["--methods"], metavar="A,B,...", callback=_parse_names,
               help="Names of methods; graphrefine methods lists them.  [default: all]"),
        Option(["--dims"], metavar="K,K,...", callback=parse_counts,
               help="Lengths of the vectors.  [default: 128, or the number of nodes if that is less]"),
        Option(["-o", "--output"], metavar="FOLDER",
               help="Folder for the report: a page, the same in Markdown, a plot, and all figures. The same command "
                    "adds the rows that are missing there."),
        Option(["--time-limit"], type=float, default=300, show_default=True, metavar="SECONDS",
               help="Limit for each method and dimension."),
        Option(["--memory-limit"], metavar="SIZE", callback=_parse_size,
               help="Limit of memory, as in 500MB.  [default: 8GB, or 80% of the free memory if that is less]"),
        Option(["--ratios", "--ratio"], default="0.5", show_default=True, metavar="R,R,...", callback=parse_numbers,
               help="Parts of the labeled nodes that train."),
        Option(["--repeats"], type=int, metavar="N",
               help="Random splits for each ratio [default: 10, and 50 at ratios up to 0.05]; or repeats of holding "
                    "edges out [default: 1]."),
        Option(["--C", "C"], default="1", show_default=True, metavar="C", callback=parse_penalty,
               help="Weight of the data in the logistic regression; see evaluate labels."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Seed of the methods, the splits and the held-out edges."),
        THREADS, JSON, *LABEL_READING, *LABELS_VARIABLE, *READING,
    ],
)  # fmt: skip
