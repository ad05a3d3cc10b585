"""A checkpoint of live vectors: arrays of one moment in a folder that never changes.

::

    generation.json                       version, counts, settings, numbers of the model, sizes and checksums of files
    indptr.npy indices.npy weights.npy    the graph; no weights where all are 1
    names.npy offsets.npy                 as in an embedding's folder; absent where the names are 0, 1, ..., n - 1
    basis.npy shifts.npy rotation.npy mean.npy   the model, see `graphrefine.live.model`
    targets.npy states.npy numbers.npy    rows of R and of G, and six numbers of each node
    vectors.npy lengths.npy degrees.npy   unit rows as readers see them, their lengths before, degrees of the nodes

Nodes that were removed are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, unpack
from graphrefine.graph.stored_writer import OWN_CHECKSUM, crc_of, npy_files, sum_manifest, write_names
from graphrefine.kernels.numerics import NUMERICS_VERSION, numerics_entry, version_of
from graphrefine.live.model import BLOCK_ROWS, LiveSettings, Model
from graphrefine.live.vector_table import VectorTable
from graphrefine.system.arrays import map_npy, npy_header, save_npy
from graphrefine.system.checks import version_problem
from graphrefine.system.files import replacing_folder

VERSION = 1
MANIFEST = "generation.json"
NUMBERS = 6  # that the kernel keeps of each node
Floats = NDArray[np.float32]


class WriterState(NamedTuple):
    """What a writer works on."""

    model: Model
    kernel: Any  # its graph, with targets and states
    table: VectorTable


def save_checkpoint(folder: Path, state: WriterState, *, group: int, removed: NDArray[np.bool_] | None = None) -> None:
    """Write a checkpoint and wait for the disk; rows of nodes that were removed are left out."""
    model, kernel, table = state
    rows = np.arange(kernel.nodes) if removed is None else np.flatnonzero(~removed)
    known = rows[rows < len(model.basis)]
    columns = model.basis.shape[1]
    indptr, indices, weights = kernel.rows()
    if removed is not None and len(rows) < kernel.nodes:
        positions = np.cumsum(~removed, dtype=np.int32) - 1
        indptr, indices = np.append(indptr[rows], indptr[-1]), positions[indices]
    arrays = {"indptr": indptr, "indices": indices, "rotation": model.rotation, "mean": model.mean}
    arrays |= {"shifts": model.shifts[known], "lengths": table.lengths[rows], "degrees": table.degrees[rows]}
    if not np.all(weights == 1):
        arrays["weights"] = weights
    with replacing_folder(folder, replaceable=lambda _: None, durable=True) as fresh:
        for name, array in arrays.items():
            save_npy(fresh / f"{name}.npy", array)
        names = write_names(fresh, table.names_array(rows))
        _save_blocks(fresh / "basis.npy", (len(known), columns), (model.basis[each] for each in _split(known)))
        _save_blocks(fresh / "vectors.npy", (len(rows), model.settings.dim), map(table.rows, _split(rows)))
        _save_kernel(fresh, kernel, rows, columns)
        manifest = {
            "version": VERSION,
            "group": group,
            "nodes": len(rows),
            "entries": len(indices),
            "known": len(known),
            "names": names,
            "settings": vars(model.settings),
            "frozen": model.numbers(),
            **numerics_entry(),
            "files": {path.name: [path.stat().st_size, crc_of(path)] for path in npy_files(fresh)},
        }
        whole = {**manifest, OWN_CHECKSUM: sum_manifest(manifest)}
        (fresh / MANIFEST).write_text(json.dumps(whole, indent=1), encoding="utf-8")


def _split(rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    return (rows[start : start + BLOCK_ROWS] for start in range(0, len(rows), BLOCK_ROWS))


def _save_blocks(path: Path, shape: tuple[int, int], blocks: Iterable[Floats]) -> None:
    """Write a matrix a block at a time. Written, not mapped: a full disk is then an error and not a signal."""
    with path.open("wb") as file:
        file.write(npy_header(np.dtype(np.float32), shape))
        for block in blocks:
            file.write(np.ascontiguousarray(block, np.float32).data)


def _save_kernel(folder: Path, kernel: Any, rows: NDArray[np.int64], columns: int) -> None:
    is_kept = np.zeros(kernel.nodes, bool)
    is_kept[rows] = True
    with (
        (folder / "targets.npy").open("wb") as targets,
        (folder / "states.npy").open("wb") as states,
        (folder / "numbers.npy").open("wb") as numbers,
    ):
        targets.write(npy_header(np.dtype(np.float32), (len(rows), columns)))
        states.write(npy_header(np.dtype(np.float32), (len(rows), columns)))
        numbers.write(npy_header(np.dtype(np.float64), (len(rows), NUMBERS)))
        for start, R, G, own in kernel_blocks(kernel, columns):
            some = is_kept[start : start + len(own)]
            targets.write(np.ascontiguousarray(R[some]).data)
            states.write(np.ascontiguousarray(G[some]).data)
            numbers.write(np.ascontiguousarray(own[some]).data)


def kernel_blocks(kernel: Any, columns: int) -> Iterator[tuple[int, Floats, Floats, NDArray[np.float64]]]:
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
            if OWN_CHECKSUM in self.manifest and self.manifest[OWN_CHECKSUM] != sum_manifest(self.manifest):
                raise ValueError("another checksum")
            self.settings = LiveSettings(**self.manifest["settings"])
            self.group, self.nodes = int(self.manifest["group"]), int(self.manifest["nodes"])
            sizes = {name: size for name, (size, _) in self.manifest["files"].items()}
        except FormatError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError):
            raise FormatError(folder, f"{MANIFEST} is damaged; go back to a backup") from None
        for name, size in sizes.items():
            if (folder / name).stat().st_size != size:
                raise FormatError(folder, f"{name} was cut short or changed; go back to a backup")

    def array(self, name: str) -> NDArray[Any]:
        """Map one of the arrays."""
        try:
            with (self.folder / f"{name}.npy").open("rb") as file:
                return map_npy(file)
        except ValueError as error:
            raise FormatError(self.folder, f"{name}.npy is damaged: {error}; go back to a backup") from None

    def _names(self) -> Names:
        kind = self.manifest["names"]
        if kind == "range":
            return np.arange(self.nodes, dtype=np.int64)
        return self.array("names") if kind == "integers" else unpack(self.array("names"), self.array("offsets"))

    def check_files(self) -> None:
        """Raise FormatError unless every file has the bytes that were written."""
        for name, (_, crc) in self.manifest["files"].items():
            if (actual := crc_of(self.folder / name)) != crc:
                raise FormatError(
                    self.folder, f"{name} has the checksum {actual:08x}, not {crc:08x}: damaged; go back to a backup"
                )

    def _check_numerics(self) -> None:
        """Raise FormatError unless changes applied here would have the bits of those applied before."""
        if (theirs := version_of(self.manifest)) != NUMERICS_VERSION:
            raise FormatError(
                self.folder,
                f"was made with numerics version {theirs!r}, and this graphrefine has version {NUMERICS_VERSION}: its "
                "vectors would not go on as they were; write with the same, or export the graph and create it again. "
                "Reading is possible",
            )

    def table(self) -> VectorTable:
        """Return the vectors as readers see them."""
        vectors, lengths, degrees = (self.array(name) for name in ("vectors", "lengths", "degrees"))
        try:
            if vectors.shape != (self.nodes, self.settings.dim) or not lengths.shape == degrees.shape == (self.nodes,):
                raise ValueError(f"vectors have the shape {vectors.shape}")
            return VectorTable(self._names(), vectors, lengths, degrees)
        except (ValueError, TypeError, LookupError) as error:
            raise FormatError(self.folder, f"an array is damaged: {error}; go back to a backup") from None

    def load(self) -> WriterState:
        """Load all of it, for a writer."""
        self._check_numerics()
        names = ("basis", "shifts", "rotation", "mean", "indptr", "indices", "targets", "states", "numbers")
        arrays = {name: self.array(name) for name in names}
        weights = self.array("weights") if "weights.npy" in self.manifest["files"] else None
        try:
            parts: dict[str, Any] = {name: arrays[name] for name in names[:4]}
            model = Model(self.settings, **parts, **self.manifest["frozen"])
            kernel = model.make_kernel(arrays["indptr"], arrays["indices"], weights)
            for start in range(0, self.nodes, BLOCK_ROWS):
                blocks = (arrays[name][start : start + BLOCK_ROWS] for name in names[6:])
                kernel.put_in(start, *blocks)
            kernel.begin()
        except (ValueError, TypeError, LookupError) as error:
            raise FormatError(self.folder, f"an array is damaged: {error}; go back to a backup") from None
        return WriterState(model, kernel, self.table())
