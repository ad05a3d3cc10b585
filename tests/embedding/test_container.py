"""An embedding as a container: arrays, dicts, keys, equality, copies, pickles, and frames of other packages."""

from __future__ import annotations

import copy
import pickle
import sys
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from graphrefine import Embedding
from graphrefine.errors import ArgumentWarning, InputError, MissingExtraError, UnknownNameError

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)
PEOPLE = Embedding(["ann", "bob", "cy", "dan"], VECTORS, {"seed": 7}, degrees=[1, 2, 3, 4])
NUMBERS = Embedding([30, 10, 20, 0], VECTORS)
ROWS = Embedding(None, VECTORS)
SIDES = Embedding(["a", "b", "a", "c"], VECTORS, {"sides": "rows", "sources": 2})


def grid() -> Embedding:
    return Embedding([(0, 0), (0, 1), date(2020, 1, 1), "x"], VECTORS)


def test_numpy_gets_the_vectors_without_a_copy() -> None:
    array = np.asarray(PEOPLE)
    assert np.shares_memory(array, PEOPLE.vectors) and array.shape == PEOPLE.shape == (4, 3)
    assert np.array_equal(array, VECTORS)
    assert np.array_equal(np.linalg.norm(PEOPLE, axis=1), np.linalg.norm(VECTORS, axis=1))
    assert not np.shares_memory(np.array(PEOPLE), PEOPLE.vectors)
    assert np.shares_memory(np.asarray(PEOPLE, copy=False), PEOPLE.vectors)
    assert np.asarray(PEOPLE, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="as float64 they need a copy"):
        np.asarray(PEOPLE, np.float64, copy=False)
    assert np.array_equal(PEOPLE @ np.ones((3, 1)), VECTORS.sum(axis=1, keepdims=True))
    array = np.from_dlpack(PEOPLE)
    assert np.shares_memory(array, PEOPLE.vectors) and array.tolist() == VECTORS.tolist()
    assert PEOPLE.__dlpack_device__() == VECTORS.__dlpack_device__()


def test_dlpack_of_mapped_vectors_is_read_only_or_refused(tmp_path: Path) -> None:
    PEOPLE.save(tmp_path / "people")
    mapped = graphrefine.load(tmp_path / "people")
    assert not mapped.vectors.flags.writeable
    with pytest.raises(BufferError):
        mapped.__dlpack__()  # the older form of the protocol cannot say that memory is read-only
    if np.lib.NumpyVersion(np.__version__) < "2.1.0":  # has the older form alone
        return
    newer = np.from_dlpack(mapped)
    assert newer.tolist() == VECTORS.tolist() and not newer.flags.writeable


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("cy", 2),
        (["dan", "ann"], [3, 0]),
        (["ann", "ann"], [0, 0]),
        ([], []),
        (np.array(["bob", "cy"]), [1, 2]),
        (pd.Series(["dan", "bob"], index=[7, 3]), [3, 1]),
        (pl.Series(["dan", "bob"]), [3, 1]),
        (dict.fromkeys(["dan", "bob"]).keys(), [3, 1]),
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        (np.array([True, False, False, True]), [0, 3]),
        ([True, False, False, True], [0, 3]),
        (pd.Series([False, True, False, False], index=["ann", "bob", "cy", "dan"]), [1]),
        (pl.Series([False, True, False, False]), [1]),
        (np.array([-1, 1], np.int32), [3, 1]),
        (np.array([], np.int64), []),
    ],
)
def test_keys_of_strings(key: Any, rows: Any) -> None:
    assert np.array_equal(PEOPLE[key], VECTORS[rows]) and PEOPLE[key].dtype == np.float32


def test_integers_and_objects_are_names_and_never_rows() -> None:
    assert NUMBERS[0].tolist() == VECTORS[3].tolist() == NUMBERS[np.int64(0)].tolist() == NUMBERS[np.array(0)].tolist()
    assert np.array_equal(NUMBERS[[0, 30]], VECTORS[[3, 0]])
    assert np.array_equal(NUMBERS[pd.Series([10, 0])], VECTORS[[1, 3]])
    assert np.array_equal(NUMBERS[1:], VECTORS[1:]) and np.array_equal(NUMBERS[np.arange(4) > 2], VECTORS[3:])
    assert np.array_equal(ROWS[np.array([2, 0])], VECTORS[[2, 0]]), "where names are rows, both are meant"
    table = grid()
    assert table[(0, 1)].tolist() == VECTORS[1].tolist() == table[0, 1].tolist()
    assert np.array_equal(table[[(0, 1), "x"]], VECTORS[[1, 3]])
    assert np.array_equal(table[[True, False, False, True]], VECTORS[[0, 3]])
    assert np.array_equal(table[np.array([3, 1])], VECTORS[[3, 1]])
    assert table[date(2020, 1, 1)].tolist() == VECTORS[2].tolist()


@pytest.mark.parametrize(
    ("table", "key", "problem"),
    [
        (NUMBERS, np.array([0, 10]), r"may hold names or rows.*embedding\[array\.tolist\(\)\].*vectors\[array\]"),
        (PEOPLE, np.array([0, 4]), "row 4 is not there; the rows are 0 to 3"),
        (PEOPLE, slice("ann", "cy"), "a slice counts rows, and 'ann' is no number"),
        (PEOPLE, ("ann", "bob"), r"\('ann', 'bob'\) is no node; for several nodes give a list"),
        (PEOPLE, (slice(None), 0), r"for rows and columns take embedding\.vectors"),
        (PEOPLE, {"ann", "bob"}, "give a list"),
        (PEOPLE, [True, False], "a mask of 2 truth values does not fit 4 nodes"),
        (PEOPLE, np.ones((4, 3), bool), r"shape \(4, 3\).*one axis"),
        (PEOPLE, pd.Series([True] * 4, index=["dan", "cy", "bob", "ann"]), r"mask\.reindex\(embedding\.names\)"),
        (SIDES, "a", "'a' is a name on both sides"),
    ],
)
def test_keys_that_may_be_meant_otherwise_are_refused(table: Embedding, key: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        table[key]
    assert not isinstance(caught.value, KeyError)


@pytest.mark.parametrize(
    ("table", "key", "problem"),
    [
        (PEOPLE, "anna", "no node is called 'anna'; similar names: ann"),
        (PEOPLE, ["ann", "x", "y"], "'x'.*2 of 3 names are unknown, such as 'x', 'y'"),
        (PEOPLE, 2, r"names are strings, such as 'ann'; row 2 is vectors\[2\]"),
        (PEOPLE, [0, 1], "names are strings"),
        (PEOPLE, None, "no node is called None"),
        (PEOPLE, 2.5, "no node is called 2.5"),
        (NUMBERS, 5, "no node is called 5"),
        (NUMBERS, "30", "names are integers"),
        (grid(), (9, 9), r"no node is called \(9, 9\); names are such as \(0, 0\)"),
    ],
)
def test_an_unknown_name_is_a_key_error_and_ours(table: Embedding, key: Any, problem: str) -> None:
    with pytest.raises(KeyError, match=problem) as caught:
        table[key]
    assert isinstance(caught.value, InputError) and isinstance(caught.value, UnknownNameError)
    assert str(caught.value).startswith("no node is called"), "no quotes around the message"


@given(st.lists(st.integers(-50, 50), unique=True, min_size=1), st.data())
def test_any_key_is_what_numpy_gives_by_the_rows_of_names(names: list[int], data: st.DataObject) -> None:
    table = Embedding(names, np.arange(len(names))[:, None])
    some = data.draw(st.lists(st.sampled_from(names)))
    assert table[some].ravel().tolist() == [names.index(name) for name in some]
    cut = data.draw(st.slices(len(names)))
    assert table[cut].ravel().tolist() == list(range(len(names)))[cut]
    mask = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    assert table[mask].ravel().tolist() == [row for row, there in enumerate(mask) if there]


def test_as_a_dict() -> None:
    assert list(PEOPLE) == list(PEOPLE.keys()) == ["ann", "bob", "cy", "dan"] and len(PEOPLE.keys()) == 4
    assert "ann" in PEOPLE.keys() and "x" not in PEOPLE.keys()  # noqa: SIM118  the view is meant
    assert PEOPLE.values() is PEOPLE.vectors
    for vectors in (dict(PEOPLE.items()), dict(PEOPLE), PEOPLE.to_dict()):
        assert list(vectors) == list(PEOPLE) and np.array_equal(np.stack(list(vectors.values())), VECTORS)
    assert np.shares_memory(PEOPLE.to_dict()["cy"], PEOPLE.vectors)
    assert PEOPLE.get("cy").tolist() == VECTORS[2].tolist()
    assert PEOPLE.get("x") is None and PEOPLE.get("x", 5) == 5 and PEOPLE.get(3) is None
    with pytest.raises(InputError, match="one name is expected"):
        PEOPLE.get(["ann"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'a' is a name on both sides"):
        SIDES.to_dict()
    assert [SIDES.get("a", side=side).tolist() for side in ("source", "target")] == VECTORS[[0, 2]].tolist()
    assert SIDES.get("b").tolist() == VECTORS[1].tolist() and SIDES.get("c", side="source") is None
    assert len(list(SIDES.items())) == 4


def changed(**parts: Any) -> Embedding:
    whole: dict[str, Any] = {"names": PEOPLE.names, "vectors": VECTORS, "recipe": {"seed": 7}, "degrees": [1, 2, 3, 4]}
    return Embedding(**{**whole, **parts})


def test_equality_is_by_content() -> None:
    assert changed() == PEOPLE
    other: list[NDArray[Any]] = [VECTORS[:, :2], VECTORS[::-1], np.where(VECTORS == 11, 12, VECTORS)]
    assert all(changed(vectors=vectors) != PEOPLE for vectors in other)
    assert changed(names=["ann", "bob", "cy", "eve"]) != PEOPLE != changed(recipe={"seed": 8})
    assert changed(degrees=[1, 2, 3, 5]) != PEOPLE != changed(degrees=None)
    assert changed(degree_weight=0.5) != PEOPLE
    assert Embedding(["1", "2"], [[1], [2]]) != Embedding([1, 2], [[1], [2]])
    assert PEOPLE != "ann" and PEOPLE is not None and np.equal(PEOPLE, VECTORS).all()
    with pytest.raises(TypeError, match="unhashable"):
        hash(PEOPLE)


@pytest.mark.parametrize("table", [PEOPLE, SIDES, grid()])
def test_copies_and_pickles_are_equal_and_answer(table: Embedding) -> None:
    assert "x" in table or "x" not in table  # fills the lookup
    for same in (copy.copy(table), copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert same == table and type(same) is Embedding and "lookup" not in same.__dict__
        name = table.names[3]
        assert same[name].tolist() == table[name].tolist() and same.neighbors(name, 1) == table.neighbors(name, 1)
    deep = copy.deepcopy(table)
    deep.vectors[0, 0] = 99
    assert deep != table and np.shares_memory(copy.copy(table).vectors, table.vectors)


FRIENDS = Embedding(["ann", "bob", "cy", "dän"], VECTORS, {"seed": 7}, degrees=[1, 2, 3, 4])


@pytest.mark.parametrize("table", [FRIENDS, NUMBERS])
def test_frames_of_other_packages(table: Embedding) -> None:
    frame = table.to_pandas()
    assert frame.index.tolist() == table.names.tolist() and frame.index.name == "node"
    assert frame.columns.tolist() == ["v0", "v1", "v2"] and set(map(str, frame.dtypes)) == {"float32"}
    assert frame.loc[table.names[2]].tolist() == VECTORS[2].tolist()
    assert np.shares_memory(frame.to_numpy(), table.vectors)
    expected = [{"node": name, "vector": row.tolist()} for name, row in zip(table.names.tolist(), VECTORS, strict=True)]
    if table.degrees is not None:
        expected = [{**row, "degree": degree} for row, degree in zip(expected, table.degrees.tolist(), strict=True)]
    for arrow in (table.to_arrow(), pa.table(table), pa.RecordBatchReader.from_stream(table).read_all()):
        assert arrow.to_pylist() == expected
        assert arrow.schema.field("vector").type.list_size == 3
    numbers = table.to_arrow()["vector"].chunk(0).flatten().to_numpy(zero_copy_only=True)
    assert np.shares_memory(numbers, table.vectors)
    for polars in (table.to_polars(), pl.DataFrame(table)):
        assert polars["node"].to_list() == table.names.tolist()
        assert polars.schema["vector"] == pl.Array(pl.Float32, 3)
        assert np.array_equal(polars["vector"].to_numpy(), VECTORS)


def test_duckdb_finds_the_variable() -> None:
    e: Any = FRIENDS
    rows = duckdb.sql("select node, vector[1] as first from e where degree >= 2 order by node desc").fetchall()
    assert rows == [("dän", 9.0), ("cy", 6.0), ("bob", 3.0)] and e is FRIENDS
    if tuple(map(int, duckdb.__version__.split(".")[:2])) < (1, 5):  # reads such a variable once in a query
        e = FRIENDS.to_arrow()
    nearest = duckdb.sql(
        "select b.node from e a, e b where a.node = 'ann' and b.node <> 'ann' "
        "order by array_distance(a.vector, b.vector) limit 1"
    ).fetchall()
    assert nearest == [("bob",)]


def test_parquet_of_pyarrow_is_the_whole_embedding(tmp_path: Path) -> None:
    edges = [(f"n{i}", f"n{(i * 3 + 1) % 30}") for i in range(30)]
    embedding = graphrefine.embed(edges, dim=4, learn=True)
    pq.write_table(pa.table(embedding), tmp_path / "x.parquet")
    assert graphrefine.load(tmp_path / "x.parquet") == embedding


def test_names_of_other_kinds_are_text_with_a_warning() -> None:
    table = Embedding([(0, 1), date(2020, 1, 1)], [[1], [2]])
    for call in (table.to_arrow, table.to_polars, lambda: pa.table(table)):
        with pytest.warns(ArgumentWarning, match=r"such as \(0, 1\) \(tuple\) are written as text") as caught:
            call()
        assert caught[0].filename == __file__
    assert table.to_pandas().index.tolist() == [(0, 1), date(2020, 1, 1)], "pandas keeps them"
    with pytest.raises(InputError, match=r"an Arrow table: the names .* are both written '1'"), pytest.warns():
        Embedding(["1", 1], [[1], [2]]).to_arrow()
    with pytest.raises(InputError, match="was not valid UTF-8"):
        Embedding(["caf\udce9"], [[1]]).to_arrow()


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for package, call in (("pandas", FRIENDS.to_pandas), ("polars", FRIENDS.to_polars), ("pyarrow", FRIENDS.to_arrow)):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(MissingExtraError, match=f"needs the package '{package}'"):
                call()
