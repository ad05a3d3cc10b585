"""Versions that the package asks for: constraints that hold to ``pyproject.toml``, and code that the oldest run."""

from __future__ import annotations

import ast
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


def test_no_sparse_array_is_indexed_by_a_type_where_that_runs() -> None:
    """SciPy has ``csr_array[...]`` since 1.16 only; an annotation does not run."""
    for path in (ROOT / "src").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        annotations = {
            id(node)
            for each in ast.walk(tree)
            for part in (getattr(each, "annotation", None), getattr(each, "returns", None))
            if isinstance(part, ast.AST)
            for node in ast.walk(part)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and id(node) not in annotations:
                name = getattr(node.value, "attr", getattr(node.value, "id", ""))
                assert not name.endswith(("sr_array", "sc_array", "oo_array", "sparray")), f"{path}:{node.lineno}"


def test_no_archive_is_written_with_an_option_that_older_numpy_takes_for_an_array() -> None:
    """``savez(allow_pickle=...)`` is no option of NumPy 2.0: it stores an array of that name, and pickles objects."""
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "").startswith("savez"):
                assert "allow_pickle" not in {each.arg for each in node.keywords}, f"{path}:{node.lineno}"
