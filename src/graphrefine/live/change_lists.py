"""Changes as lists of an operation, a source, a target and a weight: checked, or an error that names one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphrefine.errors import InputError
from graphrefine.live.change_checks import ADD, ADD_NODE, REMOVE, REMOVE_NODE, SET, convert, find_problem
from graphrefine.live.change_lines import OPERATIONS, Block

SIGNS = {ADD: "+", REMOVE: "-", SET: "=", REMOVE_NODE: "-", ADD_NODE: "+"}
EXAMPLE = '["+", "ann", "bob", 2]'

Change = tuple[str, Any, Any, float]  # operation, source, target or None, weight


def check_changes(changes: Sequence[Any], *, sides: bool = False) -> list[Change]:
    """Changes that are checked, or InputError with the first that cannot be used.

    Parameters
    ----------
    changes
        A list of two to four values for each. A target or a weight may be missing, or None.
    sides
        Whether the graph is bipartite: an edge may then join two nodes of one name.

    Examples
    --------
    >>> check_changes([["+", "ann", "bob", 2], ["-", "cleo"]])
    [('+', 'ann', 'bob', 2.0), ('-', 'cleo', None, 0.0)]
    >>> check_changes([["+", "ann", "bob", -2]])
    Traceback (most recent call last):
    graphrefine.errors.InputError: change 1 of 1: weight -2 is negative; weights must be positive
    """
    if not changes:
        return []
    for place, change in enumerate(changes):
        if not isinstance(change, list | tuple) or not 2 <= len(change) <= 4 or not _is_operation(change[0]):
            raise _error(place, f"a list such as {EXAMPLE} is expected, with +, - or = first", changes)
    operations, sources, targets, weights = zip(*([*change, None, None][:4] for change in changes), strict=True)
    block = Block(operations, sources, targets, weights, lines=None)
    try:
        columns = convert(block, sides=sides)
    except ValueError:
        raise _error(*find_problem(block, sides=sides), changes) from None
    rows = zip(columns.operations.tolist(), columns.sources, columns.targets, columns.weights.tolist(), strict=True)
    return [(SIGNS[kind], source, target, weight) for kind, source, target, weight in rows]


def _is_operation(word: Any) -> bool:
    return isinstance(word, str) and word in OPERATIONS


def _error(place: int, problem: str, changes: Sequence[Any]) -> InputError:
    return InputError(f"change {place + 1} of {len(changes)}: {problem}")
