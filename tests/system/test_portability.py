"""The names of the system that Windows lacks are not needed."""

from __future__ import annotations

import os
import re
import signal
import tomllib
from pathlib import Path

import numpy as np
import pytest

from graphrefine.errors import FormatError, OutputError
from graphrefine.evaluate import embed_subprocess
from graphrefine.system.storage import FolderStorage
from graphrefine.system.work_folder import WorkFolder

ROOT = Path(__file__).resolve().parents[2]


def test_files_are_read_and_written_at_a_place_without_calls_of_unix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("preadv", "pread", "pwritev", "pwrite", "O_TMPFILE"):
        monkeypatch.delattr(os, name, raising=False)
    storage, out = FolderStorage(str(tmp_path)), np.empty(3, np.uint8)
    storage.write_at("x", np.array([13, 10, 26], np.uint8), 2)  # bytes that text files of Windows change
    storage.write_at("x", np.array([7, 8], np.uint8), 0)
    assert (tmp_path / "x").read_bytes() == b"\x07\x08\r\n\x1a"
    storage.read_into("x", out, offset=2)
    assert out.tolist() == [13, 10, 26]
    with pytest.raises(FormatError, match="5 bytes where 7 were expected"):
        storage.read_into("x", out, offset=4)
    with pytest.raises(FormatError, match="missing"):
        storage.read_into("y", out)


def test_a_child_that_was_killed_is_told_without_the_name_of_the_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "SIGKILL", raising=False)
    outcome = embed_subprocess._outcome(-9, b"", "", 1.0, 5)
    assert (outcome.status, outcome.message) == ("killed", "ended by signal 9 (out of memory, perhaps)")


def test_a_work_folder_that_cannot_be_written_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(OutputError, match="cannot write there"):
        WorkFolder(tmp_path / "w").lock()


def test_a_file_system_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import filelock

    def refuse(*_: object, **__: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with pytest.raises(OutputError, match="the file system has no locks"):
        WorkFolder(tmp_path / "w").lock()


def test_only_what_is_tested_is_promised() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    systems = [each for each in project["classifiers"] if each.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]
    assert re.search(r"tested on Linux \(x86-64\)", (ROOT / "README.md").read_text(encoding="utf-8"))
