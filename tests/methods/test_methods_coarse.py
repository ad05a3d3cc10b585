"""LouvainNE, HARP and MILE: each against what its paper says, piece by piece, and on real graphs."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import approx_fprime
from scipy.sparse import csr_array

import graphrefine
from cli_runs import ring_of_cliques, works, write_csv
from graphrefine.embedding.embedding import load
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.methods import harp, louvainne, mile, multilevel, registry
from graphrefine.methods.coarsening import communities, hierarchy, hybrid_collapse, matched
from graphrefine.methods.contract import Floats, Method, Resources
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.refine.settings import MethodSettings
from graphs import random_graph

Leaves = dict[int, tuple[int, ...]]  # the way from the root to each node, the number of a child at every step


def recursive(adjacency: csr_array, nodes: NDArray[np.int64], way: tuple[int, ...]) -> Leaves:
    """The tree as the paper has it: each community by itself."""
    labels = communities(adjacency, np.zeros(len(nodes), int)) if adjacency.nnz else np.zeros(len(nodes), int)
    names = np.unique(labels)
    if len(names) == 1:
        return dict.fromkeys(nodes.tolist(), way)
    found: Leaves = {}
    for number, name in enumerate(names):
        inside = np.flatnonzero(labels == name)
        found |= recursive(csr_array(adjacency[inside][:, inside]), nodes[inside], (*way, number))
    return found


def all_at_once(graph: Graph) -> Leaves:
    ways: dict[int, list[int]] = {node: [] for node in range(graph.nodes)}
    for depth in louvainne.tree(graph.to_scipy(), -1):
        for node, community in zip(depth.nodes.tolist(), depth.communities.tolist(), strict=True):
            ways[node].append(community)
    return {node: tuple(way) for node, way in ways.items()}


def same_tree(one: Leaves, other: Leaves) -> bool:
    """Whether two nodes go the same way equally far in both."""
    depths = {len(way) for way in (*one.values(), *other.values())}
    for depth in range(max(depths) + 1):
        pairs = {(one[node][:depth], other[node][:depth]) for node in one}
        if not len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs):
            return False
    return True


@pytest.mark.parametrize("seed", range(4))
def test_the_tree_is_that_of_communities_divided_one_by_one(seed: int) -> None:
    """With random weights: where two moves gain equally, rounding may choose between them."""
    graph = random_graph(120, degree=2 + seed, weighted=True, isolated=2, seed=seed)
    ours = all_at_once(graph)
    assert same_tree(ours, recursive(graph.to_scipy(), np.arange(graph.nodes), ()))
    assert max(map(len, ours.values())) > 2
    assert not same_tree(ours, all_at_once(random_graph(120, degree=2 + seed, weighted=True, isolated=2, seed=9)))


def test_vectors_are_sums_down_the_tree() -> None:
    """Nodes that part at depth h differ by decay**h, and no less."""
    graph, decay = random_graph(200, degree=5, seed=4), 0.1
    vectors = graphrefine.embed(graph, dim=64, method="louvainne", decay=decay).vectors.astype(np.float64)
    ways = all_at_once(graph)
    for i in range(0, 200, 7):
        for j in range(i):
            shared = next((d for d, (a, b) in enumerate(zip(ways[i], ways[j], strict=False)) if a != b), None)
            depth = len(ways[i]) if shared is None else shared
            apart = np.abs(vectors[i] - vectors[j]).max() / decay**depth
            assert 1.0 < apart < 2.0 / (1 - decay) + 1e-3  # 64 differences of two numbers from (-1, 1)


class Toy:
    """A base method that writes down what it is asked, and gives every node its number and the size of its graph."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, resumes: bool = False, most_nodes: int | None = None
    ) -> None:
        self.fitted: list[Graph] = []
        self.resumed: list[tuple[Graph, Floats]] = []
        about: dict[str, Any] = {"name": "toy", "reference": "2026", "summary": "toy", "cost": "0", "bound": "nothing"}
        self.method = Method(
            **about,
            settings=MethodSettings,
            fit=self.fit,
            memory=lambda shape, chosen: 1000 * shape.nodes,
            processor_dependence=None,
            most_nodes=most_nodes,
            resume=self.resume if resumes else None,
        )
        real = registry.find_method
        for module in (registry, multilevel):
            monkeypatch.setattr(module, "find_method", lambda name: self.method if name == "toy" else real(name))

    def fit(self, graph: Graph, chosen: MethodSettings, run: Resources) -> Floats:
        self.fitted.append(graph)
        rows = np.arange(graph.nodes, dtype=np.float32)[:, None]
        return np.hstack([rows + 1, np.full((graph.nodes, chosen.dim - 1), graph.nodes, np.float32)])

    def resume(self, graph: Graph, chosen: MethodSettings, run: Resources, vectors: Floats) -> Floats:
        self.resumed.append((graph, vectors.copy()))
        return vectors + np.float32(0.25)


def test_harp_resumes_each_level_or_embeds_it_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    toy, graph = Toy(monkeypatch, resumes=True), random_graph(400, weighted=True, seed=2)
    vectors = graphrefine.embed(graph, dim=4, method="harp", base="toy", coarsest=30).vectors
    levels = hierarchy(graph, hybrid_collapse, enough=30)
    assert len(levels) > 3 and levels[-1].graph.nodes <= 30
    assert [found.nodes for found in toy.fitted] == [levels[-1].graph.nodes]
    assert [found.nodes for found, _ in toy.resumed] == [level.graph.nodes for level in reversed(levels[:-1])]
    expected = toy.fit(levels[-1].graph, MethodSettings(dim=4), None)  # type: ignore[arg-type]
    for level, (_, start) in zip(reversed(levels[:-1]), toy.resumed, strict=True):
        assert level.groups is not None
        np.testing.assert_array_equal(start, expected[level.groups])
        expected = start + np.float32(0.25)
    np.testing.assert_array_equal(vectors, expected)
    toy, graph = Toy(monkeypatch), random_graph(400, weighted=True, seed=2)
    vectors = graphrefine.embed(graph, dim=40, method="harp", base="toy").vectors
    sizes = [found.nodes for found in toy.fitted]
    assert sizes[-1] == 400 and sizes == sorted(set(sizes))
    assert 40 <= sizes[0] < 100, "no graph has fewer nodes than dimensions"
    assert not np.allclose(vectors, toy.fit(graph, MethodSettings(dim=40), None))  # type: ignore[arg-type]


def test_blending_undoes_rotation_reflection_and_scale() -> None:
    rng = np.random.default_rng(0)
    fresh = rng.standard_normal((500, 12)).astype(np.float32)
    turn = np.linalg.qr(rng.standard_normal((12, 12)))[0].astype(np.float32)
    np.testing.assert_allclose(harp.blend(fresh, 7 * fresh @ turn), fresh, atol=1e-5)
    other = rng.standard_normal((500, 12)).astype(np.float32)
    mean = harp.blend(fresh, other)
    assert np.linalg.norm(mean - fresh / 2) == pytest.approx(np.linalg.norm(fresh) / 2, rel=1e-5)
    np.testing.assert_array_equal(harp.blend(fresh, np.zeros_like(fresh)), fresh / 2)


@pytest.mark.parametrize("method", ["harp", "mile"])
@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"base": "harp"}, "harp"),
        ({"base": "deepwalks"}, "'deepwalk'"),
        ({"base_settings": {"wondow": 5}}, "'wondow'"),
        ({"base_settings": "window=ten"}, "'ten'"),
        ({"base_settings": "dim=5"}, "dim"),
        ({"base_settings": 5}, "5"),
        ({"base": "rbqr", "base_settings": "filter=heat"}, "rbqr"),
    ],
)
def test_bad_bases(method: str, options: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        registry.make_settings(method, **options)


def test_harp_walks_as_in_its_paper_unless_told_otherwise() -> None:
    for base in ("deepwalk", "node2vec"):
        inner = registry.make_settings("harp", base=base, dim=32, seed=7).base_method()[1]
        assert (inner.walks, inner.length, inner.window, inner.dim, inner.seed) == (40, 10, 10, 32, 7)
    told = registry.make_settings("harp", base_settings="walks=5,rate=0.05").base_method()[1]
    assert (told.walks, told.length, told.rate) == (5, 10, 0.05)
    assert registry.make_settings("mile").base_method()[1] == registry.make_settings("deepwalk")


@pytest.mark.parametrize("method", ["harp", "mile"])
def test_settings_of_the_base_as_text_and_as_a_mapping(method: str, tmp_path: Path) -> None:
    graph = write_csv(tmp_path / "g.csv", ring_of_cliques())
    given = {"base": "refine", "dim": 4, "method": method}
    mapped = graphrefine.embed(graph, base_settings={"power": 1, "filter": (0.0, 1.0)}, **given)  # type: ignore[arg-type]
    assert mapped.recipe["base_settings"] == {"power": 1, "filter": [0.0, 1.0]}
    told = graphrefine.embed(graph, base_settings="power=1", **given)  # type: ignore[arg-type]
    assert not np.allclose(told.vectors, graphrefine.embed(graph, **given).vectors)  # type: ignore[arg-type]
    options = ("--method", method, "--set", "base=refine", "--set", "base_settings=power=1", "--dim", "4")
    works("embed", graph, "-o", tmp_path / "v", *options)
    np.testing.assert_array_equal(load(tmp_path / "v").vectors, told.vectors)
    assert load(tmp_path / "v").recipe["base_settings"] == "power=1"


def test_what_the_base_cannot_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Toy(monkeypatch, resumes=True, most_nodes=120)
    graph = random_graph(200, seed=1)
    with pytest.raises(InputError, match="120"):
        graphrefine.embed(graph, dim=8, method="harp", base="toy")
    assert graphrefine.embed(graph, dim=8, method="mile", base="toy").dim == 8, "the coarsest is small enough"


@pytest.mark.parametrize("method", ["harp", "mile"])
def test_a_graph_of_many_small_parts(method: str) -> None:
    """200 triangles: no graph of the hierarchy may lose its edges, and no node its vector."""
    first = 3 * np.arange(200)
    graph = Graph.from_edges(np.r_[first, first + 1, first], np.r_[first + 1, first + 2, first + 2])
    vectors = graphrefine.embed(graph, dim=16, method=method, base_settings="walks=5,length=10").vectors
    assert np.isfinite(vectors).all() and np.all(np.linalg.norm(vectors, axis=1) > 0)


@pytest.mark.parametrize("method", ["harp", "mile"])
@pytest.mark.parametrize("base", [name for name in registry.METHODS if name not in multilevel.NESTED])
def test_every_other_method_can_be_the_base(method: str, base: str) -> None:
    graph = random_graph(150, weighted=True, isolated=2, seed=3)
    less = {"walks": 2, "length": 10, "samples": 0.01}
    known = [field.name for field in fields(registry.find_method(base).settings)]
    inner = {name: value for name, value in less.items() if name in known}
    steps: dict[str, Any] = {"steps": 20} if method == "mile" else {}
    chosen = registry.make_settings(method, base=base, base_settings=inner, dim=12, **steps)
    vectors = embed_graph(graph, chosen, method=method)[0].vectors
    assert np.isfinite(vectors).all() and np.all((vectors != 0).any(axis=1) == (graph.out_counts > 0))


@pytest.mark.parametrize("columns", [32, 7])
def test_the_convolution_is_its_formula(columns: int) -> None:
    """On a level with weights inside its nodes, and a node without edges."""
    level, loop = hierarchy(random_graph(60, weighted=True, isolated=1, seed=6), matched, levels=1)[1], 0.3
    A = level.graph.to_scipy().toarray().astype(np.float64) + np.diag(level.loops)
    degrees = A.sum(axis=1)
    assert level.loops.max() > 0 and (degrees == 0).sum() == 1
    scale = np.diag(1 / np.sqrt(np.where(degrees > 0, degrees, np.inf)))
    wanted = scale @ A @ scale + loop * np.eye(len(A))
    x = np.random.default_rng(0).standard_normal((len(A), columns)).astype(np.float32)
    smooth = mile.convolution(level, loop=loop, threads=2)
    np.testing.assert_allclose(smooth(x), wanted @ x / (1 + loop), atol=1e-5)


def test_the_slopes_of_the_loss() -> None:
    rng = np.random.default_rng(1)
    L = rng.standard_normal((9, 9))
    L = (L + L.T) / 4
    target = unit_rows(rng.standard_normal((9, 3))).astype(np.float64)
    start = rng.standard_normal(18)

    def loss_and_slopes(x: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        first, second = x.reshape(2, 3, 3)
        loss, slopes = mile.loss_and_slopes(L.__matmul__, L @ target, target, (first, second))
        return loss, np.concatenate([each.ravel() for each in slopes])

    def loss_alone(x: NDArray[np.float64]) -> float:
        return loss_and_slopes(x)[0]

    first, second = start.reshape(2, 3, 3)
    unit = unit_rows(np.tanh(L @ np.tanh(L @ target @ first) @ second))
    expected = np.square(unit - target).sum() / 9 + mile.DECAY * np.square(start).sum() / 2
    assert loss_and_slopes(start)[0] == pytest.approx(expected, rel=1e-5)
    slopes = loss_and_slopes(start)[1]
    differences = approx_fprime(start, loss_alone)
    assert np.linalg.norm(slopes - differences) < 1e-5 * np.linalg.norm(slopes)


def test_mile_makes_no_level_of_fewer_nodes_than_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    toy, graph = Toy(monkeypatch), random_graph(200, seed=1)
    for dim, sizes in ((16, (17, 30)), (90, (91, 120)), (150, (200, 200))):
        vectors = graphrefine.embed(graph, dim=dim, method="mile", base="toy", levels=3).vectors
        assert sizes[0] <= toy.fitted[-1].nodes <= sizes[1]
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
