"""Skip-gram to the bit: an oracle in NumPy that rounds as the kernel does, in the order in which it does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.kernels import native
from oracles import skipgram as skipgram_oracle
from oracles.fused import Floats, dots, fma
from strategies import PATIENT

COEFFICIENTS = (1.5403530e-4, 1.3333558e-3, 9.6181291e-3, 5.5504109e-2, 2.4022651e-1, 6.9314718e-1, 1.0)


def sigmoid(x: Floats) -> Floats:
    """``1 / (1 + 2^y)`` in float32: a whole power of two and a polynomial."""
    y = np.clip(x * np.float32(-1.44269504), np.float32(-100), np.float32(100))
    whole = np.rint(y)
    power = np.full_like(y, COEFFICIENTS[0])
    for next_one in COEFFICIENTS[1:]:
        power = fma(power, y - whole, np.float32(next_one))
    exponent = ((whole.astype(np.int32) + 127) << 23).view(np.float32)
    return np.float32(1) / fma(power, exponent, np.float32(1))


def step(
    centers: Floats, contexts: Floats, center: int, targets: list[int], labels: list[float], *, rate: np.float32
) -> None:
    """One step, as `skipgram_oracle.step`."""
    x = centers[center].copy()
    errors = (np.array(labels, np.float32) - sigmoid(dots(x, contexts[targets]))) * rate
    for target, error in zip(targets, errors, strict=True):
        old = contexts[target].copy()
        centers[center] = fma(old, error, centers[center])
        contexts[target] = fma(x, error, old)


def random_tables(columns: int, seed: int, size: float) -> NDArray[np.float32]:
    tables = np.random.default_rng(seed).standard_normal((2, 20, columns), np.float32)
    return tables * np.float32(size / np.sqrt(columns))


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
    ours, expected = random_tables(columns, seed, size), random_tables(columns, seed, size)
    rates: dict[str, Any] = {"first": 0, "rate": 0.1, "last_rate": 0.05, "threads": 1}
    native.SkipGram(noise, **options).train(*ours, walks, **rates)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skipgram_oracle, "step", step)
        skipgram_oracle.SkipGram(noise, **options).train(expected[0], expected[1], walks, **rates)
    assert np.array_equal(ours, expected) and not np.array_equal(ours, random_tables(columns, seed, size))


def test_a_target_that_occurs_twice_gets_both_updates() -> None:
    ours, expected = random_tables(32, 0, 1.0), random_tables(32, 0, 1.0)
    trainer = native.SkipGram(np.full(4, 2, np.int32), window=1, negatives=4, both=False, seed=0, parts=1)
    trainer.train(*ours, np.array([[0, 1]], np.int32), first=0, rate=0.5, last_rate=0.5, threads=1)
    step(expected[0], expected[1], 0, [1, 2, 2, 2, 2], [1.0, 0.0, 0.0, 0.0, 0.0], rate=np.float32(0.5))
    assert np.array_equal(ours, expected)


def test_the_oracle_can_tell() -> None:
    """The control: a product and a sum that are rounded each by itself give other bits."""
    x, rows = random_tables(64, 1, 1.0)
    fused, plain = dots(x[0], rows), (x[0] * rows).sum(axis=1, dtype=np.float32)
    assert np.allclose(fused, plain, atol=1e-5) and not np.array_equal(fused, plain)
