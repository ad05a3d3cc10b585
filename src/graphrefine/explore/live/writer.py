"""The one thread that uses a folder of live vectors, for requests that wait without holding up others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from graphrefine.live.service import LiveService

_Value = TypeVar("_Value")


class Writer:
    """A folder, and the thread in which all that is asked of it happens, in the order in which it comes.

    Parameters
    ----------
    live
        The folder, open for writing; from now on for this thread alone.
    """

    def __init__(self, live: LiveService) -> None:
        self._live = live
        self._thread = ThreadPoolExecutor(1, "live writer")

    async def ask(self, work: Callable[[LiveService], _Value]) -> _Value:
        """Do some work with the folder and wait, while the event loop goes on.

        Work that has not begun when its request is given up is left out; work that has begun is ended.
        """
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._live)

    def call(self, work: Callable[[LiveService], _Value]) -> _Value:
        """Do some work with the folder, from another thread than that of the event loop."""
        return self._thread.submit(work, self._live).result()

    def stop(self) -> None:
        """End the thread, after the work that it has begun."""
        self._thread.shutdown(wait=True, cancel_futures=True)
