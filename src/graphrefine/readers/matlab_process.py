"""Variables of MATLAB files by the process of `matlab_child`: its start, its limits, and checks of its answer."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from graphrefine.errors import FormatError, MissingExtraError
from graphrefine.readers.hdf5_variables import SIGNATURE
from graphrefine.readers.limits import unpacked_limit
from graphrefine.readers.npy import check_compressed
from graphrefine.readers.source import Source

SECONDS = 60.0  # and one more for each of so many bytes
SPEED = 1_000_000
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from graphrefine.readers.matlab_child import main; main()"
)


def read_by_process(source: Source, variable: str, *, way_out: str = "") -> Any:
    """The value of a variable: a sparse matrix, or an array of numbers, texts or cells.

    One of another kind comes as an empty array of objects. ``way_out`` ends the error for one that is not there.
    """
    hdf5 = is_hdf5(source)
    if hdf5 and find_spec("h5py") is None:
        raise MissingExtraError("reading MATLAB files of version 7.3", "h5py", "hdf5")
    about: dict[str, Any]
    with TemporaryFile() as file, TemporaryFile() as answer:
        file.write(source.data)
        file.seek(0)
        problem = _run(file, answer, variable, SECONDS + len(source.data) // SPEED)
        answer.seek(0)
        try:
            about, value = _take(answer) if problem is None else ({"error": problem}, None)
        except (ValueError, KeyError, TypeError, IndexError, MemoryError) as error:
            about, value = {"error": f"the answer about it is damaged: {error}"}, None
    if "error" in about and hdf5:
        raise source.error(
            f"this is a MATLAB file of version 7.3 that cannot be read: {about['error']}; save it in MATLAB with '-v7'"
        )
    if "error" in about:
        raise source.error(f"this is not a readable MATLAB file: {about['error']}")
    if value is None:
        raise missing_variable(source, variable, list(map(str, about["names"])), way_out)
    return value


def is_hdf5(source: Source) -> bool:
    """Whether a MATLAB file is of version 7.3."""
    return source.data.startswith((b"MATLAB 7.3", SIGNATURE))


def missing_variable(source: Source, variable: str, names: list[str], way_out: str) -> FormatError:
    """The error for a variable that is not there."""
    listed = ", ".join(map(repr, names)) or "none"
    return source.error(f"there is no variable {variable!r}; the variables are {listed}{way_out}", argument="variable")


def _run(file: IO[bytes], answer: IO[bytes], variable: str, seconds: float) -> str | None:
    """Run the process; the problem that ended it, if one did."""
    if not sys.executable:
        return "this Python cannot start another, which reads such files"
    request = [json.dumps(sys.path), str(unpacked_limit()), str(math.ceil(seconds)), variable]
    quiet = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _START, *request],
            stdin=file,
            stdout=answer,
            stderr=subprocess.DEVNULL,
            timeout=2 * seconds,
            env=quiet,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it takes longer than {2 * seconds:g} seconds"
    except (OSError, ValueError) as error:  # no process can be started, or the variable has a zero in its name
        return str(error)
    if done.returncode:
        return "it is damaged in such a way that its reading broke down"
    return None


def _take(answer: IO[bytes]) -> tuple[dict[str, Any], Any]:
    """What the process says, and the value, checked as if a stranger had made it; None for one that is not there."""
    about: dict[str, Any] = json.loads(answer.readline())
    match about.get("kind"):
        case "sparse":
            from scipy.sparse import csc_array

            parts: list[Any] = [np.lib.format.read_array(answer, allow_pickle=False) for _ in range(3)]
            rows, columns = map(int, about["shape"])
            matrix: Any = csc_array(tuple(parts), shape=(rows, columns))
            check_compressed(matrix)
            return about, matrix
        case "array":
            return about, np.lib.format.read_array(answer, allow_pickle=False)
        case "cells":
            cells = np.empty(len(about["cells"]), object)
            for at, cell in enumerate(about["cells"]):
                cells[at] = cell
            return about, cells.reshape(about["shape"])
        case "other":
            return about, np.empty((0, 0), object)
        case _:
            return about, None
