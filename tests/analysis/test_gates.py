"""Gates of `graphrefine.check`: collapsed, shuffled, turned and vanished vectors fail, honest ones pass."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from graphrefine import Embedding, check, measure_drift
from graphrefine.analysis import drift as drift_module
from strategies import PATIENT

Vectors = NDArray[np.float32]


def make(kind: str, seed: int = 0) -> Embedding:
    random = np.random.default_rng(0)
    edges = random.integers(120, size=(700, 2))
    near = random.random(700) < 0.7  # of the same group of twenty
    edges[near, 1] = edges[near, 0] // 20 * 20 + edges[near, 1] % 20
    if kind == "bipartite":
        edges[:, 1] //= 4
    options: dict[str, Any] = {} if kind == "undirected" else {kind: True}
    return graphrefine.embed(edges, dim=16, quality="fast", seed=seed, **options)


KINDS = ("undirected", "directed", "bipartite")


@pytest.fixture(scope="module")
def embeddings() -> dict[str, Embedding]:
    return {kind: make(kind) for kind in KINDS}


def change(embedding: Embedding, vectors: Any) -> Embedding:
    return Embedding(embedding.names, np.asarray(vectors, np.float32), embedding.recipe)


def nearest_weights(vectors: Vectors, row: int, k: int) -> NDArray[np.float64]:
    """Places among the k nearest by the definition, with the ties of all cosines that are within 1e-6."""
    X = vectors.astype(np.float64)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    cosines = X @ X[row]
    cosines[row] = -np.inf
    bound = np.sort(cosines)[-k]
    above, tied = cosines > bound + 1e-6, np.abs(cosines - bound) <= 1e-6
    weights: NDArray[np.float64] = above + tied * (k - above.sum()) / tied.sum()
    return weights


@PATIENT
@given(st.integers(8, 40), st.integers(1, 6), st.integers(0, 99), st.booleans())
def test_shares_are_those_of_the_definition_where_ties_abound(n: int, k: int, seed: int, blocks: bool) -> None:
    k = min(k, (n - 1) // 2)
    corners = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [1, 1]], np.float32)
    old, new = (corners[np.random.default_rng(seed + s).integers(5, size=n)] for s in (0, 100))
    across, queries = (7, 3) if blocks else (drift_module.ACROSS, drift_module.QUERIES)
    with patch.multiple(drift_module, ACROSS=across, QUERIES=queries):
        table = measure_drift(Embedding(range(n), old), Embedding(range(n), new), k=k, threads=2)
    for row in table:
        common = np.minimum(nearest_weights(old, row.node, k), nearest_weights(new, row.node, k)).sum()
        assert row.kept == pytest.approx(common / k, abs=1e-6)


@pytest.mark.parametrize(
    ("collapse", "most"),
    [
        (lambda V: np.ones_like(V) + 1e-9 * np.random.default_rng(0).normal(size=V.shape), 0.085),
        (lambda V: np.repeat(V[:, :1], V.shape[1], axis=1), 0.3),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_collapse_keeps_what_chance_gives(
    kind: str, collapse: Any, most: float, embeddings: dict[str, Embedding]
) -> None:
    old = embeddings[kind]
    new = change(old, collapse(old.vectors))
    verdict = check(old, against=new, min_neighbors=0.7)
    assert not verdict.ok and (kind == "bipartite" or verdict.stats["drift"]["kept"] < most)
    assert check(new, against=new, min_neighbors=1).ok  # nothing has changed


def test_the_sides_of_a_bipartite_graph_are_judged_apart(embeddings: dict[str, Embedding]) -> None:
    old = embeddings["bipartite"]
    start = old.sides.start
    targets = len(old) - start
    assert start > 3 * targets
    order = np.r_[np.arange(start), start + np.random.default_rng(1).permutation(targets)]
    new = change(old, old.vectors[order])
    figures = measure_drift(old, new).stats
    sides = figures["sides"]
    assert figures["kept"] > 0.8 and sides["source"]["kept"] == 1 and sides["target"]["kept"] < 0.6
    assert (sides["source"]["shared"], sides["target"]["shared"]) == (start, targets)
    problems = check(old, against=new, max_drift=0.3, min_neighbors=0.8, max_lost=0).problems
    assert len(problems) == 3 and "of the target side is above 0.3" in problems[0]
    assert "nearest nodes of the target side are kept" in problems[1] and "targets of a source" in problems[2]
    vectors = old.vectors[:-10].copy()
    vectors[-5:] = 0
    fewer = Embedding(old.names[:-10], vectors, {**old.recipe, "sources": start})
    (problem,) = check(old, against=fewer, max_lost=0.2).problems
    assert problem.startswith(f"15 nodes of {targets} of the target side are lost (5 have zero vectors)")


def test_k_is_reduced_where_there_are_few_nodes() -> None:
    """Else all nodes would be neighbors, and a gate of neighbors could not fail."""
    random = np.random.default_rng(0)
    old, new = (Embedding(None, random.normal(size=(46, 4)), {"sides": "rows", "sources": 40}) for _ in range(2))
    with pytest.warns(UserWarning, match="others would be neighbors"):
        sides = measure_drift(old, new).stats["sides"]
    assert (sides["source"]["k"], sides["target"]["k"], sides["target"]["chance"]) == (10, 2, 0.4)
    old, new = (Embedding("abcdef", random.normal(size=(6, 3))) for _ in range(2))
    verdict = check(old, against=new, min_neighbors=0.9)
    assert not verdict.ok and "k=10 is reduced to 2" in verdict.notes[0]
    assert verdict.stats["drift"]["k"] == 2 and verdict.stats["drift"]["chance"] == 0.4


def swap_halves(embedding: Embedding) -> Vectors:
    return np.roll(embedding.vectors, embedding.dim // 2, axis=1)


def turn_targets(embedding: Embedding) -> Vectors:
    vectors = embedding.vectors.copy()
    embedding.sides.vectors(vectors, "target")[:] *= -1
    return vectors


@pytest.mark.parametrize(
    ("kind", "damage"), [("directed", swap_halves), ("directed", turn_targets), ("bipartite", turn_targets)]
)
def test_scores_of_edges_that_are_reversed_fail(kind: str, damage: Any, embeddings: dict[str, Embedding]) -> None:
    old = embeddings[kind]
    new = change(old, damage(old))
    figures = measure_drift(old, new).stats
    assert figures["kept"] == 1 and figures["targets"]["kept"] < 0.6  # neighbors alone cannot tell
    assert "nearest targets of a source are kept" in check(old, against=new, min_neighbors=0.9).problems[-1]


@pytest.mark.parametrize("kind", ["directed", "bipartite"])
def test_targets_are_those_of_the_definition(kind: str, embeddings: dict[str, Embedding]) -> None:
    old, new = embeddings[kind], make(kind, seed=3)
    table = measure_drift(old, new, k=3)
    for row in list(table)[:20]:
        if np.isnan(row.targets):
            continue
        best = []
        for each in (old, new):
            scores = each.target @ each.source[each.index(row.node, side="source")]
            if kind == "directed":
                scores[each.index(row.node)] = -np.inf
            best.append(set(each.target_names[np.argsort(-scores)[:3]].tolist()))  # no ties there
        assert row.targets == pytest.approx(len(best[0] & best[1]) / 3, abs=1e-6)


def rotate_all(embedding: Embedding) -> Vectors:
    parts = embedding.vectors.reshape(-1, embedding.dim // (2 if embedding.sides.kind == "columns" else 1))
    Q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(parts.shape[1], parts.shape[1])))
    turned: Vectors = (parts @ Q).astype(np.float32).reshape(embedding.shape)
    return turned


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "honest",
    [
        lambda each: each.vectors,
        lambda each: -each.vectors,
        lambda each: 7 * each.vectors,
        rotate_all,
        lambda each: each.vectors + 1e-6 * np.random.default_rng(0).normal(size=each.shape),
    ],
)
def test_honest_changes_keep_everything(kind: str, honest: Any, embeddings: dict[str, Embedding]) -> None:
    old = embeddings[kind]
    verdict = check(old, against=change(old, honest(old)), max_drift=1e-3, min_neighbors=1, max_lost=0)
    assert verdict.ok, verdict.problems


@pytest.mark.parametrize("kind", KINDS)
def test_another_seed_passes_and_the_order_of_rows_does_not_count(kind: str, embeddings: dict[str, Embedding]) -> None:
    old, new = embeddings[kind], make(kind, seed=5).align_to(embeddings[kind])
    assert check(old, against=new, max_drift=0.6, min_neighbors=0.6, max_lost=0).ok
    if kind != "bipartite":
        assert check(old, against=old.subset(old.names[::-1].tolist()), max_drift=1e-3, min_neighbors=1).ok


def test_a_vector_that_became_zeros_has_moved_and_kept_nothing(embeddings: dict[str, Embedding]) -> None:
    old = embeddings["undirected"]
    vectors = old.vectors.copy()
    vectors[5:] = 0
    verdict = check(old, against=change(old, vectors), max_drift=0, min_neighbors=1)
    drift = verdict.stats["drift"]
    assert len(verdict.problems) == 2 and drift["vanished"] == 115 and drift["sampled"] == drift["eligible"] == 120
    assert drift["moved"]["median"] == pytest.approx(1, abs=1e-6) and drift["kept"] < 0.02
