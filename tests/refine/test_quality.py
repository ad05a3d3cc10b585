"""Quality on real graphs: as good as the reference, near the paper's table, and far above vectors that know nothing."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from graphrefine.evaluate import Labels, evaluate_labels, random_control, read_labels
from graphrefine.graph.graph import Graph
from graphrefine.kernels import native, to_float32
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.refine.settings import refine_settings
from graphs import data_folder, permuted
from reproduction import reference

# Tables 1 and 2 of the paper at 50 %: Micro and Macro F1 of RBQR and REFINE.
PAPER = {
    ("ppi", "none"): (22.59, 17.97),
    ("ppi", "taylor"): (24.30, 19.73),
    ("blogcatalog", "none"): (37.85, 20.21),
    ("blogcatalog", "taylor"): (41.00, 24.17),
    ("wikipedia-pos", "none"): (50.88, 9.98),
    ("wikipedia-pos", "taylor"): (57.50, 12.36),
}
# The authors' formula, computed by reference.py, stays below their own table on Wikipedia's REFINE row by about this
# much (on the others it is within 1.5): what their code was given there is not known.
UNEXPLAINED = {("wikipedia-pos", "taylor"): 4.5}


def scores(labels: Labels, vectors: NDArray[np.floating], *, repeats: int = 3) -> NDArray[np.float64]:
    at = evaluate_labels(vectors, labels, ratios=(0.5,), repeats=repeats).ratios[0]
    return np.array([at.micro_mean, at.macro_mean])


def load(name: str) -> tuple[Graph, Labels]:
    path = data_folder() / f"{name}.mat"
    return graphrefine.read(path), read_labels(path)


@pytest.mark.parametrize("filter", ["none", "taylor"])
@pytest.mark.parametrize(
    "name", ["ppi", *(pytest.param(each, marks=pytest.mark.slow) for each in ("blogcatalog", "wikipedia-pos"))]
)
def test_as_good_as_the_reference(name: str, filter: str) -> None:
    graph, labels = load(name)
    f1 = partial(scores, labels, repeats=5 if name == "ppi" else 10)
    ours = f1(embed_graph(graph, refine_settings("paper", filter=filter))[0].vectors)
    signs = to_float32(native.signs(0, 0, rows=graph.nodes, words=4)).astype(np.float64)
    theirs = f1(reference.refine(graph.to_scipy(), signs, theta=None if filter == "none" else reference.TAYLOR))
    assert np.all(ours >= theirs - 0.5)
    assert np.all(ours >= np.array(PAPER[name, filter]) - UNEXPLAINED.get((name, filter), 1.5))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("ppi", 24.5), ("wikipedia-pos", 60.0)])
def test_the_default_is_as_good_as_its_page_says(name: str, least: float) -> None:
    """The default's Micro F1, less a point; random vectors and shuffled labels stay far below."""
    graph, labels = load(name)
    vectors = graphrefine.embed(graph).vectors
    others = random_control(graph.nodes, 128), np.random.default_rng(0).permutation(vectors)
    real, *controls = (scores(labels, rows, repeats=10)[0] for rows in (vectors, *others))
    assert real > least > max(controls) + 8


def test_controls_fail() -> None:
    """Random vectors, and the vectors of a graph whose nodes were shuffled, are far below."""
    graph, labels = load("ppi")
    bar = np.array(PAPER["ppi", "taylor"]) - 1.5
    assert np.all(scores(labels, random_control(graph.nodes, 128)) < bar - 8)
    shuffled = permuted(graph, np.random.default_rng(0).permutation(graph.nodes))
    assert np.all(scores(labels, embed_graph(shuffled, refine_settings("paper"))[0].vectors) < bar - 8)


def test_weights_kept_in_m_help_and_bfloat16_is_harmless() -> None:
    graph, labels = load("wikipedia-pos")
    kept = scores(labels, embed_graph(graph, refine_settings(filter="none"))[0].vectors)
    canceled = scores(labels, embed_graph(graph, refine_settings("paper", filter="none"))[0].vectors)
    assert np.all(kept > canceled + np.array([3.0, 1.0]))
    graph, labels = load("ppi")
    rounded = scores(labels, embed_graph(graph, refine_settings("paper"))[0].vectors, repeats=5)
    exact = scores(labels, embed_graph(graph, refine_settings("paper", bfloat16=False))[0].vectors, repeats=5)
    assert np.abs(rounded - exact).max() < 0.2
