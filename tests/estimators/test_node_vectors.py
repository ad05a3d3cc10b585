"""`NodeVectors`: a column of names to vectors, in every place of scikit-learn where a transformer stands."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
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
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from graphrefine import Embedding, NodeVectors, embed
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.sklearn import node_vectors

LINES = [f"{color} {place}" for color in ("red", "blue") for place in range(20)]
FLAT = "scikit-learn's check takes X[:, 0] for a tag one_d_array, and then X[:, 0] of that"
ONE_D = (
    "dict_unchanged dont_overwrite_parameters estimator_sparse_array f_contiguous_array_estimator fit2d_1feature "
    "fit2d_1sample fit2d_predict1d methods_sample_order_invariance methods_subset_invariance n_features_in "
    "n_features_in_after_fitting transformer_data_not_an_array transformer_general"
)
EXPECTED = {
    **{f"check_{name}": FLAT for name in ONE_D.split()},
    "check_estimators_nan_inf": "the check rounds NaN to a whole number, which is refused as an unknown name",
}


@pytest.fixture(autouse=True)
def fresh_cache() -> Iterator[None]:
    NodeVectors.clear_cache()
    yield
    NodeVectors.clear_cache()


@pytest.fixture(scope="module")
def graph() -> networkx.Graph:
    """Two groups of twenty, red and blue, with two edges between them."""
    blocks = networkx.stochastic_block_model([20, 20], [[0.4, 0.01], [0.01, 0.4]], seed=1)
    return networkx.relabel_nodes(blocks, dict(enumerate(LINES)))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The settings of every embedding that is made, rather than found in the cache."""
    made: list[dict[str, Any]] = []

    def count(graph: Any, **options: Any) -> Embedding:
        made.append(options)
        return embed(graph, **options)

    monkeypatch.setattr(node_vectors, "embed", count)
    return made


def is_red(names: Any) -> NDArray[np.int64]:
    return np.array([int(name.startswith("red")) for name in names])


@pytest.mark.skipif(
    sklearn.__version__ < "1.8", reason="older checks themselves fail at a column of names, with errors of NumPy"
)
def test_scikit_learns_own_checks() -> None:
    ring = [(node - 40, (node + 1) % 80 - 40) for node in range(80)]  # the checks name nodes by whole numbers
    results = check_estimator(NodeVectors(ring, dim=2), on_skip=None, expected_failed_checks=EXPECTED)
    status = {check["check_name"]: check["status"] for check in results}
    assert len(results) > 40 and list(status.values()).count("passed") > 28
    assert {name for name, state in status.items() if state == "xfail"} == EXPECTED.keys()
    assert set(status.values()) <= {"passed", "skipped", "xfail"}
    assert {name for name, state in status.items() if state == "skipped"} <= {"check_array_api_input"}


def test_what_those_checks_would_see_of_a_column(graph: networkx.Graph) -> None:
    column = np.array(LINES, object)[:, None]
    estimator = NodeVectors(graph, dim=4)
    before = estimator.get_params()
    whole = estimator.fit(column).transform(column)
    order = np.random.default_rng(0).permutation(40)
    np.testing.assert_array_equal(estimator.transform(column[order]), whole[order])
    np.testing.assert_array_equal(np.vstack([estimator.transform(column[at : at + 1]) for at in range(40)]), whole)
    np.testing.assert_array_equal(estimator.fit_transform(np.asfortranarray(column)), whole)
    assert estimator.get_params() == before and estimator.n_features_in_ == 1
    assert NodeVectors(graph, dim=4).fit(column[:1]).transform(column[5:]).shape == (35, 4)


FORMS: dict[str, Any] = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "column": lambda names: np.array(names, object)[:, None],
    "nested": lambda names: [[name] for name in names],
    "series": pd.Series,
    "category": lambda names: pd.Series(names, dtype="category"),
    "frame": lambda names: pd.DataFrame({"name": names}),
    "polars series": pl.Series,
    "polars frame": lambda names: pl.DataFrame({"name": names}),
    "arrow": lambda names: pl.Series(names).to_arrow(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_column(graph: networkx.Graph, form: str) -> None:
    names = ["blue 3", "red 7", "blue 3"]
    expected = embed(graph, dim=4)
    vectors = NodeVectors(graph, dim=4).fit_transform(FORMS[form](names))
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, [expected[name] for name in names])


def test_names_that_are_numbers_or_tuples() -> None:
    ring = [(7 * node, 7 * (node + 1) % 42) for node in range(6)]
    expected = embed(ring, dim=2)
    for X in ([7, 14], np.array([7, 14], np.uint8), np.array([[7.0], [14.0]]), pd.Series([7, 14])):
        np.testing.assert_array_equal(NodeVectors(ring, dim=2).fit_transform(X), [expected[7], expected[14]])
    grid = networkx.grid_2d_graph(3, 3)
    np.testing.assert_array_equal(NodeVectors(grid, dim=2).fit_transform([(0, 1)]), [embed(grid, dim=2)[(0, 1)]])


def test_labels_cannot_change_the_vectors(graph: networkx.Graph) -> None:
    labels = is_red(LINES)
    expected = NodeVectors(graph, dim=4).fit_transform(LINES)
    for y in (labels, 1 - labels, np.random.default_rng(0).permutation(labels), None):
        NodeVectors.clear_cache()
        np.testing.assert_array_equal(NodeVectors(graph, dim=4).fit_transform(LINES, y), expected)
        np.testing.assert_array_equal(NodeVectors(graph, dim=4).fit(LINES[:9], y).transform(LINES), expected)


def test_beside_text_and_numbers(graph: networkx.Graph) -> None:
    rng = np.random.default_rng(4)
    names = rng.permutation(LINES)
    table = pd.DataFrame({"name": names, "text": [f"word{at % 5}" for at in range(40)], "size": rng.random(40)})
    columns = make_column_transformer(
        (NodeVectors(graph, dim=4), "name"), (TfidfVectorizer(), "text"), (StandardScaler(), ["size"])
    )
    joined = sp.csr_array(columns.fit_transform(table))
    assert joined.shape == (40, 4 + 5 + 1)
    expected = NodeVectors(graph, dim=4).fit_transform(names)
    np.testing.assert_allclose(joined.toarray()[:, :4], expected, atol=1e-6)
    assert columns.get_feature_names_out()[0] == "nodevectors__nodevectors0"
    model = make_pipeline(columns, LogisticRegression())
    train, test = train_test_split(table, random_state=0)
    assert model.fit(train, is_red(train["name"])).score(test, is_red(test["name"])) == 1.0


@pytest.mark.parametrize("selector", ["name", ["name"]])
def test_the_index_of_a_frame_is_kept(graph: networkx.Graph, selector: Any) -> None:
    table = pd.DataFrame({"name": LINES, "size": np.arange(40.0)}).sample(
        frac=1, random_state=3
    )  # an index in disorder
    columns = ColumnTransformer([("graph", NodeVectors(graph, dim=2), selector), ("rest", "passthrough", ["size"])])
    output = columns.set_output(transform="pandas").fit_transform(table)
    assert output.index.tolist() == table.index.tolist()
    assert output.columns.tolist() == ["graph__nodevectors0", "graph__nodevectors1", "rest__size"]
    vectors = embed(graph, dim=2)
    for row, name in table["name"].items():
        np.testing.assert_array_equal(output.loc[row].iloc[:2], vectors[name])


def test_a_search_embeds_once_for_each_setting(graph: networkx.Graph, runs: list[dict[str, Any]]) -> None:
    model = make_pipeline(NodeVectors(graph), LogisticRegression())
    grid = [
        {"nodevectors__dim": [2, 4], "nodevectors__method": ["refine", "prone"]},
        {"nodevectors__dim": [4], "nodevectors__method": ["netmf"], "nodevectors__window": [2, 3]},
    ]
    search = GridSearchCV(model, grid, cv=4, error_score="raise").fit(LINES, is_red(LINES))
    assert search.best_score_ > 0.9
    assert len(runs) == 6 == len({tuple(sorted(run.items())) for run in runs})
    GridSearchCV(model, grid, cv=3).fit(LINES, is_red(LINES))
    assert len(runs) == 6, "another search finds them too"


def test_the_cache_knows_graphs_by_their_content(
    graph: networkx.Graph, runs: list[dict[str, Any]], tmp_path: Path
) -> None:
    first = NodeVectors(graph, dim=4).fit_transform(LINES)
    np.testing.assert_array_equal(NodeVectors(graph.copy(), dim=4).fit_transform(LINES), first)
    assert len(runs) == 1
    changed = graph.copy()
    estimator = NodeVectors(changed, dim=4).fit(LINES)
    changed.add_edges_from(("red 0", f"blue {number}") for number in range(20))
    expected = embed(changed, dim=4)
    np.testing.assert_array_equal(estimator.fit_transform(LINES), [expected[name] for name in LINES])
    assert len(runs) == 2, "the object is the same, and its edges are not"
    NodeVectors(networkx.relabel_nodes(graph, {"red 0": "red 99"}), dim=4).fit(["red 99"])
    arcs = NodeVectors(graph, dim=4, directed=True).fit_transform(LINES)
    assert len(runs) == 4 and not np.array_equal(arcs, first)
    for _ in range(2):  # a table has no fingerprint: what is made with it is not kept
        NodeVectors(graph, dim=4, features=pd.DataFrame(np.eye(40), index=LINES)).fit(LINES)
    assert len(runs) == 6
    path = tmp_path / "friends.csv"  # a file is known by its size and time
    path.write_text("ann,bob\nbob,cleo\ncleo,dora\ndora,ann\n")
    for each in (path, str(path)):
        NodeVectors(each, dim=2).fit(["ann"])
    path.write_text("ann,bob\nbob,cleo\ncleo,dora\ndora,emil\nemil,ann\n")
    assert NodeVectors(path, dim=2).fit_transform(["emil"]).any() and len(runs) == 8


def test_the_cache_is_bounded() -> None:
    cache = node_vectors.EmbeddingCache(most_bytes=100)
    makes: list[str] = []

    def make(key: str) -> Embedding:
        makes.append(key)
        return Embedding(None, np.ones((5, 2)))  # 40 bytes

    for key in ("a", "b", "a", "c", "a", "b"):  # b is the oldest when c comes
        cache.find_or_make(key, lambda key=key: make(key))  # type: ignore[misc]
    assert makes == ["a", "b", "c", "b"]
    assert cache.find_or_make(None, lambda: make("none")) is not cache.find_or_make(None, lambda: make("none"))


def test_threads_share_one_run(graph: networkx.Graph, runs: list[dict[str, Any]]) -> None:
    start = Barrier(4)

    def work(_: int) -> NDArray[np.float32]:
        start.wait()
        vectors: NDArray[np.float32] = NodeVectors(graph, dim=4).fit_transform(LINES)
        return vectors

    with ThreadPoolExecutor(4) as pool:
        first, *others = pool.map(work, range(4))
    assert len(runs) == 1
    for vectors in others:
        np.testing.assert_array_equal(vectors, first)


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_in_parallel_jobs(graph: networkx.Graph, backend: str) -> None:
    from joblib import parallel_config  # type: ignore[import-untyped]

    model = make_pipeline(NodeVectors(graph), LogisticRegression())
    grid = {"nodevectors__dim": [2, 4]}
    alone = GridSearchCV(model, grid, cv=3).fit(LINES, is_red(LINES))
    with parallel_config(backend, n_jobs=2):
        jobs = GridSearchCV(model, grid, cv=3).fit(LINES, is_red(LINES))
    np.testing.assert_array_equal(jobs.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_clones_share_the_graph_and_nothing_else(graph: networkx.Graph) -> None:
    estimator = NodeVectors(graph, 4, method="netmf", window=3, unknown="skip").set_output(transform="pandas")
    estimator.fit(LINES)
    copy = clone(estimator)
    assert copy.graph is graph and not hasattr(copy, "model_")
    assert copy.get_params() == estimator.get_params() and copy.get_params()["window"] == 3
    assert isinstance(copy.fit_transform(LINES), pd.DataFrame)
    assert "window=3" in repr(copy) and "dim=4" in repr(copy)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.transform(LINES), estimator.transform(LINES))
    assert again.get_params().keys() == estimator.get_params().keys()


def test_set_params_takes_settings_of_every_method(graph: networkx.Graph) -> None:
    estimator = NodeVectors(graph, dim=4).set_params(window=2, method="netmf")
    assert estimator.get_params()["window"] == 2
    expected = embed(graph, dim=4, method="netmf", window=2).vectors
    np.testing.assert_array_equal(estimator.fit(LINES).model_.vectors, expected)
    for options, fact in (
        ({"method": "netmf", "windw": 2}, "did you mean 'window'"),
        ({"window": 2}, "'window' is neither"),
        ({"method": "deepwlak"}, "did you mean 'deepwalk'"),
    ):
        with pytest.raises(InputError, match=fact):
            NodeVectors(graph, dim=4).set_params(**options).fit(LINES)


@pytest.mark.parametrize("name", ["folder", "v.npz", "v.parquet", "v.arrow", "v.safetensors", "v.vec", "v.bin"])
def test_vectors_that_are_made_already(tmp_path: Path, name: str) -> None:
    embedding = embed([("ann", "bob"), ("bob", "cleo"), ("cleo", "dora"), ("dora", "ann")], dim=2)
    embedding.save(tmp_path / name)
    for graph in (embedding, tmp_path / name, str(tmp_path / name)):
        np.testing.assert_array_equal(NodeVectors(graph).fit_transform(["cleo", "ann"])[0], embedding["cleo"])
        for options in ({"dim": 2}, {"method": "refine"}, {"seed": 0}, {"directed": True}):
            with pytest.raises(InputError, match=f"{next(iter(options))}="):
                NodeVectors(graph, **options).fit(["cleo"])


def test_tables_of_edges_are_graphs_whatever_their_suffix(tmp_path: Path) -> None:
    edges = pd.DataFrame({"source": [1, 2, 3, 4], "target": [2, 3, 4, 1], "weight": [1.0, 2.0, 1.0, 1.0]})
    edges.to_parquet(tmp_path / "g.parquet")
    edges.to_feather(tmp_path / "g.feather")
    edges.to_csv(tmp_path / "g.csv", index=False)
    sp.save_npz(tmp_path / "g.npz", sp.csr_array((edges["weight"], (edges["source"], edges["target"])), shape=(5, 5)))
    for name in ("g.parquet", "g.feather", "g.csv", "g.npz"):
        assert NodeVectors(tmp_path / name, dim=2).fit([1]).model_.recipe["method"] == "refine", name


def test_directed_and_bipartite_graphs_have_two_sides() -> None:
    arcs = networkx.gnp_random_graph(30, 0.2, directed=True, seed=1)
    whole = embed(arcs, dim=8, directed=True)
    np.testing.assert_array_equal(NodeVectors(arcs, 8, directed=True).fit_transform([3]), [whole[3]])
    sales = [(user, item) for user in range(6) for item in range(4) if (user + item) % 3]
    bought = embed(sales, dim=2, bipartite=True)
    for side in ("source", "target"):
        estimator = NodeVectors(arcs, 8, directed=True, side=side)
        np.testing.assert_array_equal(estimator.fit_transform([3]), [getattr(whole, side)[3]])
        assert len(estimator.get_feature_names_out()) == 4
        one = NodeVectors(sales, 2, bipartite=True, side=side).fit_transform([1])
        np.testing.assert_array_equal(one, [getattr(bought, side)[bought.index(1, side=side)]])
    with pytest.raises(InputError, match="1 is a name on both sides"):
        NodeVectors(sales, 2, bipartite=True).fit([1])
    np.testing.assert_array_equal(NodeVectors(sales, 2, bipartite=True).fit_transform([5]), [bought[5]])
    with pytest.raises(InputError, match="5 on the target side"):
        NodeVectors(sales, 2, bipartite=True, side="target").fit([5])


def test_unknown_names(graph: networkx.Graph) -> None:
    with pytest.raises(InputError, match=r"'red 71'; similar names: red 7.*1 of 2 names"):
        NodeVectors(graph, 4).fit(["red 1", "red 71"])
    with pytest.raises(InputError, match=r"'green'.*unknown='skip'"):
        NodeVectors(graph, 4).fit(LINES).transform(["green"])
    estimator = NodeVectors(graph, 4, unknown="skip").fit(["red 1", "green", None])
    with pytest.warns(ArgumentWarning, match="2 of 3, such as 'green'"):
        vectors = estimator.transform(["green", "red 1", None])
    assert not vectors[[0, 2]].any() and vectors[1].any()
    assert estimator.model_.vectors.any(axis=1).all(), "rows of the graph are left as they were"
    with pytest.raises(ValueError, match="read-only"):
        estimator.model_.vectors[0] = 0  # which other estimators share


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_names(graph: networkx.Graph, missing: Any) -> None:
    with pytest.raises(InputError, match="no node is called None"):
        NodeVectors(graph, 4).fit(pd.Series(["red 1", missing], dtype=object))
    ring = [(node, (node + 1) % 6) for node in range(6)]
    with pytest.warns(ArgumentWarning, match="1 of 2"):
        vectors = NodeVectors(ring, 2, unknown="skip").fit([1]).transform(np.array([np.nan, 2.0]))
    np.testing.assert_array_equal(vectors[1], embed(ring, dim=2)[2])


@pytest.mark.parametrize(
    "X", [[["red 1", "red 2"]], np.zeros((3, 0)), np.zeros((3, 1, 1)), "red 1", 7, sp.csr_array(np.eye(2)), [1.5]]
)
def test_bad_columns(graph: networkx.Graph, X: Any) -> None:
    with pytest.raises((InputError, ValueError, TypeError)):
        NodeVectors(graph, 4).fit(X)


@pytest.mark.parametrize(
    ("graph", "options", "fact"),
    [
        ((pair for pair in [(1, 2)]), {}, "generator"),
        ("-", {}, "graph='-'"),
        ([(1, 2), (2, 3)], {"dim": 2, "side": "source"}, "side='source'"),
        ([(1, 2), (2, 3)], {"dim": 2, "side": "both"}, "side='both'"),
        ([(1, 2), (2, 3)], {"dim": 2, "unknown": "zero"}, "unknown='zero'"),
        ([(1, 2), (2, 3)], {"dim": 400}, "dim=400"),
    ],
)
def test_bad_graphs(graph: Any, options: dict[str, Any], fact: str) -> None:
    estimator = NodeVectors(graph, **options)
    with pytest.raises(NotFittedError):
        estimator.transform([1])
    with pytest.raises(InputError, match=fact):
        estimator.fit([1])
