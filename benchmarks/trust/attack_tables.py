"""Attacks in binary files: packed arrays and pages, sizes in headers, texts named again and again, endless views."""

from __future__ import annotations

import json
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attack_kinds import ALLOWED, Attack
from attack_readers import DIM, Write, edge_table, npy_bytes, saved, sparse
from colliding_names import arrow_names

HUGE = 1 << 40
ZEROS = 12 << 10  # rows and columns of a matrix of zeros: 151 MB
ROWS = 40_000_000
NAMES = (4_000, 8_000)
LONG = 1 << 20  # bytes of a text that is named again and again


def bomb(reader: str, make: Write, kind: str = "bomb within", size: int = 1) -> Attack:
    """Packed data, beside an honest file of as many bytes as the budget lets unpack."""
    return Attack(reader, kind, make, (size,), bytes=ALLOWED, like="csv")


def claim(reader: str, make: Callable[[Path], object], kind: str = "claim") -> Attack:
    """A header that states what is not there."""
    return Attack(reader, kind, lambda path, _: make(path), (1,), refused=True)


def npy_claim(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    """An array that states a shape, and has 64 bytes."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(64)


def write_zip(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)


def sparse_parts(**others: bytes) -> dict[str, bytes]:
    """The members of a small matrix of SciPy, some replaced."""
    parts: dict[str, Any] = {"indices": [1, 0], "indptr": [0, 1, 2], "format": b"csr", "shape": [2, 2]}
    parts["data"] = [1.0, 1.0]
    return {name: npy_bytes(np.array(part)) for name, part in parts.items()} | others


def write_mat_zeros(path: Path, _: int) -> None:
    from scipy.io import savemat

    savemat(path, {"network": np.zeros((ZEROS, ZEROS), np.uint8), "group": np.zeros((3, 1))}, do_compression=True)


def write_mat_claim(path: Path) -> None:
    from scipy.io import savemat

    savemat(path, {"network": sparse(200)})
    nodes = sparse(200).shape[0]
    old, new = struct.pack("<ii", nodes, nodes), struct.pack("<ii", 2**31 - 2, nodes)
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def write_hdf5(path: Path, *, filled: bool) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        shape = (ZEROS, ZEROS) if filled else (HUGE, 4)
        data = file.create_dataset("network", shape, "u1", chunks=(1024, min(1024, shape[1])), compression="gzip")
        for at in range(0, ZEROS if filled else 0, 1024):
            data[at : at + 1024] = np.zeros((1024, ZEROS), np.uint8)


def zeros_table(rows: int) -> Any:
    import pyarrow as pa

    return pa.table({"source": np.zeros(rows, np.int32), "target": np.ones(rows, np.int32)})


def long_table(rows: int) -> Any:
    """A text of a megabyte, named by each row; its file has it once."""
    import pyarrow as pa

    long = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int32), pa.array(["x" * LONG]))
    return pa.table({"source": long, "target": np.arange(rows)})


def vector_table(rows: int) -> Any:
    import pyarrow as pa

    vectors = pa.FixedSizeListArray.from_arrays(np.zeros(rows * DIM, np.float32), DIM)
    return pa.table({"node": np.arange(rows), "vector": vectors})


def parquet(make: Callable[[int], Any], rows: int) -> Write:
    """A writer of a table whose pages are packed."""

    def write(path: Path, _: int) -> None:
        import pyarrow.parquet as pq

        pq.write_table(make(rows), path, compression="zstd", store_schema=False)

    return write


def arrow(make: Callable[[int], Any], rows: int) -> Write:
    """A writer of a table whose buffers are packed."""

    def write(path: Path, _: int) -> None:
        import pyarrow as pa

        table, options = make(rows), pa.ipc.IpcWriteOptions(compression="zstd")
        with pa.ipc.new_file(str(path), table.schema, options=options) as writer:
            writer.write_table(table)

    return write


def write_parquet_claim(path: Path) -> None:
    """A footer that states 2^40 rows."""
    import pyarrow.parquet as pq

    pq.write_table(edge_table(2000), path)
    data, rows = path.read_bytes(), edge_table(2000).num_rows
    at = data.index(b"\x16" + varint(2 * rows), len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
    old, new = b"\x16" + varint(2 * rows), b"\x16" + varint(2 * HUGE)
    size = int.from_bytes(data[-8:-4], "little") + len(new) - len(old)
    path.write_bytes(data[:at] + new + data[at + len(old) : -8] + struct.pack("<I", size) + b"PAR1")


def varint(number: int) -> bytes:
    """A number as thrift writes it, seven bits in a byte."""
    out = bytearray()
    while number > 0x7F:
        out.append(0x80 | (number & 0x7F))
        number >>= 7
    return bytes([*out, number])


def write_arrow_claim(path: Path) -> None:
    """A buffer that says that it unpacks to 2^40 bytes."""
    arrow(zeros_table, 1000)(path, 1)
    path.write_bytes(path.read_bytes().replace(struct.pack("<q", 4000), struct.pack("<q", HUGE)))


def wide_table(columns: int) -> Any:
    import pyarrow as pa

    return pa.table({f"f{at}": pa.array([1]) for at in range(columns)})


def write_wide(path: Path, columns: int) -> None:
    (arrow if path.suffix == ".arrow" else parquet)(wide_table, columns)(path, 1)


@cache
def _names() -> list[str]:
    return [name.decode() for name in arrow_names(NAMES[1])]


def write_names(path: Path, size: int) -> None:
    """Names that collide in pyarrow's hash, in the form of the file."""
    import pyarrow as pa

    names = _names()[:size]
    table = pa.table({"source": names, "target": names[1:] + names[:1]})
    if path.suffix == ".duckdb":
        import duckdb

        with duckdb.connect(str(path)) as base:
            base.register("given", table)
            base.execute("create table edges as select * from given")
        return
    (arrow if path.suffix == ".arrow" else parquet)(lambda _: table, 1)(path, 1)


ENDLESS = "with recursive r(a) as (select 1 union all select a + 1 from r) select a as source, a + 1 as target from r"
VIEWS = {
    "endless rows": ENDLESS,
    "endless search": f"{ENDLESS} where a < 0",
    "product": "with d(x) as (values (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)) select a.x as source, b.x as "
    "target from d a, d b, d c, d e, d f, d g, d h, d i, d j, d k",
}


def view(path: Path, sql: str) -> None:
    """A database with a view."""
    if path.suffix == ".duckdb":
        import duckdb

        with duckdb.connect(str(path)) as base:
            base.execute(f"create view edges as {sql}")
        return
    with closing(sqlite3.connect(path)) as base:
        base.execute(f"create view edges as {sql}")
        base.commit()


def views(reader: str, long: str) -> list[Attack]:
    every = VIEWS | {"long value": f"select {long} as source, 1 as target"}
    return [
        Attack(reader, kind, lambda path, _, sql=sql: view(path, sql), (1,), bytes=ALLOWED, like="csv", refused=True)  # type: ignore[misc]
        for kind, sql in every.items()
    ]


def write_safetensors(path: Path, header: str) -> None:
    path.write_bytes(struct.pack("<Q", len(header)) + header.encode() + bytes(64))


def write_tensors(path: Path, size: int) -> None:
    """A header of so many tensors."""
    entry = {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}
    write_safetensors(path, json.dumps({f"t{at}": entry for at in range(size)}))


def write_folder_claim(path: Path) -> None:
    saved(4)(path, 2000)
    (path / "vectors.npy").write_bytes(npy_claim((HUGE, DIM), "<f4"))


def write_stored_claim(path: Path) -> None:
    """A graph on disk whose manifest states 2^40 nodes, with a checksum that fits."""
    import graphrefine
    from graphrefine.graph.stored_writer import OWN_CHECKSUM, sum_manifest

    graphrefine.read([(0, 1), (1, 2)]).save(path)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest |= {name: HUGE for name, value in manifest.items() if value in (2, 3) and name != "version"}
    manifest[OWN_CHECKSUM] = sum_manifest(manifest)
    (path / "manifest.json").write_text(json.dumps(manifest))


def write_ogb_claim(path: Path) -> None:
    (path / "raw").mkdir(parents=True)
    (path / "raw" / "edge.csv").write_text("0,1\n1,2\n")
    (path / "raw" / "num-node-list.csv").write_text(f"{HUGE}\n")


_SHAPE = '{{"vectors": {{"dtype": "F32", "shape": [{0}, 4], "data_offsets": [0, {1}]}}}}'
TABLES = [
    bomb("npz", lambda path, _: write_zip(path, sparse_parts(data=npy_bytes(np.zeros(ROWS))))),
    bomb("mat", write_mat_zeros),
    bomb("mat-7.3", lambda path, _: write_hdf5(path, filled=True)),
    bomb("labels-mat", write_mat_zeros),
    *(bomb(f"{door}parquet", parquet(zeros_table, ROWS)) for door in ("", "labels-", "ingest-")),
    *(bomb(f"{door}parquet", parquet(long_table, 20_000), "long text") for door in ("", "labels-", "ingest-")),
    *(bomb(f"{door}arrow", arrow(zeros_table, ROWS)) for door in ("", "labels-", "ingest-")),
    *(bomb(f"{door}arrow", arrow(long_table, 20_000), "long text") for door in ("", "labels-", "ingest-")),
    bomb("features-npz", lambda path, _: write_zip(path, sparse_parts(data=npy_bytes(np.zeros(ROWS))))),
    bomb("load-npz", lambda path, _: write_zip(path, {"vectors": npy_bytes(np.zeros((ROWS // 4, 4)))})),
    bomb("load-parquet", parquet(vector_table, ROWS // DIM * 4)),
    bomb("load-arrow", arrow(vector_table, ROWS // DIM * 4)),
    claim("npz", lambda path: write_zip(path, sparse_parts(shape=npy_bytes(np.array([HUGE, HUGE]))))),
    claim("npz", lambda path: write_zip(path, sparse_parts(data=npy_claim((HUGE,)))), "claim array"),
    claim("mat", write_mat_claim),
    claim("mat-7.3", lambda path: write_hdf5(path, filled=False)),
    *(claim(f"{door}parquet", write_parquet_claim) for door in ("", "labels-", "ingest-")),
    *(claim(f"{door}arrow", write_arrow_claim) for door in ("", "labels-", "ingest-")),
    claim("grf", write_stored_claim),
    claim("ogb", write_ogb_claim),
    claim("labels-npy", lambda path: path.write_bytes(npy_claim((HUGE,)))),
    claim("features-npy", lambda path: path.write_bytes(npy_claim((3, HUGE)))),
    claim("features-npz", lambda path: write_zip(path, sparse_parts(shape=npy_bytes(np.array([3, HUGE]))))),
    claim("load-npz", lambda path: write_zip(path, {"vectors": npy_claim((HUGE, 4), "<f4")})),
    claim("load-npy", lambda path: path.write_bytes(npy_claim((HUGE, 4), "<f4"))),
    claim("load-safetensors", lambda path: write_safetensors(path, _SHAPE.format(HUGE, HUGE * 16))),
    claim("load-safetensors", lambda path: path.write_bytes(struct.pack("<Q", HUGE) + bytes(64)), "claim header"),
    claim("load-folder", write_folder_claim),
    Attack("load-safetensors", "wide", write_tensors, (100_000, 200_000)),
    Attack("load-safetensors", "deep", lambda path, size: write_safetensors(path, "[" * size), (500_000, 1_000_000)),
    *(Attack(reader, "wide", write_wide, (5_000, 10_000)) for reader in ("parquet", "arrow", "labels-arrow")),
    *(Attack(reader, "colliding names", write_names, NAMES) for reader in (
        "parquet", "arrow", "duckdb", "ingest-parquet", "ingest-arrow", "labels-parquet", "labels-arrow")),
    *views("sqlite", "hex(zeroblob(300000000))"),
    *views("duckdb", "repeat('x', 300000000)"),
]  # fmt: skip
