"""The server of ``explore`` on a real socket: bytes that are HTTP, nearly HTTP, or not at all.

A server lives in a thread of the worker; each input is a connection. An answer is one of HTTP below 500, or
none, where the input is not a whole request. What uvicorn logs as an error is a finding.
"""

from __future__ import annotations

import logging
import re
import select
import socket
import threading
import time
from pathlib import Path
from random import Random

from fuzz.mutations import insert_word, mutate
from fuzz.requests import mutate_request
from fuzz.target import Target
from fuzz.targets.endpoints import NAMES, RequestRefusedError, make_seeds, serve_people

PATIENCE = 5.0  # seconds for an answer, or the end of the connection
PAUSE = 0.03  # seconds after which a server that says nothing waits for more
STATUS = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2})[ \r]")
PARTS = (
    b"\r\n", b"\n", b"\r", b" ", b"\0", b"\xff", b":", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/9.9",
    b"Content-Length: 5\r\n",
    b"Content-Length: -5\r\n", b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n", b"\r\n\r\n",
    b"0\r\n\r\n", b"ffffffffffffffff\r\n", b"5;x=y\r\nabcde\r\n", b"Expect: 100-continue\r\n",
    b"Connection: upgrade\r\nUpgrade: h2c\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b" folded: line\r\n", b"x" * 70_000,
)  # fmt: skip


class RealServer:
    """A server in a thread, and what it has logged."""

    def __init__(self) -> None:
        self._logged: list[str] = []

    def start(self, folder: Path) -> None:
        """Listen on a port that is free."""
        from graphrefine.explore.server import bind, make_server

        self._context = serve_people(folder)
        app = self._context.__enter__()
        listening = bind("127.0.0.1", 0)
        self._address = listening.getsockname()
        server = make_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        catcher = logging.Handler(logging.ERROR)
        catcher.emit = self._log  # type: ignore[method-assign]
        logging.getLogger("uvicorn.error").addHandler(catcher)
        threading.excepthook = lambda each: self._logged.append(repr(each))

    def _log(self, record: logging.LogRecord) -> None:
        # uvicorn refuses bytes that are not HTTP at once, also while the request before them on the connection is being
        # answered; that answer then comes too late, and is logged as this error. The client has its 400.
        text = logging.Formatter().format(record)
        if "LocalProtocolError" not in text:
            self._logged.append(text)

    def talk(self, data: bytes, folder: Path) -> None:
        """Send an input and close, take what comes back, and check that."""
        with socket.create_connection(self._address, timeout=PATIENCE) as connection:
            try:
                connection.sendall(data)
                answer = receive(connection)
            except (BrokenPipeError, ConnectionResetError, OSError) as error:
                if isinstance(error, TimeoutError):
                    raise AssertionError("neither an answer nor an end") from None
                answer = b""
        assert not self._logged, self._logged.pop()
        assert b"Traceback" not in answer
        statuses = [int(status) for status in STATUS.findall(answer)]
        assert not answer or STATUS.match(answer), answer[:100]
        assert all(status < 500 for status in statuses), statuses
        if not statuses or max(statuses) >= 400:
            raise RequestRefusedError(statuses)


def receive(connection: socket.socket) -> bytes:
    """All that comes until the other side closes; if it waits for more, it is told that no more comes."""
    answer = bytearray()
    if not select.select([connection], [], [], PAUSE)[0]:
        connection.shutdown(socket.SHUT_WR)
    while part := connection.recv(1 << 16):
        answer += part
        if not select.select([connection], [], [], PAUSE)[0]:
            connection.shutdown(socket.SHUT_WR)
    return bytes(answer)


def make_closing_seeds() -> list[bytes]:
    """Right requests that ask for the end of the connection."""
    return [seed.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) for seed in make_seeds(names=NAMES)]


def mutate_bytes(rng: Random, data: bytes) -> bytes:
    """A request changed by its parts, or by its bytes, with marks of HTTP put anywhere; at times two in one go."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        chance = rng.random()
        if chance < 0.3:
            data = mutate_request(rng, data)
        elif chance < 0.6:
            data = mutate(rng, data)
        elif chance < 0.7:
            data = insert_word(rng, data)
        else:
            at = rng.choice((rng.randint(0, len(data)), max(0, data.find(b"\r\n") + 2)))
            data = data[:at] + rng.choice(PARTS) + data[at + rng.choice((0, 0, 1, 2)) :]
    return data if rng.random() < 0.9 else data + data


server = RealServer()
errors = (RequestRefusedError,)
TARGETS = [
    Target("sockets", "endpoints", make_closing_seeds, server.talk, mutate_bytes, errors, server.start, life=20_000)
]
