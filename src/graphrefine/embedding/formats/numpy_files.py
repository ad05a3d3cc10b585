"""NumPy's own files: ``.npy`` (the vectors alone) and ``.npz`` (vectors, names and recipe). No pickle, ever.

An ``.npz`` holds ``vectors`` (n, k), ``names`` (n integers or NumPy strings) and ``recipe`` (JSON);
each known piece of the state is an array of its name: ``degrees`` (n,), ``degree_weight``, ``fold_map`` (6k, k).
NumPy's strings all take the room of the longest: names of very different length, or ending in a null
character, are kept instead as ``names_text`` (UTF-8 bytes) and ``names_offsets`` (n + 1).
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats.parts import Parts, dump_recipe, parse_recipe
from graphrefine.errors import FormatError
from graphrefine.graph.node_names import Names, is_range, pack, unpack
from graphrefine.system.arrays import map_npy, save_npy
from graphrefine.vectors.state import State, names_of

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
    """Write vectors, names and recipe."""
    arrays: dict[str, Any] = {"vectors": parts.vectors, "recipe": np.array(dump_recipe(parts.recipe))}
    arrays |= parts.state.arrays()
    with path.open("wb") as file:
        np.savez(file, **arrays, **_name_arrays(parts.names))


def _name_arrays(names: Names) -> dict[str, Any]:
    if names.dtype != object:
        return {"names": names}
    lengths = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    if lengths.max() <= _WASTE * (lengths.mean() + 1) and not any(name.endswith("\0") for name in names):
        return {"names": names.astype(np.str_)}
    text, offsets = pack(names)
    return {"names_text": text, "names_offsets": offsets}


def read_npz(path: Path) -> Parts:
    """Read vectors, names (if any; else 0, 1, ..., n - 1) and recipe (if any)."""
    try:
        return _read_npz(path)
    except (FormatError, OSError):
        raise
    except Exception as error:  # headers are parsed as Python: there is no end to what damage can raise
        raise FormatError(path, f"is not an npz archive of numbers, or damaged ({error})") from error


def _read_npz(path: Path) -> Parts:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        if "vectors" not in archive:
            arrays = ", ".join(archive.files) or "nothing"
            raise FormatError(path, f"has no array 'vectors'; it holds {arrays}: not an embedding")
        vectors = as_vectors(path, archive["vectors"])
        names = _read_names(archive, len(vectors))
        recipe = parse_recipe(str(archive["recipe"])) if "recipe" in archive else {}
        pieces = names_of("column", "array", "number")
        state = State.from_stored({name: archive[name] for name in pieces if name in archive})
    return Parts(names, vectors, recipe, state=state)


def _read_names(archive: Any, nodes: int) -> Names:
    if "names" in archive:
        names: Names = archive["names"]
        return names
    if "names_text" in archive:
        return unpack(archive["names_text"], archive["names_offsets"])
    return np.arange(nodes, dtype=np.int64)


def as_vectors(path: Path, array: NDArray[Any]) -> NDArray[np.float32]:
    """Refuse what cannot be the vectors of an embedding; float16 and float64 become float32."""
    if array.ndim != 2 or array.dtype.kind != "f":
        raise FormatError(path, f"holds {array.dtype} {array.shape}; vectors are floating-point (nodes, dim)")
    return np.ascontiguousarray(array, dtype=np.float32)
