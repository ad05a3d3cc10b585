"""A real PostgreSQL with pgvector, from the wheel `pgserver`: a server of its own on a socket, ended with the session.

Only the programs of the wheel are used. Its own way to start them makes a system user and changes permissions where
the session is root's; here the server runs as `nobody` then.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

HAS_WHEEL = sys.version_info < (3, 13)  # pgserver has none for newer Pythons


class Server:
    """Where a server is, and its programs."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder

    def address(self, user: str = "postgres", database: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={quote(str(self.folder), safe='')}"

    def psql(self, *arguments: str | Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
        command = [self.programs / "psql", "-X", "-q", "-A", "-t", "-d", self.address(), *arguments]
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, env=environment)


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """Start a server, and end it; skip where there can be none, but fail in CI."""
    installed = _installed()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has at most 107 bytes
    try:
        as_user = _as_user(folder)
        programs = _reachable(installed, folder, as_user) / "pginstall" / "bin"
        data = f"-D {folder}/data -U postgres -E UTF8 --locale=C -A trust --no-sync".split()
        subprocess.run([programs / "initdb", *data], check=True, capture_output=True, timeout=60, cwd=folder, **as_user)
        options = f"-D {folder}/data -F -c listen_addresses= -c unix_socket_directories={folder}".split()
        command = [str(programs / "postgres"), *options, "-c", "shared_buffers=16MB"]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **as_user)
        try:
            server = Server(programs, folder)
            _wait_for(server, process)
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # without waiting for clients
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _installed() -> Path:
    found = importlib.util.find_spec("pgserver")
    if found is not None and found.submodule_search_locations:
        return Path(found.submodule_search_locations[0])
    problem = "PostgreSQL with pgvector is not here; pip install pgserver"
    if os.environ.get("CI") and HAS_WHEEL:
        pytest.fail(problem)
    pytest.skip(problem)


def _as_user(folder: Path) -> dict[str, Any]:
    """How the server's processes are started: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _reachable(installed: Path, folder: Path, as_user: dict[str, Any]) -> Path:
    """The wheel's folder, or a copy where the other user may not look into it."""
    with contextlib.suppress(OSError):
        asked = [str(installed / "pginstall" / "bin" / "postgres"), "--version"]
        if subprocess.run(asked, capture_output=True, timeout=60, cwd=folder, **as_user).returncode == 0:
            return installed
    libraries = installed.with_name("pgserver.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, folder / "pgserver.libs")
    return Path(shutil.copytree(installed, folder / "pgserver", ignore=shutil.ignore_patterns("include")))


def _wait_for(server: Server, process: subprocess.Popen[Any]) -> None:
    until = time.monotonic() + 60
    while server.psql("-c", "SELECT 1").returncode:
        if process.poll() is not None or time.monotonic() > until:
            pytest.fail(f"PostgreSQL did not start:\n{(server.folder / 'log').read_text()}")
        time.sleep(0.05)
