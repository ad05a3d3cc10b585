"""Stages of a run: how long each took, and a watcher that follows them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Protocol

_log = logging.getLogger(__name__)


class Watcher(Protocol):
    """An observer of a run: a progress bar, a log, a test."""

    def start(self, stage: str, steps: int) -> None:
        """Note that a stage of ``steps`` steps begins."""

    def advance(self) -> None:
        """Note that a step of the stage is done."""


class Stages:
    """The stages of a run, timed, with a watcher that follows them.

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
        self.step = None if watcher is None else watcher.advance  # for loops: None without a watcher
        self._watcher = watcher

    @contextmanager
    def stage(self, name: str, *, steps: int = 1) -> Iterator[None]:
        """Time a stage of ``steps`` steps; stages of one name add up."""
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
        """Tell the watcher that a step of the running stage is done."""
        if self._watcher is not None:
            self._watcher.advance()
