"""Content of an embedding: names, vectors, recipe, and the state, which has one field for each piece.

A file format stores the whole state or none of it, without knowing the pieces: arrays by name (`State.arrays`), or
columns with a number for each node (`State.columns`) and text for the rest (`State.texts`); `State.from_stored` takes
back either. A new piece is one more field here, with its kind and its check.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import Names
from graphrefine.search.vectors import VectorTable
from graphrefine.system import as_plain

Kind = Literal["column", "array", "number"]
FOLD_BLOCKS = 6  # of k rows each, in a fold map; see `graphrefine.embedding.fold_in`
DEGREE_WEIGHT = 0.1  # where it was not learned


@dataclass(frozen=True, eq=False)
class State:
    """Pieces of state; None where a piece is not known.

    Parameters
    ----------
    degrees
        Number of neighbors of each node.
    fold_map
        Regression for the vectors of new nodes, learned from the graph: `graphrefine.embedding.fold_in`; of directed
        and bipartite graphs one for each side, `graphrefine.embedding.side_maps`.
    degree_weight
        Weight of the degrees in a score, learned from the graph: `graphrefine.embedding.learn`.
    """

    degrees: NDArray[np.float32] | None = field(default=None, metadata={"kind": "column", "column": "degree"})  # (n,)
    fold_map: NDArray[np.float32] | None = field(default=None, metadata={"kind": "array"})  # (6k, k)
    degree_weight: float | None = field(default=None, metadata={"kind": "number"})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        here, there = self.arrays(), other.arrays()
        return here.keys() == there.keys() and all(np.array_equal(here[name], there[name]) for name in here)

    __hash__ = None  # type: ignore[assignment]  # equal by content, which can change

    def rows(self, rows: NDArray[np.int64] | slice) -> State:
        """Return the state of some rows: their part of every column, and all else as it is."""
        columns = {name: getattr(self, name) for name in names_of("column")}
        parts: dict[str, Any] = {name: None if column is None else column[rows] for name, column in columns.items()}
        return replace(self, **parts)

    def _pieces(self, *kinds: Kind) -> dict[str, Any]:
        named = ((each.name, getattr(self, each.name), each.metadata["kind"]) for each in fields(self))
        return {name: value for name, value, kind in named if kind in kinds and value is not None}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return every piece as an array, by name."""
        return {name: np.asarray(value) for name, value in self._pieces("column", "array", "number").items()}

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the pieces with a number for each node, by the name of their column in a table.  # (n,) each."""
        return {column: getattr(self, name) for column, name in COLUMNS.items() if getattr(self, name) is not None}

    def texts(self) -> dict[str, str]:
        """Return the other pieces as text: numbers in decimals, arrays as base64 of their float32."""
        arrays = {name: _encode(array) for name, array in self._pieces("array").items()}
        return {name: str(number) for name, number in self._pieces("number").items()} | arrays

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> State:
        """Return the state of arrays, numbers and texts by name; ValueError if one is damaged; others are ignored."""
        pieces: dict[str, Any] = {}
        for each in fields(cls):
            value = stored.get(each.name, stored.get(each.metadata.get("column", each.name)))
            if value is not None:
                kind = each.metadata["kind"]
                pieces[each.name] = _number(each.name, value) if kind == "number" else _array(value)
        return cls(**pieces)

    def checked(self, nodes: int, dim: int, *, sides: str | None = None, mapped: bool = False) -> State:
        """Return the same, held to vectors (nodes, dim) of these sides; InputError if a piece does not fit them."""
        degrees, fold_map = self.degrees, self.fold_map
        if degrees is not None:
            degrees = _check_degrees(np.asarray(degrees), nodes, mapped=mapped)
        if fold_map is not None:
            shape = shape_of_map(dim, sides)
            if np.shape(fold_map) != shape or degrees is None:
                raise InputError(
                    f"fold_map has the shape {np.shape(fold_map)}; it must be {shape}, and degrees be given"
                )
            fold_map = np.asarray(fold_map, np.float32)
        try:
            weight = None if self.degree_weight is None else _number("degree_weight", self.degree_weight)
        except ValueError as error:
            raise InputError(f"{error}; a number of 0 or more is expected") from None
        return replace(self, degrees=degrees, fold_map=fold_map, degree_weight=weight)

    def extended(self, below: State) -> State:
        """Append the state of other rows: columns that both have, end to end; the rest as it is here.

        A fold map and a weight of degrees go with the degrees of all rows: without those, both are None.
        """
        columns: dict[str, Any] = {}
        for name in names_of("column"):
            pair = getattr(self, name), getattr(below, name)
            columns[name] = None if any(column is None for column in pair) else np.concatenate(pair)
        state = replace(self, **columns)
        return state if state.degrees is not None else replace(state, fold_map=None, degree_weight=None)


def shape_of_map(dim: int, sides: str | None = None) -> tuple[int, int]:
    """Return the shape of the fold map of vectors of ``dim`` numbers; two sides have a map each, of two rows more."""
    width = dim // 2 if sides == "columns" else dim
    return (FOLD_BLOCKS * width, width) if sides is None else (2 * (FOLD_BLOCKS * width + 2), width)


# Names of the columns of tables that hold a piece with a number for each node.
COLUMNS = {each.metadata["column"]: each.name for each in fields(State) if "column" in each.metadata}


def names_of(*kinds: Kind) -> tuple[str, ...]:
    """Return the names of the pieces of these kinds."""
    return tuple(each.name for each in fields(State) if each.metadata["kind"] in kinds)


def _check_degrees(degrees: NDArray[Any], count: int, *, mapped: bool) -> NDArray[np.float32]:
    if degrees.shape != (count,) or degrees.dtype.kind not in "biuf":
        raise InputError(
            f"degrees: {degrees.dtype} {degrees.shape}; one number for each of {count} vectors is expected"
        )
    if not mapped and not (np.isfinite(degrees) & (degrees >= 0)).all():
        raise InputError("degrees must be finite and not negative")
    return degrees.astype(np.float32, copy=False)


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"the {name.replace('_', ' ')} is {value!r}, not a number") from None
    if not 0 <= number < float("inf"):
        raise ValueError(f"the {name.replace('_', ' ')} is {number}")
    return number


def _encode(array: NDArray[np.float32]) -> str:
    rows, columns = array.shape
    return f"{rows}x{columns}:{base64.b64encode(np.ascontiguousarray(array, '<f4').tobytes()).decode()}"


def _array(value: Any) -> NDArray[Any]:
    if not isinstance(value, str | bytes):
        array: NDArray[Any] = np.asarray(value)
        return array
    text = value.decode() if isinstance(value, bytes) else value
    shape, _, numbers = text.partition(":")
    rows, columns = (int(length) for length in shape.split("x"))
    return np.frombuffer(base64.b64decode(numbers, validate=True), "<f4").reshape(rows, columns)


class EmbeddingData(NamedTuple):
    """The content of an embedding, as every file format stores it; the whole state, or none of it.

    ``mapped`` says that the vectors stay on disk until they are used, so that nothing reads them all to check them.
    """

    names: Names
    vectors: NDArray[np.float32]  # (n, k)
    recipe: dict[str, Any]
    mapped: bool = False
    state: State = State()
    fingerprint: str | None = None  # of the content, as JSON; None where the format or the file has none


class StatefulVectors(VectorTable, Protocol):
    """Named vectors with their state: what the functions on an embedding need of it."""

    state: State

    @property
    def fold_map(self) -> NDArray[np.float32] | None:
        """Regression for the vectors of new nodes."""


def as_recipe(recipe: dict[str, Any]) -> dict[str, Any]:
    """Return a recipe as it will come back from a file (tuples as lists, for one)."""
    if not isinstance(recipe, dict):
        raise InputError(f"recipe must be a dict of settings, not {type(recipe).__name__}")
    try:
        copy: dict[str, Any] = json.loads(json.dumps(recipe, allow_nan=False, default=_plain_scalar))
    except (TypeError, ValueError) as error:
        raise InputError(f"recipe holds something that JSON cannot: {error}") from error
    return copy


def _plain_scalar(value: Any) -> Any:
    """Return the Python number of a NumPy scalar; TypeError for anything else that JSON cannot hold."""
    plain = as_plain(value)
    if plain is value:
        raise TypeError(f"{type(value).__name__} {value!r}")
    return plain
