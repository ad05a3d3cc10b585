"""Splits of edges: nothing is lost, nothing leaks, and the folder holds what the objects do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import graphrefine
from cli_runs import works
from graphrefine import Graph, split_edges
from graphrefine.display.table import Table
from graphrefine.errors import InputError, OutputError
from strategies import PATIENT

Pair = tuple[Any, Any]


def pairs_of(table: Table, graph: Graph) -> list[Pair]:
    """The pairs of a table; those of an undirected graph in one order."""
    listed = list(zip(table["source"].tolist(), table["target"].tolist(), strict=True))
    return listed if graph.directed or graph.sources is not None else [(min(pair), max(pair)) for pair in listed]


def edges_of(graph: Graph) -> set[Pair]:
    matrix = graph.to_scipy().tocoo()
    rows = zip(matrix.row.tolist(), matrix.col.tolist(), strict=True)
    if graph.directed:
        return {(graph.names[u], graph.names[v]) for u, v in rows}
    if graph.sources is not None:
        return {(graph.names[u], graph.names[v]) for u, v in rows if u < graph.sources}
    return {(min(pair), max(pair)) for u, v in rows if (pair := (graph.names[u], graph.names[v]))}


BY: tuple[Literal["uniform", "degree"], ...] = ("uniform", "degree")
FEWER = settings(PATIENT, max_examples=40)


@st.composite
def graphs(draw: st.DrawFn, *, weighted: bool | None = None) -> Graph:
    """Undirected, directed or bipartite graphs of some 5 to 14 nodes, with weights or without."""
    n = draw(st.integers(5, 14))
    kind = draw(st.sampled_from(["undirected", "directed", "bipartite"]))
    end = st.integers(0, n - 1)
    listed = draw(st.sets(st.tuples(end, end).filter(lambda pair: pair[0] != pair[1]), min_size=8, max_size=40))
    weight = st.sampled_from([0.5, 1.0, 2.0, 7.0]) if weighted or draw(st.booleans()) else st.just(1.0)
    edges = [(u, v, draw(weight)) for u, v in sorted(listed)]
    return graphrefine.read(edges, directed=kind == "directed", bipartite=kind == "bipartite")


@FEWER
@given(
    graphs(),
    st.integers(0, 5),
    st.sampled_from([0.1, 0.25, 0.4]),
    st.sampled_from([0.0, 0.15, 0.3]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.sampled_from(["uniform", "degree"]),
    st.booleans(),
)
def test_a_split_loses_nothing_and_leaks_nothing(
    graph: Graph, seed: int, test: float, validation: float, negatives: float, by: Any, connected: bool
) -> None:
    options: dict[str, Any] = {"test": test, "validation": validation, "negatives": negatives, "seed": seed}
    try:
        split = split_edges(graph, **options, negatives_by=by, connected=connected)
    except InputError:
        assume(False)
    whole = edges_of(graph)
    parts = {part: pairs_of(table, graph) for part, table in split.edges.items()}
    listed = [pair for pairs in parts.values() for pair in pairs]
    assert sorted(listed) == sorted(whole)  # each edge once, in one part
    assert edges_of(split.graph) == set(parts["train"])
    assert len(parts["test"]) == round(test * graph.edges)
    assert len(parts.get("validation", ())) == round(validation * graph.edges)
    free = [pair for table in split.negatives.values() for pair in pairs_of(table, graph)]
    assert len(set(free)) == len(free) and not set(free) & whole
    assert all(u != v for u, v in free) or graph.sources is not None
    assert {part: len(table) for part, table in split.negatives.items()} == {
        part: round(negatives * len(pairs)) for part, pairs in parts.items() if round(negatives * len(pairs))
    }
    if graph.sources is not None:
        first, second = set(graph.names[: graph.sources].tolist()), set(graph.names[graph.sources :].tolist())
        assert all(u in first and v in second for u, v in free)
    if connected:
        assert split.graph.components()[0] == graph.components()[0]
        assert split.stats["without_train_edges"] == 0
    again = split_edges(graph, **options, negatives_by=by, connected=connected)
    assert split.edges == again.edges and split.negatives == again.negatives


@FEWER
@given(graphs(weighted=True), st.integers(0, 3))
def test_weights_stay_with_their_edges(graph: Graph, seed: int) -> None:
    try:
        split = split_edges(graph, test=0.3, seed=seed, negatives=0.2)
    except InputError:
        assume(False)
    assume(graph.weighted)
    matrix, sources = graph.to_scipy().toarray(), graph.nodes if graph.sources is None else graph.sources
    first = {name: row for row, name in enumerate(graph.names[:sources].tolist())}
    second = {name: row for row, name in enumerate(graph.names.tolist()) if row >= sources} or first
    for table in split.edges.values():
        for row in table:
            assert row.weight == matrix[first[row.source], second[row.target]]


def test_another_seed_is_another_split_and_order_does_not_matter() -> None:
    edges = [(f"n{i}", f"n{(i * 7 + k) % 40}") for i in range(40) for k in (1, 2, 3)]
    first, other = split_edges(edges, seed=0), split_edges(edges, seed=1)
    assert first.edges["test"] != other.edges["test"]
    names = sorted({name for edge in edges for name in edge}, reverse=True)
    place = {name: row for row, name in enumerate(names)}
    turned = Graph.from_edges([place[u] for u, _ in edges], [place[v] for _, v in edges], names=names)
    for by in BY:
        one, two = (split_edges(graph, negatives_by=by) for graph in (edges, turned))
        assert one.edges == two.edges and one.negatives == two.negatives


def test_a_bridge_is_never_held_out_of_a_connected_train_graph() -> None:
    cliques = [(8 * c + i, 8 * c + j) for c in range(2) for i in range(8) for j in range(i)]
    for seed in range(20):
        split = split_edges([*cliques, (0, 8)], test=0.5, validation=0.0, seed=seed, connected=True)
        assert split.graph.components()[0] == 1
        assert (0, 8) in pairs_of(split.edges["train"], split.graph)


def test_negatives_are_drawn_by_degree_and_may_be_arcs_turned_round() -> None:
    """Ten hubs with all edges: uniform negatives seldom have one as an end, those by degree half of the time."""
    rng = np.random.default_rng(0)
    edges = [(hub, int(leaf)) for hub in range(10) for leaf in rng.choice(np.arange(10, 1000), 200, replace=False)]
    splits = (split_edges(edges, test=0.3, negatives_by=by) for by in BY)
    hubs = [np.mean([min(pair) < 10 for pair in pairs_of(split.negatives["test"], split.graph)]) for split in splits]
    assert hubs[0] < 0.1 and hubs[1] > 0.4
    arcs = [(u, v) for u in range(8) for v in range(8) if u < v]
    split = split_edges(arcs, directed=True, test=0.25, validation=0.0)
    turned = [(v, u) in set(arcs) for table in split.negatives.values() for u, v in pairs_of(table, split.graph)]
    assert all(turned) and split.stats["turned"] == len(turned) == 28


RING = [(i, (i + 1) % 10) for i in range(10)]


def test_a_folder_what_is_in_it_and_what_it_does_not_replace(tmp_path: Path) -> None:
    edges = [(f"n {i}", f"n {(i + k) % 12}", float(k)) for i in range(12) for k in (1, 2)]
    split = split_edges(edges, test=0.25)
    for table in ("csv", "parquet"):
        split.save(tmp_path / "split", format=table)  # the second replaces the first
        train = graphrefine.read(tmp_path / "split" / f"train.{table}", nodes=tmp_path / "split" / "nodes.txt")
        assert train.nodes == 12 and edges_of(train) == edges_of(split.graph)
        assert (train.to_scipy() - split.graph.to_scipy()).count_nonzero() == 0
    recipe = json.loads((tmp_path / "split" / "split.json").read_text())
    assert recipe["parts"]["test"] == {"edges": 6, "negatives": 6} and recipe["seed"] == 0
    assert sorted(recipe["files"].values()) == sorted(
        path.name for path in (tmp_path / "split").iterdir() if path.name != "split.json"
    )
    split = split_edges(RING, validation=0)
    split.save(tmp_path / "split")
    (tmp_path / "mine").mkdir()
    for folder, file in (("mine", "thesis.txt"), ("split", "model.pt")):
        (tmp_path / folder / file).write_text("x")
        with pytest.raises(OutputError, match=folder):
            split.save(tmp_path / folder)
        assert (tmp_path / folder / file).read_text() == "x"


def test_the_command(tmp_path: Path) -> None:
    path, output = tmp_path / "ring.csv", tmp_path / "split"
    path.write_text("".join(f"n{u},n{v}\n" for u, v in RING))
    done = works("split", path, "-o", output, "--test", "0.2", "--validation", "0", "--seed", "3")
    assert done.out.split() == ["part", "edges", "negatives", "train", "8", "8", "test", "2", "2"]
    split = split_edges(path, test=0.2, validation=0, seed=3)
    lines = (output / "test.csv").read_text().split()
    assert lines == ["source,target", *(f"{u},{v}" for u, v in pairs_of(split.edges["test"], split.graph))]
    pairs = split.pairs("test")
    assert pairs["edge"].tolist() == [True, True, False, False]
    assert pairs["source"].tolist()[:2] == split.edges["test"]["source"].tolist()
    figures = works("split", path, "-o", output, "--json", "--table", "parquet", "--validation", "0").figures
    assert figures["parts"]["train"]["edges"] == 9 and figures["output"] == str(output)
