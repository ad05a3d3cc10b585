"""The same bits for any number of BLAS threads, and blocks of code in which BLAS has one."""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Barrier, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from graphrefine.system.threads import one_blas_thread

# A graph on which OpenBLAS gives products, Gram matrices and sums to all of its threads.
BITS = """
import hashlib, sys, warnings
import numpy as np
import graphrefine

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
nodes = 700
ends = rng.integers(0, nodes, (2, 6 * nodes)) // np.array([[1], [2]])
graph = graphrefine.Graph.from_edges(*ends, weights=rng.random(6 * nodes) + 0.5, names=range(nodes))
features = rng.standard_normal((nodes, 150))
for method, settings in [
    ("refine", {"learn": True}),
    ("refine", {"quality": "best"}),
    ("refine", {"features": features}),
    ("prone", {}),
    ("netmf", {}),
    ("grarep", {}),
    ("hope", {}),
]:
    embedding = graphrefine.embed(graph, 128, method=method, **settings)
    print(method, *settings, hashlib.sha256(embedding.vectors.tobytes()).hexdigest())
"""


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_bits_do_not_depend_on_the_number_of_blas_threads() -> None:
    bits = []
    for threads in ("1", "2"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads}
        run = subprocess.run([sys.executable, "-c", BITS], env=environment, capture_output=True, text=True, check=True)
        bits.append(run.stdout.splitlines())
    assert len(bits[0]) == 7
    assert bits[0] == bits[1]


def test_products_of_blas_may_have_other_bits_on_two_threads() -> None:
    """The control: without a limit, products depend on the number of threads, by OpenBLAS's AVX2 kernels."""
    if max(blas_threads()) < 2:
        pytest.skip("BLAS has one thread here")
    x = np.random.default_rng(0).standard_normal((4000, 128)).astype(np.float32)
    many = [x.T @ x, x @ x[:128]]
    with one_blas_thread():
        one = [x.T @ x, x @ x[:128]]
    same = [np.array_equal(*pair) for pair in zip(many, one, strict=True)]
    if all(same):
        pytest.skip("the products of this BLAS have the same bits on any number of threads")
    for pair in zip(many, one, strict=True):
        np.testing.assert_allclose(*pair, rtol=1e-4, atol=1e-2)


def test_blocks_share_one_limit_beside_and_within_each_other() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    steps, seen = Barrier(2, timeout=20), []

    def work() -> None:
        with one_blas_thread():
            steps.wait()  # both are inside
            steps.wait()  # the other one has left
            seen.append(blas_threads())

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        thread = Thread(target=work)  # threadpoolctl would ignore it while this one has a limit
        with one_blas_thread():
            thread.start()
            steps.wait()
        steps.wait()
        thread.join()
        assert seen == [{1}]
        assert blas_threads() == before

    @one_blas_thread()
    def inside(depth: int) -> set[int]:
        return inside(depth - 1) if depth else blas_threads()

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert inside(3) == {1} and blas_threads() == before
