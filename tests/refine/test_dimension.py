"""The automatic dimension: axes of planted groups, a random control, the same number on every way in, refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from cli_runs import ring_of_cliques, works, write_csv
from graphrefine import REFINE, NodeVectors, datasets
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import EdgeStrengths
from graphrefine.refine.dimension import HELD, Dimension, cross_validated, deal_edges, measure_dimension, take_entries
from graphs import permuted, random_graph

GROUPS = datasets.block_model(1500, 15_000, classes=24, mixing=0.2).graph


def noise(seed: int) -> Graph:
    """A random graph: besides the degrees, which are one axis, there is nothing to find."""
    rng = np.random.default_rng(seed)
    return Graph.from_edges(*rng.integers(0, 1200, (2, 12_000)), names=np.arange(1200))


@pytest.mark.parametrize("classes", [6, 24])
def test_planted_groups_are_counted(classes: int) -> None:
    graph = datasets.block_model(1500, 15_000, classes=classes, mixing=0.2).graph
    assert abs(len(measure_dimension(graph).energies) - classes) <= 3


def test_three_standard_errors_confirm_next_to_no_axis_of_noise() -> None:
    """Of 1,020 normal numbers 1.4 are above 3 on average, and 23 above 2: a rule of two would confirm those."""
    scores = np.concatenate([cross_validated(EdgeStrengths(noise(seed)), 256, seed=0)[1][1:] for seed in range(4)])
    assert abs(scores.mean()) < 0.4  # held-out edges are the ones that are not in the rest, which moves it a little
    assert 0.85 < scores.std() < 1.15
    found = [measure_dimension(noise(seed)) for seed in range(4)]
    assert sum(len(each.energies) - 1 for each in found) <= 5 and all(each.dim == 16 for each in found)
    assert (scores > 2).sum() >= 12, "the control: there are axes that two standard errors would confirm"


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


def test_axes_of_roles_are_confirmed_with_their_sign() -> None:
    """Nodes that link to another group have negative eigenvalues, which held-out edges confirm by negative products."""
    rng = np.random.default_rng(0)
    group, (source, target) = rng.integers(0, 4, 600), rng.integers(0, 600, (2, 12_000))
    keep = ((group[source] ^ 1) == group[target]) | (rng.random(12_000) < 0.05)
    graph = Graph.from_edges(source[keep], target[keep], names=np.arange(600))
    values, scores = cross_validated(EdgeStrengths(graph), 32, seed=0)
    assert values[:4].min() < 0 < values[:4].max() and scores[:4].min() > 3


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
    estimator = REFINE(dim="auto").fit(GROUPS.to_scipy())
    assert estimator.embedding_.shape == (GROUPS.nodes, 32)
    assert NodeVectors(GROUPS, dim="auto").fit_transform([0, 1]).shape == (2, 32)
    rows = np.repeat(np.arange(GROUPS.nodes), GROUPS.out_counts)
    path = write_csv(tmp_path / "g.csv", np.stack([rows, GROUPS.indices], axis=1)[rows < GROUPS.indices])
    made = json.loads(works("embed", path, "-o", tmp_path / "v", "--dim", "auto", "--json").out)
    told = json.loads(works("info", path, "--dim", "auto", "--json").out)["predicted"]
    assert made["dim"] == told["dim"] == 32 and made["auto_dim"] == told["auto_dim"] == automatic.recipe["auto_dim"]
    works("ingest", path, "-o", tmp_path / "g.grf")
    assert graphrefine.embed(tmp_path / "g.grf", "auto").recipe["auto_dim"] == automatic.recipe["auto_dim"]


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"directed": True}, "directed"),
        ({"bipartite": True}, "bipartite"),
        ({"method": "deepwalk"}, "deepwalk"),
        ({"method": "rbqr"}, "rbqr"),
        ({"dim": "atuo"}, "atuo"),
        ({"memory": "1MB"}, "256"),
    ],
)
def test_where_it_is_refused(options: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        graphrefine.embed([(0, 1), (1, 2)], **{"dim": "auto", **options})
