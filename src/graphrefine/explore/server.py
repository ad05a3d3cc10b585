"""The server: a socket on a free port, uvicorn behind it, a browser before it, and a quiet end."""

from __future__ import annotations

import errno
import gc
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import quote

import uvicorn

from graphrefine.errors import InputError
from graphrefine.explore.app import make_app
from graphrefine.explore.background import Background
from graphrefine.explore.session import Session

SETTINGS: dict[str, Any] = {
    "loop": "asyncio",  # and h11, even if others are installed: the same refusals everywhere
    "http": "h11",
    "ws": "none",
    "lifespan": "off",
    "proxy_headers": False,  # the client is the one that is connected, not one that a header names
    "log_level": "error",  # bugs of ours; not a line for each bad request
    "access_log": False,
    "server_header": False,
    "date_header": False,
    "limit_concurrency": 512,  # connections; more are turned away with 503
    "timeout_keep_alive": 10,  # seconds between two requests of a connection
    "h11_max_incomplete_event_size": 64 << 10,  # bytes of a head: a name of 4,000 characters in a query, %-escaped
    "timeout_graceful_shutdown": 1,
}


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 is any that is free."""
    if not 0 <= port <= 65535:
        raise InputError(f"port={port} is not a port; it can be 1 to 65535, or 0 for any that is free", argument="port")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError(
            f"host={host} is not an address of this machine: {error.strerror or error}", argument="host"
        ) from error
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()  # :: is every address, of IPv4 too
    try:
        listening = socket.create_server(address, family=family, backlog=128, dualstack_ipv6=both)
        # Connections inherit it. asyncio sets it only where a socket names its protocol, and without it the second part
        # of an answer waits for the client's acknowledgement of the first: 40 ms.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        is_port = error.errno in (errno.EADDRINUSE, errno.EACCES)
        name, value = ("port", port) if is_port else ("host", host)
        problem = f"{name}={value} cannot be listened on: {os.strerror(error.errno or 0)}"
        raise InputError(f"{problem}; choose another{', or 0 for any free port' * is_port}", argument=name) from error


def make_server(app: Any) -> uvicorn.Server:
    """Make uvicorn's server for an application, with its limits."""
    return uvicorn.Server(uvicorn.Config(app, **SETTINGS))


def answer_requests(app: Any, listening: socket.socket, *, url: str | None = None) -> None:
    """Open ``url`` in a browser, if given, and answer requests until a signal; one waits for the event loop."""
    if url is not None:
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    server = make_server(app)
    with server.capture_signals():
        server.run(sockets=[listening])


def serve(
    session: Session,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    browser: bool = False,
    on_start: Callable[[str, int], None] | None = None,
) -> None:
    """Serve the page until it is stopped (Ctrl-C).

    ``port`` 0 is any that is free. Beyond the loopback requests must send the ``token``, which is made if none is
    given. ``browser`` opens the page; ``on_start`` is called with its address and port, once it can be reached.
    """
    with bind(host, port) as listening:
        bound = listening.getsockname()[1]
        access = make_access(host, bound, token)
        app = make_app(session, token=access.token, hosts=access.hosts, any_address=access.any_address)
        # Objects that exist once the background work is done stay until the end. Frozen, they are left out of Python's
        # garbage collections, which would look through all names while requests wait.
        session.background.start(then=gc.freeze)
        if on_start is not None:
            on_start(access.url, bound)
        try:
            answer_requests(app, listening, url=access.url if browser else None)
        finally:
            gc.unfreeze()
            end_background(session.background)


class Access(NamedTuple):
    """Access to a server."""

    url: str
    token: str | None  # that requests must send
    hosts: tuple[str, ...]  # that they may name, in addition to those of the loopback
    any_address: bool  # or any IP address


def make_access(host: str, port: int, token: str | None) -> Access:
    """Return the access to a server that listens on a host: beyond the loopback with a token, made if there is none."""
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    every = host in ("0.0.0.0", "::")
    names = (socket.gethostname(), socket.getfqdn()) if every else (host,)
    hosts = tuple(f"[{name}]" if ":" in name else name for name in names)
    url = f"http://{hosts[0]}:{port}/"
    return Access(url if token is None else f"{url}?token={quote(token, safe='')}", token, hosts, every)


def end_background(work: Background) -> None:
    """Stop background work; end the process where that takes longer than a second."""
    if work.stop(seconds=1.0):
        return
    # The work is in compiled code, which crashes where the interpreter ends under it, after the last message.
    print("interrupted; no half-written output is left", file=sys.stderr, flush=True)  # as `graphrefine.cli.main` ends
    os._exit(128 + getattr(sys.exc_info()[1], "number", signal.SIGINT))


def can_open_browser() -> bool:
    """Return whether a person is there to see a browser."""
    if os.environ.get("CI"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
