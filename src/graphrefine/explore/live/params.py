"""Parameters of the requests that are about live vectors, beside `graphrefine.explore.request_params`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graphrefine.explore.param_types import AXIS, FACTS, FLAG, INT64, NAME, ParamType, whole
from graphrefine.explore.request_params import K, Name, Params, Side, optional
from graphrefine.live.change_lines import OPERATIONS
from graphrefine.live.change_lists import Change, check_changes

CHANGES = 10_000  # of a request
LONGEST_REQUEST = 200  # characters of a request's id
MAP = 20_000  # nodes of the map
MOVED = 5_000  # nodes that moved, of an answer


def _check_list(value: Any) -> list[Change]:
    """Changes of a body, or ValueError with the first that cannot be used."""
    if not isinstance(value, list) or not 1 <= len(value) <= CHANGES:
        raise ValueError(f"a list of 1 to {CHANGES} changes is expected; send more of them in several requests")
    return check_changes(value, sides=FACTS.get().two_sides)


def _check_request(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_REQUEST or not value.isprintable():
        raise ValueError(f"a text of 1 to {LONGEST_REQUEST} characters is expected, another one for each request")
    return value


_OPERATION = {"type": "string", "enum": list(OPERATIONS)}
_CHANGE = {"type": "array", "prefixItems": [_OPERATION], "minItems": 2, "maxItems": 4}
_CHANGES = ParamType(
    _check_list,
    lambda: {"type": "array", "items": _CHANGE, "minItems": 1, "maxItems": CHANGES},
)
_REQUEST = ParamType(_check_request, lambda: {"type": "string", "minLength": 1, "maxLength": LONGEST_REQUEST})


class EdgeChanges(Params):
    """A group of changes: all of them, or nothing."""

    request: Annotated[str, _REQUEST] = Field(description="Id of this request; sent again, it changes nothing more.")
    changes: Annotated[list[Change], _CHANGES] = Field(
        description="Lists of an operation (+, -, =), a source, a target and a weight; null or no target for a node, "
        "which is a source in a bipartite graph."
    )
    skip_unknown: Annotated[bool, FLAG] = Field(
        False, description="Pass over removals of what is not there, and count them."
    )

    @classmethod
    def example(cls) -> str:
        """A body in outline."""
        return '{"request": "1", "changes": [["+", "ann", "bob"]]}'


class LiveNodeQuery(Side):
    """One node of this moment."""

    node: Annotated[Name, NAME] = Field(description="Name of the node.")


class LiveNeighborQuery(LiveNodeQuery):
    """Neighbors of one node, of this moment."""

    k: Annotated[int, whole(1, K)] = Field(10, description="Number of neighbors; fewer if there are no more.")


class RecommendQuery(Params):
    """Targets for one source of a bipartite graph, of this moment."""

    node: Annotated[Name, NAME] = Field(description="Name of the source.")
    k: Annotated[int, whole(1, K)] = Field(10, description="Number of targets; fewer if there are no more.")


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
