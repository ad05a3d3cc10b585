"""A process that embeds one graph again and again, as it is told on standard input: for timings of other installations.

    PYTHON benchmarks/compute_worker.py GRAPH

Each line of input is a JSON object of settings (``preset``, ``quality``, ``threads``); the answer is one with the wall
and the processor's seconds of the computation alone. `Worker` starts such a process, by the Python of any installation.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple


class Seconds(NamedTuple):
    """Time of a run."""

    wall: float
    cpu: float  # of all threads, user and system


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> Seconds:
        """The time until now."""
        return Seconds(time.perf_counter() - self._wall, time.process_time() - self._cpu)


class Worker:
    """A process with a graph in memory, of the installation that a Python belongs to."""

    def __init__(self, python: str, graph: Path) -> None:
        self._python, command = python, [python, __file__, str(graph)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = str(self._answer()["version"])

    def run(self, **settings: Any) -> Seconds:
        """The time of an embedding with these settings."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(settings) + "\n")
        self._process.stdin.flush()
        return Seconds(**self._answer())

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=60)

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"the worker of {self._python} ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def serve(path: str) -> None:
    """Embed the graph once for every line of input."""
    import graphrefine
    from graphrefine.methods.registry import make_settings
    from graphrefine.pipeline.embed_run import embed_graph

    graph = graphrefine.read(path)
    print(json.dumps({"version": graphrefine.__version__}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        threads, preset = request.pop("threads"), request.pop("preset", None)
        settings = make_settings("refine", preset, **request)
        watch = Stopwatch()
        embed_graph(graph, settings, threads=threads)
        print(json.dumps(watch.read()._asdict()), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
