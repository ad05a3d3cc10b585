"""Responses of the API in JSON: the type of each, which mypy holds handlers to and the OpenAPI document describes.

The page's types (`web/src/api_types.ts`) are generated from the document.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from starlette.responses import Response
from typing_extensions import TypedDict

from graphrefine.explore.background import State

Value = str | float | int | None
SearchKind = Literal["exact", "index"]


class Refusal(TypedDict):
    """Refusal of a request."""

    error: Annotated[str, Field(description="The problem, and what to do about it.")]


class Health(TypedDict):
    """State of the server."""

    status: Literal["ok"]


class Node(TypedDict):
    """One node of the embedding."""

    row: int
    node: str | int
    side: Literal["source", "target"] | None
    degree: float | int | None
    labels: list[str]
    values: NotRequired[Annotated[dict[str, Value], Field(description="Value in each column; of a single node only.")]]


class Nodes(TypedDict):
    """Several nodes."""

    nodes: list[Node]
    total: NotRequired[Annotated[int, Field(description="Number of nodes, including those that are not listed.")]]


class Neighbor(Node):
    """A node near another."""

    score: float | None


class NeighborResult(TypedDict):
    """Neighbors of one node or vector, the nearest first."""

    node: str | int | None
    row: int | None
    side: NotRequired[Literal["source", "target"] | None]
    neighbors: list[Neighbor]


class Neighbors(TypedDict):
    """Neighbors of each node or vector of a request."""

    results: list[NeighborResult]
    score: str
    search: SearchKind


class EgoNetwork(TypedDict):
    """A node, its neighbors in the graph, and the edges among them."""

    nodes: list[Node]
    edges: Annotated[list[tuple[int, int]], Field(description="Pairs of positions in nodes.")]
    of: Annotated[int, Field(description="Number of all neighbors of the node.")]


class Scores(TypedDict):
    """Scores of pairs of nodes."""

    score: str
    scores: list[float | None]


class TaskState(TypedDict):
    """State of background work."""

    name: str
    state: State
    error: str | None


class Category(TypedDict):
    """A category of a column, with its own code."""

    name: str
    count: int
    other: NotRequired[Annotated[bool, Field(description="All categories without their own code.")]]


class Column(TaskState):
    """A column to color by."""

    kind: Literal["category", "number"]
    categories: NotRequired[list[Category]]
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    log: NotRequired[bool]


class QualityScore(TaskState):
    """A measure of the quality of the embedding."""

    value: float | None
    note: str | None


class GraphFacts(TypedDict):
    """The graph of the session."""

    nodes: int
    edges: int
    directed: bool
    weighted: bool
    matched: Annotated[int, Field(description="Nodes of the embedding that are in the graph.")]


class LabelFacts(TypedDict):
    """The labels of the session."""

    classes: int
    labeled: int


class RequestLimits(TypedDict):
    """Largest requests."""

    k: int
    batch: int
    rows: int
    body: int


class Info(TypedDict):
    """The embedding, its recipe, and the requests that it answers."""

    name: str
    nodes: int
    dim: int
    version: str
    recipe: dict[str, Any]
    method: str | None
    named: Annotated[bool, Field(description="Nodes have names, other than the numbers of their rows.")]
    graph: GraphFacts | None
    labels: LabelFacts | None
    layouts: list[TaskState]
    layout: str
    columns: list[Column]
    scores: list[QualityScore]
    search: SearchKind
    score_names: list[str]
    score: str
    limits: RequestLimits
    sides: Literal["rows", "columns"] | None


Responses = dict[int | str, dict[str, Any]]
REFUSALS: Responses = {
    "4XX": {"model": Refusal, "description": "A request that cannot be answered as it is."},
    503: {"model": Refusal, "description": "Too many requests at once, or not ready yet: try again."},
}


def json_response(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response in JSON: in ASCII, as names of nodes may have characters that UTF-8 has no bytes for."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    return Response(text.encode(), status, headers, media_type="application/json")


def refuse(status: int, problem: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a refusal."""
    usual = {503: {"retry-after": "1"}, 401: {"www-authenticate": "Bearer"}}.get(status, {})
    return json_response(Refusal(error=problem), status, {**usual, **(headers or {})})
