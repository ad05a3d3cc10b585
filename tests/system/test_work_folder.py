from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graphrefine.errors import OutputError
from graphrefine.system.work_folder import WorkFolder


def test_a_second_run_is_refused_and_told_who_is_there(tmp_path: Path) -> None:
    place = tmp_path / "out.work"
    code = "import sys\nfrom graphrefine.system.work_folder import WorkFolder\n"
    code += f"with WorkFolder({str(place)!r}): print('in', flush=True); sys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None and other.stdout.readline() == b"in\n"
        with pytest.raises(OutputError, match=f"another run works in .*out.work, process {other.pid}; wait for it"):
            WorkFolder(place).__enter__()
    finally:
        other.kill()
        other.communicate()
    with WorkFolder(place) as work:  # a killed run holds nothing
        work.finish()
    assert list(tmp_path.iterdir()) == []


def test_state_survives_and_clearing_forgets_it(tmp_path: Path) -> None:
    with WorkFolder(tmp_path / "w") as work:
        work.save("plan", {"rows": [1, 2]})
        (work.path / "deep").mkdir()
        (work.path / "deep" / "file").touch()
    with WorkFolder(tmp_path / "w") as work:
        assert work.state("plan") == {"rows": [1, 2]}
        work.clear()
        assert work.state("plan") is None
        assert [each.name for each in work.path.iterdir()] == ["lock"]


def test_bad_places(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="is a file, but the work needs a folder there"):
        WorkFolder(tmp_path / "file").__enter__()
    with pytest.raises(OutputError, match=r"the folder .*no does not exist; create it first"):
        WorkFolder(tmp_path / "no" / "work").__enter__()
    with WorkFolder(tmp_path / "w") as work:
        (work.path / "plan.json").write_text("{")
        with pytest.raises(OutputError, match=r"plan\.json: is damaged; delete .* to start again"):
            work.state("plan")


def test_a_finished_run_leaves_the_place_to_the_next(tmp_path: Path) -> None:
    place = tmp_path / "w"
    with WorkFolder(place) as first:
        first.finish()
        with WorkFolder(place) as second:
            first.close()
            assert second.locked and not first.locked
            with pytest.raises(OutputError, match="another run works in"):
                WorkFolder(place).lock()
