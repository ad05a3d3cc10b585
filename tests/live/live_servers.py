"""What the tests of ``graphrefine live serve`` share: a folder, an application of it, and a client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import numpy as np

from explore_servers import Server, TestClient, serving
from graphrefine import live
from graphrefine.explore.server import make_access
from graphrefine.live.server import Backend, LiveService

TOKEN = "open sesame"
SEND = {"Authorization": f"Bearer {TOKEN}"}
HTML = '<img src=x onerror="alert(1)">'
NODES, DIM = 80, 8


def name(number: int) -> str:
    return HTML if number == 0 else f"n{number}"


def write_folder(place: Path, nodes: int = NODES) -> Path:
    """A ring with chords; the first node has a name that is harmful if a page takes it for HTML."""
    ends = [(i, (i + step) % nodes) for i in range(nodes) for step in (1, 7, 11)]
    path = place / "ring.live"
    live.create([(name(u), name(v)) for u, v in ends], path, dim=DIM).close()
    return path


class Served(NamedTuple):
    """A folder behind an application, and a client that sends the token."""

    api: TestClient
    folder: LiveService  # to look into, while no request is answered
    backend: Backend


@contextmanager
def served(path: Path, *, renew: float = 3600.0) -> Iterator[Served]:
    """An application of a folder until the end of the block."""
    folder = LiveService(path)
    try:
        backend = Backend(folder, make_access("127.0.0.1", 80, TOKEN), renew=renew)
        try:
            with TestClient(backend.app, base_url="http://localhost", headers=SEND) as api:
                yield Served(api, folder, backend)
        finally:
            for each in backend.stop():
                each.stop(0)
    finally:
        folder.close()


def edges(api: TestClient, request: str, *changes: list[Any], **more: Any) -> Any:
    """Send changes that must be taken."""
    answer = api.post("/api/edges", json={"request": request, "changes": list(changes), **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(api: TestClient, status: int, *words: str, **body: Any) -> None:
    """Send changes that must be refused."""
    content, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
    answer = api.post("/api/edges", content=content, headers=headers)
    assert answer.status_code == status, answer.text
    for word in words:
        assert word in answer.json()["error"]


def nearest_names(folder: LiveService, node: str, k: int) -> list[str]:
    """Neighbors by the cosine, in plain NumPy."""
    names, vectors = folder.names.tolist(), np.stack([folder[each] for each in folder.names.tolist()])
    scores = vectors.astype(np.float64) @ folder[node].astype(np.float64)
    scores[names.index(node)] = -np.inf
    return [names[place] for place in np.argsort(-scores, kind="stable")[:k]]


@contextmanager
def serving_live(*arguments: str | Path) -> Iterator[Server]:
    """``graphrefine live serve`` in a process of its own, until the end of the block."""
    with serving(*arguments, command=("live", "serve")) as server:
        yield server


def ask_server(server: Server, path: str, **body: Any) -> Any:
    """What a server in a process of its own answers; to a GET, if there is no body."""
    token = parse_qs(urlsplit(server.url).query)["token"][0]
    headers = {"Authorization": f"Bearer {token}"}
    url = f"http://127.0.0.1:{server.port}{path}"
    answer = httpx.post(url, json=body, headers=headers) if body else httpx.get(url, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()
