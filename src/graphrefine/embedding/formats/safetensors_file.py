"""The safetensors format, written and checked by its package, and mapped here.

Tensors: ``vectors`` F32 (n, k); ``names`` I64 (n,), or for strings ``names_text`` U8 and ``names_offsets``
I64 (n + 1,); neither where the names are 0, 1, ..., n - 1; each known array of the state,
``degrees`` F32 (n,) and ``fold_map`` F32 (6k, k). Under ``__metadata__``: recipe, numbers of the state, fingerprint.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats.io import as_vectors, join_data, metadata_texts, name_arrays, read_names
from graphrefine.embedding.state import EmbeddingData, names_of
from graphrefine.errors import FormatError
from graphrefine.system.arrays import map_array

_DTYPES = {"I64": "<i8", "F64": "<f8", "F32": "<f4", "F16": "<f2", "U8": "u1"}  # that our tensors may have
_STATE = names_of("column", "array")  # as tensors
_OURS = ("vectors", "names", "names_text", "names_offsets", *_STATE)


def write(path: Path, data: EmbeddingData) -> None:
    """Write vectors, names and recipe."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    state = data.state.arrays()
    arrays = {"vectors": data.vectors, **name_arrays(data.names)}
    arrays |= {name: state[name] for name in _STATE if name in state}
    # The package writes a temporary file, which only its owner may read, and renames that: the file gets the
    # permissions of other outputs again.
    path.touch()
    permissions = path.stat().st_mode
    try:
        metadata = {"format": "graphrefine", **metadata_texts(data, "number")}
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path, metadata)
    except SafetensorError as error:  # a full disk
        raise OSError(str(error)) from error
    path.chmod(permissions)


def read(path: Path) -> EmbeddingData:
    """Map the vectors, read the rest."""
    from safetensors import safe_open

    # The package refuses a damaged header: tensors that overlap, leave a gap, or have another length than their shape
    # says. It copies what it reads, so the arrays are mapped here instead. Header and arrays are read from one open
    # file: the path may be replaced by a newer one meanwhile.
    with path.open("rb") as file, safe_open(path, framework="np"):
        start = 8 + int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(start - 8))
        metadata = header.pop("__metadata__", {})
        tensors = {name: _map_tensor(path, file, entry, start) for name, entry in header.items() if name in _OURS}
    if "vectors" not in tensors:
        others = ", ".join(list(header)[:8]) or "nothing"
        raise FormatError(path, f"has no tensor 'vectors', only {others}: not an embedding")
    vectors = as_vectors(path, tensors["vectors"])
    metadata = metadata if metadata.get("format") == "graphrefine" else {**metadata, "version": 1}  # made elsewhere
    state = {name: tensors[name] for name in _STATE if name in tensors}
    return join_data(path, read_names(tensors, len(vectors)), vectors, metadata, state=state, mapped=True)


def _map_tensor(path: Path, file: IO[bytes], entry: dict[str, Any], start: int) -> NDArray[Any]:
    if entry["dtype"] not in _DTYPES:
        raise FormatError(path, f"has numbers of type {entry['dtype']}; those read are {', '.join(_DTYPES)}")
    first = start + entry["data_offsets"][0]
    return map_array(file, first, dtype=np.dtype(_DTYPES[entry["dtype"]]), shape=tuple(entry["shape"]))
