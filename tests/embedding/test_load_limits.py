"""Files of vectors that ask for more than they hold: refused before the memory is taken, and in linear time."""

from __future__ import annotations

import gzip
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import graphrefine
from graphrefine.embedding.formats import csv_file
from graphrefine.errors import FormatError
from graphrefine.tables import source as limits
from graphrefine.tables.source import UnpackedError, reading_within

ROWS, DIM = 20_000, 16


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the memory after each 10,000 bytes."""
    monkeypatch.setattr(limits, "UNASKED", 10_000)


def zeros() -> Any:
    numbers = pa.array(np.zeros(ROWS * DIM, np.float32))
    return pa.table({"node": range(ROWS), "vector": pa.FixedSizeListArray.from_arrays(numbers, DIM)})


def write_bomb(path: Path) -> None:
    match "".join(path.suffixes):
        case ".npz":
            np.savez_compressed(path, vectors=np.zeros((ROWS, DIM), np.float32))
        case ".parquet":
            pq.write_table(zeros(), path)
        case ".arrow":
            with pa.ipc.new_file(str(path), zeros().schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
                file.write_table(zeros())
        case _:
            lines = [b"node," + b",".join(b"v%d" % at for at in range(DIM)), *([b"1" + b",0" * DIM] * ROWS), b""]
            path.write_bytes(gzip.compress(b"\n".join(lines)))


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".arrow", ".csv.gz"])
def test_bombs_are_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    write_bomb(path)
    assert path.stat().st_size < 200_000
    with reading_within(1_000_000), pytest.raises(UnpackedError, match=rf"a{suffix}: .*unpacks to more than"):
        graphrefine.load(path)
    if suffix != ".csv.gz":  # where all nodes have one name
        assert len(graphrefine.load(path)) == ROWS


def test_a_quote_that_is_never_closed_takes_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'node,v0\n"' + b"a,1\n" * 200_000)
    start = process_time()
    with pytest.raises(FormatError, match="cut short or damaged"):
        graphrefine.load(path)
    assert process_time() - start < 5.0  # it was minutes


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "LONGEST", 10_000)
    path = tmp_path / "a.csv"
    path.write_bytes(b"node,v0\n" + b"1" * 20_000)
    with pytest.raises(FormatError, match="a line is longer than 10,000 bytes"):
        graphrefine.load(path)
