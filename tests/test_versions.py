"""Versions that the package asks for: constraints that hold to ``pyproject.toml``."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

pytestmark = pytest.mark.skipif(not (ROOT / "constraints").is_dir(), reason="the source is not here")


def parse(version: str) -> tuple[int, ...]:
    """Parts of a version without letters, as numbers; zeros at the end say nothing."""
    parts = [int(part) for part in version.split(".") if part.isdecimal()]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def test_the_oldest_versions_are_those_that_are_asked_for() -> None:
    import check_versions

    expected = check_versions.format_pins("minimum", check_versions.read_minimums())
    assert (ROOT / "constraints" / "minimum.txt").read_text(encoding="utf-8") == expected
    assert {"numpy", "scipy", "psycopg-binary", "distributed", "uvicorn"} <= set(check_versions.read_pins("minimum"))


def test_the_newest_versions_are_of_the_same_packages_and_not_older() -> None:
    import check_versions

    oldest, newest = (check_versions.read_pins(kind) for kind in ("minimum", "newest"))
    assert set(newest) == set(oldest)
    for name, version in newest.items():
        assert parse(version) >= parse(oldest[name]), name
