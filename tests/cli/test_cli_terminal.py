"""What reaches a terminal: no control characters of names, no passwords, no token; streams that are closed or full."""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import sleep
from typing import Any

import click
import numpy as np
import pytest

import graphrefine
from cli_runs import PROGRAM, run, works
from graphrefine.cli import main
from graphrefine.cli.options import read_token
from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import ArgumentWarning, FormatError, GraphRefineError, InputError, OutputError
from processes import start_process

EVIL = "\x1b]0;owned\x07\x1b[31mred\u202eder\x9b2J"
SECRET = "s3cr3t"


@pytest.fixture
def named(tmp_path: Path) -> Path:
    """An embedding whose names are written by an enemy."""
    names = [EVIL, "line\nfeed", "plain", "other"]
    Embedding(names, np.eye(4, dtype=np.float32) + 0.1).save(tmp_path / "out")
    return tmp_path


def is_plain(text: str) -> bool:
    return all(character.isprintable() or character == "\n" for character in text)


def test_what_reaches_the_terminal_is_plain_text(named: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = works("neighbors", named / "out", "plain", "-k", "3")
    assert is_plain(done.out) and r"\x1b]0;owned\x07\x1b[31mred\u202eder\x9b2J" in done.out
    assert r"line\nfeed" in done.out, "a line feed in a name makes no line"
    assert is_plain(str(graphrefine.load(named / "out").neighbors("plain", k=3)))
    # JSON, and files of data, have the name itself.
    rows = works("neighbors", named / "out", "plain", "-k", "3", "--json").figures
    assert EVIL in str_values(rows)
    works("neighbors", named / "out", "plain", "-k", "3", "-o", named / "rows.jsonl")
    assert EVIL in [json.loads(line)["neighbor"] for line in (named / "rows.jsonl").read_text("utf-8").splitlines()]
    path = tmp_path / "\x1b[31mgraph.csv"
    path.write_text("a,b\nb,c\n", encoding="utf-8")
    done = run("embed", path, "-o", tmp_path / "\x1b[2Jout", "--dim", "2")
    assert done.code == 0 and is_plain(done.out) and is_plain(done.err) and r"\x1b[2Jout" in done.out
    done = run("embed", tmp_path / "\x1b[31mno.csv", "-o", tmp_path / "out")
    assert done.code == 2 and is_plain(done.err) and r"\x1b[31mno.csv" in done.err
    drawn = io.StringIO()  # as that of a progress bar, which takes control characters
    monkeypatch.setattr(sys, "stderr", drawn)
    main._show_warning(UserWarning(f"node {EVIL}"), UserWarning, "here.py", 1)
    assert is_plain(drawn.getvalue()) and drawn.getvalue().startswith(r"warning: node \x1b]0;owned")


def str_values(value: Any) -> list[str]:
    """All texts in an object of JSON."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [text for each in value for text in str_values(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://ada:{SECRET}@localhost:5/graphs",
        f"postgresql+psycopg://ada:{SECRET}@localhost/graphs",
        f"postgresql://ada:{SECRET} more@localhost/graphs",
        f"postgresql://ada:a/b@{SECRET}@localhost/graphs",
        f"postgresql://localhost/graphs?sslpassword={SECRET}",
        f"mysql://ada:{SECRET}@localhost/graphs",
        f"postgresql:/ada:two {SECRET}@localhost/graphs",
        f"host=localhost/graphs password={SECRET} user=ada",
        f"host=localhost/graphs password = '{SECRET} more' user=ada",
    ],
)
@pytest.mark.parametrize("words", [["info"], ["embed", "-o", "out"], ["convert", "TO"], ["neighbors", "ada"]])
def test_passwords_are_in_no_message(tmp_path: Path, address: str, words: list[str], monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHREFINE_LOG", "debug")
    logger = logging.getLogger("graphrefine")
    monkeypatch.setattr(logger, "handlers", [])  # so that the handler that the program adds goes with the test
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    for json_wanted in ([], ["--json"]):
        done = run(words[0], address, *words[1:], *json_wanted)
        assert done.code == 2 and SECRET not in done.out + done.err, done.err
        assert "localhost" in done.err or "***" in done.err


@pytest.mark.parametrize("kind", [InputError, OutputError, GraphRefineError, ArgumentWarning])
def test_passwords_are_in_no_error_of_python(kind: Any) -> None:
    assert str(kind(f"x://u:{SECRET}@h/d, y:/v:{SECRET}@h")) == "x://u:***@h/d, y:/v:***@h"
    assert SECRET not in str(FormatError(f"x://u:a {SECRET}@h/d", "is not there"))
    with pytest.raises(FormatError) as caught:
        graphrefine.read(f"postgresql://ada:{SECRET}@localhost/graphs")
    assert SECRET not in str(caught.value)


def test_a_token_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("of the file\nnot this\n", encoding="utf-8")
    assert read_token(None, None) is None
    assert read_token(None, str(file)) == "of the file"
    monkeypatch.setenv("GRAPHREFINE_TOKEN", "of the environment")
    assert read_token(None, None) == "of the environment"
    assert read_token("typed", None) == "typed" and read_token(None, str(file)) == "of the file"
    with pytest.raises(click.BadParameter, match="leave one of them out"):
        read_token("typed", str(file))
    file.write_text("\n", encoding="utf-8")
    for problem, where in ((r"token: the token is empty", str(file)), ("No such file", str(tmp_path / "no"))):
        with pytest.raises(FormatError, match=problem):
            read_token(None, where)
    for value in ("", " "):
        monkeypatch.setenv("GRAPHREFINE_TOKEN", value)
        with pytest.raises(InputError, match="GRAPHREFINE_TOKEN: "):
            read_token(None, None)


@pytest.mark.skipif(os.name != "posix", reason="closed streams of Unix")
def test_closed_streams() -> None:
    for words in ("embed - -o out", "neighbors out --from -"):
        command = f'exec "{PROGRAM[0]}" -m graphrefine {words} <&-'
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and "Traceback" not in done.stderr


def test_a_package_that_cannot_be_loaded(named: Path) -> None:
    """As with a package compiled for another NumPy: installed, but of no use."""
    (named / "pyarrow").mkdir()
    (named / "pyarrow" / "__init__.py").write_text("raise ImportError('numpy.core.multiarray failed to import')\n")
    command = [*PROGRAM, "convert", str(named / "out"), str(named / "out.parquet")]
    environment = {**os.environ, "PYTHONPATH": str(named)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "cannot be loaded: numpy.core.multiarray failed to import; install it again" in done.stderr


def test_compiled_kernels_that_cannot_be_loaded_are_named(tmp_path: Path) -> None:
    script = """
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "graphrefine.kernels._native":
            raise ImportError("libstdc++.so.6: cannot open shared object file")
sys.meta_path.insert(0, Finder())
from graphrefine.cli import start
start()
"""
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,a\n", encoding="utf-8")
    typed = [sys.executable, "-c", script, "embed", "edges.csv", "-o", "out", "--dim", "2"]
    done = subprocess.run(typed, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.startswith("error: "), done.stderr
    assert "kernels of graphrefine cannot be loaded (libstdc++.so.6: cannot open shared object file)" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(("words", "code"), [("info no.csv", 2), ("embed {graph} -o {out} --dim 2", 0)])
def test_standard_error_that_is_full_changes_no_exit_code(tmp_path: Path, words: str, code: int) -> None:
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,c\n", encoding="utf-8")
    command = words.format(graph=tmp_path / "edges.csv", out=tmp_path / "out.npy").split()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*PROGRAM, *command], stdout=subprocess.PIPE, stderr=full, timeout=60, check=False)
    assert done.returncode == code
    assert (tmp_path / "out.npy").exists() == (code == 0)


@pytest.mark.skipif(os.name != "posix", reason="closed streams of Unix")
def test_a_server_without_standard_output(named: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = f'exec "{PROGRAM[0]}" -m graphrefine explore "{named / "out"}" --port {port} >&-'
    with start_process(["sh", "-c", command], stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            sleep(0.1)
        process.terminate()
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert errors.endswith("interrupted; no half-written output is left\n") and "Traceback" not in errors


def test_an_error_of_the_system_is_not_blamed_on_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n", encoding="utf-8")

    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr("graphrefine.pipeline.embed_run.EmbedRun", fail)
    done = run("embed", tmp_path / "edges.csv", "-o", tmp_path / "out")
    assert (done.code, done.err) == (2, "error: Too many open files\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_standard_output_that_is_full_is_named() -> None:
    with Path("/dev/full").open("w") as full:
        typed = [*PROGRAM, "methods"]
        ended = subprocess.run(typed, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (2, "error: standard output: No space left on device\n")
