"""Kinds of columns by their values: row numbers, times, dates, numbers; and which two columns hold the ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from itertools import combinations
from typing import Any

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import is_missing_id
from graphrefine.readers.options import WEIGHT_NAMES
from graphrefine.readers.times import read_days, unit_of

FEWEST = 8  # values in which row numbers are no accident
MOST = 1000  # values that are looked at
RIVALS = 64  # columns of texts that are compared with each other
ROWS, TIMES, DATES, NUMBERS = "row numbers", "times", "dates", "numbers"
_DATE = re.compile(r"[0-9]{4}([-/])[0-9]{2}\1[0-9]{2}([T ].*)?")
_INDEX_NAMES = frozenset({"", "id", "index", "row", "rownumber", "no", "nr", "key", "unnamed: 0", "edgeid", "edge_id"})


def find_kinds(names: list[str] | None, values: Callable[[int], Sequence[Any]], count: int) -> dict[int, str]:
    """The kind of each column that holds row numbers, times, dates or other numbers.

    Examples
    --------
    >>> columns = [["a", "b"], ["b", "c"], ["1082040961", "1082155839"]]
    >>> find_kinds(None, columns.__getitem__, 3)
    {2: 'times'}
    """
    kinds = {
        at: _kind("" if names is None else names[at], list(values(at))[:MOST], names is not None) for at in range(count)
    }
    return {at: kind for at, kind in kinds.items() if kind}


def _kind(name: str, values: list[Any], named: bool) -> str:
    values = [value for value in values if not is_missing_id(value)]
    if not values:
        return ""
    if all(isinstance(value, date) or (isinstance(value, str) and _DATE.fullmatch(value)) for value in values):
        return DATES
    numbers = _numbers(values)
    if numbers is None:
        return ROWS if named and name.strip().lower() in _INDEX_NAMES and _distinct(values) else ""
    if _consecutive(numbers, 2 if named and name.strip().lower() in _INDEX_NAMES else FEWEST):
        return ROWS
    if named and name.strip().lower() in _INDEX_NAMES and _distinct(values):
        return ROWS
    if read_days(numbers) is not None:
        return DATES
    return TIMES if unit_of(numbers) is not None else NUMBERS


def _numbers(values: list[Any]) -> list[float] | None:
    try:
        return [float(value) for value in values if not isinstance(value, bool)]
    except (TypeError, ValueError, OverflowError):
        return None


def _consecutive(numbers: list[float], fewest: int) -> bool:
    first = numbers[0] if numbers else -1
    return len(numbers) >= fewest and first in (0, 1) and all(n == first + at for at, n in enumerate(numbers))


def _is_empty(value: Any) -> bool:
    return is_missing_id(value) or (isinstance(value, str) and not value)


def _distinct(values: list[Any]) -> bool:
    return len(values) > 1 and len(set(map(repr, values))) == len(values)


def choose_ends(
    names: list[str], kinds: dict[int, str], free: list[int], values: Callable[[int], Sequence[Any]] | None
) -> tuple[int, int] | None:
    """The two columns of the ends: the first two that are no row numbers, no times and no weights.

    Where these two have no value in common, but others have, it is not clear which two are meant.
    """
    if values is not None:
        _refuse_matrix(names, kinds, free, values)
    others = [at for at in free if names[at].strip().lower() not in WEIGHT_NAMES]
    plain = [at for at in others if kinds.get(at) not in (ROWS, TIMES, DATES)]
    if len(plain) < 2:
        return None
    pair = (plain[0], plain[1])
    texts = [at for at in plain if kinds.get(at) != NUMBERS][:RIVALS]
    if values is None or len(texts) < 3 or not set(pair) <= set(texts):
        return pair
    sets = {at: {str(value) for value in list(values(at))[:MOST] if not _is_empty(value)} for at in texts}
    if not sets[pair[0]] & sets[pair[1]]:
        for first, second in combinations(texts, 2):
            if len(sets[first] & sets[second]) * 2 > min(len(sets[first]), len(sets[second])):
                raise InputError(
                    f"the ends of the edges can be columns {names[pair[0]]!r} and {names[pair[1]]!r}, the first two, "
                    f"or {names[first]!r} and {names[second]!r}, which share names: say source= and target=",
                    argument="source",
                )
    return pair


def _refuse_matrix(
    names: list[str], kinds: dict[int, str], free: list[int], values: Callable[[int], Sequence[Any]]
) -> None:
    """Refuse a table of numbers whose first column names each row once: a matrix, or properties of nodes; no edges."""
    first, *others = free
    labels = [value for value in list(values(first))[:MOST] if not _is_empty(value)]
    if len(others) < 3 or len(labels) < 3 or not all(kinds.get(at) == NUMBERS for at in others):
        return
    if _numbers(labels) is None and _distinct(labels):
        raise InputError(
            f"a table of numbers whose column {names[first]!r} names each row once can be a matrix, or properties of "
            "nodes: source= and target= name the columns of edges; bipartite=True reads a matrix whose rows and "
            "columns are two sets of nodes from a csv file, or from a pandas frame with these names as its index",
            argument="source",
        )
