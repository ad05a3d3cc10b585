"""Raw bytes: places of nodes, columns, the map as an image, the files of the page.

They are sent in parts, without a copy of the whole, and only to clients that do not have them yet.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from graphrefine.explore.background import Task
from graphrefine.explore.columns import as_bytes
from graphrefine.explore.request_params import LayoutQuery
from graphrefine.explore.session import Session

PATIENCE = 5.0  # seconds to wait for a map or column that is being made
CHUNK = 1 << 18  # bytes sent at a time, so that a slow reader is waited for
BYTES, PNG = "application/octet-stream", "image/png"
PAGE = Path(__file__).parent / "page"
PAGE_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".txt": "text/plain"}
NO_PAGE = """<!doctype html><html lang="en"><title>graphrefine explore</title>
<h1>The page is not built</h1>
<p>This copy of graphrefine has no page in it. In a clone of its source, <code>make web</code> builds it.
<p>The API is here all the same: <a href="/api/info">/api/info</a>, <a href="/api/openapi.json">/api/openapi.json</a>.
"""


PageHandler = Callable[[Request], Awaitable[Response]]


class Blob(NamedTuple):
    """Bytes that do not change, and the tag that tells them from others."""

    content: memoryview
    etag: str

    @classmethod
    def of(cls, content: bytes | memoryview) -> Blob:
        """The blob of some bytes."""
        return cls(memoryview(content), f'"{zlib.crc32(content):08x}-{len(content):x}"')

    def respond(self, request: Request, media_type: str) -> Response:
        """The bytes, or 304 for a client that has them."""
        headers = {"etag": self.etag, "cache-control": "no-cache"}
        if self.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        headers["content-length"] = str(len(self.content))
        return StreamingResponse(self._parts(), headers=headers, media_type=media_type)

    async def _parts(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.content), CHUNK):
            yield bytes(self.content[start : start + CHUNK])


async def get_coordinates(request: Request, session: Session, params: LayoutQuery) -> Response:
    """Places of nodes on the map: x and y of each row, little-endian float32 from -1 to 1."""
    task = session.layouts[params.layout or session.best_layout]
    await _wait_for(task, f"the layout {task.name}")
    return await _respond(request, session, ("layout", task.name), lambda: as_bytes(task.value, "<f4"))


async def get_column(request: Request, session: Session, name: str) -> Response:
    """A column to color by: one value for each row, little-endian.

    uint16 codes of categories (65535: none) or float32 (NaN: none); `/api/info` has the kind of each column.
    """
    task = session.columns.get(name)
    if task is None:
        raise HTTPException(404, f"there is no such column; there are: {', '.join(session.columns) or 'none'}")
    await _wait_for(task, f"the column {name}")
    return await _respond(request, session, ("column", name), task.value.raw)


async def get_image(request: Request, session: Session) -> Response:
    """The map as an image."""
    await _wait_for(session.layouts[session.best_layout], "the map")
    return Blob.of(await asyncio.to_thread(session.draw)).respond(request, PNG)


async def _respond(
    request: Request, session: Session, key: tuple[str, str], content: Callable[[], memoryview]
) -> Response:
    """Respond with a blob that is made once, in a thread."""
    blobs: dict[tuple[str, str], Blob] = session.blobs
    if key not in blobs:
        blobs[key] = await asyncio.to_thread(lambda: Blob.of(content()))
    return blobs[key].respond(request, BYTES)


async def _wait_for(task: Task, name: str) -> None:
    """Wait a little for background work."""
    for _ in range(round(PATIENCE / 0.02)):
        if task.state != "working":
            break
        await asyncio.sleep(0.02)
    if task.state == "working":
        raise HTTPException(503, f"{name} is being made; try again in a second")
    if task.state == "failed":
        raise HTTPException(404, f"{name} could not be made: {task.error}")


def page_handlers(folder: Path = PAGE) -> dict[str, PageHandler]:
    """A handler for each file of the page, read now: an address is looked up here, and never becomes a path."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in PAGE_TYPES)
    handlers = {
        f"/{path.relative_to(folder).as_posix()}": _page_handler(path.read_bytes(), path.suffix) for path in paths
    }
    handlers["/"] = handlers.pop("/index.html", _page_handler(NO_PAGE.encode(), ".html"))
    return handlers


def _page_handler(content: bytes, suffix: str) -> PageHandler:
    blob = Blob.of(content)

    async def get_file(request: Request) -> Response:
        return blob.respond(request, PAGE_TYPES[suffix])

    return get_file
