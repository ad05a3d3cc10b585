"""The automatic dimension: axes of planted groups, a random control, the same number on every way in, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pytest

import graphrefine
from cli_runs import check_refused, ring_of_cliques, run, works, write_csv
from graphrefine import REFINE, NodeVectors, datasets
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.dimension import HELD, Dimension, cross_validated, deal_edges, measure_dimension, take_entries
from graphs import permuted, random_graph

GROUPS = datasets.block_model(1500, 15_000, classes=24, mixing=0.2).graph


def even(nodes: int, edges: int, seed: int) -> Graph:
    """A random graph without any structure, not even of its degrees."""
    rng = np.random.default_rng(seed)
    return Graph.from_edges(*rng.integers(0, nodes, (2, edges)), names=np.arange(nodes))


def test_planted_groups_are_counted_and_noise_is_not() -> None:
    for classes in (6, 24):
        graph = datasets.block_model(1500, 15_000, classes=classes, mixing=0.2).graph
        assert abs(len(measure_dimension(graph).energies) - classes) <= 3
    control = measure_dimension(even(1500, 15_000, seed=0))
    assert len(control.energies) <= 4 and control.dim == 16


def test_the_eigenvalues_are_those_of_the_rest() -> None:
    graph = datasets.block_model(300, 4000, classes=6, mixing=0.2).graph
    held = deal_edges(graph, HELD, seed=0)
    rest = take_entries(graph, ~held)
    d = rest.degrees()
    scale = np.where(d > 0, np.maximum(d, 1) ** -0.4, 0)
    N, H = (take_entries(graph, which).to_scipy().toarray() * np.outer(scale, scale) for which in (~held, held))
    values, U = np.linalg.eigh(N)
    order = np.argsort(-np.abs(values))[:8]
    found, scores = cross_validated(EdgeStrengths(graph), 64, seed=0)
    assert found[:8] == pytest.approx(values[order], rel=0.01)
    expected = [u @ H @ u / np.sqrt(2 * (u**2 @ H**2 @ u**2)) for u in U[:, order].T]
    assert scores[:4] == pytest.approx(np.array(expected[:4]) * np.sign(values[order][:4]), rel=0.1)


def test_an_edge_is_dealt_as_one_whatever_the_order_of_rows() -> None:
    graph = random_graph(400, degree=8, weighted=True, isolated=3)
    held = deal_edges(graph, 0.1, seed=0)
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    pairs = set(zip(rows[held].tolist(), graph.indices[held].tolist(), strict=True))
    assert pairs == {(b, a) for a, b in pairs} and 0.05 < held.mean() < 0.15
    order = np.random.default_rng(0).permutation(graph.nodes)
    turned = replace(permuted(graph, order), names=order)
    assert deal_edges(turned, 0.1, seed=0).sum() == held.sum()
    assert measure_dimension(turned).dim == measure_dimension(graph).dim


def test_what_is_lost_falls_with_the_axes() -> None:
    energies = np.arange(100, 0, -1.0)
    lost = [Dimension(112, energies).lost(axes) for axes in (0, 32, 64, 100, 128)]
    assert lost[:3] == pytest.approx([1.0, energies[32:].sum() / energies.sum(), energies[64:].sum() / energies.sum()])
    assert lost[3:] == [0.0, 0.0]
    figures = measure_dimension(GROUPS).stats()
    assert list(figures["lost"]) == ["32", "64", "128", "256"] and figures["lost"]["32"] < 0.05


@pytest.mark.parametrize("edges", [[(0, 1)], [(0, i) for i in range(1, 40)], [(0, 1), (2, 3)], ring_of_cliques()])
def test_small_graphs(edges: list[tuple[int, int]]) -> None:
    graph = graphrefine.read(edges)
    embedding = graphrefine.embed(graph, "auto")
    assert embedding.dim == min(graph.nodes, 16) == embedding.recipe["dim"]
    assert np.isfinite(embedding.vectors).all() and embedding.vectors.any()


def test_every_way_in_takes_the_same_number(tmp_path: Path) -> None:
    automatic = graphrefine.embed(GROUPS, "auto", seed=3)
    plain = graphrefine.embed(GROUPS, automatic.dim, seed=3)
    assert automatic.dim == 32 and np.array_equal(automatic.vectors, plain.vectors)
    assert {**plain.recipe, "auto_dim": measure_dimension(GROUPS).stats()} == automatic.recipe
    assert graphrefine.embed(GROUPS, "auto", quality="fast").dim == 32
    matrix = GROUPS.to_scipy()
    estimator = REFINE(dim="auto").fit(matrix)
    assert estimator.embedding_.shape == (GROUPS.nodes, 32) and estimator.model_.recipe["auto_dim"]["axes"] >= 20
    assert estimator.get_feature_names_out()[-1] == "refine31"
    assert NodeVectors(GROUPS, dim="auto").fit_transform([0, 1]).shape == (2, 32)
    rows = np.repeat(np.arange(GROUPS.nodes), GROUPS.out_counts)
    path = write_csv(tmp_path / "g.csv", np.stack([rows, GROUPS.indices], axis=1)[rows < GROUPS.indices])
    figures = json.loads(works("embed", path, "-o", tmp_path / "v", "--dim", "auto", "--json").out)
    assert figures["dim"] == 32 and figures["auto_dim"] == figures["recipe"]["auto_dim"]
    told = json.loads(works("info", path, "--dim", "auto", "--json").out)["predicted"]
    assert told["dim"] == 32 and told["auto_dim"] == figures["auto_dim"]
    lost = f"at 32 {figures['auto_dim']['lost']['32']:.1%}"
    for words in (("embed", path, "-o", tmp_path / "v", "--dim", "auto"), ("info", path, "--dim", "auto")):
        out = works(*words).out
        assert f"{figures['auto_dim']['axes']} axes are above the noise" in out and lost in out


def test_a_graph_on_disk_has_the_same_dimension(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "g.csv", ring_of_cliques(40, 8))
    works("ingest", path, "-o", tmp_path / "g.grf")
    made = [graphrefine.embed(source, "auto") for source in (path, tmp_path / "g.grf")]
    assert made[0].recipe["auto_dim"] == made[1].recipe["auto_dim"] and made[0].dim == made[1].dim


def test_where_it_is_refused(tmp_path: Path) -> None:
    ring = ring_of_cliques()
    with pytest.raises(InputError, match=r"dim='auto' is for undirected graphs .* read as directed"):
        graphrefine.embed(networkx.DiGraph([(0, 1), (1, 2)]), "auto", directed=True)
    with pytest.raises(InputError, match="read as bipartite; say how long the vectors are, as in dim=128"):
        graphrefine.embed([("u", "i"), ("v", "i")], "auto", bipartite=True)
    for method in ("deepwalk", "prone", "rbqr"):
        with pytest.raises(InputError, match=f"dim='auto' is for method 'refine', and this is '{method}'"):
            graphrefine.embed(ring, "auto", method=method)
    with pytest.raises(InputError, match="dim=auto is not that of align_to, whose vectors have 4 numbers"):
        graphrefine.embed(ring, "auto", align_to=graphrefine.embed(ring, 4))
    with pytest.raises(InputError, match="dim='atuo' must be a whole number"):
        graphrefine.embed(ring, "atuo")
    with pytest.raises(InputError, match=r"looks at 256 axes .* or give more memory"):
        graphrefine.embed(random_graph(20_000, degree=4), "auto", memory="50MB")
    path = write_csv(tmp_path / "g.csv", ring)
    check_refused(run("embed", path, "-o", tmp_path / "v", "--dim", "atuo"), "neither a whole number nor 'auto'")
    check_refused(run("info", path, "--dim", "auto", "--directed"), "--dim 'auto' is for undirected graphs")
