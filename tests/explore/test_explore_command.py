"""The command ``graphrefine explore``: a server in another process, wrong requests to it, and its mistakes.

Requests damaged byte by byte are those of ``fuzz/targets/endpoints.py`` and ``sockets.py``.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings

from cli_runs import PAIRS, check_refused, refuses, run
from explore_servers import NAMES, Server, nearest, people, received, serving, write_people
from graphrefine.explore.server import Access, bind, make_access

GENTLE = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
NOT_SAID = [schemathesis.checks.positive_data_acceptance]  # of a query: that it is either node or row


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_people(tmp_path_factory.mktemp("explore"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """A server, which must still be there when all tests have asked it, and have logged no error."""
    options = ("--graph", folder / "friends.csv", "--labels", folder / "labels.csv")
    with serving(folder / "people", *options) as server:
        yield server
        assert server.process.poll() is None, "it is still there"
        code, messages = server.stop(signal.SIGTERM)
        assert code == 143 and "Traceback" not in messages, messages


def test_the_command_serves(server: Server) -> None:
    health = httpx.get(f"{server.url}healthz")
    assert health.json() == {"status": "ok"} and "server" not in health.headers
    (result,) = httpx.get(f"{server.url}api/neighbors", params={"node": NAMES[13], "k": 3}).json()["results"]
    assert [each["row"] for each in result["neighbors"]] == nearest(13, 3)


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


def test_a_body_that_breaks_off_while_its_request_is_answered_is_refused_once(server: Server) -> None:
    """The answer is being made when the body turns out to be none; the fixture sees that no error is logged."""
    for path in ("/api/info", "/api/coordinates", "/api/nodes?prefix=node", "/"):
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        answer = server.talk(head.encode() + b"zz\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ") and answer.count(b"HTTP/1.1") == 1
    assert server.talk(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").startswith(
        b"HTTP/1.1 200 "
    )


POST = b"POST /api/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
END = b" HTTP/1.1\r\nHost: localhost\r\n\r\n"
RAW = [
    (b"GET /../../etc/passwd" + END, b" 404 "),
    (b"GET /%2e%2e/%2e%2e/etc/passwd" + END, b" 404 "),
    (b"GET /assets/..%2f..%2fapp.py" + END, b" 404 "),
    (b"GET /assets/%00" + END, b" 404 "),
    (b"GET http://evil.example/api/info HTTP/1.1\r\nHost: evil.example\r\n\r\n", b" 421 "),
    (b"GET /api/info HTTP/1.1\r\n\r\n", b" 400 "),
    (b"GET /api/info HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", b" 400 "),
    (b"GET /api/info HTTP/1.0\r\n\r\n", b" 421 "),
    (b"nonsense\r\n\r\n", b" 400 "),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b" 400 "),
    (b"GET /" + b"a" * 100_000 + END, b" 40"),
    (POST + b"Content-Length: -1\r\n\r\n", b" 400 "),
    (POST + b"Content-Length: 999999999999\r\n\r\n{", b" 413 "),
    (CHUNKED + (b"100000\r\n" + b" " * 0x100000 + b"\r\n") * 6, b" 413 "),
    (CHUNKED + b'c\r\n{"rows":[1]}\r\n0\r\n\r\n', b" 200 "),
]


@pytest.mark.parametrize(("request_", "status"), RAW)
def test_raw_requests(server: Server, request_: bytes, status: bytes) -> None:
    answer = server.talk(request_, timeout=5)
    assert status in answer.partition(b"\r\n")[0], answer[:300]
    assert b"root:" not in answer


def test_ctrl_c_ends_it_quietly(folder: Path) -> None:
    with serving(folder / "people") as server, socket.create_connection(("127.0.0.1", server.port)) as idle:
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200" in idle.recv(1000)  # and keeps the connection open
        assert server.stop() == (130, "interrupted; no half-written output is left\n")
        assert received(idle) in (b"", b'{"status":"ok"}'), "the connection is closed"


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_event_loop_is_being_made(folder: Path, by: signal.Signals) -> None:
    """The port answers already by then. An event loop that is half made would complain when it goes."""
    script = f"""
import os
from asyncio.selector_events import BaseSelectorEventLoop
def interrupt(loop, make=BaseSelectorEventLoop._make_self_pipe):
    os.kill(os.getpid(), {int(by)})
    make(loop)
BaseSelectorEventLoop._make_self_pipe = interrupt
from graphrefine.cli.main import main
main()
"""
    command = [sys.executable, "-c", script, "explore", str(folder / "people"), "--port", "0"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    address, *rest = done.stderr.splitlines()
    assert address.startswith(b"http://") and rest == [b"interrupted; no half-written output is left"]
    assert done.returncode == 128 + by


def test_beyond_this_machine_there_is_always_a_token() -> None:
    assert make_access("127.0.0.1", 80, None) == Access("http://127.0.0.1:80/", None, ("127.0.0.1",), False)
    assert make_access("::1", 80, "a b").url == "http://[::1]:80/?token=a%20b"
    made = make_access("192.0.2.1", 80, None)
    assert made.token and len(made.token) >= 32 and made.hosts == ("192.0.2.1",) and not made.any_address
    assert made.token != make_access("192.0.2.1", 80, None).token
    every = make_access("0.0.0.0", 80, None)
    assert every.token and every.any_address and socket.gethostname() in every.hosts


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with bind("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_mistakes_of_the_command(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    typed = ("explore", folder / "people")
    for option, text, facts in (
        ("--graph", "x,y\ny,z\n", ("none of the 3 nodes", "'x'", repr(NAMES[0]))),
        ("--labels", "node,label\nx,red\n", ("none of the 1 nodes", "'x'")),
        ("--columns", "node,label\nx,red\n", ("none of the 1 nodes", "'x'")),
    ):
        other.write_text(text)
        refuses(*typed, option, other, folder=folder, expected=facts)
    refuses(*typed, "--port", "70000", folder=folder, expected=("--port 70000",))
    vectors = np.array(people().vectors)
    vectors[5, 3] = np.nan
    np.save(tmp_path / "broken.npy", vectors)
    check_refused(run("explore", tmp_path / "broken.npy"), "node 5 (row 5)", "nan")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refuses(*typed, "--port", port, folder=folder, expected=(f"--port {port}", "0"))


def test_what_does_not_fit_is_said(folder: Path, tmp_path: Path) -> None:
    graph = tmp_path / "part.csv"
    graph.write_text(f"{NAMES[0]},{NAMES[1]}\n{NAMES[1]},someone\n", encoding="utf-8")
    labels = tmp_path / "labels.csv"
    labels.write_text(f"node,label\n{NAMES[0]},red\nsomeone,blue\n", encoding="utf-8")
    with serving(folder / "people", "--graph", graph, "--labels", labels) as server:
        info = httpx.get(f"{server.url}api/info").json()
        assert info["graph"]["matched"] == 2 and info["labels"] == {"classes": 1, "labeled": 1}
        reading, labeling, warning = server.stop()[1].splitlines()[:3]
    assert f"{reading}\n" == PAIRS
    assert labeling.startswith(f"labels: {labels}") and labeling.endswith("1 labeled node unknown")
    assert warning == "warning: 2 of 48 nodes of the embedding are in the graph, which has 3 nodes"


def test_an_embedding_without_names_shown_on_every_address(tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", people().vectors)
    with serving(tmp_path / "plain.npy", "--host", "0.0.0.0", "--token", "open sesame") as server:
        assert server.url.endswith("/?token=open%20sesame")
        ask = b"GET /api/nodes?node=5 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        assert b" 401 " in server.talk(ask + b"\r\n")
        answer = server.talk(ask + b"Authorization: Bearer open sesame\r\n\r\n")
        assert b" 200 " in answer and b'"row":5' in answer
        assert "called by their rows, 0 to 47" in server.stop()[1]


def test_a_missing_package_is_named(folder: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from graphrefine.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "explore", folder / "people"], capture_output=True, timeout=60)
    assert done.returncode == 2 and b'pip install "graphrefine[explore]"' in done.stderr
