"""Boxes stay within ``size.json``, and whoever raises an entry says so in a commit that does nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import box_sizes


def test_no_box_is_larger_than_its_entry_or_much_smaller() -> None:
    assert box_sizes.find_excess(box_sizes.measure(), box_sizes.read_record()) == []
    assert box_sizes.find_slack(box_sizes.measure(), box_sizes.read_record()) == [], (
        "run python tests/box_sizes.py --lower"
    )


def test_excess_slack_and_missing_entries_are_found() -> None:
    sizes = {"graph": [300, 3], "live": [90, 9], "new": [1, 1]}
    record = {"graph": [299, 3], "live": [200, 8], "gone": [5, 1]}
    assert box_sizes.find_excess(sizes, record) == [
        "new has no entry in tests/size.json",
        "graph has 300 lines, and at most 299 are allowed",
        "live has 9 files, and at most 8 are allowed",
    ]
    assert box_sizes.find_slack(sizes, record) == ["gone", "live"]


def is_whole_clone() -> bool:
    """Whether git is here and knows the history."""
    if shutil.which("git") is None:
        return False
    command = ["git", "-C", str(box_sizes.ROOT), "rev-parse", "--is-shallow-repository"]
    return bool(subprocess.run(command, capture_output=True, text=True).stdout.strip() == "false")


@pytest.mark.skipif(not is_whole_clone(), reason="a source tree without its history")
def test_entries_were_raised_by_commits_that_say_so() -> None:
    assert box_sizes.find_unexplained_growth() == []


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_growth_that_is_not_explained_is_found(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        subprocess.run(["git", "-C", str(tmp_path), *author, *arguments], check=True, capture_output=True)

    def commit(subject: str, graph: int, other: str = "") -> None:
        (tmp_path / "tests" / "size.json").write_text(json.dumps({"graph": [graph, 3]}))
        if other:
            (tmp_path / "other.py").write_text(other)
        git("add", ".")
        git("commit", "-m", subject)

    git("init")
    (tmp_path / "tests").mkdir()
    commit("Begin", 300)
    commit("Lower it, with a change", 200, "a = 1\n")
    commit("Grow graph: bipartite graphs on disk", 250)
    assert box_sizes.find_unexplained_growth(tmp_path) == []
    commit("Raise it", 260)
    commit("Grow graph: and change code", 270, "a = 2\n")
    found = box_sizes.find_unexplained_growth(tmp_path)
    assert [growth.subject for growth in found] == ["Grow graph: and change code", "Raise it"]
    assert found[0].boxes == ["graph"]
