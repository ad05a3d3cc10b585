"""Number of threads that this process may use, and stretches of code in which BLAS has one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from functools import cache
from itertools import repeat
from threading import Lock, local
from typing import Any, TypeVar

from graphrefine.system import as_plain
from graphrefine.system.checks import check_integer

ROWS_PER_TASK = 512
Task = TypeVar("Task")
Result = TypeVar("Result")


def usable_threads(threads: int | None) -> int:
    """Return the number of threads to use: as given, else one for each core this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return check_integer("threads", as_plain(threads), least=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have BLAS and LAPACK use one thread: OpenBLAS changes last bits with their number.

    The limit holds for the whole process. Stretches may be within each other and overlap, in one thread and in several:
    the first one sets the limit, the last one lifts it. Also a decorator.
    """
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()


def map_tasks(tasks: Iterable[Task], work: Callable[[Task], Result], threads: int) -> Iterator[Result]:
    """Do `work` for each task, and yield the results in order; BLAS runs on one thread, so the bits never change.

    What is set for the caller (its context, such as the arithmetic in use) holds in the threads too.
    """
    with one_blas_thread():
        if threads == 1:
            yield from map(work, tasks)
            return
        contexts = map(Context.copy, repeat(copy_context()))  # one for each task: no two threads can be in the same
        with thread_pool(threads) as pool:
            yield from pool.map(Context.run, contexts, repeat(work), tasks)


def thread_pool(threads: int) -> Executor:
    """Return a pool of threads; of fewer where a limit of processes or memory allows no more."""
    return _LenientPool(threads)


class _LenientPool(ThreadPoolExecutor):
    """A pool that goes on with the threads it has where the system starts no more."""

    def _adjust_thread_count(self) -> None:
        # Called for each task that is submitted, which waits in a queue already: any thread can take it from there.
        try:
            super()._adjust_thread_count()
        except RuntimeError:
            if not self._threads:
                raise


def run_tasks(tasks: Iterable[Task], work: Callable[[Task], None], threads: int) -> None:
    """Call `work` with each task, in the same way."""
    for _ in map_tasks(tasks, work, threads):
        pass


def in_blocks(
    count: int,
    work: Callable[[slice], None],
    *,
    threads: int,
    rows: int = ROWS_PER_TASK,
    advance: Callable[[], None] | None = None,
) -> None:
    """Do a piece of work for each block of rows, on one thread each; BLAS adds none.

    Examples
    --------
    >>> import numpy as np
    >>> squares = np.arange(1000)
    >>> def square(block):
    ...     squares[block] **= 2
    >>> in_blocks(1000, square, threads=2)
    >>> squares[[2, 999]].tolist()
    [4, 998001]
    """
    blocks = [slice(start, min(start + rows, count)) for start in range(0, count, rows)]
    few = len(blocks) <= 1  # a pool would take longer to start than this to do
    for _ in map(work, blocks) if few else map_tasks(blocks, work, threads):
        if advance is not None:
            advance()


class _BlasLimit:
    """The stretches that are under way, and the limit that they share."""

    def __init__(self) -> None:
        self._lock, self._stretches = Lock(), 0
        self._own = local()  # .depth: stretches that this thread is in
        self._limit: Any = None
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget_other_threads)

    def _forget_other_threads(self) -> None:
        """After a fork, those that were in a stretch or held the lock are not there to leave it."""
        self._lock, self._stretches = Lock(), getattr(self._own, "depth", 0)

    def enter(self) -> None:
        with self._lock:
            if not self._stretches:
                _let_any_thread_set()
                self._limit = _blas_libraries().limit(limits=1, user_api="blas")
            self._stretches += 1
            self._own.depth = getattr(self._own, "depth", 0) + 1

    def leave(self) -> None:
        with self._lock:
            self._stretches -= 1
            self._own.depth = getattr(self._own, "depth", 0) - 1
            if not self._stretches:
                _let_any_thread_set()
                self._limit.restore_original_limits()
                _let_any_thread_set()


def _let_any_thread_set() -> None:
    """Release the lock of threadpoolctl: from 3.8 on it ignores all threads but the first that has set a limit."""
    for library in _blas_libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_blas_limit = _BlasLimit()


def _blas_libraries() -> Any:
    """Return the BLAS libraries that are loaded: NumPy's, and once it is imported SciPy's own."""
    import numpy.linalg  # noqa: F401  loaded before the search for BLAS libraries

    return _search_libraries("scipy.linalg._fblas" in sys.modules)


@cache
def _search_libraries(scipy: bool) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
