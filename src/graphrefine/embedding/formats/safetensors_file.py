"""The safetensors format, written by hand: eight bytes of header length, a JSON header, raw arrays.

Tensors: ``vectors`` F32 (n, k); ``names`` I64 (n,), or for strings ``names_text`` U8 and ``names_offsets``
I64 (n + 1,); neither where the names are 0, 1, ..., n - 1; each known array of the state,
``degrees`` F32 (n,) and ``fold_map`` F32 (6k, k). Under ``__metadata__``: the recipe as JSON, numbers of the state.
The arrays follow each other without a gap, the widest numbers first, so that each is aligned.
"""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats import FORMAT_VERSION
from graphrefine.embedding.formats.encoding import dump_recipe, parse_recipe
from graphrefine.embedding.formats.numpy_files import as_vectors
from graphrefine.embedding.state import State, names_of
from graphrefine.embedding.table import Marks, Parts
from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, is_range, pack, unpack
from graphrefine.system.arrays import map_array, row_blocks
from graphrefine.system.versions import version_problem

_DTYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "U8": np.dtype("u1"),
}
_EXTRAS = names_of("column", "array")  # of the state
_OURS = ("vectors", "names", "names_text", "names_offsets", *_EXTRAS)
_LONGEST_HEADER = 1 << 21  # bytes; the format's own limit, 100 MB, would be a gigabyte of names
_ALIGNMENT = 64


def write(path: Path, parts: Parts) -> None:
    """Write vectors, names and recipe."""
    arrays = _name_arrays(parts.names) | {"vectors": ("F32", parts.vectors)}
    state = parts.state.arrays()
    arrays |= {name: ("F32", state[name]) for name in _EXTRAS if name in state}
    arrays = dict(sorted(arrays.items(), key=lambda item: -item[1][1].itemsize))
    with path.open("wb") as file:
        file.write(_header(arrays, parts))
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


def _header(arrays: dict[str, tuple[str, NDArray[Any]]], parts: Parts) -> bytes:
    metadata = {"format": "graphrefine", "version": str(FORMAT_VERSION), "recipe": dump_recipe(parts.recipe)}
    state = parts.state.texts()
    metadata |= {name: state[name] for name in names_of("number") if name in state} | parts.marks.texts()
    header: dict[str, Any] = {"__metadata__": metadata}
    start = 0
    for name, (code, array) in arrays.items():
        end = start + array.nbytes
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [start, end]}
        start = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    return struct.pack("<Q", len(text)) + text


def read(path: Path) -> Parts:
    """Map the vectors, read the rest."""
    with path.open("rb") as file:
        header, start = _read_header(path, file)
        metadata = header.pop("__metadata__", {})
        _check_layout(path, header, os.fstat(file.fileno()).st_size - start)
        tensors = {name: _tensor(path, file, entry, start) for name, entry in header.items() if name in _OURS}
    if "vectors" not in tensors:
        others = ", ".join(header) or "nothing"
        raise FormatError(path, f"has no tensor 'vectors'; it holds {others}: not an embedding")
    _check_version(path, metadata)
    vectors = as_vectors(path, tensors["vectors"])
    recipe = parse_recipe(metadata.get("recipe", "{}"))
    numbers = {name: metadata[name] for name in names_of("number") if name in metadata}
    state = State.from_stored({name: tensors[name] for name in _EXTRAS if name in tensors} | numbers)
    marks = Marks(metadata.get("fingerprint"), metadata.get("seal"))
    return Parts(_names(tensors, len(vectors)), vectors, recipe, mapped=True, state=state, marks=marks)


def _check_version(path: Path, metadata: dict[str, Any]) -> None:
    version = metadata.get("version")
    if metadata.get("format") != "graphrefine" or version is None:
        return  # made elsewhere
    number = int(version) if isinstance(version, str) and version.isdecimal() else version
    if problem := version_problem(number, FORMAT_VERSION):
        raise FormatError(path, problem)


def _read_header(path: Path, file: IO[bytes]) -> tuple[dict[str, Any], int]:
    """Read the header, and where the arrays begin."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(8)
    length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
    if not 2 <= length <= size - 8:
        raise FormatError(path, "is not a safetensors file, or cut short")
    if length > _LONGEST_HEADER:
        raise FormatError(path, f"its header has {length:,} bytes, of which {_LONGEST_HEADER:,} are read at most")
    try:
        header = json.loads(file.read(length), object_pairs_hook=_without_repeats)
    except RecursionError:
        raise FormatError(path, "its header is nested far too deep: not a safetensors file, or damaged") from None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise FormatError(path, "its header is not a JSON object: not a safetensors file")
    return header, 8 + length


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("the header names something twice")
    return dict(pairs)


def _check_layout(path: Path, header: dict[str, Any], size: int) -> None:
    """Hold the arrays to the rule: one after the other, no overlap, no gap, to the end of the file."""
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
    if not all(isinstance(length, int) and length >= 0 for length in shape):
        raise FormatError(path, f"a tensor of shape {shape} is not possible: damaged")
    if end - first != int(np.prod(shape, dtype=object)) * _DTYPES[code].itemsize:
        raise FormatError(path, f"a tensor {code} {shape} does not take {end - first} bytes: damaged")
    return map_array(file, start + first, dtype=_DTYPES[code], shape=shape)


def _names(tensors: dict[str, NDArray[Any]], nodes: int) -> Names:
    if "names" in tensors:
        return tensors["names"]
    if "names_text" in tensors:
        return unpack(tensors["names_text"], tensors["names_offsets"])
    return np.arange(nodes, dtype=np.int64)
