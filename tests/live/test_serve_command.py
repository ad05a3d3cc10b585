"""The command ``graphrefine live serve``: a server in a process of its own, its end and its mistakes."""

from __future__ import annotations

import signal
import socket
from pathlib import Path

import pytest
from live_servers import NODES, ask_server, serving_live, write_folder

from cli_runs import refuses
from graphrefine import live


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


def test_it_serves_until_ctrl_c_and_leaves_all_changes(folder: Path) -> None:
    with serving_live(folder) as server:
        body = {"request": "a", "changes": [["+", "ann", "n3"]]}
        assert ask_server(server, "/api/edges", **body)["group"] == 1
        head = b"POST /api/edges HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        assert b" 401 " in server.talk(head + b"Content-Length: 2\r\n\r\n{}"), "on the loopback, too"
        with live.open(folder, read_only=True) as reader:
            assert "ann" in reader, "readers follow while it serves"
        refuses("live", "refresh", folder, folder=folder.parent, expected=("another run works",))
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(20) == 130
        assert server.process.stderr
        assert server.process.stderr.read() == b"interrupted; no half-written output is left\n"
    with live.open(folder) as after:
        assert after.graph().neighbors("ann") == {"n3": 1.0}


def test_a_killed_server_loses_nothing(folder: Path) -> None:
    with serving_live(folder, "--token", "t", "--renew", "0.2") as server:
        for number in range(5):
            ask_server(server, "/api/edges", request=f"r{number}", changes=[["+", f"m{number}", "n3"]])
        server.process.kill()
        server.process.wait(20)
    with serving_live(folder) as server:
        assert ask_server(server, "/api/live")["nodes"] == NODES + 5
        again = ask_server(server, "/api/edges", request="r4", changes=[["+", "m4", "n3"]])
        assert again == {"group": 5, "repeated": True}


def test_a_token_comes_from_a_file(folder: Path) -> None:
    (folder.parent / "token").write_text("open sesame\n", encoding="utf-8")
    with serving_live(folder, "--token-file", str(folder.parent / "token")) as server:
        assert server.url.endswith("/?token=open%20sesame")
        assert ask_server(server, "/api/live")["nodes"] == NODES


def test_mistakes_of_the_command(folder: Path, tmp_path: Path) -> None:
    refuses("live", "serve", tmp_path / "no.live", folder=tmp_path, expected=("no folder of live vectors",))
    refuses("live", "serve", folder, "--token", "", folder=tmp_path, expected=("--token",))
    refuses("live", "serve", folder, "--renew", "0", folder=tmp_path, expected=("--renew",))
    refuses("live", "serve", folder, "--port", "70000", folder=tmp_path, expected=("--port 70000",))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refuses("live", "serve", folder, "--port", port, folder=tmp_path, expected=(f"--port {port}",))
    with live.open(folder):
        refuses("live", "serve", folder, folder=tmp_path, expected=("another run works",))
