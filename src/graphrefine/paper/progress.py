"""What a person sees while experiments run: a bar with the time left; without a terminal, a line now and then."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any

from graphrefine.console import note, seconds
from graphrefine.paper.cache import Outcome
from graphrefine.paper.jobs import Gap, Job
from graphrefine.paper.runner import Teller

if TYPE_CHECKING:
    from rich.progress import Progress

EVERY = 30.0  # seconds between lines, where there is no bar


class Bar:
    """One line: how many are done, how long the rest will take, and what is at work."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: Any = None

    def start(self, job: Job, *, place: int, jobs: int, left: float) -> None:
        """See `graphrefine.paper.runner.Teller.start`."""
        text = f"{place}/{jobs}, about {seconds(left)} left: {job.label}"
        if self._task is None:
            self._task = self._progress.add_task(text, total=jobs)
        self._progress.update(self._task, description=text, completed=place - 1)

    def finish(self, job: Job, outcome: Outcome | Gap, spent: float) -> None:
        """See `graphrefine.paper.runner.Teller.finish`."""
        if isinstance(outcome, Gap):
            said = f"{outcome.status}: {job.label}: {outcome.reason}"
            self._progress.console.print(said, markup=False, highlight=False)
        self._progress.advance(self._task)


class Lines:
    """A line on stderr every half minute, and one for each failure."""

    def __init__(self) -> None:
        self._last = -EVERY

    def start(self, job: Job, *, place: int, jobs: int, left: float) -> None:
        """See `graphrefine.paper.runner.Teller.start`."""
        if perf_counter() - self._last >= EVERY:
            note(f"{place}/{jobs}, about {seconds(left)} left: {job.label}")
            self._last = perf_counter()

    def finish(self, job: Job, outcome: Outcome | Gap, spent: float) -> None:
        """See `graphrefine.paper.runner.Teller.finish`."""
        if isinstance(outcome, Gap):
            note(f"{outcome.status}: {job.label}: {outcome.reason}")


@contextmanager
def telling() -> Iterator[Teller]:
    """Somebody to tell: a bar if stderr is a terminal, else lines."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as progress:
        yield Bar(progress)
