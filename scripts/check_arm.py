"""Compare vectors of x86-64 with those of ARM, bit by bit, on Debian on x86-64: `make check-arm`.

The package is compiled for ARM and run by an emulator (``arm_root.py``); the rows of ``arm_rows.py`` are computed there
and here, with every variant of the kernels that this processor can run, and compared with the hashes that
``tests/goldens/vectors.json`` has for every processor; tests that hold kernels to oracles are run there. A row whose
hashes differ ends the run with 1, and so does a test that fails.
Where the compiler, the emulator or the packages cannot be had, it says that ARM was NOT tested, and ends with 0,
or with 1 if ``--strict`` is asked for. ::

    python scripts/check_arm.py                  the covered rows
    python scripts/check_arm.py paper/ring ...   these rows
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import arm_root
from arm_rows import list_covered

sys.path.insert(0, str(arm_root.REPOSITORY / "tests"))

from goldens import table

PROGRAM = Path(__file__).with_name("arm_rows.py")
VARIANTS = ("avx512", "avx2", "baseline")  # of x86-64; a processor takes the best that it has up to this one
GOLDENS = "goldens"  # the column of the table of vectors
TESTS = ("test_exact.py", "test_kernels.py")  # of tests/kernels: those with oracles
ENDLESS = 1800  # seconds: something hangs
Column = dict[str, str]  # hashes by row


def main() -> None:
    """Prepare, compute, compare; exit with 1 if a row differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="names of rows; the covered ones if none is named")
    parser.add_argument("--strict", action="store_true", help="fail where ARM cannot be tested")
    options = parser.parse_args()
    start = perf_counter()
    try:
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            raise arm_root.CommandError("this machine is not Linux on x86-64")
        python = arm_root.make_system()
    except arm_root.CommandError as error:
        print(f"ARM was NOT tested: {error}", file=sys.stderr)
        sys.exit(options.strict)
    arm_root.compile_package(python)
    ready = perf_counter()
    columns = compute_columns(options.rows or list_covered())
    differing = print_table(columns)
    done = perf_counter()
    failed = not options.rows and run_tests()
    print(f"prepare {ready - start:.0f} s, rows {done - ready:.0f} s, tests {perf_counter() - done:.0f} s")
    sys.exit(differing > 0 or failed)


def compute_columns(rows: list[str]) -> dict[str, Column]:
    """The hashes of rows, by variant of the kernels; those of ARM take longest, and are shared out among processors."""
    count = os.cpu_count() or 1
    here = {**os.environ, "PYTHONPATH": str(arm_root.REPOSITORY / "tests")}
    jobs = [([arm_root.PYTHON, PROGRAM, *rows[part::count]], dict(os.environ)) for part in range(count)]
    jobs += [([sys.executable, PROGRAM, *rows], {**here, "GRAPHREFINE_SIMD": variant}) for variant in VARIANTS]
    columns: dict[str, Column] = {}
    with ThreadPoolExecutor(count) as pool:
        for description, hashes in pool.map(run_rows, jobs):
            columns.setdefault(description["simd"], {}).update(hashes)
            print("computed: {simd}, {machine}, NumPy {numpy}".format(**description), flush=True)
    stored = table.covered_hashes()
    columns[GOLDENS] = {row: stored.get(row, "not in the table") for row in rows}
    return {name: {row: columns[name][row] for row in rows} for name in sorted(columns)}


def run_rows(job: tuple[list[Any], dict[str, str]]) -> tuple[dict[str, str], Column]:
    """The description of a processor, and hashes by row, as ``arm_rows.py`` prints them."""
    command, environment = job
    done = subprocess.run([*map(str, command)], env=environment, stdout=subprocess.PIPE, text=True, timeout=ENDLESS)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: exit code {done.returncode} after {done.stdout[-200:]!r}")
    description, *rows = map(json.loads, done.stdout.splitlines())
    return description, {row["row"]: row["hash"] for row in rows}


def run_tests() -> bool:
    """Run the tests of kernels on ARM, all files at a time; whether any of them failed."""
    pytest = [arm_root.PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=quick",
              "-m", "not slow", "-k", "not instruction_set", f"--timeout={ENDLESS}"]  # fmt: skip
    commands = [[*map(str, pytest), f"tests/kernels/{name}"] for name in TESTS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(lambda command: subprocess.run(command, cwd=arm_root.REPOSITORY), commands))
    return any(run.returncode for run in runs)


def print_table(columns: dict[str, Column]) -> int:
    """Print a line for each row, with the first letters of its hashes; the number of rows that differ.

    >>> print_table({"avx2": {"one": "abcdefghij", "two": "a"}, "neon": {"one": "abcdefghij", "two": "b"}})
    row                                   avx2      neon      verdict
    one                                   abcdefgh  abcdefgh  equal
    two                                   a         b         DIFFERENT
    1 of 2 rows are equal
    1
    """
    rows = list(next(iter(columns.values())))
    differing = [row for row in rows if not is_equal({column[row] for column in columns.values()})]
    print(f"{'row':36}", *(f"{name:8}" for name in columns), "verdict", sep="  ")
    for row in rows:
        verdict = "DIFFERENT" if row in differing else "equal"
        print(f"{row:36}", *(f"{column[row][:8]:8}" for column in columns.values()), verdict, sep="  ")
    for row in differing:
        for name, column in columns.items():
            if " " in column[row]:
                print(f"{row}, {name}: {column[row]}")
    print(f"{len(rows) - len(differing)} of {len(rows)} rows are equal")
    return len(differing)


def is_equal(hashes: set[str]) -> bool:
    """Whether there is one hash alone, and not the same error everywhere.

    >>> is_equal({"abc"}), is_equal({"abc", "abd"}), is_equal({"KeyError: 'abc'"})
    (True, False, False)
    """
    return len(hashes) == 1 and " " not in next(iter(hashes))


if __name__ == "__main__":
    main()
