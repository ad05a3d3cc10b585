"""The most memory that this process holds of its own while something goes on: mapped files are not in it."""

from __future__ import annotations

from threading import Event, Thread

from graphrefine.system.memory import private_bytes


class Peak:
    """Looks at the memory of this process every few milliseconds, as a context manager.

    Examples
    --------
    >>> with Peak() as peak:
    ...     _ = bytearray(50_000_000)
    >>> peak.bytes > 1_000_000
    True
    """

    def __init__(self, interval: float = 0.02) -> None:
        self._interval, self._stop = interval, Event()
        self._thread = Thread(target=self._look, daemon=True)
        self.bytes = 0

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while True:
            self.bytes = max(self.bytes, private_bytes())
            if self._stop.wait(self._interval):
                break
