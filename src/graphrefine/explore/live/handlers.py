"""Handlers of the requests that are about live vectors: changes, and answers of this moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

from fastapi import Query
from starlette.exceptions import HTTPException
from starlette.requests import Request

from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.explore.live import params as live_params
from graphrefine.explore.live import responses
from graphrefine.explore.live.renewal import Renewal
from graphrefine.explore.routes import NO_QUERY, CurrentSession, make_router
from graphrefine.live.change_lists import check_changes
from graphrefine.live.service import LiveService
from graphrefine.live.vectors import Neighbor

_Value = TypeVar("_Value")

live_router = make_router()


@live_router.post("/api/edges", dependencies=NO_QUERY)
async def post_edges(
    request: Request, session: CurrentSession, params: live_params.EdgeChanges
) -> responses.EdgeReceipt:
    """Apply changes of edges and nodes as one group, all or nothing; the answer comes when they are on the disk."""
    if not params.request.isprintable():
        raise HTTPException(400, "request: printable characters are expected, others for each request")
    try:
        changes = check_changes(params.changes, sides=session.has_two_sides)
    except ValueError as error:
        raise HTTPException(400, f"changes: {error}") from None
    try:
        receipt = await _ask(
            request, lambda live: live.submit_checked(params.request, changes, skip_unknown=params.skip_unknown)
        )
    except OutputError as error:
        raise HTTPException(503, f"{error}; send the same request again") from None
    except InputError as error:
        raise HTTPException(500 if isinstance(error, FormatError) else 422, str(error)) from None
    figures = {} if receipt.commit is None else receipt.commit._asdict()
    return cast(responses.EdgeReceipt, {**figures, "group": receipt.group, "repeated": receipt.repeated})


@live_router.get("/api/live", dependencies=NO_QUERY)
async def get_live_state(request: Request) -> responses.LiveState:
    """Return counts, bounds, rate of changes and refreshes."""
    renewal: Renewal = request.app.state.renewal
    state = await _ask(request, lambda live: {"name": live.path.name, **live.state()})
    return cast(responses.LiveState, {**state, "snapshot": renewal.moment._asdict()})


@live_router.get("/api/live/node")
async def get_live_node(
    request: Request, session: CurrentSession, params: Annotated[live_params.LiveNodeQuery, Query()]
) -> responses.LiveNode:
    """Return vector, bound and degree of a node."""
    name, side = session.parse_name(params.node, params.side), params.side

    def describe(live: LiveService) -> responses.LiveNode:
        return {
            "node": name,
            "group": live.group,
            "degree": live.degree(name, side=side),
            "bound": live.bound(name, side=side),
            "vector": live.vector(name, side=side).tolist(),
        }

    return await _ask(request, describe)


@live_router.get("/api/live/neighbors")
async def get_live_neighbors(
    request: Request, session: CurrentSession, params: Annotated[live_params.LiveNeighborQuery, Query()]
) -> responses.LiveNeighbors:
    """Find the nodes nearest to one, by an exact search; of a bipartite graph, those of the same side."""
    name = session.parse_name(params.node, params.side)
    return await _ask(request, lambda live: _neighbors(live, name, live.neighbors(name, params.k, side=params.side)))


@live_router.get("/api/live/recommend")
async def get_live_recommendations(
    request: Request, session: CurrentSession, params: Annotated[live_params.RecommendQuery, Query()]
) -> responses.LiveNeighbors:
    """Find targets of a bipartite graph that score highest for a source, without those that it is linked to."""
    name = session.parse_name(params.node)
    return await _ask(request, lambda live: _neighbors(live, name, live.recommend(name, params.k)))


def _neighbors(live: LiveService, node: Any, near: list[Neighbor]) -> responses.LiveNeighbors:
    neighbors: list[responses.NearNode] = [{"node": each.name, "score": each.score} for each in near]
    return {"node": node, "group": live.group, "neighbors": neighbors}


@live_router.get("/api/live/map")
async def get_live_map(request: Request, params: Annotated[live_params.PlaneQuery, Query()]) -> responses.LiveMap:
    """Return nodes in the plane of two axes: all of them, or some that are spread over all."""
    return cast(
        responses.LiveMap, await _ask(request, lambda live: live.plane(_axes(live, params), most=live_params.MAP))
    )


@live_router.get("/api/live/moved")
async def get_live_moves(request: Request, params: Annotated[live_params.MovedQuery, Query()]) -> responses.LiveMoves:
    """Return nodes whose vectors moved after a group, in the plane of two axes, and nodes that left."""

    def list_moves(live: LiveService) -> dict[str, Any]:
        axes = _axes(live, params)
        return live.moved(params.after, axes, generation=params.generation, most=live_params.MOVED)

    return cast(responses.LiveMoves, await _ask(request, list_moves))


def _axes(live: LiveService, params: live_params.PlaneQuery) -> tuple[int, int]:
    axes = params.x, min(1, live.dim - 1) if params.y is None else params.y
    for axis in axes:
        if axis >= live.dim:
            raise InputError(f"axis {axis}: an axis from 0 to {live.dim - 1} is expected")
    return axes


async def _ask(request: Request, work: Callable[[LiveService], _Value]) -> _Value:
    answer: _Value = await request.app.state.writer.ask(work)
    return answer
