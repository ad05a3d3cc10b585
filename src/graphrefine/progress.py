"""Stages of a run: how long each took, and who is told about it while it runs."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Protocol

_log = logging.getLogger(__name__)


class Watcher(Protocol):
    """Somebody who wants to know how far a run is: a progress bar, a log, a test."""

    def start(self, stage: str, steps: int) -> None:
        """A stage of so many steps begins."""

    def advance(self) -> None:
        """A step of the stage is done."""


class Stages:
    """Times the stages of a run and tells a watcher.

    Examples
    --------
    >>> stages = Stages()
    >>> with stages.stage("range", steps=4):
    ...     stages.advance()
    >>> list(stages.seconds)
    ['range']
    """

    def __init__(self, watcher: Watcher | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self.step = None if watcher is None else watcher.advance  # for loops: None where nobody watches
        self._watcher = watcher

    @contextmanager
    def stage(self, name: str, *, steps: int = 1) -> Iterator[None]:
        """A stretch of the run, of so many steps; stages of one name add up."""
        if self._watcher is not None:
            self._watcher.start(name, steps)
        start = perf_counter()
        try:
            yield
        finally:
            seconds = perf_counter() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
            _log.info("%s: %.3f s", name, seconds)

    def advance(self) -> None:
        """A step of the running stage is done."""
        if self._watcher is not None:
            self._watcher.advance()
