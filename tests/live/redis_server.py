"""A real Redis, Debian's ``redis-server``: a server of its own on a socket, ended with the block."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from processes import start_process


@contextmanager
def running() -> Iterator[str]:
    """Start a server, which keeps nothing on the disk; gives its address. Skip where there is none, but fail in CI."""
    program = shutil.which("redis-server")
    if program is None:
        problem = "no redis-server: install Debian's package of that name to test the recipe of a stream"
        if os.environ.get("CI"):
            pytest.fail(problem)
        pytest.skip(problem)
    folder = Path(tempfile.mkdtemp(prefix="redis-"))  # short: a socket's path has at most 107 bytes
    place = folder / "socket"
    options = ["--port", "0", "--unixsocket", str(place), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    try:
        with start_process([program, *options], stdout=subprocess.DEVNULL) as process:
            until = time.monotonic() + 30
            while not place.exists():
                if process.poll() is not None or time.monotonic() > until:
                    pytest.fail("redis-server did not start")
                time.sleep(0.05)
            yield f"unix://{place}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
