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
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
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
    found = importlib.util.find_spec("pgserver")
    if found is None or not found.submodule_search_locations:
        problem = "PostgreSQL with pgvector is not here; pip install pgserver"
        if os.environ.get("CI") and HAS_WHEEL:
            pytest.fail(problem)
        pytest.skip(problem)
    programs = Path(found.submodule_search_locations[0]) / "pginstall" / "bin"
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has at most 107 bytes
    try:
        as_user = _as_user(folder)
        initialise = [
            programs / "initdb",
            "-D",
            folder / "data",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--locale=C",
            "-A",
            "trust",
        ]
        subprocess.run([*initialise, "--no-sync"], check=True, capture_output=True, timeout=60, cwd=folder, **as_user)  # type: ignore[call-overload]
        options = [
            "-c",
            "listen_addresses=",
            "-c",
            f"unix_socket_directories={folder}",
            "-c",
            "shared_buffers=16MB",
            "-F",
        ]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(  # type: ignore[call-overload]
                [programs / "postgres", "-D", folder / "data", *options], stdout=log, stderr=log, cwd=folder, **as_user
            )
        try:
            server = Server(programs, folder)
            _wait_for(server, process)
            yield server
        finally:
            process.terminate()
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_user(folder: Path) -> dict[str, object]:
    """How the server's processes are started: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 30
    while server.psql("-c", "SELECT 1").returncode:
        if process.poll() is not None or time.monotonic() > until:
            pytest.fail(f"PostgreSQL did not start:\n{(server.folder / 'log').read_text()}")
        time.sleep(0.05)
