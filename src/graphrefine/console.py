"""What a person at a terminal sees: a progress bar, tables, notes. Figures go to stdout, all else to stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from graphrefine.progress import Watcher


class Bar:
    """A `graphrefine.progress.Watcher` that draws one line for each stage."""

    def __init__(self, progress: Any) -> None:
        self._progress, self._task = progress, None

    def start(self, stage: str, steps: int) -> None:
        """See `graphrefine.progress.Watcher.start`."""
        self._finish()
        self._task = self._progress.add_task(stage, total=max(steps, 1))

    def advance(self) -> None:
        """See `graphrefine.progress.Watcher.advance`."""
        self._progress.advance(self._task)

    def _finish(self) -> None:
        if self._task is not None:
            total = next(task.total for task in self._progress.tasks if task.id == self._task)
            self._progress.update(self._task, completed=total)


@contextmanager
def progress_bar() -> Iterator[Watcher | None]:
    """A bar on stderr if that is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:>10}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = Bar(progress)
        yield bar
        bar._finish()


def note(text: str) -> None:
    """A line for the person, not for the pipe."""
    print(text, file=sys.stderr, flush=True)


def show_json(figures: dict[str, Any]) -> None:
    """One JSON object on stdout and nothing else."""
    print(json.dumps(figures, indent=2, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def show_table(rows: Sequence[Sequence[str]], *, title: str | None = None) -> None:
    """Rows of text, the first one being the names of the columns."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for index, name in enumerate(rows[0]):
        table.add_column(name, justify="left" if index == 0 else "right")
    for row in rows[1:]:
        table.add_row(*row)
    Console().print(table)


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
    return f"{value:.1f} s" if value < 100 else f"{value // 60:.0f} min {value % 60:.0f} s"
