"""Tables of answers: rows and columns, files that other libraries read back, and other packages' frames."""

from __future__ import annotations

import csv
import json
import string
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.display.table import Table, check_table_path
from graphrefine.errors import InputError

NAMES = ["ann", 'b"o,b', "line\nbreak", "ünï"]
SCORES = np.array([0.1, -2.5, 1e-9, np.nan], np.float32)
COUNTS = [1, 2, 3, 2**40]


@pytest.fixture
def table() -> Table:
    return Table({"node": NAMES, "score": SCORES, "count": COUNTS}, {"k": 3})


def test_rows_columns_and_parts(table: Table) -> None:
    assert table[1] == ('b"o,b', -2.5, 2) and table[-1].count == 2**40
    assert [row.node for row in table] == NAMES
    assert table["score"] is SCORES, "no copy"
    assert table[1:3].to_dict() == {"node": NAMES[1:3], "score": [-2.5, float(SCORES[2])], "count": [2, 3]}
    assert table[table["count"] > 2]["node"].tolist() == NAMES[2:]
    assert table[[2, 0]].stats == {"k": 3}
    assert table[:3] == Table({"node": NAMES[:3], "score": SCORES[:3], "count": COUNTS[:3]}) != table[:2]
    assert Table({"node": [(0, 1), "x", 7]}).to_arrow()["node"].to_pylist() == ["(0, 1)", "x", "7"]
    with pytest.raises(KeyError, match="did you mean 'node'"):
        table["nod"]
    with pytest.raises(InputError, match=r"'a': 1, 'b': 2"):
        Table({"a": [1], "b": [1, 2]})


@pytest.mark.parametrize(("suffix", "delimiter"), [(".csv", ","), (".tsv", "\t")])
def test_text_is_read_back_by_the_standard_library(table: Table, tmp_path: Path, suffix: str, delimiter: str) -> None:
    table.save(tmp_path / f"t{suffix}")
    with (tmp_path / f"t{suffix}").open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file, delimiter=delimiter)
    assert header == ["node", "score", "count"] and [line[0] for line in lines] == NAMES
    assert [line[1] for line in lines] == ["0.1", "-2.5", "1e-09", ""], "a float32 is as short as it can be"
    assert [int(line[2]) for line in lines] == COUNTS


def test_parquet_arrow_and_json_lines_hold_the_same(table: Table, tmp_path: Path) -> None:
    for suffix in (".parquet", ".arrow", ".jsonl"):
        table.save(tmp_path / f"t{suffix}")
    for read in (pyarrow.parquet.read_table(tmp_path / "t.parquet"), pa.ipc.open_file(tmp_path / "t.arrow").read_all()):
        assert read["node"].to_pylist() == NAMES and read["count"].to_pylist() == COUNTS
        assert read.schema.field("score").type == pa.float32()
        np.testing.assert_array_equal(read["score"].to_numpy(), SCORES)
    records = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert records == table.records() and records[3] == {"node": "ünï", "score": None, "count": 2**40}


def test_frames_of_other_packages(table: Table) -> None:
    frames: list[Any] = [table.to_pandas(), table.to_polars(), pl.DataFrame(table), pa.table(table)]
    for frame in frames:
        assert list(frame["node"].to_numpy()) == NAMES, type(frame)
        np.testing.assert_array_equal(frame["score"].to_numpy(), SCORES)
    assert isinstance(frames[0], pd.DataFrame) and isinstance(frames[1], pl.DataFrame)


@given(st.lists(st.tuples(st.text(string.printable + "é☃"), st.floats(width=32, allow_nan=False)), min_size=1))
def test_any_table_survives_csv_and_parquet(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("any")
    names, values = zip(*rows, strict=True)
    table = Table({"node": names, "value": np.array(values, np.float32)})
    table.save(folder / "t.csv")
    table.save(folder / "t.parquet")
    with (folder / "t.csv").open(newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    assert [line[0] for line in lines] == list(names)
    assert np.array([line[1] for line in lines]).astype(np.float32).tolist() == list(values)
    assert pyarrow.parquet.read_table(folder / "t.parquet").to_pydict() == table.to_dict()


def test_an_output_that_cannot_be_is_refused_and_nothing_is_left(table: Table, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'\.xlsx'"):
        table.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match=r"did you mean '\.parquet'"):
        check_table_path("t.paquet")
    assert list(tmp_path.iterdir()) == []


def test_it_shows_its_first_rows_and_escapes_names(table: Table) -> None:
    long = Table({"node": ["<b>", *range(20)], "score": np.linspace(0, 1, 21)})
    html = long._repr_html_()
    assert "&lt;b&gt;" in html and "<b>" not in html and "21 rows" in html and "the first 10" in html
    assert repr(long).splitlines()[0].split() == ["node", "score"] and repr(long).endswith("... 21 rows")
    assert repr(table).splitlines()[1].split() == ["ann", "0.1", "1"]
