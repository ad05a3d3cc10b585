"""Progress of a run: the experiment and the measurement at work, and a forecast of the remaining time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from graphrefine.display.console import note, open_progress
from graphrefine.display.console import seconds as format_seconds
from reproduction.findings import Gap

if TYPE_CHECKING:
    from rich.progress import Progress

INTERVAL = 30.0  # seconds between lines, if there is no bar


class Forecast:
    """Remaining time: usual durations of the experiments, corrected by the durations so far.

    Examples
    --------
    >>> forecast = Forecast({"table1": 10.0, "table2": 20.0})
    >>> forecast.estimate(0.0)
    30.0
    >>> forecast.finish("table1", seconds=30.0)
    >>> forecast.estimate(45.0)
    45.0
    """

    def __init__(self, durations: Mapping[str, float]) -> None:
        self._durations = dict(durations)  # of unfinished experiments
        self._usual, self._actual = 0.0, 0.0  # duration of the finished ones

    def finish(self, name: str, seconds: float) -> None:
        """Note that an experiment is finished, after this many seconds of measurements in all."""
        self._usual += self._durations.pop(name)
        self._actual = seconds

    def estimate(self, seconds: float) -> float:
        """Seconds that remain after this many seconds of measurements."""
        factor = self._actual / self._usual if self._usual and self._actual else 1.0
        return max(0.0, factor * sum(self._durations.values()) - (seconds - self._actual))


class RunProgress:
    """Display of a run: on a bar of rich, or in a line every half minute and for each failure.

    It has the usual duration of each experiment, in the order of the run.
    """

    def __init__(self, durations: Mapping[str, float], bar: Progress | None) -> None:
        self._names, self._forecast, self._finished = list(durations), Forecast(durations), 0
        self._bar, self._last_line = bar, -INTERVAL
        self._task = bar.add_task("", total=len(durations)) if bar else None

    def start_measurement(self, label: str, seconds: float) -> None:
        """Show a measurement that begins, after this many seconds of measurements before it."""
        place = f"experiment {self._finished + 1} of {len(self._names)} ({self._names[self._finished]})"
        text = f"{place}, about {format_seconds(self._forecast.estimate(seconds))} left: {label}"
        if self._bar and self._task is not None:
            self._bar.update(self._task, description=text, completed=self._finished)
        elif perf_counter() - self._last_line >= INTERVAL:
            note(text)
            self._last_line = perf_counter()

    def report_gap(self, label: str, gap: Gap) -> None:
        """Print the reason why a measurement failed."""
        text = f"{gap.status}: {label}: {gap.reason}"
        if self._bar:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            note(text)

    def finish_experiment(self, seconds: float) -> None:
        """Note that the next experiment is finished, after this many seconds of measurements in all."""
        self._forecast.finish(self._names[self._finished], seconds)
        self._finished += 1


@contextmanager
def show_progress(durations: Mapping[str, float]) -> Iterator[RunProgress]:
    """Progress on stderr: a bar if that is a terminal, else lines."""
    with open_progress(after="{task.description}") as bar:
        yield RunProgress(durations, bar)
