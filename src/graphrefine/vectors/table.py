"""VectorTable: vectors with the names of their rows, the recipe that made them, and their state.

`graphrefine.Embedding` is one; search and maps work on any.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.errors import InputError
from graphrefine.graph.lookup import Lookup, Name, Side, Sides
from graphrefine.graph.node_ids import Names, as_names
from graphrefine.system import as_plain
from graphrefine.vectors.state import DEGREE_WEIGHT, State

if TYPE_CHECKING:
    from graphrefine.vectors.companions import Stamp


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
    """

    path: Path | None = None
    file_stamp: Stamp | None = None

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
        self.state = state.checked(*vectors.shape, mapped=mapped)
        self.sides = Sides.of(self.recipe, vectors.shape)
        self.names = as_names(names, len(vectors))

    @cached_property
    def lookup(self) -> Lookup:
        """Rows by the names of their nodes."""
        return Lookup(self.names, self.sides)

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, name: Name) -> NDArray[np.float32]:
        """Give the vector of a node, by its name (not its row)."""
        vector: NDArray[np.float32] = self.vectors[self.index(name)]
        return vector

    def __contains__(self, name: object) -> bool:
        return bool(self.lookup.on_sides(name))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names.tolist())

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
        """Number of neighbours of each node, for `score`; None if not known.  # (n,)."""
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
