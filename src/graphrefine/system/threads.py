"""Number of threads that this process may use, and stretches of code in which BLAS has one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from functools import cache
from itertools import repeat
from threading import Event, Lock, Thread, local
from time import sleep
from typing import Any, TypeVar

from graphrefine.errors import InputError
from graphrefine.system import as_plain

ROWS = 512  # in a block
MOST_THREADS = 64  # threads: whoever can start so many has no limit to speak of
Task = TypeVar("Task")
Result = TypeVar("Result")


def usable_threads(threads: int | None) -> int:
    """The number of threads to use: the number that was set, else one for each core this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = as_plain(threads)
    if isinstance(count, bool) or not isinstance(count, int):
        raise InputError(f"threads={threads!r} must be a whole number", argument="threads")
    if count < 1:
        raise InputError(f"threads must be at least 1, not {count}", argument="threads")
    return count


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A stretch of code in which BLAS and LAPACK use one thread: OpenBLAS changes last bits with their number.

    The limit holds for the whole process. Stretches may be within each other and overlap, in one thread and in several:
    the first one sets the limit, the last one lifts it. Also a decorator.
    """
    _blas_limit.enter()
    try:
        yield
    finally:
        _blas_limit.leave()


def map_tasks(tasks: Iterable[Task], work: Callable[[Task], Result], threads: int) -> Iterator[Result]:
    """`work` of each task, in order; BLAS runs on one thread in each, so that the bits are the same for any number.

    What is set for the caller (its context, such as the arithmetic in use) holds in the threads too.
    """
    with one_blas_thread():
        threads = 0 if threads == 1 else count_startable(threads)
        if threads == 0:
            yield from map(work, tasks)
            return
        contexts = map(Context.copy, repeat(copy_context()))  # one for each task: no two threads can be in the same
        with ThreadPoolExecutor(threads) as pool:
            yield from pool.map(Context.run, contexts, repeat(work), tasks)


def thread_pool(threads: int) -> Executor:
    """A pool of so many threads; of fewer where the system starts no more, and of none but the caller's if need be."""
    count = count_startable(threads)
    return ThreadPoolExecutor(count) if count else CallersPool()


class CallersPool(Executor):
    """A pool without threads of its own: what is submitted is done at once.

    Examples
    --------
    >>> with CallersPool() as pool:
    ...     list(pool.map(abs, [1, -2]))
    [1, 2]
    """

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See `concurrent.futures.Executor.submit`."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def count_startable(threads: int) -> int:
    """Number of threads that can be started now, up to so many: a limit of processes, or of memory, may allow fewer.

    Near a limit one fewer is counted, as a thread that has ended goes a moment later.

    Examples
    --------
    >>> count_startable(2)
    2
    """
    end, most = Event(), min(threads, MOST_THREADS)
    sleepers: list[Thread] = []
    try:
        for _ in range(most):
            thread = Thread(target=end.wait, daemon=True)
            thread.start()
            sleepers.append(thread)
    except RuntimeError:  # can't start new thread
        sleep(0.05)
    finally:
        end.set()
        for thread in sleepers:
            thread.join()
    return threads if len(sleepers) == most else max(len(sleepers) - 1, 0)


def run_tasks(tasks: Iterable[Task], work: Callable[[Task], None], threads: int) -> None:
    """Call `work` with each task, in the same way."""
    for _ in map_tasks(tasks, work, threads):
        pass


def in_blocks(
    count: int,
    work: Callable[[slice], None],
    *,
    threads: int,
    rows: int = ROWS,
    advance: Callable[[], None] | None = None,
) -> None:
    """Do a piece of work for every block of so many rows, each on one thread; BLAS adds none.

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
    """From 3.8 on, threadpoolctl ignores all threads but the first one that has set a limit, and says nothing."""
    for library in _blas_libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_blas_limit = _BlasLimit()


def _blas_libraries() -> Any:
    """The BLAS libraries that are loaded: NumPy's, and once it is imported SciPy's own."""
    import numpy.linalg  # noqa: F401  loaded before the search for BLAS libraries

    return _search_libraries("scipy.linalg._fblas" in sys.modules)


@cache
def _search_libraries(scipy: bool) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
