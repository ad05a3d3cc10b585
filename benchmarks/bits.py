"""The bits of vectors by instruction set, by threads, in memory, on disk and on Dask: one hash for each row, or not.

    python benchmarks/bits.py                    all rows; those on PPI need GRAPHREFINE_DATA
    python benchmarks/bits.py --only line        rows whose names hold this
    python benchmarks/bits.py --json             whole hashes
    python benchmarks/bits.py --break AVX2       the control: one number of that column has another last bit

A cell has the first digits of a hash (``tests/goldens/hashes.py``) of names and vectors. "-" stands where there is no
such way: walk methods, features and the vectors of two sides are made in memory; this processor may have no AVX-512;
and ARM is emulated, in the system that ``make check-arm`` leaves below ``build/arm``. A difference ends the run with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bits_worker import FILES, ROWS, SEPARATOR
from common import machine

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import arm_root

WORKER = Path(__file__).with_name("bits_worker.py")
SETS = {"baseline": "plain", "avx2": "AVX2", "avx512": "AVX-512", "neon": "ARM"}  # by the kernels' own names
WAYS = ("1 thread", "2 threads", "4 threads", "memory", *FILES)
COLUMNS = (*SETS.values(), *WAYS)
DIGITS = 7
NONE = "-"
Cells = dict[str, str]  # hashes by column


def main() -> None:
    """Compute all cells, print the table, and exit with 1 if a row has two hashes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose names hold this")
    parser.add_argument("--json", action="store_true", help="print an object, with whole hashes")
    parser.add_argument("--no-arm", action="store_true", help="leave ARM out")
    parser.add_argument("--break", dest="broken", choices=COLUMNS, help="the control: change a bit of this column")
    options = parser.parse_args()
    rows = list_names(options.only)
    if not rows:
        sys.exit(f"--only {options.only!r}: no row has that in its name; the rows are {'; '.join(ROWS)}")
    table = compute_table(rows, arm=not options.no_arm, broken=options.broken)
    differing = [name for name, cells in table.items() if judge(cells.values()) != "one hash"]
    if options.json:
        print(json.dumps({"machine": machine(), "rows": table, "differing": differing}, indent=1))
    else:
        print(machine(), *format_table(table), sep="\n")
        print(f"\n{len(table) - len(differing)} of {len(table)} rows have one hash")
    sys.exit(bool(differing))


def list_names(only: str) -> list[str]:
    """The names of rows that hold a text; those on PPI only where it is here."""
    here = (Path(os.environ.get("GRAPHREFINE_DATA", "/nowhere")) / "ppi.mat").exists()
    if not here:
        print("GRAPHREFINE_DATA is not set, or has no ppi.mat: generated graphs alone", file=sys.stderr)
    return [name for name in ROWS if only in name and (here or "PPI" not in name)]


def compute_table(rows: list[str], *, arm: bool, broken: str | None) -> dict[str, Cells]:
    """The cells of rows; a column that there is not here has none."""
    table: dict[str, Cells] = {name: {} for name in rows}
    for simd, column in SETS.items():
        program = find_program(simd, arm=arm)
        if program is None:
            continue
        found, hashes = run_worker(program, rows, ("memory",), simd=simd, broken=broken == column)
        if found == simd:  # a processor that has it not takes the next lower one
            for name, _, value in hashes:
                table[name][column] = value
    for group in split_ways(broken):
        for name, way, value in run_worker(sys.executable, rows, group, broken=broken in group)[1]:
            table[name][way] = value
    return table


def split_ways(broken: str | None) -> list[tuple[str, ...]]:
    """The ways that a worker computes: all of them, the one that is to be broken apart.

    >>> split_ways(None) == [WAYS], split_ways("disk")[1]
    (True, ('disk',))
    """
    rest = tuple(way for way in WAYS if way != broken)
    return [rest] if len(rest) == len(WAYS) else [rest, (str(broken),)]


def find_program(simd: str, *, arm: bool) -> str | None:
    """The Python that may have an instruction set; None for ARM where ``make check-arm`` has not made an emulated one.

    The emulated one gets the package as it is now.
    """
    if simd != "neon" or platform.machine() in ("aarch64", "arm64"):
        return sys.executable
    if not arm or not arm_root.PYTHON.exists():
        return None
    arm_root.compile_package(arm_root.describe_python())
    return str(arm_root.PYTHON)


def run_worker(
    program: str, rows: list[str], ways: Iterable[str], *, simd: str | None = None, broken: bool = False
) -> tuple[str, list[Any]]:
    """The instruction set of a worker, and its hashes: rows, ways and values."""
    command = [program, str(WORKER), SEPARATOR.join(rows), SEPARATOR.join(ways), *["--break"] * broken]
    environment = os.environ if simd in (None, "neon") else {**os.environ, "GRAPHREFINE_SIMD": str(simd)}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found, *hashes = map(json.loads, done.stdout.splitlines())
    return found, hashes


def judge(hashes: Iterable[str]) -> str:
    """What the hashes of a row are.

    >>> judge(["ab", "ab"]), judge(["ab", "ac"])
    ('one hash', 'DIFFERS')
    """
    return "one hash" if len(set(hashes)) == 1 else "DIFFERS"


def format_table(table: dict[str, Cells]) -> list[str]:
    """The lines of the table.

    >>> for line in format_table({"fast, ring": {"plain": "0123456789", "memory": "0123456780"}}):
    ...     print(" ".join(line.split()))
    row plain AVX2 AVX-512 ARM 1 thread 2 threads 4 threads memory disk dask
    fast, ring 0123456 - - - - - - 0123456 - - DIFFERS
    """
    widths = {column: max(len(column), DIGITS) for column in COLUMNS}
    first = max(map(len, table))
    head = "  ".join([f"{'row':{first}}", *(f"{column:{width}}" for column, width in widths.items())])
    lines = [head.rstrip()]
    for name, cells in table.items():
        digits = (f"{cells.get(column, NONE)[:DIGITS]:{width}}" for column, width in widths.items())
        lines.append("  ".join([f"{name:{first}}", *digits, judge(cells.values())]))
    return lines


if __name__ == "__main__":
    main()
