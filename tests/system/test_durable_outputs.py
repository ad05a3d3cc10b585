"""Outputs of commands are on the disk before they take their place."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from cli_runs import run
from graphrefine import Embedding


def names_of_flushes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    flushed: list[str] = []
    real = os.fsync

    def fsync(handle: int) -> None:
        flushed.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return flushed


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="names of open files are read from /proc")
def test_commands_flush_what_they_write_and_then_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = Embedding(["a", "b"], np.eye(2))
    flushed = names_of_flushes(monkeypatch)
    embedding.save(tmp_path / "x")
    assert flushed == []
    for target in ("y", "y.npz", "y.csv"):
        flushed.clear()
        assert run("convert", tmp_path / "x", tmp_path / target).code == 0
        assert flushed[-1] == str(tmp_path) and any(f".{target}.graphrefine-" in name for name in flushed[:-1]), flushed
    assert sum("vectors.npy" in name for name in flushed) == 0
    flushed.clear()
    assert run("convert", tmp_path / "x", tmp_path / "z").code == 0
    assert sum(name.endswith(("vectors.npy", "meta.json", "names.npy", "offsets.npy")) for name in flushed) == 4
    flushed.clear()
    embedding.save(tmp_path / "x")
    assert flushed == [], "after a command, Python decides for itself again"
