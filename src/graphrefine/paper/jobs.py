"""Jobs: pieces of work whose outcomes are kept; and how an experiment asks for them.

An experiment is one function that asks for outcomes and makes cells of them. It is called twice: while planning, every
question is noted and answered by a `Gap`; once the work is done, by the outcomes. So what an experiment needs and what
it makes of it stand in one place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from graphrefine.paper.cache import Outcome, digest

Status = Literal["measured", "planned", "left out", "missing", "failed"]


class Gap(NamedTuple):
    """Why there is no outcome."""

    status: Status
    reason: str


@dataclass(frozen=True)
class Job:
    """A piece of work.

    Parameters
    ----------
    kind
        Which function of `graphrefine.paper.runner.KINDS` does it.
    asked
        All that the outcome depends on, as JSON: the key under which it is kept.
    guess
        Seconds that it takes on the machine that this was written on; forecasts learn by how much they are wrong.
    """

    kind: str
    asked: Mapping[str, Any] = field(hash=False)
    guess: float = field(compare=False)

    @property
    def key(self) -> str:
        """The same for the same work.

        Examples
        --------
        >>> Job("score", {"method": "line"}, 1.0).key == Job("score", {"method": "line"}, 9.0).key
        True
        """
        return digest({"kind": self.kind, **self.asked})

    @property
    def group(self) -> str:
        """Jobs of one group are mistaken about their time in the same way."""
        return f"{self.kind} {self.asked.get('method', '')}".strip()

    @property
    def label(self) -> str:
        """For a progress bar.

        Examples
        --------
        >>> Job("score", {"method": "line", "graph": {"name": "ppi"}}, 1.0).label
        'score line ppi'
        """
        graph = self.asked.get("graph")
        return " ".join(filter(None, (self.group, graph.get("name") if isinstance(graph, dict) else None)))


class Ask(Protocol):
    """How an experiment asks for an outcome."""

    def __call__(self, job: Job) -> Outcome | Gap:
        """The outcome of a job; or a gap, which says why there is none."""


class Planning:
    """Notes what is asked for.

    Examples
    --------
    >>> plan = Planning()
    >>> plan(Job("score", {"method": "line"}, 1.0)).status
    'planned'
    >>> [job.kind for job in plan.jobs]
    ['score']
    """

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    @property
    def jobs(self) -> list[Job]:
        """Every job once, in the order of the first question."""
        return list(self._jobs.values())

    def __call__(self, job: Job) -> Gap:
        """See `Ask`."""
        self._jobs.setdefault(job.key, job)
        return Gap("planned", "not run yet")


class Reading:
    """Answers from what was done."""

    def __init__(self, results: Mapping[str, Outcome | Gap]) -> None:
        self._results = results

    def __call__(self, job: Job) -> Outcome | Gap:
        """See `Ask`."""
        return self._results.get(job.key, Gap("left out", "the run was interrupted before"))
