"""Write ``sbom.cdx.json``: what graphrefine consists of and asks for, as a CycloneDX document. `make sbom` runs it.

Packages of Python have the newest version with which the tests were run (``constraints/newest.txt``), and the oldest as
a property; packages of the page have the version and the hash of ``web/package-lock.json``. Their scope is "required",
"optional" (an extra), or "excluded" (they make the page, and are not in it). The document has no time and no
machine in it: it changes only if one of these files does.
"""

from __future__ import annotations

import base64
import json
import re
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import quote

from check_versions import TWINS, read_minimums, read_pins

ROOT = Path(__file__).resolve().parent.parent
Component = dict[str, Any]
DOCUMENT = ROOT / "sbom.cdx.json"
PAGE_LICENSES = ROOT / "src" / "graphrefine" / "explore" / "page" / "assets" / "LICENSES.txt"
NATIVE = (  # compiled into the kernels of a wheel; of a version that the build chooses
    {"name": "nanobind", "license": "BSD-3-Clause", "purl": "pkg:pypi/nanobind"},
    {"name": "robin-map", "license": "MIT", "purl": "pkg:github/Tessil/robin-map"},
)


def main() -> None:
    """Write the document."""
    DOCUMENT.write_text(format_document(), encoding="utf-8")
    print(DOCUMENT.relative_to(ROOT))


def format_document() -> str:
    """The document as text."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    whole = describe("graphrefine", project["version"], "pkg:pypi/graphrefine", project["license"], kind="application")
    components = [*list_python(project), *list_native(), *list_page()]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": whole},
        "components": components,
        "dependencies": [{"ref": whole["bom-ref"], "dependsOn": sorted({each["bom-ref"] for each in components})}],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def describe(
    name: str, version: str | None, purl: str, license: str | None = None, *, kind: str = "library"
) -> Component:
    """A component.

    Examples
    --------
    >>> describe("regl", "2.1.1", "pkg:npm/regl", "MIT")["purl"]
    'pkg:npm/regl@2.1.1'
    """
    full = purl if version is None else f"{purl}@{version}"
    component: Component = {"type": kind, "bom-ref": full, "name": name, "purl": full}
    if version is not None:
        component["version"] = version
    if license is not None:
        component["licenses"] = [{"license": {"id": license}}]
    return component


def list_python(project: dict[str, Any]) -> list[Component]:
    """Packages that pip installs with graphrefine, or with one of its extras."""
    needed = {re.split(r"[^\w.-]", each)[0] for each in project["dependencies"]}
    needed |= {twin for name in needed for twin in TWINS.get(name, ())}
    newest = read_pins("newest")
    return [
        {
            **describe(name, newest[name], f"pkg:pypi/{name}"),
            "scope": "required" if name in needed else "optional",
            "properties": [{"name": "graphrefine:oldest", "value": oldest}],
        }
        for name, oldest in sorted(read_minimums().items())
    ]


def list_native() -> list[Component]:
    """Libraries in the compiled kernels."""
    return [{**describe(each["name"], None, each["purl"], each["license"]), "scope": "required"} for each in NATIVE]


def list_page() -> list[Component]:
    """Packages of the page of ``explore``, and those that make it."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    bundled = read_bundled()
    components = []
    for path, facts in sorted(lock.items()):
        if not path:
            continue
        name = path.rpartition("node_modules/")[2]
        component = describe(name, facts["version"], f"pkg:npm/{quote(name, safe='/')}", facts.get("license"))
        component["scope"] = "required" if name in bundled else "excluded"
        if "integrity" in facts:
            method, _, value = facts["integrity"].partition("-")
            digest = base64.b64decode(value).hex()
            component["hashes"] = [{"alg": method.upper().replace("SHA", "SHA-"), "content": digest}]
        components.append(component)
    return components


def read_bundled() -> dict[str, str]:
    """Packages inside the page, with their versions, by the file of their licenses.

    Examples
    --------
    >>> "regl-scatterplot" in read_bundled(), "esbuild" in read_bundled()
    (True, False)
    """
    text = PAGE_LICENSES.read_text(encoding="utf-8")
    return dict(re.findall(r"^-{80}\n\n(\S+) (\S+) \(", text, re.MULTILINE))


if __name__ == "__main__":
    main()
