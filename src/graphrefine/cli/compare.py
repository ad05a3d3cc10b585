"""``graphrefine compare``: quality and cost of methods on a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_not_input, command, read_graph, take_labels
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.errors import InputError, OutputError
from graphrefine.progress import Stages
from graphrefine.system.memory import parse_size

if TYPE_CHECKING:
    from graphrefine.evaluate.results import Comparison, Row


def _parse_size(_: Any, __: Any, value: str | None) -> int | None:
    if value is None:
        return None
    try:
        return parse_size(value)
    except InputError:
        raise click.BadParameter(f"{value!r} is not a size, as in 8GB or 500MB") from None


@command(
    "compare",
    first=("labels", "methods", "dims", "output"),
    short_help="Quality and cost of methods on a graph.",
    params=[
        opt.GRAPH,
        Option(["--labels"], metavar="FILE",
               help="Labels of nodes, as for evaluate labels, or an attribute of GRAPH's nodes: methods are judged by "
                    "node classification.  [default: by edges that are held out]"),
        Option(["--methods"], metavar="A,B,...", callback=opt.parse_names,
               help="Names of methods; graphrefine methods lists them.  [default: all]"),
        Option(["--dims"], metavar="K,K,...", callback=opt.parse_counts,
               help="Lengths of the vectors.  [default: 128, or the number of nodes if that is less]"),
        Option(["-o", "--output"], metavar="FOLDER",
               help="Folder for a page, a plot and all numbers. The same command adds rows that are missing."),
        Option(["--time-limit"], type=float, default=300, show_default=True, metavar="SECONDS",
               help="Limit for each method and dimension."),
        Option(["--memory-limit"], metavar="SIZE", callback=_parse_size,
               help="Limit of memory, as in 500MB.  [default: 8GB, or 80% of the free memory if that is less]"),
        Option(["--ratios", "--ratio"], default="0.5", show_default=True, metavar="R,R,...", callback=opt.parse_numbers,
               help="Parts of the labeled nodes that train."),
        Option(["--repeats"], type=int, metavar="N",
               help="Random splits for each ratio [default: 10, and 50 at ratios up to 0.05]; or repeats of holding "
                    "edges out [default: 1]."),
        opt.penalty_option("1"),
        opt.SEED, opt.THREADS, opt.JSON, *opt.LABEL_READING, opt.LABELS_VARIABLE, *opt.READING,
    ],
)  # fmt: skip
def compare(graph: str, labels: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Embed GRAPH by many methods, each in a separate process, and show the quality and the cost of each.

    Rows are sorted by quality: Micro F1 of the labels, or AUC of held-out edges. A method that cannot take the graph,
    fails, or passes a limit is a row with the reason.
    """
    from graphrefine.display.report import write_report
    from graphrefine.evaluate.compare import compare as run
    from graphrefine.evaluate.compare_report import make_report

    check_not_input(output, [graph, labels, options["nodes"]])
    folder = _ReportFolder(graph, output)
    with progress_bar() as bar:
        with Stages(bar).stage("read"):
            whole = read_graph(graph, threads=options["threads"], **opt.reading_options(options))
            node_labels, readings = take_labels(labels, options, whole.names, graph=whole)
        try:
            comparison = run(
                whole, labels=node_labels, previous=folder.previous, on_row=folder.add_row, watcher=bar, **options
            )
        except KeyboardInterrupt:
            folder.show_finished()
            raise
    try:
        if output is not None:
            write_report(output, make_report(comparison, folder.title), comparison.to_dict())
            note(f"report: {output}")
    finally:  # also if the report cannot be written
        if as_json:
            show_json({**comparison.to_dict(), "reading": whole.reading, **readings, "report": output})
        else:
            print(f"{comparison.text()}\n\n{comparison.protocol}")
            for row in comparison.rows:
                if row.message:
                    print(f"{row.name}: {row.reason}")
    if not comparison.finished:
        raise InputError("no method finished; the rows say why")


class _ReportFolder:
    """The folder of the report. Finished rows are stored there at once, so that an interrupted run loses none."""

    def __init__(self, graph: str, output: str | None) -> None:
        from graphrefine.display.report import check_report_folder
        from graphrefine.evaluate.compare_report import KIND, make_title

        self.output, self.title, self.full = output, make_title(graph), False
        self.comparison: Comparison | None = None
        self.previous = None if output is None else check_report_folder(output, kind=KIND, identity=self.title)

    def add_row(self, comparison: Comparison, row: Row | None) -> None:
        """Print and store a row; before the first, refuse to replace another comparison."""
        from graphrefine.display.report import save_results
        from graphrefine.evaluate.compare_report import KIND, check_inputs

        self.comparison = comparison
        if row is None:
            if self.output is not None:
                check_inputs(self.output, self.previous, comparison)
            return
        scores = ", ".join(f"{name} {value}" for name, value in row.cells.items())
        note(f"{row.name}: {f'{scores}, {row.cost()[0]}' if row.status == 'done' else row.reason}")
        if self.output is None or self.full:
            return
        try:
            save_results(self.output, comparison.to_dict(), kind=KIND, title=self.title)
        except OutputError as error:
            # Hours of work must not end for a full disk: the rows are printed in the end, and written if there is room.
            self.full = True
            note(f"warning: {error}")

    def show_finished(self) -> None:
        """Print the finished rows of an interrupted run."""
        if self.comparison is None or not self.comparison.finished:
            return
        note(str(self.comparison))
        if self.output is not None and not self.full:
            note(f"note: these rows are kept in {self.output}; the same command goes on from there")
