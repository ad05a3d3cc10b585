"""The API of ``graphrefine explore``: refusals with a way out, authorization, and limits."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from explore_servers import TestClient, client, get, make_everything, people, received
from graphrefine.explore.app import make_app
from graphrefine.explore.limits import Limits
from graphrefine.explore.request_params import BODY
from graphrefine.explore.server import bind, make_server
from graphrefine.explore.session import Session


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return make_everything(tmp_path_factory.mktemp("labels"))


@pytest.fixture(scope="module")
def api(everything: Session) -> Iterator[TestClient]:
    with client(everything) as api:
        yield api


# Refusals


REFUSED = [
    ("/api/nodes?node=nobody", 404, "no node is called 'nobody'"),
    ("/api/nodes?row=48", 400, "from 0 to 47"),
    ("/api/nodes?row=-1", 400, "from 0 to 47"),
    ("/api/nodes?row=1.0", 400, "whole number"),
    ("/api/nodes?row=" + "9" * 3000, 400, "whole number"),
    ("/api/nodes?limit=0", 400, "from 1 to 1000"),
    ("/api/nodes?limit=5&limit=6", 400, "twice"),
    ("/api/nodes?node=a&row=1", 400, "do not go together"),
    ("/api/nodes?row=1&limit=3", 400, "do not go together"),
    ("/api/nodes?prefix=%ff", 400, "not UTF-8"),
    ("/api/nodes?prefix=%F0%9F%98", 400, "not UTF-8"),
    ("/api/nodes?prefix=" + "a" * 4001, 400, "4000"),
    ("/api/nodes?side=source", 400, "there is no parameter 'side'"),
    ("/api/nodes?Prefix=a", 400, "it can be prefix"),
    ("/api/neighbors", 400, "exactly one of node, row"),
    ("/api/neighbors?row=1&k=0", 400, "from 1 to 1000"),
    ("/api/neighbors?row=1&k=1001", 400, "from 1 to 1000"),
    ("/api/neighbors?row=1&score=cosinus", 400, "cosine, dot, link"),
    ("/api/neighbors?row=1&label=none", 404, "'clique 5'"),
    ("/api/neighbors?row=1&unlinked=yes", 400, "true or false"),
    ("/api/score?u=a", 400, "v is missing"),
    ("/api/score?u=a&v=b", 404, "no node is called 'a'"),
    ("/api/coordinates?layout=umap", 400, "pca, clusters"),
    ("/api/columns/label?x=1", 400, "there is none here"),
    ("/api/columns/../../etc/passwd", 404, "error"),
    ("/api/columns/%2e%2e%2fpasswd", 404, "error"),
    ("/api/info?" + "&".join(f"a{i}=1" for i in range(40)), 400, "32"),
    ("/api", 404, "openapi"),
    ("/api/nodes/", 404, "openapi"),
    ("/assets/../app.py", 404, "openapi"),
    ("/assets/%2e%2e/app.py", 404, "openapi"),
    ("//etc/passwd", 404, "openapi"),
    ("/page/index.html", 404, "openapi"),
    ("/docs", 404, "openapi"),  # a page about the API would load code from elsewhere
    ("/redoc", 404, "openapi"),
    ("/openapi.json", 404, "/api/openapi.json"),
]


@pytest.mark.parametrize(("path", "status", "words"), REFUSED)
def test_bad_questions_are_refused_with_the_way_out(api: TestClient, path: str, status: int, words: str) -> None:
    answer = api.get("http://localhost" + path)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"} and words in answer.text, answer.text
    assert len(answer.text) < 1000, "what was sent is not sent back at length"


BODIES = [
    (b"", "not JSON"),
    (b"\xff", "not JSON"),
    (b"[]", "a JSON object"),
    (b'{"rows": [1], "k": NaN}', "NaN"),
    (b'{"rows": [1], "k": Infinity}', "Infinity"),
    (b'{"rows": [1], "k": true}', "whole number"),
    (b'{"rows": [1], "k": 1e400}', "whole number"),
    (b'{"rows": [1], "k": ' + b"9" * 5000 + b"}", "not JSON"),
    (b'{"rows": [1], "rows": [2]}', "twice"),
    (b'{"rows": []}', "1 to 1000"),
    (b'{"rows": [0, 99]}', "entry 1"),
    (b'{"rows": ["0"]}', "entry 0"),
    (b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
    (b'{"rows": [1], "nodes": ["a"]}', "exactly one"),
    (b'{"rows": [' + b"1," * 1000 + b"1]}", "1 to 1000"),
    (b'{"vectors": [[1, 2]]}', "12 numbers"),
    (b'{"vectors": [[' + b"1e400," * 11 + b"1]]}", "numbers from"),
    (b'{"vectors": [[' + b"true," * 11 + b"1]]}", "12 numbers"),
    (b'{"vectors": [[' + b"1," * 11 + b'1]], "unlinked": true}', "do not go together"),
    (b'{"rows": [1], "path": "/etc/passwd"}', "there is no parameter"),
]


@pytest.mark.parametrize(("body", "words"), BODIES)
def test_bad_bodies_are_refused(api: TestClient, body: bytes, words: str) -> None:
    answer = api.post("/api/neighbors", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400 and words in answer.json()["error"], answer.text


def test_a_lone_surrogate_is_a_name_that_no_node_has(api: TestClient) -> None:
    body = b'{"nodes": ["\\ud800"]}'
    assert api.post("/api/nodes", content=body, headers={"content-type": "application/json"}).status_code == 404


def test_bodies_of_another_kind_or_too_large_are_refused(api: TestClient) -> None:
    assert api.post("/api/nodes", content=b'{"rows": [1]}').status_code == 415
    assert api.post("/api/nodes", data={"rows": "1"}).status_code == 415
    huge = b'{"rows": [' + b" " * BODY + b"1]}"
    answer = api.post("/api/nodes", content=huge, headers={"content-type": "application/json"})
    assert answer.status_code == 413 and str(BODY) in answer.json()["error"]
    extra = api.post("/api/nodes?rows=1", json={"rows": [1]})
    assert extra.status_code == 400, "a query beside a body would be ignored"


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
def test_other_methods_are_refused(api: TestClient, method: str) -> None:
    answer = api.request(method, "/api/nodes")
    assert answer.status_code == 405 and set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    assert "access-control-allow-origin" not in answer.headers
    assert api.post("/api/info", json={}).status_code == 405
    head = api.head("/api/info")
    assert head.status_code == 200


# Who is answered


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "localhost:80:80", "", "a b"]
)
def test_another_host_is_refused(api: TestClient, host: str) -> None:
    for path in ("/", "/api/info", "/healthz", "/nothing"):
        answer = api.get(path, headers={"host": host})
        assert answer.status_code == 421 and "Host" in answer.json()["error"]
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_names_of_the_loopback_are_ours_and_others_if_said(everything: Session) -> None:
    with client(everything, hosts=["Lab.example"]) as api:
        for host in ("localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:9", "lab.example:80"):
            assert api.get("/api/info", headers={"host": host}).status_code == 200, host
        assert api.get("/api/info", headers={"host": "10.0.0.1"}).status_code == 421
    with client(everything, any_address=True, token="t") as api:
        allowed = api.get("/api/info", headers={"host": "10.0.0.1:1", "authorization": "Bearer t"})
        assert allowed.status_code == 200
        assert api.get("/api/info", headers={"host": "evil.example", "authorization": "Bearer t"}).status_code == 421


def test_every_answer_keeps_browsers_to_this_page(api: TestClient) -> None:
    for path in ("/", "/api/info", "/api/coordinates", "/nothing", "/api/nodes?row=x", "/map.png"):
        headers = api.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert not any(name.startswith("access-control") for name in headers)


def test_a_token_is_asked_for_everywhere_but_for_health(everything: Session) -> None:
    with client(everything, token="s3cret ü") as api:
        for path in ("/", "/api/info", "/api/openapi.json", "/map.png", "/nothing", "/?token=wrong", "/?token="):
            answer = api.get(path)
            assert answer.status_code == 401 and "token" in answer.json()["error"], path
            assert answer.headers["www-authenticate"] == "Bearer"
        assert api.get("/healthz").status_code == 200
        for wrong in (b"Bearer s3cret", b"Bearer ", b"Basic s3cret", b"Bearer \xff\xfe", "Bearer s3cret üx".encode()):
            assert api.get("/api/info", headers={"authorization": wrong}).status_code == 401
        right = {"authorization": "Bearer s3cret ü".encode()}
        assert api.get("/api/info", headers=right).status_code == 200
        welcome = api.get("/?view=1&token=s3cret%20%C3%BC", follow_redirects=False)
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/?view=1")
        cookie = welcome.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "s3cret" not in cookie
        assert api.get("/api/info").status_code == 200, "the client has the cookie now"
        api.cookies.clear()
        for wrong_cookie in ("graphrefine-80=zz", "graphrefine-80=", "graphrefine-80=00", "=;;=", "graphrefine-80"):
            assert api.get("/api/info", headers={"cookie": wrong_cookie}).status_code == 401


# Limits and background work


def test_too_many_at_once_and_too_long_are_asked_to_come_again() -> None:
    from starlette.responses import Response

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.05 if scope["path"] == "/" else 60)
        await Response("done")(scope, receive, send)

    limits = Limits(slow, at_once=3, seconds=0.3)

    async def ask(path: str) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await limits({"type": "http", "path": path, "method": "GET", "headers": []}, None, send)  # type: ignore[arg-type]
        return int(sent[0]["status"])

    async def crowd() -> list[int]:
        return await asyncio.gather(*(ask("/") for _ in range(5)))

    async def later() -> tuple[list[int], int, int]:
        return await crowd(), await ask("/"), await ask("/forever")

    assert asyncio.run(later()) == ([200, 200, 200, 503, 503], 200, 503)


@contextmanager
def listening(session: Session) -> Iterator[Any]:
    """The address of a server in a thread."""
    server = make_server(make_app(session))
    socket_ = bind("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket_]})
    thread.start()
    try:
        yield socket_.getsockname()
    finally:
        server.should_exit = True
        thread.join(20)
        socket_.close()


def test_a_head_that_does_not_come_to_an_end_is_not_waited_for(
    everything: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphrefine.explore.limits.HEAD_SECONDS", 1.0)
    whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with listening(everything) as address:
        for sent in (b"", b"GET /healthz HT", whole + b"GET /healthz HT"):
            with socket.create_connection(address, timeout=10) as connection:
                connection.sendall(sent)
                if sent.startswith(whole):
                    assert received(connection).endswith(b'{"status":"ok"}')
                assert connection.recv(100) == b"", "closed"
        monkeypatch.setattr("graphrefine.explore.limits.HEAD_SECONDS", 2.5)
        with socket.create_connection(address, timeout=10) as connection:
            for _ in range(4):  # someone who asks now and then is not cut off
                connection.sendall(whole)
                assert received(connection).endswith(b'{"status":"ok"}')
                time.sleep(0.7)


def test_requests_that_take_longer_than_a_head_may_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.explore.limits.HEAD_SECONDS", 0.3)
    monkeypatch.setattr("graphrefine.explore.raw_handlers.PATIENCE", 0.8)
    slow = b"GET /map.png HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with listening(Session(people())) as address, socket.create_connection(address, timeout=10) as connection:
        connection.sendall(slow * 2)  # the second one waits in the connection while the first is answered
        for _ in range(2):
            assert received(connection).startswith(b"HTTP/1.1 503 ")
        assert connection.recv(100) == b"", "closed"


def test_what_is_not_ready_is_said_to_be_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.explore.raw_handlers.PATIENCE", 0.05)
    with client(Session(people())) as api:
        states = [layout["state"] for layout in get(api, "/api/info")["layouts"]]
        assert states == ["working", "working"]
        for path in ("/api/coordinates", "/api/columns/cluster", "/map.png"):
            answer = api.get(path)
            assert answer.status_code == 503 and answer.headers["retry-after"] == "1", path
