"""A user's program runs, and is clean under mypy --strict and under pyright's strict mode; one with mistakes is not."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("user_program.py")
SOURCE = Path(__file__).resolve().parents[2] / "src"
MISTAKES = """
from graphrefine import Embedding, read

embedding = Embedding(["a", "b"], [[1.0], [2.0]])
a: str = embedding.score("a", "b")
embedding.neighbors("a")[0].nodes
embedding.neighbors(["a"])[0].score
embedding.recommend("a", n=5)
embedding.neighbors("a", score="cosin")
read([("a", "b")]).neighbors("a", direction="up")
"""


def test_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sys.path.append(str(PROGRAM.parent))
    try:
        from user_program import main
    finally:
        sys.path.remove(str(PROGRAM.parent))
    embedding = main(tmp_path)
    assert embedding.shape == (6, 4)
    printed = capsys.readouterr().out
    assert "no node is called 'anna'; similar names: ann" in printed and "True (6, 2) None" in printed
    assert printed.endswith("dim\n")


def run_mypy(program: Path, tmp_path: Path) -> list[str]:
    """The lines of the program that mypy complains about."""
    cache = f"--cache-dir={tmp_path / 'cache'}"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", cache, str(program)]
    done = subprocess.run(
        [*command, "--follow-imports=silent"], capture_output=True, text=True, timeout=900, cwd=tmp_path, check=False
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert errors or "Success" in done.stdout, done.stdout + done.stderr
    return errors


@pytest.mark.slow
def test_mypy_strict_is_content(tmp_path: Path) -> None:
    assert run_mypy(PROGRAM, tmp_path) == []
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    lines = {int(error.split(":")[1]) for error in run_mypy(tmp_path / "mistakes.py", tmp_path)}
    assert lines == {5, 6, 7, 8, 9, 10}


@pytest.mark.slow
@pytest.mark.skipif(find_spec("basedpyright") is None, reason="basedpyright is not installed: pip install basedpyright")
def test_pyright_strict_is_content(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.read_text())
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(SOURCE)], "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable, "-p", "."]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, cwd=tmp_path, check=False)
    errors = [each for each in json.loads(done.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    program = [each for each in errors if each["file"].endswith("program.py")]
    assert program == []
    lines = {each["range"]["start"]["line"] + 1 for each in errors if each["file"].endswith("mistakes.py")}
    assert lines >= {5, 6, 7, 8, 9, 10}
