"""A checkpoint of live vectors: arrays of one moment, and beside them the vectors that moved since.

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, unpack
from graphrefine.graph.stored_writer import OWN_CHECKSUM, crc_of, npy_files, sum_manifest, write_names
from graphrefine.kernels.numerics import NUMERICS_VERSION, numerics_entry, version_of
from graphrefine.live.model import BLOCK_ROWS, LiveSettings, Model
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


class PublishedVectors(Protocol):
    """Vectors as readers will see them: a table, or what computes them."""

    lengths: Reals
    degrees: Reals

    def rows(self, rows: NDArray[Any]) -> Floats:
        """Return the unit vectors of rows."""


def save_checkpoint(
    folder: Path,
    model: Model,
    kernel: Any,
    vectors: PublishedVectors,
    *,
    names: Names,
    rows: NDArray[np.int64],
    group: int,
) -> None:
    """Write a checkpoint and wait for the disk; ``rows`` are those of the nodes that were not removed, of ``names``."""
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
        _save_rows(fresh / "basis.npy", columns, known, lambda some: model.basis[some])
        _save_rows(fresh / "vectors.npy", model.settings.dim, rows, vectors.rows)
        for at, (name, dtype, width) in enumerate(KERNEL_ARRAYS):
            with (fresh / f"{name}.npy").open("wb") as file:
                blocks = _kept_blocks(kernel, columns, at, is_kept)
                write_npy_blocks(file, np.dtype(dtype), (len(rows), width or columns), blocks)
        (fresh / MOVED).touch()
        manifest = {
            "version": VERSION,
            "group": group,
            "nodes": len(rows),
            "entries": len(indices),
            "known": len(known),
            "names": kind,
            "settings": vars(model.settings),
            "frozen": model.numbers(),
            **numerics_entry(),
            "files": {path.name: [path.stat().st_size, crc_of(path)] for path in npy_files(fresh)},
        }
        whole = {**manifest, OWN_CHECKSUM: sum_manifest(manifest)}
        (fresh / MANIFEST).write_text(json.dumps(whole, indent=1), encoding="utf-8")


def _save_rows(path: Path, columns: int, rows: NDArray[np.int64], take: Callable[[Any], Floats]) -> None:
    # A block at a time, as a whole copy would double the memory. Written, not mapped: a full disk is then an error and
    # not a signal.
    blocks = (take(rows[start : start + BLOCK_ROWS]) for start in range(0, len(rows), BLOCK_ROWS))
    with path.open("wb") as file:
        write_npy_blocks(file, np.dtype(np.float32), (len(rows), columns), blocks)


def _kept_blocks(kernel: Any, columns: int, at: int, is_kept: NDArray[np.bool_]) -> Iterator[NDArray[Any]]:
    for start, *arrays in kernel_blocks(kernel, columns):
        array: Any = arrays[at]
        yield array[is_kept[start : start + len(array)]]


def kernel_blocks(kernel: Any, columns: int) -> Iterator[tuple[int, Floats, Floats, Reals]]:
    """Yield the first row of each block, and copies of the block's targets, states and numbers."""
    for start in range(0, kernel.nodes, BLOCK_ROWS):
        count = min(BLOCK_ROWS, kernel.nodes - start)
        targets, states = np.empty((2, count, columns), np.float32)
        numbers = np.empty((count, NUMBERS))
        kernel.take_out(start, targets, states, numbers)
        yield start, targets, states, numbers


class Checkpoint:
    """A checkpoint on disk, opened; its arrays are mapped.

    Parameters
    ----------
    folder : Path
        Its folder; FileNotFoundError if it or a file of it is missing, as after a writer went over to another one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
            if problem := version_problem(self.manifest["version"], VERSION):
                raise FormatError(folder, problem)
            if self.manifest[OWN_CHECKSUM] != sum_manifest(self.manifest):
                raise ValueError("another checksum")
            self.settings = LiveSettings(**self.manifest["settings"])
            self.group, self.nodes = int(self.manifest["group"]), int(self.manifest["nodes"])
            sizes = {name: size for name, (size, _) in self.manifest["files"].items()}
        except FormatError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError):
            raise FormatError(folder, f"{MANIFEST} is damaged; {ADVICE}") from None
        (folder / MOVED).stat()  # FileNotFoundError
        for name, size in sizes.items():
            if (folder / name).stat().st_size != size:
                raise FormatError(folder, f"{name} was cut short or changed; {ADVICE}")

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except FormatError:
            raise
        except (ValueError, TypeError, LookupError) as error:
            raise FormatError(self.folder, f"an array is damaged: {error}; {ADVICE}") from None

    def _array(self, name: str) -> NDArray[Any]:
        with (self.folder / f"{name}.npy").open("rb") as file:
            return map_npy(file)

    def _names(self) -> Names:
        kind = self.manifest["names"]
        if kind == "range":
            return np.arange(self.nodes, dtype=np.int64)
        return self._array("names") if kind == "integers" else unpack(self._array("names"), self._array("offsets"))

    def check_files(self) -> None:
        """Raise FormatError unless every file has the bytes that were written."""
        for name, (_, crc) in self.manifest["files"].items():
            if (actual := crc_of(self.folder / name)) != crc:
                problem = f"{name} has the checksum {actual:08x}, not {crc:08x}: damaged; {ADVICE}"
                raise FormatError(self.folder, problem)

    def table(self) -> VectorTable:
        """Return the vectors as readers see them."""
        with self._errors():
            vectors, lengths, degrees = (self._array(name) for name in ("vectors", "lengths", "degrees"))
            if vectors.shape != (self.nodes, self.settings.dim) or not lengths.shape == degrees.shape == (self.nodes,):
                raise ValueError(f"vectors have the shape {vectors.shape}")
            return VectorTable(self._names(), vectors, lengths, degrees)

    def load(self) -> tuple[Model, Any]:
        """Load the model and the kernel's graph, for a writer."""
        # Groups that are applied here again must give the bits that readers have seen already.
        if (theirs := version_of(self.manifest)) != NUMERICS_VERSION:
            raise FormatError(
                self.folder,
                f"was made with numerics version {theirs!r}, and this graphrefine has version {NUMERICS_VERSION}: its "
                "vectors would not go on as they were; write with the same, or export the graph and create it again. "
                "Reading is possible",
            )
        with self._errors():
            parts: dict[str, Any] = {name: self._array(name) for name in ("basis", "shifts", "rotation", "mean")}
            model = Model(self.settings, **parts, **self.manifest["frozen"])
            weights = self._array("weights") if "weights.npy" in self.manifest["files"] else None
            kernel = model.make_kernel(self._array("indptr"), self._array("indices"), weights)
            arrays = [self._array(name) for name, *_ in KERNEL_ARRAYS]
            for start in range(0, self.nodes, BLOCK_ROWS):
                kernel.put_in(start, *(array[start : start + BLOCK_ROWS] for array in arrays))
            kernel.begin()
        return model, kernel
