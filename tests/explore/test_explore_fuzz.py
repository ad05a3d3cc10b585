"""The API of ``graphrefine explore`` under requests that nobody would send: only 4xx, and it stays as it was.

Two kinds: schemathesis makes requests from the OpenAPI document, right ones and wrong ones; and a fuzzer of our own
damages right requests in every part, byte by byte, on bare sockets.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings

from explore_servers import NAMES, Server, people, serving, write_friends, write_labels

GENTLE = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
NOT_SAID = [schemathesis.checks.positive_data_acceptance]  # of a query: that it is either node or row
WORKERS = 8


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("fuzz")
    people().save(folder / "people")
    write_friends(folder / "friends.csv")
    write_labels(folder / "labels.csv")
    options = ("--graph", folder / "friends.csv", "--labels", folder / "labels.csv")
    with serving(folder / "people", *options) as server:
        yield server
        assert server.process.poll() is None, "it is still there"
        server.process.terminate()
        server.process.wait(20)
        assert server.process.stderr
        messages = server.process.stderr.read().decode()
        assert "Traceback" not in messages, messages


def strategies(server: Server) -> list[Any]:
    """What schemathesis makes of each operation: requests that are right and, where there can be, ones that are not."""
    described = schemathesis.openapi.from_url(server.url + "api/openapi.json")
    operations = [result.ok() for result in described.get_all_operations()]
    assert len(operations) == 12
    right, wrong = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
    with_values = [each for each in operations if each.query or each.body]
    return [each.as_strategy(right) for each in operations] + [each.as_strategy(wrong) for each in with_values]


def run_cases(server: Server, examples: int) -> Counter[int]:
    """Ask what schemathesis would, and see that the answers are those of the document."""
    seen: Counter[int] = Counter()
    with requests.Session() as session:
        for strategy in strategies(server):

            @settings(GENTLE, max_examples=examples)
            @given(strategy)
            def ask(case: Any) -> None:
                answer = case.call(timeout=20, session=session)
                seen[answer.status_code] += 1
                case.validate_response(answer, excluded_checks=NOT_SAID)

            ask()
    return seen


def test_the_api_is_as_its_document_says(server: Server) -> None:
    seen = run_cases(server, 8)
    assert set(seen) <= {200, 400, 404, 405} and seen[200] >= 10 and seen[400] >= 30, seen


@pytest.mark.slow
def test_the_api_is_as_its_document_says_at_length(server: Server) -> None:
    run_cases(server, 20)  # so that all is loaded that answers need, and made that is made in the background
    before = server.memory()
    seen = run_cases(server, 60)
    assert set(seen) <= {200, 400, 404, 405} and seen.total() > 500, seen
    assert server.memory() < before + (32 << 20)


# Our own


class Request(NamedTuple):
    """A request before it is written down, and damaged."""

    method: str
    path: str
    query: list[tuple[str, str]]
    body: dict[str, Any] | None = None

    def raw(self, **changed: Any) -> bytes:
        """Its bytes, with some parts changed: target, version, headers (by name; None: left out), body."""
        body = changed.get("body", None if self.body is None else json.dumps(self.body).encode())
        target = changed.get("target", self.path + ("?" + urlencode(self.query) if self.query else ""))
        headers: dict[str, Any] = {"Host": "localhost", "Connection": "close"}
        if body is not None:
            headers |= {"Content-Type": "application/json", "Content-Length": len(body)}
        headers |= changed.get("headers", {})
        lines = [f"{changed.get('method', self.method)} ".encode() + _bytes(target) + b" HTTP/1.1"]
        lines += [_bytes(name) + b": " + _bytes(value) for name, value in headers.items() if value is not None]
        return b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogateescape")


RIGHT = [
    Request("GET", "/api/nodes", [("prefix", "node"), ("limit", "5"), ("offset", "1")]),
    Request("GET", "/api/nodes", [("row", "3")]),
    Request("GET", "/api/neighbors", [("node", NAMES[3]), ("k", "5"), ("score", "dot"), ("unlinked", "true")]),
    Request("GET", "/api/neighbors", [("row", "3"), ("k", "5"), ("label", "clique 2")]),
    Request("GET", "/api/score", [("u", NAMES[1]), ("v", NAMES[2])]),
    Request("GET", "/api/ego", [("row", "9"), ("limit", "7")]),
    Request("GET", "/api/coordinates", [("layout", "pca")]),
    Request("POST", "/api/nodes", [], {"rows": [1, 2]}),
    Request("POST", "/api/neighbors", [], {"nodes": [NAMES[4]], "k": 3, "score": "link", "unlinked": False}),
    Request("POST", "/api/neighbors", [], {"vectors": [[0.5] * 12], "k": 3}),
    Request("POST", "/api/score", [], {"pairs": [[NAMES[1], NAMES[2]]]}),
]
BAD_TEXT = [
    "",
    "-1",
    "0x10",
    "1e3",
    "1.5",
    "NaN",
    "٣",
    "9" * 400,
    "99999999999999999999",
    "null",
    "[]",
    "\0",
    "../",
    "true ",
]
BAD_JSON: list[Any] = [None, -1, 1.5, 10**30, "1", {}, [[]], [None], [-1], [10**30], True, [True], [[[]]], "\ud800"]
BAD_JSON.append([1] * 10_001)
PATHS = [
    *("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/..%2f..%2fapp.py", "/api/columns/..", "/.git/config"),
    *("/api/columns/%2e%2e%2f", "//api/info", "/api//info", "/api/info/", "/API/INFO", "/api/nodes%00"),
    *("/api/nodes;x=1", "/C:/windows/win.ini", "/api/columns/\\..\\x", "/index.html"),
]
HOSTS = [
    "evil.example",
    "localhost@evil.example",
    "127.0.0.1.evil",
    "",
    "localhost:x",
    "[::1",
    "0.0.0.0",
    "localhost/",
    " ",
]


def wrong_value(request: Request, draw: random.Random) -> bytes:
    """A number, a choice or a list that is none."""
    if request.body is not None:
        name = draw.choice([each for each in request.body if each != "nodes"] or ["k"])
        bad = draw.choice([each for each in BAD_JSON if not (name == "unlinked" and isinstance(each, bool))])
        return request.raw(body=json.dumps({**request.body, name: bad}).encode())
    name = draw.choice(
        [name for name, _ in request.query if name not in ("prefix", "node", "label", "u", "v")] or ["k"]
    )
    query = [(each, draw.choice(BAD_TEXT) if each == name else value) for each, value in request.query]
    return request._replace(query=query if query != request.query else [*query, ("k", "x")]).raw()


def another_parameter(request: Request, draw: random.Random) -> bytes:
    """One that is not known, or one twice."""
    if request.body is not None:
        return request.raw(body=json.dumps({**request.body, draw.choice(["path", "", "K", "rows "]): 1}).encode())
    more = draw.choice([*request.query, ("", ""), ("callback", "x"), ("K", "1"), ("path", "/etc/passwd"), ("%", "%")])
    return request._replace(query=[*request.query, more]).raw()


def broken_text(request: Request, draw: random.Random) -> bytes:
    """Bytes that are no UTF-8, or no JSON."""
    if request.body is None:
        bad = draw.choice(["%ff", "%c3%28", "%ed%a0%80", "%f0%9f", "%fe%fe"])
        return request.raw(target=f"{request.path}?{urlencode(request.query)}{bad}")
    whole = json.dumps(request.body).encode()
    cut = draw.randrange(len(whole))
    noise = bytes(draw.randrange(128, 256) for _ in range(draw.randrange(1, 9)))
    deep = draw.choice([b"[", b'{"rows":']) * draw.randrange(1, 5000)
    return request.raw(body=draw.choice([whole[:cut], whole[:cut] + noise + whole[cut:], whole + b"x", noise, deep]))


def another_place(request: Request, draw: random.Random) -> bytes:
    """An address that there is not, on the file system or anywhere."""
    letters = "".join(draw.choice("abc./%25~_-") for _ in range(draw.randrange(1, 30)))
    return request.raw(target=draw.choice([*PATHS, "/x" + letters, "/api/x" + letters, "/assets/" + letters]))


def another_method(request: Request, draw: random.Random) -> bytes:
    """One that the address does not have."""
    method = draw.choice(
        ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "X" * 50, "PROPFIND", "G\u00c9T"]
    )
    return request.raw(method=method)


def another_host(request: Request, draw: random.Random) -> bytes:
    """One that is not this server's, or none, or two."""
    return request.raw(headers={"Host": draw.choice([*HOSTS, None, b"\xff", "a" * 300])})


def another_kind(request: Request, draw: random.Random) -> bytes:
    """A body of another type, or where none belongs... and none where one does."""
    kinds = [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "json",
        "*/*",
    ]
    posted = request if request.body is not None else Request("POST", request.path, [], {"rows": [1]})
    return posted.raw(headers={"Content-Type": draw.choice(kinds)})


def broken_frame(request: Request, draw: random.Random) -> bytes:
    """Lengths and chunks that are none, and lines that are no headers."""
    posted = request if request.body is not None else Request("POST", "/api/nodes", [], {"rows": [1]})
    bad: list[dict[Any, Any]] = [
        {"Content-Length": "-1"},
        {"Content-Length": "1e3"},
        {"Content-Length": "5, 6"},
        {"Content-Length": "9" * 20},
        {"Content-Length": 10**12},
        {"Transfer-Encoding": "gzip"},
        {"Content-Length": None, "Transfer-Encoding": "chunked"},
        {"a b": "c"},
        {b"\xff\xfe": "c"},
        {"": "c"},
        {"x": "a\0b"},
        {"x": "a\rb"},
    ]
    return posted.raw(headers=draw.choice(bad)) + b"\r\n\r\n"  # so that a chunk that is none has an end


def garbage(request: Request, draw: random.Random) -> bytes:
    """A request with its first line damaged beyond being one."""
    noise = bytes(draw.randrange(256) for _ in range(draw.randrange(1, 200))).replace(b"\n", b"")
    return b"\x01" + noise + b"\r\n\r\n"


DAMAGES = [wrong_value, another_parameter, broken_text, another_place, another_method, another_host, another_kind]
DAMAGES += [broken_frame, garbage]


def damaged(count: int, seed: int) -> list[tuple[str, bytes]]:
    """So many requests that nobody would send, the same for the same seed."""
    draw = random.Random(seed)
    return [
        (damage.__name__, damage(draw.choice(RIGHT), draw)) for damage in (draw.choice(DAMAGES) for _ in range(count))
    ]


def ask_all(server: Server, sent: list[tuple[str, bytes]]) -> Counter[int]:
    """Send them all, a few at a time, and count the answers; none may be anything but 4xx."""

    def ask(which: tuple[str, bytes]) -> int:
        answer = server.talk(which[1], timeout=20)
        status = re.match(rb"HTTP/1\.1 ([0-9]{3}) ", answer)
        assert status and 400 <= int(status[1]) < 500, (which[0], which[1][:300], answer[:300])
        assert b"root:" not in answer and b"Traceback" not in answer
        return int(status[1])

    with ThreadPoolExecutor(WORKERS) as pool:
        return Counter(pool.map(ask, sent))


def check_well(server: Server) -> None:
    """It still answers, and rightly."""
    for request in RIGHT:
        assert server.talk(request.raw()).startswith(b"HTTP/1.1 200 "), request


def test_damaged_requests_are_refused(server: Server) -> None:
    check_well(server)
    seen = ask_all(server, damaged(600, seed=1))
    assert {400, 404, 405, 413, 415, 421} <= set(seen), seen
    check_well(server)


def test_a_body_that_breaks_off_while_its_request_is_answered_is_refused_once(server: Server) -> None:
    """The answer is being made when the body turns out to be none; the fixture sees that no error is logged."""
    for path in ("/api/info", "/api/coordinates", "/api/nodes?prefix=node", "/"):
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer = server.talk(head.encode() + b"zz\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1") == 1
    check_well(server)


@pytest.mark.slow
def test_ten_thousand_damaged_requests_are_refused(server: Server) -> None:
    ask_all(server, damaged(2000, seed=2))
    before = server.memory()
    seen = ask_all(server, damaged(10_000, seed=3))
    assert seen.total() == 10_000
    check_well(server)
    assert server.memory() < before + (8 << 20), "memory is flat"
