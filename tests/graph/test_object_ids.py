"""Nodes that are neither all integers nor all strings: they come back as they went in, in every run alike."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine import Embedding, embed, load
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.graph import Graph, store
from graphrefine.graph.node_ids import add_nodes, identities, number, object_array, order_key, sort_rows
from graphrefine.readers.read import read
from graphs import check
from strategies import PATIENT

SCALARS = (
    st.integers(-5, 5)
    | st.text("abc", max_size=2)
    | st.floats(allow_nan=False, width=16)
    | st.dates()
    | st.binary(max_size=2)
)
OBJECTS = st.recursive(SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=4)


@PATIENT
@given(st.lists(st.tuples(OBJECTS, OBJECTS), min_size=1, max_size=12), st.randoms(use_true_random=False))
def test_any_objects_come_back_in_an_order_that_is_not_that_of_the_edges(edges: list[Any], random: Any) -> None:
    edges = [*edges, ((0, "start"), (0, "end"))]
    nodes = {node for edge in edges for node in edge}
    graph = read(edges)
    check(graph)
    assert set(graph.names.tolist()) == nodes
    assert len(graph.names) == len(nodes)
    shuffled = [edge[::-1] if random.random() < 0.5 else edge for edge in edges]
    random.shuffle(shuffled)
    again = read(shuffled)
    assert again.names.tolist() == graph.names.tolist()
    assert list(map(type, again.names.tolist())) == list(map(type, graph.names.tolist()))
    lookup = Embedding(graph.names, np.arange(len(nodes), dtype=np.float32)[:, None])
    assert [lookup[node][0] for node in graph.names.tolist()] == list(range(len(nodes)))


def test_the_order_is_by_type_then_by_value() -> None:
    nodes = [date(2024, 2, 1), date(2023, 5, 5), 2, -1, 0.5, "b", "a", (1, "x"), (0, "y"), ("z",), Fraction(1, 3)]
    nodes += [frozenset({"b", "a"}), frozenset({"a"}), None, True, datetime(2020, 1, 1, tzinfo=UTC)]
    graph = read([(node, "hub") for node in nodes])
    assert graph.names.tolist() == [
        Fraction(1, 3), True, date(2023, 5, 5), date(2024, 2, 1), datetime(2020, 1, 1, tzinfo=UTC), 0.5,
        frozenset({"a"}), frozenset({"a", "b"}), -1, 2, "a", "b", "hub", (0, "y"), (1, "x"), ("z",),
    ]  # fmt: skip
    assert graph.report["missing"] == 1


def test_integers_strings_and_further_nodes_keep_their_types() -> None:
    assert read([(np.int32(3), 1), (np.uint8(2), 3)]).names.dtype == np.int64
    assert read([("b", np.str_("a"))]).names.tolist() == ["a", "b"]
    assert set(map(type, read([("b", np.str_("a"))]).names)) == {str}
    assert read([(1, 2.0), (2, 3.0)]).names.dtype == np.int64  # as tables make floats of integers
    assert read([(1.0, 2.5)]).names.tolist() == [1.0, 2.5]
    assert read([(2**70, 1)]).names.tolist() == [1, 2**70]
    assert Graph.from_edges(["a", 1], [1, "c"]).names.tolist() == [1, "a", "c"]
    assert Graph.from_edges([(0, 1)], [(1, 1)]).names.tolist() == [(0, 1), (1, 1)]
    assert Graph.from_matrix([[0, 1], [1, 0]], names=[(0, 1), "b"]).names.tolist() == [(0, 1), "b"]
    assert read([(1, 2)], nodes=["x", (0, 0)]).names.tolist() == [1, 2, "x", (0, 0)]
    with pytest.raises(InputError, match="the ids 1 and '1' are both written '1'"):
        read([(1, 2)], nodes=["1"])
    both = number(np.array([1]), np.array([2]))
    assert add_nodes(both, object_array(["x"]), text=True)[2].tolist() == ["1", "2", "x"]  # names of a file


def test_identities_are_the_same_in_every_process() -> None:
    code = (
        "from graphrefine import read; from graphrefine.graph.node_ids import identities;"
        "names = read([(frozenset('abcdef'), ('x', 1)), (0.5, 'word')]).names;"
        "print(names.tolist()[0], identities(names).tolist())"
    )
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2", "3")]
    assert len({subprocess.check_output([sys.executable, "-c", code], env=each) for each in environments}) == 1
    names = object_array(["word", (0, 1)])
    assert identities(names)[0] == identities(object_array(["word", "other"]))[0]  # type: ignore[index]


@pytest.fixture(scope="module")
def grid() -> Embedding:
    edges = [((u, v), (u + du, v + dv)) for u in range(6) for v in range(5) for du, dv in ((0, 1), (1, 0))]
    return embed(edges, dim=4, learn=True)


def test_an_embedding_answers_and_grows_by_node_objects(grid: Embedding) -> None:
    assert grid[(0, 1)].tolist() == grid.vectors[grid.index((0, 1))].tolist()
    nearest = grid.neighbors((0, 1), k=2)
    assert all(isinstance(near.node, tuple) and near.node in grid for near in nearest)
    assert grid.neighbors([(0, 1)], k=2) == [nearest]
    assert len(grid.neighbors([(0, 1), (2, 2)], k=1)) == 2
    assert isinstance(grid.score((0, 1), (0, 2)), float)
    assert grid.score((0, 1), [(0, 2), (1, 1)]).shape == (2,)
    assert grid.score((0, 1)).shape == (len(grid),)
    assert {name for name, _ in grid.recommend((0, 1), 3, exclude=[(0, 0)])} <= set(grid) - {(0, 1), (0, 0)}
    with pytest.raises(InputError, match=r"\(9, 9\)"):
        grid[(9, 9)]
    with pytest.raises(InputError, match=r"\(0, 1\)"):
        grid.neighbors((0, 0), candidates=(0, 1))
    assert repr(grid).startswith("Embedding(41 nodes x 4, names (0, 0) ... (6, 4)")
    new = grid.fold_in([("annex", (0, 1)), ("annex", (0, 0))])
    assert new.names.tolist() == ["annex"]
    whole = grid.extended(new)
    assert whole["annex"].tolist() == new.vectors[0].tolist()
    assert whole.names.tolist()[-2:] == [(6, 4), "annex"]
    aligned = whole.align_to(grid)
    assert aligned.recipe["aligned"]["shared"] == 41
    assert np.allclose(aligned.vectors, whole.vectors, atol=1e-5)
    mixed, whole = Embedding([1, "a"], [[1], [2]]), Embedding([1, 2], [[1], [2]])
    assert [key in mixed for key in (True, 1, 1.0, [1], (1, [2]))] == [False, True, True, False, False]
    assert [key in whole for key in (True, 1.0)] == [False, False]


def test_vectors_depend_on_the_names_as_those_of_strings_do() -> None:
    edges = [(u, v) for u in range(12) for v in range(u) if (u * v) % 5 < 2]
    by_tuple = embed([((u, "n"), (v, "n")) for u, v in edges], dim=3)
    again = embed([((v, "n"), (u, "n")) for u, v in reversed(edges)], dim=3)
    assert np.array_equal(by_tuple.vectors, again.vectors)
    assert sort_rows(by_tuple.names).tolist() == list(range(len(by_tuple)))
    assert order_key((2, "n")) < order_key((10, "n"))


@pytest.mark.parametrize("suffix", ["", ".npz", ".parquet", ".arrow", ".safetensors", ".vec", ".csv"])
def test_files_hold_the_text_of_node_objects_and_a_warning_says_so(suffix: str, tmp_path: Path) -> None:
    mixed = Embedding([(0, 1), 7, "word"] if suffix != ".vec" else [0.5, 7, "word"], [[1, 0], [0, 1], [1, 1]])
    first = str(mixed.names[0])
    with pytest.warns(ArgumentWarning, match=f"are written as text, '{re.escape(first)}', and come back so"):
        mixed.save(tmp_path / f"mixed{suffix}")
    stored = load(tmp_path / f"mixed{suffix}")
    assert stored.names.tolist() == [first, "7", "word"]
    assert np.array_equal(stored.vectors, mixed.vectors)


def test_two_names_of_one_text_are_not_saved_and_graphs_store_texts(tmp_path: Path) -> None:
    same = Embedding([1, "1"], [[1], [2]])
    with pytest.warns(ArgumentWarning), pytest.raises(InputError, match="the names 1 and '1' are both written '1'"):
        same.save(tmp_path / "same.npz")
    assert not (tmp_path / "same.npz").exists()
    sides = Embedding([1, "1"], [[1], [2]], {"sides": "rows", "sources": 1})
    with pytest.warns(ArgumentWarning, match="as text"):
        sides.save(tmp_path / "sides.npz")
    assert load(tmp_path / "sides.npz").names.tolist() == ["1", "1"]
    store(read([((0, 1), "a"), ("a", 2.5)]), tmp_path / "odd.grf")
    assert read(tmp_path / "odd.grf").names.tolist() == ["2.5", "a", "(0, 1)"]
