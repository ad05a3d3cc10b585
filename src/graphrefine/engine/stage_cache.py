"""Results of the stages of one method, in memory or in a folder that outlives a run, and the engines that make them.

A method of several stages asks for an engine where it needs one, and passes each stage to `StageCache.get_or_compute`.
In a folder the arrays are mapped files; a stage that an earlier run has finished is not done again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine
from graphrefine.errors import FormatError
from graphrefine.system.arrays import OwnFile, map_npy, npy_header, save_npy

Arrays = tuple[NDArray[Any], ...]
RESULT = "vectors.npy"


class StageCache:
    """Engines and results of stages, in memory.

    Examples
    --------
    >>> from graphrefine.engine.local import LocalEngine
    >>> from graphrefine.graph.graph import Graph
    >>> ring = Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> cache = StageCache(lambda columns: LocalEngine(ring, columns=columns))
    >>> cache.engine(2) is cache.engine(2), cache.get_or_compute("ones", lambda: (np.ones(2),))
    (True, (array([1., 1.]),))
    """

    def __init__(self, make_engine: Callable[[int], Engine[Any]]) -> None:
        self._make, self._engines = make_engine, dict[int, Engine[Any]]()

    def engine(self, columns: int) -> Engine[Any]:
        """Return the engine of this width, the same one until it is released."""
        if columns not in self._engines:
            self._engines[columns] = self._make(columns)
        return self._engines[columns]

    def release(self, columns: int) -> None:
        """Let an engine go, and with it what it has prepared."""
        self._engines.pop(columns, None)

    def get_or_compute(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """Return the arrays of a stage, by computing them unless they are there."""
        return make()

    def allocate(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return an array for the result of all stages: the memory of these rows, which are not needed any more."""
        return rows

    def finalize(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return rows of a stage as the result of all."""
        out = self.allocate(rows)
        if out is not rows:
            out[:] = rows
        return out


class FolderStageCache(StageCache):
    """Cache in a folder; each engine works in a subfolder, which ``make_engine`` gets.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> first = FolderStageCache(folder, lambda path, columns: None)
    >>> first.get_or_compute("ones", lambda: (np.ones(2),))
    (array([1., 1.]),)
    >>> again = FolderStageCache(folder, lambda path, columns: None)
    >>> again.get_or_compute("ones", lambda: (np.zeros(2),))  # it is done
    (array([1., 1.]),)
    """

    def __init__(self, folder: Path, make_engine: Callable[[Path, int], Engine[Any]]) -> None:
        super().__init__(lambda columns: make_engine(folder / "engines" / f"{self._stage}-{columns}", columns))
        self.folder, self._stage = folder, ""

    def get_or_compute(self, name: str, make: Callable[[], Arrays]) -> Arrays:
        """See `StageCache.get_or_compute`; the arrays are mapped from files."""
        done, fresh = self.folder / "stages" / name, self.folder / "stages" / f".{name}.new"
        if not done.exists():
            shutil.rmtree(fresh, ignore_errors=True)
            fresh.mkdir(parents=True)
            self._stage = name
            for index, array in enumerate(make()):
                save_npy(fresh / f"{index}.npy", array)
            self._engines.clear()
            # One rename finishes the stage; its engines' files go afterwards, also those of a run that was killed
            # between the two. In the other order such a run would have neither the result nor the work.
            fresh.rename(done)
        for path in self.folder.glob(f"engines/{name}-*"):
            shutil.rmtree(path, ignore_errors=True)
        return tuple(_mapped(done / f"{index}.npy") for index in range(len(list(done.iterdir()))))

    def allocate(self, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """See `StageCache.allocate`: a file, as the rows may be needed again."""
        path, header = self.folder / RESULT, npy_header(rows.dtype, rows.shape)
        path.write_bytes(header)
        return OwnFile(path, rows.dtype, "r+", offset=len(header), shape=rows.shape)


def _mapped(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        try:
            return map_npy(file)
        except ValueError as error:
            raise FormatError(path, f"is {error}; delete the work folder to start again") from None
