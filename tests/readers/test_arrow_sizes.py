"""Arrow and DuckDB and SQLite data that is far more in memory than in its file: refused before the memory is taken."""

from __future__ import annotations

import io
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import graphrefine
from graphrefine.errors import FormatError
from graphrefine.readers import arrow_sizes, databases, limits
from graphrefine.readers.limits import UnpackedError, reading_within
from graphrefine.readers.read import read

ZEROS = pa.table({"source": np.zeros(10**5, np.int64), "target": np.ones(10**5, np.int64)})


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the memory after each 10,000 bytes."""
    monkeypatch.setattr(limits, "UNASKED", 10_000)


def ipc(table: Any, *, stream: bool = False, compression: str | None = None, rows: int | None = None) -> bytes:
    file, options = io.BytesIO(), pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return file.getvalue()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_sizes_are_those_of_the_buffers(stream: bool, compression: str | None) -> None:
    texts = pa.array(["ann", None, "bob"] * 300)
    table = pa.table({"a": texts, "b": texts.dictionary_encode(), "c": [[1.0, 2.0]] * 900, "d": range(900)})
    data = ipc(table, stream=stream, compression=compression, rows=400)
    read_back = (pa.ipc.open_stream if stream else pa.ipc.open_file)(data).read_all()
    sizes = list(arrow_sizes.batch_sizes(memoryview(data)))
    assert sum(sizes) == read_back.get_total_buffer_size() and sum(map(bool, sizes)) == 4


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("stream", [False, True])
def test_packed_buffers_are_refused(tmp_path: Path, stream: bool) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(ipc(ZEROS, stream=stream, compression="zstd"))
    assert path.stat().st_size < 40_000 and read(path).edges == 1
    with reading_within(400_000), pytest.raises(UnpackedError, match=r"a\.arrow: the Arrow data unpacks to more than"):
        read(path)


def test_a_size_that_is_only_stated_takes_no_memory(tmp_path: Path) -> None:
    """A buffer that says that it unpacks to 2^60 bytes."""
    data = ipc(ZEROS, compression="zstd")
    path = tmp_path / "a.arrow"
    path.write_bytes(data.replace(struct.pack("<q", 800_000), struct.pack("<q", 1 << 60)))
    with pytest.raises(FormatError, match=r"a\.arrow: the Arrow data unpacks to more than"):
        read(path)
    path.write_bytes(data[:200] + bytes(100) + data[300:])
    with pytest.raises(FormatError, match=r"a\.arrow: "):
        read(path)


@pytest.mark.usefixtures("little")
def test_a_batch_that_the_footer_names_again_and_again(tmp_path: Path) -> None:
    table = pa.table({"source": range(50), "target": range(1, 51)})
    data = ipc(pa.concat_tables([table] * 2000), rows=50)
    offsets = [at for at in range(0, len(data) - 8, 8) if data[at : at + 4] == b"\xff\xff\xff\xff"]
    blocks = [at for at in offsets if data.count(struct.pack("<q", at)) == 1]
    first, cut = blocks[1], data.rindex(struct.pack("<q", blocks[-1]))
    footer = bytearray(data[offsets[-1] + 8 :])
    for at in blocks[2:]:
        place = footer.find(struct.pack("<q", at))
        footer[place : place + 8] = struct.pack("<q", first)
    assert cut > 0
    path = tmp_path / "a.arrow"
    path.write_bytes(data[: blocks[2]] + b"\xff\xff\xff\xff\0\0\0\0" + bytes(footer))
    assert path.stat().st_size < 60_000
    with reading_within(400_000), pytest.raises(UnpackedError, match="the Arrow data unpacks"):
        read(path)


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("kind", ["codes", "views"])
def test_long_texts_that_are_named_again_and_again(tmp_path: Path, kind: str) -> None:
    long = pa.array(["x" * 10_000, "y"])
    codes = pa.array(np.arange(500) % 2, pa.int32())
    columns = pa.DictionaryArray.from_arrays(codes, long)
    if kind == "views":
        view = struct.pack("<i4sii", 10_000, b"xxxx", 0, 0)
        buffers = [None, pa.py_buffer(view * 500), pa.py_buffer(b"x" * 10_000)]
        try:
            columns = pa.Array.from_buffers(pa.string_view(), 500, buffers)
        except ValueError:
            pytest.skip(f"pyarrow {pa.__version__} takes no buffers of views")
    table = pa.table({"source": columns, "target": [f"n{at}" for at in range(500)]})
    expected = 10_000 * 250 + 250 if kind == "codes" else 10_000 * 500
    assert arrow_sizes.text_bytes(table.column(0)) == expected
    (tmp_path / "a.arrow").write_bytes(ipc(table))
    with reading_within(400_000), pytest.raises(UnpackedError, match="the text of its columns unpacks"):
        read(tmp_path / "a.arrow")


ENDLESS = "with recursive r(a) as (select 1 union all select a + 1 from r) select a as source, a + 1 as target from r"


def write_sqlite(path: Path, view: str) -> Path:
    with closing(sqlite3.connect(path)) as base:
        base.execute(f"create view edges as {view}")
        base.commit()
    return path


@pytest.mark.usefixtures("little")
def test_views_of_sqlite_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = write_sqlite(tmp_path / "rows.db", ENDLESS)
    with reading_within(40_000_000), pytest.raises(UnpackedError, match=r"rows\.db: the table or query unpacks to"):
        read(rows)
    monkeypatch.setattr(databases, "STEPS", 3)
    never = write_sqlite(tmp_path / "never.db", f"{ENDLESS} where a < 0")
    with pytest.raises(FormatError, match=r"never\.db: its table or view takes far longer"):
        read(never)
    long = write_sqlite(tmp_path / "long.db", "select hex(zeroblob(100000000)) as source, 1 as target")
    with pytest.raises(FormatError, match="too big"):
        read(long)
    some = write_sqlite(tmp_path / "some.db", f"{ENDLESS} limit 1000")
    assert read(some).edges == 1000


def test_views_of_duckdb_are_run_if_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    for name, sql in (
        ("rows", f"create view edges as {ENDLESS} limit 1000"),
        ("never", f"create view edges as {ENDLESS} where a < 0"),
        ("computed", "create table edges (source int, target int generated always as (source + 1))"),
    ):
        with duckdb.connect(str(tmp_path / f"{name}.duckdb")) as base:
            base.execute(sql)
        with pytest.raises(FormatError, match=r"'edges' is a view, or has columns that are computed.*query='edges'"):
            read(tmp_path / f"{name}.duckdb")
    assert read(tmp_path / "rows.duckdb", query="edges").edges == 1000
    monkeypatch.setattr(databases, "SECONDS", 0.5)
    with pytest.raises(FormatError, match="takes far longer"):
        read(tmp_path / "never.duckdb", query="edges")


@pytest.mark.usefixtures("little")
def test_rows_of_duckdb_are_held_to_the_memory(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "a.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("create table edges as select 1 as source, 2 as target from range(1000000)")
    with reading_within(4_000_000), pytest.raises(UnpackedError, match=r"a\.duckdb: the table or query unpacks to"):
        read(path)
    assert graphrefine.read(path).edges == 1
