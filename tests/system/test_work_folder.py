"""Work folders: one run at a time, and state that a later run finds again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graphrefine.errors import OutputError
from graphrefine.system.work_folder import WorkFolder


def test_a_second_run_is_refused_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.work"
    code = "import sys\nfrom graphrefine.system.work_folder import WorkFolder\n"
    code += f"with WorkFolder({str(path)!r}): print('in', flush=True); sys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None and other.stdout.readline() == b"in\n"
        with pytest.raises(OutputError, match=r"another run works in .*out\.work; wait for it"):
            WorkFolder(path).lock()
    finally:
        other.kill()
        other.communicate()
    with WorkFolder(path) as work:
        work.finish()
    assert list(tmp_path.iterdir()) == []


def test_state_survives_and_clearing_forgets_it(tmp_path: Path) -> None:
    with WorkFolder(tmp_path / "w") as work:
        work.save("plan", {"rows": [1, 2]})
        (work.path / "deep").mkdir()
        (work.path / "deep" / "file").touch()
    with WorkFolder(tmp_path / "w") as work:
        assert work.state("plan") == {"rows": [1, 2]}
        (work.path / "damaged.json").write_text("{")
        with pytest.raises(OutputError, match=r"damaged\.json: is damaged; delete .* to start again"):
            work.state("damaged")
        work.clear()
        assert work.state("plan") is None
        assert [each.name for each in work.path.iterdir()] == ["lock"]


@pytest.mark.parametrize(("name", "problem"), [("file", "cannot write there"), ("no/work", "cannot write there")])
def test_bad_paths_are_refused(tmp_path: Path, name: str, problem: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=problem):
        WorkFolder(tmp_path / name).lock()
