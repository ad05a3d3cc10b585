"""Missing edges: hidden ones come back, existing ones never do, and plain scores are the formulas."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from graphrefine import Graph, predict_links
from graphrefine.analysis import link_prediction
from graphrefine.analysis.link_prediction import PairFeatures, _Model, collect_candidates, search_rows
from graphrefine.evaluate.held_out_edges import hold_out
from graphrefine.progress import Stages
from graphs import data_folder


@pytest.fixture(autouse=True)
def few_lessons(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less to learn from, which takes less time; real graphs aside."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr("graphrefine.analysis.link_prediction.MOST_OTHERS", 3000)
        monkeypatch.setattr("graphrefine.analysis.link_prediction.ENOUGH", 300)


def blocks(n: int = 200, groups: int = 8, inside: float = 0.5, seed: int = 0) -> list[tuple[int, int]]:
    """A random graph whose edges are mostly inside groups."""
    rng = np.random.default_rng(seed)
    chance = np.where(np.equal.outer(np.arange(n) % groups, np.arange(n) % groups), inside, 0.02)
    return [(int(u), int(v)) for u, v in np.argwhere(np.triu(rng.random((n, n)) < chance, 1))]


def features_of(graph: Graph) -> PairFeatures:
    return PairFeatures(graph, seed=0, threads=1, stages=Stages())


def grid(features: PairFeatures) -> dict[str, NDArray[Any]]:
    return dict(zip(features.names, features.block(np.arange(features.graph.nodes)), strict=True))


def test_plain_features_are_those_of_networkx() -> None:
    graph = graphrefine.read(blocks(60))
    ours, theirs = grid(features_of(graph)), nx.Graph(blocks(60))
    functions = {
        "resource allocation": nx.resource_allocation_index,
        "Adamic-Adar": nx.adamic_adar_index,
        "degree product": nx.preferential_attachment,
    }
    for name, function in functions.items():
        for u, v, value in function(theirs):
            assert ours[name][u, v] == pytest.approx(value, rel=1e-5), name
    for u, v in nx.non_edges(theirs):
        assert ours["common neighbors"][u, v] == len(list(nx.common_neighbors(theirs, u, v)))


def test_paths_and_low_ranks_are_the_dense_formulas() -> None:
    graph = graphrefine.read(blocks(60), directed=True)
    ours, A = grid(features_of(graph)), graph.to_scipy().toarray()
    out, into = (np.maximum(A.sum(axis=axis), 1.0) for axis in (1, 0))
    three = A @ np.diag(into**-0.5) @ A.T @ np.diag(out**-0.5) @ A
    assert np.allclose(ours["three steps"], three, rtol=1e-4, atol=1e-5)
    for a in (0.3, 0.5):
        U, s, V = np.linalg.svd(np.diag(out**-a) @ A @ np.diag(into**-a))
        low = np.diag(out**-a) @ ours[f"low rank {a:g}, 16"] @ np.diag(into**-a)
        error = np.linalg.norm(U @ np.diag(s) @ V - low)
        assert error < 1.05 * np.linalg.norm(s[16:])  # the least error of any matrix of rank 16
        assert np.allclose(ours[f"low rank {a:g}, 128"], A, atol=1e-2)  # 60 nodes have 60 triplets


def test_hidden_edges_come_back() -> None:
    graph = graphrefine.read(blocks())
    held = hold_out(graph, 0.1, repeat=0, seed=0)
    table = predict_links(held.rest, top=100)
    hidden = {(min(pair), max(pair)) for pair in zip(*(side.tolist() for side in held.edges), strict=True)}
    pairs = list(zip(table["source"].tolist(), table["target"].tolist(), strict=True))
    found = np.mean([pair in hidden for pair in pairs])
    rest, degrees = nx.from_scipy_sparse_array(held.rest.to_scipy()), held.rest.out_counts
    plain = sorted(nx.non_edges(rest), key=lambda pair: -degrees[pair[0]] * degrees[pair[1]])
    assert found > 4 * np.mean([(min(pair), max(pair)) in hidden for pair in plain[:100]])
    assert found > 0.05  # of pairs inside of groups that have no edge, one in eleven was hidden
    precision = table.stats["held_out"]["precision"]
    assert precision["score"] > precision["degree product"]
    assert (np.diff(table["score"]) <= 0).all()
    assert table["common_neighbors"].tolist() == [len(list(nx.common_neighbors(rest, u, v))) for u, v in pairs]


@pytest.mark.parametrize("kind", ["undirected", "directed", "bipartite"])
def test_never_an_edge_a_loop_or_a_pair_of_one_side(kind: str) -> None:
    rng = np.random.default_rng(0)
    edges = [(f"u{u}", f"{'i' if kind == 'bipartite' else 'u'}{v}") for u, v in rng.integers(0, 40, (500, 2)) if u != v]
    graph = graphrefine.read(edges, directed=kind == "directed", bipartite=kind == "bipartite")
    table = predict_links(graph, top=10_000)
    pairs = list(zip(table["source"].tolist(), table["target"].tolist(), strict=True))
    present = set(edges) if kind != "undirected" else {*edges, *((v, u) for u, v in edges)}
    assert not present & set(pairs) and all(u != v for u, v in pairs)
    keys = pairs if kind == "directed" else [tuple(sorted(pair)) for pair in pairs]
    assert len(set(keys)) == len(keys) > 300
    if kind == "bipartite":
        assert all(u[0] == "u" and v[0] == "i" for u, v in pairs)
    if kind == "directed":
        assert any((v, u) in present for u, v in pairs)  # an arc turned round is another pair


def test_direction_is_learned() -> None:
    """Arcs lead from low to high groups: so do those that are predicted."""
    rng = np.random.default_rng(1)
    arcs = [(int(u), int(v)) for u, v in rng.integers(0, 120, (4000, 2)) if u // 40 < v // 40]
    table = predict_links(arcs, directed=True, top=200)
    assert np.mean(table["source"] // 40 < table["target"] // 40) > 0.98


def test_candidates_are_the_highest_of_each_feature_whatever_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graphrefine.read(blocks(90))
    features = features_of(graph)
    monkeypatch.setattr(link_prediction, "CELLS", 90 * 7)
    one, three = (
        collect_candidates(features, search_rows(graph), count=50, threads=threads, stages=Stages())
        for threads in (1, 3)
    )
    assert all(np.array_equal(np.asarray(mine), np.asarray(other)) for mine, other in zip(one, three, strict=True))
    pairs = {(min(pair), max(pair)) for pair in zip(*(side.tolist() for side in one[:2]), strict=True)}
    free = np.array(list(nx.non_edges(nx.Graph(blocks(90)))))
    for name, values in grid(features).items():
        if name.startswith("low rank"):  # not quite symmetric, in the last bits
            continue
        those = values[free[:, 0], free[:, 1]]
        edge = np.sort(those)[-50]
        best = {(min(pair), max(pair)) for pair in free[those > edge].tolist()}
        assert best <= pairs, name
    whole, other = (predict_links(blocks(80), top=200, threads=threads) for threads in (1, 3))
    assert whole == other and whole.stats == other.stats
    assert whole != predict_links(blocks(80), top=200, seed=1)


def test_units_of_features_make_no_difference() -> None:
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((500, 3))
    edges = columns @ [1.0, -2.0, 0.5] + rng.standard_normal(500) > 1
    scores = _Model.fit(columns, edges).score(columns)
    others = columns * [1000, 0.001, 1] + [5, -5, 100]
    np.testing.assert_allclose(_Model.fit(others, edges).score(others), scores, atol=1e-3)


class Memory:
    """A model that knows the pairs that it was fitted to, and nothing of others."""

    def __init__(self, columns: NDArray[Any], edges: NDArray[np.bool_]) -> None:
        self.known = {row.tobytes() for row in columns[edges]}

    def score(self, columns: NDArray[Any]) -> NDArray[Any]:
        return np.array([row.tobytes() in self.known for row in columns], float)


def test_precision_is_that_of_a_model_that_has_not_seen_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = type("Model", (), {"fit": staticmethod(Memory)})
    monkeypatch.setattr(link_prediction, "_Model", memory)
    assert predict_links(blocks(), top=50).stats["held_out"]["precision"]["score"] < 0.2  # 1 by those that it has seen


def test_a_graph_too_large_is_searched_from_its_hubs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_prediction, "WORK", 40.0 * (2 * len(blocks()) + 100 * 200))
    table = predict_links(blocks(), top=100)
    assert table.stats["searched_nodes"] == 40 and len(table) == 100
    counts = np.bincount(np.ravel(blocks()), minlength=200)
    hubs = set(np.argsort(-counts, kind="stable")[:40].tolist())
    assert all({row.source, row.target} & hubs for row in table)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ppi", "wikipedia-pos"])
def test_plain_scores_are_beaten_on_real_graphs(name: str) -> None:
    graph = graphrefine.read(data_folder() / f"{name}.mat")
    held = hold_out(graph, 0.1, repeat=0, seed=0)
    table = predict_links(held.rest)
    A = graph.to_scipy().toarray() > 0
    rest = (held.rest.to_scipy().toarray() > 0).astype(np.float32)
    free = np.flatnonzero((np.triu(np.ones_like(rest), 1) > 0).ravel() & (rest == 0).ravel())
    degree = rest.sum(axis=1)

    def precision(scores: NDArray[Any]) -> float:
        return float(A.ravel()[free[np.argsort(-scores.ravel()[free], kind="stable")[:1000]]].mean())

    ours = float(A[table["source"], table["target"]].mean())
    for plain in (np.outer(degree, degree), rest @ rest):
        assert ours > precision(plain) + 0.05
