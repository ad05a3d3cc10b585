"""What a person at a terminal sees: a progress bar, tables, notes. Figures go to stdout, all else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from graphrefine.progress import Watcher

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """A `graphrefine.progress.Watcher` that draws one line for each stage.

    A stage of one step has no measure of how far it is: its bar moves to and fro until the stage is over.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._stage, self._steps = "", 0

    def start(self, stage: str, steps: int) -> None:
        """See `graphrefine.progress.Watcher.start`."""
        if stage == self._stage and steps == self._steps:  # the same one, taken up again
            return
        self.finish()
        self._stage, self._steps = stage, steps
        self._task = self._progress.add_task(stage, total=steps if steps > 1 else None)

    def advance(self) -> None:
        """See `graphrefine.progress.Watcher.advance`."""
        if self._task is not None:
            self._progress.advance(self._task)

    def finish(self) -> None:
        """The last stage is over."""
        if self._task is not None:
            steps = max(self._steps, 1)
            self._progress.update(self._task, total=steps, completed=steps)


@contextmanager
def open_progress(before: str = "", after: str = "") -> Iterator[Progress | None]:
    """A bar of rich on stderr, with texts before and after it, if that is a terminal; otherwise nothing."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    texts = [[TextColumn(text)] if text else [] for text in (before, after)]
    columns = (*texts[0], BarColumn(), TimeElapsedColumn(), *texts[1])
    # stdout is for figures alone: rich would otherwise print through the bar what goes there.
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as progress:
        yield progress


@contextmanager
def progress_bar() -> Iterator[Watcher | None]:
    """A bar on stderr if that is a terminal; otherwise nothing."""
    with open_progress("{task.description:>10}") as progress:
        bar = None if progress is None else Bar(progress)
        yield bar
        if bar is not None:
            bar.finish()


def note(text: str) -> None:
    """A line for the person, not for the pipe."""
    print(text, file=sys.stderr, flush=True)


def show_json(figures: dict[str, Any]) -> None:
    """One JSON object on stdout and nothing else."""
    print(json_text(figures))


def json_text(figures: dict[str, Any]) -> str:
    """Figures as JSON that any program reads: NumPy's numbers as Python's, no NaN."""
    return json.dumps(figures, indent=2, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    """A NumPy number as Python's."""
    return value.item() if hasattr(value, "item") else str(value)


def show_table(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> None:
    """Print a table."""
    print(format_table(rows, left=left))


def format_table(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> str:
    """Rows of text, the first one being the names of the columns; these columns to the left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        aligned = (cell.ljust(w) if place in left else cell.rjust(w) for place, (cell, w) in enumerate(cells))
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)


def show_pairs(pairs: Sequence[tuple[str, str]]) -> None:
    """Names and values, one a line, in two columns."""
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        print(f"{name:>{width}}  {value}")


def seconds(value: float) -> str:
    """A duration as a person would say it.

    Examples
    --------
    >>> seconds(0.01234), seconds(3.21), seconds(200)
    ('12 ms', '3.2 s', '3 min 20 s')
    """
    if value < 1:
        return f"{value * 1000:.0f} ms"
    minutes, rest = divmod(round(value), 60)
    return f"{value:.1f} s" if value < 100 else f"{minutes} min {rest} s"
