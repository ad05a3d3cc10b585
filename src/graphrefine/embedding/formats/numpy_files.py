"""NumPy's own files: ``.npy`` (the vectors alone) and ``.npz`` (vectors, names and recipe). No pickle, ever.

An ``.npz`` has ``vectors`` (n, k), ``names`` (n integers or NumPy strings), ``recipe`` (JSON), ``version`` and
``fingerprint``; each known piece of the state is an array of its name, such as ``degrees`` (n,) and ``fold_map``.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np

from graphrefine.embedding.formats.io import (
    as_vectors,
    check_memory,
    join_data,
    metadata_texts,
    name_arrays,
    read_names,
)
from graphrefine.embedding.state import EmbeddingData, names_of
from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, is_range
from graphrefine.system.arrays import map_npy, row_blocks, save_npy, write_array, write_npy_blocks

_MEMBERS = {f"{name}.npy" for name in ("vectors", "names", "names_text", "names_offsets")}
_TEXTS = ("version", "recipe", "fingerprint")
_MEMBERS |= {f"{name}.npy" for name in (*_TEXTS, *names_of("column", "array", "number"))}
# NumPy's strings all take as many bytes as the longest. Where that is _WASTE times the mean, or a name ends in a null
# character, which they lose, names are stored as ``names_text`` (UTF-8 bytes) and ``names_offsets`` (n + 1) instead.
_WASTE = 8


def write_npy(path: Path, data: EmbeddingData) -> None:
    """Write the vectors, and warn if that loses names."""
    if not is_range(data.names):
        warnings.warn(
            "a .npy file holds vectors only: the node names are not saved; save as .npz, .parquet or a folder instead",
            stacklevel=2,
        )
    save_npy(path, data.vectors)


def read_npy(path: Path) -> EmbeddingData:
    """Map the vectors; the names are 0, 1, ..., n - 1."""
    with path.open("rb") as file:
        vectors = as_vectors(path, map_npy(file))
    return EmbeddingData(np.arange(len(vectors), dtype=np.int64), vectors, {}, mapped=True)


def write_npz(path: Path, data: EmbeddingData) -> None:
    """Write vectors, names and recipe, some rows at a time, as NumPy's ``savez`` would."""
    texts = {name: np.array(text) for name, text in metadata_texts(data).items()}
    arrays = {"vectors": data.vectors, **texts, **data.state.arrays()}
    with ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                write_array(file, array)
        _write_names(archive, data.names)


def _write_names(archive: ZipFile, names: Names) -> None:
    """Write the names as they are; strings as NumPy's, or else packed."""
    arrays = name_arrays(names) if names.dtype == object and _wasteful(names) else {"names": names}
    for name, array in arrays.items():
        longest = max(map(len, array), default=0) if array.dtype == object else 0
        dtype = np.dtype(f"U{max(longest, 1)}") if array.dtype == object else array.dtype
        with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
            write_npy_blocks(file, dtype, array.shape, (block.astype(dtype) for block in row_blocks(array)))


def _wasteful(names: Names) -> bool:
    """Return whether NumPy's strings would be far larger than the names, or lose null characters."""
    lengths = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    return bool(lengths.max() > _WASTE * (lengths.mean() + 1) or any(name.endswith("\0") for name in names))


def is_embedding(path: Path) -> bool:
    """Return whether an npz archive has vectors, as no matrix of SciPy has."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return "vectors" in archive.files
    except (OSError, ValueError, BadZipFile):
        return False


def read_npz(path: Path) -> EmbeddingData:
    """Read vectors, names (if any; else 0, 1, ..., n - 1) and recipe (if any)."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if "vectors" not in archive:
            arrays = ", ".join(archive.files) or "nothing"
            raise FormatError(path, f"has no array 'vectors', only {arrays}: not an embedding")
        check_memory(path, sum(each.file_size for each in archive.zip.infolist() if each.filename in _MEMBERS))
        vectors = as_vectors(path, archive["vectors"])
        names = read_names(archive, len(vectors))
        metadata = {name: str(archive[name]) for name in _TEXTS if name in archive}
        state = {name: archive[name] for name in names_of("column", "array", "number") if name in archive}
        return join_data(path, names, vectors, metadata, state=state)
