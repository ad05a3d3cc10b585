"""An ARM system below ``build/arm``: Debian's Python and libraries, wheels, and the kernels, compiled on x86-64.

Nothing of it is installed: packages of Debian's arm64 archive are fetched with lists and a cache of their own, so that
the architectures of this machine stay as they are, and unpacked into a folder. Its Python runs under ``qemu-aarch64``,
which is called by name. Only the cross compiler and the emulator are installed by apt-get, where they are missing.

What is there is used again: packages and wheels until the folder is removed (``make clean``) or the requirements
change, objects until their sources change.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
FOLDER = REPOSITORY / "build" / "arm"
SYSTEM = FOLDER / "root"  # files of Debian's packages
WHEELS = FOLDER / "site-packages"
PACKAGE = FOLDER / "package"  # graphrefine, as a wheel for ARM has it
OBJECTS = FOLDER / "objects"
PYTHON = FOLDER / "python"  # a shell script: the ARM Python, under qemu
TOOLS = {"aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu", "qemu-aarch64": "qemu-user", "cmake": "cmake"}
DEBIAN = ("python3-minimal", "libpython3-stdlib", "libpython3-dev", "libstdc++6")
TESTING = ("pytest>", "pytest-timeout", "hypothesis")
PROCESSOR = "cortex-a72"  # plain NEON: nothing of SVE
DESCRIBE = """
import json, os, sys, sysconfig
libc = os.confstr("CS_GNU_LIBC_VERSION").split()[-1]
print(json.dumps({"version": sys.version_info[:2], "libc": libc, "include": sysconfig.get_path("include")}))
"""


class CommandError(Exception):
    """A command that failed, and the last line that it printed."""


def make_system() -> dict[str, Any]:
    """Make what programs on ARM need: tools, system, wheels; a description of the ARM Python."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    install_tools()
    unpack_system()
    python = describe_python()
    install_wheels(python)
    return python


def install_tools() -> None:
    """Install the cross compiler, the emulator and CMake by apt-get, where they are missing."""
    missing = [package for command, package in TOOLS.items() if shutil.which(command) is None]
    if not missing:
        return
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    run([*apt, "update"], required=False)  # a source that is not needed may fail
    run([*apt, "install", "-y", "--no-install-recommends", *missing])


def unpack_system() -> None:
    """Fetch the ARM packages of Debian's Python, with what they depend on, and unpack them."""
    if SYSTEM.exists():
        return
    lists, cache, parts = FOLDER / "apt", FOLDER / "debs", FOLDER / "root.part"
    for folder in (lists / "lists" / "partial", cache / "archives" / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    status = lists / "status"
    status.touch()
    run([*apt_command(lists, cache, status), "update"], required=False)
    run([*apt_command(lists, cache, status), "install", "-y", "--download-only", "--no-install-recommends", *DEBIAN])
    shutil.rmtree(parts, ignore_errors=True)
    for package in sorted((cache / "archives").glob("*.deb")):
        run(["dpkg", "-x", package, parts])
    if not list(parts.glob("usr/bin/python3.*[0-9]")):
        raise CommandError("the packages of Debian's arm64 archive have no Python")
    parts.rename(SYSTEM)
    shutil.rmtree(lists)
    shutil.rmtree(cache)


def apt_command(lists: Path, cache: Path, status: Path) -> list[str]:
    """apt-get for arm64, with the sources of this machine and nothing else of it.

    >>> " ".join(apt_command(Path("lists"), Path("cache"), Path("status"))[:4])
    'apt-get -qq -o APT::Architecture=arm64'
    """
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Debug::NoLocking": "true",
        "Dir::State": lists,
        "Dir::State::status": status,
        "Dir::Cache": cache,
    }
    return ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]


def describe_python() -> dict[str, Any]:
    """Write the script that runs the ARM Python, and ask it for its version, its libc and its headers."""
    program = min(SYSTEM.glob("usr/bin/python3.*[0-9]"))
    paths = ":".join(map(str, (PACKAGE, WHEELS, REPOSITORY / "tests")))
    # -0: sys.executable is the script, so that what programs start is emulated too. -S: no packages of this machine.
    emulator = ["qemu-aarch64", "-cpu", PROCESSOR, "-L", SYSTEM, "-0", PYTHON, program, "-S"]
    home, paths = shlex.quote(str(SYSTEM / "usr")), shlex.quote(paths) + "${PYTHONPATH:+:$PYTHONPATH}"
    variables = f"PYTHONHOME={home} PYTHONPATH={paths}"
    PYTHON.write_text(f'#!/bin/sh\n{variables} exec {shlex.join(map(str, emulator))} "$@"\n', encoding="utf-8")
    PYTHON.chmod(0o755)
    answer: dict[str, Any] = json.loads(run([PYTHON, "-c", DESCRIBE]))
    return answer


def install_wheels(python: dict[str, Any]) -> None:
    """Install what graphrefine needs for ARM, what its tests of kernels need, and nanobind, which is source."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    nanobind = next(each for each in project["build-system"]["requires"] if each.startswith("nanobind"))
    testing = [each for each in project["dependency-groups"]["test"] if each.startswith(TESTING)]
    requirements = [*project["project"]["dependencies"], nanobind, *testing]
    version = ".".join(map(str, python["version"]))
    stamp, wanted = WHEELS / "requirements.json", json.dumps([version, *requirements])
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    shutil.rmtree(WHEELS, ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "--target", WHEELS]
    platforms = (word for name in list_platforms(python["libc"]) for word in ("--platform", name))
    run([*pip, "--python-version", version, *platforms, *requirements])
    stamp.write_text(wanted, encoding="utf-8")


def list_platforms(libc: str) -> list[str]:
    """The platforms of wheels that run with this version of the C library on ARM, best first.

    >>> list_platforms("2.19")
    ['manylinux_2_19_aarch64', 'manylinux_2_18_aarch64', 'manylinux_2_17_aarch64', 'manylinux2014_aarch64']
    """
    newest = int(libc.split(".")[1])
    return [*(f"manylinux_2_{minor}_aarch64" for minor in range(newest, 16, -1)), "manylinux2014_aarch64"]


def compile_package(python: dict[str, Any]) -> None:
    """Cross-compile the kernels, and put them into a copy of the package.

    CMake asks the ARM Python for the suffix of modules and for nanobind.
    """
    options = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": "aarch64-linux-gnu-g++",
        "CMAKE_CXX_FLAGS": f'-idirafter "{SYSTEM}/usr/include"',  # Debian keeps pyconfig.h in a folder of its own there
        "Python_EXECUTABLE": PYTHON,
        "Python_INCLUDE_DIR": python["include"],
    }
    if not (OBJECTS / "Makefile").exists():
        run(["cmake", "-G", "Unix Makefiles", "-S", REPOSITORY, "-B", OBJECTS,
             *(f"-D{name}={value}" for name, value in options.items())])  # fmt: skip
    run(["cmake", "--build", OBJECTS, "--parallel", os.cpu_count() or 1])
    shutil.rmtree(PACKAGE, ignore_errors=True)
    source = REPOSITORY / "src" / "graphrefine"
    shutil.copytree(source, PACKAGE / "graphrefine", ignore=shutil.ignore_patterns("native", "page", "*.so"))
    run(["cmake", "--install", OBJECTS, "--prefix", PACKAGE])


def run(command: list[Any], *, required: bool = True) -> str:
    """Run a command, and give what it prints; `CommandError` with its last line if it fails."""
    try:
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except OSError as error:
        raise CommandError(f"{command[0]}: {error.strerror}") from error
    if done.returncode and required:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        lines = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise CommandError(f"{' '.join(map(str, command[:4]))} ...: {lines[-1]}")
    return done.stdout
