"""How the program ends when it is stopped, or when nobody listens: Ctrl-C, kill, closed pipes; and its progress bar."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from cli_runs import PAIRS, PROGRAM, contents, spawn
from graphrefine.cli import main
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.errors import ArgumentWarning
from processes import eventually, start_process

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of Unix")

NODES = 30_000
OLDER = Embedding(["old", "older"], [[1, 0], [0, 1]], {"made": "before"})
PATIENCE = 60  # seconds to wait for what must come


@pytest.fixture(autouse=True)
def _hangups_count() -> Iterator[None]:
    """Children end on SIGHUP even where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph large enough to be interrupted in."""
    path = tmp_path_factory.mktemp("graph") / "graph.txt"
    np.savetxt(path, np.random.default_rng(0).integers(0, NODES, (4 * NODES, 2)), fmt="%d")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an older output in two formats."""
    OLDER.save(tmp_path / "out")
    OLDER.save(tmp_path / "out.csv")
    return tmp_path


@contextmanager
def started(*arguments: str | Path, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with start_process([*PROGRAM, *arguments], **streams) as process:
        yield process


def is_stopped(process: subprocess.Popen[bytes], by: signal.Signals, *, after: str = "") -> None:
    """Check the end of a stopped run: its code, and one line below what it had printed before."""
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + by
    assert err.decode() == f"{after}interrupted; no half-written output is left\n"


SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("by", SIGNALS)
def test_stopped_while_reading(folder: Path, by: signal.Signals) -> None:
    before = contents(folder)
    with started("embed", "-", "-o", folder / "out", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"1 2\n" * 100_000)  # more than a pipe holds, so the program is reading by now
        process.stdin.flush()
        time.sleep(0.5)  # and by now waits for more
        process.send_signal(by)
        eventually(lambda: process.poll() is not None)
        is_stopped(process, by)
    assert contents(folder) == before


@pytest.mark.parametrize("by", SIGNALS)
def test_stopped_while_writing(folder: Path, graph: Path, by: signal.Signals) -> None:
    before = contents(folder)
    with started("embed", graph, "-o", folder / "out.csv", "--threads", "1") as process:
        eventually(lambda: any(folder.glob(".out.csv.graphrefine-*.tmp/new")))
        process.send_signal(by)
        is_stopped(process, by, after=f"read: {graphrefine.read(graph).reading}\n")
    assert contents(folder) == before


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux to tell when the program is up")
def test_stopped_at_any_moment(folder: Path, graph: Path) -> None:
    """Nine moments spread over a run: each leaves the old output or, if it came too late, the new one."""
    arguments = ("embed", graph, "-o", folder / "out", "--threads", "1", "--power", "8")
    before = contents(folder)
    with started(*arguments) as process:
        eventually(lambda: is_up(process))
        start = time.perf_counter()
        process.communicate(timeout=PATIENCE)
    whole, after = time.perf_counter() - start, contents(folder)
    codes = []
    for share in np.linspace(0.0, 0.9, 9):
        OLDER.save(folder / "out")
        with started(*arguments) as process:
            eventually(lambda: is_up(process))
            start = time.perf_counter()
            with suppress(subprocess.TimeoutExpired):
                process.wait(share * whole)
                whole = time.perf_counter() - start  # the machine has become quicker
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=PATIENCE)
        assert "Traceback" not in err.decode()
        assert process.returncode in (130, 0, -signal.SIGINT)  # the last: Python had already put its things away
        assert contents(folder) in ([before, after] if process.returncode == 130 else [after])
        codes.append(process.returncode)
    assert codes.count(130) >= 4


def is_up(process: subprocess.Popen[bytes]) -> bool:
    """Whether the program has taken signals into its hands; before that Python itself is starting."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    caught = int(status.split("SigCgt:")[1].split()[0], 16)
    return bool(caught >> (signal.SIGHUP - 1) & 1 and caught >> (signal.SIGTERM - 1) & 1)


EARLY = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "graphrefine.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from graphrefine.cli import start
start()
"""
TWICE = """
import os, signal, time
import graphrefine.readers.read
def send(*_, **__):
    try:
        os.kill(os.getpid(), signal.FIRST)
        time.sleep(20)
    finally:
        os.kill(os.getpid(), signal.SECOND)
        time.sleep(20)
graphrefine.readers.read.read = send
from graphrefine.cli import start
start()
"""


@pytest.mark.parametrize(
    ("script", "number"),
    [
        (EARLY, signal.SIGINT),
        (TWICE.replace("FIRST", "SIGINT").replace("SECOND", "SIGINT"), signal.SIGINT),
        (TWICE.replace("FIRST", "SIGINT").replace("SECOND", "SIGTERM"), signal.SIGTERM),
    ],
    ids=["while the program loads", "twice", "kill after Ctrl-C"],
)
def test_a_signal_where_there_is_nothing_to_wait_for_ends_it_at_once(
    tmp_path: Path, script: str, number: signal.Signals
) -> None:
    typed = [sys.executable, "-c", script, "embed", "x.csv", "-o", str(tmp_path / "out")]
    done = subprocess.run(typed, capture_output=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (-number, b"")


def test_nohup_is_respected(folder: Path) -> None:
    ignore = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    script = f"{ignore}; from graphrefine.cli.main import main; main()"
    typed = [sys.executable, "-c", script, "embed", "-", "-o", str(folder / "out")]
    with start_process(typed, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(b"1 2\n" * 100_000)
        process.stdin.flush()
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and load(folder / "out").names.tolist() == [1, 2]


# Nobody listens.


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["embed", "--help"], ["info", "graph.csv", "--json"]])
def test_a_closed_pipe_is_no_news(tmp_path: Path, arguments: list[str], unbuffered: str) -> None:
    (tmp_path / "graph.csv").write_text("a,b\nb,c\n")
    reading, writing = os.pipe()
    os.close(reading)
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with started(*arguments, stdout=writing, cwd=tmp_path, env=env) as process:
        os.close(writing)
        _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (141, b"")


def test_no_stdout_at_all(tmp_path: Path) -> None:
    (tmp_path / "graph.csv").write_text("a,b\nb,c\n")
    typed = [*PROGRAM, "embed", str(tmp_path / "graph.csv"), "-o", str(tmp_path / "out")]
    done = subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", *typed], timeout=PATIENCE)
    assert done.returncode == 0 and len(load(tmp_path / "out")) == 3


# The progress bar.

LAUNCH = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(2, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


class Terminal:
    """A program whose stderr is a terminal of its own; its stdout is a pipe."""

    def __init__(self, *arguments: str | Path) -> None:
        import pty

        self.here, there = pty.openpty()
        self.shown = ""
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *PROGRAM, *map(str, arguments)],
            stdin=there,
            stdout=subprocess.PIPE,
            stderr=there,
            env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"},
        )
        os.close(there)

    def type(self, keys: bytes) -> None:
        os.write(self.here, keys)

    def watch(self, until: str | None = None) -> None:
        """Take in what is shown, to the end or until something is."""
        with suppress(OSError):  # how a terminal says that its last program is gone
            while until is None or until not in self.shown:
                part = os.read(self.here, 4096).decode(errors="replace")
                if not part:
                    break
                self.shown += part

    def end(self) -> tuple[int, str]:
        out = self.process.communicate(timeout=PATIENCE)[0].decode()
        os.close(self.here)
        return self.process.returncode, out


def test_the_bar_names_each_stage_and_leaves_stdout_alone(tmp_path: Path, graph: Path) -> None:
    terminal = Terminal("embed", graph, "-o", tmp_path / "out", "--dim", "32", "--json")
    terminal.watch()
    code, out = terminal.end()
    assert code == 0
    assert json.loads(out)["dim"] == 32 and out.startswith("{\n") and out.endswith("\n}\n")
    places = [terminal.shown.find(f" {stage} ") for stage in ("read", "proximity", "range", "filter", "write")]
    assert -1 not in places and places == sorted(places), "every stage, in order"
    assert terminal.shown.rfind("\x1b[2K") > terminal.shown.rfind(" write "), "and it is wiped off in the end"


def test_no_bar_without_a_terminal(tmp_path: Path, graph: Path) -> None:
    (tmp_path / "graph.csv").write_text("a,b\nb,c\nc,d\n")
    assert spawn("embed", tmp_path / "graph.csv", "-o", tmp_path / "out", "--dim", "2").err == PAIRS
    assert "range" not in spawn("embed", graph, "-o", tmp_path / "out", env={"FORCE_COLOR": "1"}).err


def test_ctrl_c_at_the_terminal_while_computing(folder: Path, graph: Path) -> None:
    before = contents(folder)
    terminal = Terminal("embed", graph, "-o", folder / "out", "--power", "2000", "--threads", "1")
    terminal.watch(until=" range ")
    terminal.type(b"\x03")
    terminal.watch()
    assert terminal.end() == (130, "")
    assert "interrupted; no half-written output is left" in terminal.shown
    assert "Traceback" not in terminal.shown and "\x1b[?25h" in terminal.shown, "and the cursor is back"
    assert contents(folder) == before


def test_a_warning_of_another_thread_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """As in the server of explore, where click knows no command."""
    warning = ArgumentWarning("nothing was learned; embed with learn=True", argument="learn")
    thread = threading.Thread(target=main._show_warning, args=(warning, ArgumentWarning, "code.py", 1))
    thread.start()
    thread.join()
    assert capsys.readouterr().err == "warning: nothing was learned; embed with learn=True\n"
