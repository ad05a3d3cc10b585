"""Handlers of the requests that are about live vectors: changes, and answers of this moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from starlette.exceptions import HTTPException
from starlette.requests import Request

from graphrefine.errors import FormatError, InputError, OutputError, UnknownNameError
from graphrefine.explore.live import params as live_params
from graphrefine.explore.live import responses
from graphrefine.explore.live.renewal import Renewal
from graphrefine.explore.strict_route import StrictRoute
from graphrefine.live.service import LiveService
from graphrefine.live.vectors import Neighbor

_Value = TypeVar("_Value")


async def post_edges(request: Request, params: live_params.EdgeChanges) -> responses.EdgeReceipt:
    """Changes of edges and nodes as one group, all or nothing; the answer comes when they are on the disk."""
    try:
        receipt = await _ask(
            request, lambda live: live.submit_checked(params.request, params.changes, skip_unknown=params.skip_unknown)
        )
    except OutputError as error:
        raise HTTPException(503, f"{error}; send the same request again") from None
    except InputError as error:
        raise HTTPException(500 if isinstance(error, FormatError) else 422, str(error)) from None
    figures = {} if receipt.commit is None else receipt.commit._asdict()
    return cast(responses.EdgeReceipt, {**figures, "group": receipt.group, "repeated": receipt.repeated})


async def get_live_state(request: Request) -> responses.LiveState:
    """Counts, bounds, rate of changes and refreshes."""
    renewal: Renewal = request.app.state.renewal
    state = await _ask(request, lambda live: {"name": live.path.name, **live.state()})
    return cast(responses.LiveState, {**state, "snapshot": renewal.moment._asdict()})


async def get_live_node(request: Request, params: live_params.LiveNodeQuery) -> responses.LiveNode:
    """Vector, bound and degree of a node."""

    def describe(live: LiveService) -> responses.LiveNode:
        name, side = params.node, params.side
        return {
            "node": name,
            "group": live.group,
            "degree": live.degree(name, side=side),
            "bound": live.bound(name, side=side),
            "vector": live.vector(name, side=side).tolist(),
        }

    return await _ask_of_node(request, describe)


async def get_live_neighbors(request: Request, params: live_params.LiveNeighborQuery) -> responses.LiveNeighbors:
    """The nodes nearest to one, by an exact search; of a bipartite graph, those of the same side."""
    return await _ask_of_node(
        request, lambda live: _neighbors(live, params.node, live.neighbors(params.node, params.k, side=params.side))
    )


async def get_live_recommendations(request: Request, params: live_params.RecommendQuery) -> responses.LiveNeighbors:
    """Targets of a bipartite graph that score highest for a source, without those that it is linked to."""
    return await _ask_of_node(
        request, lambda live: _neighbors(live, params.node, live.recommend(params.node, params.k))
    )


def _neighbors(live: LiveService, node: Any, near: list[Neighbor]) -> responses.LiveNeighbors:
    neighbors: list[responses.NearNode] = [{"node": each.name, "score": each.score} for each in near]
    return {"node": node, "group": live.group, "neighbors": neighbors}


async def get_live_map(request: Request, params: live_params.PlaneQuery) -> responses.LiveMap:
    """Nodes in the plane of two axes: all of them, or some that are spread over all."""
    return cast(
        responses.LiveMap, await _ask(request, lambda live: live.plane(_axes(live, params), most=live_params.MAP))
    )


async def get_live_moves(request: Request, params: live_params.MovedQuery) -> responses.LiveMoves:
    """Nodes whose vectors moved after a group, in the plane of two axes, and nodes that left."""

    def list_moves(live: LiveService) -> dict[str, Any]:
        axes = _axes(live, params)
        return live.moved(params.after, axes, generation=params.generation, most=live_params.MOVED)

    return cast(responses.LiveMoves, await _ask(request, list_moves))


def _axes(live: LiveService, params: live_params.PlaneQuery) -> tuple[int, int]:
    return params.x, min(1, live.dim - 1) if params.y is None else params.y


async def _ask(request: Request, work: Callable[[LiveService], _Value]) -> _Value:
    answer: _Value = await request.app.state.writer.ask(work)
    return answer


async def _ask_of_node(request: Request, work: Callable[[LiveService], _Value]) -> _Value:
    try:
        return await _ask(request, work)
    except InputError as error:
        raise HTTPException(404 if isinstance(error, UnknownNameError) else 400, str(error)) from None


LIVE_ROUTES = [
    StrictRoute("POST", "/api/edges", post_edges, refusals=responses.EDGE_REFUSALS),
    StrictRoute("GET", "/api/live", get_live_state),
    StrictRoute("GET", "/api/live/node", get_live_node),
    StrictRoute("GET", "/api/live/neighbors", get_live_neighbors),
    StrictRoute("GET", "/api/live/recommend", get_live_recommendations),
    StrictRoute("GET", "/api/live/map", get_live_map),
    StrictRoute("GET", "/api/live/moved", get_live_moves),
]
