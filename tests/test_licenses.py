"""What is carried of others and what is asked for: licenses, the bill of materials, and constraints of versions."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "scripts"))

pytestmark = pytest.mark.skipif(not (ROOT / "constraints").is_dir(), reason="the source is not here")

NOTICES = ROOT / "THIRD_PARTY_LICENSES.txt"


def squeeze(text: str) -> str:
    """A text without its line ends and margins."""
    return " ".join(re.sub(r"^ \* ?", "", text, flags=re.MULTILINE).split())


def test_the_notices_ship_and_have_the_terms_of_what_is_compiled_in_and_of_the_page() -> None:
    import sbom

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert NOTICES.name in project["license-files"]
    notices = NOTICES.read_text(encoding="utf-8")
    (terms,) = [path for path in files("nanobind") or () if path.name == "LICENSE"]
    assert squeeze(terms.read_text(encoding="utf-8")) in squeeze(notices)
    (header,) = [path for path in files("nanobind") or () if path.name == "robin_map.h"]
    comment = header.read_text(encoding="utf-8").partition("/**")[2].partition("*/")[0]
    assert squeeze(comment) in squeeze(notices) and "MIT License" in comment
    bundled = sbom.read_bundled()
    assert len(bundled) >= 8
    for name in bundled:
        assert re.search(rf"^    {re.escape(name)} +(?:MIT|ISC)", notices, re.MULTILINE), name


def test_the_bill_of_materials_is_that_of_the_files() -> None:
    import sbom

    components = json.loads(sbom.format_document())["components"]
    listed = {(each["purl"].partition("@" + each.get("version", "-"))[0], each.get("version")) for each in components}
    assert len({each["bom-ref"] for each in components}) == len(components)
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(pyproject)["project"]
    asked = [*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)]
    names = {re.split(r"[^\w.-]", each)[0] for each in asked} - {"graphrefine"}
    assert {f"pkg:pypi/{name}" for name in names} <= {purl for purl, _ in listed}
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    for path, facts in lock.items():
        if path:
            name = path.rpartition("node_modules/")[2].replace("@", "%40")
            assert (f"pkg:npm/{name}", facts["version"]) in listed


def test_workflows_take_no_action_by_a_name_that_can_move() -> None:
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if "uses:" in line:
                assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), f"{path.name}: {line}"


def parse(version: str) -> tuple[int, ...]:
    """Parts of a version without letters, as numbers; zeros at the end say nothing."""
    parts = [int(part) for part in version.split(".") if part.isdecimal()]
    while parts and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def test_the_oldest_versions_are_those_asked_for_and_the_newest_are_not_older() -> None:
    import check_versions

    expected = check_versions.format_pins("minimum", check_versions.read_minimums())
    assert (ROOT / "constraints" / "minimum.txt").read_text(encoding="utf-8") == expected
    assert {"numpy", "scipy", "psycopg-binary", "distributed", "uvicorn"} <= set(check_versions.read_pins("minimum"))
    import check_versions

    oldest, newest = (check_versions.read_pins(kind) for kind in ("minimum", "newest"))
    assert set(newest) == set(oldest)
    for name, version in newest.items():
        assert parse(version) >= parse(oldest[name]), name
