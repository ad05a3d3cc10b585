"""Serving: a socket on a free port, uvicorn behind it, a browser before it, and a quiet end."""

from __future__ import annotations

import errno
import os
import secrets
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import quote

from graphrefine.errors import InputError, MissingExtraError
from graphrefine.explore.shown import Shown

CONNECTIONS = 512  # at once; more are turned away


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

    listening = bind(host, port)
    with listening:
        if token is None and not is_loopback(host):
            token = secrets.token_urlsafe(24)
        every = host in ("0.0.0.0", "::")
        hosts = [socket.gethostname(), socket.getfqdn()] if every else [f"[{host}]" if ":" in host else host]
        app = make_app(shown, token=token, hosts=hosts, any_address=every)
        bound = listening.getsockname()[1]
        address = url(host, bound, token)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=1,
            lifespan="off",
            ws="none",
        )
        shown.background.start()
        if tell is not None:
            tell(address, bound)
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        try:
            uvicorn.Server(config).run(sockets=[listening])
        finally:
            _end(shown)


def url(host: str, port: int, token: str | None) -> str:
    """The address of the page.

    Examples
    --------
    >>> url("127.0.0.1", 8000, None), url("::1", 80, "a b")
    ('http://127.0.0.1:8000/', 'http://[::1]:80/?token=a%20b')
    """
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    place = f"http://[{name}]:{port}/" if ":" in name else f"http://{name}:{port}/"
    return place if token is None else f"{place}?token={quote(token, safe='')}"


def _end(shown: Shown) -> None:
    """Stop the background work; what does not stop in time is in compiled code, which must not meet Python's end."""
    if shown.background.stop(seconds=1.0):
        return
    from graphrefine.files import remove_unfinished

    remove_unfinished()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(128 + signal.SIGINT)


def can_open_browser() -> bool:
    """Whether there is someone to open a browser for."""
    if os.environ.get("CI") or not sys.stderr.isatty():
        return False
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
