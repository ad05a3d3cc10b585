"""Requests as inputs: written as HTTP/1.1, changed by their parts, and read as a server would hand them on.

A change inside the JSON or the query reaches the handlers; the bytes of a request, changed at random, seldom do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from urllib.parse import quote, unquote, urlencode

from fuzz.mutations import mutate

METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "X", "GET" * 30)
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 47, 48, 1.0, 1.5, -0.0, 1e18, 1e19, -1e308, 5e-324, 2**31, 2**53 + 1, 2**63 - 1,
    2**63, -(2**63), -(2**63) - 1, 2**64, "", " ", "0", "-1", "1.0", "1e3", "NaN", "null", "true", "x" * 4000,
    "x" * 4001, "\0", "é", "\u202e", "\ud800", "\U0001f600", "e\u0301", "٣", "a/b", "../..", "<b>", "%", "+", "-",
    "=", "source", "target", "cosine", "dot", "link", "pca", "clusters", [], {}, [[]], [None], [0], [1, 2],
    ["+", "a", "b"], ["-", "n1", "n2"], {"a": 1}, [0.5] * 8,
)  # fmt: skip
PARTS = (
    "", "?", "#", "%", "%zz", "%00", "%ff", "%2f", "%2e%2e", "..", ".", "//", "/", ";", "é", "*", "http://x/",
    "a" * 3000,
)  # fmt: skip
HEADERS = (
    ("Host", "example.org"), ("Host", ""), ("Host", "localhost:99999"), ("Host", "[::1]"), ("Host", "localhost:80"),
    ("Authorization", "Bearer"), ("Authorization", "Bearer \xff"), ("Authorization", "Basic QTpC"),
    ("Cookie", "=;;="), ("Cookie", "graphrefine-80=zz"), ("Cookie", "graphrefine-80=" + "0" * 999),
    ("Content-Type", "text/plain"), ("Content-Type", ""), ("Content-Type", "application/json; charset=utf-16"),
    ("Content-Length", "-1"), ("Content-Length", "99"), ("Content-Length", "9" * 30), ("Content-Length", "\xb2"),
    ("Transfer-Encoding", "chunked"), ("If-None-Match", "*"), ("If-None-Match", '"'), ("If-Modified-Since", "x"),
    ("Range", "bytes=5-1"), ("Expect", "100-continue"), ("Accept", "\xff"), ("Accept-Encoding", "gzip;q=x"),
    ("Origin", "null"), ("Upgrade", "websocket"), ("X", "x" * 9000),
)  # fmt: skip
NAMES = ("side", "k", "label", "score", "rows", "row", "node", "token", "exclude_linked", "skip_unknown", "x", "", "é")
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a method, or the name of a header


@dataclass(frozen=True)
class Request:
    """A request in its parts.

    Examples
    --------
    >>> Request.read(Request("GET", "/api/nodes?row=1").write()) == Request("GET", "/api/nodes?row=1")
    True
    """

    method: str
    target: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = field(default=(("Host", "localhost"),))

    @classmethod
    def read(cls, data: bytes) -> Request:
        """A request from its bytes; whatever they are, there is one in them."""
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, _, rest = first.partition(" ")
        headers = tuple((name, value.strip()) for name, mark, value in (line.partition(":") for line in lines) if mark)
        return cls(method, rest.rpartition(" ")[0] or rest, body, headers)

    def write(self) -> bytes:
        """Its bytes."""
        lines = [f"{self.method} {self.target} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers)]
        return "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + self.body

    def scope(self) -> dict[str, Any]:
        """What a server hands on: a method and names that are tokens, a target in ASCII, values of one line."""
        target = re.sub(r"[^\x21-\x7e]", "_", self.target) or "/"
        path, _, query = target.partition("?")
        headers = [
            (name.lower().encode(), re.sub(r"[^\x20-\x7e\x80-\xff\t]", " ", value).strip().encode("latin-1"))
            for name, value in self.headers
            if TOKEN.fullmatch(name)
        ]
        return {
            "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "scheme": "http",
            "method": self.method if TOKEN.fullmatch(self.method) else "GET", "path": unquote(path), "root_path": "",
            "raw_path": path.encode(), "query_string": query.encode(), "headers": headers, "server": ("127.0.0.1", 80),
            "client": ("127.0.0.1", 50000),
        }  # fmt: skip


def ask(parts: tuple[Any, ...], token: str = "") -> bytes:
    """The bytes of a request that is right, to begin with: method, path and, if it has them, query and body."""
    method, path, query, body = (*parts, None, None)[:4]
    content = b"" if body is None else json.dumps(body).encode()
    headers = [("Host", "localhost")]
    if token:
        headers.append(("Authorization", f"Bearer {token}"))
    if body is not None:
        headers += [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
    return Request(method, path + ("?" + urlencode(query) if query else ""), content, tuple(headers)).write()


def mutate_request(rng: Random, data: bytes, seeds: Sequence[bytes] = ()) -> bytes:
    """One to three of the parts of a request changed; at times its bytes."""
    if rng.random() < 0.05:
        return mutate(rng, data)
    request = Request.read(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        chance = rng.random()
        if request.body and chance < 0.6:
            request = change_body(rng, request)
        elif chance < 0.75:
            request = change_query(rng, request)
        elif chance < 0.85:
            request = change_path(rng, request)
        elif chance < 0.9:
            request = replace(request, method=rng.choice(METHODS))
        else:
            request = change_headers(rng, request)
    return request.write()


def pick_value(rng: Random) -> Any:
    """A value that is wrong in most places, or a number that is right in some."""
    chance = rng.random()
    if chance < 0.6:
        return rng.choice(VALUES)
    return rng.randrange(1 << rng.randint(1, 12)) if chance < 0.9 else rng.choice((0.5, 1, 1e-3)) * rng.randrange(100)


def change_body(rng: Random, request: Request) -> Request:
    """Other JSON, most often; or bytes that are none. The length that is said is right again, most often."""
    try:
        if rng.random() < 0.15:
            raise ValueError
        body = json.dumps(change_tree(rng, json.loads(request.body))).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        body = mutate(rng, request.body)
        if rng.random() < 0.02:
            body = rng.choice((b"[", b'{"a":')) * 50_000
    if rng.random() < 0.05:
        return replace(request, body=body)
    headers = tuple(each for each in request.headers if each[0].lower() != "content-length")
    return replace(request, body=body, headers=(*headers, ("Content-Length", str(len(body)))))


def change_tree(rng: Random, tree: Any) -> Any:
    """JSON with one of its values replaced, removed, doubled, wrapped or renamed; an id of a request is another one."""
    if isinstance(tree, dict) and "request" in tree and rng.random() < 0.7:
        tree = {**tree, "request": f"{rng.random()}"}
    if not isinstance(tree, dict | list) or not tree or rng.random() < 0.15:
        return rng.choice((pick_value(rng), [tree], {"": tree}, tree))
    if isinstance(tree, dict):
        changed = dict(tree)
        key = rng.choice(sorted(changed))
        chance = rng.random()
        if chance < 0.1:
            del changed[key]
        elif chance < 0.2:
            changed[rng.choice(NAMES)] = changed[key]
        else:
            changed[key] = change_tree(rng, changed[key])
        return changed
    entries = list(tree)
    at = rng.randrange(len(entries))
    chance = rng.random()
    if chance < 0.1:
        del entries[at]
    elif chance < 0.2:
        entries.insert(at, pick_value(rng))
    elif chance < 0.22:
        entries *= 300
    else:
        entries[at] = change_tree(rng, entries[at])
    return entries


def change_query(rng: Random, request: Request) -> Request:
    """One parameter with another value, without one, twice there, unknown, or not quoted as it should be."""
    path, _, query = request.target.partition("?")
    pairs = [pair for pair in query.split("&") if pair]
    at = rng.randrange(len(pairs) + 1)
    name = pairs[at].partition("=")[0] if at < len(pairs) else rng.choice(NAMES)
    value = pick_value(rng)
    text = value if isinstance(value, str) else json.dumps(value)
    quoted = quote(text.encode("utf-8", "surrogatepass")) if rng.random() < 0.9 else text + rng.choice(PARTS)
    pairs[at : at + rng.choice((0, 1, 1, 1))] = [f"{name}={quoted}"] if rng.random() < 0.9 else [rng.choice(PARTS)]
    return replace(request, target=path + "?" + "&".join(pairs))


def change_path(rng: Random, request: Request) -> Request:
    """Another address."""
    path, mark, query = request.target.partition("?")
    at = rng.randrange(len(path) + 1)
    path = path[:at] + rng.choice(PARTS) + path[at + rng.choice((0, 0, 1, 5)) :]
    return replace(request, target=path + mark + query)


def change_headers(rng: Random, request: Request) -> Request:
    """A header more, one less, another value of it."""
    headers = list(request.headers)
    chance = rng.random()
    if headers and chance < 0.3:
        headers.pop(rng.randrange(len(headers)))
    elif headers and chance < 0.6:
        at = rng.randrange(len(headers))
        name, value = headers[at]
        headers[at] = name, mutate(rng, value.encode("latin-1", "replace")).decode("latin-1").replace("\r\n", " ")
    else:
        headers.insert(rng.randint(0, len(headers)), rng.choice(HEADERS))
    return replace(request, headers=tuple(headers))
