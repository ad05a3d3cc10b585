"""The choice of C by cross-validation: a fold is predicted by classifiers that have not seen its labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphrefine.evaluate import judges
from graphrefine.evaluate.judges import PENALTY_FOLDS, choose_penalty
from graphrefine.evaluate.logistic import fit_logistic
from graphrefine.evaluate.metrics import measure_labels
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


def test_training_and_test_rows_are_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, targets = weak_signal(0)
    number = {row.tobytes(): at for at, row in enumerate(rows)}
    trained: list[set[int]] = []
    tested: list[set[int]] = []
    fit, measure = fit_logistic, measure_labels

    def note_training(some: Any, *others: Any, **options: Any) -> Any:
        trained.append({number[row.tobytes()] for row in some})
        return fit(some, *others, **options)

    def note_test(classifiers: Any, some: Any, truth: Any) -> Any:
        tested.append({number[row.tobytes()] for row in some})
        return measure(classifiers, some, truth)

    monkeypatch.setattr(judges, "fit_logistic", note_training)
    monkeypatch.setattr(judges, "measure_labels", note_test)
    choose_penalty(rows, targets, (0.1, 1.0), (0,))
    assert len(trained) == len(tested) == 2 * PENALTY_FOLDS
    for train, test in zip(trained, tested, strict=True):
        assert not train & test and len(train | test) == len(rows)
    assert set.union(*tested) == set(range(len(rows)))
