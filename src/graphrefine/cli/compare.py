"""``graphrefine compare``: quality and cost of methods on a graph."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli.options import (
    GRAPH,
    JSON,
    READING,
    THREADS,
    Command,
    Option,
    in_options,
    parse_counts,
    parse_numbers,
    parse_penalty,
    reading_options,
)

if TYPE_CHECKING:
    from graphrefine.evaluate.compare_results import Comparison, Row

UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _parse_names(_: Any, __: Any, value: str | None) -> list[str] | None:
    return None if value is None else [name.strip() for name in value.split(",") if name.strip()]


def _parse_size(_: Any, __: Any, value: str | None) -> int | None:
    if value is None:
        return None
    size = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", value, re.IGNORECASE)
    if size is None:
        raise click.BadParameter(f"{value!r} is not a size, as in 8GB or 500MB")
    power = "KMGT".find(size[2].upper()) + 1 if size[2] else 0
    return round(float(size[1]) * (1024**power if size[3] else UNITS[size[2].upper()]))


@click.command(
    cls=Command,
    params=[
        GRAPH,
        Option(["--labels"], metavar="FILE",
               help="Labels of nodes, as for evaluate labels: methods are judged by node classification.  [default: by "
                    "edges that are held out]"),
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
               help="Parts of the labelled nodes that train."),
        Option(["--repeats"], type=int, metavar="N",
               help="Random splits for each ratio [default: 10]; or repeats of holding edges out [default: 1]."),
        Option(["--C", "C"], default="1", show_default=True, metavar="C", callback=parse_penalty,
               help="Weight of the data in the logistic regression; see evaluate labels."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Seed of the methods, the splits and the held-out edges."),
        THREADS, JSON, *READING,
    ],
    short_help="Quality and cost of methods on a graph.",
)  # fmt: skip
def compare(graph: str, labels: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Embed GRAPH by many methods, each in a process of its own, and show the quality and the cost of each.

    Rows are sorted by quality: Micro F1 of the labels, or AUC of held-out edges. A method that cannot take the graph,
    fails, or passes a limit is a row with the reason.
    """
    from graphrefine.errors import InputError
    from graphrefine.evaluate import read_labels
    from graphrefine.evaluate.compare import compare as run
    from graphrefine.progress import Stages
    from graphrefine.readers.read import read
    from graphrefine.visuals.console import note, progress_bar, show_json

    folder = _ReportFolder(graph, output)
    with progress_bar() as bar:
        with Stages(bar).stage("read"):
            whole = read(graph, threads=options["threads"], **reading_options(options))
            node_labels = None if labels is None else read_labels(labels)
        try:
            comparison = run(
                whole, labels=node_labels, previous=folder.previous, on_row=folder.add_row, progress=bar, **options
            )
        except KeyboardInterrupt:
            folder.show_finished()
            raise
    comparison = _in_options(comparison)
    try:
        if output is not None:
            folder.write(comparison)
            note(f"report: {output}")
    finally:  # also if the report cannot be written
        if as_json:
            show_json({**comparison.to_dict(), "report": output})
        else:
            _show(comparison)
    if not comparison.finished:
        raise InputError("no method finished; the rows say why")


class _ReportFolder:
    """The folder of the report. Finished rows are stored there at once, so that an interrupted run loses none."""

    def __init__(self, graph: str, output: str | None) -> None:
        from graphrefine.evaluate.compare_report import KIND, make_title
        from graphrefine.visuals.report_folder import check_report_folder

        self.output, self.title, self.full = output, make_title(graph), False
        self.comparison: Comparison | None = None
        self.previous = None if output is None else check_report_folder(output, kind=KIND, identity=self.title)

    def add_row(self, comparison: Comparison, row: Row | None) -> None:
        """Print and store a row; before the first, refuse to replace another comparison."""
        from graphrefine.errors import OutputError
        from graphrefine.evaluate.compare_report import KIND, check_inputs
        from graphrefine.visuals.console import note
        from graphrefine.visuals.report_folder import save_results

        self.comparison = comparison
        if row is None:
            if self.output is not None:
                check_inputs(self.output, self.previous, comparison)
            return
        scores = ", ".join(f"{name} {value}" for name, value in row.cells.items())
        note(f"{row.name}: {f'{scores}, {row.cost()[0]}' if row.status == 'done' else in_options(row.reason)}")
        if self.output is None or self.full:
            return
        try:
            save_results(self.output, comparison.to_dict(), kind=KIND, title=self.title)
        except OutputError as error:  # there may be room again in the end; if not, the rows are printed all the same
            self.full = True
            note(f"warning: {error}")

    def show_finished(self) -> None:
        """Print the finished rows of an interrupted run."""
        from graphrefine.visuals.console import note

        if self.comparison is None or not self.comparison.finished:
            return
        note(str(_in_options(self.comparison)))
        if self.output is not None and not self.full:
            note(f"note: these rows are kept in {self.output}; the same command goes on from there")

    def write(self, comparison: Comparison) -> None:
        """Write the report."""
        from graphrefine.evaluate.compare_report import make_report
        from graphrefine.visuals.report_folder import write_report

        assert self.output is not None
        write_report(self.output, make_report(comparison, self.title), comparison.to_dict())


def _in_options(comparison: Comparison) -> Comparison:
    """The same, with reasons in the words of the command line."""
    rows = tuple(replace(row, message=in_options(row.message)) for row in comparison.rows)
    return replace(comparison, rows=rows)


def _show(comparison: Comparison) -> None:
    from graphrefine.visuals.console import show_table

    table = comparison.table()
    show_table(table, left=[place for place, name in enumerate(table[0]) if name in ("method", "score", "status")])
    print(f"\n{comparison.protocol}")
    for row in comparison.rows:
        if row.message:
            print(f"{row.name}: {row.reason}")
