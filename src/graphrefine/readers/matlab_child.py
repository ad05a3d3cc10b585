"""MATLAB files in a process of their own: what `mat5` does not read is left to SciPy and h5py, which damage can crash.

The process has limits of memory and time. It gets the file as its standard input and answers with a line of JSON, then
arrays as npy files; nothing is pickled, and the caller checks what comes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from graphrefine.readers.hdf5_variables import SIGNATURE, read_hdf5_variable

PLAIN = (str, int, float, bool)  # values of cells


def main() -> None:
    """Answer the one request that the arguments make: memory, seconds, variable."""
    memory, seconds, variable = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    if _is_hdf5(sys.stdin.buffer):
        import h5py  # noqa: F401  # before the limits, as libraries need memory too
    else:
        import scipy.io  # noqa: F401
    _limit(memory, seconds)
    answer(sys.stdin.buffer, sys.stdout.buffer, variable)


def answer(file: IO[bytes], output: IO[bytes], variable: str) -> None:
    """Write what is known about a variable of a file, and its arrays."""
    arrays: list[Any] = []
    try:
        value, names = read_hdf5_variable(file, variable) if _is_hdf5(file) else _read_scipy(file, variable)
        about, arrays = describe(value)
        about["names"] = names
    except MemoryError:
        about = {"error": "it asks for more memory than there is"}
    except Exception as error:  # on damaged bytes these libraries raise whatever they stumble over
        about = {"error": str(error) or type(error).__name__}
    output.write(json.dumps(about).encode() + b"\n")
    for array in arrays:
        np.lib.format.write_array(output, array, allow_pickle=False)


def _is_hdf5(file: IO[bytes]) -> bool:
    head = file.read(10)
    file.seek(0)
    return head.startswith((b"MATLAB 7.3", SIGNATURE))


def _limit(memory: int, seconds: int) -> None:
    """Limits of this process, where the system has them; memory beyond what is in use."""
    try:
        import resource
    except ImportError:  # Windows
        return
    try:
        used = int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    except OSError:  # no Linux: what libraries reserve is not known
        used = 1 << 33
    for kind, most in ((resource.RLIMIT_AS, used + memory), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _read_scipy(file: IO[bytes], variable: str) -> tuple[Any, list[str]]:
    """The value of a variable, None if there is none; no other is decoded. And the names of all, if they are needed."""
    from scipy.io import loadmat, whosmat

    value = loadmat(cast("Any", file), variable_names=[variable]).get(variable)
    if getattr(getattr(value, "dtype", None), "kind", "O") in "biufc":
        return value, []
    file.seek(0)
    return value, [str(name) for name, *_ in whosmat(cast("Any", file))]


def describe(value: Any) -> tuple[dict[str, Any], list[Any]]:
    """A value as JSON and arrays: a matrix, an array of numbers or texts, cells of plain values, or nothing of these.

    Examples
    --------
    >>> cells = np.empty((1, 2), object)
    >>> cells[0, 0], cells[0, 1] = np.array(["red"]), np.array(["blue"])
    >>> describe(cells)
    ({'kind': 'cells', 'shape': [1, 2], 'cells': ['red', 'blue']}, [])
    """
    if value is None:
        return {"kind": "missing"}, []
    if hasattr(value, "tocsc"):
        matrix = value.tocsc()
        return {"kind": "sparse", "shape": list(matrix.shape)}, [matrix.data, matrix.indices, matrix.indptr]
    array = np.asarray(value)
    if array.dtype.kind in "biufcU":
        return {"kind": "array"}, [array]
    if array.dtype.kind == "O":
        cells = [_plain(cell) for cell in array.ravel().tolist()]
        if all(isinstance(cell, (list, *PLAIN)) for cell in cells):
            return {"kind": "cells", "shape": list(array.shape), "cells": cells}, []
    return {"kind": "other"}, []


def _plain(cell: Any) -> Any:
    """A cell as a value or a list of some; None for anything else."""
    if isinstance(cell, np.ndarray) and cell.dtype.kind in "biufU":
        values = cell.tolist()
        return values[0] if cell.shape == (1,) else values
    return cell if isinstance(cell, PLAIN) else None
