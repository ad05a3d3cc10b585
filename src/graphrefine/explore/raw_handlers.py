"""Handlers of the requests that are answered with raw bytes: places of nodes, columns, the map as an image."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from graphrefine.explore.background import Task
from graphrefine.explore.columns import as_bytes
from graphrefine.explore.raw_response import Blob, RawResponse
from graphrefine.explore.request_params import LayoutQuery
from graphrefine.explore.responses import describe_raw
from graphrefine.explore.session import Session
from graphrefine.explore.strict_route import Router

PATIENCE = 5.0  # seconds to wait for a map or column that is being made
BYTES = "application/octet-stream"

raw_router = Router()


@raw_router.get("/api/coordinates", describe_raw(BYTES))
async def get_coordinates(request: Request, params: LayoutQuery) -> Response:
    """Places of nodes on the map: x and y of each row, little-endian float32 from -1 to 1."""
    session: Session = request.app.state.session
    task = session.layouts[params.layout or session.best_layout]
    await _wait_for(task, f"the layout {task.name}")
    return RawResponse(await _blob(request, ("layout", task.name), lambda: as_bytes(task.value, "<f4")), BYTES)


@raw_router.get("/api/columns/{name:path}", describe_raw(BYTES))
async def get_column(request: Request, name: str) -> Response:
    """A column to colour by: one value for each row, little-endian.

    uint16 codes of categories (65535: none) or float32 (NaN: none); `/api/info` has the kind of each column.
    """
    session: Session = request.app.state.session
    task = session.columns.get(name)
    if task is None:
        raise HTTPException(404, f"there is no such column; there are: {', '.join(session.columns) or 'none'}")
    await _wait_for(task, f"the column {name}")
    return RawResponse(await _blob(request, ("column", name), task.value.raw), BYTES)


@raw_router.get("/map.png", describe_raw("image/png"))
async def get_image(request: Request) -> Response:
    """The map as an image."""
    session: Session = request.app.state.session
    await _wait_for(session.layouts[session.best_layout], "the map")
    return RawResponse(Blob.of(await asyncio.to_thread(session.draw)), "image/png")


async def _blob(request: Request, key: tuple[str, str], content: Callable[[], memoryview]) -> Blob:
    """A blob that is made once, in a thread."""
    blobs: dict[tuple[str, str], Blob] = request.app.state.blobs
    if key not in blobs:
        blobs[key] = await asyncio.to_thread(lambda: Blob.of(content()))
    return blobs[key]


async def _wait_for(task: Task, name: str) -> None:
    """Wait a little for background work."""
    for _ in range(round(PATIENCE / 0.02)):
        if task.state != "working":
            break
        await asyncio.sleep(0.02)
    if task.state == "working":
        raise HTTPException(503, f"{name} is being made; try again in a second", {"retry-after": "1"})
    if task.state == "failed":
        raise HTTPException(404, f"{name} could not be made: {task.error}")
