"""Embeddings written to a path and read from it: in one step, with a fingerprint, and verified by it.

A format (one module here) writes an `EmbeddingData` and reads it back. What is no array is metadata, the same in every
format that keeps it: the version of the layout, the recipe as JSON, numbers of the state, and the fingerprint.
"""

from __future__ import annotations

import json
import logging
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.fingerprint import Fingerprint, fingerprint_of
from graphrefine.embedding.formats import (
    FORMAT_VERSION,
    Format,
    PathLike,
    check_names,
    choose_format,
    explain_damage,
    format_place,
    input_format,
)
from graphrefine.embedding.state import EmbeddingData, Kind, State, names_of
from graphrefine.errors import ArgumentWarning, FormatError, InputError, OutputError
from graphrefine.graph.node_ids import Names, as_names, is_range, pack, text_names, unpack
from graphrefine.system.checks import check_choice, version_problem
from graphrefine.system.files import replacing, replacing_folder
from graphrefine.tables.source import check_unpacked

_log = logging.getLogger(__name__)
MARK = "graphrefine embedding"  # the "format" of a folder and of an npz archive
# Bytes of mapped vectors up to which every load verifies the fingerprint: half a second on two cores. More is mapped so
# that nothing has to be read; `graphrefine check` and load(verify=True) read everything.
VERIFIED = 1 << 30
EDGES = "if this is a list of edges: graphrefine embed makes vectors of it, and graphrefine info shows what is in it"
OTHER_FOLDERS = {  # by a file that only they have
    "live.db": "is a folder of live vectors; graphrefine live has commands for it: check, serve, export (an embedding)",
    "indptr.npy": "is a graph on disk, not an embedding; graphrefine embed makes vectors of it",
}


def write_embedding(
    data: EmbeddingData, path: PathLike, *, format: str | None = None, durable: bool | None = None, **options: Any
) -> None:
    """Check names and options for the format of a path or an address, and write there; see `save_data`."""
    file_format = choose_format(path, format)
    options = file_format.options(options)
    file_format.check_package()
    data = names_as_text(data, format_place(path), stacklevel=4)
    blank_names = options.pop("blank_names", "refuse")
    check_choice("blank_names", blank_names, ("refuse", "replace"))
    if blank_names == "replace":
        data = data._replace(names=file_format.function("replace_blanks")(data.names, format_place(path)))
    check_names(path, file_format, data.names)
    save_data(data, path, file_format, durable=durable, **options)


def save_data(
    data: EmbeddingData, path: PathLike, file_format: Format, *, durable: bool | None = None, **options: Any
) -> Fingerprint | None:
    """Write an embedding in one step or not at all; return the fingerprint that was stored, if any."""
    # Before the write, though that reads the vectors once more: most formats have their metadata before the arrays.
    # A format without metadata has no use for a state either.
    fingerprint = fingerprint_of(data) if file_format.state else None
    if fingerprint is None:
        data = data._replace(state=State())
    else:
        data = data._replace(fingerprint=json.dumps(fingerprint.to_dict()))
    if file_format.server:
        file_format.write(os.fspath(path), data, **options)
        return fingerprint
    try:
        with (
            replacing_folder(path, replaceable=file_format.check_replaceable, durable=durable)
            if file_format.folder
            else replacing(path, durable=durable)
        ) as hidden:
            file_format.write(hidden, data, **options)
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
    _log.info("wrote %s", os.fspath(path))
    return fingerprint


def names_as_text(data: EmbeddingData, label: str, *, stacklevel: int) -> EmbeddingData:
    """Return the data with names that files can store: the text of objects that are no strings, with a warning."""
    if data.names.dtype != object or set(map(type, data.names)) <= {str}:
        return data
    odd = next(name for name in data.names.tolist() if not isinstance(name, str))
    message = f"names such as {odd!r} ({type(odd).__name__}) are written as text, {str(odd)!r}, and come back so"
    warnings.warn(ArgumentWarning(message), stacklevel=stacklevel)
    try:
        return data._replace(names=text_names(data.names, sources=data.recipe.get("sources")))
    except InputError as error:
        raise InputError(f"{label}: {error}") from None


def load_data(
    path: PathLike, *, format: str | None = None, table: str | None = None, verify: bool | None = None
) -> EmbeddingData:
    """Read an embedding from a file, a folder or a table, held to its fingerprint: see `Embedding.load`."""
    file_format = input_format(path, format)
    if file_format.server:
        return file_format.read(os.fspath(path), table=table)
    if table is not None:
        raise InputError(f"table={table!r}: {os.fspath(path)} is no server, which has tables", argument="table")
    check_kind(path, file_format)
    with explain_damage(path, format):
        data = file_format.read(Path(path))
        is_large = data.mapped and data.vectors.nbytes > VERIFIED
        if verify is False or (is_large and verify is None):
            return data
        changed = find_changes(data)
    if not changed:
        return data
    # A damaged byte is in one of the arrays. A program that leaves out, adds or sorts rows changes names and vectors,
    # and keeps metadata that it does not know: then the fingerprint is that of an older file, and nothing is damaged.
    if file_format.rewritable and {"names", "vectors"} <= set(changed):
        problem = "was rewritten by another program, so that its fingerprint is that of an older file"
        warnings.warn(ArgumentWarning(f"{os.fspath(path)}: {problem}"), stacklevel=3)
        return data
    parts = " and ".join(changed)
    raise FormatError(path, f"{parts} differ from the stored fingerprint: damaged, or changed by another program")


def find_changes(data: EmbeddingData) -> list[str]:
    """Return the parts of the content that differ from the stored fingerprint; none where there is none."""
    if data.fingerprint is None:
        return []
    stored = Fingerprint.parse(data.fingerprint)
    return ["fingerprint"] if stored is None else stored.differences(fingerprint_of(data))


def check_kind(path: PathLike, file_format: Format) -> None:
    """Refuse a folder for the format of a file, the reverse, and a folder of another kind."""
    position = Path(path)
    if position.is_file() if file_format.folder else position.is_dir():
        kind = "file" if file_format.folder else "folder"
        raise FormatError(path, f"is a {kind}, so it cannot be read as {file_format.name}")
    if file_format.folder and not (position / "meta.json").exists():
        for name, problem in OTHER_FOLDERS.items():
            if (position / name).exists():
                raise FormatError(path, problem)


def metadata_texts(data: EmbeddingData, *kinds: Kind) -> dict[str, str]:
    """Return version, recipe, fingerprint and the pieces of the state of these kinds as texts by name."""
    state = data.state.texts()
    texts = {"version": str(FORMAT_VERSION), "recipe": json.dumps(data.recipe, allow_nan=False)}
    texts |= {name: state[name] for name in names_of(*kinds) if name in state}
    return texts if data.fingerprint is None else {**texts, "fingerprint": data.fingerprint}


def join_data(
    path: PathLike,
    names: Names,
    vectors: NDArray[np.float32],
    metadata: Mapping[str, Any],
    *,
    state: Mapping[str, Any] | None = None,
    mapped: bool = False,
) -> EmbeddingData:
    """Undo `metadata_texts`, with the arrays of the state by name; FormatError where these are damaged or too new."""
    version, fingerprint = metadata.get("version", FORMAT_VERSION), metadata.get("fingerprint")
    version = int(version) if isinstance(version, str) and version.isdecimal() else version
    if problem := version_problem(version, FORMAT_VERSION):
        raise FormatError(path, problem)
    if fingerprint is not None and not isinstance(fingerprint, str):
        raise FormatError(path, "has a fingerprint that is no text: it is damaged")
    recipe = metadata.get("recipe", {})
    if isinstance(recipe, str | bytes):
        recipe = json.loads(recipe)
    pieces = {name: metadata[name] for name in names_of("array", "number") if name in metadata}
    return EmbeddingData(names, vectors, recipe, mapped, State.from_stored(pieces | dict(state or {})), fingerprint)


def name_arrays(names: Names) -> dict[str, NDArray[Any]]:
    """Return names as arrays by name, for `read_names`: integers, or packed texts; none for 0, 1, ..., n - 1."""
    if is_range(names):
        return {}
    if names.dtype != object:
        return {"names": names}
    text, offsets = pack(names)
    return {"names_text": text, "names_offsets": offsets}


def read_names(arrays: Any, nodes: int) -> Names:
    """Undo `name_arrays`; ``names`` may also be NumPy strings."""
    if "names" in arrays:
        return as_names(arrays["names"], nodes)
    if "names_text" in arrays:
        return unpack(arrays["names_text"], arrays["names_offsets"])
    return np.arange(nodes, dtype=np.int64)


def as_vectors(path: Path, array: NDArray[Any]) -> NDArray[np.float32]:
    """Refuse what cannot be the vectors of an embedding; float16 and float64 become float32."""
    if array.ndim != 2 or array.dtype.kind != "f":
        hint = f"; {EDGES}" if array.dtype.kind in "iu" and array.ndim == 2 else ""
        raise FormatError(path, f"has {array.dtype} {array.shape}; vectors are floating-point (nodes, dim){hint}")
    with np.errstate(over="ignore"):  # infinite numbers are refused as such
        return np.ascontiguousarray(array, dtype=np.float32)


def check_memory(path: Path, size: int) -> None:
    """Refuse content that unpacks beyond the memory before any is taken for it."""
    check_unpacked(str(path), size, "it", hint="load it where there is more", copies=1)
