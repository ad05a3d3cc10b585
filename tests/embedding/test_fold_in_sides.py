"""`fold_in` of directed and bipartite graphs: both sides, known nodes folded again, bad input, and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import graphrefine
from cli_runs import refuses, works
from graphrefine import Embedding, load
from graphrefine.embedding.side_maps import split_maps
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.linalg import unit_rows

SHOP = Embedding(["ann", "tea", "cake"], [[3, 4], [1, 0], [0, 2]], {"sides": "rows", "sources": 1}, degrees=[2, 1, 1])
ROADS = Embedding(["a", "b"], [[1, 0, 0, 1], [0, 2, 2, 0]], {"sides": "columns"}, degrees=[2, 2])


def tastes(users: int = 500, items: int = 120, groups: int = 6, seed: int = 0) -> sp.csr_array:
    """Users take items of their own group, and few others."""
    rng = np.random.default_rng(seed)
    own, kind = rng.integers(0, groups, users), np.arange(items) % groups
    chance = np.where(own[:, None] == kind, 0.4, 0.03) * rng.uniform(0.3, 1.5, items)
    return sp.csr_array((rng.random((users, items)) < chance).astype(np.float32))


def edges_of(matrix: sp.csr_array) -> list[tuple[str, str]]:
    rows, columns = matrix.nonzero()
    return [(f"user {u}", f"item {i}") for u, i in zip(rows.tolist(), columns.tolist(), strict=True)]


def median_cosine(one: Any, other: Any) -> float:
    return float(np.median(np.einsum("ij,ij->i", unit_rows(np.asarray(one)), unit_rows(np.asarray(other)))))


def test_new_nodes_without_a_map_are_means_of_their_neighbors() -> None:
    new = SHOP.fold_in([("bob", "tea"), ("bob", "cake"), ("ann", "beer")])
    assert new.names.tolist() == ["bob", "beer"] and new.sides == SHOP.sides
    np.testing.assert_allclose(new["bob"], 1.5 * np.sqrt([0.5, 0.5]), rtol=1e-6)
    np.testing.assert_allclose(new["beer"], [3, 4], rtol=1e-6)
    assert new.degrees is not None and new.degrees.tolist() == [2, 1] and new.recipe["learnt"] is False
    new = ROADS.fold_in([("c", "a"), ("b", "c"), ("c", "d"), ("d", "b")])
    assert new.names.tolist() == ["c", "d"] and new.source.shape == (2, 2)
    np.testing.assert_allclose(new.target[0], [0, 2], rtol=1e-6, err_msg="c is reached from b alone")
    assert new.degrees is not None and new.degrees.tolist() == [3, 2]
    np.testing.assert_allclose(
        new.target[1] / np.linalg.norm(new.target[1]), [0, 1], err_msg="d by c, which leads to a"
    )


def test_extended_keeps_sources_above_targets() -> None:
    whole = SHOP.extended(SHOP.fold_in([("bob", "tea"), ("ann", "beer")]))
    assert whole.source_names.tolist() == ["ann", "bob"] and whole.target_names.tolist() == ["tea", "cake", "beer"]
    np.testing.assert_array_equal(whole.target[:2], SHOP.target)
    assert whole.degrees is not None and whole.degrees.tolist() == [2, 1, 1, 1, 1]
    assert ROADS.extended(ROADS.fold_in([("c", "a")])).names.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize("side", [0, 1])
def test_known_nodes_of_a_bipartite_graph_are_folded_to_where_they_are(side: int) -> None:
    edges = edges_of(tastes())
    embedding = graphrefine.embed(edges, dim=16, bipartite=True, learn=True)
    again: list[Any] = [list(edge) for edge in edges if int(edge[side].split()[1]) < 40]
    for edge in again:
        edge[side] = f"new {edge[side]}"
    names = sorted({edge[side] for edge in again})
    recipe = {"sides": "rows", "sources": embedding.sides.start}
    mine, mean = (each.fold_in(again) for each in (embedding, Embedding(embedding.names, embedding.vectors, recipe)))
    true = embedding[[name.removeprefix("new ") for name in names]]
    assert median_cosine(mine[names], true) > 0.98
    assert median_cosine(mine[names], true) >= median_cosine(mean[names], true)
    assert median_cosine(mine[names], true[::-1]) < 0.9, "the control: another's vector"
    ratio = np.linalg.norm(mine[names], axis=1) / np.linalg.norm(true, axis=1)
    assert 0.8 < np.median(ratio) < 1.25


def directed() -> tuple[list[tuple[int, int]], Embedding]:
    matrix = tastes(300, 300, seed=1)
    rows, columns = matrix.nonzero()
    arcs = [(u, v) for u, v in zip(rows.tolist(), columns.tolist(), strict=True) if u != v]
    return arcs, graphrefine.embed(arcs, dim=16, directed=True, learn=True)


def test_known_nodes_of_a_directed_graph_are_folded_to_where_they_are() -> None:
    arcs, embedding = directed()
    nodes = range(0, 40)
    again = [(1000 + u, v) for u, v in arcs if u in nodes] + [(u, 1000 + v) for u, v in arcs if v in nodes]
    folded = embedding.fold_in(again)
    rows = [embedding.index(node) for node in nodes]
    new = [folded.index(1000 + node) for node in nodes]
    assert median_cosine(folded.source[new], embedding.source[rows]) > 0.97
    assert median_cosine(folded.target[new], embedding.target[rows]) > 0.97
    scores, control = (folded.source[new] @ embedding.target.T, embedding.source[rows] @ embedding.target.T)
    assert np.corrcoef(scores.ravel(), control.ravel())[0, 1] > 0.95


def test_a_side_without_arcs_and_of_one_number() -> None:
    arcs, embedding = directed()
    ends = [(u, v) for u, v in arcs if v >= 20]  # nobody leads to the first nodes
    embedding = graphrefine.embed(ends, dim=16, directed=True, learn=True)
    lonely = embedding.target[[embedding.index(node) for node in range(20)]]
    new = embedding.fold_in([("x", 30), ("x", 40)])
    np.testing.assert_allclose(new.target[0], np.median(lonely, axis=0), atol=1e-6)
    embedding = graphrefine.embed([("a", "b"), ("b", "c"), ("a", "c")], 2, directed=True, learn=True)
    assert embedding.fold_map is not None and embedding.fold_map.shape == (16, 1)
    assert split_maps(embedding.fold_map)["source"].length[1] == 0
    assert np.isfinite(embedding.fold_in([("x", "a")]).vectors).all()


def test_maps_are_saved_and_turn_with_the_vectors(tmp_path: Path) -> None:
    arcs, embedding = directed()
    new = [(9000, 3), (5, 9000), (9000, 8)]
    for name in ("e", "e.parquet", "e.safetensors"):
        embedding.save(tmp_path / name)
        np.testing.assert_array_equal(load(tmp_path / name).fold_in(new).vectors, embedding.fold_in(new).vectors)
    other = graphrefine.embed(arcs, dim=16, directed=True, seed=5)
    turned = embedding.align_to(other)
    scores = [each.fold_in(new).source @ each.target.T for each in (embedding, turned)]
    np.testing.assert_allclose(scores[0], scores[1], atol=2e-3)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("ann", "tea")], "'ann' and 'tea' both have vectors already"),
        ([("bob", "tea"), ("bob", "coffee")], "'coffee' is not known, and has no edge"),
        ([("bob", "toe")], r"'bob' \(and 1 more\) is not known"),
        ([("tea", "bob")], "'tea' is a target where a source is expected"),
        ([("beer", "ann")], "'ann' is a source where a target is expected"),
    ],
)
def test_what_cannot_be_folded_is_refused(edges: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SHOP.fold_in(edges)
    assert SHOP.fold_in([("tea", "cake")]).names.tolist() == ["tea"]  # a new source, called as a target is


def test_unknown_nodes_can_be_left_out() -> None:
    with pytest.warns(ArgumentWarning, match="1 edges were left out.*'coffee'"):
        new = SHOP.fold_in([("bob", "tea"), ("bob", "coffee")], unknown="skip")
    assert new.names.tolist() == ["bob"] and new.recipe["skipped"] == {"edges": 1, "nodes": 1, "names": ["coffee"]}


def test_the_command(tmp_path: Path) -> None:
    lines = [f"{user},{item}" for user, item in edges_of(tastes(60, 30))]
    (tmp_path / "bought.csv").write_text("\n".join(lines) + "\n")
    works("embed", tmp_path / "bought.csv", "--bipartite", "--dim", "8", "-o", tmp_path / "shop")
    (tmp_path / "new.csv").write_text("eve,item 1\neve,item 7\nuser 3,a new item\n")
    out = works("fold-in", tmp_path / "new.csv", "--into", tmp_path / "shop", "-o", tmp_path / "all", "--extend")
    assert "2 new nodes x 8 from 3 edges" in out.out
    whole = load(tmp_path / "all")
    assert "eve" in whole.source_names and "a new item" in whole.target_names and len(whole.recommend("eve", 5)) == 5
    (tmp_path / "bad.csv").write_text("user 1,item 1\n")
    refuses("fold-in", tmp_path / "bad.csv", "--into", tmp_path / "shop", "-o", tmp_path / "x",
            folder=tmp_path, expected=("both have vectors already",))  # fmt: skip
