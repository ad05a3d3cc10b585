"""Memory of this process and of the machine: what Linux says by itself is what psutil says."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from graphrefine.system import memory

MISSING = Path("no such file")


def test_memory_in_use_is_that_of_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    by_file, here = memory.private_bytes(), memory.private_bytes(psutil.Process().pid)
    monkeypatch.setattr(memory, "STATM", MISSING)
    assert by_file == pytest.approx(here, rel=0.05)
    assert by_file == pytest.approx(memory.private_bytes(), rel=0.05)


def test_memory_that_is_free_is_that_of_psutil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CGROUPS", ())
    by_file = memory.available_bytes()
    monkeypatch.setattr(memory, "MEMINFO", MISSING)
    assert by_file == pytest.approx(memory.available_bytes(), rel=0.2)  # others take and give back meanwhile
    assert by_file == pytest.approx(psutil.virtual_memory().available, rel=0.2)


def test_a_file_without_the_line_is_not_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 1 kB\n")
    monkeypatch.setattr(memory, "CGROUPS", ())
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    assert (memory.available_bytes() or 0) > 1 << 20
