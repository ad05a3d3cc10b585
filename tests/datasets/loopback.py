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
    """The file that is served, the way it is served, and the number of requests."""

    content: bytes
    cuts: list[int] = field(default_factory=list)  # after how many bytes each of the next answers breaks off
    statuses: list[int] = field(default_factory=list)  # status of the next answers
    delay: float = 0.0  # seconds before each answer
    length: bool = True  # False: answers without Content-Length
    requests: int = 0
    url: str = ""


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site = self.site
        site.requests += 1
        time.sleep(site.delay)
        if site.statuses and (status := site.statuses.pop(0)) != 200:
            self.send_error(status)
            return
        self.send_response(200)
        if site.length:
            self.send_header("Content-Length", str(len(site.content)))
        self.end_headers()
        self.wfile.write(site.content[: site.cuts.pop(0)] if site.cuts else site.content)

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
