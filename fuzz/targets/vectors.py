"""Files of vectors, in every format that is loaded; an embedding that comes of them must be sound.

Half of the inputs are loaded without a look at the fingerprint, so that what strangers write, without one or with one
that fits, gets as far as it can.
"""

from __future__ import annotations

import io
import json
import struct
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from fuzz.codecs import below_bundle, below_gzip, below_zip, pack_files, pack_folder, unpack_files, write_folder
from fuzz.mutations import Mutation, mutate
from fuzz.target import Target

NAMES = {"words": ["ann", "bob", "cy é", "dee", "eve"], "plain": list("abcde"), "numbers": [7, 3, -1, 2**62, 5]}
COUNTS: tuple[Any, ...] = (0, 1, -1, 2, 3, 1 << 31, 1 << 32, 1 << 40, 1 << 62, 1 << 63, 1 << 64, 1.5, "5", None, [])
LENGTH = struct.Struct("<Q")  # of the header of a safetensors file


def loader(suffix: str) -> Callable[[bytes, Path], None]:
    """A function that loads bytes as a file with this suffix."""

    def run(data: bytes, folder: Path) -> None:
        path = folder / f"vectors{suffix}"
        path.write_bytes(data)
        load_soundly(path, data)

    return run


def load_folder(data: bytes, folder: Path) -> None:
    """Load the native folder."""
    write_folder(data, folder / "vectors")
    load_soundly(folder / "vectors", data)


def load_soundly(path: Path, data: bytes) -> None:
    """Load an embedding, check that what comes is one, and ask it for neighbors."""
    import numpy as np

    from graphrefine import load
    from graphrefine.errors import FormatError

    try:
        embedding = load(path, verify=None if zlib.crc32(data) % 2 else False)
    except FormatError as error:
        assert str(path.parent) in str(error), "a message names the file"
        raise
    vectors = np.asarray(embedding.vectors)
    assert vectors.dtype == np.float32 and vectors.ndim == 2 and len(embedding.names) == len(vectors)
    assert isinstance(embedding.recipe, dict) and isinstance(repr(embedding), str)
    degrees, fold_map = embedding.degrees, embedding.fold_map
    assert degrees is None or degrees.shape == (len(vectors),)
    assert fold_map is None or fold_map.ndim == 2
    if 0 < len(vectors) < 1000 and 0 < vectors.shape[1] < 1000:
        embedding.neighbors(embedding.names[0], k=2)  # an error of ours where two have one name


def make_embeddings() -> list[Any]:
    """Embeddings with names of each kind, learned and not."""
    import numpy as np

    import graphrefine

    edges = [("ada", "bob"), ("bob", "cy"), ("cy", "ada"), ("cy", "dot"), ("dot", "eve"), ("eve", "fay")]
    vectors = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    named = [graphrefine.Embedding(names, vectors) for names in NAMES.values()]
    return [graphrefine.embed(edges, 2, threads=1), *named, graphrefine.Embedding(None, vectors)]


def saved(suffix: str) -> Callable[[], list[bytes]]:
    """Files of our own, with fingerprints."""

    def make() -> list[bytes]:
        from graphrefine.errors import InputError

        out = []
        with tempfile.TemporaryDirectory() as folder:
            for number, embedding in enumerate(make_embeddings()):
                path = Path(folder, f"{number}{suffix}")
                try:
                    embedding.save(path)
                except InputError:  # names with blanks, which word2vec cannot hold
                    continue
                out.append(pack_folder(path) if path.is_dir() else path.read_bytes())
        return out

    return make


def npy_seeds() -> list[bytes]:
    """Arrays of each width, order and version of the header."""
    import numpy as np

    array = np.random.default_rng(0).normal(size=(5, 4))
    out = []
    for each in (array.astype("<f4"), array.astype(">f8"), np.asfortranarray(array.astype("<f2"))):
        for version in ((1, 0), (2, 0), (3, 0)):
            file = io.BytesIO()
            np.lib.format.write_array(file, each, version=version)
            out.append(file.getvalue())
    return out


def table_seeds(kind: str) -> Callable[[], list[bytes]]:
    """Files of our own, and tables of others: lists of any length, dictionaries, several batches, packed columns."""

    def make() -> list[bytes]:
        import pyarrow as pa
        import pyarrow.ipc as ipc
        import pyarrow.parquet as pq

        rows = [[1.0, 2.0], [0.5, 0.0], [3.0, -1.0]]
        words = pa.array(["ann", "bob", "cy é"])
        tables = [
            pa.table({"node": words, "vector": pa.array(rows, pa.list_(pa.float32(), 2))}),
            pa.table({"node": [1, 2, 3], "vector": pa.array(rows, pa.list_(pa.float64()))}),
            pa.table({"id": words.dictionary_encode(), "v": pa.array(rows, pa.large_list(pa.float32()))}),
            pa.table({"node": words.cast(pa.large_string()), "vector": pa.array(rows, pa.list_(pa.float16()))}),
        ]
        out = saved(f".{kind}")()
        for at, table in enumerate(tables):
            file = io.BytesIO()
            if kind == "parquet":
                pq.write_table(table, file, compression=("snappy", "none", "gzip", "none")[at], row_group_size=2)
            else:
                options = ipc.IpcWriteOptions(compression="lz4" if at == 0 else None)
                with ipc.new_file(file, table.schema, options=options) as writer:
                    writer.write_table(table, max_chunksize=2 if at == 1 else None)
            out.append(file.getvalue())
        return out

    return make


def change_header(rng: Random, data: bytes) -> bytes:
    """A safetensors file after a change of its header, with the right length of it; or of anything."""
    if rng.random() < 0.3 or len(data) < LENGTH.size:
        return mutate(rng, data)
    end = LENGTH.size + LENGTH.unpack_from(data)[0]
    header, rest = data[LENGTH.size : end], data[end:]
    header = change_json(rng, header) if rng.random() < 0.5 else mutate(rng, header)
    return LENGTH.pack(len(header)) + header + rest


def change_folder(rng: Random, data: bytes) -> bytes:
    """The native folder after a change of a file; of ``meta.json`` more often than of others."""
    files = unpack_files(data)
    if rng.random() < 0.5 or "meta.json" not in files:
        return below_bundle(rng, data)
    meta = files["meta.json"] = change_json(rng, files["meta.json"])
    name = rng.choice(sorted(files))
    if name != "meta.json" and rng.random() < 0.5:  # a changed file, of the size that is told
        files[name] = mutate(rng, files[name])
        try:
            told = json.loads(meta)
            told["files"][name] = len(files[name])
            files["meta.json"] = json.dumps(told).encode()
        except (ValueError, LookupError, TypeError):
            pass
    return pack_files(files)


def change_json(rng: Random, text: bytes) -> bytes:
    """A JSON object with one value, at any depth, replaced by an extreme one, or gone."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return mutate(rng, text)
    inside: Any = whole
    while isinstance(inside, dict | list) and inside:
        key = rng.choice(sorted(inside)) if isinstance(inside, dict) else rng.randrange(len(inside))
        if not (isinstance(inside[key], dict | list) and inside[key]) or rng.random() < 0.2:
            if rng.random() < 0.15:
                del inside[key]
            else:
                inside[key] = rng.choice(COUNTS)
            break
        inside = inside[key]
    return json.dumps(whole).encode()


def csv_seeds() -> list[bytes]:
    """Tables of vectors as other programs write them: an index, names at the end or nowhere, other columns, marks."""
    numbers = [f"{at / 4},{-at / 2},{at}e-1" for at in range(5)]
    rows = list(zip(["ann", "bob", "cy é", "dee", "eve"], numbers, strict=True))
    index = ",node,v0,v1,v2\n" + "".join(f"{at},{name},{row}\n" for at, (name, row) in enumerate(rows))
    last = "0,1,2,id\r\n" + "".join(f"{row},{at * 7}\r\n" for at, row in enumerate(numbers))
    rank = "node,v0,v1,v2,pagerank\n" + "".join(f'"{name}",{row},0.2\n' for name, row in rows)
    none = "v0,v1,v2\n" + "".join(f"{row}\n" for row in numbers)
    tables = [table.encode() for table in (index, last, rank, none)]
    return [*tables, *(index.replace(",", mark).encode() for mark in ";\t|"), b"source,target,weight\na,1,2\n"]


def _target(
    name: str, suffix: str, seeds: Callable[[], list[bytes]] | None = None, change: Mutation | None = None
) -> Target:
    return Target(f"load-{name}", "vectors", seeds or saved(suffix), loader(suffix), change)


TARGETS = [
    Target("load-folder", "vectors", saved(""), load_folder, change_folder),
    _target("npy", ".npy", npy_seeds),
    _target("npz", ".npz", change=below_zip),
    _target("parquet", ".parquet", table_seeds("parquet")),
    _target("arrow", ".arrow", table_seeds("arrow")),
    _target("safetensors", ".safetensors", change=change_header),
    _target("word2vec", ".vec"),
    _target("word2vec-binary", ".bin"),
    _target("csv", ".csv", lambda: [*saved(".csv")(), *csv_seeds()]),
    _target("csv-gz", ".csv.gz", change=below_gzip),
]
