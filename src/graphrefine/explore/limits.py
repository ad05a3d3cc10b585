"""Limits of requests: of their number at once and of their time; a client beyond them is sent away for a second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

AT_ONCE = 64  # requests being answered
SECONDS = 30.0  # for an answer
BODY_SECONDS = 10.0  # for a body to arrive
HEAD_SECONDS = 10.0  # for the lines before it
SENDING = 600.0  # for an answer to be taken: a map of a million nodes is 8 MB, over any line


class Limits:
    """Answers at most `at_once` requests at once, each for at most `seconds`.

    `refuse` makes the answer of a status and a problem.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        refuse: Callable[[int, str], ASGIApp],
        at_once: int = AT_ONCE,
        seconds: float = SECONDS,
    ) -> None:
        self._app, self._refuse = app, refuse
        self._at_once, self._seconds = at_once, seconds
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse to."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if self._running >= self._at_once:
            refusal = self._refuse(503, f"more than {self._at_once} requests at once; try again in a second")
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
            refusal = self._refuse(
                503, f"no answer within {self._seconds:g} seconds; ask for less at once, or again later"
            )
            await refusal(scope, receive, send)
