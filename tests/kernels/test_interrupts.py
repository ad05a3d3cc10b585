"""What the system does to compiled code: Ctrl-C stops it within moments, and it does without threads that are refused.

Whether a kernel has stopped is seen in its output: rows that it had not come to are as they were. A signal that Python
handles only after the kernel has ended would find all of them written.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Thread
from time import process_time, sleep
from typing import Any

import numpy as np
import pytest

from graphrefine.graph.graph import Graph
from graphrefine.kernels import native

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers of Unix")
NODES, DEGREE, LENGTH = 100_000, 20, 2_000
UNTOUCHED = -7


class RingError(Exception):
    """The alarm rang."""


@pytest.fixture
def ring() -> Iterator[Callable[[float], None]]:
    """A timer whose signal raises `RingError` where Python handles it."""

    def handle(*_: Any) -> None:
        raise RingError

    before = signal.signal(signal.SIGALRM, handle)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds) and None
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def graph() -> Graph:
    ends = np.random.default_rng(0).integers(0, NODES, (2, NODES * DEGREE // 2), dtype=np.int32)
    return Graph.from_edges(*ends, names=range(NODES))


def walk(graph: Graph, out: Any, threads: int) -> None:
    """Walks that take seconds."""
    starts = np.arange(len(out), dtype=np.int32)
    settings: dict[str, Any] = {"seed": 0, "round": 0, "p": 1.0, "q": 1.0, "threads": threads}
    native.random_walks(graph.indptr, graph.indices, None, starts, out, **settings)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_walks_stop_and_have_the_same_bits_afterwards(
    graph: Graph, ring: Callable[[float], None], threads: int
) -> None:
    out = np.full((NODES, LENGTH), UNTOUCHED, np.int32)
    ring(0.05)
    with pytest.raises(RingError):
        walk(graph, out, threads)
    assert (out[:, -1] == UNTOUCHED).any(), "all walks were made"
    again, first = (np.full((2_000, 100), UNTOUCHED, np.int32) for _ in range(2))
    walk(graph, again, threads)
    walk(graph, first, 1)
    assert np.array_equal(first, again) and (first != UNTOUCHED).all()


@pytest.mark.parametrize("threads", [1, 5])
@pytest.mark.parametrize("gram", [False, True])  # with one, threads wait for each other
def test_products_stop(graph: Graph, ring: Callable[[float], None], threads: int, gram: bool) -> None:
    columns = 1024
    x = np.ones((NODES, columns), np.float32)
    out = np.full((NODES, columns), UNTOUCHED, np.float32)
    total = np.zeros((2, columns, columns)) if gram else None
    product = native.Product(graph.indptr, graph.indices, columns=NODES, constant=1.0)
    ring(0.05)
    with pytest.raises(RingError):
        for _ in range(20):  # the fastest machine needs more than the twentieth part of a second for one
            product.apply(x, out=out, gram=total, threads=threads)
            out.fill(UNTOUCHED)
    assert (out[:, 0] == UNTOUCHED).any(), "all rows were made"


def test_a_kernel_in_another_thread_goes_on(graph: Graph, ring: Callable[[float], None]) -> None:
    """Python handles signals in the main thread; the others are not its to stop."""
    out = np.full((8_000, LENGTH), UNTOUCHED, np.int32)
    worker = Thread(target=walk, args=(graph, out, 2))
    ring(0.15)
    worker.start()
    with pytest.raises(RingError):
        while True:
            sleep(0.01)
    worker.join()
    assert (out != UNTOUCHED).all()


def turn_down() -> None:
    """A second step in a triangle with q near zero, which is accepted once in a thousand million times."""
    rows = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1], np.int32), None
    settings: dict[str, Any] = {"seed": 0, "round": 0, "p": 1.0, "q": 1e-9, "threads": 1}
    native.random_walks(*rows, np.zeros(1, np.int32), np.empty((1, 9), np.int32), **settings)


def find_eigenpairs() -> None:
    matrix = np.random.default_rng(0).normal(size=(2_000, 2_000))
    native.find_eigenpairs(matrix + matrix.T, np.empty(2_000), np.empty((2_000, 2_000)))


def solve_triangular() -> None:
    native.solve_triangular(np.eye(3_000), np.ones((3_000, 3_000)), transposed=False)


def solve_hub() -> None:
    """A row of many entries, whose matrix is summed."""
    entries, columns = 3_000_000, 128
    indices = np.zeros(entries, np.int32)
    tables = np.zeros((1, columns), np.float32), np.ones((1, columns), np.float32)
    terms: dict[str, Any] = {"missing": np.ones(1), "totals": np.ones(1), "diagonal": np.ones((2, columns))}
    rows = np.array([0, entries]), indices, np.ones(entries, np.float32)
    native.solve_rows(*rows, *tables, **terms, steps=1, hub=1, threads=2)


@pytest.mark.parametrize("work", [turn_down, find_eigenpairs, solve_triangular, solve_hub])
def test_long_pieces_of_work_stop(work: Callable[[], None], ring: Callable[[float], None]) -> None:
    """Each takes two seconds or more for one row, one step or one matrix."""
    ring(0.5)
    start = process_time()
    with pytest.raises(RingError):
        work()
    assert process_time() - start < 1.6


SCARCE = """
import resource, sys, zlib
import numpy as np
from graphrefine.kernels import _native as native

rng = np.random.default_rng(0)
ends = rng.integers(0, 5_000, (2, 120_000), dtype=np.int32)
out, gram = np.empty((5_000, 64), np.float32), np.zeros((2, 64, 64))
x = rng.random((5_000, 64), np.float32)
walks = np.empty((2_000, 40), np.int32)
if sys.argv[1] == "scarce":  # room for some megabytes, and none for the stack of a thread
    taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[2]), resource.RLIM_INFINITY))
indptr, indices, *_ = native.build_rows(5_000, *ends, weights=None, directed=False, threads=5)
native.Product(indptr, indices, columns=5_000, constant=1.0).apply(x, out=out, gram=gram, threads=5)
starts = np.arange(2_000, dtype=np.int32)
native.random_walks(indptr, indices, None, starts, walks, seed=1, round=0, p=1.0, q=1.0, threads=5)
print(*(zlib.crc32(each) for each in (indptr, indices, out, gram, walks)))
"""


def run(*arguments: str) -> str:
    environment = {"OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", SCARCE, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
def test_no_thread_can_be_started() -> None:
    """A stack takes 8 MB of address space. 22 MB are enough for two of them, beside what the kernels need."""
    ample = run("ample")
    assert run("scarce", str(7 << 20)) == run("scarce", str(22 << 20)) == ample
