"""The command ``graphrefine explore``: a server in a process of its own, and its mistakes."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from cli_runs import PAIRS, check_refused, refuses, run
from explore_servers import NAMES, Server, nearest, people, received, serving, write_friends, write_labels
from graphrefine.explore.server import Access, bind, make_access


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("explore")
    people().save(place / "people")
    write_friends(place / "friends.csv")
    write_labels(place / "labels.csv")
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    options = ("--graph", folder / "friends.csv", "--labels", folder / "labels.csv")
    with serving(folder / "people", *options) as answer:
        yield answer


def test_the_command_serves(server: Server) -> None:
    with urllib.request.urlopen(server.url + "healthz", timeout=10) as answer:
        assert json.load(answer) == {"status": "ok"}
        assert "server" not in answer.headers
    query = f"api/neighbors?node={quote(NAMES[13])}&k=3"
    with urllib.request.urlopen(server.url + query, timeout=10) as answer:
        (result,) = json.load(answer)["results"]
    assert [each["row"] for each in result["neighbors"]] == nearest(13, 3)


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
    with serving(folder / "people") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as idle:  # someone who keeps a connection open
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200" in idle.recv(1000)
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(20) == 130
            assert received(idle) in (b"", b'{"status":"ok"}'), "the connection is closed"
        assert (
            server.process.stderr and server.process.stderr.read() == b"interrupted; no half-written output is left\n"
        )


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
        with urllib.request.urlopen(server.url + "api/info", timeout=10) as answer:
            info = json.load(answer)
        assert info["graph"]["matched"] == 2 and info["labels"] == {"classes": 1, "labeled": 1}
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 143
        assert server.process.stderr
        reading, first, second = server.process.stderr.read().decode().splitlines()[:3]
    assert f"{reading}\n" == PAIRS
    assert first == "warning: 2 of 48 nodes of the embedding are in the graph, which has 3 nodes"
    assert second == "warning: 1 of 2 labeled nodes are not in the embedding"


def test_an_embedding_without_names_shown_on_every_address(tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", people().vectors)
    with serving(tmp_path / "plain.npy", "--host", "0.0.0.0", "--token", "open sesame") as server:
        assert server.url.endswith("/?token=open%20sesame")
        ask = b"GET /api/nodes?node=5 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        assert b" 401 " in server.talk(ask + b"\r\n")
        answer = server.talk(ask + b"Authorization: Bearer open sesame\r\n\r\n")
        assert b" 200 " in answer and b'"row":5' in answer
        server.process.send_signal(signal.SIGINT)
        server.process.wait(20)
        assert server.process.stderr and b"called by their rows, 0 to 47" in server.process.stderr.read()


def test_without_its_packages_it_says_what_to_install(folder: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from graphrefine.cli.main import main; main()"

    done = subprocess.run([sys.executable, "-c", code, "explore", folder / "people"], capture_output=True, timeout=60)
    assert done.returncode == 2 and b'pip install "graphrefine[explore]"' in done.stderr


def test_its_packages_are_loaded_only_to_serve() -> None:
    code = "import sys, graphrefine.cli.main; print({'fastapi', 'pydantic', 'uvicorn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "set()\n"
