"""What every format stores: names, vectors and more where it can; and how an array is mapped from a file."""

from __future__ import annotations

import contextlib
import gzip
import json
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.node_names import Names
from graphrefine.system.storage import OwnFile

_GZIP = b"\x1f\x8b"
FORMAT_VERSION = 1  # of the folder's layout and of every key that graphrefine adds to other formats


class Parts(NamedTuple):
    """An embedding, taken apart. Formats that cannot hold the degrees or the map leave them out.

    ``mapped`` says that the vectors stay on disk until they are touched, so that nothing may read
    them all just to check them.
    """

    names: Names
    vectors: NDArray[np.float32]  # (n, k)
    recipe: dict[str, Any]
    mapped: bool = False
    degrees: NDArray[Any] | None = None  # (n,)
    fold_map: NDArray[Any] | None = None  # (6k, k), see `graphrefine.embedding.fold_in`
    degree_weight: float | None = None  # see `graphrefine.embedding.degree_weight`; kept where the degrees are

    def extras(self) -> dict[str, NDArray[Any]]:
        """The arrays that are there beside names and vectors, by name."""
        found = {"degrees": self.degrees, "fold_map": self.fold_map}
        return {name: array for name, array in found.items() if array is not None}


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of text to be read, gzipped or not: its first bytes tell."""
    with path.open("rb") as raw:
        zipped = raw.read(2) == _GZIP
        raw.seek(0)
        with gzip.GzipFile(fileobj=raw) if zipped else raw as file:
            yield file  # type: ignore[misc]  # GzipFile reads as files do


@contextlib.contextmanager
def create_gzip(path: Path) -> Iterator[gzip.GzipFile]:
    """Open a file to be written gzipped, at the fastest level: digits hardly shrink further."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as file:
        yield file


def map_array(file: IO[bytes], offset: int, *, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Map an array of an open file; ValueError if the file is too short.

    The result is a plain read-only array. NumPy's own memmap remembers a file *name*, and joblib's workers
    open that name again: after a replacement they would silently work on other vectors.
    """
    count = int(np.prod(shape, dtype=object))
    size = os.fstat(file.fileno()).st_size
    if offset + count * dtype.itemsize > size:
        raise ValueError(f"cut short: {offset + count * dtype.itemsize:,} bytes expected, {size:,} found")
    if count == 0:
        return np.zeros(shape, dtype=dtype)
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype=dtype, count=count, offset=offset).reshape(shape)


def map_npy(file: IO[bytes]) -> NDArray[Any]:
    """Map the array of an open ``.npy`` file; ValueError if it is damaged, cut short or holds objects."""
    try:
        version = np.lib.format.read_magic(file)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, fortran, dtype = readers[version](file)
    except Exception as error:  # the header is parsed as Python: there is no end to what damage can raise
        raise ValueError(f"not an npy file of numbers, or damaged ({error})") from error
    if dtype.hasobject:
        raise ValueError("holds Python objects, which are never loaded")
    array = map_array(file, file.tell(), dtype=dtype, shape=shape[::-1] if fortran else shape)
    return array.T if fortran else array


def save_npy(path: Path, array: NDArray[Any]) -> None:
    """Write an ``.npy`` file; of an `OwnFile`, the file itself gets a second name where the disk allows it."""
    mapped = array if isinstance(array, OwnFile) else array.base
    if isinstance(mapped, OwnFile) and mapped.filename is not None and mapped.shape == array.shape:
        mapped.flush()
        with contextlib.suppress(OSError):  # another disk, or one without links
            os.link(mapped.filename, path)
            return
    with path.open("wb") as file:  # a real file: NumPy writes it in one go
        np.save(file, array, allow_pickle=False)


def parse_weight(value: Any) -> float | None:
    """The weight of the degrees, as a file has it; ValueError if it is no weight."""
    if value is None:
        return None
    weight = float(value)
    if not 0 <= weight < float("inf"):
        raise ValueError(f"the weight of the degrees is {weight}")
    return weight


def dump_recipe(recipe: dict[str, Any]) -> str:
    """Write a recipe as one line of JSON."""
    return json.dumps(recipe, allow_nan=False)


def parse_recipe(text: str | bytes) -> dict[str, Any]:
    """Undo ``dump_recipe``; ValueError if it is not a JSON object."""
    recipe = json.loads(text)
    if not isinstance(recipe, dict):
        raise ValueError("the recipe is not a JSON object")
    return recipe
