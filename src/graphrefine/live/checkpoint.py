"""A checkpoint of live vectors: arrays of one moment, and a file of the vectors that moved since.

::

    generation.json                       version, counts, settings, numbers of the model, sizes and checksums of files
    indptr.npy indices.npy weights.npy    the graph; no weights where all are 1
    names.npy offsets.npy                 as in an embedding's folder; absent where the names are 0, 1, ..., n - 1
    basis.npy shifts.npy rotation.npy mean.npy   the model, see `graphrefine.live.model`
    targets.npy states.npy numbers.npy    rows of R and of G, and six numbers of each node
    vectors.npy lengths.npy degrees.npy   unit rows as readers see them, their lengths before, degrees of the nodes
    moved.bin                             see `graphrefine.live.store`; the only file that changes

Nodes that were removed are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, unpack
from graphrefine.graph.stored_writer import OWN_CHECKSUM, crc_of, npy_files, sum_manifest, write_names
from graphrefine.kernels.numerics import NUMERICS_VERSION, numerics_entry, version_of
from graphrefine.live.model import BLOCK_ROWS, ComputedVectors, LiveSettings, Model
from graphrefine.live.store import ADVICE, MOVED
from graphrefine.live.vector_table import VectorTable
from graphrefine.system.arrays import map_npy, save_npy, write_npy_blocks
from graphrefine.system.checks import version_problem
from graphrefine.system.files import replacing_folder

VERSION = 1
MANIFEST = "generation.json"
NUMBERS = 6  # that the kernel keeps of each node
KERNEL_ARRAYS = (("targets", np.float32, 0), ("states", np.float32, 0), ("numbers", np.float64, NUMBERS))  # 0: all
Floats = NDArray[np.float32]
Reals = NDArray[np.float64]


def save_checkpoint(
    folder: Path,
    model: Model,
    kernel: Any,
    vectors: VectorTable | ComputedVectors,
    *,
    names: Names,
    rows: NDArray[np.int64],
    group: int,
) -> None:
    """Write a checkpoint and wait for the disk; ``rows`` are those of the nodes that were not removed, of ``names``.

    It gets its name in one step when the disk has all of it. A kill leaves a hidden folder, which is never opened.
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
        _save_blocks(
            fresh / "basis.npy", np.float32, (len(known), columns), row_blocks(known, lambda r: model.basis[r])
        )
        shape = (len(rows), model.settings.dim)
        _save_blocks(fresh / "vectors.npy", np.float32, shape, row_blocks(rows, vectors.rows))
        for at, (name, dtype, width) in enumerate(KERNEL_ARRAYS, 1):
            blocks = (each[at][is_kept[each[0] : each[0] + len(each[1])]] for each in kernel_blocks(kernel, columns))
            _save_blocks(fresh / f"{name}.npy", dtype, (len(rows), width or columns), blocks)
        (fresh / MOVED).touch()
        manifest = {
            "version": VERSION,
            "group": group,
            "nodes": len(rows),
            "names": kind,
            "settings": vars(model.settings),
            "frozen": model.numbers(),
            **numerics_entry(),
            "files": {path.name: [path.stat().st_size, crc_of(path)] for path in npy_files(fresh)},
        }
        whole = {**manifest, OWN_CHECKSUM: sum_manifest(manifest)}
        (fresh / MANIFEST).write_text(json.dumps(whole, indent=1), encoding="utf-8")


def _save_blocks(path: Path, dtype: Any, shape: tuple[int, int], blocks: Iterable[NDArray[Any]]) -> None:
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
    """A checkpoint on disk, opened; its arrays are mapped.

    FileNotFoundError if a file of it is missing, as after a writer went over to another one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with self._damage_of(MANIFEST):
            self.manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
            if problem := version_problem(self.manifest["version"], VERSION):
                raise FormatError(folder, problem)
            if self.manifest[OWN_CHECKSUM] != sum_manifest(self.manifest):
                raise ValueError("its checksum is another one")
            self.settings = LiveSettings(**self.manifest["settings"])
            self.group, self.nodes = int(self.manifest["group"]), int(self.manifest["nodes"])

    @contextmanager
    def _damage_of(self, what: str) -> Iterator[None]:
        try:
            yield
        except FormatError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise FormatError(self.folder, f"{what} is damaged: {error}; {ADVICE}") from None

    def _array(self, name: str) -> NDArray[Any]:
        with (self.folder / f"{name}.npy").open("rb") as file:
            return map_npy(file)

    def check_files(self) -> None:
        """Raise FormatError unless every file has the bytes that were written."""
        for name, (_, crc) in self.manifest["files"].items():
            if crc_of(self.folder / name) != crc:
                raise FormatError(self.folder, f"{name} is damaged: its checksum is another one; {ADVICE}")

    def table(self, sides: str | None) -> VectorTable:
        """Return the vectors as readers see them."""
        with self._damage_of("an array"):
            kind = self.manifest["names"]
            names: Any = np.arange(self.nodes, dtype=np.int64) if kind == "range" else self._array("names")
            if kind == "strings":
                names = unpack(names, self._array("offsets"))
            vectors, lengths, degrees = (self._array(name) for name in ("vectors", "lengths", "degrees"))
            if vectors.shape != (self.nodes, self.settings.dim) or not lengths.shape == degrees.shape == (self.nodes,):
                raise ValueError(f"vectors have the shape {vectors.shape}")
            return VectorTable(names, vectors, lengths, degrees, sides=sides)

    def load(self) -> tuple[Model, Any]:
        """Load the model and the kernel's graph, for a writer."""
        # Groups that are applied here again must give the bits that readers have seen already.
        if (theirs := version_of(self.manifest)) != NUMERICS_VERSION:
            raise FormatError(
                self.folder,
                f"was made with numerics version {theirs!r}, and this graphrefine has version {NUMERICS_VERSION}: "
                "write with the same, or export the graph and create it again. Reading is possible",
            )
        with self._damage_of("an array"):
            parts: dict[str, Any] = {name: self._array(name) for name in ("basis", "shifts", "rotation", "mean")}
            model = Model(self.settings, **parts, **self.manifest["frozen"])
            weights = self._array("weights") if "weights.npy" in self.manifest["files"] else None
            kernel = model.make_kernel(self._array("indptr"), self._array("indices"), weights)
            arrays = [self._array(name) for name, *_ in KERNEL_ARRAYS]
            for start in range(0, self.nodes, BLOCK_ROWS):
                kernel.put_in(start, *(array[start : start + BLOCK_ROWS] for array in arrays))
            # Sums of hubs are computed from the rows, never stored: the bits are those of the groups alone, however
            # often the folder was opened between them.
            kernel.begin()
        return model, kernel
