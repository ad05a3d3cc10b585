"""Embedding: the vectors of a graph's nodes, their names, and the recipe that made them.

Saved and loaded in any format of ``graphrefine.vector_formats``, chosen by the suffix.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.files import check_writable, replacing, replacing_folder
from graphrefine.vector_formats import READ_ERRORS, Format, choose
from graphrefine.vector_formats.folder import check_replaceable
from graphrefine.vector_formats.names import Names, as_names
from graphrefine.vector_formats.parts import Parts

Name = int | str | np.integer[Any]

_MANY = 100_000  # names beyond which looking for near matches would take too long


class Embedding:
    """Vectors with the names of their nodes and the recipe that made them.

    Parameters
    ----------
    names : sequence or array of n integers or n strings, or None
        The node of each row; None means 0, 1, ..., n - 1.
    vectors : array of shape (n, k)
        Stored as float32, not copied if it is that already. NaN and infinite numbers are refused, except
        in files that are memory-mapped: those are not read just to check them.
    recipe : dict, optional
        How the vectors were made (settings, seed, version): anything that JSON can hold.

    Attributes
    ----------
    names : ndarray of n int64, or of n str (dtype object)
    vectors : ndarray of float32, (n, k), in memory or mapped from a file (then read-only)
    recipe : dict

    Examples
    --------
    >>> embedding = Embedding(["ada", "bob"], [[1, 0], [0.6, 0.8]], {"seed": 0})
    >>> embedding
    Embedding(2 nodes x 2, names 'ada' ... 'bob')
    >>> embedding["bob"]
    array([0.6, 0.8], dtype=float32)
    >>> "eve" in embedding, embedding.index("bob"), len(embedding), embedding.dim
    (False, 1, 2, 2)
    """

    names: Names
    vectors: NDArray[np.float32]
    recipe: dict[str, Any]

    def __init__(self, names: Any, vectors: ArrayLike, recipe: dict[str, Any] | None = None) -> None:
        self._take(Parts(names, _as_vectors(vectors), recipe or {}))

    def _take(self, parts: Parts) -> None:
        self.vectors = parts.vectors
        self.names = as_names(parts.names, len(parts.vectors))
        self.recipe = _as_recipe(parts.recipe)
        self._rows: dict[int | str, int] | None = None
        if not parts.mapped:
            self._check_finite()

    def _check_finite(self) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(self.vectors.sum()):  # then every number is; 15 times as fast as asking each
                return
        for row, vector in enumerate(self.vectors):
            if not np.isfinite(vector).all():
                bad = vector[~np.isfinite(vector)][0]
                raise InputError(
                    f"the vector of node {self._shown(row)} (row {row}) holds {bad}, not a number"
                )

    def __len__(self) -> int:
        return len(self.vectors)

    def _shown(self, row: int) -> str:
        return repr(self.names.item(row))  # 7, not np.int64(7)

    def __repr__(self) -> str:
        ends = f", names {self._shown(0)} ... {self._shown(-1)}" if len(self) else ""
        return f"Embedding({len(self)} nodes x {self.dim}{ends})"

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    def index(self, name: Name) -> int:
        """Give the row of a node.

        Examples
        --------
        >>> Embedding([10, 20], [[1], [2]]).index(20)
        1
        """
        row = self._find(name)
        if row is None:
            raise InputError(f"no node is called {name!r}{self._hint(name)}")
        return row

    def _find(self, name: object) -> int | None:
        if self._rows is None:
            self._rows = _rows_by_name(self.names)
        if isinstance(name, np.integer | np.str_):
            name = name.item()
        if isinstance(name, bool) or not isinstance(name, int | str):
            return None
        return self._rows.get(name)

    def _hint(self, name: object) -> str:
        """Say what may have been meant."""
        if len(self) == 0:
            return "; the embedding is empty"
        wanted = str if self.names.dtype == object else int
        if not isinstance(name, wanted | np.generic):
            return f"; the names are {'strings' if wanted is str else 'integers'}, such as {self._shown(0)}"
        near = difflib.get_close_matches(str(name), map(str, self.names)) if len(self) <= _MANY else []
        return f"; near it: {', '.join(near)}" if near else f"; the first is {self._shown(0)}"

    def __getitem__(self, name: Name) -> NDArray[np.float32]:
        """Give the vector of a node, by its name (not its row)."""
        vector: NDArray[np.float32] = self.vectors[self.index(name)]
        return vector

    def __contains__(self, name: object) -> bool:
        return self._find(name) is not None

    def __iter__(self) -> Iterator[int | str]:
        return iter(self.names.tolist())

    def save(self, path: str | os.PathLike[str], *, format: str | None = None, durable: bool = False) -> None:
        """Write the embedding, replacing what is there in one step or, if anything fails, not at all.

        Parameters
        ----------
        path : path
            The suffix says the format (see ``graphrefine.vector_formats``); none means the native folder.
        format : str, optional
            The format, whatever the suffix.
        durable : bool
            Wait until the disk has it, so that it also survives a power cut. A killed process never
            leaves a part of an output, either way.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "people.safetensors"
        >>> Embedding(["ada", "bob"], [[1, 0], [0, 1]]).save(path)
        >>> load(path)
        Embedding(2 nodes x 2, names 'ada' ... 'bob')
        """
        chosen = choose(path, format)
        _check_names(path, chosen, self.names)
        try:
            with (
                replacing_folder(path, replaceable=check_replaceable, durable=durable)
                if chosen.folder
                else replacing(path, durable=durable)
            ) as hidden:
                chosen.write(hidden, Parts(self.names, self.vectors, self.recipe))
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, format: str | None = None) -> Embedding:
        """Read an embedding.

        Parameters
        ----------
        path : path
            A file whose suffix says the format, or a native folder of any name. Folders and npy, arrow and
            safetensors files are memory-mapped: loading takes no time, and no memory until it is used.
        format : str, optional
            The format, whatever the suffix.

        Returns
        -------
        Embedding
        """
        place, chosen = Path(path), _format_of(path, format)
        if place.is_file() if chosen.folder else place.is_dir():
            kind = "file" if chosen.folder else "folder"
            raise FormatError(place, f"is a {kind}, so it cannot be read as {chosen.name}")
        try:
            embedding = cls.__new__(cls)
            embedding._take(chosen.read(place))
        except FormatError:
            raise
        except READ_ERRORS as error:
            problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise FormatError(place, f"cannot be read as {chosen.name}: {problem}") from error
        return embedding


def _format_of(path: str | os.PathLike[str], format: str | None) -> Format:
    """Choose the format to read: a folder is the native format, whatever its name."""
    return choose(path, "folder" if format is None and Path(path).is_dir() else format)


def load(path: str | os.PathLike[str], *, format: str | None = None) -> Embedding:
    """Read an embedding; the same as ``Embedding.load``."""
    return Embedding.load(path, format=format)


class Conversion(NamedTuple):
    """What ``convert`` did."""

    nodes: int
    dim: int
    source_format: str
    target_format: str


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_format: str | None = None,
    target_format: str | None = None,
) -> Conversion:
    """Read an embedding in one format and write it in another.

    From a memory-mapped format, a block of rows at a time is in memory. The target is checked first.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> Embedding([7, 8, 9], [[1], [2], [3]]).save(folder / "some.csv")
    >>> convert(folder / "some.csv", folder / "same.vec")
    Conversion(nodes=3, dim=1, source_format='csv', target_format='word2vec')
    """
    check_output(target, format=target_format)
    read_as = _format_of(source, source_format)
    embedding = load(source, format=read_as.name)
    embedding.save(target, format=target_format)
    return Conversion(len(embedding), embedding.dim, read_as.name, choose(target, target_format).name)


def check_output(
    path: str | os.PathLike[str], *, format: str | None = None, names: Names | None = None, values: int = 0
) -> None:
    """Find out before the work whether an embedding could be saved at ``path``.

    Parameters
    ----------
    path : path
        Its suffix must be known, its package installed, its folder there and writable; what stands there
        already must be something to be replaced.
    format : str, optional
        The format, whatever the suffix.
    names : array, optional
        The names to be stored, if known by now: not every format can hold every name.
    values : int
        How many numbers will be stored (nodes times dim), if known by now: the disk must have room for them.
    """
    chosen = choose(path, format)
    chosen.check_package()
    if names is not None:
        _check_names(path, chosen, names)
    size = values * chosen.bytes_per_value
    check_writable(path, folder=chosen.folder, size=size, replaceable=check_replaceable)


def _check_names(path: str | os.PathLike[str], chosen: Format, names: Names) -> None:
    try:
        chosen.check_names(names)
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None


def _as_vectors(vectors: ArrayLike) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors cannot be made an array of float32: {error}") from error
    if np.ndim(vectors) != 2:
        raise InputError(f"vectors has the shape {np.shape(vectors)}; it must be (nodes, dim)")
    return array


def _as_recipe(recipe: dict[str, Any]) -> dict[str, Any]:
    """Give a recipe as it will come back from a file (tuples as lists, for one)."""
    if not isinstance(recipe, dict):
        raise InputError(f"recipe must be a dict of settings, not {type(recipe).__name__}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(recipe, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(f"recipe holds something that JSON cannot: {error}") from error
    return copy


def _rows_by_name(names: Names) -> dict[int | str, int]:
    rows = dict(zip(names.tolist(), range(len(names)), strict=True))
    if len(rows) < len(names):
        twice = next(name for row, name in enumerate(names.tolist()) if rows[name] != row)
        raise InputError(f"the name {twice!r} stands for several rows; names must differ to be looked up")
    return rows
