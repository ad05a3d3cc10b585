"""Hashes of rows of the table of vectors (``tests/goldens/covered.py``) on the processor that runs this program.

``check_arm.py`` runs it on x86-64 and, emulated, on ARM. The first line of what it prints describes the processor, and
each of the others is a row, as JSON: ``{"row": "paper/ring", "hash": "6e6b...", "seconds": 0.2}``. Where a row cannot
be computed, its hash says why.
"""

from __future__ import annotations

import json
import platform
import sys
import warnings
from time import perf_counter


def list_covered() -> list[str]:
    """The rows whose vectors have the same bits on every processor, on generated graphs; quick ones.

    >>> rows = list_covered()
    >>> "fast/ring" in rows, "method/line/weighted" in rows, "method/hope/weighted" in rows, "fast/ppi" in rows
    (True, True, False, False)
    """
    from goldens.covered import ROWS
    from goldens.graphs import REAL

    return [name for name, row in ROWS.items() if not row.slow and not name.endswith(REAL)]


def main() -> None:
    """Print the hashes of the rows that the command line names."""
    warnings.simplefilter("ignore")  # about graphs that are made to be odd
    import numpy

    from goldens.covered import ROWS
    from graphrefine.kernels import native

    print(json.dumps({"simd": native.simd(), "machine": platform.machine(), "numpy": numpy.__version__}))
    for name in sys.argv[1:]:
        start = perf_counter()
        try:
            text = ROWS[name].hash()
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        print(json.dumps({"row": name, "hash": text, "seconds": round(perf_counter() - start, 2)}), flush=True)


if __name__ == "__main__":
    main()
