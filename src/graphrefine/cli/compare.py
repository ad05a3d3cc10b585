"""``graphrefine compare``: which method is best on a graph, and what each costs."""

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
    from graphrefine.evaluate.compare_rows import Comparison, Row

UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _parse_names(_: Any, __: Any, value: str | None) -> list[str] | None:
    return None if value is None else [name.strip() for name in value.split(",") if name.strip()]


def _parse_size(_: Any, __: Any, value: str | None) -> int | None:
    if value is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", value, re.IGNORECASE)
    if found is None:
        raise click.BadParameter(f"{value!r} is not a size, as in 8GB or 500MB")
    power = "KMGT".find(found[2].upper()) + 1 if found[2] else 0
    return round(float(found[1]) * (1024**power if found[3] else UNITS[found[2].upper()]))


@click.command(
    cls=Command,
    params=[
        GRAPH,
        Option(["--labels"], metavar="FILE",
               help="Labels of nodes, as for evaluate labels: methods are judged by node classification.  [default: by "
                    "edges that are held out]"),
        Option(["--methods"], metavar="A,B,...", callback=_parse_names,
               help="Which ones; graphrefine methods lists them.  [default: all]"),
        Option(["--dims"], metavar="K,K,...", callback=parse_counts,
               help="Lengths of the vectors.  [default: 128, or the number of nodes if that is less]"),
        Option(["-o", "--output"], metavar="FOLDER",
               help="For the report: a page, the same in Markdown, a plot, and all figures. Run again, it makes only "
                    "the rows that are not there yet."),
        Option(["--time-limit"], type=float, default=300, show_default=True, metavar="SECONDS",
               help="For each method and dimension."),
        Option(["--memory-limit"], metavar="SIZE", callback=_parse_size,
               help="Likewise, as in 500MB.  [default: 8GB, or 80% of what is free if that is less]"),
        Option(["--ratios", "--ratio"], default="0.5", show_default=True, metavar="R,R,...", callback=parse_numbers,
               help="Parts of the labelled nodes to train with."),
        Option(["--repeats"], type=int, metavar="N",
               help="Random splits for each ratio [default: 10]; or times that edges are held out [default: 1]."),
        Option(["--C", "C"], default="1", show_default=True, metavar="C", callback=parse_penalty,
               help="Of the logistic regression; see evaluate labels."),
        Option(["--seed"], type=int, default=0, show_default=True, metavar="N",
               help="Of the methods, the splits and the held-out edges."),
        THREADS, JSON, *READING,
    ],
    short_help="Which method is best on a graph, and what each costs.",
)  # fmt: skip
def compare(graph: str, labels: str | None, output: str | None, as_json: bool, **options: Any) -> None:
    """Embed GRAPH by many methods, each in a process of its own, and show which is best and what each costs.

    Rows are sorted by quality: Micro F1 of the labels, or AUC of held-out edges. What cannot take the graph, fails, or
    passes a limit is a row that says so.
    """
    from graphrefine.errors import InputError
    from graphrefine.evaluate import read_labels
    from graphrefine.evaluate.compare import compare as run
    from graphrefine.progress import Stages
    from graphrefine.readers.read import read
    from graphrefine.visuals.console import note, progress_bar, show_json

    keeper = _Keeper(graph, output)
    with progress_bar() as bar:
        with Stages(bar).stage("read"):
            found = read(graph, threads=options["threads"], **reading_options(options))
            known = None if labels is None else read_labels(labels)
        try:
            done = run(found, labels=known, known=keeper.old, told=keeper.keep, watcher=bar, **options)
        except KeyboardInterrupt:
            keeper.interrupted()
            raise
    done = _in_words(done)
    try:
        if output is not None:
            keeper.write(done)
            note(f"report: {output}")
    finally:  # whatever became of the report
        if as_json:
            show_json({**done.to_dict(), "report": output})
        else:
            _show(done)
    if not done.finished:
        raise InputError("no method finished; the rows say why")


class _Keeper:
    """Keeps what is finished, in the folder of the report, so that a run which is cut short has not been in vain."""

    def __init__(self, graph: str, output: str | None) -> None:
        from graphrefine.evaluate.compare_report import KIND, title_of
        from graphrefine.visuals.report_folder import check_report_folder

        self.output, self.title, self.full = output, title_of(graph), False
        self.done: Comparison | None = None
        self.old = None if output is None else check_report_folder(output, kind=KIND, identity=self.title)

    def keep(self, done: Comparison, row: Row | None) -> None:
        """Tell of a row, and keep it; before the first one, see to it that no other comparison is replaced."""
        from graphrefine.errors import OutputError
        from graphrefine.evaluate.compare_report import KIND, check_inputs
        from graphrefine.visuals.console import note
        from graphrefine.visuals.report_folder import save_results

        self.done = done
        if row is None:
            if self.output is not None:
                check_inputs(self.output, self.old, done)
            return
        scores = ", ".join(f"{name} {value}" for name, value in row.shown.items())
        note(f"{row.name}: {f'{scores}, {row.cost()[0]}' if row.status == 'done' else in_options(row.reason)}")
        if self.output is None or self.full:
            return
        try:
            save_results(self.output, done.to_dict(), kind=KIND, title=self.title)
        except OutputError as error:  # there may be room again in the end; if not, what was found is printed
            self.full = True
            note(f"warning: {error}")

    def interrupted(self) -> None:
        """Show what is finished."""
        from graphrefine.visuals.console import note

        if self.done is None or not self.done.finished:
            return
        note(str(_in_words(self.done)))
        if self.output is not None and not self.full:
            note(f"note: these rows are kept in {self.output}; the same command goes on from there")

    def write(self, done: Comparison) -> None:
        """Write the report."""
        from graphrefine.evaluate.compare_report import report_of
        from graphrefine.visuals.report_folder import write_report

        assert self.output is not None
        write_report(self.output, report_of(done, self.title), done.to_dict())


def _in_words(done: Comparison) -> Comparison:
    """The same, with reasons in the words of the command line."""
    return replace(done, rows=tuple(replace(row, message=in_options(row.message)) for row in done.rows))


def _show(done: Comparison) -> None:
    from graphrefine.visuals.console import show_table

    table = done.table()
    show_table(table, left=[place for place, name in enumerate(table[0]) if name in ("method", "score", "status")])
    print(f"\n{done.protocol}")
    for row in done.rows:
        if row.message:
            print(f"{row.name}: {row.reason}")
