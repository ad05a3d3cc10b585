"""Embedding in a separate process, with a limit of time and of memory: one failure is an outcome, not the end.

``python -m graphrefine embed ...`` is the child. The parent measures the memory of the child and of all that it
started, several times a second.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import psutil

from graphrefine.system.memory import gigabytes, tree_bytes

Status = Literal["done", "failed", "timeout", "memory", "killed"]
# Seconds between two measurements. One walks the tree of processes, which takes some milliseconds; with fewer of them a
# child that allocates fast is far beyond its limit before it is stopped.
INTERVAL = 0.1
TAIL = 16_384  # bytes of its stderr that are read
PR_SET_PDEATHSIG = 1  # of <sys/prctl.h>
# Looked up here, as little but the call is safe between fork and exec.
_prctl = ctypes.CDLL(None).prctl if sys.platform == "linux" else None
LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """The end of a child.

    The status is "done"; "failed": it gave up, and the message is its error; "timeout", "memory": it went over a limit
    and was stopped; "killed": something else stopped it, such as the system when memory is short.
    """

    status: Status
    message: str  # the reason, unless it is done
    seconds: float | None  # of the computation, without reading and writing, if it is done
    total: float  # seconds from start to end
    peak_bytes: int
    stats: dict[str, Any] = field(default_factory=dict)  # the object that ``graphrefine embed --json`` printed


def run_embed(
    graph_path: str | os.PathLike[str],
    *,
    method: str,
    output: Path,
    dim: int,
    seed: int,
    threads: int,
    directed: bool = False,
    seconds: float | None = None,
    memory: int | None = None,
) -> Outcome:
    """Embed a graph file in a separate process, within limits of time (start and reading included) and of memory.

    The suffix of ``output`` decides the format of the vectors. The limit of memory, in bytes, is for the child and all
    that it starts.
    """
    command = [sys.executable, "-m", "graphrefine", "embed", os.fspath(graph_path)]
    command += ["--method", method, "--dim", str(dim), "--seed", str(seed), "--threads", str(threads)]
    command += ["--directed" if directed else "--undirected", "--json", "-o", os.fspath(output)]
    env = {**os.environ, **dict.fromkeys(LIBRARIES, str(threads))}
    # Files and not pipes: nothing reads while the child runs, and a pipe that is full would stop it.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start, process = time.perf_counter(), None
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
        try:
            process = subprocess.Popen(command, env=env, start_new_session=True, preexec_fn=_end_with_parent, **streams)
            over, peak = _watch(process, start, seconds=seconds, memory=memory)
        finally:  # Ctrl-C, or a limit: the child goes, and all that it started
            if process is not None:
                _end(process)
        total = time.perf_counter() - start
        if over == "timeout":
            return Outcome("timeout", f"not done after {seconds:g} s", None, total, peak)
        if over == "memory":
            message = f"held {gigabytes(peak)}, more than {gigabytes(memory or 0)}"
            return Outcome("memory", message, None, total, peak)
        out.seek(0)
        err.seek(max(0, err.seek(0, os.SEEK_END) - TAIL))
        return _outcome(process.returncode, out.read(), err.read().decode(errors="replace"), total, peak)


def _end_with_parent() -> None:
    """Have Linux kill this process, the child, when its parent ends, however that ends."""
    # A parent that is killed runs no `finally`: without this its child would run on without a limit.
    if _prctl is not None:
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _watch(
    process: subprocess.Popen[bytes], start: float, *, seconds: float | None, memory: int | None
) -> tuple[Status | None, int]:
    """Wait for the end; return the limit that was passed, if any, and the peak memory."""
    peak = 0
    while True:
        with contextlib.suppress(psutil.Error):  # it may end at any moment
            peak = max(peak, tree_bytes(process.pid))
        if memory is not None and peak > memory:
            return "memory", peak
        pause = INTERVAL if seconds is None else min(INTERVAL, start + seconds - time.perf_counter())
        if pause <= 0:
            return "timeout", peak
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            continue
        return None, peak


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child and all that it started; a file that it was writing is in no one's way."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)  # its id is its group's: it began a new session
    process.wait()


def _outcome(code: int, out: bytes, err: str, total: float, peak: int) -> Outcome:
    """Return the outcome of a child that ended by itself, or that something else stopped."""
    if code < 0 or code > 128:  # by the signal, or by the program that caught it
        number = -code if code < 0 else code - 128
        hint = " (out of memory, perhaps)" if number == signal.SIGKILL else ""
        return Outcome("killed", f"ended by signal {number}{hint}", None, total, peak)
    if code or not out:
        # An error of the program is one line; of a bug, the last line of the traceback names it.
        lines = [line for line in err.splitlines() if line.strip()]
        errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
        message = (errors or lines or [f"ended with code {code}, and said nothing"])[-1]
        return Outcome("failed", message, None, total, peak)
    stats = json.loads(out)
    # The child looks at its own memory more often, so that a short peak between two measurements is not missed.
    peak = max(peak, round(stats["peak_mb"] * 1e6))
    return Outcome("done", "", stats["seconds"]["compute"], total, peak, stats)
