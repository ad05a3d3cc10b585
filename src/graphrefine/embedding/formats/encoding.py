"""Pieces that several formats share: text files, gzipped or not; the recipe as JSON; Arrow arrays; numbers of rows."""

from __future__ import annotations

import contextlib
import gzip
import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import ArgumentWarning
from graphrefine.readers.limits import check_unpacked

_GZIP = b"\x1f\x8b"
MORE_MEMORY = "load it where there is more"  # the way out for a file that unpacks beyond the memory


@contextlib.contextmanager
def open_text(path: Path) -> Iterator[IO[bytes]]:
    """Open a file of text to be read, gzipped or not: its first bytes tell."""
    with path.open("rb") as raw:
        zipped = raw.read(2) == _GZIP
        raw.seek(0)
        with _Unpacked(fileobj=raw) if zipped else raw as file:
            yield file  # type: ignore[misc]  # GzipFile reads as files do


class _Unpacked(gzip.GzipFile):
    """Gzipped data, read as far as the memory allows."""

    def read(self, size: int | None = -1) -> bytes:
        """Bytes, at most ``size``."""
        data = super().read(size)
        check_unpacked(str(self.name), self.tell(), "it", way_out=MORE_MEMORY, copies=1)
        return data


@contextlib.contextmanager
def create_gzip(path: Path) -> Iterator[gzip.GzipFile]:
    """Open a file to be written gzipped, at the fastest level: digits hardly shrink further."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as file:
        yield file


EDGES = "if this is a list of edges: graphrefine embed makes vectors of it, and graphrefine info shows what is in it"


def dump_recipe(recipe: dict[str, Any]) -> str:
    """Write a recipe as one line of JSON."""
    return json.dumps(recipe, allow_nan=False)


def parse_recipe(text: str | bytes) -> dict[str, Any]:
    """Undo ``dump_recipe``; ValueError if it is not a JSON object."""
    try:
        recipe = json.loads(text)
    except RecursionError:
        raise ValueError("the recipe is nested far too deep") from None
    if not isinstance(recipe, dict):
        raise ValueError("the recipe is not a JSON object")
    return recipe


def number_rows(path: Path, rows: int, metadata: Mapping[bytes, bytes] | None) -> range:
    """Numbers of the rows, as names: those of a RangeIndex that pandas noted in the metadata of a schema, else from 0.

    Examples
    --------
    >>> note = b'{"index_columns": [{"kind": "range", "start": 500, "stop": 504, "step": 1}]}'
    >>> number_rows(Path("x.parquet"), 4, {b"pandas": note}), number_rows(Path("x.parquet"), 4, None)
    (range(500, 504), range(0, 4))
    """
    try:
        (index,) = json.loads((metadata or {})[b"pandas"])["index_columns"]
        numbers = range(index["start"], index["stop"], index["step"])
    except (LookupError, TypeError, ValueError, RecursionError):
        return range(rows)
    if len(numbers) == rows:
        return numbers
    remark = f"names of its rows are 0, 1, ...: the index that pandas noted, {numbers}, is not that of {rows:,} rows"
    warnings.warn(ArgumentWarning(f"{path}: {remark}"), stacklevel=6)
    return range(rows)


def plain_array(numbers: NDArray[Any]) -> Any:
    """An Arrow array that shares the memory of numbers; pyarrow's own way would load pandas, for nothing."""
    import pyarrow as pa

    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])
