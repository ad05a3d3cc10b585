"""``graphrefine compare``: quality and cost of methods on a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import click

from graphrefine.cli.node_labels import take_labels, tell_labels
from graphrefine.cli.options import in_options, reading_options
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.display.report_folder import check_report_folder, save_results, write_report
from graphrefine.errors import InputError, OutputError
from graphrefine.evaluate.compare import compare as run
from graphrefine.evaluate.compare_report import KIND, check_inputs, make_report, make_title
from graphrefine.evaluate.compare_results import Comparison, Row
from graphrefine.progress import Stages
from graphrefine.readers.read import read


def compare(graph: str, labels: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Embed a graph by many methods, and print the quality and the cost of each."""
    folder = _ReportFolder(graph, output)
    with progress_bar() as bar:
        with Stages(bar).stage("read"):
            whole = read(graph, threads=options["threads"], **reading_options(options))
            note(f"read: {whole.reading}")
            node_labels = take_labels(labels, options, whole.names, graph=whole)
            folder.tell = partial(tell_labels, node_labels, whole.names)
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
            show_json({**comparison.to_dict(), "reading": whole.reading, **folder.readings, "report": output})
        else:
            _show(comparison)
    if not comparison.finished:
        raise InputError("no method finished; the rows say why")


class _ReportFolder:
    """The folder of the report. Finished rows are stored there at once, so that an interrupted run loses none."""

    def __init__(self, graph: str, output: str | None) -> None:
        self.output, self.title, self.full = output, make_title(graph), False
        self.comparison: Comparison | None = None
        self.tell: Callable[[], dict[str, str]] = dict  # prints how labels were read
        self.readings: dict[str, str] = {}
        self.previous = None if output is None else check_report_folder(output, kind=KIND, identity=self.title)

    def add_row(self, comparison: Comparison, row: Row | None) -> None:
        """Print and store a row; before the first, refuse to replace another comparison."""
        self.comparison = comparison
        if row is None:
            if self.output is not None:
                check_inputs(self.output, self.previous, comparison)
            self.readings = self.tell()
            return
        scores = ", ".join(f"{name} {value}" for name, value in row.cells.items())
        note(f"{row.name}: {f'{scores}, {row.cost()[0]}' if row.status == 'done' else _write_options(row.reason)}")
        if self.output is None or self.full:
            return
        try:
            save_results(self.output, comparison.to_dict(), kind=KIND, title=self.title)
        except OutputError as error:  # there may be room again in the end; if not, the rows are printed all the same
            self.full = True
            note(f"warning: {error}")

    def show_finished(self) -> None:
        """Print the finished rows of an interrupted run."""
        if self.comparison is None or not self.comparison.finished:
            return
        note(str(_in_options(self.comparison)))
        if self.output is not None and not self.full:
            note(f"note: these rows are kept in {self.output}; the same command goes on from there")

    def write(self, comparison: Comparison) -> None:
        """Write the report."""
        assert self.output is not None
        write_report(self.output, make_report(comparison, self.title), comparison.to_dict())


def _in_options(comparison: Comparison) -> Comparison:
    """The same, with reasons in the words of the command line."""
    rows = tuple(replace(row, message=_write_options(row.message)) for row in comparison.rows)
    return replace(comparison, rows=rows)


def _write_options(reason: str) -> str:
    """The reason why a row is empty; a row does not know which arguments its reason mentions, so all may be."""
    return in_options(reason, None, click.get_current_context().command)


def _show(comparison: Comparison) -> None:
    print(f"{comparison.text()}\n\n{comparison.protocol}")
    for row in comparison.rows:
        if row.message:
            print(f"{row.name}: {row.reason}")
