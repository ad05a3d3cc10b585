"""Options and help of ``graphrefine reproduce``."""

from __future__ import annotations

import click

from graphrefine.cli.options import JSON, THREADS, Command, Option

REPRODUCE = Command(
    "reproduce",
    work="reproduce:reproduce",
    first=("output", "quick", "only", "list_only"),
    short_help="The paper's tables, figures and claims, measured.",
    help="""Run the experiments of the REFINE paper, and set our figures beside the paper's.

    Tables 1 to 5, Figures 1 to 3, and each claim of the text with a verdict: holds, partly, does not hold. Real
    graphs are looked for in --data; if one is missing, a generated stand-in takes its place, and is marked, or the
    cell names the missing file. Every finished measurement is kept: interrupted or repeated, a run goes on from there.
    """,
    params=[
        Option(["-o", "--output"], metavar="FOLDER",
               help="Folder of the report: report.html, report.md, plots, results.json; and cells/, from which a "
                    "second run goes on."),
        Option(["--quick"], is_flag=True, help="A little of everything, in minutes."),
        Option(["--only"], metavar="NAMES", help="Experiments to run, with commas between, as in table1,figure3."),
        Option(["--list", "list_only"], is_flag=True,
               help="Print the experiments and their remaining work; run nothing."),
        Option(["--data"], metavar="FOLDER", help="Folder of the real graphs.  [default: $GRAPHREFINE_DATA]"),
        Option(["--seed"], type=click.IntRange(min=0), default=0, show_default=True, metavar="N",
               help="Seed of the embeddings and sketches."),
        THREADS, JSON,
    ],
)  # fmt: skip
