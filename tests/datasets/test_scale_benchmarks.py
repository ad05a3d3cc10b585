"""What the benchmarks at scale measure with: a tree's memory from outside, kills, sizes."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "scale"

sys.path.append(str(SCRIPTS))
measuring = pytest.importorskip("measuring", reason="the benchmarks are not here")
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
HOLDS = "import time; held = b'x' * ({mb} * 10**6); time.sleep({seconds})"


def test_the_peak_is_that_of_the_whole_tree() -> None:
    below = HOLDS.format(mb=60, seconds=0.6)
    program = f"import subprocess, sys; held = b'x' * (40 * 10**6); subprocess.run([sys.executable, '-c', {below!r}])"
    run = measuring.watch([sys.executable, "-c", program]).must()
    assert 100e6 < run.peak < 160e6
    assert 0.6 < run.seconds < 30


def test_a_killed_command_leaves_no_child() -> None:
    below = HOLDS.format(mb=1, seconds=60)
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {below!r}])"

    def end(root: int) -> None:
        until = time.monotonic() + 30
        while len(measuring.processes(root)) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        measuring.kill(root)

    run = measuring.watch([sys.executable, "-c", program], after=0, then=end)
    assert run.code == -9 and run.seconds < 60
