"""What the tests of `graphrefine explore` share: something to show, a client for it, and servers of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cli_runs import PROGRAM, ring_of_cliques
from graphrefine.embedding.embedding import Embedding
from graphrefine.explore.app import make_app
from graphrefine.explore.session import Session
from graphrefine.graph.graph import Graph

with warnings.catch_warnings():  # newer ones would rather have another client below them
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient as TestClient

CLIQUES, SIZE, DIM = 6, 8, 12
NODES = CLIQUES * SIZE
NAMES = [f"{'Node' if i % 2 else 'node'} {i:02d}/é" for i in range(NODES)]
LABELS = [f"clique {i // SIZE}" for i in range(NODES)]


def people() -> Embedding:
    """Vectors near the center of each node's clique, with names that need quoting."""
    draw = np.random.default_rng(3)
    centers = draw.standard_normal((CLIQUES, DIM))
    vectors = np.repeat(centers, SIZE, axis=0) + 0.2 * draw.standard_normal((NODES, DIM))
    counts = np.bincount(ring_of_cliques(CLIQUES, SIZE).ravel(), minlength=NODES)
    return Embedding(NAMES, vectors, {"method": "refine", "seed": 3}, degrees=counts, degree_weight=0.1)


def friends() -> Graph:
    """A ring of cliques among them."""
    ends = np.array(NAMES, object)[ring_of_cliques(CLIQUES, SIZE)]
    return Graph.from_edges(ends[:, 0], ends[:, 1])


def write_people(folder: Path) -> Path:
    """The embedding, its edges, and a label for each node, with a second one for the first; returns the folder."""
    people().save(folder / "people")
    names = np.array(NAMES, object)[ring_of_cliques(CLIQUES, SIZE)]
    (folder / "friends.csv").write_text("".join(f"{u},{v}\n" for u, v in names.tolist()), encoding="utf-8")
    lines = [f"{name},{label}\n" for name, label in zip(NAMES, LABELS, strict=True)]
    lines = ["node,label\n", *lines, f"{NAMES[0]},clique 5\n"]
    (folder / "labels.csv").write_text("".join(lines), encoding="utf-8")
    return folder


def ready(session: Session) -> Session:
    """All background work done; a failure in it fails the test."""
    session.background.start()
    assert session.background.wait(60)
    for task in session.background.tasks:
        assert task.state == "ready", (task.name, task.error)
    return session


def client(session: Session, **options: Any) -> TestClient:
    """A client within this process."""
    return TestClient(make_app(session, **options), base_url="http://localhost")


def get(api: TestClient, path: str, **query: Any) -> Any:
    answer = api.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(api: TestClient, path: str, **body: Any) -> Any:
    answer = api.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def nearest(row: int, k: int, *, among: Any = None, without: Any = ()) -> list[int]:
    """By the cosine, in plain NumPy."""
    vectors = people().vectors.astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = vectors @ vectors[row]
    scores[[row, *without]] = -np.inf
    if among is not None:
        scores[~among] = -np.inf
    order = np.argsort(-scores)[:k]
    return [int(each) for each in order if np.isfinite(scores[each])]


def linked_to(row: int) -> set[int]:
    """The neighbors in the graph."""
    pairs = ring_of_cliques(CLIQUES, SIZE).tolist()
    return {v for u, v in pairs if u == row} | {u for u, v in pairs if v == row}


class Server(NamedTuple):
    """``graphrefine explore`` in a process of its own."""

    process: subprocess.Popen[bytes]
    url: str
    port: int

    def talk(self, request: bytes, *, timeout: float = 10) -> bytes:
        """Send bytes on a connection of their own, and give the one answer that comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            with suppress(BrokenPipeError, ConnectionResetError):  # it has answered, and reads no more
                connection.sendall(request)
            return received(connection)

    def stop(self, by: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """End it by a signal; returns the exit code, and what it has written to stderr."""
        self.process.send_signal(by)
        code = self.process.wait(20)
        assert self.process.stderr
        return code, self.process.stderr.read().decode()

    def memory(self) -> int:
        """Bytes that it holds that are not a file's."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def received(connection: socket.socket) -> bytes:
    """An answer as long as it says it is, or all until the connection ends."""
    answer = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            answer += part
            head, end, body = answer.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: ([0-9]+)", head)
            if end and length is not None and len(body) >= int(length[1]):
                break
    return answer


@contextmanager
def serving(
    *arguments: str | Path, env: dict[str, str] | None = None, command: tuple[str, ...] = ("explore",)
) -> Iterator[Server]:
    """A server until the end of the block, on a port that is free."""
    typed = [*PROGRAM, *command, *map(str, arguments), "--no-browser", "--json"]
    pipe, environment = subprocess.PIPE, {**os.environ, **(env or {})}
    with subprocess.Popen(typed, stdout=pipe, stderr=pipe, env=environment, start_new_session=True) as process:
        assert process.stdout and process.stderr
        try:
            line = process.stdout.readline()
            assert line, process.stderr.read().decode()
            address = json.loads(line)
            yield Server(process, address["url"], address["port"])
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            finally:
                process.kill()
