"""Embedding after a fork, and in many threads at once: the same bits as alone, and an end."""

from __future__ import annotations

import multiprocessing
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import graphrefine
from graphrefine.system import threads

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
# Warnings are errors here, and newer Pythons warn of a fork beside other threads, which is what is tested.
ignore_fork = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def embed(seed: int) -> bytes:
    """Vectors of a graph that belongs to a seed."""
    ends = np.random.default_rng(seed).integers(0, 3_000, (20_000, 2))
    vectors: bytes = graphrefine.embed(ends, dim=32, threads=2, seed=seed).vectors.tobytes()
    return vectors


@needs_fork
@ignore_fork
def test_children_of_a_process_that_has_embedded_or_does_in_another_thread() -> None:
    expected = [embed(seed) for seed in range(3)]
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map_async(embed, range(3)).get(timeout=100) == expected
    # The other thread is not in the child, and cannot leave what it was in.
    stop = Event()

    def go_on() -> None:
        while not stop.is_set():
            embed(0)

    worker = Thread(target=go_on)
    worker.start()
    try:
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map_async(embed, [1] * 4).get(timeout=100) == [expected[1]] * 4
    finally:
        stop.set()
        worker.join()


def test_many_threads_embed_as_one_does() -> None:
    seeds = list(range(8))
    expected = [embed(seed) for seed in seeds]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(embed, seeds * 2)) == expected * 2
    finally:
        sys.setswitchinterval(interval)
    limits = {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}
    assert threads._blocks == 0 and limits, "the limit of BLAS is lifted"
