"""Vectors for directed graphs: nodes as sources and as targets, DAGs included, and links that have a direction."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from cli_runs import refuses, works, write_csv
from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_links
from graphrefine.graph.graph import Graph
from graphrefine.refine.arc_svd import noise_edge, normalize_arcs, shrunk
from graphs import permuted, random_graph


def citations(nodes: int = 600, groups: int = 6, seed: int = 0) -> Graph:
    """A DAG: every node cites eight earlier ones, mostly of its own group, the oldest most often."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(groups * 10, nodes), 8)
    target = (source * rng.random(len(source)) ** 2).astype(int)
    own = rng.random(len(source)) < 0.8
    target = np.where(own, target // groups * groups + source % groups, target)
    earlier = target < source
    return Graph.from_edges(source[earlier], target[earlier], names=np.arange(nodes), directed=True)


def score_matrix(embedding: Embedding) -> NDArray[np.float64]:
    return np.asarray(embedding.source, np.float64) @ embedding.target.T


def plain_scores(graph: Graph, columns: int) -> NDArray[np.float64]:
    """The formula of `graphrefine.refine.directed` in dense NumPy, without c."""
    A = graph.to_scipy().toarray().astype(np.float64)
    out, into = A.sum(axis=1), A.sum(axis=0)
    means = [degree.sum() / np.count_nonzero(degree) for degree in (out, into)]
    N = A / np.sqrt(np.outer(out + means[0], into + means[1]))
    U, s, V = np.linalg.svd(N)
    edge = np.linalg.norm(N) * (np.count_nonzero(out) ** -0.5 + np.count_nonzero(into) ** -0.5)
    root = np.sqrt(s * (s**2 / (s**2 + edge**2)) ** 8)[:columns]
    x, y = U[:, :columns] * root, V[:columns].T * root
    for side, degree in ((x, out), (y, into)):
        side[degree == 0] = 0
        side[degree > 0] /= np.linalg.norm(side[degree > 0], axis=1)[:, None]
    weight = 1.0 if graph.weights is None else graph.weights.mean()
    product: NDArray[np.float64] = np.outer(1 + out / weight, 1 + into / weight) ** 0.15 * (1 + x @ y.T) / 2
    return product


@pytest.mark.parametrize("weighted", [False, True])
def test_the_formula_and_what_follows_from_it(weighted: bool) -> None:
    """The engine computes what is written at the head of the module; scores turn with arcs and move with nodes."""
    graph = random_graph(40, degree=8, directed=True, weighted=weighted, seed=3)
    order = np.random.default_rng(0).permutation(40)
    # A side of 38 dimensions has 17 columns, c and the first.
    scores, turned, moved = (
        score_matrix(graphrefine.embed(each, dim=38, bfloat16=False, power=39))
        for each in (graph, graph.transposed(), permuted(graph, order))
    )
    plain = plain_scores(graph, 17)
    assert np.abs(scores - (plain - plain.mean())).max() < 2e-3 and abs(scores.mean()) < 1e-5
    assert np.abs(turned - scores.T).max() < 5e-3
    assert np.abs(moved - scores[np.ix_(order, order)]).max() < 5e-3


def test_directions_are_found_and_swapped_sides_fail() -> None:
    """On a DAG source . target finds arcs and tells them from reversed ones; target . source does not."""

    def swapped(rest: Graph) -> Embedding:
        made = graphrefine.embed(rest, dim=32)
        return Embedding(rest.names, np.hstack([made.target, made.source]), made.recipe)

    ours, control = (evaluate_links(citations(), scores=["dot"], **by) for by in ({"dim": 32}, {"method": swapped}))
    assert ours["dot"].mean("auc") > ours["degree"].mean("auc") + 0.02
    assert ours["dot"].mean("auc") > 0.85 and control["dot"].mean("auc") < 0.5


def test_settings_that_keep_one_vector_and_those_that_are_refused() -> None:
    """Preset "paper" and RBQR are what they were; HOPE says that it has sides."""
    graph = random_graph(60, directed=True)
    for options in ({"preset": "paper"}, {"method": "rbqr"}, {"two_sided": False}, {"method": "line"}):
        assert "sides" not in graphrefine.embed(graph, dim=15, **options).recipe
    hope = graphrefine.embed(graph, dim=16, method="hope")
    assert hope.sides.kind == "columns" and hope.source.shape == (60, 8)
    assert "sides" not in graphrefine.embed(graph, dim=15, method="hope").recipe
    # An odd dim, and settings that would have no effect.
    graph = random_graph(60, directed=True)
    with pytest.raises(InputError, match="14 or 16"):
        graphrefine.embed(graph, dim=15)
    for option in ({"negative": 5.0}, {"filter": "heat"}, {"exponent": 1.0}):
        with pytest.raises(InputError, match=next(iter(option))):
            graphrefine.embed(graph, dim=16, **option)


def test_the_noise_edge_and_what_is_left() -> None:
    """Singular values of a random graph end near the edge; structure stands above it."""
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(*rng.integers(0, 400, (2, 8000)), directed=True)
    N, source, target = normalize_arcs(graph)
    values = np.linalg.svd(N.to_scipy().toarray(), compute_uv=False)
    edge = noise_edge(N, source.count, target.count)
    assert values[0] > 1.5 * edge and 0.8 * edge < values[1] < 1.2 * edge
    assert shrunk(values, edge, 8.0)[1] < 0.05 * values[1] < 0.3 * shrunk(values, edge, 8.0)[0]


def test_the_commands(tmp_path: Path) -> None:
    """Evaluate with --directed; a graph with fewer nodes than 128, an odd number of them."""
    graph = citations(301)
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    path = write_csv(tmp_path / "g.csv", np.stack([rows, graph.indices], axis=1))
    figures = works("evaluate", "links", path, "--directed", "--dim", "16", "--turned", "0.25", "--json").figures
    assert figures["turned_arcs"] == round(0.25 * figures["held_out_edges"])
    small = write_csv(tmp_path / "small.csv", np.array([[0, 1], [1, 2]]))
    works("embed", small, "--directed", "-o", tmp_path / "small.npz")
    assert graphrefine.load(tmp_path / "small.npz").dim == 2
    refuses("embed", small, "--directed", "--dim", "3", "-o", tmp_path / "no.npz", folder=tmp_path,
            expected=("--dim 3",))  # fmt: skip
