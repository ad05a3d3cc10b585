"""Build the source distribution and a wheel for every Python found, and try each in a clean environment.

For each interpreter (``python3.11`` and newer on PATH, and pyenv's): the wheel is built from the source
distribution, installed with its core dependencies into a new environment, and `smoke.py` is run there, away
from the source tree. What passed is left in ``dist/``.

Needs nothing but Python 3.11, pip and a C++ compiler.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)


def main() -> None:
    """Check every interpreter; exit with 1 if anything fails."""
    start = time.perf_counter()
    found = interpreters()
    if not found:
        sys.exit("no Python 3.11 or newer was found")
    say(f"interpreters: {', '.join(f'{version} ({path})' for version, path in found.items())}")
    with tempfile.TemporaryDirectory(prefix="graphrefine-wheels-") as name:
        scratch = Path(name)
        (scratch / "smoke.py").write_bytes((ROOT / "scripts" / "smoke.py").read_bytes())
        builder = new_environment(next(iter(found.values())), scratch / "builder")
        sdist = build_sdist(builder, scratch / "sdist")
        keep([sdist, *(check(version, path, sdist, scratch) for version, path in found.items())])
    say(f"all passed in {time.perf_counter() - start:.0f} s: {', '.join(found)}")


def say(text: str) -> None:
    """A line that comes before what the commands print."""
    print(f"== {text}", flush=True)


def interpreters() -> dict[str, str]:
    """Those that run and are new enough, one a version: {"3.12": "/usr/bin/python3.12"}."""
    found: dict[str, str] = {}
    for candidate in candidates():
        ask = "import sys; print(*sys.version_info[:2], sys.implementation.name, sys.executable, sep='\\n')"
        try:
            answer = subprocess.run([candidate, "-c", ask], capture_output=True, text=True, check=True, timeout=60)
        except (OSError, subprocess.SubprocessError):
            continue  # a pyenv shim for a version that is not active, or a broken installation
        major, minor, kind, path = answer.stdout.splitlines()
        if (int(major), int(minor)) >= OLDEST and kind == "cpython":
            found.setdefault(f"{major}.{minor}", path)
    return dict(sorted(found.items(), key=lambda item: int(item[0].split(".")[1])))


def candidates() -> Iterator[str]:
    """Where an interpreter may be: on PATH, then with pyenv."""
    yield sys.executable
    yield from ("python3", *(f"python3.{minor}" for minor in range(OLDEST[1], 20)))
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for path in sorted(root.glob("versions/3.*/bin/python3"), reverse=True):
        yield str(path)


def build_sdist(python: Path, folder: Path) -> Path:
    """The source distribution, from which all wheels are built: what it lacks, everybody lacks."""
    say("source distribution")
    run(python, "-m", "pip", "install", "--quiet", "build")
    run(python, "-m", "build", "--sdist", "--outdir", str(folder), str(ROOT), quiet=True)
    return only(folder, "*.tar.gz")


def build_wheel(python: Path, sdist: Path, folder: Path) -> Path:
    """Build the wheel for an interpreter."""
    say("wheel")
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), str(sdist))
    wheel = only(folder, "*.whl")
    print(f"   {wheel.name}, {wheel.stat().st_size / 1e3:.0f} kB")
    check_page(wheel)
    return wheel


def check_page(wheel: Path) -> None:
    """The page of ``graphrefine explore`` is in the wheel, as it is in the source."""
    source = ROOT / "src"
    page = [path for path in (source / "graphrefine/explore/page").rglob("*") if path.is_file()]
    with zipfile.ZipFile(wheel) as parts:
        packed = set(parts.namelist())
        names = [path.relative_to(source).as_posix() for path in page]
        wrong = [name for name in names if name not in packed or parts.read(name) != (source / name).read_bytes()]
    if wrong or not any(name.endswith("/page/index.html") for name in names):
        sys.exit(f"{wheel.name} has not the page of the source: {', '.join(wrong) or 'no index.html'}")


def check(version: str, path: str, sdist: Path, scratch: Path) -> Path:
    """Build the wheel for one interpreter, install it, and try it in a folder far from the sources."""
    say(f"Python {version}")
    here = scratch / version
    python = new_environment(path, here / "venv")
    wheel = build_wheel(python, sdist, here / "wheel")
    run(python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--only-binary=:all:", str(wheel))
    run(python, "-I", str(here.parent / "smoke.py"), str(here), cwd=here)
    shutil.rmtree(here / "venv")
    return wheel


def new_environment(python: str, folder: Path) -> Path:
    """A virtual environment with a current pip; the path of its Python."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True, env=clean())
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(inside, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
    return inside


def run(
    python: Path,
    *arguments: str,
    cwd: Path | None = None,
    quiet: bool = False,
) -> None:
    """Run an environment's Python; stop if it fails."""
    command = [str(python), *arguments]
    done = subprocess.run(command, cwd=cwd or python.parent, env=clean(), capture_output=quiet, text=True)
    if done.returncode:
        shown = f"\n{done.stdout}\n{done.stderr}" if quiet else ""
        sys.exit(f"failed with {done.returncode}: {' '.join(command)}{shown}")


def clean() -> dict[str, str]:
    """The environment less what could lead to the source tree."""
    away = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    return {name: value for name, value in os.environ.items() if name not in away}


def only(folder: Path, pattern: str) -> Path:
    """The one file that matches."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} should hold one {pattern}, and holds {len(found)}")
    return found[0]


def keep(files: list[Path]) -> None:
    """Copy what passed into dist/."""
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    for file in files:
        shutil.copy(file, dist)
        print(f"   dist/{file.name}")


if __name__ == "__main__":
    main()
