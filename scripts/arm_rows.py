"""Hashes of rows of the table of vectors (``tests/goldens/rows.py``) on the processor that runs this program.

``check_arm.py`` runs it on x86-64 and, emulated, on ARM. The first line of what it prints describes the processor, and
each of the others is a row, as JSON: ``{"row": "paper/ring", "hash": "6e6b...", "seconds": 0.2}``. Where a row cannot
be computed, its hash says why.
"""

from __future__ import annotations

import json
import platform
import sys
import warnings
from collections.abc import Iterator
from time import perf_counter

GRAPHS = ("ring", "blocks", "weighted", "isolated")
METHODS = ("refine", "rbqr", "deepwalk", "node2vec", "line", "pte")


def list_covered() -> Iterator[str]:
    """The rows whose vectors have the same bits on every processor.

    >>> rows = list(list_covered())
    >>> rows[0], "method/line/weighted" in rows, "method/hope/weighted" in rows
    ('paper/ring', True, False)
    """
    for tier in ("paper", "fast", "default", "best"):
        yield from (f"{tier}/{graph}" for graph in GRAPHS)
    for method in METHODS:
        yield from (f"method/{method}/{graph}" for graph in GRAPHS[1:])
        yield f"directed/{method}"
    yield from (f"directed/{tier}" for tier in ("paper", "fast", "default"))
    yield from (f"bipartite/{tier}" for tier in ("fast", "default"))
    yield from (f"features/{name}" for name in ("isolated", "default"))
    yield from (f"filter/{name}" for name in ("none", "taylor", "heat", "markov", "pagerank", "0,-1,-2,1"))
    variants = ("float32", "one-sided", "no-log-weights", "block-8-power-2", "negative-5-exponent-1")
    yield from (f"setting/{name}" for name in variants)
    yield from ("threads/default", "threads/deepwalk", "command/blocks")


def main() -> None:
    """Print the hashes of the rows that the command line names."""
    warnings.simplefilter("ignore")  # about graphs that are made to be odd
    import numpy

    from goldens import adapter
    from goldens.rows import ROWS

    print(json.dumps({"simd": adapter.instruction_set(), "machine": platform.machine(), "numpy": numpy.__version__}))
    for name in sys.argv[1:]:
        start = perf_counter()
        try:
            text = ROWS[f"native/{name}"].hash()
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        print(json.dumps({"row": name, "hash": text, "seconds": round(perf_counter() - start, 2)}), flush=True)


if __name__ == "__main__":
    main()
