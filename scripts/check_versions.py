"""Run the tests with the oldest or the newest versions of what the package requires.

::

    python scripts/check_versions.py minimum [TESTS]    constraints/minimum.txt, on Python 3.11: `make check-minimum`
    python scripts/check_versions.py newest [TESTS]     constraints/newest.txt, on this Python: `make check-newest`
    python scripts/check_versions.py newest --write     what is newest today, written into the file if the tests pass

The environment is made anew in ``.venv-minimum`` or ``.venv-newest``, with all extras and the group of tests; what the
package itself requires has the versions of the file, and everything else is what goes with them. The exit code is that
of the tests. TESTS are arguments for pytest; without any, the tests are those of ``make test``.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "constraints"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:\[(?P<extras>[^\]]+)\])?>=(?P<version>[\w.]+)")
# Beside a package that brings them in its own version.
TWINS = {"dask": ("dask", "distributed"), "psycopg": ("psycopg", "psycopg-binary")}
HEADS = {
    "minimum": "# The oldest versions that pyproject.toml allows: `make check-minimum` runs the tests with them.\n",
    "newest": "# The newest versions with which the tests were run: `make check-newest` runs them again.\n",
}
# Old packages are warned by newer ones beside them, which says nothing about this one.
QUIET = ["-W", "default::DeprecationWarning", "-W", "default::PendingDeprecationWarning"]
ORDINARY = ["-m", "not slow", "-n", "2", "--dist=worksteal"]  # tests: those of `make test`


def main() -> None:
    """Make the environment, run the tests, tell the versions."""
    if len(sys.argv) < 2 or sys.argv[1] not in HEADS:
        sys.exit(__doc__)
    kind, arguments = sys.argv[1], sys.argv[2:]
    write = "--write" in arguments
    tests = [argument for argument in arguments if argument != "--write"] or list(ORDINARY)
    start = time.perf_counter()
    python = make_environment(kind, find_python(kind))
    install(kind, python, constrained=not write)
    versions = list_versions(python)
    print(", ".join(f"{name} {version}" for name, version in versions.items()), flush=True)
    ready = time.perf_counter()
    tests += QUIET if kind == "minimum" else []
    code = subprocess.run([python, "-m", "pytest", "-q", *tests], cwd=ROOT).returncode
    done = time.perf_counter()
    print(f"{kind} versions: install {ready - start:.0f} s, tests {done - ready:.0f} s, exit code {code}")
    if write and not code:
        (FOLDER / f"{kind}.txt").write_text(format_pins(kind, versions), encoding="utf-8")
    sys.exit(code)


def read_minimums() -> dict[str, str]:
    """The lowest versions that ``pyproject.toml`` allows, by package, of the package and of all its extras.

    Examples
    --------
    >>> minimums = read_minimums()
    >>> minimums["dask"] == minimums["distributed"], "graphrefine" in minimums
    (True, False)
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    minimums: dict[str, str] = {}
    for requirement in [*project["dependencies"], *(each for extra in extras for each in extra)]:
        found = REQUIREMENT.match(requirement)
        if found is not None:
            for name in TWINS.get(found["name"], (found["name"],)):
                minimums[name] = found["version"]
        elif not requirement.startswith("graphrefine["):
            raise ValueError(f"{requirement!r} in pyproject.toml has no lowest version")
    return minimums


def read_pins(kind: str) -> dict[str, str]:
    """The versions of a file of constraints."""
    lines = (FOLDER / f"{kind}.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def format_pins(kind: str, versions: dict[str, str]) -> str:
    """A file of constraints."""
    return HEADS[kind] + "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))


def find_python(kind: str) -> str:
    """The oldest Python that the package allows, for the oldest versions: they have no wheels for newer ones."""
    if kind == "newest" or sys.version_info[:2] == (3, 11):
        return sys.executable
    found = shutil.which("python3.11")
    if found is None:
        sys.exit("the oldest versions need Python 3.11, the oldest that the package allows; python3.11 was not found")
    return found


def make_environment(kind: str, python: str) -> str:
    """An empty environment; its Python."""
    folder = ROOT / f".venv-{kind}"
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    return str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")


def install(kind: str, python: str, *, constrained: bool) -> None:
    """Install the package with all extras, and what the tests need."""
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--upgrade", "pip>=25.1"], check=True)
    limits = ["--constraint", str(FOLDER / f"{kind}.txt")] if constrained else []
    build = f"--config-settings=build-dir=build/versions-{kind}"
    subprocess.run([*pip, *limits, build, "--editable", ".[all]", "--group", "test"], cwd=ROOT, check=True)


def list_versions(python: str) -> dict[str, str]:
    """What is installed of what the package requires."""
    command = [python, "-m", "pip", "--disable-pip-version-check", "list", "--format=json"]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    versions = {re.sub(r"[-_.]+", "-", each["name"]).lower(): each["version"] for each in listed}
    return {name: versions[name] for name in sorted(read_minimums())}


if __name__ == "__main__":
    main()
