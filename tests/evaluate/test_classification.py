from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import f1_score

from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_labels, judges, metrics, random_control
from graphrefine.evaluate.judges import make_split
from graphrefine.evaluate.logistic import Classifiers
from graphrefine.evaluate.metrics import measure_labels, top_classes
from graphrefine.linalg import unit_rows
from graphrefine.system.threads import one_blas_thread


@dataclass(frozen=True)
class Vectors:
    names: NDArray[Any]
    vectors: NDArray[Any]


@pytest.fixture(scope="module")
def planted() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Spectral vectors of a planted-partition graph of unequal parts, and the part of each node."""
    part = np.repeat(np.arange(4), [240, 120, 80, 40])
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((480, 480)) < np.where(part[:, None] == part, 0.2, 0.02), 1)
    degree = (upper + upper.T).sum(axis=0) + 1.0
    scaled = (upper + upper.T) / np.sqrt(degree[:, None] * degree)
    _, vectors = np.linalg.eigh(scaled)
    return vectors[:, -8:], part


def brute_force(scores: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    predicted = np.zeros(scores.shape, bool)
    for row, count in enumerate(counts):
        left = list(range(scores.shape[1]))
        for _ in range(count):
            best = max(left, key=lambda column: (scores[row, column], -column))
            predicted[row, best] = True
            left.remove(best)
    return predicted


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 30), classes=st.integers(1, 8), seed=st.integers(0, 10_000))
def test_as_many_classes_are_predicted_as_a_node_has(n: int, classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, (n, classes)).astype(float)  # many ties
    scores[rng.random((n, classes)) < 0.1] = -np.inf
    counts = rng.integers(0, classes + 1, n)
    assert np.array_equal(top_classes(scores, counts), brute_force(scores, counts))


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 60),
    classes=st.integers(1, 8),
    share=st.floats(0, 1),
    block=st.sampled_from([7, 10**6]),
    seed=st.integers(0, 10_000),
)
def test_f1_is_that_of_scikit_learn(n: int, classes: int, share: float, block: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random((n, classes)) < share
    scores = rng.standard_normal((n, classes)).astype(np.float32)
    predicted = top_classes(scores.astype(np.float64), truth.sum(axis=1))
    with patch.object(metrics, "BLOCK", block):
        figures = measure_labels(Classifiers(np.eye(classes), np.zeros(classes)), scores, sp.csr_array(truth))
    expected = [f1_score(truth, predicted, average=kind, zero_division=0) for kind in ("micro", "macro")]
    if classes == 1:  # scikit-learn takes a single column for two classes, 0 and 1
        expected = [f1_score(truth[:, 0], predicted[:, 0], zero_division=0)] * 2
    assert [figures["micro_f1"], figures["macro_f1"]] == pytest.approx([100 * value for value in expected], abs=1e-10)


def test_splits_depend_on_seed_ratio_and_repeat_alone() -> None:
    settings = [(ratio, repeat, seed) for ratio in (0.1, 0.5) for repeat in (0, 1) for seed in (0, 1)]
    splits = [make_split(100, ratio, repeat=repeat, seed=seed) for ratio, repeat, seed in settings]
    assert [len(split.train) for split in splits] == [10] * 4 + [50] * 4
    assert len({tuple(split.train[:10].tolist()) for split in splits}) == len(splits)
    for split, (ratio, repeat, seed) in zip(splits, settings, strict=True):
        assert sorted([*split.train, *split.test]) == list(range(100))
        assert np.array_equal(split.train, make_split(100, ratio, repeat=repeat, seed=seed).train)


def test_scores_are_the_same_for_any_threads_row_order_and_row_length(planted: Any) -> None:
    vectors, part = planted
    base = evaluate_labels(vectors, part, ratios=[0.2, 0.6], repeats=3, threads=1)
    assert evaluate_labels(vectors, part, ratios=[0.2, 0.6], repeats=3, threads=3) == base
    shuffle = np.random.default_rng(0).permutation(len(part))
    moved = Vectors(shuffle, 1024 * vectors[shuffle])  # a power of two: the unit rows are the same bits
    named = np.arange(len(part)), part
    assert evaluate_labels(moved, named, ratios=[0.2, 0.6], repeats=3, threads=2) == base
    with pytest.raises(InputError, match=r"give a pair \(nodes, labels\)"):
        evaluate_labels(moved, part)
    other = evaluate_labels(vectors, part, ratios=[0.2, 0.6], repeats=3, seed=1)
    assert other.ratios[0].values["micro_f1"] != base.ratios[0].values["micro_f1"]


def test_random_vectors_score_like_the_commonest_class_and_real_ones_far_above(planted: Any) -> None:
    vectors, part = planted
    real = evaluate_labels(vectors, part, ratios=[0.5], repeats=5).ratios[0]
    control = evaluate_labels(random_control(len(part), 8, seed=1), part, ratios=[0.5], repeats=5).ratios[0]
    commonest = 100 * 240 / 480
    assert control.micro_mean == pytest.approx(commonest, abs=3)
    assert control.macro_mean == pytest.approx(100 * 2 / 3 / 4, abs=3)  # F1 of the one class predicted: 2/3
    assert real.micro_mean > 90
    assert real.macro_mean > control.macro_mean + 50


def test_unlabeled_missing_nodes_and_empty_classes_are_counted(planted: Any) -> None:
    vectors, part = planted
    membership = np.eye(4)[part]
    membership[::3] = 0
    dropped = evaluate_labels(vectors, membership, ratios=[0.5], repeats=3)
    kept = evaluate_labels(vectors, membership, ratios=[0.5], repeats=3, unlabeled="keep")
    for scores, nodes in ((dropped, 320), (kept, 480)):
        assert (scores.nodes, scores.unlabeled_nodes, scores.ratios[0].train_nodes) == (nodes, 160, nodes // 2)
    labeled = np.flatnonzero(membership.any(axis=1))
    alone = evaluate_labels(vectors[labeled], membership[labeled], ratios=[0.5], repeats=3)
    assert alone.ratios == dropped.ratios != kept.ratios
    vectors, part = planted
    labels = {**dict(enumerate(part.tolist())), 9999: "nowhere", 9998: 1}
    scores = evaluate_labels(vectors, labels, ratios=[0.5], repeats=2)
    assert (scores.missing_nodes, scores.empty_classes, scores.classes) == (2, 1, 4)
    assert scores.ratios == evaluate_labels(vectors, part, ratios=[0.5], repeats=2).ratios


def test_a_class_unseen_in_training_is_never_guessed_first() -> None:
    # One node alone has the second class: where it is tested, it alone is taken for the wrong one.
    truth = np.zeros(40, int)
    truth[7] = 1
    scores = evaluate_labels(random_control(40, 4), truth, ratios=[0.5], repeats=8).ratios[0]
    tested = [7 in make_split(40, 0.5, repeat=repeat, seed=0).test for repeat in range(8)]
    assert any(tested)
    for seen, micro in zip(tested, scores.values["micro_f1"], strict=True):
        assert not seen or micro == pytest.approx(95)


def test_few_labels_have_more_splits(planted: Any) -> None:
    few = evaluate_labels(*planted, ratios=[0.01, 0.5])
    assert few.repeats == (50, 10) and [len(each.values["micro_f1"]) for each in few.ratios] == [50, 10]
    assert few.ratios[1:] == evaluate_labels(*planted, ratios=[0.5]).ratios
    asked = evaluate_labels(*planted, ratios=[0.01], repeats=7)
    assert asked.repeats == 7 and asked.ratios[0].values["micro_f1"] == few.ratios[0].values["micro_f1"][:7]


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(2, 40),
    classes=st.integers(2, 8),
    ratio=st.floats(0.001, 0.999),
    C=st.sampled_from([1.0, "cv"]),
    unlabeled=st.sampled_from(["drop", "keep"]),
    seed=st.integers(0, 99),
)
def test_any_number_of_training_nodes_gives_scores_or_an_error(
    n: int, classes: int, ratio: float, C: Any, unlabeled: Any, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    vectors, truth = rng.standard_normal((n, 3)), np.eye(classes, dtype=bool)[rng.integers(0, classes, n)]
    truth[1:][rng.random(n - 1) < 0.3] = False
    m = n if unlabeled == "keep" else int(truth.any(axis=1).sum())
    options: dict[str, Any] = {"repeats": 2, "C": C, "unlabeled": unlabeled}
    size, least = round(ratio * m), 3 if C == "cv" else 1
    if least <= size < m:
        at = evaluate_labels(vectors, truth, ratios=[ratio], **options).ratios[0]
        assert (at.train_nodes, at.test_nodes) == (size, m - size)
        assert all(0 <= value <= 100 for value in (*at.values["micro_f1"], *at.values["macro_f1"]))
        return
    with pytest.raises(InputError, match=rf"ratios=.* of {m} nodes leaves {size} to train"):
        evaluate_labels(vectors, truth, ratios=[ratio], **options)


def test_cross_validation_chooses_among_the_candidates_and_helps(planted: Any) -> None:
    vectors, part = planted
    noisy = unit_rows(vectors) + 0.3 * np.random.default_rng(0).standard_normal(vectors.shape)
    weak, best, fixed = (
        evaluate_labels(noisy, part, ratios=[0.3], repeats=4, C=C).ratios[0] for C in (1e-3, [1e-3, 5.0], 5.0)
    )
    assert set(best.C) == {5.0} and best.values == fixed.values
    assert best.macro_mean > weak.macro_mean + 20
    assert evaluate_labels(noisy, part, ratios=[0.3], repeats=2, C="cv").C == judges.PENALTIES


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
        chosen = [judges.choose_penalty(*weak_signal(seed), (0.003, 100.0), (seed,)) for seed in range(6)]
    assert chosen.count(0.003) >= 5


def test_labels_of_test_nodes_do_not_choose_the_penalty() -> None:
    rows, targets = weak_signal(0)
    for seed in range(8):
        test = make_split(90, 0.5, repeat=0, seed=seed).test
        changed = targets.copy()
        changed[test] = targets[np.random.default_rng(seed).permutation(test)]
        options: dict[str, Any] = {"ratios": [0.5], "repeats": 1, "C": (0.001, 0.01, 0.1, 1.0, 10.0), "seed": seed}
        plain, other = (evaluate_labels(rows, labels, **options).ratios[0] for labels in (targets, changed))
        assert plain.C == other.C and plain.values != other.values
