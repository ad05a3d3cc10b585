"""The rule of ``dim="auto"`` where the answer is known: of pure noise, hardly an axis is three standard errors away."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.dimension import cross_validated, measure_dimension


def noise(seed: int) -> Graph:
    """A random graph: beside the degrees, which are one axis, there is nothing to find."""
    rng = np.random.default_rng(seed)
    return Graph.from_edges(*rng.integers(0, 1200, (2, 12_000)), names=np.arange(1200))


@pytest.fixture(scope="module")
def scores() -> NDArray[np.float64]:
    """Standard errors of 255 axes of each of four graphs, all but the leading ones."""
    return np.concatenate([cross_validated(EdgeStrengths(noise(seed)), 256, seed=0)[1][1:] for seed in range(4)])


def test_scores_of_noise_are_standard_normal(scores: NDArray[np.float64]) -> None:
    assert abs(scores.mean()) < 0.4  # held-out edges are the ones that are not in the rest, which moves it a little
    assert 0.85 < scores.std() < 1.15


def test_three_standard_errors_confirm_next_to_no_axis_of_noise(scores: NDArray[np.float64]) -> None:
    # Of 1,020 normal numbers 1.4 are above 3 on average, and 23 above 2: a rule of two would confirm those.
    confirmed = sum(len(measure_dimension(noise(seed)).energies) - 1 for seed in range(4))
    assert confirmed <= 5
    assert (scores > 2).sum() >= 12, "the control: there are axes that two standard errors would confirm"
