"""Limits of requests: of their number at once and of their time; and of connections on which no request arrives.

A client beyond `Limits` is sent away for a second. Of uvicorn's own limits, `timeout_keep_alive` holds only between
requests, and none holds for a client that sends nothing, or half of a head. So each `Connection` has a timer: it starts
with the connection and after each answer, and a request that has arrived (`HeadTimeout`, a middleware) stops it. Of
uvicorn's protocol only the methods of `asyncio.Protocol` are used.
"""

from __future__ import annotations

import asyncio
from typing import Any

from h11 import LocalProtocolError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphrefine.explore.responses import refuse

AT_ONCE = 64  # requests being answered
SECONDS = 30.0  # for an answer
BODY_SECONDS = 10.0  # for a body to arrive
HEAD_SECONDS = 10.0  # for the lines before it
SENDING = 600.0  # for an answer to be taken: a map of a million nodes is 8 MB, over any line

_CONNECTIONS: dict[tuple[Any, ...], Connection] = {}  # by the addresses of server and client


class Limits:
    """Answers at most `at_once` requests at once, each for at most `seconds`."""

    def __init__(self, app: ASGIApp, *, at_once: int = AT_ONCE, seconds: float = SECONDS) -> None:
        self._app = app
        self._at_once, self._seconds = at_once, seconds
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse to."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if self._running >= self._at_once:
            refusal = refuse(503, f"more than {self._at_once} requests at once; try again in a second")
            return await refusal(scope, receive, send)
        self._running += 1
        try:
            await self._within(scope, receive, send)
        finally:
            self._running -= 1

    async def _within(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False
        loop = asyncio.get_running_loop()

        async def send_part(message: Message) -> None:
            nonlocal has_begun
            if not has_begun:
                has_begun = True
                clock.reschedule(loop.time() + SENDING)
            await send(message)

        try:
            async with asyncio.timeout(self._seconds) as clock:
                await self._app(scope, receive, send_part)
        except TimeoutError:
            if has_begun:  # the connection ends, as the answer cannot
                return
            refusal = refuse(503, f"no answer within {self._seconds:g} seconds; ask for less at once, or again later")
            await refusal(scope, receive, send)


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
        self._timer = asyncio.get_running_loop().call_later(HEAD_SECONDS, self._close)

    def stop_timer(self) -> None:
        """Wait no longer."""
        if self._timer is not None:
            self._timer.cancel()


async def _see_end(receive: Receive) -> None:
    """Wait for the end of a connection, which is near."""
    async with asyncio.timeout(HEAD_SECONDS):
        while (await receive())["type"] != "http.disconnect":
            pass


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
        except LocalProtocolError:  # a body that broke off was refused meanwhile: this answer comes too late
            await _see_end(receive)
        finally:
            if ends in _CONNECTIONS:
                _CONNECTIONS[ends].start_timer()
