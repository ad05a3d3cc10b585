"""The safetensors format: eight bytes of header length, a JSON header, raw arrays.

Tensors: ``vectors`` F32 (n, k); ``names`` I64 (n,), or for strings ``names_text`` U8 and ``names_offsets``
I64 (n + 1,); neither where the names are 0, 1, ..., n - 1; each known array of the state,
``degrees`` F32 (n,) and ``fold_map`` F32 (6k, k). Under ``__metadata__``: recipe, numbers of the state, fingerprint.
The arrays follow each other without a gap, the widest numbers first, so that each is aligned.
"""

from __future__ import annotations

import json
import math
import os
import struct
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats.io import as_vectors, join_data, metadata_texts
from graphrefine.embedding.state import EmbeddingData, names_of
from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, is_range, pack, unpack
from graphrefine.system.arrays import map_array, row_blocks

# The safetensors package copies every tensor to bytes before it writes, and copies what it reads into memory. Here
# rows are written in blocks and mapped when they are read, so that neither takes memory of the size of the vectors.
_DTYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "U8": np.dtype("u1"),
}
_STATE = names_of("column", "array")  # as tensors
_OURS = ("vectors", "names", "names_text", "names_offsets", *_STATE)
_LONGEST_HEADER = 1 << 21  # bytes; the format's own limit, 100 MB, would be a gigabyte of names
_ALIGNMENT = 64


def write(path: Path, data: EmbeddingData) -> None:
    """Write vectors, names and recipe."""
    state = data.state.arrays()
    arrays = _name_arrays(data.names) | {"vectors": ("F32", data.vectors)}
    arrays |= {name: ("F32", state[name]) for name in _STATE if name in state}
    arrays = dict(sorted(arrays.items(), key=lambda item: -item[1][1].itemsize))
    header: dict[str, Any] = {"__metadata__": {"format": "graphrefine", **metadata_texts(data, "number")}}
    end = 0
    for name, (code, array) in arrays.items():
        start, end = end, end + array.nbytes
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for code, array in arrays.values():
            for block in row_blocks(array):
                file.write(np.ascontiguousarray(block, _DTYPES[code]).data)


def _name_arrays(names: Names) -> dict[str, tuple[str, NDArray[Any]]]:
    if is_range(names):
        return {}
    if names.dtype != object:
        return {"names": ("I64", names)}
    text, offsets = pack(names)
    return {"names_text": ("U8", text), "names_offsets": ("I64", offsets)}


def read(path: Path) -> EmbeddingData:
    """Map the vectors, read the rest."""
    with path.open("rb") as file:
        header, start = _read_header(path, file)
        metadata = header.pop("__metadata__", {})
        _check_layout(path, header, os.fstat(file.fileno()).st_size - start)
        tensors = {name: _tensor(path, file, entry, start) for name, entry in header.items() if name in _OURS}
    if "vectors" not in tensors:
        others = ", ".join(header) or "nothing"
        raise FormatError(path, f"has no tensor 'vectors', only {others}: not an embedding")
    vectors = as_vectors(path, tensors["vectors"])
    metadata = metadata if metadata.get("format") == "graphrefine" else {**metadata, "version": 1}  # made elsewhere
    state = {name: tensors[name] for name in _STATE if name in tensors}
    return join_data(path, _names(tensors, len(vectors)), vectors, metadata, state=state, mapped=True)


def _read_header(path: Path, file: IO[bytes]) -> tuple[dict[str, Any], int]:
    """Read the header, and the offset of the arrays."""
    start = file.read(8)
    length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
    if not 2 <= length <= os.fstat(file.fileno()).st_size - 8:
        raise FormatError(path, "is not a safetensors file, or cut short")
    if length > _LONGEST_HEADER:
        raise FormatError(path, f"its header has {length:,} bytes, of which {_LONGEST_HEADER:,} are read at most")
    header = json.loads(file.read(length), object_pairs_hook=_distinct)
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise FormatError(path, "its header is not a JSON object: not a safetensors file")
    return header, 8 + length


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a duplicate name in the header")
    return dict(pairs)


def _check_layout(path: Path, header: dict[str, Any], size: int) -> None:
    """Check that the arrays follow each other without overlap or gap, to the end of the file."""
    position = 0
    for start, end in sorted(tuple(entry["data_offsets"]) for entry in header.values()):
        if start != position or end < start:
            raise FormatError(path, f"its arrays overlap or leave a gap at byte {position:,}: damaged")
        position = end
    if position != size:
        raise FormatError(path, f"its arrays take {position:,} bytes, but {size:,} are there: cut short")


def _tensor(path: Path, file: IO[bytes], entry: dict[str, Any], start: int) -> NDArray[Any]:
    code, shape = entry["dtype"], tuple(entry["shape"])
    first, end = entry["data_offsets"]
    if code not in _DTYPES:
        raise FormatError(path, f"has numbers of type {code}; those read are {', '.join(_DTYPES)}")
    is_shape = all(isinstance(length, int) and length >= 0 for length in shape)
    if not is_shape or end - first != math.prod(shape) * _DTYPES[code].itemsize:
        raise FormatError(path, f"a tensor {code} {shape} does not take {end - first} bytes: damaged")
    return map_array(file, start + first, dtype=_DTYPES[code], shape=shape)


def _names(tensors: dict[str, NDArray[Any]], nodes: int) -> Names:
    if "names" in tensors:
        return tensors["names"]
    if "names_text" in tensors:
        return unpack(tensors["names_text"], tensors["names_offsets"])
    return np.arange(nodes, dtype=np.int64)
