"""Authorization of requests by their Host and token; and the headers that keep a browser to this page.

A page of another site may make a browser send requests here. It cannot read the answers (there are no CORS headers),
cannot send JSON (a browser asks first, by OPTIONS, which is refused), and cannot pass for this page under another name
that leads here (DNS rebinding), because the Host must be one of this server's.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphrefine.explore.responses import refuse

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
OPEN = frozenset({"/healthz"})  # addresses that need no token
# No inline script or style, and nothing from elsewhere: a name of a node that a page took for HTML could load nothing,
# and send nothing away.
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
_HOST = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?")


class Auth:
    """Lets through requests that name a host of this server and, if it has a token, send the token.

    ``hosts`` are names of this server besides those of the loopback; with ``any_address``, for a server that listens
    on all of its addresses, any IP address is accepted too. The ``token`` comes in a cookie, which ``/?token=`` sets,
    or in ``Authorization: Bearer``.
    """

    def __init__(
        self, app: ASGIApp, *, hosts: Iterable[str] = (), any_address: bool = False, token: str | None = None
    ) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts} | LOOPBACK
        self._any_address = any_address
        self._token = None if token is None else token.encode("utf-8", "surrogateescape")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse to."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *HEADERS]
                if not any(name == b"cache-control" for name, _ in headers):
                    headers.append((b"cache-control", b"no-store"))
                message["headers"] = headers
            await send(message)

        return await self._authorize(Request(scope))(scope, receive, send_with_headers)

    def _authorize(self, request: Request) -> ASGIApp:
        """Return the application, or one that refuses the request, or one that sets the cookie."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self._is_host(hosts[0]):
            return refuse(421, "this is not the Host of this server; use the address that it printed")
        if self._token is None or request.scope["path"] in OPEN:
            return self._app
        in_query = request.query_params.get("token")
        if request.scope["path"] == "/" and request.method in ("GET", "HEAD") and self._is_token(in_query):
            return self._set_cookie(request)
        if any(self._is_token(token) for token in _sent_tokens(request)):
            return self._app
        return refuse(
            401, "a token is needed: open the address that was printed, with ?token=, or send Authorization: Bearer"
        )

    def _is_host(self, host: str) -> bool:
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match["name"].lower()
        if name in self._hosts:
            return True
        # An address cannot be bound to another one, as a name of DNS can; of all addresses, some may be this server's.
        with contextlib.suppress(ValueError):
            return self._any_address and bool(ipaddress.ip_address(name.strip("[]")))
        return False

    def _is_token(self, token: str | None) -> bool:
        if self._token is None or token is None:
            return False
        # In constant time: how long a comparison takes must not tell how many characters were right.
        return hmac.compare_digest(token.encode("utf-8", "surrogateescape"), self._token)

    def _set_cookie(self, request: Request) -> ASGIApp:
        """Move the token from the address into a cookie."""
        # Out of the address, which browsers keep in their history and people copy. In hexadecimal digits, as a token
        # may have characters that a cookie cannot have.
        rest = [pair for pair in request.query_params.multi_items() if pair[0] != "token"]
        token = self._token or b""
        cookie = f"{cookie_name(request)}={token.hex()}; Path=/; HttpOnly; SameSite=Strict"
        return RedirectResponse("/" + (f"?{urlencode(rest)}" if rest else ""), 303, {"set-cookie": cookie})


def cookie_name(request: Request) -> str:
    """Return a name for each port: a browser sends the cookies of a host to all of its ports."""
    return f"graphrefine-{(request.scope.get('server') or ('', 0))[1]}"


def _sent_tokens(request: Request) -> Iterable[str]:
    """Yield the tokens in the headers of a request."""
    for header in request.headers.getlist("authorization"):
        if header[:7].lower() == "bearer ":
            yield header[7:].encode("latin-1").decode("utf-8", "surrogateescape").strip()
    cookie = request.cookies.get(cookie_name(request), "")
    if re.fullmatch("([0-9a-f]{2})+", cookie):
        yield bytes.fromhex(cookie).decode("utf-8", "surrogateescape")
