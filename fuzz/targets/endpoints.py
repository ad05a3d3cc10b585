"""The API of ``explore`` and of ``live serve``: requests to the application itself, without a socket.

Every answer must be one: not 500, in JSON that is JSON, and from an address of the API with an ``error`` if it is a
refusal. An error in any thread behind it is a finding too.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fuzz.requests import Request, ask, mutate_request
from fuzz.target import Target

SECRET = "open sesame"
LIFE = 20_000  # requests to an application; then there is another, because changes make live folders grow
NAMES = [f"{'Node' if i % 2 else 'node'} {i:02d}/é" for i in range(48)]
INTEGERS = [i * 3 - 20 for i in range(48)]
Make = Callable[[Path], Any]  # a context with an application


class RequestRefusedError(Exception):
    """An answer of 4xx, as is right; counted as refused."""


class Client:
    """An application that lives through many inputs, and a loop for it."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._problems: list[str] = []

    def ask(self, data: bytes, folder: Path) -> None:
        """Send a request, and check the answer."""
        request = Request.read(data)
        sent = self._loop.run_until_complete(asyncio.wait_for(self._exchange(request), 60))
        status = check_answer(sent, request)
        assert not self._problems, self._problems.pop()
        if status >= 400:
            raise RequestRefusedError(status)

    def start(self, folder: Path) -> None:
        """An application that lives as long as this process; errors of its threads are kept for the next input."""
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda loop, context: self._problems.append(repr(context)))
        threading.excepthook = lambda each: self._problems.append(repr(each))
        sys.excepthook = lambda kind, error, trace: self._problems.append(repr(error))
        self._context = self._make(folder)
        self._app = self._context.__enter__()

    async def _exchange(self, request: Request) -> list[dict[str, Any]]:
        scope = request.scope()
        said = [value for name, value in scope["headers"] if name == b"content-length" and value.isdigit()]
        body = request.body[: int(said[-1][:9])] if said else b""
        parts = [body[:100], body[100:]] if len(body) > 200 else [body]
        gone = bool(said) and len(body) < int(said[-1][:9])  # a client that leaves before it has sent all
        more = [*(True for _ in parts[1:]), gone]
        incoming = [
            {"type": "http.request", "body": part, "more_body": rest} for part, rest in zip(parts, more, strict=True)
        ]
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if incoming:
                return incoming.pop(0)
            if not gone:
                await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        return sent


def check_answer(sent: list[dict[str, Any]], request: Request) -> int:
    """The status of an answer; AssertionError if the messages are not one, or one of a bug."""
    starts = [message for message in sent if message["type"] == "http.response.start"]
    assert len(starts) == 1 and sent[0] is starts[0], [message["type"] for message in sent]
    status, headers = starts[0]["status"], dict(starts[0]["headers"])
    body = b"".join(message.get("body", b"") for message in sent[1:])
    assert 200 <= status < 500, f"{status}: {body[:200]!r}"
    assert b"content-security-policy" in headers
    assert not any(b"\r" in value or b"\n" in value for value in headers.values()), headers
    if headers.get(b"content-type", b"").startswith(b"application/json") and body:
        values = json.loads(body.decode("utf-8"), parse_constant=refuse_constant)
        assert status < 400 or isinstance(values["error"], str)
    else:
        assert status < 400 or request.method == "HEAD", f"{status} without JSON: {body[:200]!r}"
    assert b"Traceback" not in body
    return int(status)


def refuse_constant(name: str) -> None:
    """JSON has no such number."""
    raise AssertionError(f"{name} in an answer")


@contextmanager
def serve_people(folder: Path, *, integers: bool = False) -> Iterator[Any]:
    """An embedding with all that can stand beside it; or one with integers for names, zeros, and nothing else."""
    import numpy as np

    from graphrefine.embedding.embedding import Embedding
    from graphrefine.explore.app import make_app
    from graphrefine.explore.session import Session
    from graphrefine.graph.graph import Graph

    vectors = np.random.default_rng(3).standard_normal((len(NAMES), 8)).astype(np.float32)
    if integers:
        vectors[5:9] = 0
        session = Session(Embedding(INTEGERS, vectors, {"method": "refine"}))
    else:
        ends = [(NAMES[i], NAMES[(i + step) % len(NAMES)]) for i in range(40) for step in (1, 7)]
        lines = ["node,label", *(f"{name},{name[:4]}" for name in NAMES[:40])]
        (folder / "labels.csv").write_text("\n".join(lines), "utf-8")
        graph = Graph.from_edges([u for u, _ in ends], [v for _, v in ends])
        degrees = np.arange(len(NAMES))
        embedding = Embedding(NAMES, vectors, {"method": "refine"}, degrees=degrees, degree_weight=0.1)
        session = Session(embedding, graph=graph, labels=folder / "labels.csv", name="people")
    session.background.start()
    assert session.background.wait(60)
    try:
        yield make_app(session)
    finally:
        session.background.stop(5)


@contextmanager
def serve_live(folder: Path, *, sides: bool = False) -> Iterator[Any]:
    """A live folder, of a ring or of users and items, behind a token."""
    import graphrefine
    from graphrefine.explore.server import make_access
    from graphrefine.live.server import Backend, LiveService

    edges = [(f"n{i}", f"n{(i + step) % 40}") for i in range(40) for step in (1, 7)]
    graph = graphrefine.read(edges, bipartite=True) if sides else graphrefine.read(edges)
    graphrefine.live.create(graph, folder / "ring.live", dim=8).close()
    live = LiveService(folder / "ring.live")
    try:
        backend = Backend(live, make_access("127.0.0.1", 80, SECRET), renew=2.0)
        try:
            yield backend.app
        finally:
            for each in backend.stop():
                each.stop(5)
    finally:
        live.close()


def make_seeds(*, names: list[Any], token: str = "") -> list[bytes]:
    """A right request to every address of ``explore``."""
    right: list[tuple[Any, ...]] = [
        ("GET", "/healthz"), ("GET", "/api/openapi.json"), ("GET", "/api/info"), ("GET", "/"), ("HEAD", "/"),
        ("GET", "/map.png"), ("GET", "/api/columns/degree"), ("GET", "/api/coordinates", {"layout": "pca"}),
        ("GET", "/api/nodes", {"prefix": "node", "limit": 5, "offset": 1}), ("GET", "/api/nodes", {"node": names[2]}),
        ("GET", "/api/nodes", {"row": 3}), ("GET", "/api/ego", {"row": 9, "limit": 7}),
        ("GET", "/api/neighbors", {"node": names[3], "k": 5, "score": "dot", "exclude_linked": "true"}),
        ("GET", "/api/neighbors", {"row": 3, "k": 5, "label": "node"}),
        ("GET", "/api/score", {"u": names[1], "v": names[2]}), ("POST", "/api/nodes", None, {"rows": [1, 2]}),
        ("POST", "/api/nodes", None, {"nodes": names[:3]}),
        ("POST", "/api/neighbors", None, {"vectors": [[0.5] * 8], "k": 3}),
        ("POST", "/api/neighbors", None, {"nodes": names[4:6], "k": 3, "score": "link", "exclude_linked": False}),
        ("POST", "/api/neighbors", None, {"rows": [4, 7], "k": 3, "score": "dot", "label": "Node"}),
        ("POST", "/api/score", None, {"pairs": [names[1:3], names[2:4]]}),
    ]  # fmt: skip
    return [ask(each, token) for each in right]


def make_live_seeds() -> list[bytes]:
    """The same, and a right request to every address of ``live serve``."""
    names = [f"n{i}" for i in range(40)]
    changes = [["+", "n1", "n9"], ["+", "new", "n2", 2.5], ["-", "n1", "n2"], ["=", "n3", "n4", 0.5], ["-", "n30"]]
    right: list[tuple[Any, ...]] = [
        ("POST", "/api/edges", None, {"request": "1", "changes": changes}),
        ("POST", "/api/edges", None, {"request": "2", "changes": [["+", "n5", "n6"]], "skip_unknown": True}),
        ("POST", "/api/edges", None, {"request": "3", "changes": [["-", "n7", "n8"], ["-", "n9", None]]}),
        ("GET", "/api/live"), ("GET", "/live"), ("GET", "/api/live/node", {"node": "n3"}),
        ("GET", "/api/live/neighbors", {"node": "n3", "k": 5}),
        ("GET", "/api/live/neighbors", {"node": "n3", "side": "source"}),
        ("GET", "/api/live/recommend", {"node": "n3", "k": 5}), ("GET", "/api/live/map", {"x": 0, "y": 1}),
        ("GET", "/api/live/moved", {"after": 1, "generation": 1}), ("GET", "/", {"token": SECRET}),
    ]  # fmt: skip
    return make_seeds(names=names, token=SECRET) + [ask(each, SECRET) for each in right]


def make_target(name: str, make: Make, seeds: Callable[[], list[bytes]]) -> Target:
    """A target of one application."""
    client, errors = Client(make), (RequestRefusedError,)
    return Target(name, "endpoints", seeds, client.ask, mutate_request, errors, prepare=client.start, life=LIFE)


TARGETS = [
    make_target("explore", serve_people, partial(make_seeds, names=NAMES)),
    make_target("explore_integers", partial(serve_people, integers=True), partial(make_seeds, names=INTEGERS)),
    make_target("live", serve_live, make_live_seeds),
    make_target("live_sides", partial(serve_live, sides=True), make_live_seeds),
]
