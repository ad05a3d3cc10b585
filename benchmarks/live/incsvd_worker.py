"""Rows appended by IncSVD, in a process of its own, by an interpreter that need not have graphrefine.

    PYTHON benchmarks/live/incsvd_worker.py FIRST.npz LATER.npz DIM

The matrices are SciPy's. Prints the seconds of the processor of a new row: "seconds WAY METHOD SECONDS".
"""

from __future__ import annotations

import sys
import time
from copy import deepcopy
from importlib import import_module
from typing import Any

from scipy.sparse import csr_matrix, load_npz

METHODS: dict[str, dict[str, int]] = {"ZhaSimon": {}, "GKL": {"l": 10}, "RPI": {"l": 10, "t": 2}}


def append(start: Any, rows: csr_matrix, size: int, options: dict[str, int]) -> float:
    matrix = deepcopy(start)
    groups = [csr_matrix(rows[i : i + size]) for i in range(0, rows.shape[0], size)]
    begin = time.process_time()
    for group in groups:
        matrix.add_row(group, **options)
    return (time.process_time() - begin) / rows.shape[0]


def main() -> None:
    EvolvingMatrix = import_module("IncSVD.EvolvingMatrix").EvolvingMatrix

    first, later = (csr_matrix(load_npz(path)) for path in sys.argv[1:3])
    for method, options in METHODS.items():
        start = EvolvingMatrix(first, int(sys.argv[3]), sparse=True, method=method)
        for way, size in (("singly", 1), ("at-once", later.shape[0])):
            if size == 1 and options:
                continue  # one row has the rank 1: nothing to approximate
            print("seconds", way, method, append(start, later, size, options))


if __name__ == "__main__":
    main()
