"""Serving: a socket on a free port, uvicorn behind it, a browser before it, and a quiet end."""

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

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.explore.shown import Shown

SETTINGS: dict[str, Any] = {
    "loop": "asyncio",  # and h11, by `Connection`, whatever else is installed: all that is refused is refused alike
    "ws": "none",
    "lifespan": "off",
    "proxy_headers": False,  # who asks is who is connected, whatever a header says
    "log_level": "error",  # bugs of ours; not a line for each request that is none
    "access_log": False,
    "server_header": False,
    "date_header": False,
    "limit_concurrency": 512,  # connections; more are turned away
    "timeout_graceful_shutdown": 1,
}


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone.

    Examples
    --------
    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_installed() -> None:
    """Raise MissingExtraError unless there is what it takes to serve."""
    for package in ("starlette", "uvicorn"):
        try:
            __import__(package)
        except ImportError as error:
            raise MissingExtraError("graphrefine explore", package, "explore") from error


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any that is free."""
    if not 0 <= port <= 65535:
        raise InputError(f"port={port} is not a port; it can be 1 to 65535, or 0 for any that is free")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise InputError(f"host={host} is not an address of this machine: {error.strerror or error}") from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(128)
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRINUSE:
            problem = f"port={port} is taken on {host}; choose another, or 0 for any that is free"
        elif error.errno == errno.EACCES:
            problem = f"port={port} needs rights that you do not have; choose one above 1023, or 0"
        else:
            problem = f"host={host} cannot be listened on: {error.strerror or error}"
        raise InputError(problem) from error
    return found


def serve(
    shown: Shown,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    browser: bool = False,
    tell: Callable[[str, int], None] | None = None,
) -> None:
    """Serve the page until it is stopped (Ctrl-C).

    Parameters
    ----------
    shown
        What to show.
    host
        Where to listen. Beyond the loopback a token is needed, and made if none is given.
    port
        0 for any that is free.
    token
        What requests must have.
    browser
        Whether to open the page.
    tell
        Told the page's address, and the port, once it can be reached.
    """
    check_installed()
    import uvicorn

    from graphrefine.explore.app import make_app
    from graphrefine.explore.connecting import Connection

    with bind(host, port) as listening:
        bound = listening.getsockname()[1]
        found = reach(host, bound, token)
        app = make_app(shown, token=found.token, hosts=found.hosts, any_address=found.any_address)
        # What is loaded by then stays: requests need not wait while it is looked through for garbage.
        shown.background.start(then=gc.freeze)
        if tell is not None:
            tell(found.url, bound)
        if browser:
            threading.Thread(target=webbrowser.open, args=(found.url,), daemon=True).start()
        try:
            uvicorn.Server(uvicorn.Config(app, http=Connection, **SETTINGS)).run(sockets=[listening])
        finally:
            gc.unfreeze()
            _end(shown)


class Reach(NamedTuple):
    """How a server is reached."""

    url: str
    token: str | None  # what requests must have
    hosts: tuple[str, ...]  # what their Host may be, beside names of the loopback
    any_address: bool  # or any IP address


def reach(host: str, port: int, token: str | None) -> Reach:
    """How a server that listens on a host is reached: beyond the loopback with a token, made if there is none.

    Examples
    --------
    >>> reach("::1", 8000, "a b").url
    'http://[::1]:8000/?token=a%20b'
    """
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    every = host in ("0.0.0.0", "::")
    names = (socket.gethostname(), socket.getfqdn()) if every else (host,)
    hosts = tuple(f"[{name}]" if ":" in name else name for name in names)
    url = f"http://{hosts[0]}:{port}/"
    return Reach(url if token is None else f"{url}?token={quote(token, safe='')}", token, hosts, every)


def _end(shown: Shown) -> None:
    """Stop the background work; what does not stop in time is in compiled code, which must not meet Python's end."""
    if shown.background.stop(seconds=1.0):
        return
    from graphrefine.system.files import remove_unfinished

    remove_unfinished()
    print("interrupted; no half-written output is left", file=sys.stderr, flush=True)  # as `graphrefine.cli.main` ends
    os._exit(128 + getattr(sys.exc_info()[1], "number", signal.SIGINT))


def can_open_browser() -> bool:
    """Whether there is someone to open a browser for."""
    if os.environ.get("CI"):
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
