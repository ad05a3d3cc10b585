"""Connections: one on which no whole request arrives in time is closed.

Of uvicorn's own limits, `timeout_keep_alive` holds only between requests, and none holds for a client that sends
nothing, or half of a head. So each connection has a timer: it starts with the connection and after each answer, and a
request that has arrived (`HeadTimeout`, a middleware) stops it. Of uvicorn's protocol only the methods of
`asyncio.Protocol` are used.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphrefine.explore import limits

_TIMERS: dict[tuple[Any, ...], HeadTimer] = {}  # by the addresses of server and client


class HeadTimer:
    """Closes a connection unless it is stopped in time."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Wait for a request."""
        self.stop()
        self._handle = asyncio.get_running_loop().call_later(limits.HEAD_SECONDS, self._transport.close)

    def stop(self) -> None:
        """Wait no longer."""
        if self._handle is not None:
            self._handle.cancel()


class Connection(H11Protocol):
    """HTTP/1.1 by uvicorn, with a timer for each connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer."""
        super().connection_made(transport)
        self._ends = tuple((transport.get_extra_info(name) or ())[:2] for name in ("sockname", "peername"))
        _TIMERS[self._ends] = HeadTimer(transport)
        _TIMERS[self._ends].start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the timer."""
        _TIMERS.pop(self._ends).stop()
        super().connection_lost(exc)


class HeadTimeout:
    """Stops the timer of a connection while a request of it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        timer = _TIMERS.get((scope.get("server"), scope.get("client")))
        if timer is None:  # a test's client, which has no connection
            return await self._app(scope, receive, send)
        timer.stop()
        try:
            await self._app(scope, receive, send)
        finally:
            timer.start()
