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
from graphrefine.errors import InputError
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


def test_the_tags_are_honest(matrix: sp.csr_array) -> None:
    tags = REFINE().__sklearn_tags__()
    assert tags.input_tags.sparse and tags.input_tags.pairwise and tags.input_tags.positive_only
    assert not tags.input_tags.allow_nan and not tags.non_deterministic and not tags.target_tags.required
    assert tags.transformer_tags is not None and tags.transformer_tags.preserves_dtype == []


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "csc_array", "coo_array", "dense", "list", "float32"])
def test_every_form_of_the_matrix_gives_the_same_vectors(matrix: sp.csr_array, form: str, directed: bool) -> None:
    arcs = sp.csr_array(sp.triu(matrix)) if directed else matrix
    forms: dict[str, Any] = {
        "csr_array": arcs,
        "csr_matrix": sp.csr_matrix(arcs),
        "csc_array": arcs.tocsc(),
        "coo_array": arcs.tocoo(),
        "dense": arcs.toarray(),
        "list": arcs.toarray().tolist(),
        "float32": arcs.astype(np.float32),
    }
    found = REFINE(dim=8, directed=directed).fit_transform(forms[form])
    np.testing.assert_array_equal(found, embed(arcs, dim=8, directed=directed).vectors)
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


def test_integers_and_booleans_are_weights(matrix: sp.csr_array) -> None:
    ones = (matrix > 0).astype(np.float64)
    expected = REFINE(dim=4).fit_transform(ones)
    np.testing.assert_array_equal(REFINE(dim=4).fit_transform(ones.toarray().astype(np.int64)), expected)
    np.testing.assert_array_equal(REFINE(dim=4).fit_transform(ones.toarray().astype(bool)), expected)
    assert not np.allclose(REFINE(dim=4).fit_transform(matrix), expected, atol=1e-3), "weights count"


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
    "options",
    [
        {"power": 2},
        {"negative": 5.0},
        {"exponent": 0.5},
        {"log_weights": True},
        {"two_sided": True},
        {"filter": "heat"},
        {"filter": "heat", "order": 3, "scale": 1.0},
        {"bfloat16": False},
        {"seed": 2},
    ],
)
def test_options_override_the_preset(matrix: sp.csr_array, options: dict[str, Any]) -> None:
    found = REFINE(dim=6, preset="paper", **options).fit_transform(matrix)
    np.testing.assert_array_equal(found, embed(matrix, dim=6, preset="paper", **options).vectors)
    assert not np.array_equal(found, REFINE(dim=6, preset="paper").fit_transform(matrix))


def test_threads_change_nothing(matrix: sp.csr_array) -> None:
    one, four = (REFINE(dim=6, threads=threads).fit_transform(matrix) for threads in (1, 4))
    np.testing.assert_array_equal(one, four)


def test_isolated_nodes_are_zero(matrix: sp.csr_array) -> None:
    padded = sp.block_diag([matrix, np.zeros((3, 3))], format="csr")
    found = REFINE(dim=4).fit_transform(padded)
    assert (found[60:] == 0).all() and np.isfinite(found).all()
    np.testing.assert_allclose(np.linalg.norm(found[:60], axis=1), 1, atol=1e-5)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "mine"}, "preset='mine' is not known"),
        ({"filter": "wavelet"}, "filter='wavelet' is not known"),
        ({"power": 0}, "power=0 must be at least 1"),
        ({"dim": 2.5}, "dim=2.5 must be a whole number"),
        ({"seed": -1}, "seed=-1 must be at least 0"),
        ({"threads": 0}, "threads=0 must be at least 1"),
    ],
)
def test_bad_options(matrix: sp.csr_array, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        REFINE(**{"dim": 3, **options}).fit(matrix)


def test_after_a_function_in_a_pipeline(matrix: sp.csr_array) -> None:
    def damped(X: Any) -> Any:
        return X.log1p()

    pipeline = make_pipeline(FunctionTransformer(damped, accept_sparse=True), REFINE(dim=4))
    pipeline.set_params(refine__dim=6)
    np.testing.assert_array_equal(pipeline.fit_transform(matrix), REFINE(dim=6).fit_transform(matrix.log1p()))
    assert isinstance(pipeline[-1], BaseEstimator) and pipeline[-1].embedding_.shape == (60, 6)
