"""`evaluate_clusters` and ``graphrefine evaluate labels --cluster``: clusters of vectors against labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from cli_runs import refuses, works
from graphrefine import Embedding
from graphrefine.evaluate import evaluate_clusters
from graphrefine.linalg.kmeans import find_clusters
from strategies import PATIENT

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def rays(sizes: list[int], seed: int, noise: float = 0.02) -> tuple[Floats, Ints]:
    """Vectors of any length near one axis for each class, and the classes, in random order."""
    rng = np.random.default_rng(seed)
    group = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    near = np.eye(len(sizes))[group] + noise * rng.standard_normal((len(group), len(sizes)))
    return near * rng.uniform(0.1, 10, (len(group), 1)), group


SIZES = st.lists(st.integers(2, 25), min_size=2, max_size=6)
SEEDS = st.integers(0, 999)


@settings(PATIENT, max_examples=30)
@given(SIZES, SEEDS)
def test_classes_that_are_apart_are_found(sizes: list[int], seed: int) -> None:
    vectors, group = rays(sizes, seed)
    scores = evaluate_clusters(vectors, group)
    assert [scores.nmi, scores.ari] == pytest.approx([1, 1])
    assert (scores.nodes, scores.classes, scores.clusters) == (sum(sizes), len(sizes), len(sizes))


@settings(PATIENT, max_examples=30)
@given(SIZES, SEEDS)
def test_names_of_classes_and_order_of_rows_make_no_difference(sizes: list[int], seed: int) -> None:
    vectors, group = rays(sizes, seed, noise=0.5)
    rng = np.random.default_rng(seed)
    names = [f"n{node}" for node in range(len(group))]
    labels = dict(zip(names, group.tolist(), strict=True))
    scores = evaluate_clusters(Embedding(names, vectors), labels, starts=2)
    other = rng.permutation(len(sizes))
    renamed = {name: f"class {other[label]}" for name, label in labels.items()}
    again = evaluate_clusters(Embedding(names, vectors), renamed, starts=2)
    assert [again.nmi, again.ari] == pytest.approx([scores.nmi, scores.ari])
    order = rng.permutation(len(group))
    moved = Embedding([names[row] for row in order], vectors[order])
    assert evaluate_clusters(moved, labels, starts=2) == scores


def test_vectors_that_know_nothing_are_as_good_as_the_control() -> None:
    group = np.random.default_rng(1).integers(0, 5, 3000)
    noise = np.random.default_rng(2).standard_normal((3000, 16))
    scores = evaluate_clusters(noise, group)
    assert max(scores.nmi, scores.control_nmi, abs(scores.ari), abs(scores.control_ari)) < 0.01
    few = evaluate_clusters(noise[:60], np.arange(60) % 20)
    assert few.control_nmi > 0.4 and abs(few.control_ari) < 0.1, "NMI by chance alone, which the control shows"


def test_nodes_of_one_label_with_vectors_count() -> None:
    vectors, group = rays([30, 20, 10], seed=3)
    truth = np.eye(4)[group]  # the last class: no node has it alone
    truth[:7] = [1, 0, 1, 1]
    truth[7:12] = 0
    scores = evaluate_clusters(vectors, truth)
    assert (scores.nodes, scores.several_nodes, scores.unlabeled_nodes, scores.classes) == (48, 7, 5, 3)
    alone = evaluate_clusters(vectors[12:], group[12:])
    assert (alone.nmi, alone.ari, alone.control_nmi) == (scores.nmi, scores.ari, scores.control_nmi)
    vectors, group = rays([20, 20], seed=0)
    labels = [*group.tolist(), 0, 1, 1]
    scores = evaluate_clusters(np.vstack([vectors, np.zeros((3, 2))]), labels)
    assert (scores.zero_nodes, scores.clusters) == (3, 2)
    assert 0.7 < scores.nmi < 1
    equal = evaluate_clusters(np.ones((6, 2)), [0, 1, 2] * 2)
    assert (equal.clusters, equal.nmi, equal.ari) == (1, 0, 0)


def test_rows_go_to_the_nearest_center_and_not_to_the_longest() -> None:
    rng = np.random.default_rng(0)
    wide = rng.normal([0.9, 0, 0], 1.0, (300, 3))
    tight = rng.normal([0, 1, 0], 0.02, (300, 3))
    rows = np.concatenate([wide, tight]).astype(np.float32)  # the center of the wide group is much shorter
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    groups = find_clusters(rows, count=3, seed=0).groups
    centers = np.stack([unit[groups == group].mean(axis=0) for group in range(3)])
    assert np.ptp(np.linalg.norm(centers, axis=1)) > 0.2, "the control: centers of different lengths"
    distances = np.linalg.norm(unit[:, None] - centers, axis=2)
    np.testing.assert_array_equal(groups, distances.argmin(axis=1))


def test_the_command(tmp_path: Path) -> None:
    vectors, group = rays([30, 20], seed=0, noise=0.6)
    Embedding(None, vectors).save(tmp_path / "e")
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"{node},c{c}\n" for node, c in enumerate(group)))
    command = ("evaluate", "labels", tmp_path / "e", tmp_path / "labels.csv", "--ratios", "0.02,0.5", "--seed", "2")
    expected = evaluate_clusters(graphrefine.load(tmp_path / "e"), tmp_path / "labels.csv", seed=2)
    figures = works(*command, "--cluster", "--json").figures
    assert figures["clusters"] == expected.to_dict()
    assert [(each["train_nodes"], len(each["micro_f1"]["values"])) for each in figures["ratios"]] == [(1, 50), (25, 10)]
    assert works(*command, "--json").figures == {name: figures[name] for name in figures if name != "clusters"}
    assert expected.protocol in works(*command, "--cluster").out
    refuses(*command[:4], "--ratios", "0.001", folder=tmp_path, expected=("--ratios 0.001",))
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"{node},c\n" for node in range(50)))
    refuses(*command, "--cluster", folder=tmp_path, expected=("labels.csv",))
