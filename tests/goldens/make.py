"""Write the table of vectors: ``PYTHONPATH=tests python -m goldens.make``.

Without options, the column of this machine is computed and put into ``vectors.json`` (the other columns stay). Do that
only with a tree that is known to be right, never to make a failing test pass. ::

    python -m goldens.make            the column of this machine
    python -m goldens.make --all      those of lower instruction sets that this machine can run, too
    python -m goldens.make --check    compare only, with slow rows; says what differs
    python -m goldens.make --only dask

A column is named after the instruction set of the compiled kernels and the kind of core that OpenBLAS has found:
``avx512-SkylakeX``. ``GRAPHREFINE_SIMD=avx2 OPENBLAS_CORETYPE=Haswell`` gives nearly that of a lesser processor:
NumPy's own logarithms still use all that the machine has, and the column's name says so. Bits may also depend on
versions of NumPy, SciPy, scikit-learn and the C library: a column holds for those that are noted in it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from goldens import adapter
from goldens.rows import ROWS, Row

TABLE = Path(__file__).with_name("vectors.json")
LESSER = [("avx2", "Haswell"), ("baseline", "Nehalem")]  # GRAPHREFINE_SIMD and OPENBLAS_CORETYPE
Column = dict[str, Any]  # "made_with": versions by package, "hashes": by row


def column_name() -> str:
    """The column of this process, such as avx512-SkylakeX."""
    import scipy.linalg  # noqa: F401  SciPy has an OpenBLAS of its own

    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    cores = {str(library.get("architecture", "unknown")) for library in libraries}
    kind, names = adapter.instruction_set(), sorted(cores)
    if kind != "avx512" and hasattr(np.lib, "introspect"):  # NumPy 2 or newer
        logarithms = np.lib.introspect.opt_func_info(func_name="^log1p$")["log1p"]
        names += [] if logarithms["dd"]["current"].startswith("baseline") else ["NumPyAVX512"]
    return "-".join([kind, *names])


def versions() -> dict[str, str]:
    """Versions that bits may depend on."""
    names = ("numpy", "scipy", "scikit-learn")
    return {name: version(name) for name in names} | {"libc": " ".join(platform.libc_ver())}


def read_table() -> dict[str, Column]:
    """The table as it is stored: its columns by name."""
    table: dict[str, Column] = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    return table


def find_column() -> tuple[dict[str, str], str]:
    """The hashes of this machine, and why there are none, where there are none."""
    name, way = column_name(), "`PYTHONPATH=tests python -m goldens.make` in a tree known to be right adds it"
    column = read_table().get(name)
    if column is None:
        return {}, f"tests/goldens/vectors.json has no column {name}; {way}"
    if column["made_with"] != versions():
        return {}, f"column {name} was made with {column['made_with']}, and here are {versions()}; {way}"
    hashes: dict[str, str] = column["hashes"]
    return hashes, ""


def compute(rows: list[Row]) -> dict[str, str]:
    """The hashes of rows; those whose graph is not here are left out."""
    hashes = {}
    for row in rows:
        if row.kernel == "native" and adapter.instruction_set() == "none":
            continue
        start = perf_counter()
        try:
            hashes[row.name] = row.hash()
        except LookupError as error:
            print(f"{row.name}: left out: {error}", file=sys.stderr)
            continue
        slow = " (slow)" if row.slow else ""
        print(f"{perf_counter() - start:7.2f} s  {row.name}{slow}  {hashes[row.name][:12]}", flush=True)
    return hashes


def main() -> None:
    """Compute, and write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="columns of lower instruction sets too")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose names hold this")
    options = parser.parse_args()
    hashes = compute([row for row in ROWS.values() if options.only in row.name])
    name = column_name()
    if options.check:
        stored, problem = find_column()
        differing = sorted(row for row in hashes if stored.get(row) != hashes[row])
        equal = f"{name}: {len(hashes) - len(differing)} of {len(hashes)} rows are equal"
        print(problem or equal, *differing, sep="\n")
        sys.exit(bool(problem or differing))
    table = read_table()
    before = table.get(name, {}).get("hashes", {})
    merged = {row: hash for row, hash in {**before, **hashes}.items() if row in ROWS}
    table[name] = {"made_with": versions(), "hashes": dict(sorted(merged.items()))}
    TABLE.write_text(json.dumps(dict(sorted(table.items())), indent=1) + "\n", encoding="utf-8")
    if options.all:
        for simd, core in LESSER:
            command = [sys.executable, "-m", "goldens.make", "--only", options.only]
            subprocess.run(command, check=True, env={**os.environ, "GRAPHREFINE_SIMD": simd, "OPENBLAS_CORETYPE": core})


if __name__ == "__main__":
    main()
