"""An embedding in other packages: pandas, polars, pyarrow, DuckDB; nothing lost, nothing copied that need not be."""

from __future__ import annotations

import sys
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphrefine
from graphrefine import Embedding
from graphrefine.errors import ArgumentWarning, InputError, MissingExtraError

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3)
PEOPLE = Embedding(["ann", "bob", "cy", "dän"], VECTORS, {"seed": 7}, degrees=[1, 2, 3, 4])
NUMBERS = Embedding([30, 10, 20, 0], VECTORS)


@pytest.mark.parametrize("table", [PEOPLE, NUMBERS])
def test_pandas(table: Embedding) -> None:
    frame = table.to_pandas()
    assert frame.index.tolist() == table.names.tolist() and frame.index.name == "node"
    assert frame.columns.tolist() == ["v0", "v1", "v2"] and set(map(str, frame.dtypes)) == {"float32"}
    assert frame.loc[table.names[2]].tolist() == VECTORS[2].tolist()
    assert np.shares_memory(frame.to_numpy(), table.vectors)


@pytest.mark.parametrize("table", [PEOPLE, NUMBERS])
def test_arrow_by_every_door(table: Embedding) -> None:
    expected = [{"node": name, "vector": row.tolist()} for name, row in zip(table.names.tolist(), VECTORS, strict=True)]
    if table.degrees is not None:
        expected = [{**row, "degree": degree} for row, degree in zip(expected, table.degrees.tolist(), strict=True)]
    for arrow in (table.to_arrow(), pa.table(table), pa.RecordBatchReader.from_stream(table).read_all()):
        assert arrow.to_pylist() == expected
        assert arrow.schema.field("vector").type.list_size == 3
    numbers = table.to_arrow()["vector"].chunk(0).flatten().to_numpy(zero_copy_only=True)
    assert np.shares_memory(numbers, table.vectors)


@pytest.mark.parametrize("table", [PEOPLE, NUMBERS])
def test_polars_by_both_doors(table: Embedding) -> None:
    for frame in (table.to_polars(), pl.DataFrame(table)):
        assert frame["node"].to_list() == table.names.tolist()
        assert frame.schema["vector"] == pl.Array(pl.Float32, 3)
        assert np.array_equal(frame["vector"].to_numpy(), VECTORS)


def test_duckdb_finds_the_variable() -> None:
    e: Any = PEOPLE
    rows = duckdb.sql("select node, vector[1] as first from e where degree >= 2 order by node desc").fetchall()
    assert rows == [("dän", 9.0), ("cy", 6.0), ("bob", 3.0)] and e is PEOPLE
    if tuple(map(int, duckdb.__version__.split(".")[:2])) < (1, 5):  # reads such a variable once in a query
        e = PEOPLE.to_arrow()
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
    for package, call in (("pandas", PEOPLE.to_pandas), ("polars", PEOPLE.to_polars), ("pyarrow", PEOPLE.to_arrow)):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(MissingExtraError, match=f"needs the package '{package}'"):
                call()
