"""The same bits on every processor, whatever instructions the kernels, NumPy and BLAS may use; for any threads."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import variants

PROGRAM = Path(variants.__file__)
pytestmark = pytest.mark.timeout(600)


class Way(NamedTuple):
    """What a processor has: instructions of the kernels, of OpenBLAS, and whether NumPy uses any beyond the least."""

    simd: str
    core: str
    numpy: bool
    threads: int


WAYS = [
    Way("avx512", "SkylakeX", True, 2),
    Way("avx2", "Haswell", False, 1),
    Way("baseline", "Nehalem", False, 2),
    Way("avx512", "Nehalem", False, 1),
    Way("baseline", "Haswell", True, 1),
]


def beyond_the_least() -> str:
    """The instruction sets that NumPy would use on this machine, as ``NPY_DISABLE_CPU_FEATURES`` wants them."""
    compiled = import_module("numpy._core._multiarray_umath")
    return " ".join(name for name in compiled.__cpu_dispatch__ if compiled.__cpu_features__[name])


def run(way: Way) -> dict[str, Any]:
    environment = {**os.environ, "GRAPHREFINE_SIMD": way.simd, "PYTHONPATH": str(PROGRAM.parent)}
    environment |= {"OPENBLAS_CORETYPE": way.core, "OPENBLAS_NUM_THREADS": str(way.threads)}
    if not way.numpy:
        environment["NPY_DISABLE_CPU_FEATURES"] = beyond_the_least()
    command = [sys.executable, str(PROGRAM), str(way.threads)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    """What the program says in each way; a way that this machine does not have is the one below it."""
    return [run(way) for way in WAYS]


@pytest.mark.parametrize("case", variants.cases())
def test_bits_are_the_same_in_every_way(results: list[dict[str, Any]], case: str) -> None:
    hashes = {way: result["hashes"][case] for way, result in zip(WAYS, results, strict=True)}
    assert len(set(hashes.values())) == 1, hashes


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the ways are those of x86-64")
def test_the_ways_differ(results: list[dict[str, Any]]) -> None:
    """The control: what is left to NumPy and BLAS has other bits in some of them, so the hashes above could differ."""
    assert "baseline" in {result["simd"] for result in results}
    if "avx512" in {result["simd"] for result in results}:
        assert any(len({result["controls"][name] for result in results}) > 1 for name in ("logarithms", "powers"))
    assert len({result["controls"]["products"] for result in results}) > 1
