"""Sizes of memory, as in ``--memory 1.5GB``."""

from __future__ import annotations

from pathlib import Path

from fuzz.target import Target


def make_seeds() -> list[bytes]:
    """Sizes with every unit, and without one."""
    return [b"500MB", b"1.5GB", b"2 TB", b"123456", b"64kB", b"1e3 MB", b"1GiB"]


def parse(data: bytes, folder: Path) -> None:
    """Parse a size, and check that it is one."""
    from graphrefine.system.memory import parse_size

    size = parse_size(data.decode("utf-8", "surrogateescape"))
    assert isinstance(size, int) and size >= 0, size


TARGETS = [Target("sizes", "tables", make_seeds, parse)]
