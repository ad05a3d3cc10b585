"""Provenance of published numbers: the machine, the versions, the command, the date."""

from __future__ import annotations

import functools
import platform
import re
import shlex
import sys
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from graphrefine import __version__
from graphrefine.system.threads import usable_threads


def provenance() -> dict[str, Any]:
    """Return version, machine, command and date, for ``results.json``."""
    return {
        "version": __version__,
        "machine": machine(),
        "command": command(),
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
    }


def machine() -> dict[str, Any]:
    """Return hardware and software that results depend on. No name of the machine or its user.

    Examples
    --------
    >>> sorted(machine())
    ['cores', 'cpu', 'memory_gb', 'numpy', 'os', 'python', 'scikit-learn', 'scipy']
    """
    import psutil

    packages = {name: _version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {
        "cpu": _processor(),
        "cores": usable_threads(None),
        "memory_gb": round(psutil.virtual_memory().total / 1e9, 1),
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **packages,
    }


@functools.cache
def identify_machine() -> str:
    """Return processor and number of cores, on which times depend."""
    facts = machine()
    return f"{facts['cpu']}, {facts['cores']} cores"


def describe_machine(facts: dict[str, Any]) -> str:
    """Describe the machine in a line."""
    cores, memory = facts["cores"], facts["memory_gb"]
    hardware = [facts["cpu"], f"{cores} core{'s' * (cores != 1)}", memory and f"{memory:g} GB", facts["os"]]
    software = [f"{name} {facts[name]}" for name in list(facts)[4:] if facts[name]]
    return "; ".join([", ".join(part for part in hardware if part), ", ".join(software)])


def command() -> str | None:
    """Return the command line, if the program was run as one; of files elsewhere on the machine, the name alone."""
    if not re.search(r"graphrefine|__main__\.py$|cli\.py$", sys.argv[0]):
        return None
    words = (re.sub(r"^(-{1,2}[\w-]+=|-\w)?([/~]|[A-Za-z]:[\\/]).*?([^/\\]+)[/\\]*$", r"\1\3", w) for w in sys.argv[1:])
    return shlex.join(["graphrefine", *words])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
