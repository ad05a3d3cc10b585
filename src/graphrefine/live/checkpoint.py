"""A checkpoint of live vectors: the arrays of one moment.

::

    indptr.npy indices.npy weights.npy    the graph; no weights where all are 1
    names.npy offsets.npy                 as in an embedding's folder; absent where the names are 0, 1, ..., n - 1
    basis.npy shifts.npy rotation.npy mean.npy   the model, see `graphrefine.live.model`
    targets.npy states.npy numbers.npy    rows of R and of G, and six numbers of each node
    vectors.npy lengths.npy degrees.npy   unit rows as readers see them, their lengths before, degrees of the nodes

Nodes that were removed are not in it. The database has its contents: counts, numbers of the model, and checksums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, unpack
from graphrefine.graph.stored_writer import crc_of, npy_files, write_names
from graphrefine.kernels.numerics import NUMERICS_VERSION, version_of
from graphrefine.live.model import BLOCK_ROWS, ComputedVectors, LiveSettings, Model
from graphrefine.live.store import ADVICE, Store
from graphrefine.live.vector_table import VectorTable
from graphrefine.system.arrays import read_npy_header, save_npy, write_npy_blocks
from graphrefine.system.files import replacing_folder

NUMBERS_OF_MODEL = ("loop", "lag", "share")
NUMBERS = 6  # that the kernel keeps of each node
KERNEL_ARRAYS = (("targets", np.float32, 0), ("states", np.float32, 0), ("numbers", np.float64, NUMBERS))  # 0: all
Floats = NDArray[np.float32]


def save_checkpoint(
    folder: Path,
    model: Model,
    kernel: Any,
    vectors: VectorTable | ComputedVectors,
    *,
    names: Names,
    rows: NDArray[np.int64],
) -> dict[str, Any]:
    """Write a checkpoint, wait for the disk and return the contents, which the database keeps.

    ``rows`` are those of the nodes that were not removed, of ``names``. The folder gets its name in one step when the
    disk has all of it. A kill leaves a hidden folder, which is never opened.
    """
    known = rows[rows < len(model.basis)]
    columns = model.basis.shape[1]
    indptr, indices, weights = kernel.rows()
    if len(rows) < kernel.nodes:
        # Removed nodes have no edges, so that leaving out their rows moves no entry.
        positions = np.zeros(kernel.nodes, np.int32)
        positions[rows] = np.arange(len(rows), dtype=np.int32)
        indptr, indices = np.append(indptr[rows], indptr[-1]), positions[indices]
    arrays = {"indptr": indptr, "indices": indices, "rotation": model.rotation, "mean": model.mean}
    arrays |= {"shifts": model.shifts[known], "lengths": vectors.lengths[rows], "degrees": vectors.degrees[rows]}
    if not np.all(weights == 1):
        arrays["weights"] = weights
    is_kept = np.zeros(kernel.nodes, bool)
    is_kept[rows] = True
    with replacing_folder(folder, replaceable=lambda _: None, durable=True) as fresh:
        for name, array in arrays.items():
            save_npy(fresh / f"{name}.npy", array)
        kind = write_names(fresh, names)
        _save_blocks(fresh / "basis.npy", (len(known), columns), row_blocks(known, lambda r: model.basis[r]))
        _save_blocks(fresh / "vectors.npy", (len(rows), model.settings.dim), row_blocks(rows, vectors.rows))
        for at, (name, dtype, width) in enumerate(KERNEL_ARRAYS, 1):
            blocks = (each[at][is_kept[each[0] : each[0] + len(each[1])]] for each in kernel_blocks(kernel, columns))
            _save_blocks(fresh / f"{name}.npy", (len(rows), width or columns), blocks, dtype)
        return {
            "nodes": len(rows),
            "names": kind,
            "frozen": {name: getattr(model, name) for name in NUMBERS_OF_MODEL},
            "files": {path.name: crc_of(path) for path in npy_files(fresh)},
        }


def _save_blocks(
    path: Path, shape: tuple[int, int], blocks: Iterable[NDArray[Any]], dtype: type[Any] = np.float32
) -> None:
    # A block at a time, as a whole copy would double the memory. Written, not mapped: a full disk is then an error and
    # not a signal.
    with path.open("wb") as file:
        write_npy_blocks(file, np.dtype(dtype), shape, blocks)


def row_blocks(rows: NDArray[np.int64], take: Callable[[Any], Floats]) -> Iterator[Floats]:
    """Yield what a function gives for rows, some at a time."""
    return (take(rows[start : start + BLOCK_ROWS]) for start in range(0, len(rows), BLOCK_ROWS))


def kernel_blocks(kernel: Any, columns: int) -> Iterator[tuple[Any, ...]]:
    """Yield the first row of each block, and copies of the block's targets, states and numbers."""
    for start in range(0, kernel.nodes, BLOCK_ROWS):
        count = min(BLOCK_ROWS, kernel.nodes - start)
        targets, states = np.empty((2, count, columns), np.float32)
        numbers = np.empty((count, NUMBERS))
        kernel.take_out(start, targets, states, numbers)
        yield start, targets, states, numbers


class Checkpoint:
    """The checkpoint that a folder is at; its arrays are mapped.

    FileNotFoundError if a file of it is missing, as after a writer went over to another one.
    """

    def __init__(self, store: Store) -> None:
        self.generation, self.group, self.contents = store.checkpoint()
        self.folder, self._facts = store.folder(self.generation), store.facts
        self.settings = LiveSettings(**self._facts["settings"])

    @contextmanager
    def _name_damage(self) -> Iterator[None]:
        try:
            yield
        except FormatError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise FormatError(self.folder, f"an array is damaged: {error}; {ADVICE}") from None

    def _array(self, name: str) -> NDArray[Any]:
        """Map an array; a page of it that is changed becomes the process's own, and the file stays as it is."""
        with (self.folder / f"{name}.npy").open("rb") as file:
            shape, _, dtype = read_npy_header(file)
            return np.asarray(np.memmap(file, dtype, "c", file.tell(), shape))

    def check_files(self) -> None:
        """Raise FormatError unless every file has the bytes that were written."""
        for name, crc in self.contents["files"].items():
            if crc_of(self.folder / name) != crc:
                raise FormatError(self.folder, f"{name} is damaged: its checksum is another one; {ADVICE}")

    def table(self) -> VectorTable:
        """Return the vectors as readers see them."""
        with self._name_damage():
            nodes, kind = self.contents["nodes"], self.contents["names"]
            names: Any = np.arange(nodes, dtype=np.int64) if kind == "range" else self._array("names")
            if kind == "strings":
                names = unpack(names, self._array("offsets"))
            vectors, lengths, degrees = (self._array(name) for name in ("vectors", "lengths", "degrees"))
            if vectors.shape != (nodes, self.settings.dim) or not lengths.shape == degrees.shape == (nodes,):
                raise ValueError(f"vectors have the shape {vectors.shape}")
            return VectorTable(names, vectors, lengths, degrees, sides=self._facts["sides"])

    def load(self) -> tuple[Model, Any]:
        """Load the model and the kernel's graph, for a writer."""
        # Groups that are applied here again must give the bits that readers have seen already.
        if (theirs := version_of(self._facts)) != NUMERICS_VERSION:
            raise FormatError(
                self.folder,
                f"was made with numerics version {theirs!r}, and this graphrefine has version {NUMERICS_VERSION}: "
                "write with the same, or export the graph and create it again. Reading is possible",
            )
        with self._name_damage():
            parts: dict[str, Any] = {name: self._array(name) for name in ("basis", "shifts", "rotation", "mean")}
            model = Model(self.settings, **parts, **self.contents["frozen"])
            weights = self._array("weights") if "weights.npy" in self.contents["files"] else None
            kernel = model.make_kernel(self._array("indptr"), self._array("indices"), weights)
            kernel.put_in(0, *(self._array(name) for name, *_ in KERNEL_ARRAYS))
            # Sums of hubs are computed from the rows, never stored: the bits are those of the groups alone, however
            # often the folder was opened between them.
            kernel.begin()
        return model, kernel
