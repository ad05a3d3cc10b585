"""Runs jobs one after another, keeps every outcome at once, and tells how much is left.

Nothing else of graphrefine runs meanwhile, so that timings have the machine to themselves as far as we can see to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any, Protocol

from graphrefine.errors import GraphRefineError, MissingExtraError
from graphrefine.paper.cache import Finished, Outcome, Store
from graphrefine.paper.jobs import Gap, Job
from graphrefine.paper.loaded_graphs import Bench

Work = Callable[[Bench, Mapping[str, Any]], Outcome]

KINDS = {  # of jobs -> the module of the function that does them
    "count": "measure_scores",
    "score": "measure_scores",
    "score_residual": "measure_scores",
    "time_with_io": "measure_times",
    "time_embedding": "measure_times",
    "time_decompositions": "measure_times",
    "time_qr": "measure_times",
    "time_threads": "measure_times",
    "time_stages": "measure_times",
    "time_sweep": "measure_times",
    "errors": "measure_errors",
}


class Teller(Protocol):
    """Somebody who wants to know how far the run is."""

    def start(self, job: Job, *, place: int, jobs: int, left: float) -> None:
        """A job begins: the place-th of so many, with about so many seconds left for all that is not finished."""

    def finish(self, job: Job, outcome: Outcome | Gap, seconds: float) -> None:
        """It is over."""


class Forecast:
    """How long the rest will take: guesses, corrected by how wrong they have been so far.

    Examples
    --------
    >>> forecast = Forecast()
    >>> jobs = [Job("score", {"method": "line"}, 10.0), Job("score", {"method": "harp"}, 10.0)]
    >>> forecast.seconds(jobs)
    20.0
    >>> forecast.learn(Job("score", {"method": "line", "seed": 1}, 10.0), 30.0)
    >>> forecast.seconds(jobs)
    60.0
    """

    def __init__(self) -> None:
        self._guessed: dict[str, float] = {}
        self._taken: dict[str, float] = {}

    def learn(self, job: Job, seconds: float) -> None:
        """A job took so long."""
        self._guessed[job.group] = self._guessed.get(job.group, 0.0) + job.guess
        self._taken[job.group] = self._taken.get(job.group, 0.0) + seconds

    def seconds(self, jobs: Sequence[Job]) -> float:
        """Of all these jobs together."""
        return sum(job.guess * self._factor(job.group) for job in jobs)

    def _factor(self, group: str) -> float:
        """How much longer than guessed: jobs of the group; if there were none yet, all jobs."""
        if self._guessed.get(group):
            return self._taken[group] / self._guessed[group]
        guessed = sum(self._guessed.values())
        return sum(self._taken.values()) / guessed if guessed else 1.0


class Runner:
    """Does jobs, or finds them done.

    Parameters
    ----------
    bench, store
        Where they are done, and where their outcomes are kept.
    teller
        Who is told.
    """

    def __init__(self, bench: Bench, store: Store, teller: Teller | None = None) -> None:
        self.bench, self.store, self._teller = bench, store, teller
        self.results: dict[str, Outcome | Gap] = {}  # by `Job.key`
        self.reused, self.computed, self.failed = 0, 0, 0
        self._forecast = Forecast()

    def reuse(self, jobs: Sequence[Job]) -> list[Job]:
        """Take up what is finished already; the jobs that are not."""
        missing = []
        for job in jobs:
            finished = self.store.get(job.kind, job.asked)
            if finished is None:
                missing.append(job)
                continue
            self.results[job.key] = finished.outcome
            self._forecast.learn(job, finished.seconds)
            self.reused += 1
        return missing

    def run(self, jobs: Sequence[Job]) -> None:
        """Do jobs; one that fails is a gap, which the next run tries again."""
        for place, job in enumerate(jobs):
            if self._teller:
                left = self._forecast.seconds(jobs[place:])
                self._teller.start(job, place=place + 1, jobs=len(jobs), left=left)
            start = perf_counter()
            outcome = _attempt(self.bench, job)
            seconds = perf_counter() - start
            if isinstance(outcome, Gap):
                self.failed += outcome.status == "failed"
            else:
                self.store.put(job.kind, job.asked, Finished(outcome, seconds))
                self._forecast.learn(job, seconds)
                self.computed += 1
            self.results[job.key] = outcome
            if self._teller:
                self._teller.finish(job, outcome, seconds)


def _attempt(bench: Bench, job: Job) -> Outcome | Gap:
    try:
        work: Work = getattr(import_module(f"graphrefine.paper.{KINDS[job.kind]}"), job.kind)
        return work(bench, job.asked)
    except MissingExtraError as wanting:
        return Gap("missing", str(wanting))
    except GraphRefineError as refusal:
        return Gap("failed", str(refusal))
    except Exception as error:
        return Gap("failed", f"{type(error).__name__}: {error}")
