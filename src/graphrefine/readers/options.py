"""What every loader takes and gives: the reader's options, and edges or a matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import Numbered

Column = str | int


@dataclass(frozen=True)
class Options:
    """The keyword arguments of `graphrefine.read` that a loader may need; None: not given."""

    directed: bool = False
    bipartite: bool = False
    weights: Any = None  # a column, False, or (in memory) an array
    source: Column | None = None
    target: Column | None = None
    delimiter: str | None = None
    header: bool | None = None
    comments: str | None = None
    encoding: str | None = None
    variable: str | None = None
    threads: int = 1


@dataclass(frozen=True)
class EdgeTable:
    """Edges with numbered ends; `names` in order, `weights` checked."""

    numbered: Numbered
    weights: NDArray[np.float32] | None
    report: dict[str, Any] = field(default_factory=dict)
    row_numbers: bool = False  # ids are rows, and all from 0 to the largest are nodes


@dataclass(frozen=True)
class MatrixTable:
    """A matrix, square unless bipartite: anything SciPy's, or checked CSR arrays (indptr, indices, weights)."""

    matrix: Any
    report: dict[str, Any] = field(default_factory=dict)


PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("u", "v"),
    ("node1", "node2"),
    ("id1", "id2"),
    ("fromnodeid", "tonodeid"),
    ("head", "tail"),
    ("parent", "child"),
    ("subject", "object"),
    ("user", "item"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("caller", "callee"),
    ("dependent", "dependency"),
)
"""Usual names of the two columns of an edge list, as `plain` spells them."""

WEIGHT_NAMES = ("weight", "weights", "w")


def plain(name: str) -> str:
    """A column name in lower case, without "_", "-", blanks and a last "id"."""
    letters = name.strip().lower().replace("_", "").replace("-", "").replace(" ", "")
    return letters.removesuffix("id") if letters.endswith("id") and len(letters) > 2 else letters


def known_pair(names: list[str]) -> tuple[int, int] | None:
    """Where the first usual pair of names stands.

    Examples
    --------
    >>> known_pair(["when", "User ID", "item_id"])
    (1, 2)
    """
    folded = [plain(name) for name in names]
    for first, second in PAIRS:
        if plain(first) in folded and plain(second) in folded:
            return folded.index(plain(first)), folded.index(plain(second))
    return None


@dataclass(frozen=True)
class Chosen:
    """The columns that hold the edges."""

    source: int
    target: int
    weight: int | None
    report: dict[str, Any]


def choose_columns(names: list[str] | None, numeric: list[bool], options: Options) -> Chosen:
    """Choose source, target and weight.

    Named columns are taken. Otherwise: a usual pair of names, else the first two columns; the weight is a
    column called weight, or, where there are no names, the third of three columns if it is numeric.

    Parameters
    ----------
    names
        Of the columns; None where the file has no header.
    numeric
        For each column, whether it holds numbers.
    options
        Of the reader.
    """
    count = len(numeric)
    if count < 2:
        raise InputError(f"an edge needs two columns, and there is {count}")
    usual = (known_pair(names) if names else None) or (0, 1)
    source = usual[0] if options.source is None else find_column(options.source, names, count)
    target = usual[1] if options.target is None else find_column(options.target, names, count)
    if source == target:
        raise InputError(f"source and target are the same column ({_label(source, names)}); name both")
    weight = _weight_column(names, numeric, {source, target}, options)
    ignored = [_label(at, names) for at in range(count) if at not in (source, target, weight)]
    report: dict[str, Any] = {"columns": [_label(source, names), _label(target, names)]}
    report["weight_column"] = None if weight is None else _label(weight, names)
    if ignored:
        report["ignored_columns"] = ignored
    return Chosen(source, target, weight, report)


def find_column(column: Column, names: list[str] | None, count: int) -> int:
    """The position of a column given by name, or by position from 0 (as a number or its digits)."""
    if isinstance(column, str):
        if names and column in names:
            return names.index(column)
        if not column.isdecimal():
            known = f"the columns are {', '.join(map(repr, names))}" if names else "the columns have no names"
            raise InputError(f"there is no column {column!r}; {known}; a position from 0 to {count - 1} works too")
    position = int(column)
    if isinstance(column, bool) or not 0 <= position < count:
        raise InputError(f"there is no column {column!r}; positions go from 0 to {count - 1}")
    return position


def _weight_column(names: list[str] | None, numeric: list[bool], taken: set[int], options: Options) -> int | None:
    if options.weights is False:
        return None
    if options.weights is not None:
        found = find_column(options.weights, names, len(numeric))
        if found in taken:
            raise InputError(f"the weights cannot be column {_label(found, names)}: that is an end of the edges")
        return found
    others = [at for at in range(len(numeric)) if at not in taken]
    if names is not None:
        return next((at for at in others if names[at].strip().lower() in WEIGHT_NAMES), None)
    if len(others) == 1 and numeric[others[0]]:
        return others[0]
    if not others or (options.source is not None and options.target is not None):
        return None
    raise InputError(
        f"there are {len(numeric)} columns without names, and it is not clear which hold the edges: say "
        "source=, target= and weights= (positions from 0), or weights=False for no weights"
    )


def _label(at: int, names: list[str] | None) -> str | int:
    return at if names is None else names[at]
