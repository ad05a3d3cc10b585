"""Threads: how many this process may use, tasks on several, and blocks of code in which BLAS has one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from functools import cache
from itertools import repeat
from threading import Lock
from typing import Any, TypeVar

from graphrefine.system import as_plain
from graphrefine.system.checks import check_integer

# Rows of a block that a thread takes at a time. With 128 numbers of float32 they are 256 KB, which the cache of a core
# holds; fewer would take less time than handing them to a thread, and more would let threads wait for the last one.
ROWS_PER_TASK = 512
thread_pool = ThreadPoolExecutor
Task = TypeVar("Task")
Result = TypeVar("Result")

# threadpoolctl's own limits are set and restored one by one: where two threads overlap, the one that leaves first would
# give all cores back to BLAS while the other is still within its block. Hence a count of blocks, and one limit.
_lock = Lock()
_blocks = 0
_limit: Any = None


def usable_threads(threads: int | None) -> int:
    """Return the number of threads to use: as given, else one for each core this process may run on."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return check_integer("threads", as_plain(threads), least=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have BLAS and LAPACK use one thread: OpenBLAS changes last bits with their number.

    The limit holds for the whole process. Blocks of code may be nested and overlap, in one thread and in several: the
    first one sets the limit, the last one lifts it. Also a decorator.
    """
    global _blocks, _limit
    with _lock:
        if not _blocks:
            _release_control()
            _limit = _blas_libraries().limit(limits=1, user_api="blas")
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks:
                _release_control()
                _limit.restore_original_limits()
                _release_control()


def map_tasks(tasks: Iterable[Task], work: Callable[[Task], Result], threads: int) -> Generator[Result, None, None]:
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
    """Do a piece of work for each block of rows, on one thread each; BLAS adds none."""
    blocks = [slice(start, min(start + rows, count)) for start in range(0, count, rows)]
    few = len(blocks) <= 1  # a pool would take longer to start than this to do
    for _ in map(work, blocks) if few else map_tasks(blocks, work, threads):
        if advance is not None:
            advance()


def _release_control() -> None:
    """Let this thread set the limit."""
    # From 3.8 on, threadpoolctl ignores all threads but the first that has set a limit of OpenBLAS, for as long as that
    # one lives. In a server that would be the thread of the first request, and all others would have several threads.
    for library in _blas_libraries().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def _forget_lock() -> None:
    # A thread that held the lock when the process was forked is not in the child, and would never release it there.
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


def _blas_libraries() -> Any:
    """Return the BLAS libraries that are loaded: NumPy's, and once it is imported SciPy's own."""
    import numpy.linalg  # noqa: F401  loaded before the search for BLAS libraries

    return _search_libraries("scipy.linalg._fblas" in sys.modules)


@cache
def _search_libraries(scipy: bool) -> Any:
    # A search looks at every shared library of the process, which takes milliseconds: one before SciPy is there, and
    # one after.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
