"""Parameters of the requests that are about live vectors, beside `graphrefine.explore.request_params`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graphrefine.explore.param_types import AXIS, FLAG, INT64, NAME, ParamType, whole
from graphrefine.explore.request_params import K, Name, Params, optional
from graphrefine.live.change_checks import convert, describe_problem
from graphrefine.live.change_lines import OPERATIONS, Block
from graphrefine.live.naming import Operation
from graphrefine.live.streams import SIGNS

CHANGES = 10_000  # of a request
LONGEST_REQUEST = 200  # characters of a request's id
EXAMPLE = '["+", "ann", "bob", 2]'
MAP = 20_000  # nodes of the map
MOVED = 5_000  # nodes that moved, of an answer


def check_changes(value: Any) -> list[Operation]:
    """Changes of a body as operations, or ValueError with the first that cannot be used.

    Examples
    --------
    >>> check_changes([["+", "ann", "bob", 2], ["-", "cleo"]])[1]
    Operation(sign='-', source='cleo', target=None, weight=0.0)
    >>> check_changes([["+", "ann", "bob", -2]])
    Traceback (most recent call last):
    ValueError: change 1 of 1: weight -2 is negative; weights must be positive
    """
    if not isinstance(value, list) or not 1 <= len(value) <= CHANGES:
        raise ValueError(f"a list of 1 to {CHANGES} changes is expected; send more of them in several requests")
    for place, change in enumerate(value):
        if not isinstance(change, list) or not 2 <= len(change) <= 4 or not _is_operation(change[0]):
            raise ValueError(_describe(place, value, f"a list such as {EXAMPLE} is expected, with +, - or = first"))
    operations, sources, targets, weights = zip(*([*change, None, None][:4] for change in value), strict=True)
    block = Block(operations, sources, targets, weights, lines=None)
    try:
        changes = convert(block)
    except ValueError:
        problems = enumerate(map(describe_problem, *block[:4]))
        place, problem = next((place, problem) for place, problem in problems if problem is not None)
        raise ValueError(_describe(place, value, problem)) from None
    rows = zip(changes.operations.tolist(), changes.sources, changes.targets, changes.weights.tolist(), strict=True)
    return [Operation(SIGNS[kind], source, target, weight) for kind, source, target, weight in rows]


def _is_operation(word: Any) -> bool:
    return isinstance(word, str) and word in OPERATIONS


def _describe(place: int, changes: list[Any], problem: str) -> str:
    return f"change {place + 1} of {len(changes)}: {problem}"


def _check_request(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_REQUEST or not value.isprintable():
        raise ValueError(f"a text of 1 to {LONGEST_REQUEST} characters is expected, another one for each request")
    return value


_OPERATION = {"type": "string", "enum": list(OPERATIONS)}
_CHANGE = {"type": "array", "prefixItems": [_OPERATION], "minItems": 2, "maxItems": 4}
_CHANGES = ParamType(
    check_changes, lambda: {"type": "array", "items": _CHANGE, "minItems": 1, "maxItems": CHANGES}
)
_REQUEST = ParamType(_check_request, lambda: {"type": "string", "minLength": 1, "maxLength": LONGEST_REQUEST})


class EdgeChanges(Params):
    """A group of changes: all of them, or nothing."""

    request: Annotated[str, _REQUEST] = Field(description="Id of this request; sent again, it changes nothing more.")
    changes: Annotated[list[Operation], _CHANGES] = Field(
        description="Lists of an operation (+, -, =), a source, a target and a weight; null or no target for a node."
    )
    skip_unknown: Annotated[bool, FLAG] = Field(
        False, description="Pass over removals of what is not there, and count them."
    )

    @classmethod
    def example(cls) -> str:
        """A body in outline."""
        return '{"request": "1", "changes": [["+", "ann", "bob"]]}'


class LiveNodeQuery(Params):
    """One node of this moment."""

    node: Annotated[Name, NAME] = Field(description="Name of the node.")


class LiveNeighborQuery(LiveNodeQuery):
    """Neighbours of one node, of this moment."""

    k: Annotated[int, whole(1, K)] = Field(10, description="Number of neighbours; fewer if there are no more.")


class PlaneQuery(Params):
    """The plane of two axes of the vectors."""

    x: Annotated[int, AXIS] = Field(0, description="Axis of the vectors to the right.")
    y: Annotated[int | None, AXIS] = optional("Axis of the vectors upwards; 1 if left out.")


class MovedQuery(PlaneQuery):
    """Nodes that moved since a moment."""

    after: Annotated[int, whole(0, INT64 - 1)] = Field(description="Group after which nodes moved.")
    generation: Annotated[int | None, whole(0, INT64 - 1)] = optional(
        "Generation of that moment; after a refresh the answer is not complete."
    )
