"""Run docs/guides/store-vectors.md with the newest version of every client: `make check-clients`.

The clients (dependency groups `clients` and `clients-alone`) are installed into ``.venv-clients``, which lies on top of
the environment of the project: what is there is used, and what a client needs in another version is put above it. So
nothing of the project's own environment changes. A client that cannot be installed is named at the end as NOT tested,
and the others are tested all the same.

``--write`` puts the versions that were tested into the page's table.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import time
import tomllib
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv-clients"
PYTHON = str(FOLDER / ("Scripts" if sys.platform == "win32" else "bin") / "python")
PAGE = ROOT / "docs" / "guides" / "store-vectors.md"
REPORT = FOLDER / "report.xml"
VERSIONS = "import sys; from importlib.metadata import version\nfor name in sys.argv[1:]: print(name, version(name))"


def main() -> None:
    """Install, test, tell; exit with 1 if a test fails."""
    start = time.perf_counter()
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    make_environment()
    missing = install(groups["clients"]) | install(groups["clients-alone"], "--no-deps")
    ready = time.perf_counter()
    pytest = [PYTHON, "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", f"--junitxml={REPORT}", "tests/clients"]
    code = subprocess.run(pytest, cwd=ROOT).returncode
    packages = [name_of(each) for each in groups["clients"] + groups["clients-alone"] if each not in missing]
    lines = subprocess.run([PYTHON, "-c", VERSIONS, *packages], check=True, capture_output=True, text=True).stdout
    print(f"tested: {', '.join(lines.splitlines())}")
    if "--write" in sys.argv and not code:
        write_versions(lines.splitlines())
    print(f"install {ready - start:.0f} s, tests {time.perf_counter() - ready:.0f} s")
    for name, reason in missing.items():
        print(f"NOT tested: {name} could not be installed: {reason}", file=sys.stderr)
    for test, reason in skipped_tests().items():
        print(f"NOT tested: {test}: {reason}", file=sys.stderr)
    sys.exit(code)


def make_environment() -> None:
    """An environment that sees the packages of this one below its own."""
    if not Path(PYTHON).exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(FOLDER)], check=True)
    ask = [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    above = Path(subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip())
    below = sysconfig.get_path("purelib")
    (above / "project.pth").write_text(f"import site; site.addsitedir({below!r})\n", encoding="utf-8")


def install(requirements: list[str], *options: str) -> dict[str, str]:
    """Install the newest versions, all at once or, if that fails, one by one; those that fail, and why."""
    if not run_pip(requirements, *options):
        return {}
    reasons = {each: run_pip([each], *options) for each in requirements}
    return {each: reason for each, reason in reasons.items() if reason}


def run_pip(requirements: list[str], *options: str) -> str:
    """The last line of pip's errors; empty if it did its work."""
    pip = [sys.executable, "-m", "pip", "--python", PYTHON, "install", "--quiet", "--upgrade", "--only-binary", ":all:"]
    done = subprocess.run([*pip, *options, *requirements], capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["pip failed"])[-1]


def name_of(requirement: str) -> str:
    """The package of a requirement.

    >>> name_of("psycopg[binary]>=3.2"), name_of("gensim>=4.3; python_version < '3.13'")
    ('psycopg', 'gensim')
    """
    return re.split(r"[\[<>=!~; ]", requirement)[0]


def skipped_tests() -> dict[str, str]:
    """Sections that did not run, and why."""
    if not REPORT.exists():
        return {"everything": "pytest wrote no report"}
    cases = ElementTree.parse(REPORT).iter("testcase")
    return {str(case.get("name")): str(skip.get("message")) for case in cases for skip in case.findall("skipped")}


def write_versions(lines: list[str]) -> None:
    """Put versions into the last column of the page's table."""
    page = PAGE.read_text(encoding="utf-8")
    for name, version in (line.split() for line in lines):
        page = re.sub(rf"\| {re.escape(name)} \S+ \|$", f"| {name} {version} |", page, flags=re.MULTILINE)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
