"""Background work, one task after the other: maps, groups of nodes, measures of quality.

A `Task` is listed from the start, in the state "working", and has its value once it is ready; requests never wait for a
task but look at its state.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from graphrefine.errors import GraphRefineError

State = Literal["working", "ready", "failed"]
NICE = 10  # priority of the background work, below that of requests (0)


class StopError(Exception):
    """The server ends, and so does its work."""


class Task:
    """A value that is made in the background, and its state."""

    def __init__(self, name: str, make: Callable[[Watch], Any]) -> None:
        self.name, self._make = name, make
        self.state: State = "working"
        self.value: Any = None
        self.error: str | None = None

    def run(self, watch: Watch | None = None) -> None:
        """Make the value now. An error that a user can mend becomes its error; any other is a bug, and shown as one."""
        try:
            self.value = self._make(watch or Watch())
            self.state = "ready"
        except StopError:
            raise
        except (GraphRefineError, MemoryError) as error:
            self.error = str(error) or "not enough memory"
            self.state = "failed"
        except Exception as error:
            self.error = f"this is a bug in graphrefine: {type(error).__name__}: {error}"
            self.state = "failed"
            raise


class Watch:
    """A `graphrefine.progress.Watcher` that ends the work after `stop`."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    def start(self, stage: str, steps: int) -> None:
        """See `graphrefine.progress.Watcher.start`."""
        self.check()

    def advance(self) -> None:
        """See `graphrefine.progress.Watcher.advance`."""
        self.check()

    def check(self) -> None:
        """Raise StopError if the work is to end."""
        if self._stop.is_set():
            raise StopError

    def wait(self, seconds: float) -> None:
        """Let some time pass; StopError, at once, if the work is to end."""
        self._stop.wait(seconds)
        self.check()

    def stop(self) -> None:
        """End the work at its next check."""
        self._stop.set()


class Background:
    """A thread that makes tasks in their order; the first ones are urgent, and the others give way to requests."""

    def __init__(self, tasks: list[Task], *, urgent: int = 0) -> None:
        self.tasks, self._urgent = tasks, urgent
        self._watch = Watch()
        self._then: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._work, name="background", daemon=True)

    def start(self, *, then: Callable[[], None] | None = None) -> None:
        """Begin; when all is made, call `then`."""
        self._then = then
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all is made; return whether it is."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def stop(self, seconds: float) -> bool:
        """End the work; return whether it ended within some seconds."""
        self._watch.stop()
        return not self._thread.ident or self.wait(seconds)

    def _work(self) -> None:
        for number, task in enumerate(self.tasks):
            if number == self._urgent:
                _give_way()
            try:
                self._watch.check()
                task.run(self._watch)
            except StopError:
                return
            except Exception:  # a bug, which `Task.run` raises again; the other tasks do not need this one
                sys.excepthook(*sys.exc_info())
        if self._then is not None:
            self._then()


def _give_way() -> None:
    """Lower the priority of this thread, and of those that it starts, on Linux."""
    # There setpriority takes the number of a thread; elsewhere it would slow down the whole server, requests too.
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
