"""A generation of live vectors: arrays of one moment in a folder that never changes.

::

    generation.json                       version, counts, settings, frozen numbers, sizes and checksums of the files,
                                          and one of its own
    indptr.npy indices.npy weights.npy    the graph; no weights where all are 1
    names.npy offsets.npy                 as in an embedding's folder; absent where the names are 0, 1, ..., n - 1
    basis.npy shifts.npy rotation.npy mean.npy   frozen parts, see `graphrefine.live.frozen`
    targets.npy states.npy numbers.npy    rows of R and of G, and six numbers of each node
    vectors.npy lengths.npy degrees.npy   unit rows as readers see them, their lengths before, degrees of the nodes

Nodes that were removed are not in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError
from graphrefine.graph.node_ids import Names, unpack
from graphrefine.graph.stored_writer import OWN_CHECKSUM, crc_of, npy_files, sum_manifest, write_names
from graphrefine.kernels.numerics import NUMERICS_VERSION, numerics_entry, version_of
from graphrefine.live.bulletin import Moved
from graphrefine.live.frozen import BLOCK, Frozen, settings_of
from graphrefine.live.published import Published
from graphrefine.system.arrays import map_npy, npy_header, save_npy
from graphrefine.system.files import replacing_folder
from graphrefine.system.versions import version_problem

VERSION = 1
MANIFEST = "generation.json"
NUMBERS = 6
Floats = NDArray[np.float32]


class Snapshot(NamedTuple):
    """What a writer works on."""

    frozen: Frozen
    live: Any  # the kernel's graph
    published: Published


def save_generation(folder: Path, snapshot: Snapshot, *, group: int, removed: NDArray[np.bool_] | None = None) -> None:
    """Write a generation, durably; rows of nodes that were removed are left out."""
    frozen, live, published = snapshot
    rows = np.arange(live.nodes) if removed is None else np.flatnonzero(~removed)
    with replacing_folder(folder, replaceable=lambda _: None, durable=True) as place:
        indptr, indices, weights = live.rows()
        if len(rows) < live.nodes:
            places = np.cumsum(~removed, dtype=np.int32) - 1  # type: ignore[operator]
            indptr, indices = np.append(indptr[rows], indptr[-1]), places[indices]
        arrays = {"indptr": indptr, "indices": indices, "rotation": frozen.rotation, "mean": frozen.mean}
        if not np.all(weights == 1):
            arrays["weights"] = weights
        known = rows[rows < len(frozen.basis)]
        arrays |= {"shifts": frozen.shifts[known], "lengths": published.lengths[rows]}
        arrays["degrees"] = published.degrees[rows]
        for name, array in arrays.items():
            save_npy(place / f"{name}.npy", array)
        names = published.names_array(rows)
        kind = write_names(place, names)
        _save_rows(place / "basis.npy", known, lambda block: frozen.basis[block], frozen.basis.shape[1])
        _save_rows(place / "vectors.npy", rows, published.rows, frozen.settings.dim)
        _save_states(place, live, rows, frozen.basis.shape[1])
        manifest = {
            "version": VERSION,
            "group": group,
            "nodes": len(rows),
            "entries": len(indices),
            "known": len(known),
            "names": kind,
            "settings": vars(frozen.settings),
            "frozen": frozen.numbers(),
            **numerics_entry(),
            "files": {path.name: [path.stat().st_size, crc_of(path)] for path in npy_files(place)},
        }
        whole = {**manifest, OWN_CHECKSUM: sum_manifest(manifest)}
        (place / MANIFEST).write_text(json.dumps(whole, indent=1), encoding="utf-8")


def _save_rows(path: Path, rows: NDArray[np.int64], source: Any, columns: int) -> None:
    """Some rows of a matrix, a block at a time."""
    with path.open("wb") as file:
        file.write(npy_header(np.dtype(np.float32), (len(rows), columns)))
        for start in range(0, len(rows), BLOCK):
            file.write(np.ascontiguousarray(source(rows[start : start + BLOCK]), np.float32).data)


def _save_states(place: Path, live: Any, rows: NDArray[np.int64], columns: int) -> None:
    with (
        (place / "targets.npy").open("wb") as targets,
        (place / "states.npy").open("wb") as states,
        (place / "numbers.npy").open("wb") as numbers,
    ):
        targets.write(npy_header(np.dtype(np.float32), (len(rows), columns)))
        states.write(npy_header(np.dtype(np.float32), (len(rows), columns)))
        numbers.write(npy_header(np.dtype(np.float64), (len(rows), NUMBERS)))
        keep = np.zeros(live.nodes, bool)
        keep[rows] = True
        for start in range(0, live.nodes, BLOCK):
            count = min(BLOCK, live.nodes - start)
            R, G = np.empty((2, count, columns), np.float32)
            own = np.empty((count, NUMBERS))
            live.take_out(start, R, G, own)
            some = keep[start : start + count]
            for file, array in ((targets, R), (states, G), (numbers, own)):
                file.write(np.ascontiguousarray(array[some]).data)


class Generation:
    """A generation on disk, opened; its arrays are mapped.

    Parameters
    ----------
    folder
        Its folder; FileNotFoundError if it or a file of it is not there, as after a change of generations.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_bytes())
            if problem := version_problem(self.manifest["version"], VERSION):
                raise FormatError(folder, problem)
            if OWN_CHECKSUM in self.manifest and self.manifest[OWN_CHECKSUM] != sum_manifest(self.manifest):
                raise ValueError("another checksum")
            self._sizes = {name: size for name, (size, _) in self.manifest["files"].items()}
            self.settings = settings_of(self.manifest["settings"])
            self.group, self.nodes = int(self.manifest["group"]), int(self.manifest["nodes"])
        except FormatError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError):
            raise FormatError(folder, f"{MANIFEST} is damaged; go back to a backup") from None
        for name, size in self._sizes.items():
            if (folder / name).stat().st_size != size:
                raise FormatError(folder, f"{name} was cut short or changed; go back to a backup")

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Errors of arrays that are not as they were written, as ours."""
        try:
            yield
        except FormatError:
            raise
        except (ValueError, TypeError, LookupError) as error:
            raise FormatError(self.folder, f"an array is damaged: {error}; go back to a backup") from None

    def array(self, name: str) -> NDArray[Any]:
        """One of the arrays, mapped."""
        try:
            with (self.folder / f"{name}.npy").open("rb") as file:
                return map_npy(file)
        except ValueError as error:
            raise FormatError(self.folder, f"{name}.npy is damaged: {error}; go back to a backup") from None

    def names(self) -> Names:
        """The names of the nodes."""
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

    def check_numerics(self) -> None:
        """Raise FormatError unless changes made here would have the bits of those made before."""
        if (theirs := version_of(self.manifest)) != NUMERICS_VERSION:
            raise FormatError(
                self.folder,
                f"it was made with numerics version {theirs!r}, and this graphrefine has version {NUMERICS_VERSION}: "
                "its vectors would not go on as they were; write with the same, or export the graph and create it "
                "again. Reading is possible",
            )

    def published(self) -> Published:
        """The vectors as readers see them."""
        with self._damage():
            vectors, lengths, degrees = (self.array(name) for name in ("vectors", "lengths", "degrees"))
            if vectors.shape != (self.nodes, self.settings.dim) or not lengths.shape == degrees.shape == (self.nodes,):
                raise ValueError(f"vectors have the shape {vectors.shape}")
            return Published(self.names(), vectors, lengths, degrees)

    def snapshot(self) -> Snapshot:
        """All of it, for a writer."""
        self.check_numerics()
        with self._damage():
            return self._snapshot()

    def _snapshot(self) -> Snapshot:
        numbers = self.manifest["frozen"]
        frozen = Frozen(
            self.settings,
            basis=self.array("basis"),
            shifts=self.array("shifts"),
            rotation=self.array("rotation"),
            mean=self.array("mean"),
            **numbers,
        )
        weights = self.array("weights") if "weights.npy" in self.manifest["files"] else None
        live = frozen.live_graph(self.array("indptr"), self.array("indices"), weights)
        targets, states, own = (self.array(name) for name in ("targets", "states", "numbers"))
        for start in range(0, self.nodes, BLOCK):
            some = slice(start, start + BLOCK)
            live.put_in(start, targets[some], states[some], own[some])
        live.begin()
        return Snapshot(frozen, live, self.published())


def unit_vectors(live: Any, nodes: NDArray[np.int32], frozen: Frozen) -> tuple[NDArray[np.float64], Floats]:
    """Lengths of the vectors of some nodes, -1 without edges, and the vectors at length 1; zeros stay."""
    rows, lengths = np.empty((len(nodes), frozen.basis.shape[1]), np.float32), np.empty(len(nodes))
    live.vectors(nodes, rows, lengths)
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    vectors = np.empty((len(nodes), frozen.settings.dim), np.float32)
    np.multiply(rows[:, : frozen.settings.dim], scale[:, None], out=vectors, dtype=np.float64, casting="same_kind")
    return lengths, vectors


def unit_moved(live: Any, frozen: Frozen) -> Moved:
    """The vectors that the group under way publishes."""
    nodes = live.published()
    lengths, vectors = unit_vectors(live, nodes, frozen)
    live.degrees(nodes, degrees := np.empty(len(nodes)))
    return Moved(nodes.astype(np.int64), lengths, vectors, degrees=degrees)


def all_vectors(live: Any, frozen: Frozen) -> tuple[Floats, NDArray[np.float64], NDArray[np.float64]]:
    """Unit vectors of all nodes as they are now, their lengths before, and the degrees of the nodes."""
    lengths, vectors = np.empty(live.nodes), np.empty((live.nodes, frozen.settings.dim), np.float32)
    for start in range(0, live.nodes, BLOCK):
        which = np.arange(start, min(start + BLOCK, live.nodes), dtype=np.int32)
        lengths[which], vectors[which] = unit_vectors(live, which, frozen)
    return vectors, lengths, all_degrees(live)


def all_degrees(live: Any) -> NDArray[np.float64]:
    """Sums of the weights of all nodes."""
    live.degrees(np.arange(live.nodes, dtype=np.int32), degrees := np.empty(live.nodes))
    return degrees
