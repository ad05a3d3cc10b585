"""Responses about live vectors, beside `graphrefine.explore.responses`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Place = tuple[float, float]
Side = Literal["source", "target"]
Sides = Annotated[list[Side] | None, Field(description="Sides of a bipartite graph.")]


class EdgeReceipt(TypedDict):
    """The group that a request has made; its figures, if it was made now."""

    group: int
    repeated: Annotated[bool, Field(description="The request was made before, and nothing was changed now.")]
    changes: NotRequired[int]
    skipped: NotRequired[Annotated[int, Field(description="Removals of what was not there.")]]
    new_nodes: NotRequired[int]
    moved: NotRequired[Annotated[int, Field(description="Vectors that moved.")]]


class BoundQuantiles(TypedDict):
    """Quantiles of the bounds of all nodes; null where there is none."""

    p50: float | None
    p90: float | None
    p99: float | None


class Rates(TypedDict):
    """Changes a second in the last minutes."""

    seconds: Annotated[int, Field(description="Length of a stretch of time.")]
    values: Annotated[list[float], Field(description="Changes a second in each stretch, the newest last.")]


class SnapshotFacts(TypedDict):
    """The snapshot that the other endpoints answer from."""

    group: int
    generation: int
    time: float


class LiveState(TypedDict):
    """Figures of this moment."""

    name: str
    nodes: int
    edges: int
    dim: int
    group: Annotated[int, Field(description="Number of the last group of changes.")]
    generation: int
    tolerance: float
    within_tolerance: Annotated[float, Field(description="Share of bounds within the tolerance.")]
    without_bound: int
    captured_energy: float
    captured_at_refresh: float
    new_since_refresh: int
    refreshing: bool
    refresh_problem: str | None
    bounds: BoundQuantiles
    refreshes: Annotated[list[dict[str, Any]], Field(description="Reason, time and drift of the last refreshes.")]
    rate: Annotated[float, Field(description="Changes a second, over the last minute.")]
    rates: Rates
    last_commit: Annotated[float | None, Field(description="Time of the last group, in seconds since 1970.")]
    time: float
    problem: Annotated[str | None, Field(description="The last problem after a group was committed.")]
    snapshot: SnapshotFacts


class LiveNode(TypedDict):
    """One node of this moment."""

    node: str | int
    group: int
    degree: int
    bound: Annotated[float | None, Field(description="Bound of the error of the vector; null where there is none.")]
    vector: list[float]


class NearNode(TypedDict):
    """A node near another."""

    node: str | int
    score: float


class LiveNeighbors(TypedDict):
    """Nodes near another at this moment, or targets for a source: those of the highest score first."""

    node: str | int
    group: int
    neighbors: list[NearNode]


class LiveMap(TypedDict):
    """Nodes in the plane of two axes."""

    group: int
    generation: int
    total: Annotated[int, Field(description="Number of all nodes.")]
    names: list[str | int]
    sides: Sides
    points: list[Place]


class LiveMoves(TypedDict):
    """Nodes whose vectors moved since a moment, in the plane of two axes."""

    group: int
    generation: int
    complete: Annotated[bool, Field(description="Whether these are all; if not, ask for the map.")]
    names: list[str | int]
    sides: Sides
    points: list[Place]
    removed: list[str | int]
    removed_sides: Sides
