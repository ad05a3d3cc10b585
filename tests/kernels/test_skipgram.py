"""Skip-gram: its steps follow the gradient and have the bits of an oracle, threads change nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.kernels import native, sampling
from graphrefine.methods.skipgram import noise_table, steps_of
from graphs import random_graph
from oracles import skipgram as skipgram_oracle
from oracles.fused import Floats, dots
from strategies import PATIENT


def start(nodes: int, columns: int = 32, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((nodes, columns), np.float32), rng.standard_normal((nodes, columns), np.float32)


def train(
    trainer: Any, tables: tuple[Floats, Floats], walks: NDArray[np.int32], *, threads: int = 1
) -> tuple[Floats, Floats]:
    centers, contexts = (table.copy() for table in tables)
    trainer.train(centers, contexts, walks, first=5, rate=0.1, last_rate=0.05, threads=threads)
    return centers, contexts


def test_a_step_follows_the_gradient() -> None:
    """One center 0 with one context 1 and the noise 2 twice: all in float64, from the formula."""
    tables = start(3)
    noise = np.full(4, 2, np.int32)
    trainer = sampling.skip_gram(noise, window=1, negatives=2, both=False, seed=0, parts=1)
    centers, contexts = (table.copy() for table in tables)
    trainer.train(centers, contexts, np.array([[0, 1]], np.int32), first=0, rate=0.1, last_rate=0.1, threads=1)
    x, c = (table.astype(np.float64) for table in tables)
    error = np.array([1, 0]) - 1 / (1 + np.exp(-c[[1, 2]] @ x[0]))
    second = c[2] + 0.1 * error[1] * x[0]  # the noise comes twice: the second time it has moved
    assert np.allclose(centers[0], x[0] + 0.1 * (error[0] * c[1] + error[1] * c[2] + error[1] * second), atol=1e-5)
    assert np.allclose(contexts[1], c[1] + 0.1 * error[0] * x[0], atol=1e-6)
    assert np.allclose(contexts[2], c[2] + 0.2 * error[1] * x[0], atol=1e-6)
    assert np.array_equal(centers[1:], tables[0][1:]) and np.array_equal(contexts[0], tables[1][0])


@settings(deadline=None, max_examples=15)
@given(st.integers(30, 400), st.sampled_from([1, 2, 4, 8]), st.integers(2, 6), st.integers(0, 1000))
def test_threads_change_nothing(nodes: int, parts: int, threads: int, seed: int) -> None:
    graph, tables = random_graph(nodes, seed=seed), start(nodes)
    walks = sampling.random_walks(steps_of(graph), np.arange(nodes, dtype=np.int32), length=12, seed=seed)
    noise = noise_table(np.bincount(walks.ravel(), minlength=nodes).astype(float))
    options: dict[str, Any] = {"window": 5, "negatives": 3, "both": True, "seed": seed, "parts": parts}
    one, *others = (train(sampling.skip_gram(noise, **options), tables, walks, threads=n) for n in (1, 1, threads))
    assert all(np.array_equal(one, other) for other in others)


def test_noise_is_drawn_by_its_share() -> None:
    counts = np.random.default_rng(0).pareto(1.5, 3000)
    counts[::7] = 0
    table = noise_table(counts)
    assert len(table) & (len(table) - 1) == 0
    share = counts**0.75 / (counts**0.75).sum()
    drawn = np.bincount(table, minlength=3000) / len(table)
    assert np.abs(drawn - share).max() < 1.01 / len(table)
    assert np.all(drawn[::7] == 0)
    halves = [np.bincount(half, minlength=3000) / len(half) for half in np.split(table, 2)]
    common = share > 1e-3  # in random order: both halves hold what is common equally often
    assert np.abs(halves[0] - halves[1])[common].max() < 0.15 * share[common].max()


def random_tables(columns: int, seed: int, size: float) -> tuple[Floats, Floats]:
    centers, contexts = np.random.default_rng(seed).standard_normal((2, 20, columns), np.float32)
    return centers * np.float32(size / np.sqrt(columns)), contexts * np.float32(size / np.sqrt(columns))


@PATIENT
@given(
    columns=st.sampled_from([32, 64, 96, 160]),
    seed=st.integers(0, 99),
    negatives=st.integers(0, 9),
    size=st.sampled_from([0.1, 3.0, 30.0]),
)
def test_training_has_the_bits_of_the_oracle(columns: int, seed: int, negatives: int, size: float) -> None:
    """The largest tables have dot products beyond the ends of the sigmoid."""
    rng = np.random.default_rng(seed)
    noise, walks = rng.integers(0, 20, 64).astype(np.int32), rng.integers(0, 20, (3, 6)).astype(np.int32)
    options: dict[str, Any] = {"window": 3, "negatives": negatives, "both": True, "seed": seed, "parts": 2}
    tables = random_tables(columns, seed, size)
    ours, expected = (train(each.SkipGram(noise, **options), tables, walks) for each in (native, skipgram_oracle))
    assert np.array_equal(ours, expected) and not np.array_equal(ours, tables)


def test_the_oracle_can_tell() -> None:
    """The control: a product and a sum that are rounded each by itself give other bits."""
    x, rows = random_tables(64, 1, 1.0)
    fused, plain = dots(x[0], rows), (x[0] * rows).sum(axis=1, dtype=np.float32)
    assert np.allclose(fused, plain, atol=1e-5) and not np.array_equal(fused, plain)
