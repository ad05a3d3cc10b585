"""``graphrefine live serve``: the API of live vectors and their page."""

from __future__ import annotations

import json

from graphrefine.cli.token import take_token
from graphrefine.display.console import note
from graphrefine.explore.live.server import serve_live
from graphrefine.explore.server import can_open_browser
from graphrefine.live.service import LiveService


def serve(
    folder: str, host: str, port: int, token: str | None, token_file: str | None, renew: float, no_browser: bool,
    threads: int | None, as_json: bool,
) -> None:  # fmt: skip
    """Serve a folder of live vectors, and open its page."""

    def print_address(url: str, bound: int, token: str, live: LiveService) -> None:
        if as_json:
            counts = {"nodes": len(live), "dim": live.dim, "group": live.group}
            print(json.dumps({"url": url, "port": bound, "token": token, **counts}), flush=True)
        else:
            note(f"{url}  (Ctrl-C ends it)")

    def note_refresh(live: LiveService) -> None:
        if live.refreshing:
            note("a refresh is under way; the folder is closed after it. All changes are on the disk already")

    serve_live(
        folder,
        host=host,
        port=port,
        token=take_token(token, token_file),
        renew=renew,
        threads=threads,
        browser=not no_browser and can_open_browser(),
        on_start=print_address,
        on_end=note_refresh,
    )
