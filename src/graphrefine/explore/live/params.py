"""Parameters of the requests that are about live vectors, beside `graphrefine.explore.request_params`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from graphrefine.explore.request_params import INT64, Name, NeighborCount, Params, Side

CHANGES = 10_000  # of a request
LONGEST_REQUEST = 200  # characters of a request's id
MAP = 20_000  # nodes of the map
MOVED = 5_000  # nodes that moved, of an answer

Axis = Annotated[int, Field(ge=0, lt=INT64)]
Group = Annotated[int, Field(ge=0, lt=INT64)]


class EdgeChanges(Params, strict=True):
    """A group of changes: all of them, or nothing."""

    request: str = Field(
        min_length=1, max_length=LONGEST_REQUEST, description="Id of this request; sent again, it changes nothing more."
    )
    # Their entries are checked by `check_changes`, which names the first change that is wrong.
    changes: list[Any] = Field(
        min_length=1,
        max_length=CHANGES,
        description="Lists of an operation (+, -, =), a source, a target and a weight; null or no target for a node, "
        "which is a source in a bipartite graph.",
    )
    skip_unknown: bool = Field(False, description="Pass over removals of what is not there, and count them.")


class LiveNodeQuery(Side):
    """One node of this moment."""

    node: Name = Field(description="Name of the node.")


class LiveNeighborQuery(LiveNodeQuery):
    """Neighbors of one node, of this moment."""

    k: NeighborCount = 10


class RecommendQuery(Params):
    """Targets for one source of a bipartite graph, of this moment."""

    node: Name = Field(description="Name of the source.")
    k: NeighborCount = 10


class PlaneQuery(Params):
    """The plane of two axes of the vectors."""

    x: Axis = Field(0, description="Axis of the vectors to the right.")
    y: Axis | None = Field(None, description="Axis of the vectors upwards; 1 if left out.")


class MovedQuery(PlaneQuery):
    """Nodes that moved since a moment."""

    after: Group = Field(description="Group after which nodes moved.")
    generation: Group | None = Field(
        None, description="Generation of that moment; after a refresh the answer is not complete."
    )
