"""The choice of C by cross-validation: a fold is predicted by classifiers that have not seen its labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphrefine.evaluate import evaluate_labels
from graphrefine.evaluate.judges import choose_penalty, make_split
from graphrefine.system.threads import one_blas_thread


def weak_signal(seed: int) -> tuple[Any, Any]:
    """Ninety rows of two classes: one column tells a little, eighty are noise that a loose fit learns by heart."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, 90)
    rows = rng.standard_normal((90, 81)).astype(np.float32)
    rows[:, 0] += 2.0 * (2 * kind - 1)
    return rows, np.eye(2, dtype=bool)[kind]


def test_a_loose_fit_that_learns_noise_is_not_chosen() -> None:
    # By their own training nodes the loosest C is always best: all its predictions are right there.
    with one_blas_thread():
        chosen = [choose_penalty(*weak_signal(seed), (0.003, 100.0), (seed,)) for seed in range(6)]
    assert chosen.count(0.003) >= 5


def test_labels_of_test_nodes_do_not_count() -> None:
    rows, targets = weak_signal(0)
    for seed in range(8):
        test = make_split(90, 0.5, repeat=0, seed=seed).test
        changed = targets.copy()
        changed[test] = targets[np.random.default_rng(seed).permutation(test)]
        options: dict[str, Any] = {"ratios": [0.5], "repeats": 1, "C": (0.001, 0.01, 0.1, 1.0, 10.0), "seed": seed}
        plain, other = (evaluate_labels(rows, labels, **options).ratios[0] for labels in (targets, changed))
        assert plain.C == other.C and plain.values != other.values
