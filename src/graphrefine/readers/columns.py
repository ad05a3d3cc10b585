"""Columns of an edge table: which hold the two ends and the weight of an edge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphrefine.errors import InputError
from graphrefine.readers.options import Column, ReadOptions

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
"""Usual names of the two columns of an edge list, as `fold_name` spells them."""

WEIGHT_NAMES = ("weight", "weights", "w")


@dataclass(frozen=True)
class EdgeColumns:
    """Positions of the columns that hold the edges."""

    source: int
    target: int
    weight: int | None
    report: dict[str, Any]


def fold_name(name: str) -> str:
    """A column name in lower case, without "_", "-", blanks and a last "id"."""
    letters = name.strip().lower().replace("_", "").replace("-", "").replace(" ", "")
    return letters.removesuffix("id") if letters.endswith("id") and len(letters) > 2 else letters


def find_pair(names: list[str]) -> tuple[int, int] | None:
    """Positions of the first usual pair of names.

    Examples
    --------
    >>> find_pair(["when", "User ID", "item_id"])
    (1, 2)
    """
    folded = [fold_name(name) for name in names]
    for first, second in PAIRS:
        if fold_name(first) in folded and fold_name(second) in folded:
            return folded.index(fold_name(first)), folded.index(fold_name(second))
    return None


def find_columns(names: list[str] | None, numeric: list[bool], options: ReadOptions) -> EdgeColumns:
    """Find the columns of source, target and weight.

    Columns that the options name are used. Otherwise: a usual pair of names, else the first two columns; the weight is
    a column called weight, or, in a table without names, the third of three columns if it is numeric.

    Parameters
    ----------
    names
        Names of the columns; None for a file without header.
    numeric
        For each column, whether it holds numbers.
    options
        Options of the reader.
    """
    count = len(numeric)
    if count < 2:
        raise InputError(f"an edge needs two columns, and there is {count}")
    usual = (find_pair(names) if names else None) or (0, 1)
    source = usual[0] if options.source is None else _find_column("source", options.source, names, count)
    target = usual[1] if options.target is None else _find_column("target", options.target, names, count)
    if source == target:
        raise InputError(
            f"source and target are the same column ({_label(source, names)}); name both", argument="target"
        )
    weight = _find_weight(names, numeric, {source, target}, options)
    ignored = [_label(at, names) for at in range(count) if at not in (source, target, weight)]
    report: dict[str, Any] = {"columns": [_label(source, names), _label(target, names)]}
    report["weight_column"] = None if weight is None else _label(weight, names)
    if ignored:
        report["ignored_columns"] = ignored
    return EdgeColumns(source, target, weight, report)


def _find_column(argument: str, column: Column, names: list[str] | None, count: int) -> int:
    """The position of a column, from its name or its position from 0 (as a number or its digits)."""
    if isinstance(column, str):
        if names and column in names:
            return names.index(column)
        if not column.isdecimal():
            column_list = f"the columns are {', '.join(map(repr, names))}" if names else "the columns have no names"
            raise InputError(
                f"there is no column {column!r}; {column_list}; a position from 0 to {count - 1} works too",
                argument=argument,
            )
    position = int(column)
    if isinstance(column, bool) or not 0 <= position < count:
        raise InputError(f"there is no column {column!r}; positions go from 0 to {count - 1}", argument=argument)
    return position


def _find_weight(names: list[str] | None, numeric: list[bool], ends: set[int], options: ReadOptions) -> int | None:
    if options.weights is False:
        return None
    if options.weights is not None:
        weight = _find_column("weights", options.weights, names, len(numeric))
        if weight in ends:
            raise InputError(
                f"the weights cannot be column {_label(weight, names)}: that is an end of the edges",
                argument="weights",
            )
        return weight
    others = [at for at in range(len(numeric)) if at not in ends]
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
