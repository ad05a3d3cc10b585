"""Files that ask for more than they hold: bombs, and sizes that are only stated; refused before any memory is taken."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

import graphrefine
from graphrefine.errors import FormatError
from graphrefine.readers.labels import read_labels
from graphrefine.readers.matrix_files import read_npy, read_sparse_npz
from graphrefine.readers.read import read
from graphrefine.system.memory import PeakMemory
from graphrefine.tables import source as limits
from graphrefine.tables.source import UnpackedError, reading_within

BOMB = b"1 2\n" * 250_000
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "a.txt.gz": gzip.compress,
    "a.txt.bz2": bz2.compress,
    "a.txt.xz": lzma.compress,
    "a.txt.zst": lambda data: bytes(pa.compress(data, "zstd", asbytes=True)),
}


@pytest.fixture
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNASKED", 10_000)  # bytes between two looks at the memory


SAVERS: dict[str, Callable[..., Any]] = {
    "a.mat": lambda path: scipy.io.savemat(path, {"network": np.ones((300, 300))}, do_compression=True),
    "a.npz": lambda path: sp.save_npz(path, sp.csr_array(np.ones((300, 300)))),
    "a.parquet": lambda path: pq.write_table(pa.table({"u": np.zeros(10**6, int), "v": np.ones(10**6, int)}), path),
}


@pytest.mark.usefixtures("_little")
@pytest.mark.parametrize("name", [*PACKERS, *SAVERS])
def test_bombs_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name in SAVERS:
        SAVERS[name](path)
    else:
        path.write_bytes(PACKERS[name](BOMB))
    assert read(path).edges > 0
    readers: list[Callable[[Path], Any]] = [read, read_labels] if name in PACKERS else [read]
    for reader in readers:
        with reading_within(400_000), pytest.raises(UnpackedError, match=rf"{name}: .* unpacks to more than .*memory="):
            reader(path)


@pytest.mark.usefixtures("_little")
def test_a_run_with_a_budget_reads_what_is_too_large_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = "".join(f"{at} {at * 7 % 997}\n" for at in range(4000))
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(lines.encode()))
    whole = graphrefine.embed(path, dim=8, seed=1)
    monkeypatch.setattr(limits, "READING", 10**9)
    with reading_within(4_000_000_000), pytest.raises(UnpackedError):
        read(path)
    pieces = graphrefine.embed(path, dim=8, seed=1, memory="4GB")
    assert np.array_equal(whole.vectors, pieces.vectors)


def test_a_record_without_end_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.ingestion.pieces.LONGEST", 1 << 18)
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"a" * (1 << 22)))
    with pytest.raises(FormatError, match="no record ends within the first"):
        graphrefine.ingest(path, tmp_path / "a.grf")


def npy(shape: tuple[int, ...], *, kind: str = "<f8", body: bytes = b"") -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


@pytest.mark.parametrize(
    "data",
    [
        npy((2**50, 4), body=bytes(64)),
        npy((-1, 4), body=bytes(64)),
        npy((2,), kind="|O", body=bytes(64)),
        npy((2,), kind="<U2", body=b"\xff" * 16),
        npy((1,) * 70, body=bytes(64)),
        b"\x93NUMPY\x01\x00\x05\x00{'a':",
        b"",
    ],
    ids=["more than there is", "negative", "pickles", "no characters", "70 dimensions", "header", "nothing"],
)
def test_a_damaged_array_is_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_npy(data)
    (tmp_path / "a.npy").write_bytes(data or b"x")
    with pytest.raises(FormatError, match=r"a\.npy: this is not a readable file of labels"):
        read_labels(tmp_path / "a.npy")
    with pytest.raises(FormatError, match=r"a\.npy: cannot be read as npy"):
        graphrefine.embed([(0, 1), (1, 2)], features=tmp_path / "a.npy", dim=2)


@pytest.mark.parametrize(
    ("format", "parts"),
    [
        ("csr", {"indices": [1, 9], "indptr": [0, 1, 2, 2]}),
        ("csr", {"indices": [1, 0], "indptr": [0, 900, 900, 0]}),  # which SciPy's full check does not see
        ("bsr", {"indices": [1, 0], "indptr": [0, 900, 900, 0]}),
        ("csc", {"indices": [-1, 0], "indptr": [0, 1, 2, 2]}),
        ("coo", {"row": [0, 5], "col": [0, 1]}),
        ("csr", {"indices": [1, 0], "indptr": [0, 1, 2, 2], "shape": [3, 2**31 - 2]}),
        ("odd", {}),
        ("", {}),
    ],
)
def test_a_sparse_matrix_that_points_outside_is_refused(tmp_path: Path, format: str, parts: dict[str, Any]) -> None:
    data = np.ones((2, 1, 1)) if format == "bsr" else np.ones(2)
    path = tmp_path / "a.npz"
    if format:
        np.savez(path, format=np.array(format.encode()), **{"shape": [3, 3], "data": data, **parts})
    else:
        np.savez(path, data=data)
    with pytest.raises(ValueError, match=r".+"):
        read_sparse_npz(path.read_bytes(), path=str(path))
    with pytest.raises(FormatError, match=r"a\.npz: this is not a sparse matrix"):
        read(path)


def test_stated_rows_take_no_memory(tmp_path: Path) -> None:
    """A sparse matrix of two entries and 2^31 - 2 rows."""
    file: Any = io.BytesIO()
    scipy.io.savemat(file, {"network": sp.csc_array(np.eye(3, k=1))})
    data = file.getvalue()
    at = data.index(struct.pack("<ii", 3, 3))
    (tmp_path / "a.mat").write_bytes(data[:at] + struct.pack("<ii", 2**31 - 2, 3) + data[at + 8 :])
    with PeakMemory() as peak:
        before = peak.look()
        with pytest.raises(FormatError, match="states 2,147,483,649 rows and columns"):
            read(tmp_path / "a.mat", bipartite=True)
    assert peak.bytes - before < 100_000_000


def test_damaged_arrow_files_do_not_end_the_process(tmp_path: Path) -> None:
    """Offsets of strings that lie far outside of the data."""
    table = pa.table({"source": ["ann", "bob", "cy"], "target": ["bob", "cy", "ann"]})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    data = (tmp_path / "a.arrow").read_bytes()
    at = data.index(struct.pack("<iiii", 0, 3, 6, 8))
    (tmp_path / "a.arrow").write_bytes(data[:at] + struct.pack("<iiii", 0, 3, 2**30, 2**31 - 1) + data[at + 16 :])
    with pytest.raises(FormatError, match=r"a\.arrow: this is not a readable arrow file"):
        read(tmp_path / "a.arrow")
