"""The API of ``graphrefine explore``: refusals with a way out, authorization, and limits."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from explore_servers import TestClient, client, get, make_everything, people, received
from graphrefine.explore.app import make_app
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


REFUSED = [
    ("/api/nodes?node=nobody", 404, "'nobody'"),
    ("/api/nodes?row=48", 400, "from 0 to 47"),
    ("/api/nodes?row=-1", 400, "row"),
    ("/api/nodes?row=1.5", 400, "integer"),
    ("/api/nodes?row=" + "9" * 3000, 400, "row"),
    ("/api/nodes?limit=0", 400, "limit"),
    ("/api/nodes?limit=5&limit=6", 400, "twice"),
    ("/api/nodes?node=a&row=1", 400, "node and row"),
    ("/api/nodes?row=1&limit=3", 400, "row and limit"),
    ("/api/nodes?prefix=%F0%9F%98", 400, "UTF-8"),
    ("/api/nodes?prefix=" + "a" * 4001, 400, "4000"),
    ("/api/nodes?side=source&node=a", 400, "side"),
    ("/api/nodes?Prefix=a", 400, "'Prefix'"),
    ("/api/neighbors", 400, "node, row"),
    ("/api/neighbors?row=1&k=1001", 400, "1000"),
    ("/api/neighbors?row=1&score=cosinus", 400, "'cosine', 'dot' or 'link'"),
    ("/api/neighbors?row=1&label=none", 404, "'clique 5'"),
    ("/api/neighbors?row=1&unlinked=yes", 400, "true or false"),
    ("/api/score?u=a", 400, "v"),
    ("/api/coordinates?layout=umap", 400, "'pca' or 'clusters'"),
    ("/api/columns/label?x=1", 400, "'x'"),
    ("/api/columns/%2e%2e%2fpasswd", 404, "error"),
    *((path, 404, "openapi") for path in ("/api", "/api/nodes/", "//etc/passwd", "/page/index.html")),
    *((path, 404, "openapi") for path in ("/assets/../app.py", "/assets/%2e%2e/app.py")),
    *((path, 404, "openapi") for path in ("/docs", "/redoc")),  # pages about the API that load code from elsewhere
]


@pytest.mark.parametrize(("path", "status", "fact"), REFUSED)
def test_bad_questions_are_refused(api: TestClient, path: str, status: int, fact: str) -> None:
    answer = api.get("http://localhost" + path)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"} and fact in answer.json()["error"] + answer.text
    assert len(answer.text) < 1000, "what was sent is not sent back at length"


BODIES = [
    (b"", "body"),
    (b"\xff", "body"),
    (b"[]", "object"),
    (b'{"rows": [1], "k": NaN}', "k"),
    (b'{"rows": [1], "k": true}', "k"),
    (b'{"rows": [1], "k": ' + b"9" * 5000 + b"}", "body"),
    (b'{"rows": []}', "rows"),
    (b'{"rows": [0, 99]}', "99"),
    (b'{"rows": ["0"]}', "rows.0"),
    (b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "body"),
    (b'{"rows": [1], "nodes": ["a"]}', "exactly one"),
    (b'{"rows": [' + b"1," * 1000 + b"1]}", "1000"),
    (b'{"vectors": [[1, 2]]}', "12 numbers"),
    (b'{"vectors": [[' + b"1e400," * 11 + b"1]]}", "vectors.0.0"),
    (b'{"vectors": [[' + b"true," * 11 + b"1]]}", "vectors.0.0"),
    (b'{"vectors": [[' + b"1," * 11 + b'1]], "unlinked": true}', "vectors and unlinked"),
    (b'{"rows": [1], "path": "/etc/passwd"}', "'path'"),
]


@pytest.mark.parametrize(("body", "fact"), BODIES)
def test_bad_bodies_are_refused(api: TestClient, body: bytes, fact: str) -> None:
    answer = api.post("/api/neighbors", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 400 and fact in answer.json()["error"], answer.text
    assert len(answer.text) < 1000


def test_bodies_of_another_kind_or_too_large_are_refused(api: TestClient) -> None:
    assert api.post("/api/nodes", content=b'{"rows": [1]}').status_code == 415
    assert api.post("/api/nodes", data={"rows": "1"}).status_code == 415
    huge = b'{"rows": [' + b" " * BODY + b"1]}"
    answer = api.post("/api/nodes", content=huge, headers={"content-type": "application/json"})
    assert answer.status_code == 413 and str(BODY) in answer.json()["error"]
    assert api.post("/api/nodes?rows=1", json={"rows": [1]}).status_code == 400, "the query would be ignored"
    surrogate = api.post("/api/nodes", content=b'{"nodes": ["\\ud800"]}', headers={"content-type": "application/json"})
    assert surrogate.status_code == 404, "a name that no node has"


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
def test_other_methods_are_refused(api: TestClient, method: str) -> None:
    answer = api.request(method, "/api/nodes")
    assert answer.status_code == 405 and answer.headers["allow"]
    assert "access-control-allow-origin" not in answer.headers
    assert api.post("/api/info", json={}).status_code == 405


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


def test_a_body_that_does_not_arrive_is_not_waited_for(everything: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.explore.app.BODY_SECONDS", 0.2)
    head = b"POST /api/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    server, socket_ = make_server(make_app(everything)), bind("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket_]})
    thread.start()
    try:
        with socket.create_connection(socket_.getsockname(), timeout=10) as connection:
            connection.sendall(head + b"Content-Length: 13\r\n\r\n{")
            assert received(connection).startswith(b"HTTP/1.1 408 ")
    finally:
        server.should_exit = True
        thread.join(20)
        socket_.close()


def test_what_is_not_ready_is_said_to_be_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.explore.handlers.PATIENCE", 0.05)
    with client(Session(people())) as api:
        states = [layout["state"] for layout in get(api, "/api/info")["layouts"]]
        assert states == ["working", "working"]
        for path in ("/api/coordinates", "/api/columns/cluster", "/map.png"):
            answer = api.get(path)
            assert answer.status_code == 503 and answer.headers["retry-after"] == "1", path
