"""How much is done at once and for how long: what goes beyond is asked to come again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from typing import Any

from graphrefine.explore.guard import App, Receive, Scope, Send

AT_ONCE = 64  # requests being answered
SECONDS = 30.0  # for an answer
BODY_SECONDS = 10.0  # for a body to arrive


class Limits:
    """Answers so many requests at once, each for so long.

    `refuse` answers with a status and a problem.
    """

    def __init__(
        self,
        app: App,
        *,
        refuse: Callable[[int, str], App],
        at_once: int = AT_ONCE,
        seconds: float = SECONDS,
    ) -> None:
        self._app, self._refuse = app, refuse
        self._at_once, self._seconds = at_once, seconds
        self._now = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse to."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._now >= self._at_once:
            refused = self._refuse(503, f"more than {self._at_once} requests at once; try again in a second")
            await refused(scope, receive, send)
            return
        self._now += 1
        try:
            await self._within(scope, receive, send)
        finally:
            self._now -= 1

    async def _within(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_seen(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            async with asyncio.timeout(self._seconds):
                await self._app(scope, receive, send_seen)
        except TimeoutError:
            if begun:
                raise
            late = self._refuse(
                503, f"no answer within {self._seconds:g} seconds; ask for less at once, or again later"
            )
            await late(scope, receive, send)
