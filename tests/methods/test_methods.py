"""What every method promises, whatever it computes: one set of tests for all that `METHODS` lists."""

from __future__ import annotations

from dataclasses import asdict, fields
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import graphrefine
from cli_runs import check_refused, ring_of_cliques, run, works, write_csv
from graphrefine.embedding.embedding import load
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_labels, random_control
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.methods.contract import Shape
from graphrefine.methods.registry import METHODS, find_method, make_settings
from graphrefine.pipeline.embed_run import embed_graph
from graphs import random_graph

# The same methods with less work: these settings, where a method has them.
QUICK = {"walks": 5, "length": 10, "samples": 0.05, "rounds": 50, "base_settings": "walks=5,length=10"}
ENOUGH = {"walks": 40, "length": 40, "samples": 2, "rounds": 200}  # to learn what a small graph has to tell
SIZES = dict.fromkeys(("netmf", "grarep", "netsmf"), 1100) | dict.fromkeys(("harp", "mile"), 500)
"""Nodes of a graph of more than one block of rows, where 4,500 would take too long."""
EVERY = pytest.mark.parametrize("name", METHODS)


def quick(name: str, *, work: dict[str, Any] = QUICK, **options: Any) -> Any:
    known = {field.name for field in fields(find_method(name).settings)}
    less: dict[str, Any] = {k: v for k, v in work.items() if k in known}
    return make_settings(name, **less, **options)


def vectors(name: str, graph: Graph, *, threads: int = 2, **options: Any) -> NDArray[np.float32]:
    return embed_graph(graph, quick(name, **options), method=name, threads=threads)[0].vectors


@cache
def communities(*, weighted: bool = False, isolated: int = 0) -> tuple[Graph, NDArray[np.int64]]:
    """Six groups of 50 nodes, most edges within a group; and the group of each node."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(6), 50)
    source = rng.integers(0, 300, 3000)
    within = rng.random(3000) < 0.8
    target = np.where(within, group[source] * 50 + rng.integers(0, 50, 3000), rng.integers(0, 300, 3000))
    weights = np.where(within, 3.0, 1.0) * rng.uniform(0.5, 1.5, 3000) if weighted else None
    return Graph.from_edges(source, target, weights, names=np.arange(300 + isolated)), group


@EVERY
def test_vectors_know_the_communities(name: str) -> None:
    graph, group = communities()
    found = vectors(name, graph, dim=16, work=ENOUGH)
    assert found.shape == (300, 16) and found.dtype == np.float32
    assert np.isfinite(found).all()
    scored = evaluate_labels(found, group.tolist(), ratios=(0.5,), repeats=3).ratios[0].micro_mean
    control = evaluate_labels(random_control(300, 16), group.tolist(), ratios=(0.5,), repeats=3)
    assert scored > 80 > 40 > control.ratios[0].micro_mean


@EVERY
def test_the_same_seed_gives_the_same_vectors(name: str) -> None:
    graph = random_graph(SIZES.get(name, 4500), degree=5, weighted=True, isolated=2)
    first = vectors(name, graph, dim=16, threads=1)
    assert np.array_equal(vectors(name, graph, dim=16, threads=1), first)
    if find_method(name).same_bits:
        for threads in (2, 4):
            assert np.array_equal(vectors(name, graph, dim=16, threads=threads), first)
    if not name.startswith(("netmf", "grarep", "hope", "arope")):  # of these the seed decides the last digits only
        assert not np.allclose(vectors(name, graph, dim=16, seed=1), first, atol=1e-3)


@EVERY
def test_isolated_nodes_have_zero_vectors_and_the_others_do_not(name: str) -> None:
    graph, _ = communities(isolated=3)
    lengths = np.linalg.norm(vectors(name, graph, dim=16), axis=1)
    assert np.all(lengths[300:] == 0)
    assert np.all(lengths[:300] > 0)
    empty = Graph.from_edges([], [], names=np.arange(5))
    assert np.array_equal(vectors(name, empty, dim=4), np.zeros((5, 4)))


@EVERY
def test_a_run_says_what_it_does(name: str) -> None:
    method, stages = find_method(name), dict[str, list[int]]()

    class Watcher:
        def start(self, stage: str, steps: int) -> None:
            stages[stage] = [steps, 0]

        def advance(self) -> None:
            list(stages.values())[-1][1] += 1

    recipe = embed_graph(communities()[0], quick(name, dim=8), method=name, watcher=Watcher())[0].recipe
    assert all(done <= steps for steps, done in stages.values())
    assert any(steps - done <= 1 for steps, done in stages.values()), "the last may end with its stage"
    assert recipe["method"] == method.name == name and recipe["dim"] == 8 and set(asdict(quick(name))) < set(recipe)
    assert "20" in method.reference and method.summary and method.cost and method.bound


@EVERY
def test_weights_count(name: str) -> None:
    graph, _ = communities(weighted=True)
    bare = Graph(graph.indptr, graph.indices, None, graph.names)
    assert not np.allclose(vectors(name, graph, dim=8), vectors(name, bare, dim=8), atol=1e-3)


@EVERY
@pytest.mark.parametrize(
    ("source", "target", "nodes"),
    [
        ([0], [1], 2),
        ([0, 0, 0, 0], [1, 2, 3, 4], 5),
        ([0, 1, 3, 4], [1, 2, 4, 5], 7),
        (list(range(9)), list(range(1, 10)), 10),
        ([0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3], 4),
    ],
    ids=["one edge", "star", "two paths and a node", "path", "complete"],
)
@pytest.mark.parametrize("whole", [False, True], ids=["dim 2", "dim n"])
def test_small_and_odd_graphs(name: str, source: list[int], target: list[int], nodes: int, whole: bool) -> None:
    graph = Graph.from_edges(source, target, names=np.arange(nodes))
    found = vectors(name, graph, dim=nodes if whole else 2)
    assert found.shape == (nodes, nodes if whole else 2)
    assert np.isfinite(found).all()


@EVERY
def test_what_a_method_cannot_take_is_refused_before_any_work(name: str) -> None:
    graph, _ = communities()
    with pytest.raises(InputError, match="300"):
        vectors(name, graph, dim=301)
    arcs = random_graph(30, directed=True)
    if find_method(name).directed:
        assert np.isfinite(vectors(name, arcs, dim=4)).all()
    else:
        with pytest.raises(InputError, match=name):
            vectors(name, arcs, dim=4)


@EVERY
def test_what_a_method_needs_is_known_before_any_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    method = find_method(name)
    for room in (10**8, 10**10):
        most = method.largest(room)
        chosen = method.settings(**method.fixed)
        assert most > 500 and method.memory(Shape(most, most * 20), chosen) <= room
        if most not in (method.most_nodes, 2**31 - 1):
            assert method.memory(Shape(most + 1, (most + 1) * 20), chosen) > room
    graph, _ = communities()
    needed = method.memory(Shape.of(graph), quick(name))
    assert needed >= 300 * 128 * 4, "the vectors themselves at least"
    monkeypatch.setattr("graphrefine.methods.contract.available_bytes", lambda: needed - 1)
    with pytest.raises(InputError, match="300"):
        vectors(name, graph)


def test_no_two_methods_give_the_same_neighbors() -> None:
    graph, _ = communities(weighted=True)
    nearest = {}
    for name in METHODS:
        unit = unit_rows(vectors(name, graph, dim=16, work=ENOUGH))
        nearest[name] = np.argsort(2 * np.eye(300) - unit @ unit.T, axis=1)[:, :10]
    for one, other in combinations(METHODS, 2):
        shared = np.mean([len(set(a) & set(b)) for a, b in zip(nearest[one], nearest[other], strict=True)]) / 10
        assert shared < 0.97, f"{one} and {other} find the same neighbors"


def test_rbqr_is_refine_without_its_filter(tmp_path: Path) -> None:
    """On the command line too."""
    graph = write_csv(tmp_path / "g.csv", ring_of_cliques())
    works("embed", graph, "-o", tmp_path / "v", "--method", "rbqr", "--set", "power=2", "--dim", "4")
    ours = load(tmp_path / "v")
    assert ours.recipe["method"] == "rbqr" and ours.recipe["power"] == 2
    plain = graphrefine.embed(graph, dim=4, preset="paper", log_weights=True, filter="none", power=2)
    assert np.array_equal(ours.vectors, plain.vectors)


def test_the_list_of_methods_and_unknown_ones() -> None:
    figures = works("methods", "--json").figures["methods"]
    assert [method["name"] for method in figures] == list(METHODS)
    assert all(method["largest_nodes"] > 1000 for method in figures)
    assert all(name in works("methods").out for name in METHODS) and "power=5" in works("methods", "refine").out
    check_refused(run("methods", "refin"), "'refine'")
    for call, fact in (
        (lambda: find_method("refin"), "'refine'"),
        (lambda: make_settings("rbqr", windows=3), "'windows'"),
        (lambda: make_settings("rbqr", "paper2"), "'paper2'"),
        (lambda: make_settings("rbqr", filter="heat"), "rbqr"),
    ):
        with pytest.raises(InputError, match=fact):
            call()
