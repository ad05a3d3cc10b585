"""`REFINE`: a scikit-learn estimator in good standing, which gives what `graphrefine.embed` gives."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from graphrefine import REFINE, embed
from graphs import random_graph


@pytest.fixture(scope="module")
def matrix() -> sp.csr_array:
    return sp.csr_array(random_graph(60, weighted=True, seed=1).to_scipy().astype(np.float64))


A_WHOLE = "n rows are one graph, embedded as a whole; fewer rows are new nodes, known by their edges alone"
AN_ORDER = "rows of another order than the columns are no adjacency matrix: refused, as they may be new nodes"
EXPECTED = {"check_methods_subset_invariance": A_WHOLE, "check_methods_sample_order_invariance": AN_ORDER}


@pytest.mark.parametrize("options", [{}, {"directed": True}, {"preset": "paper"}, {"filter": "none", "power": 1}])
def test_scikit_learns_own_checks(options: dict[str, Any]) -> None:
    results = check_estimator(REFINE(dim=2, **options), on_skip=None, expected_failed_checks=EXPECTED)
    assert len(results) > 45
    status = {check["check_name"]: check["status"] for check in results}
    assert {name for name, state in status.items() if state == "xfail"} == EXPECTED.keys()
    assert {name for name, state in status.items() if state == "skipped"} <= {"check_array_api_input"}
    assert set(status.values()) <= {"passed", "skipped", "xfail"}


@pytest.mark.parametrize("directed", [False, True])
def test_every_form_of_the_matrix_gives_the_same_vectors(matrix: sp.csr_array, directed: bool) -> None:
    arcs = sp.csr_array(sp.triu(matrix)) if directed else matrix
    dense = arcs.toarray()
    expected = embed(arcs, dim=8, directed=directed).vectors
    forms = (arcs, sp.csr_matrix(arcs), arcs.tocsc(), arcs.tocoo(), dense, dense.tolist(), arcs.astype(np.float32))
    for form in forms:
        found = REFINE(dim=8, directed=directed).fit_transform(form)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.float32 and found.flags.c_contiguous


def test_a_networkx_graph_stands_for_its_matrix() -> None:
    arcs = networkx.DiGraph([(9, 2, {"weight": 3.0}), (2, 5), (5, 7), (7, 9), (2, 7)])
    matrix = networkx.to_scipy_sparse_array(arcs, nodelist=[9, 2, 5, 7])  # the order of its nodes, not of their names
    vectors = REFINE(dim=2, directed=True).fit_transform(matrix)
    np.testing.assert_array_equal(REFINE(dim=2).fit_transform(arcs), vectors)
    undirected = REFINE(dim=2).fit_transform(matrix)
    assert not np.array_equal(undirected, vectors)
    np.testing.assert_array_equal(REFINE(dim=2, directed=False).fit_transform(arcs), undirected)
    np.testing.assert_array_equal(REFINE(dim=2).fit_transform(arcs.to_undirected()), undirected)
    theirs: dict[str, Any] = {"dim": np.int64(2), "seed": np.uint32(0), "center": np.True_, "quality": "default"}
    np.testing.assert_array_equal(REFINE(**theirs).fit_transform(matrix), undirected)


def test_clone_and_set_params(matrix: sp.csr_array) -> None:
    estimator = REFINE(dim=4, preset="paper", filter=(0, 0.5, 0.5), power=2, directed=True, seed=9, threads=1)
    copy = clone(estimator)
    assert copy is not estimator and copy.get_params() == estimator.get_params()
    np.testing.assert_array_equal(copy.fit_transform(matrix), estimator.fit_transform(matrix))
    assert estimator.set_params(dim=6, filter="none") is estimator
    assert estimator.fit(matrix).embedding_.shape == (60, 6)
    assert not hasattr(clone(estimator), "embedding_")
    with pytest.raises(ValueError, match="Invalid parameter 'color'"):
        estimator.set_params(color="red")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((4, 3)), "must be square, not 4 x 3"),
        (sp.csr_array([[0, -1.0], [-1.0, 0]]), "Negative values in data passed to .*REFINE"),
        (np.ones((2, 2)), "dim=3 is larger than the graph"),
    ],
)
def test_bad_input(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        REFINE(dim=3).fit(given)


def test_after_a_function_in_a_pipeline(matrix: sp.csr_array) -> None:
    pipeline = make_pipeline(FunctionTransformer(sp.csr_array.log1p, accept_sparse=True), REFINE(dim=4))
    pipeline.set_params(refine__dim=6)
    np.testing.assert_array_equal(pipeline.fit_transform(matrix), REFINE(dim=6).fit_transform(matrix.log1p()))
    assert isinstance(pipeline[-1], BaseEstimator) and pipeline[-1].embedding_.shape == (60, 6)
