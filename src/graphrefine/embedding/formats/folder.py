"""The native folder: arrays that load in no time, because they are mapped rather than read.

::

    vectors.npy    float32, (n, k)
    names.npy      int64 (n,), or the UTF-8 bytes of all names; absent where the names are 0, 1, ..., n - 1
    offsets.npy    int64 (n + 1,): where each name begins in those bytes; only for strings
    NAME.npy       an array of the state, such as degrees (n,) and fold_map (6k, k); absent if not known
    meta.json      what this is: version, counts, kind of names, bytes of each file, recipe, numbers of the state, and
                   the fingerprint, which finds damage in any of it

A folder is never changed once it is written, only replaced whole. What a reader loads is all old or all new, even while
the folder is being replaced.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.formats import FORMAT_VERSION
from graphrefine.embedding.formats.io import MARK, join_data, name_arrays
from graphrefine.embedding.state import EmbeddingData, names_of
from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import unpack
from graphrefine.system.arrays import map_npy, save_npy
from graphrefine.system.checks import version_problem
from graphrefine.system.files import check_only

_ARRAYS = names_of("column", "array")  # of the state; its numbers are in meta.json
_FILES = frozenset({"meta.json", "vectors.npy", "names.npy", "offsets.npy", *(f"{name}.npy" for name in _ARRAYS)})
_NAMES = {"names": "names.npy", "names_text": "names.npy", "names_offsets": "offsets.npy"}
_ATTEMPTS = 100  # to read a folder; each is lost only to a replacement while its files are opened


def write(path: Path, data: EmbeddingData) -> None:
    """Fill the existing, empty folder ``path``."""
    state = data.state.arrays()
    arrays = {"vectors.npy": data.vectors, **{f"{name}.npy": state[name] for name in _ARRAYS if name in state}}
    named = name_arrays(data.names)
    arrays |= {_NAMES[name]: array for name, array in named.items()}
    kind = "strings" if "names_text" in named else "integers" if named else "range"
    for name, array in arrays.items():
        save_npy(path / name, array)
    meta = {
        "format": MARK,
        "version": FORMAT_VERSION,
        "nodes": len(data.vectors),
        "dim": data.vectors.shape[1],
        "dtype": "float32",
        "names": kind,
        "files": {name: (path / name).stat().st_size for name in sorted(arrays)},
        "recipe": data.recipe,
        **{name: state[name].item() for name in names_of("number") if name in state},
        "fingerprint": data.fingerprint,
    }
    (path / "meta.json").write_text(json.dumps(meta, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def check_replaceable(path: Path) -> None:
    """Raise OutputError unless the folder ``path`` is empty or an embedding and nothing else."""
    check_only(path, _FILES if is_embedding(path) else None, kind="embedding")


def is_embedding(path: Path) -> bool:
    """Return whether a folder is an embedding."""
    try:
        meta = json.loads((path / "meta.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(meta, dict) and meta.get("format") == MARK


def read(path: Path) -> EmbeddingData:
    """Map the folder ``path``."""
    # Files are opened one by one, and the folder may be replaced meanwhile: what was read is of one embedding if the
    # folder is the same before and after. If not, neither the arrays nor an error say anything.
    for _ in range(_ATTEMPTS):
        folder = _identify(path)
        try:
            data = _read(path)
        except (OSError, FormatError) as error:
            if _identify(path) != folder:
                continue
            if isinstance(error, FileNotFoundError):
                raise FormatError(path, f"{Path(error.filename).name} is missing: not a whole embedding") from error
            raise
        if _identify(path) == folder:
            return data
    raise FormatError(path, "is being replaced again and again; load it when that is over")


def _identify(path: Path) -> tuple[int, int]:
    """Return what tells a folder from one that replaces it."""
    try:
        status = path.stat()
    except FileNotFoundError as error:
        raise FormatError(path, "no such file or folder") from error
    return status.st_ino, status.st_mtime_ns


def _read(path: Path) -> EmbeddingData:
    meta = _check_meta(path, (path / "meta.json").read_bytes())
    shape = (meta["nodes"], meta["dim"])
    vectors = _load(path, "vectors.npy", dtype=np.dtype(np.float32), shape=shape)
    if meta["names"] == "range":
        names = np.arange(meta["nodes"], dtype=np.int64)
    elif meta["names"] == "integers":
        names = _load(path, "names.npy", dtype=np.dtype(np.int64), shape=(meta["nodes"],))
    else:
        text = _load(path, "names.npy", dtype=np.dtype(np.uint8))
        names = unpack(text, _load(path, "offsets.npy", dtype=np.dtype(np.int64), shape=(meta["nodes"] + 1,)))
    stored = [name for name in _ARRAYS if f"{name}.npy" in meta["files"]]
    state = {name: _load(path, f"{name}.npy", dtype=np.dtype(np.float32)) for name in stored}
    return join_data(path, names, vectors, meta, state=state, mapped=True)


def _check_meta(path: Path, text: bytes) -> dict[str, Any]:
    try:
        meta = json.loads(text)
        mark, version = meta["format"], meta["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(path, "meta.json is damaged or not of a graphrefine embedding") from error
    if mark != MARK:
        raise FormatError(path, f"meta.json is of {mark!r}, not of a graphrefine embedding")
    if problem := version_problem(version, FORMAT_VERSION):  # before its keys, which may be others there
        raise FormatError(path, problem)
    expected = {"nodes": int, "dim": int, "names": str, "files": dict, "recipe": dict}
    for key, kind in expected.items():
        if not isinstance(meta.get(key), kind):
            raise FormatError(path, f"meta.json has no proper {key!r}: it is damaged")
    return dict(meta)


def _load(folder: Path, name: str, *, dtype: np.dtype[Any], shape: tuple[int, ...] | None = None) -> NDArray[Any]:
    """Map one file, held to the type and the shape that meta.json implies."""
    with (folder / name).open("rb") as file:
        try:
            array = map_npy(file)
        except ValueError as error:
            raise FormatError(folder, f"{name} is damaged: {error}") from error
    if array.dtype != dtype or (shape is not None and array.shape != shape):
        raise FormatError(folder, f"{name} is {array.dtype} {array.shape}, not {dtype} {shape}: changed")
    return array
