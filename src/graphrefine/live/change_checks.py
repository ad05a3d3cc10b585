"""Checks of changes: blocks of fields become columns of operations, names and weights, or an error that names a record.

A block is converted column by column; `describe_problem` tells for one record what is wrong with it, and a test holds
the two to each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import eq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.live.change_lines import OPERATIONS, Block, shorten
from graphrefine.readers.source import Source

ADD, REMOVE, SET, REMOVE_NODE, ADD_NODE = range(5)
_CODES = dict(zip(OPERATIONS, (ADD, REMOVE, SET), strict=True))
_NAMES = frozenset({str, int})
_NUMBERS = frozenset({str, int, float, type(None)})
_WHOLE = 2.0**53  # floats up to this are ids if they are whole: tables write integers so where one is missing


class Changes(NamedTuple):
    """Columns of records that are checked; the columns of `Group`."""

    operations: NDArray[np.uint8]
    sources: list[str | int | None]
    targets: list[str | int | None]
    weights: NDArray[np.float32]

    def part(self, start: int, stop: int) -> Changes:
        """Some records, by position."""
        operations, sources, targets, weights = self
        return Changes(operations[start:stop], sources[start:stop], targets[start:stop], weights[start:stop])


def check_blocks(source: Source, blocks: Iterable[Block], *, sides: bool = False) -> Iterator[Changes]:
    """Checked records; those before one that cannot be used, and then an error.

    With two ``sides``, an edge may join two nodes of one name, and a target without a source is a node.
    """
    records = 0
    for block in blocks:
        try:
            changes = convert(block, sides=sides)
        except ValueError:  # the records one by one, to find the first that cannot be used
            at, problem = find_problem(block, sides=sides)
            if at:
                yield convert(block.first(at), sides=sides)
            if block.lines is None:
                raise source.error(f"record {records + at + 1}: {problem}") from None
            raise source.error(problem, line=block.lines[at]) from None
        yield changes
        records += len(changes.sources)


def find_problem(block: Block, *, sides: bool = False) -> tuple[int, str]:
    """The place of the first record that cannot be used, where `convert` has failed, and its problem."""
    problems = enumerate(describe_problem(*record, sides=sides) for record in zip(*block[:4], strict=True))
    return next((at, problem) for at, problem in problems if problem is not None)


def convert(block: Block, *, sides: bool = False) -> Changes:
    """The records as changes; a ValueError if one of them cannot be used."""
    if not set(map(type, block.operations)) <= {str} or not set(block.operations) <= _CODES.keys():
        raise ValueError
    operations = np.array([_CODES[operation] for operation in block.operations], np.uint8)
    first = [None if source == "" else source for source in block.sources] if sides else block.sources
    sources, targets = _convert_names(first, empty=sides), _convert_names(block.targets, empty=True)
    nodes = np.array([source is None or target is None for source, target in zip(sources, targets, strict=True)], bool)
    if sides and any(source is target is None for source, target in zip(sources, targets, strict=True)):
        raise ValueError
    if not sides and (any(map(eq, sources, targets)) or _has_mixed_loop(sources, targets)):
        raise ValueError
    weights, present = _convert_weights(block.weights)
    removals = operations == REMOVE
    if (present & (removals | nodes)).any() or (nodes & (operations == SET)).any():
        raise ValueError
    weights[removals] = 0
    operations[nodes] = np.where(removals[nodes], REMOVE_NODE, ADD_NODE)
    return Changes(operations, sources, targets, weights)


def _convert_names(names: Sequence[Any], *, empty: bool = False) -> list[Any]:
    kinds = set(map(type, names))
    if float in kinds:
        names = [int(name) if _is_whole(name) else name for name in names]
        kinds = set(map(type, names))
    if not kinds <= _NAMES | ({type(None)} if empty else set()):
        raise ValueError
    texts = names if kinds == {str} else [name for name in names if type(name) is str]
    text = "".join(texts)
    text.encode()  # refuses halves of surrogate pairs, which JSON can have
    if "\n" in text or "" in texts or (int in kinds and not all(map(_fits, names))):
        raise ValueError
    return list(names)


def _is_whole(name: Any) -> bool:
    return isinstance(name, float) and name.is_integer() and abs(name) <= _WHOLE


def _fits(name: Any) -> bool:
    return not isinstance(name, int) or -(2**63) <= name < 2**63


def _has_mixed_loop(sources: list[str | int | None], targets: list[str | int | None]) -> bool:
    """Whether an integer and its text are the two ends of an edge."""
    if len(set(map(type, sources)) | set(map(type, targets)) - {type(None)}) < 2:
        return False
    return any(
        str(source) == str(target) for source, target in zip(sources, targets, strict=True) if target is not None
    )


def _convert_weights(values: Sequence[Any]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """The weights, 1 where none is given; and where one is."""
    kinds = set(map(type, values))
    if kinds == {type(None)}:
        return np.ones(len(values), np.float32), np.zeros(len(values), bool)
    if not kinds <= _NUMBERS:
        raise ValueError
    if str in kinds and not is_plain("".join(value for value in values if type(value) is str)):
        raise ValueError
    try:
        numbers = np.array([1.0 if value is None else float(value) for value in values])
    except OverflowError:
        raise ValueError from None
    weights = _narrow(numbers)
    if not ((weights > 0) & (weights < np.inf)).all():
        raise ValueError
    return weights, np.array([value is not None for value in values], bool)


def is_plain(text: str) -> bool:
    """Whether a number has none of the signs that Python alone takes: underscores, digits of other scripts."""
    return text.isascii() and "_" not in text


def _narrow(numbers: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore", under="ignore"):
        return numbers.astype(np.float32)


def describe_problem(operation: Any, source: Any, target: Any, weight: Any, *, sides: bool = False) -> str | None:
    """The problem of a record, and what to do about it; None if it can be used.

    Examples
    --------
    >>> describe_problem("-", "ann", "bob", "2")
    "weight '2' stands beside -, which removes; leave it empty, or set a weight by ="
    >>> describe_problem("-", "ann", "bob", None)
    """
    if not isinstance(operation, str) or operation not in _CODES:
        known = "it must be + (add), - (remove) or = (set a weight)"
        return f"op {shorten(operation)} is not known; {known}; a header names op, source and target"
    alone = source is None or source == ""
    if alone and (target is None or not sides):
        return "the source is empty; name a node"
    problem = None if alone else _describe_name("source", source)
    problem = problem or (None if target is None else _describe_name("target", target))
    if problem is not None:
        return problem
    if alone or target is None:
        return _describe_node(operation, weight, "source" if alone else "target")
    ends = [str(int(name) if _is_whole(name) else name) for name in (source, target)]
    if ends[0] == ends[1] and not sides:
        return f"source and target are both {shorten(source)}, a self-loop; leave it out, as an edge joins two nodes"
    if operation == "-" and weight is not None:
        return f"weight {shorten(weight)} stands beside -, which removes; leave it empty, or set a weight by ="
    return None if weight is None else _describe_weight(weight)


def _describe_name(field: str, name: Any) -> str | None:
    if not isinstance(name, str):
        if isinstance(name, bool) or not (isinstance(name, int) or _is_whole(name)):
            return f"{field} {shorten(name)} is no name; give a text or a whole number"
        return None if _fits(name) else f"{field} {shorten(name)} is beyond 64 bits; give it as text"
    if name == "":
        return f"the {field} is empty; name a node"
    if "\n" in name:
        return f"{field} {shorten(name)} holds a line end; names must fit on one line"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return f"{field} {shorten(name)} holds half of a surrogate pair, which is no character; mend the name"
    return None


def _describe_node(operation: str, weight: Any, empty: str) -> str | None:
    if operation == "=":
        return f"the {empty} is empty; = sets the weight of an edge: name both of its nodes"
    if weight is None:
        return None
    does = "adds" if operation == "+" else "removes"
    return (
        f"weight {shorten(weight)} stands beside a node (with an empty {empty} {operation} {does} one); leave it empty"
    )


def _describe_weight(weight: Any) -> str | None:
    """The problem of a weight of ``+`` or ``=``."""
    name = f"weight {shorten(weight)}"
    try:
        if type(weight) not in _NUMBERS or (isinstance(weight, str) and not is_plain(weight)):
            raise ValueError
        number = float(weight)
    except ValueError:
        return f"{name} is not a number; write it as 2 or 0.5, or leave it empty for 1"
    except OverflowError:
        number = np.inf
    if number < 0:
        return f"{name} is negative; weights must be positive"
    if number == 0:
        return f"{name} is no edge; remove an edge by -"
    if not 0 < _narrow(np.array([number]))[0] < np.inf:
        return f"{name} is not a finite float32 number above 0; weights must be"
    return None
