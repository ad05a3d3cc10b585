"""`evaluate_clusters` and ``graphrefine evaluate labels --cluster``: clusters of vectors against labels."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from cli_runs import refuses, works
from graphrefine import Embedding
from graphrefine.datasets import block_model
from graphrefine.errors import InputError
from graphrefine.evaluate import ClusterScores, clustering, evaluate_clusters
from graphrefine.evaluate.clustering import measure_agreement
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


def entropy(counts: Floats) -> float:
    part = counts[counts > 0] / counts.sum()
    return float(-(part * np.log(part)).sum())


def pairs(counts: Floats) -> float:
    return float((counts * (counts - 1) / 2).sum())


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


@PATIENT
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=60))
def test_the_figures_are_those_of_their_formulas(both: list[tuple[int, int]]) -> None:
    clusters, classes = np.array(both).T
    table = np.zeros((5, 5))
    np.add.at(table, (clusters, classes), 1)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    shared = entropy(rows) + entropy(columns) - entropy(table.ravel())
    nmi, ari = measure_agreement(clusters, classes)
    mean = (entropy(rows) + entropy(columns)) / 2
    assert nmi == pytest.approx(shared / mean if mean > 0 else 1, abs=1e-9)
    chance = pairs(rows) * pairs(columns) / math.comb(len(both), 2)
    most = (pairs(rows) + pairs(columns)) / 2
    assert ari == pytest.approx((pairs(table) - chance) / (most - chance) if most > chance else 1, abs=1e-9)


def test_vectors_that_know_nothing_are_as_good_as_the_control() -> None:
    group = np.random.default_rng(1).integers(0, 5, 3000)
    noise = np.random.default_rng(2).standard_normal((3000, 16))
    scores = evaluate_clusters(noise, group)
    assert max(scores.nmi, scores.control_nmi) < 0.01
    assert max(abs(scores.ari), abs(scores.control_ari)) < 0.01
    few = evaluate_clusters(noise[:60], np.arange(60) % 20)
    assert few.control_nmi > 0.4, "chance alone, which the control shows"
    assert abs(few.control_ari) < 0.1


def test_communities_of_a_graph_beat_the_control() -> None:
    town = block_model(400, 4000, classes=4, mixing=0.1)
    scores = evaluate_clusters(graphrefine.embed(town.graph, dim=16), town.labels)
    assert scores.nmi > 0.9 and scores.ari > 0.9 and scores.control_nmi < 0.1


def test_only_nodes_with_one_label_count() -> None:
    vectors, group = rays([30, 20, 10], seed=3)
    truth = np.eye(4)[group]  # the last class: no node has it alone
    truth[:7] = [1, 0, 1, 1]
    truth[7:12] = 0
    scores = evaluate_clusters(vectors, truth)
    assert (scores.nodes, scores.several_nodes, scores.unlabeled_nodes, scores.classes) == (48, 7, 5, 3)
    assert "48 nodes with one label, 3 classes; 3 clusters by k-means" in scores.protocol
    assert "nodes with several labels left out (7); nodes without labels left out (5)" in scores.protocol
    alone = evaluate_clusters(vectors[12:], group[12:])
    assert (alone.nmi, alone.ari, alone.control_nmi) == (scores.nmi, scores.ari, scores.control_nmi)


def test_zero_and_equal_vectors() -> None:
    vectors, group = rays([20, 20], seed=0)
    labels = [*group.tolist(), 0, 1, 1]
    scores = evaluate_clusters(np.vstack([vectors, np.zeros((3, 2))]), labels)
    assert (scores.zero_nodes, scores.clusters) == (3, 2) and "3 zero vectors are one more group" in scores.protocol
    assert 0.7 < scores.nmi < 1
    equal = evaluate_clusters(np.ones((6, 2)), [0, 1, 2] * 2)
    assert (equal.clusters, equal.nmi, equal.ari) == (1, 0, 0)


def test_more_starts_find_lower_sums_of_squares() -> None:
    vectors, _ = rays([12] * 10, seed=5, noise=0.3)
    rows = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)

    def squares(starts: int, seed: int) -> float:
        groups = find_clusters(rows, count=10, seed=seed, starts=starts).groups
        return sum(float(((rows[groups == each] - rows[groups == each].mean(0)) ** 2).sum()) for each in range(10))

    one, several = (np.array([squares(starts, seed) for seed in range(8)]) for starts in (1, 20))
    assert (several <= one + 1e-4).all() and several.mean() < one.mean() - 0.1


def test_centers_of_many_nodes_are_found_with_some(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, group = rays([60, 40, 50], seed=1)
    monkeypatch.setattr(clustering, "MOST", 50)
    scores = evaluate_clusters(vectors, group)
    assert (scores.sampled_nodes, scores.nodes) == (50, 150) and scores.nmi == pytest.approx(1)
    assert "k-means of 50 nodes" in scores.protocol


def test_threads_change_no_bit() -> None:
    from threadpoolctl import threadpool_limits

    vectors, _ = rays([200, 300, 100], seed=4, noise=0.6)
    clusters = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            clusters.append(find_clusters(vectors.astype(np.float32), count=8, starts=2))
    for other in clusters[1:]:
        np.testing.assert_array_equal(other.groups, clusters[0].groups)
        np.testing.assert_array_equal(other.cosines, clusters[0].cosines)  # differ if k-means has several threads


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (["a", "b", "a"], {"starts": 0}, "starts=0 must be at least 1"),
        (["a", "b", "a"], {"seed": -1}, "seed=-1"),
        (["a", "a", "a"], {}, "the 3 nodes that have one label all have the same"),
        (np.ones((3, 2)), {}, "each of the 3 labeled nodes has several labels"),
        (np.zeros((3, 2)), {}, "no node has a label"),
        (["a", "b"], {}, "labels for 2 rows and the embedding has 3"),
    ],
)
def test_what_cannot_be_clustered_is_refused(labels: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate_clusters(np.eye(3), labels, **options)


def test_a_row_that_is_not_finite_is_named() -> None:
    vectors, group = rays([5, 5], seed=0)
    vectors[3, 1] = np.inf
    with pytest.raises(InputError, match="the row of node 3 has a NaN or an infinite value"):
        evaluate_clusters(vectors, group)


def test_the_result_as_table_and_json() -> None:
    vectors, group = rays([30, 20], seed=0, noise=0.6)
    scores = evaluate_clusters(vectors, group, starts=2, seed=3)
    assert json.loads(json.dumps(scores.to_dict()))["nmi"] == scores.nmi
    frame = scores.to_pandas()
    assert frame["vectors"].tolist() == ["embedding", "random control"]
    assert frame["ari"].tolist() == [scores.ari, scores.control_ari]
    assert scores.text_rows()[1] == ("embedding", f"{scores.nmi:.4f}", f"{scores.ari:.4f}")
    assert "the best of 2 starts, seed 3" in str(scores) and "random control" in scores._repr_html_()
    assert isinstance(scores, ClusterScores)


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
    plain, lines = works(*command).out, works(*command, "--cluster").out
    assert lines == f"{plain}\n" + "".join(f"{line}\n" for line in (*str(expected).splitlines()[1:], expected.protocol))
    refuses(*command[:4], "--ratios", "0.001", "--cluster", folder=tmp_path,
            expected=("--ratios 0.001 of 50 nodes leaves none to train with; give at least 0.02",))  # fmt: skip
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"{node},c\n" for node in range(50)))
    refuses(*command, "--cluster", folder=tmp_path, expected=("labels.csv", "all have the same", "at least 2 classes"))
