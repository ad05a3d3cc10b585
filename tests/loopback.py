"""A web server on this machine that serves one file, well or badly, as a test asks of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Site:
    """What is served, and how; and what was asked for."""

    content: bytes
    tag: str | None = '"first"'
    ranges: bool = True  # whether parts are served
    shift: int = 0  # how far beside the part that was asked for the one served lies
    cuts: list[int] = field(default_factory=list)  # after how many bytes each of the next answers breaks off
    statuses: list[int] = field(default_factory=list)  # what the next answers are instead
    delay: float = 0.0  # seconds before each answer
    length: bool = True  # whether the size is said
    asked: list[str | None] = field(default_factory=list)  # the Range of each request
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site = self.site
        site.asked.append(self.headers.get("Range"))
        time.sleep(site.delay)
        if site.statuses and (status := site.statuses.pop(0)) != 200:
            self.send_error(status)
            return
        wanted = self.headers.get("Range")
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        partial = bool(wanted) and site.ranges and self.headers.get("If-Range") == site.tag
        if partial and start >= len(site.content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(site.content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        first = start + site.shift if partial else 0
        body = site.content[first:]
        self.send_response(206 if partial else 200)
        if partial:
            self.send_header("Content-Range", f"bytes {first}-{len(site.content) - 1}/{len(site.content)}")
        if site.length:
            self.send_header("Content-Length", str(len(body)))
        if site.tag:
            self.send_header("ETag", site.tag)
        self.end_headers()
        self.wfile.write(body[: site.cuts.pop(0)] if site.cuts else body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve on a free port until the block ends."""
    handler = type("Handler", (_Handler,), {"site": site})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}/file.mat"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
