"""Running the command as a user does: in this process where that is enough, in one of its own where it is not."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from graphrefine.cli.main import main
from graphrefine.embedding.embedding import Embedding, load

PAIRS = "read: csv without a header; edges column 0 - column 1, undirected; no weights\n"
"""The line on reading a csv file of two columns and no more."""

PROGRAM = [sys.executable, "-m", "graphrefine.cli.main"]


@dataclass(frozen=True)
class Outcome:
    """The end of a run."""

    code: int
    out: str
    err: str

    @property
    def figures(self) -> dict[str, Any]:
        """What ``--json`` printed: one object, and nothing before or after it."""
        assert self.out.startswith("{\n") and self.out.endswith("\n}\n"), self.out
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


def run(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
    """Run a command in this process, through the program's own front door."""
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in written)
    typed = ["graphrefine", *map(str, arguments)]
    given = io.TextIOWrapper(io.BytesIO(stdin))
    code: Any = 0
    patched = patch.multiple(sys, argv=typed, stdin=given)
    with patched, redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    return Outcome(code, *(stream.getvalue().decode() for stream in written))


def spawn(*arguments: str | Path, env: Mapping[str, str] | None = None, **options: Any) -> Outcome:
    """Run a command in a process of its own."""
    typed = [*PROGRAM, *map(str, arguments)]
    done = subprocess.run(typed, capture_output=True, timeout=60, env={**os.environ, **(env or {})}, **options)
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())


def works(*arguments: str | Path, stdin: bytes = b"") -> Outcome:
    """Run a command that must do what it is asked."""
    done = run(*arguments, stdin=stdin)
    assert done.code == 0, done.err
    return done


def embeds(*arguments: str | Path, to: Path, stdin: bytes = b"") -> Embedding:
    """Run ``graphrefine embed``, and load what it wrote; rows are unit or zero, unless they have two sides."""
    works("embed", *arguments, "-o", to, stdin=stdin)
    embedding = load(to)
    lengths = np.linalg.norm(np.asarray(embedding.vectors), axis=1)
    assert embedding.sides.kind or np.all((np.abs(lengths - 1) < 1e-3) | (lengths == 0)), lengths
    return embedding


def check_refused(done: Outcome, *expected: str) -> str:
    """The end of a user's mistake: code 2 and one message, which holds what is expected; no traceback.

    A graph and labels that were read before the mistake was found have a line each on reading above the message.
    """
    assert done.code == 2, done
    assert done.out == "", "stdout is for results"
    assert "Traceback" not in done.err
    *above, message = done.err.splitlines()
    assert message.startswith("error: ") and done.err.endswith(f"{message}\n"), done.err
    assert [line.partition(" ")[0] for line in above] in ([], ["read:"], ["labels:"], ["read:", "labels:"]), done.err
    for text in expected:
        assert text in message, (text, message)
    return message


def refuses(*arguments: str | Path, folder: Path, expected: tuple[str, ...], stdin: bytes = b"") -> str:
    """Run a command that must refuse, and leave ``folder`` as it was."""
    before = contents(folder)
    message = check_refused(run(*arguments, stdin=stdin), *expected)
    assert contents(folder) == before, "something was left behind, or changed"
    return message


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder (None: a folder), hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def ring_of_cliques(cliques: int = 4, size: int = 5) -> NDArray[np.int64]:
    """Edges (m, 2) of a few cliques, each joined to the next by one edge; nodes 0 to cliques * size - 1."""
    nodes = np.arange(cliques * size)
    same = [(u, v) for u in nodes for v in nodes if u < v and u // size == v // size]
    joints = [(c * size, ((c + 1) % cliques) * size + 1) for c in range(cliques)]
    return np.array(same + joints)


def write_csv(path: Path, edges: NDArray[Any]) -> Path:
    """An edge list without a header."""
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in edges.tolist()))
    return path
