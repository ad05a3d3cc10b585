"""The table of vectors, ``vectors.json``: one hash for each covered row, and a column for each kind of processor.

::

    {"arithmetic 1": {"fast/ring": hash, ...},                     on every processor, with any versions
     "processors": {"avx512-SkylakeX": {"made_with": versions, "hashes": {"native/learn/ring": hash, ...}}, ...}}

A column is named after the instruction set of the compiled kernels and the kind of core that OpenBLAS has found.
``GRAPHREFINE_SIMD=avx2 OPENBLAS_CORETYPE=Haswell`` gives nearly that of a lesser processor: NumPy's own logarithms
still use all that the machine has, and the column's name says so. Its bits may also depend on versions of NumPy, SciPy,
scikit-learn and the C library: a column holds for those that are noted in it.
"""

from __future__ import annotations

import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from graphrefine.kernels import native
from graphrefine.kernels.numerics import NUMERICS_VERSION

PATH = Path(__file__).with_name("vectors.json")
PROCESSORS = "processors"
WAY_OUT = "`PYTHONPATH=tests python -m goldens.make` in a tree known to be right adds it"
Table = dict[str, Any]


def read_table() -> Table:
    """Return the table as it is stored."""
    table: Table = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    return table


def write_table(table: Table) -> None:
    """Store the table, its rows and columns sorted, in one step: tests may read it meanwhile."""
    hidden = PATH.with_name(f".{PATH.name}")
    hidden.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    hidden.replace(PATH)


def arithmetic_name() -> str:
    """Return the name of the hashes that hold on every processor."""
    return f"arithmetic {NUMERICS_VERSION}"


def covered_hashes() -> dict[str, str]:
    """Return the hashes of covered rows."""
    hashes: dict[str, str] = read_table().get(arithmetic_name(), {})
    return hashes


def local_hashes() -> tuple[dict[str, str], str]:
    """Return the hashes of rows of one kind of processor, this one; and why there are none, where there are none."""
    name = column_name()
    column = read_table().get(PROCESSORS, {}).get(name)
    if column is None:
        return {}, f"tests/goldens/vectors.json has no column {name}; {WAY_OUT}"
    if column["made_with"] != versions():
        return {}, f"column {name} was made with {column['made_with']}, and here are {versions()}; {WAY_OUT}"
    hashes: dict[str, str] = column["hashes"]
    return hashes, ""


def column_name() -> str:
    """Return the column of this process, such as avx512-SkylakeX."""
    import scipy.linalg  # noqa: F401  SciPy has an OpenBLAS of its own

    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    cores = {str(library.get("architecture", "unknown")) for library in libraries}
    kind, names = str(native.simd()), sorted(cores)
    if kind != "avx512" and hasattr(np.lib, "introspect"):  # NumPy 2 or newer
        logarithms = np.lib.introspect.opt_func_info(func_name="^log1p$")["log1p"]
        names += [] if logarithms["dd"]["current"].startswith("baseline") else ["NumPyAVX512"]
    return "-".join([kind, *names])


def versions() -> dict[str, str]:
    """Return versions that the bits of a column may depend on."""
    names = ("numpy", "scipy", "scikit-learn")
    return {name: version(name) for name in names} | {"libc": " ".join(platform.libc_ver())}
