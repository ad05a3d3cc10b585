"""`REFINE.transform`: other snapshots of a graph and new nodes, whose vectors can be compared with the fitted ones."""

from __future__ import annotations

import pickle
from typing import Any

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from graphrefine import REFINE, Graph, embed, read
from graphrefine.errors import InputError

SIZES = (30, 30, 30)


@pytest.fixture(scope="module")
def matrix() -> NDArray[np.float64]:
    """Three communities of thirty nodes."""
    blocks = networkx.stochastic_block_model(SIZES, (np.eye(3) * 0.45 + 0.02).tolist(), seed=3)
    adjacency: NDArray[np.float64] = networkx.to_numpy_array(blocks)
    return adjacency


@pytest.fixture(scope="module")
def later(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same graph a day later: twenty edges more, and forty fewer."""
    rng = np.random.default_rng(5)
    edges = np.argwhere(np.triu(matrix))
    after = matrix.copy()
    for u, v in edges[rng.choice(len(edges), 40, replace=False)]:
        after[u, v] = after[v, u] = 0
    for u, v in rng.integers(0, 90, (20, 2)):
        if u != v:
            after[u, v] = after[v, u] = 1
    return after


def named(matrix: NDArray[Any], names: list[Any] | None = None) -> pd.DataFrame:
    labels = [f"node {row}" for row in range(len(matrix))] if names is None else names
    return pd.DataFrame(matrix, index=labels, columns=labels)


def cosines(ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    cosine: NDArray[Any] = np.einsum("ij,ij->i", ours, theirs) / lengths
    return cosine


def test_the_fitted_graph_has_the_fitted_vectors(matrix: NDArray[np.float64]) -> None:
    graph = networkx.from_numpy_array(matrix)
    for X in (matrix, sp.csr_array(matrix), named(matrix), graph, Graph.from_matrix(matrix)):
        estimator = REFINE(dim=8)
        vectors = estimator.fit_transform(X)
        np.testing.assert_array_equal(estimator.transform(X), vectors)
    arcs = np.triu(matrix)  # which is not symmetric, and is the graph that was fitted all the same
    estimator = REFINE(dim=8).fit(matrix)
    np.testing.assert_array_equal(estimator.transform(arcs), estimator.embedding_)


def test_a_snapshot_is_embedded_and_turned_onto_the_fitted_vectors(
    matrix: NDArray[np.float64], later: NDArray[np.float64]
) -> None:
    estimator = REFINE(dim=8).fit(matrix)
    vectors = estimator.transform(later)
    expected = embed(later, dim=8, align_to=embed(matrix, dim=8))
    np.testing.assert_array_equal(vectors, expected.vectors)
    alone = REFINE(dim=8, seed=4).fit_transform(later)  # not turned: the control
    assert cosines(vectors, estimator.embedding_).mean() > max(0.9, cosines(alone, estimator.embedding_).mean() + 0.01)
    # Neither settings that change after the fit nor a copy change it.
    np.testing.assert_array_equal(estimator.set_params(dim=4, power=1, seed=9).transform(later), vectors)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(estimator)).transform(later), vectors)


def test_names_match_nodes_whatever_their_order(matrix: NDArray[np.float64], later: NDArray[np.float64]) -> None:
    estimator = REFINE(dim=8).fit(named(matrix))
    expected = estimator.transform(named(later))
    order = np.random.default_rng(1).permutation(90)
    turned = estimator.transform(named(later).iloc[order, ::-1])
    assert cosines(turned, expected[order]).min() > 0.99  # sums of another order, in bfloat16
    assert cosines(turned, expected).mean() < 0.7
    graph = networkx.relabel_nodes(networkx.from_numpy_array(later), lambda node: f"node {node}")
    np.testing.assert_array_equal(estimator.transform(graph), expected)
    ours = Graph.from_matrix(later, names=list(graph.nodes))  # whose names would draw other random rows
    np.testing.assert_array_equal(estimator.transform(ours), expected)
    by_name = REFINE(dim=8).fit(Graph.from_matrix(matrix, names=list(graph.nodes)))
    np.testing.assert_array_equal(by_name.transform(named(later)), by_name.transform(ours))


def test_nodes_come_and_go(matrix: NDArray[np.float64]) -> None:
    graph = networkx.relabel_nodes(networkx.from_numpy_array(matrix), lambda node: f"node {node}")
    estimator = REFINE(dim=8).fit(graph)
    after = graph.copy()
    after.remove_nodes_from(["node 0", "node 50"])
    after.add_edges_from(("new", f"node {node}") for node in range(1, 9))
    vectors = pd.DataFrame(estimator.transform(after), index=list(after.nodes))
    kept = [name for name in graph.nodes if name in after]
    fitted = pd.DataFrame(estimator.embedding_, index=list(graph.nodes))
    assert cosines(vectors.loc[kept].to_numpy(), fitted.loc[kept].to_numpy()).mean() > 0.9
    means = fitted.to_numpy().reshape(3, 30, 8).mean(axis=1)
    assert (means @ vectors.loc["new"].to_numpy()).argmax() == 0, "its neighbors are of the first community"
    assert estimator.model_.names.tolist() == list(graph.nodes)


def test_new_nodes_are_folded_in(matrix: NDArray[np.float64]) -> None:
    estimator = REFINE(dim=8).fit(matrix)
    rows = np.zeros((3, 90))
    rows[0, 1:9] = 1
    rows[1, 30:40] = 2.0
    rows[2, [61, 70, 80]] = 1
    vectors = estimator.transform(rows)
    edges = [(f"new {row}", int(node), float(rows[row, node])) for row, node in np.argwhere(rows)]
    by_hand = embed(matrix, dim=8, learn=True).fold_in(edges)
    np.testing.assert_allclose(vectors, by_hand.vectors, atol=1e-6)
    means = estimator.embedding_.reshape(3, 30, 8).mean(axis=1)
    assert (vectors @ means.T).argmax(axis=1).tolist() == [0, 1, 2]
    np.testing.assert_allclose(estimator.transform(sp.csr_array(rows)), vectors, atol=1e-6)
    np.testing.assert_allclose(estimator.transform(rows[:1]), vectors[:1], atol=1e-6)  # each by itself
    rows[1] = 0
    with pytest.warns(UserWarning, match="1 of 3, such as 'new node in row 1'"):
        vectors = estimator.transform(rows)
    assert vectors[[0, 2]].any(axis=1).all() and not vectors[1].any()
    # By names: those of the rows, and of the columns.
    rows[1, 40:50] = 1
    expected = estimator.transform(rows[:2])
    frame = pd.DataFrame(rows[:2], index=["eve", "fay"], columns=named(matrix).columns)
    estimator = REFINE(dim=8).set_output(transform="pandas").fit(named(matrix))
    for given in (frame, frame.loc[:, frame.any()].iloc[:, ::-1]):  # columns of edges alone, in another order
        vectors = estimator.transform(given)
        assert vectors.index.tolist() == ["eve", "fay"]
        np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_cross_validation_embeds_the_training_nodes_alone(matrix: NDArray[np.float64]) -> None:
    labels = np.repeat([0, 1, 2], 30)
    model = make_pipeline(REFINE(dim=8), LogisticRegression())
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    train, test = next(folds.split(matrix, labels))
    by_hand = clone(model).fit(matrix[np.ix_(train, train)], labels[train])
    score = by_hand.score(matrix[np.ix_(test, train)], labels[test])
    scores = cross_val_score(model, matrix, labels, cv=folds, error_score="raise")
    assert scores[0] == score and scores.mean() > 0.85
    shuffled = np.random.default_rng(0).permutation(labels)
    assert cross_val_score(model, matrix, shuffled, cv=folds).mean() < 0.6


def test_a_square_matrix_that_may_be_new_nodes_is_refused_until_it_is_said(matrix: NDArray[np.float64]) -> None:
    estimator = REFINE(dim=8).fit(matrix)
    turned = np.roll(matrix, 1, axis=0)
    with pytest.raises(InputError, match=r"rows='nodes' .* rows='new'"):
        estimator.transform(turned)
    snapshot, new = (estimator.set_params(rows=rows).transform(turned) for rows in ("nodes", "new"))
    np.testing.assert_allclose(new, np.roll(estimator.transform(matrix), 1, axis=0), atol=1e-6)
    assert not np.allclose(snapshot, new, atol=0.1)
    model = make_pipeline(REFINE(dim=8, rows="new"), LogisticRegression())
    assert cross_val_score(model, matrix, np.repeat([0, 1, 2], 30), cv=2).min() > 0.6


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_output_in_frames(matrix: NDArray[np.float64], container: str) -> None:
    estimator = REFINE(dim=3).set_output(transform=container)
    frame = estimator.fit_transform(named(matrix))
    assert isinstance(frame, pd.DataFrame if container == "pandas" else pl.DataFrame)
    assert list(frame.columns) == ["refine0", "refine1", "refine2"]
    np.testing.assert_array_equal(frame.to_numpy(), REFINE(dim=3).fit_transform(matrix))
    if container == "pandas":
        assert frame.index.tolist() == named(matrix).index.tolist()
    given = named(matrix).reset_index(drop=True)  # names of columns alone
    for X in (given, pl.from_pandas(given)):
        estimator.fit(X)
        assert estimator.model_.names.tolist() == estimator.feature_names_in_.tolist() == list(given.columns)
        with pytest.raises(ValueError, match="feature names should match"):
            estimator.transform(X[X.columns[::-1]])


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_draws_a_seed_at_each_fit(matrix: NDArray[np.float64], make: Any) -> None:
    first, second, third = (REFINE(dim=4, random_state=make(seed)).fit(matrix) for seed in (3, 3, 4))
    assert first.seed_ == second.seed_ != third.seed_
    np.testing.assert_array_equal(first.embedding_, REFINE(dim=4, seed=first.seed_).fit_transform(matrix))
    generator = make(3)
    assert len({REFINE(dim=4, random_state=generator).fit(matrix).seed_ for _ in range(3)}) == 3, "it goes on"


def test_features_by_name_and_by_row(matrix: NDArray[np.float64]) -> None:
    table = np.random.default_rng(2).random((90, 4)) + np.repeat(np.eye(3), 30, axis=0) @ np.ones((3, 4))
    expected, frame = REFINE(dim=6).fit_transform(matrix, features=table), named(matrix)
    by_name = pd.DataFrame(table, index=frame.index).iloc[np.random.default_rng(3).permutation(90)]
    as_mapping = dict(zip(frame.index, table, strict=True))
    for features in (table, sp.csr_array(table), pd.DataFrame(table), by_name, as_mapping):
        np.testing.assert_allclose(REFINE(dim=6).fit_transform(frame, features=features), expected, atol=1e-5)
    assert not np.allclose(REFINE(dim=6).fit_transform(matrix), expected, atol=0.05)


def test_features_of_snapshots(matrix: NDArray[np.float64], later: NDArray[np.float64]) -> None:
    table = np.random.default_rng(2).random((90, 4))
    with_features, without = REFINE(dim=6).fit(matrix, features=table), REFINE(dim=6).fit(matrix)
    np.testing.assert_array_equal(with_features.transform(matrix), with_features.embedding_)
    expected = embed(later, dim=6, features=table, align_to=embed(matrix, dim=6, features=table)).vectors
    np.testing.assert_array_equal(with_features.transform(later, features=table), expected)
    for estimator, X, features in (
        (with_features, later, None),
        (without, later, table),
        (with_features, matrix[:5], table[:5]),  # new nodes
    ):
        with pytest.raises(InputError, match="features"):
            estimator.transform(X, features=features)


def test_a_pipeline_routes_features(matrix: NDArray[np.float64]) -> None:
    table = np.random.default_rng(2).random((90, 4))
    labels = np.repeat([0, 1, 2], 30)
    expected = REFINE(dim=6).fit_transform(matrix, features=table)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = REFINE(dim=6).set_fit_request(features=True)
        assert clone(routed).get_metadata_routing().fit.requests == {"features": True}
        chain = make_pipeline(routed, LogisticRegression()).fit(matrix, labels, features=table)
        np.testing.assert_array_equal(chain[0].embedding_, expected)
        with pytest.raises(ValueError, match="features"):
            make_pipeline(REFINE(dim=6), LogisticRegression()).fit(matrix, labels, features=table)


def test_directed_snapshots(matrix: NDArray[np.float64]) -> None:
    arcs = networkx.from_numpy_array(np.triu(matrix), create_using=networkx.DiGraph)
    estimator = REFINE(dim=8).fit(arcs)
    fewer = arcs.copy()
    fewer.remove_edges_from(list(arcs.edges)[::15])
    vectors = estimator.transform(fewer)
    assert cosines(vectors, estimator.embedding_).mean() > 0.9
    out = np.zeros((2, 90))
    out[0, :5] = out[1, 40:50] = 1  # arcs out of two new nodes
    pairs = [(f"new {row}", int(node)) for row, node in zip(*out.nonzero(), strict=True)]
    folded = estimator.model_.fold_in(pairs, directed=True)
    np.testing.assert_array_equal(estimator.transform(out), folded.vectors)


BAD: list[tuple[bool, dict[str, Any], Any, str]] = [
    (True, {}, lambda frame: frame.rename(columns={"node 3": "nobody"}), "the same nodes"),
    (True, {}, lambda frame: frame.set_axis(["a"] * 90), "twice"),
    (True, {}, lambda frame: read([(0, 1), (1, 1)], bipartite=True), "bipartite"),
    (True, {"directed": True}, lambda frame: Graph.from_edges([0, 1], [1, 0]), "directed=True"),
    (False, {}, lambda frame: networkx.path_graph(9), "no node is in both"),
    (False, {}, lambda frame: networkx.DiGraph([("node 1", "node 2")]), "directed=False"),
    (False, {}, lambda frame: frame.to_numpy()[:50, :50], "X has 50 features"),
    (False, {}, lambda frame: frame.iloc[:20], "'node 0'"),
    (False, {}, lambda frame: pd.DataFrame([[1.0, 1.0]], ["eve"], ["node 1", "nod 2"]), "'nod 2'"),
    (False, {"rows": "nodes"}, lambda frame: frame.to_numpy()[:5], "rows='nodes'"),
]


@pytest.mark.parametrize(("to_fit", "options", "make", "fact"), BAD)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_bad_input(matrix: NDArray[np.float64], to_fit: bool, options: dict[str, Any], make: Any, fact: str) -> None:
    estimator, frame = REFINE(dim=4, **options), named(matrix)
    with pytest.raises(NotFittedError):
        estimator.transform(matrix)
    use = estimator.fit if to_fit else estimator.fit(frame).transform
    with pytest.raises(ValueError, match=fact):
        use(make(frame))
