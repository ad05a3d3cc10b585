"""The server of live vectors: application, folder and renewals, from the first request to a quiet end."""

from __future__ import annotations

import os
import secrets
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette

from graphrefine.errors import InputError
from graphrefine.explore.app import make_app
from graphrefine.explore.background import Background
from graphrefine.explore.handlers import page_handlers
from graphrefine.explore.live.handlers import live_router
from graphrefine.explore.live.renewal import Renewal
from graphrefine.explore.live.writer import Writer
from graphrefine.explore.routes import PageHandler
from graphrefine.explore.server import Access, answer_requests, bind, end_background, make_access
from graphrefine.explore.session import Session
from graphrefine.live.service import LiveService

RENEW = 60.0  # seconds between two snapshots
PAGE = Path(__file__).parent / "page"


def serve_live(
    path: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    renew: float = RENEW,
    browser: bool = False,
    threads: int | None = None,
    on_start: Callable[[str, int, str, LiveService], None] | None = None,
    on_end: Callable[[LiveService], None] | None = None,
) -> None:
    """Serve a folder of live vectors until it is stopped (Ctrl-C), as its one writer.

    Parameters
    ----------
    path
        The folder.
    host
        Address to listen on.
    port
        0 for any that is free.
    token
        Token that requests must send; made if none is given.
    renew
        Seconds between two snapshots for the API of explore, while there are changes.
    browser
        Whether to open the page.
    threads
        Largest number of threads of a search.
    on_start
        Called with the page's address, port, token and folder, once it can be reached.
    on_end
        Called with the folder before it is closed, which waits for a refresh that is under way.
    """
    if token is not None and not token.strip():
        raise InputError("token='' is empty; leave it out, and one is made", argument="token")
    with bind(host, port) as listening:
        bound = listening.getsockname()[1]
        token = token or secrets.token_urlsafe(24)
        access = make_access(host, bound, token)
        live = LiveService(path, threads=threads)
        work: list[Background] = []
        try:
            with live_app(live, access, renew=renew, work=work) as app:
                if on_start is not None:
                    on_start(access.url, bound, token, live)
                if browser:
                    threading.Thread(target=webbrowser.open, args=(access.url,), daemon=True).start()
                answer_requests(app, listening)
        finally:
            if on_end is not None:
                on_end(live)
            live.close()
            for each in work:
                end_background(each)


@contextmanager
def live_app(
    live: LiveService, access: Access, *, renew: float = RENEW, work: list[Background] | None = None
) -> Iterator[Starlette]:
    """The application of a folder, which is used by a thread of its own until the block ends.

    ``work`` takes the background work of sessions that has not ended by then.
    """
    writer = Writer(live)
    try:
        renewal = Renewal(writer, seconds=renew)
        app = make_app(
            renewal.session,
            token=access.token,
            hosts=access.hosts,
            any_address=access.any_address,
            routers=[live_router],
            pages=live_pages(),
        )
        app.state.writer, app.state.renewal = writer, renewal

        def publish(session: Session) -> None:
            app.state.session = session

        renewal.start(publish)
        try:
            yield app
        finally:
            rest = renewal.stop()
            if work is not None:
                work += rest
            for each in rest:
                each.stop(0)
    finally:
        writer.stop()


def live_pages() -> dict[str, PageHandler]:
    """The files of the page by their addresses: the page itself is at / and at /live."""
    pages = page_handlers(PAGE)
    return {**pages, "/live": pages["/"]}
