"""Texts of parquet files that stand in far more rows than they are stored: read as far as the memory allows."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphrefine
from graphrefine.errors import FormatError
from graphrefine.readers import arrow, limits, parquet_sizes
from graphrefine.readers.limits import UnpackedError, reading_within
from graphrefine.readers.parquet_sizes import check_pages
from graphrefine.readers.read import read
from graphrefine.readers.thrift import read_struct

NAMES = [f"n{at % 5000}" for at in range(20_000)]


def written(table: Any, **options: Any) -> memoryview:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return memoryview(file.getvalue())


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd", "gzip", "brotli", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_the_longest_text_is_known(codec: str, version: Any) -> None:
    table = pa.table({"a": [*NAMES, "x" * 3000], "b": range(len(NAMES) + 1), "c": [None] * (len(NAMES) + 1)})
    sizes = check_pages("a", written(table, compression=codec, data_page_version=version))
    assert sizes.longest == 3000 and sizes.rows == limits.UNASKED // 3000
    whole = check_pages("a", written(table, compression="none", use_dictionary=False))
    assert whole.longest == 0 and whole.pages >= sum(map(len, NAMES)) + 8 * len(NAMES)
    encoding: Any = {"a": "DELTA_BYTE_ARRAY"}
    shared = check_pages("a", written(table.select(["a"]), use_dictionary=False, column_encoding=encoding))
    assert shared.longest >= 3000


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "zstd", "gzip", "brotli", "lz4"])
@pytest.mark.parametrize("program", ["DuckDB V1", "DuckDB V2", "Polars"])
def test_files_of_other_programs(tmp_path: Path, program: str, codec: str) -> None:
    """Row groups of 4,096 rows, names by dictionaries or as what they do not share: the same graph as by pyarrow."""
    path, table = tmp_path / "a.parquet", pa.table({"source": NAMES, "target": NAMES[7:] + NAMES[:7]})
    if program == "Polars":
        polars = pytest.importorskip("polars")
        polars.from_arrow(table).write_parquet(path, compression=codec, row_group_size=4096, data_page_size=4096)
    else:
        duckdb = pytest.importorskip("duckdb", "1.3", reason="older ones write neither V2 nor all compressions")
        codec, version = codec.replace("lz4", "lz4_raw"), program.split()[1]
        how = f"format parquet, compression {codec}, parquet_version {version}, row_group_size 4096"
        with duckdb.connect() as database:
            database.register("edges", table)
            database.execute(f"COPY edges TO '{path}' ({how})")
    data = memoryview(path.read_bytes())
    assert check_pages("a", data).pages > 0
    graph, expected = read(path), read(table)
    assert graph.names.tolist() == expected.names.tolist() and (graph.indices == expected.indices).all()


def long_table(rows: int) -> Any:
    long = pa.DictionaryArray.from_arrays(np.arange(rows, dtype=np.int32) % 2, pa.array(["x" * 50_000, "y" * 50_000]))
    return pa.table({"source": long, "target": [f"n{at}" for at in range(rows)]})


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the memory after each 100,000 bytes."""
    for module in (limits, parquet_sizes, arrow):
        monkeypatch.setattr(module, "UNASKED", 100_000)


@pytest.mark.usefixtures("little")
def test_a_long_text_in_every_row_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(long_table(4000), path, store_schema=False)
    assert path.stat().st_size < 60_000
    with reading_within(4_000_000), pytest.raises(UnpackedError, match=r"a\.parquet: the text of its columns unpacks"):
        read(path)
    monkeypatch.setattr(limits, "READING", 1000)
    with pytest.raises(FormatError, match=r"a\.parquet: the text of its columns unpacks .*; shorten its names"):
        graphrefine.ingest(path, tmp_path / "a.grf", memory="300MB")


@pytest.mark.usefixtures("little")
def test_long_texts_that_fit_are_read_in_small_steps(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(long_table(40), path, store_schema=False)
    with reading_within(12_000_000):
        graph = read(path)
    assert graph.edges == 40 and sorted(map(len, graph.names.tolist()))[-2:] == [50_000, 50_000]


@pytest.mark.usefixtures("little")
def test_a_page_that_unpacks_to_more_than_its_rows_is_refused(tmp_path: Path) -> None:
    """One text of ten megabytes, packed."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"source": ["x" * 10**7], "target": ["b"]}), path, compression="zstd", use_dictionary=False)
    with reading_within(4_000_000), pytest.raises(UnpackedError, match="unpacks to more than"):
        read(path)


def test_damaged_headers_of_pages_are_refused() -> None:
    data = written(pa.table({"a": NAMES}), compression="none")
    for junk in (b"\xff" * 40, b"\x1c" * 40_000):
        changed = bytearray(data)
        changed[4 : 4 + len(junk)] = junk
        with pytest.raises(ValueError, match=r"damaged|has no end|are not known"):
            check_pages("a", memoryview(bytes(changed)))


def test_a_damaged_footer_does_not_end_the_process(tmp_path: Path) -> None:
    """Each byte of the footer changed in turn: pyarrow's own view of columns ends the process at some of them."""
    data = bytes(written(pa.table({"source": ["a", "b"], "target": ["b", "c"]}), compression="none"))
    size = int.from_bytes(data[-8:-4], "little")
    path, refusals = tmp_path / "a.parquet", 0
    for at in range(len(data) - 8 - size, len(data), 3):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
        try:
            read(path)
        except FormatError:
            refusals += 1
    assert refusals > 20


@pytest.mark.parametrize("kind", [b"\xf6", b"\xf1", b"\xf7"])
def test_lists_of_more_values_than_bytes_are_refused_at_once(kind: bytes) -> None:
    """Of integers, of flags and of numbers, none of which needs to be there to be counted."""
    with pytest.raises(ValueError, match="announces 4,294,967,295 values, more than there are bytes"):
        read_struct(memoryview(b"\x19" + kind + b"\xff\xff\xff\xff\x0f" + bytes(8)), 0)
