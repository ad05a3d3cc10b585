"""What the benchmarks of ``graphrefine explore`` share: a server in a process of its own, and a client of few words."""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any


class Served:
    """``graphrefine explore`` in a process of its own, until the end of the block."""

    def __init__(self, *arguments: str | Path) -> None:
        typed = [sys.executable, "-m", "graphrefine", "explore", *map(str, arguments), "--no-browser", "--json"]
        self.process = subprocess.Popen(typed, stdout=subprocess.PIPE)

    def __enter__(self) -> Served:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit("graphrefine explore did not start")
        self.port = int(json.loads(line)["port"])
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.terminate()
        self.process.wait(30)

    def info(self) -> dict[str, Any]:
        """What it tells about itself."""
        found = fetch(self.port, "/api/info")
        assert found is not None
        told: dict[str, Any] = json.loads(found)
        return told

    def memory(self) -> int:
        """Bytes that it holds that are not a file's."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))


def read_options(description: str | None) -> argparse.Namespace:
    """Size of the embedding, and number of runs, from the command line."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


def fetch(port: int, path: str) -> bytes | None:
    """What an address gives; None if the server is not there, or not ready."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        content = answer.read()
        return content if answer.status == 200 else None
    except ConnectionError:
        return None
    finally:
        connection.close()
