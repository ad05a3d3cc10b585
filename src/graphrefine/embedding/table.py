"""VectorTable: vectors with the names of their rows, the recipe that made them, and their state.

`graphrefine.Embedding` is one; search and maps work on any.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, KeysView, Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from graphrefine.embedding.state import DEGREE_WEIGHT, STATE_FORMATS, State
from graphrefine.errors import InputError
from graphrefine.graph.lookup import Lookup, Name, Side, Sides
from graphrefine.graph.node_ids import Names, as_names
from graphrefine.system import as_plain

if TYPE_CHECKING:
    from graphrefine.system.companions import Stamp


_BLOCK = 1 << 14  # rows compared at a time


class Marks(NamedTuple):
    """What a file says of itself: the fingerprint of the content as JSON, the seal of its bytes, digests of files."""

    fingerprint: str | None = None
    seal: str | None = None
    files: Mapping[str, str] = MappingProxyType({})  # of a folder

    def texts(self) -> dict[str, str]:
        """The marks that are there, by name, as formats store them beside the recipe."""
        return {name: text for name in MARKS if (text := getattr(self, name)) is not None}


MARKS = ("fingerprint", "seal")


class Parts(NamedTuple):
    """A table of vectors, taken apart, as every file format stores it; the whole state, or none of it.

    ``mapped`` says that the vectors stay on disk until they are touched, so that nothing may read
    them all just to check them.
    """

    names: Names
    vectors: NDArray[np.float32]  # (n, k)
    recipe: dict[str, Any]
    mapped: bool = False
    state: State = State()
    marks: Marks = Marks()


class VectorTable:
    """Rows of float32 with names.

    Attributes
    ----------
    names : ndarray of n int64, or of n str or other ids (dtype object)
    vectors : ndarray of float32, (n, k), in memory or mapped from a file (then read-only)
    recipe : dict
    state : State
        Degrees, and whatever was learned from the graph.
    sides : Sides
        Place of source and target vectors; see `graphrefine.graph.lookup`.
    path : Path or None
        The file that the vectors were loaded from; an index or a map of them is kept beside it.
    file_stamp : dict or None
        Size and time of that file when it was opened.
    is_bare : bool
        Whether that file has names and numbers alone, so that nothing says what their graph was.
    """

    path: Path | None = None
    file_stamp: Stamp | None = None
    is_bare: bool = False

    def __init__(
        self,
        names: Any,
        vectors: NDArray[np.float32],
        recipe: dict[str, Any],
        state: State,
        *,
        mapped: bool = False,
    ) -> None:
        self.vectors = vectors
        self.recipe = as_recipe(recipe)
        self.state = state.checked(*vectors.shape, sides=self.recipe.get("sides"), mapped=mapped)
        self.sides = Sides.of(self.recipe, vectors.shape)
        self.names = as_names(names, len(vectors))

    @cached_property
    def lookup(self) -> Lookup:
        """Rows by the names of their nodes."""
        return Lookup(self.names, self.sides)

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, key: Any) -> NDArray[np.float32]:
        """The vector of a node, or those of several; `graphrefine.graph.lookup.Lookup.select` has what a key means.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ann", "bob", "cy"], [[1, 2], [3, 4], [5, 6]])
        >>> people["bob"].tolist(), people[["cy", "ann"]].tolist()
        ([3.0, 4.0], [[5.0, 6.0], [1.0, 2.0]])
        >>> people[1:].tolist() == people[people.vectors[:, 0] > 2].tolist() == people.vectors[1:].tolist()
        True
        """
        vectors: NDArray[np.float32] = self.vectors[self.lookup.select(key)]
        return vectors

    def __contains__(self, name: object) -> bool:
        return bool(self.lookup.on_sides(name))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names.tolist())

    def get(self, name: Name, default: Any = None, *, side: Side | None = None) -> Any:
        """The vector of a node, or the default if no node is called so.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ann", "bob"], [[1, 2], [3, 4]])
        >>> people.get("bob").tolist(), people.get("eve"), people.get("eve", 0)
        ([3.0, 4.0], None, 0)
        """
        if not isinstance(name, Hashable):
            raise InputError(f"get({name!r}): one name is expected; embedding[[...]] gives the vectors of several")
        row = self.lookup.find(name, side)
        first = 0 if side is None else self.sides.first(side)
        return default if row is None else self.vectors[row + first]

    def keys(self) -> KeysView[Any]:
        """The names, as a dict has them."""
        return KeysView(cast("Mapping[Any, Any]", self))

    def values(self) -> NDArray[np.float32]:
        """The vectors, in the order of the names: `vectors` itself.  # (n, k)."""
        return self.vectors

    def items(self) -> Iterator[tuple[Any, NDArray[np.float32]]]:
        """Pairs of name and vector, in the order of the rows.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> [(name, vector.tolist()) for name, vector in Embedding(["ann", "bob"], [[1], [2]]).items()]
        [('ann', [1.0]), ('bob', [2.0])]
        """
        return zip(self.names.tolist(), self.vectors, strict=True)

    def to_dict(self) -> dict[Any, NDArray[np.float32]]:
        """Vectors by name, as views; InputError where a name stands on both sides of a bipartite graph.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> Embedding(["ann"], [[1, 2]]).to_dict()
        {'ann': array([1., 2.], dtype=float32)}
        """
        vectors = dict(self.items())
        if len(vectors) < len(self):
            for name in self:
                self.index(name)  # raises the error of the name that stands twice
        return vectors

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of nodes and of numbers in a vector."""
        return len(self), self.dim

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """The vectors for NumPy and all that takes arrays: themselves, unless another type or a copy is asked for."""
        same = dtype is None or np.dtype(dtype) == self.vectors.dtype
        if copy is False and not same:
            raise InputError(f"the vectors are float32: as {np.dtype(dtype)} they need a copy", argument="copy")
        return self.vectors if same and not copy else np.array(self.vectors, dtype)

    def __dlpack__(self, **options: Any) -> Any:
        """The vectors by DLPack, for torch, JAX, CuPy and others; they share the memory."""
        try:
            return self.vectors.__dlpack__(**options)
        except BufferError as error:
            if self.vectors.flags.writeable:
                raise
            raise BufferError(f"{error}; the vectors are read-only: numpy.array(embedding) is a copy to give") from None

    def __dlpack_device__(self) -> tuple[Any, int]:
        """The processor."""
        return self.vectors.__dlpack_device__()

    def __eq__(self, other: object) -> bool:
        """Whether names, vectors, recipe and state are the same, rows in the same order."""
        if not isinstance(other, VectorTable):
            return NotImplemented
        same = self.shape == other.shape and self.recipe == other.recipe and self.names.dtype == other.names.dtype
        if self is other or not same or not np.array_equal(self.names, other.names) or self.state != other.state:
            return self is other
        blocks = (slice(start, start + _BLOCK) for start in range(0, len(self), _BLOCK))
        return all(np.array_equal(self.vectors[rows], other.vectors[rows]) for rows in blocks)

    __hash__ = None  # type: ignore[assignment]  # equal by content, which can change

    def __getstate__(self) -> dict[str, Any]:
        """All but what can be made again, for pickles and copies."""
        kept = ("names", "vectors", "recipe", "state", "sides", "path", "file_stamp", "is_bare")
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def index(self, name: Name, *, side: Side | None = None) -> int:
        """Give the row of a node in `vectors`; or, where a side is named, in `source` or `target`.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> Embedding([10, 20], [[1], [2]]).index(20)
        1
        >>> users_and_items = Embedding([1, 2, 1], [[1], [2], [3]], {"sides": "rows", "sources": 2})
        >>> users_and_items.index(2), users_and_items.index(1, side="target")
        (1, 0)
        """
        return self.lookup.row(name, side)

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    @property
    def degrees(self) -> NDArray[np.float32] | None:
        """Number of neighbors of each node, for `score`; None if not known.  # (n,)."""
        return self.state.degrees

    @property
    def fold_map(self) -> NDArray[np.float32] | None:
        """Regression that `fold_in` uses, learned from the graph; None if nothing was learned.  # (6k, k)."""
        return self.state.fold_map

    @property
    def degree_weight(self) -> float:
        """Weight of the degrees in `score`: learned from the graph, or 0.1."""
        return DEGREE_WEIGHT if self.state.degree_weight is None else self.state.degree_weight

    @property
    def source(self) -> NDArray[np.float32]:
        """Vectors of nodes as sources: of directed graphs half of the columns, of bipartite ones the first rows.

        Where edges have no direction, source and target are both `vectors`. The score of an edge from u to v is
        ``source[u] @ target[v]``. A view, not a copy.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> both = Embedding(["ada", "bob"], [[1, 2, 3, 4], [5, 6, 7, 8]], {"sides": "columns"})
        >>> both.source[0].tolist(), both.target[1].tolist()
        ([1.0, 2.0], [7.0, 8.0])
        """
        return self.sides.vectors(self.vectors, "source")

    @property
    def target(self) -> NDArray[np.float32]:
        """Vectors of nodes as targets; see `source`."""
        return self.sides.vectors(self.vectors, "target")

    @property
    def source_names(self) -> NDArray[Any]:
        """The node of each row of `source`."""
        return self.sides.names(self.names, "source")

    @property
    def score_name(self) -> str:
        """Name of the score that `graphrefine.Embedding.score` gives, as in `graphrefine evaluate links`."""
        if self.sides.kind is not None:
            return "dot"
        return "cosine" if self.degrees is None else "cosine-degree"

    @property
    def target_names(self) -> NDArray[Any]:
        """The node of each row of `target`."""
        return self.sides.names(self.names, "target")


def check_origin(table: VectorTable, use: str, *, instead: str, argument: str | None = None) -> None:
    """Refuse a use that goes by degrees and sides of vectors from a file that holds neither."""
    if table.is_bare:
        raise InputError(
            f"{table.path}: {use} goes by the degrees and by whether edges have a direction or two sides, and the file "
            f"does not say; take one of a format that keeps it ({', '.join(STATE_FORMATS)}), or {instead}",
            argument=argument,
        )


def check_table(value: Any, argument: str) -> None:
    """Refuse what is no embedding, such as the path of one.

    Examples
    --------
    >>> check_table("friends.npz", "old")
    Traceback (most recent call last):
        ...
    graphrefine.errors.InputError: old: an Embedding is expected, not str; graphrefine.load('friends.npz') reads one
    """
    if isinstance(value, VectorTable):
        return
    way_out = f"; graphrefine.load({str(value)!r}) reads one" if isinstance(value, str | PathLike) else ""
    text = f"{argument}: an Embedding is expected, not {type(value).__name__}{way_out}"
    raise InputError(text, argument=argument)


def has_finite_sum(vectors: NDArray[np.float32]) -> bool:
    """Whether the sum of all numbers is finite: then each of them is. 15 times as fast as a look at each."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(vectors.sum()))


def check_finite(vectors: NDArray[np.float32], names: Names) -> None:
    """Raise InputError, which names the node, if a number of its vector is NaN or infinite."""
    if has_finite_sum(vectors):
        return
    for row, vector in enumerate(vectors):
        if not np.isfinite(vector).all():
            bad, name = vector[~np.isfinite(vector)][0], names.tolist()[row]
            raise InputError(f"the vector of node {name!r} (row {row}) holds {bad}, not a number")


def as_vectors(vectors: ArrayLike) -> NDArray[np.float32]:
    """Vectors as float32 (n, k), not copied if they are that."""
    try:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(vectors, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"vectors cannot be made an array of float32: {error}") from error
    if np.ndim(vectors) != 2:
        raise InputError(f"vectors has the shape {np.shape(vectors)}; it must be (nodes, dim)")
    return array


def as_recipe(recipe: dict[str, Any]) -> dict[str, Any]:
    """Give a recipe as it will come back from a file (tuples as lists, for one)."""
    if not isinstance(recipe, dict):
        raise InputError(f"recipe must be a dict of settings, not {type(recipe).__name__}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(recipe, allow_nan=False, default=_plain_scalar))
    except (TypeError, ValueError) as error:
        raise InputError(f"recipe holds something that JSON cannot: {error}") from error
    return copy


def _plain_scalar(value: Any) -> Any:
    """The Python number of a NumPy scalar; TypeError for anything else that JSON cannot hold."""
    plain = as_plain(value)
    if plain is value:
        raise TypeError(f"{type(value).__name__} {value!r}")
    return plain
