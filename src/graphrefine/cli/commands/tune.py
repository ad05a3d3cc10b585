"""Options and help of ``graphrefine tune``."""

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
)


def _parse_penalty(_: Any, __: Any, value: str) -> str | float:
    try:
        return value if value == "cv" else float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is neither a number nor 'cv'") from None


TUNE = Command(
    "tune",
    work="tune:tune",
    first=("labels", "budget", "dims", "output"),
    short_help="The best settings for a graph, found by trying.",
    help="""Try settings of REFINE on GRAPH, and show the best: the default first, then filters, then the rest.

    Settings are judged by labels of training nodes, or by edges that are held out. Give only labels that you will not
    test with, or use --train: test labels that help to choose settings make every later score too good.
    """,
    params=[
        GRAPH,
        Option(["--labels"], metavar="FILE",
               help="Labels of nodes, as for evaluate labels, or an attribute of GRAPH's nodes: settings are judged by "
                    "cross-validated Micro F1."),
        Option(["--task"], type=click.Choice(["labels", "links"]),
               help="Task that settings are judged by.  [default: labels if given, else links: held-out edges]"),
        Option(["--budget"], default="60s", show_default=True, metavar="TIME",
               help="Time of the search, as in 60s, 2min or 1m30s."),
        Option(["--train"], type=float, metavar="PART",
               help="Read only the labels of the nodes that evaluate labels trains with at this ratio, in its first "
                    "split.  [default: all labels]"),
        Option(["--split-seed"], type=int, default=0, show_default=True, metavar="N",
               help="Seed of that split: the --seed of evaluate labels."),
        Option(["--C", "C"], default="1", show_default=True, metavar="C", callback=_parse_penalty,
               help="Weight of the data in the logistic regression, for all trials; 'cv': the best for the default "
                    "settings."),
        Option(["--dims"], metavar="K,K,...", callback=parse_counts,
               help="Lengths of the vectors to try; longer is nearly always better, and costs more.  [default: 128]"),
        Option(["-o", "--output"], metavar="FILE",
               help="File for the best settings, as JSON: graphrefine embed --config FILE takes it."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Seed of the vectors, the folds and the held-out edges."),
        THREADS, JSON, *LABEL_READING, *LABELS_VARIABLE, *READING,
    ],
)  # fmt: skip
