"""Find the function of graphrefine in which the vectors of two processors part.

``python scripts/trace_row.py fast/ring`` computes a row of the table of vectors here and, emulated, on ARM, after
``make check-arm`` has made what that needs; ``--simd baseline avx2`` compares two variants of the kernels here instead.
In both runs every call of a function of the package leaves a hash of its arguments and one of its result (with arrays
that it writes into). The first call whose result differs is printed, with the calls around it: the innermost one, since
a function returns before its caller does. Where its arguments differ too, something outside of the package's Python
made the difference: an expression of the caller, before the call.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
ARM = ROOT / "build" / "arm" / "python"
DEPTH = 4  # of objects in objects that are hashed
FOLDERS = ("embedding", "engine", "graph", "kernels", "linalg", "methods", "refine", "readers")  # what makes vectors
Call = tuple[str, str, str, list[str]]  # function, hash of arguments, hash of the result, callers


def hash_value(value: Any) -> str:
    """A hash of what a value holds: arrays and numbers to the last bit, other objects by their arrays.

    Numbers in objects are left out: sizes of memory and times are other ones in every run.

    >>> hash_value([1.0, np.zeros(2)]) == hash_value([1.0, np.zeros(2)]), hash_value(1.0) == hash_value(1.0 + 3e-16)
    (True, False)
    """
    digest = hashlib.sha256()
    for part in _parts(value, DEPTH):
        digest.update(part)
    return digest.hexdigest()[:12]


def _parts(value: Any, depth: int) -> Iterator[bytes]:
    """The bytes of a value, and of what it holds."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield repr((value.dtype.str, value.shape)).encode() + np.ascontiguousarray(value).tobytes()
    elif isinstance(value, float | np.floating):
        yield float(value).hex().encode()
    elif depth and isinstance(value, list | tuple):
        for each in value:
            yield from _parts(each, depth - 1)
    elif depth and isinstance(value, dict):
        for each in value.values():
            yield from _parts(each, depth - 1)
    elif depth and type(value).__module__.startswith(("graphrefine", "scipy.sparse")):
        fields = getattr(value, "__dict__", {})
        yield from _parts([each for each in fields.values() if not isinstance(each, float)], depth - 1)


class Tracer:
    """A function for ``sys.setprofile`` that lists calls in the order in which they return."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._open: list[tuple[FrameType, str, str]] = []

    def __call__(self, frame: FrameType, event: str, result: Any) -> None:
        """Note a call or a return of a function of the package; others are let pass."""
        module = frame.f_code.co_filename.rpartition("/graphrefine/")[2]
        if event == "call" and module.startswith(FOLDERS):
            self._open.append((frame, f"{module}: {frame.f_code.co_qualname}", hash_value(_arguments(frame))))
        elif event == "return" and self._open and self._open[-1][0] is frame:
            _, name, before = self._open.pop()
            after = hash_value([result, _arguments(frame)])
            self.calls.append((name, before, after, [caller for _, caller, _ in self._open]))


def _arguments(frame: FrameType) -> list[Any]:
    """The values of the arguments of a call, as they are at this moment."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    return [frame.f_locals[name] for name in code.co_varnames[:count] if name in frame.f_locals]


def trace(row: str) -> None:
    """Compute a row, and print its calls as JSON, one a line."""
    from goldens.covered import ROWS

    warnings.simplefilter("ignore")
    for name in ("empty", "empty_like"):  # memory that is not written yet must agree too
        setattr(np, name, getattr(np, name.replace("empty", "zeros")))
    tracer = Tracer()
    sys.setprofile(tracer)
    try:
        ROWS[row].hash()
    finally:
        sys.setprofile(None)
    for call in tracer.calls:
        print(json.dumps(call))


def run_trace(job: tuple[str, dict[str, str], str]) -> list[Call]:
    """The calls of a row, computed by another process."""
    program, variables, row = job
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), **variables}
    command = [program, __file__, "--trace", row]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


def find_difference(one: list[Call], two: list[Call]) -> int | None:
    """The place of the first call that differs; None where all agree.

    >>> find_difference([("f", "1", "2", [])], [("f", "1", "3", [])])
    0
    """
    places = (place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b)
    return next(places, None if len(one) == len(two) else min(len(one), len(two)))


def main() -> None:
    """Trace a row twice, and print where the two part; exit with 1 if they do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("row")
    parser.add_argument("--trace", action="store_true", help="of one run: print its calls as JSON")
    parser.add_argument("--simd", nargs=2, metavar="VARIANT", help="two variants of x86-64 instead of ARM")
    options = parser.parse_args()
    if options.trace:
        trace(options.row)
        return
    jobs = [(sys.executable, {"GRAPHREFINE_SIMD": simd}, options.row) for simd in options.simd or ()]
    jobs = jobs or [(sys.executable, {}, options.row), (str(ARM), {}, options.row)]
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(run_trace, jobs)
    place = find_difference(one, two)
    if place is None:
        print(f"{options.row}: {len(one)} calls, all equal")
        return
    for step in range(max(place - 3, 0), min(place + 3, len(one), len(two))):
        (name, *before), (other, *after) = one[step][:3], two[step][:3]
        verdict = "other call" if name != other else "equal" if before == after else "DIFFERENT"
        inputs = "arguments equal" if before[0] == after[0] else "arguments differ"
        print(f"{step:5}  {verdict:10}  {name}" + (f"  ({inputs})" if verdict == "DIFFERENT" else ""))
    print("called by:", *reversed(one[place][3] if place < len(one) else []), sep="\n  ")
    sys.exit(1)


if __name__ == "__main__":
    main()
