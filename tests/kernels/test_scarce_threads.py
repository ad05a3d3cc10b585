"""Kernels where the system starts no more threads: the work is done by those that there are, with the same bits."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux"),
]
RUN = """
import resource, sys, zlib
import numpy as np
from graphrefine.kernels import _native as native

rng = np.random.default_rng(0)
ends = rng.integers(0, 5_000, (2, 120_000), dtype=np.int32)
out, gram = np.empty((5_000, 64), np.float32), np.zeros((2, 64, 64))
x = rng.random((5_000, 64), np.float32)
walks = np.empty((2_000, 40), np.int32)
if sys.argv[1] == "scarce":  # room for some megabytes, and none for the stack of a thread
    taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + int(sys.argv[2]), resource.RLIM_INFINITY))
indptr, indices, *_ = native.build_rows(5_000, *ends, weights=None, directed=False, threads=5)
native.Product(indptr, indices, columns=5_000, constant=1.0).apply(x, out=out, gram=gram, threads=5)
starts = np.arange(2_000, dtype=np.int32)
native.random_walks(indptr, indices, None, starts, walks, seed=1, round=0, p=1.0, q=1.0, threads=5)
print(*(zlib.crc32(each) for each in (indptr, indices, out, gram, walks)))
"""


def run(*arguments: str) -> str:
    environment = {"OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_no_thread_can_be_started() -> None:
    """A stack takes 8 MB of address space. 22 MB are enough for two of them, beside what the kernels need."""
    ample = run("ample")
    assert run("scarce", str(7 << 20)) == run("scarce", str(22 << 20)) == ample
