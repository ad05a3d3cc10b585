"""Renewal of the snapshot that the API of explore answers from, beside the folder that goes on.

A thread looks a few times a second. It goes over to a refresh that is ready, and takes a new snapshot after a refresh,
and after changes once the last snapshot is old enough and its background work is done.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from graphrefine.embedding.embedding import Embedding
from graphrefine.explore.background import Background
from graphrefine.explore.live.writer import Writer
from graphrefine.explore.session import Session
from graphrefine.graph.graph import Graph
from graphrefine.live.service import LiveService

LOOK = 0.2  # seconds between two looks


class Moment(NamedTuple):
    """The moment of a snapshot."""

    generation: int
    group: int
    time: float  # seconds since 1970


class Renewal:
    """The session of the last snapshot, and the thread that renews it.

    Parameters
    ----------
    writer
        The folder and its thread.
    seconds
        Least time between two snapshots, refreshes aside.

    Attributes
    ----------
    session
        The session of the last snapshot.
    moment
        The moment of that.
    """

    def __init__(self, writer: Writer, *, seconds: float) -> None:
        self._writer, self._seconds = writer, seconds
        self._publish: Callable[[Session], None] = lambda session: None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, name="renewal", daemon=True)
        self._retired: list[Background] = []
        self.session, self.moment = self._take()
        self._age = time.monotonic()

    def _take(self) -> tuple[Session, Moment]:
        """A session of this moment; only the copies are made in the thread of the folder."""
        embedding, graph, moment, name = self._writer.call(_copy)
        return Session(embedding, graph=graph, index=False, name=name), moment

    def start(self, publish: Callable[[Session], None]) -> None:
        """Begin, with the background work of the first session; `publish` is called with each further one."""
        self._publish = publish
        self.session.background.start()
        self._thread.start()

    def stop(self) -> list[Background]:
        """End the thread; the background work that is still to be ended."""
        self._end.set()
        if self._thread.ident:
            self._thread.join()
        return [*self._retired, self.session.background]

    def _work(self) -> None:
        while not self._end.wait(LOOK):
            try:
                if self._is_due(*self._writer.call(_look)):
                    self._renew()
            except Exception:  # the old session stays, and the next look may do better
                if self._end.is_set():
                    return
                sys.excepthook(*sys.exc_info())
                self._end.wait(self._seconds)

    def _is_due(self, generation: int, group: int) -> bool:
        if generation != self.moment.generation:
            return True
        is_old = time.monotonic() - self._age >= self._seconds
        return group != self.moment.group and is_old and self.session.background.wait(0)

    def _renew(self) -> None:
        """Take a snapshot, and go over to it in one step."""
        old = self.session.background
        session, moment = self._take()
        session.background.start()
        self.session, self.moment, self._age = session, moment, time.monotonic()
        self._publish(session)
        self._retired = [each for each in (*self._retired, old) if not each.stop(0)]
        del old
        gc.collect()  # a session refers to itself: its vectors would stay until the collector comes by


def _look(live: LiveService) -> tuple[int, int]:
    """The moment of the folder, after a refresh that was ready."""
    live.finish_ready_refresh()
    return live.generation, live.group


def _copy(live: LiveService) -> tuple[Embedding, Graph | None, Moment, str]:
    graph = live.graph() if len(live) else None
    return live.snapshot(), graph, Moment(live.generation, live.group, time.time()), live.path.name
