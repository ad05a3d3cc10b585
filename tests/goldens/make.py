"""Write the table of vectors: ``PYTHONPATH=tests python -m goldens.make``.

Covered rows that the table does not have yet are added under the version of the arithmetic; the column of this machine
is computed again (other columns stay). A covered row that has another hash than in the table is refused: a bit that
changes is a new version of the arithmetic. ``--renew`` replaces hashes all the same, of an arithmetic that was never
released. Do any of it only with a tree that is known to be right, never to make a failing test pass. ::

    python -m goldens.make            covered rows, and the column of this machine
    python -m goldens.make --all      columns of lower instruction sets that this machine can run, too; covered rows
                                      are computed with each of them, and must have the same hashes
    python -m goldens.make --only dask
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from time import perf_counter

from goldens import covered, local
from goldens.table import PROCESSORS, arithmetic_name, column_name, covered_hashes, read_table, versions, write_table

LESSER = [("avx2", "Haswell"), ("baseline", "Nehalem")]  # GRAPHREFINE_SIMD and OPENBLAS_CORETYPE
Hashes = dict[str, str]


def main() -> None:
    """Compute, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="columns of lower instruction sets too")
    parser.add_argument("--renew", action="store_true", help="replace hashes of covered rows, too")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose names hold this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # about graphs that are made to be odd
    rows: dict[str, covered.Row | local.Row] = {**covered.ROWS, **local.ROWS}
    hashes = compute({name: row.hash for name, row in rows.items() if options.only in name})
    ours = {name: hashes[name] for name in hashes.keys() & covered.ROWS.keys()}
    theirs = {name: hashes[name] for name in hashes.keys() & local.ROWS.keys()}
    differing = [row for row in ours if covered_hashes().get(row, ours[row]) != ours[row]]
    if differing and not options.renew:
        sys.exit(f"{arithmetic_name()}: other bits with {column_name()} than in the table: {', '.join(differing)}")
    write(ours, theirs)
    if options.all:
        for simd, core in LESSER:
            command = [sys.executable, "-m", "goldens.make", "--only", options.only]
            subprocess.run(command, check=True, env={**os.environ, "GRAPHREFINE_SIMD": simd, "OPENBLAS_CORETYPE": core})


def compute(rows: dict[str, Callable[[], str]]) -> Hashes:
    """Return hashes by row; rows whose graph is not here are left out."""
    hashes = {}
    for name, hash_row in rows.items():
        start = perf_counter()
        try:
            hashes[name] = hash_row()
        except LookupError as error:
            print(f"{name}: left out: {error}", file=sys.stderr)
            continue
        print(f"{perf_counter() - start:7.2f} s  {name}  {hashes[name][:12]}", flush=True)
    return hashes


def write(ours: Hashes, theirs: Hashes) -> None:
    """Put hashes into the table; those of rows that are no more go."""
    table, name = read_table(), column_name()
    hashes = {**table.get(arithmetic_name(), {}), **ours}
    table[arithmetic_name()] = {row: hash for row, hash in hashes.items() if row in covered.ROWS}
    columns = table.setdefault(PROCESSORS, {})
    column = {**columns.get(name, {}).get("hashes", {}), **theirs}
    rows = {row: hash for row, hash in column.items() if row in local.ROWS}
    columns[name] = {"made_with": versions(), "hashes": rows}
    write_table(table)


if __name__ == "__main__":
    main()
