"""The page in the package is what web/ builds, and nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WEB = ROOT / "web"
PAGE = ROOT / "src" / "graphrefine" / "explore" / "page"


@pytest.fixture(scope="module")
def modules() -> None:
    """What the page is built with; without node the tests fail in CI, and are skipped elsewhere."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        message = "no node and npm: the page cannot be built"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    if not (WEB / "node_modules").is_dir():
        _run("npm", "ci", "--no-audit", "--no-fund")


def _run(*command: str) -> None:
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.usefixtures("modules")
def test_the_page_is_what_its_source_builds(tmp_path: Path) -> None:
    _run("npm", "run", "check")
    _run("node", "build.mjs", str(tmp_path))
    fresh, committed = _files(tmp_path), _files(PAGE)
    assert sorted(fresh) == sorted(committed)
    stale = [name for name in fresh if fresh[name] != committed[name]]
    assert stale == [], "run `make web` and commit what it makes"


@pytest.mark.parametrize("name", ["api_types", "palette"])  # of the API's document, of graphrefine.display.colors
def test_generated_sources_are_those_of_python(name: str, tmp_path: Path) -> None:
    _run(sys.executable, str(ROOT / "scripts" / f"{name}.py"), str(tmp_path / f"{name}.ts"))
    fresh, committed = (folder / f"{name}.ts" for folder in (tmp_path, WEB / "src"))
    assert fresh.read_text("utf-8") == committed.read_text("utf-8"), "run `make web` and commit what it makes"


def test_versions_are_exact_and_no_registry_is_named() -> None:
    versions = json.loads((WEB / "package.json").read_text())["devDependencies"]
    assert [name for name, version in versions.items() if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
    locked = json.loads((WEB / "package-lock.json").read_text())["packages"]
    assert [name for name, package in locked.items() if "resolved" in package] == []
    assert [name for name, package in locked.items() if name and "integrity" not in package] == []


def test_the_page_asks_nothing_of_anybody_else_and_names_the_licenses() -> None:
    index = (PAGE / "index.html").read_text("utf-8")
    assert re.findall(r"\s(?:style|on\w+)=", index) == [], "its policy forbids inline styles and scripts"
    assert re.findall(r'(?:src|href)="(?!assets/|data:)', index) == []
    script = (PAGE / "assets" / "app.js").read_text("utf-8")
    assert not [word for word in ("innerHTML", "new Function", "sourceMappingURL") if word in script]
    licenses = (PAGE / "assets" / "LICENSES.txt").read_text("utf-8")
    for name in ("regl-scatterplot", "regl-line", "pub-sub-es", "gl-matrix", "dom-2d-camera", "earcut"):
        assert re.search(rf"^{name} \d", licenses, re.MULTILINE), name
    assert licenses.count("Copyright") >= 7
