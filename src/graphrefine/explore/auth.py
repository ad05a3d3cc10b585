"""Authorization of requests by their Host and token; and the headers that keep a browser to this page.

A page of another site may make a browser send requests here. It cannot read the answers (there are no CORS headers),
cannot send JSON (a browser asks first, by OPTIONS, which is refused), and cannot pass for this page under a name of its
own that leads here (DNS rebinding), because the Host must be one of this server's.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
OPEN = frozenset({"/healthz"})  # addresses that need no token
HEADERS = tuple(
    (name.encode(), value.encode())
    for name, value in {
        "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
        "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; font-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }.items()
)
_HOST = re.compile(rb"(?P<name>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")


class Auth:
    """Lets through requests that name a host of this server and, if it has a token, send the token.

    Parameters
    ----------
    app
        The application behind it.
    refuse
        Makes the answer of a status and a problem.
    hosts
        Names of this server beside those of the loopback.
    any_address
        Whether any IP address is accepted as a Host: for a server that listens on all of them, with a token.
    token
        The token of a request: a cookie, which ``/?token=`` sets, or ``Authorization: Bearer``.
    """

    def __init__(
        self,
        app: App,
        *,
        refuse: Callable[[int, str], App],
        hosts: Iterable[str] = (),
        any_address: bool = False,
        token: str | None = None,
    ) -> None:
        self._app, self._refuse = app, refuse
        self._hosts = {host.lower() for host in hosts} | LOOPBACK
        self._any_address = any_address
        self._token = None if token is None else token.encode("utf-8", "surrogateescape")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse to."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *HEADERS]
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message["headers"] = headers
            await send(message)

        await self._authorize(scope)(scope, receive, send_with_headers)

    def _authorize(self, scope: Scope) -> App:
        """The application, or another one that refuses."""
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return self._refuse(421, "this is not the Host of this server; use the address that it printed")
        if self._token is None or scope["path"] in OPEN:
            return self._app
        if scope["path"] == "/" and scope["method"] == "GET":
            offered = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
            if offered is not None and self._is_token(offered):
                return self._welcome(scope)
        if any(self._is_token(token) for token in _tokens(scope)):
            return self._app
        return self._refuse(
            401, "a token is needed: open the address that was printed, with ?token=, or send Authorization: Bearer"
        )

    def _is_ours(self, host: bytes) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match["name"].decode().lower()
        return name in self._hosts or (self._any_address and _is_address(name))

    def _is_token(self, offered: str) -> bool:
        return self._token is not None and hmac.compare_digest(offered.encode("utf-8", "surrogateescape"), self._token)

    def _welcome(self, scope: Scope) -> App:
        """Keep the token as a cookie, out of the address."""
        token = self._token or b""
        rest = [pair for pair in parse_qsl(scope["query_string"].decode("latin-1")) if pair[0] != "token"]
        place = "/" + (f"?{urlencode(rest)}" if rest else "")
        name = cookie_name(scope)
        jar: SimpleCookie = SimpleCookie()
        jar[name] = token.hex()
        cookie = f"{jar[name].OutputString()}; Path=/; HttpOnly; SameSite=Strict"

        async def redirect(scope: Scope, receive: Receive, send: Send) -> None:
            headers = [(b"location", place.encode()), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 303, "headers": headers})
            await send({"type": "http.response.body", "body": b""})

        return redirect


def cookie_name(scope: Scope) -> str:
    """A name for each port: a browser gives the cookies of a host to all of its ports."""
    return f"graphrefine-{(scope.get('server') or ('', 0))[1]}"


def _tokens(scope: Scope) -> Iterable[str]:
    for name, value in scope["headers"]:
        if name == b"authorization" and value[:7].lower() == b"bearer ":
            yield value[7:].decode("utf-8", "surrogateescape").strip()
        if name == b"cookie":
            yield from _in_cookie(value.decode("latin-1"), cookie_name(scope))


def _in_cookie(text: str, name: str) -> Iterable[str]:
    try:
        jar: SimpleCookie = SimpleCookie(text)
        if name in jar:
            yield bytes.fromhex(jar[name].value).decode("utf-8", "surrogateescape")
    except (CookieError, ValueError):
        return


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
