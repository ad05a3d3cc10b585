"""Labels predicted from vectors: scikit-learn's own answers, probabilities that can be trusted, hidden labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, log_loss
from sklearn.multiclass import OneVsRestClassifier

from graphrefine import predict_labels
from graphrefine.analysis.label_prediction import Rule, _learn_threshold, cross_judge
from graphrefine.display.table import Table
from graphrefine.embedding.embedding import Embedding


def blobs(n: int = 600, classes: int = 4, noise: float = 1.2, seed: int = 0) -> tuple[NDArray[Any], NDArray[Any]]:
    """Vectors around a center for each class, and the classes."""
    rng = np.random.default_rng(seed)
    centers, kind = rng.standard_normal((classes, 16)), rng.integers(0, classes, n)
    return (centers[kind] + noise * rng.standard_normal((n, 16))).astype(np.float32), kind


def unit(rows: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def by_node(table: Table) -> dict[Any, set[str]]:
    found: dict[Any, set[str]] = {}
    for row in table:
        found.setdefault(row.node, set()).add(row.label)
    return found


def test_one_label_a_node_is_that_of_scikit_learn() -> None:
    vectors, kind = blobs()
    labels = {node: f"c{kind[node]}" for node in range(400)}
    table = predict_labels(vectors, labels, C=2.0)
    theirs = OneVsRestClassifier(LogisticRegression(C=2.0, solver="liblinear", tol=1e-8)).fit(
        unit(vectors[:400]), kind[:400]
    )
    assert table["node"].tolist() == list(range(400, 600))
    assert table["label"].tolist() == [f"c{each}" for each in theirs.predict(unit(vectors[400:]))]
    every = predict_labels(vectors, labels, C=2.0, top=4)
    assert len(every) == 800 and every["given"].sum() == 200
    sums = np.add.reduceat(every["probability"], np.arange(0, 800, 4))
    assert np.allclose(sums, 1)
    assert (np.diff(every["probability"].reshape(-1, 4), axis=1) <= 0).all()
    decisions = theirs.decision_function(unit(vectors[400:])) * table.stats["scale"]
    expected = np.exp(decisions) / np.exp(decisions).sum(axis=1, keepdims=True)
    assert np.allclose(every["probability"].reshape(-1, 4), -np.sort(-expected, axis=1), atol=1e-3)


def test_several_labels_a_node_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((700, 12)).astype(np.float32)
    truth = vectors @ rng.standard_normal((12, 5)) + 0.8 * rng.standard_normal((700, 5)) > 1.5
    truth[truth.sum(axis=1) == 0, 0] = True
    labels = sp.lil_array((700, 5), dtype=bool)
    labels[:500] = truth[:500]
    table = predict_labels(vectors, labels.toarray(), C=5.0)
    figures = table.stats
    theirs = OneVsRestClassifier(LogisticRegression(C=5.0, solver="liblinear", tol=1e-8)).fit(
        unit(vectors[:500]), truth[:500]
    )
    values = theirs.decision_function(unit(vectors[500:]))
    expected = 1 / (1 + np.exp(-figures["scale"] * values - figures["shift"]))
    marks = expected >= figures["threshold"]
    marks[np.arange(200), expected.argmax(axis=1)] = True
    answer = by_node(table)
    ours = np.array([[str(label) in answer[node] for label in range(5)] for node in range(500, 700)])
    assert figures["several"] and (ours == marks).mean() > 0.999
    assert abs(f1_score(truth[500:], ours, average="micro") - f1_score(truth[500:], marks, average="micro")) < 1e-3
    assert f1_score(truth[500:], ours, average="micro") > 0.6
    assert abs(100 * f1_score(truth[500:], ours, average="micro") - figures["held_out"]["micro_f1"]) < 6


def test_figures_of_held_out_nodes_hold_for_the_unlabeled() -> None:
    vectors, kind = blobs(4000, noise=2.0)
    table = predict_labels(vectors, {node: str(kind[node]) for node in range(2000)}, top=4)
    held, control = table.stats["held_out"], table.stats["control"]
    right = table["label"][table["given"]] == kind[2000:].astype(str)
    assert abs(right.mean() - held["accuracy"]) < 0.03
    shares = np.zeros((2000, 4))
    shares[np.repeat(np.arange(2000), 4), table["label"].astype(int)] = table["probability"]
    assert abs(log_loss(kind[2000:], shares) - held["log_loss"]) < 0.05
    sure = shares.max(axis=1)
    for low, high in ((0.3, 0.5), (0.5, 0.7), (0.7, 0.9)):  # of answers with a probability of 0.6, 60 % are right
        among = (sure >= low) & (sure < high)
        assert among.sum() > 100 and abs(right[among].mean() - sure[among].mean()) < 0.07
    frequent = np.bincount(kind[:2000]).max() / 2000
    assert control["accuracy"] == pytest.approx(frequent, abs=0.01) and held["accuracy"] > frequent + 0.2
    assert control["log_loss"] == pytest.approx(np.log(4), abs=0.02)


def test_noise_is_no_better_than_its_control() -> None:
    """The control must fail to be beaten where there is nothing to learn."""
    rng = np.random.default_rng(0)
    vectors, kind = rng.standard_normal((2000, 16)), rng.choice(3, 2000, p=[0.6, 0.3, 0.1]).astype(str)
    figures = predict_labels(vectors, [*kind[:1500], *[None] * 500]).stats
    assert figures["held_out"]["log_loss"] > figures["control"]["log_loss"] - 0.005
    assert figures["held_out"]["accuracy"] < figures["control"]["accuracy"] + 0.01


def test_all_nodes_are_predicted_without_their_own_labels() -> None:
    """Labels at random that the vectors single out by one coordinate each: seen, they would be told; unseen, not."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 60).astype(str)
    vectors = np.eye(60)
    table = predict_labels(vectors, [*kind[:50], *[None] * 10], nodes="all", C=50.0)
    assert len(table) == 60 and table["labeled"].tolist() == [True] * 50 + [False] * 10
    assert (table["label"][:50] == kind[:50]).mean() < 0.7
    assert table["known"].tolist() == [*(table["label"][:50] == kind[:50]).tolist(), *[False] * 10]
    vectors, classes = blobs(400, noise=0.5)
    wrong = classes.astype(str)
    wrong[:8] = ((classes[:8] + 1) % 4).astype(str)
    audit = predict_labels(vectors, wrong, nodes="all")
    assert set(range(8)) <= set(audit["node"][~audit["known"]].tolist())


def test_the_answer_does_not_depend_on_threads_or_on_the_order_of_nodes() -> None:
    vectors, kind = blobs(300)
    names = np.array([f"n{node:03}" for node in range(300)], object)
    labels = {name: str(each) for name, each in zip(names[:200], kind, strict=False)}
    one, three = (predict_labels(Embedding(names, vectors), labels, threads=threads) for threads in (1, 3))
    assert one == three and one.stats == three.stats
    turned = predict_labels(Embedding(names[::-1], vectors[::-1]), labels)
    assert by_node(turned) == by_node(one) and turned.stats["held_out"] == one.stats["held_out"]


def test_classes_of_one_and_of_all_nodes_and_nodes_without_a_vector() -> None:
    vectors, kind = blobs(200)
    vectors[[5, 190]] = 0
    labels = {node: ["all", str(kind[node])] for node in range(100)}
    labels[0] = ["all", "rare"]
    table = predict_labels(vectors, labels, top=9)
    assert np.isfinite(table["probability"]).all()
    assert table["probability"][table["label"] == "all"].min() > 0.9
    assert np.isfinite(table.stats["held_out"]["log_loss"])
    assert 190 not in table["node"].tolist()
    assert (table.stats["without_vectors"], table.stats["labeled"], table.stats["predicted"]) == (2, 99, 99)


def test_a_few_right_nodes_do_not_make_probabilities_sure() -> None:
    """One of seventeen is wrong: the folds without it see no error at all, and must not be certain for that."""
    truth = np.eye(2, dtype=bool)[np.arange(17) % 2]
    decisions = np.where(truth, 1.0, -1.0)
    decisions[3] *= -1
    fold = np.arange(17) % 5
    held = cross_judge(decisions, truth, fold, several=False)
    assert held["log_loss"] < np.log(2), "worse than a coin"
    assert Rule.learn(np.tile(decisions[:3], (1000, 1)), np.tile(truth[:3], (1000, 1)), several=False).scale > 3
    several = Rule.learn(np.delete(decisions, 3, axis=0), np.delete(truth, 3, axis=0), several=True)
    assert 0.9 < several.probabilities(np.array([[1.0, -1.0]]))[0, 0] < 0.99


def test_the_rule_of_a_fold_has_not_seen_its_labels() -> None:
    """One fold is all right and the other all wrong: the rule of each is the worst for the other."""
    truth = np.eye(2, dtype=bool)[np.arange(40) % 2]
    decisions = np.where(truth, 1.0, -1.0)
    decisions[20:] *= -1
    held = cross_judge(decisions, truth, np.repeat([0, 1], 20), several=False)
    assert held["log_loss"] > 2 * np.log(2), "by one rule for both, it is that of a coin"


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(2, 5))
@settings(deadline=None, max_examples=40)
def test_the_threshold_has_the_highest_micro_f1_of_all(seed: int, nodes: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    cells = nodes * classes
    probabilities = (rng.permutation(cells).reshape(nodes, classes) + 1) / (cells + 1)  # no two are equal
    truth = rng.random((nodes, classes)) < probabilities
    truth[~truth.any(axis=1), 0] = True

    def micro_f1(threshold: float) -> float:
        labels = Rule(several=True, threshold=threshold).choose(probabilities)
        return float(2 * (labels & truth).sum() / (labels.sum() + truth.sum()))

    learned = _learn_threshold(probabilities, truth)
    assert micro_f1(learned) == pytest.approx(max(micro_f1(each) for each in [*probabilities.ravel(), 2.0]))
