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

_CONNECTIONS: dict[tuple[Any, ...], Connection] = {}  # by the addresses of server and client


class Connection(H11Protocol):
    """HTTP/1.1 by uvicorn, with a timer for each connection."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer."""
        super().connection_made(transport)
        self._close = transport.close
        self._ends = tuple((transport.get_extra_info(name) or ())[:2] for name in ("sockname", "peername"))
        _CONNECTIONS[self._ends] = self
        self.start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the timer."""
        _CONNECTIONS.pop(self._ends, None)
        self.stop_timer()
        super().connection_lost(exc)

    def start_timer(self) -> None:
        """Wait for a request."""
        self.stop_timer()
        self._timer = asyncio.get_running_loop().call_later(limits.HEAD_SECONDS, self._close)

    def stop_timer(self) -> None:
        """Wait no longer."""
        if self._timer is not None:
            self._timer.cancel()


class HeadTimeout:
    """Stops the timer of a connection while a request of it is answered."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        ends = scope["server"], scope["client"]
        if ends in _CONNECTIONS:  # it may be lost by now
            _CONNECTIONS[ends].stop_timer()
        try:
            await self._app(scope, receive, send)
        finally:
            if ends in _CONNECTIONS:
                _CONNECTIONS[ends].start_timer()
