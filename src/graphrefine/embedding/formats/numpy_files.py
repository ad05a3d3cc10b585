"""NumPy's own files: ``.npy`` (the vectors alone) and ``.npz`` (vectors, names and recipe). No pickle, ever.

An ``.npz`` holds ``vectors`` (n, k), ``names`` (n integers or NumPy strings) and ``recipe`` (JSON);
each known piece of the state is an array of its name: ``degrees`` (n,), ``degree_weight``, ``fold_map`` (6k, k).
NumPy's strings all take the room of the longest: names of very different length, or ending in a null
character, are kept instead as ``names_text`` (UTF-8 bytes) and ``names_offsets`` (n + 1). Version, fingerprint and seal
are in the comment of the archive, which NumPy ignores.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats import FORMAT_VERSION
from graphrefine.embedding.formats.encoding import EDGES, MORE_MEMORY, dump_recipe, parse_recipe
from graphrefine.embedding.state import State, names_of
from graphrefine.embedding.table import Marks, Parts
from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, is_range, pack, unpack
from graphrefine.readers.limits import check_unpacked
from graphrefine.system.arrays import map_npy, row_blocks, save_npy, write_array, write_npy_blocks
from graphrefine.system.versions import version_problem

MARK = "graphrefine embedding"
_LAST_CHARACTER = 0x10FFFF  # of Unicode
_MEMBERS = {f"{name}.npy" for name in ("vectors", "names", "names_text", "names_offsets", "recipe")}
_MEMBERS |= {f"{name}.npy" for name in names_of("column", "array", "number")}
_WASTE = 8  # longest name over mean name beyond which NumPy's strings are too wasteful


def write_npy(path: Path, parts: Parts) -> None:
    """Write the vectors, and warn if that loses names."""
    if not is_range(parts.names):
        warnings.warn(
            "a .npy file holds vectors only: the node names are not saved, keep them elsewhere "
            "(.npz, .parquet or a folder would hold both)",
            stacklevel=2,
        )
    save_npy(path, parts.vectors)


def read_npy(path: Path) -> Parts:
    """Map the vectors; the names are 0, 1, ..., n - 1."""
    with path.open("rb") as file:
        vectors = as_vectors(path, map_npy(file))
    return Parts(np.arange(len(vectors), dtype=np.int64), vectors, {}, mapped=True)


def write_npz(path: Path, parts: Parts) -> None:
    """Write vectors, names and recipe, some rows at a time, as NumPy's ``savez`` would."""
    arrays = {"vectors": parts.vectors, "recipe": np.array(dump_recipe(parts.recipe)), **parts.state.arrays()}
    with ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                write_array(file, array)
        _write_names(archive, parts.names)
        if marks := parts.marks.texts():
            archive.comment = json.dumps({"format": MARK, "version": FORMAT_VERSION, **marks}).encode()


def _write_names(archive: ZipFile, names: Names) -> None:
    """The names as they are; strings as NumPy's, or else packed."""
    if names.dtype == object and _wasteful(names):
        text, offsets = pack(names)
        arrays: dict[str, NDArray[Any]] = {"names_text": text, "names_offsets": offsets}
    else:
        arrays = {"names": names}
    for name, array in arrays.items():
        longest = max(map(len, array), default=0) if array.dtype == object else 0
        dtype = np.dtype(f"U{max(longest, 1)}") if array.dtype == object else array.dtype
        with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
            write_npy_blocks(file, dtype, array.shape, (block.astype(dtype) for block in row_blocks(array)))


def _wasteful(names: Names) -> bool:
    """Whether NumPy's strings would take far more room than the names, or lose null characters."""
    lengths = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    return bool(lengths.max() > _WASTE * (lengths.mean() + 1) or any(name.endswith("\0") for name in names))


def is_embedding(path: Path) -> bool:
    """Whether an npz archive has vectors, as no matrix of SciPy has."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return "vectors" in archive.files
    except (OSError, ValueError, BadZipFile):
        return False


def read_npz(path: Path) -> Parts:
    """Read vectors, names (if any; else 0, 1, ..., n - 1) and recipe (if any)."""
    try:
        return _read_npz(path)
    except (FormatError, OSError):
        raise
    except Exception as error:  # headers are parsed as Python: there is no end to what damage can raise
        raise FormatError(path, f"is not an npz archive of numbers, or damaged ({error})") from error


def _read_npz(path: Path) -> Parts:
    _check_end(path)
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if "vectors" not in archive:
            arrays = ", ".join(archive.files) or "nothing"
            raise FormatError(path, f"has no array 'vectors'; it holds {arrays}: not an embedding")
        size = sum(each.file_size for each in archive.zip.infolist() if each.filename in _MEMBERS)
        check_unpacked(str(path), size, "it", way_out=MORE_MEMORY, copies=1)
        vectors = as_vectors(path, archive["vectors"])
        names = _read_names(archive, len(vectors))
        recipe = parse_recipe(str(archive["recipe"])) if "recipe" in archive else {}
        pieces = names_of("column", "array", "number")
        state = State.from_stored({name: archive[name] for name in pieces if name in archive})
        marks = _read_marks(path, archive.zip)
    return Parts(names, vectors, recipe, state=state, marks=marks)


def _read_marks(path: Path, archive: ZipFile) -> Marks:
    """What the comment of the archive says, where it is ours; it ends the file."""
    comment = archive.comment
    if not comment.startswith(b"{") and MARK.encode() not in comment:
        return Marks()
    try:
        about = json.loads(comment)
        if problem := version_problem(about["version"], FORMAT_VERSION):
            raise FormatError(path, problem)
        return Marks(about["fingerprint"], about["seal"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(path, "the comment of the archive is damaged") from error


def _check_end(path: Path) -> None:
    """Refuse an archive whose comment is cut short, which zipfile does not notice."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(size - (1 << 16) - 22, 0))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if 0 <= at <= len(tail) - 22 and int.from_bytes(tail[at + 20 : at + 22], "little") != len(tail) - at - 22:
        raise FormatError(path, "the comment of the archive is cut short, or damaged")


def _read_names(archive: Any, nodes: int) -> Names:
    if "names" in archive:
        names: Names = archive["names"]
        if names.dtype.kind == "U" and names.size and names.dtype.itemsize:
            codes = np.ascontiguousarray(names, names.dtype.newbyteorder("=")).view(np.uint32)
            if codes.max() > _LAST_CHARACTER:
                raise ValueError(f"a name has the character {codes.max():#x}, which there is not")
        return names
    if "names_text" in archive:
        return unpack(archive["names_text"], archive["names_offsets"])
    return np.arange(nodes, dtype=np.int64)


def as_vectors(path: Path, array: NDArray[Any]) -> NDArray[np.float32]:
    """Refuse what cannot be the vectors of an embedding; float16 and float64 become float32."""
    if array.ndim != 2 or array.dtype.kind != "f":
        hint = f"; {EDGES}" if array.dtype.kind in "iu" and array.ndim == 2 else ""
        raise FormatError(path, f"holds {array.dtype} {array.shape}; vectors are floating-point (nodes, dim){hint}")
    with np.errstate(over="ignore"):  # infinite numbers are refused as such
        return np.ascontiguousarray(array, dtype=np.float32)
