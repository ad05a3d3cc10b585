"""Pieces of an input, and their spool: a file for each piece, described by a line of JSON.

A piece has records as its reader gives them; the edges among them are stored: the sources, the targets, the weights if
there are any, and the ids that no edge mentions. Names, where ids are strings, are in a parquet file next to it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, replace
from errno import EIO
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from graphrefine.errors import require

Mask = NDArray[np.bool_]
NONE = np.zeros(0, np.int64)
TALLY = ("records", "missing", "zero_weights", "self_loops", "trimmed", "comments")


class PackedNames(NamedTuple):
    """Distinct names, sorted by their bytes: the bytes of all, and the offsets of each and of the end."""

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of_lines(cls, lines: bytes) -> PackedNames:
        """Return names that have a line each."""
        text = np.frombuffer(lines, np.uint8)
        ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        return cls(text[text != ord("\n")], np.append(0, ends - np.arange(len(ends))))

    def take(self, rows: NDArray[np.integer[Any]]) -> PackedNames:
        """Return the names of some rows, in ascending order."""
        lengths = np.diff(self.offsets)
        mask = np.zeros(len(lengths), np.bool_)
        mask[rows] = True
        return PackedNames(self.text[np.repeat(mask, lengths)], np.append(0, np.cumsum(lengths[mask])))


@dataclass(frozen=True)
class Piece:
    """Records in the order of their file."""

    source: NDArray[Any]  # (m,) ids, int32 or int64; or, with names, indices of names (int32), -1 if missing
    target: NDArray[Any]  # (m,)
    weights: NDArray[np.float32] | None = None  # (m,)
    names: PackedNames | None = None
    missing: tuple[Mask | None, Mask | None] = (None, None)  # of ids: True for one that is not there
    comments: int = 0
    trimmed: int = 0  # names that had blanks around them
    is_utf8: bool = True  # all names; one that is not makes those of all pieces Latin-1, as `read` does
    share: float = 1.0  # of the file that has been read


class Edges(NamedTuple):
    """Edges of a piece between two different nodes, and the nodes of its other records, in the order of its file."""

    source: NDArray[Any]
    target: NDArray[Any]
    weights: NDArray[np.float32] | None = None
    alone: NDArray[np.int64] = NONE  # sources that dropped records have; with names there is no need
    alone_targets: NDArray[np.int64] = NONE

    def write(self, path: Path) -> None:
        """Write the arrays, one after another."""
        with path.open("wb") as out:
            for array in self:
                if array is not None:
                    out.write(np.ascontiguousarray(array).data)


class PieceEdges(NamedTuple):
    """Edges of a piece, the names of its nodes, and counts of its records."""

    edges: Edges
    names: PackedNames | None
    tally: dict[str, int]
    first: int = -1  # of a bipartite graph: the number of names that are sources, which come first
    is_utf8: bool = True


def select_records(piece: Piece, mask: Mask, weights: NDArray[np.float32] | None) -> Piece:
    """Return the records of a mask with their weights, and the names of these alone."""
    source, target, names = piece.source[mask], piece.target[mask], piece.names
    if names is not None:
        ends = np.concatenate([source, target])
        rows = np.unique(ends[ends >= 0])
        rank = np.full(len(names.offsets), -1, np.int32)  # the last one is that of -1: no node
        rank[rows] = np.arange(len(rows), dtype=np.int32)
        source, target, names = rank[source], rank[target], names.take(rows)
    first, second = (None if side is None else side[mask] for side in piece.missing)
    return replace(piece, source=source, target=target, weights=weights, names=names, missing=(first, second))


def read_numbers(file: BufferedReader, kind: DTypeLike, count: int) -> NDArray[Any]:
    """Return the next numbers of a file; raise OSError if there are fewer."""
    # NumPy's `fromfile` takes an error of the disk for the end of the file, and the graph would lack edges without a
    # word.
    numbers = np.empty(count, kind)
    if count and file.readinto(numbers.data.cast("B")) < numbers.nbytes:
        raise OSError(EIO, f"the file ends before {count} numbers were read", file.name)
    return numbers


def select_edges(piece: Piece, *, bipartite: bool = False) -> PieceEdges:
    """Drop records without an end, without a weight and from a node to itself, in this order; their nodes stay."""
    source, target, weights = piece.source, piece.target, piece.weights
    empty = _missing_ends(piece)
    missing = empty[0] | empty[1]
    zero = np.zeros_like(missing) if weights is None else ~missing & (weights == 0)
    loop = ~missing & ~zero & (source == target) & (not bipartite)
    counts = (len(source), int(missing.sum()), int(zero.sum()), int(loop.sum()), piece.trimmed, piece.comments)
    tally = dict(zip(TALLY, counts, strict=True))
    dropped = missing | zero | loop
    names, first, alone = piece.names, -1, [NONE, NONE]
    if names is not None and bipartite:
        source, target, names, first = _by_sides(source, target, names)
    if dropped.any():
        if names is None:
            alone = [side[dropped & ~none].astype(np.int64) for side, none in zip((source, target), empty, strict=True)]
        source, target = source[~dropped], target[~dropped]
        weights = None if weights is None else weights[~dropped]
    edges = Edges(_narrow(source), _narrow(target), weights, *map(np.unique, alone))
    return PieceEdges(edges, names, tally, first, piece.is_utf8)


def _by_sides(
    source: NDArray[np.int32], target: NDArray[np.int32], names: PackedNames
) -> tuple[NDArray[np.int32], NDArray[np.int32], PackedNames, int]:
    """List names once for each side on which they are, those of sources first; and return the number of these."""
    present = [np.unique(side[side >= 0]) for side in (source, target)]
    ends, names_by_side, before = [], [], 0
    for side, there in zip((source, target), present, strict=True):
        ends.append(np.where(side >= 0, before + np.searchsorted(there, side), -1).astype(np.int32))
        names_by_side.append(names.take(there))
        before += len(there)
    text = np.concatenate([each.text for each in names_by_side])
    first, second = (each.offsets for each in names_by_side)
    offsets = np.concatenate([first, second[1:] + first[-1]])
    return ends[0], ends[1], PackedNames(text, offsets), len(present[0])


def _missing_ends(piece: Piece) -> tuple[Mask, Mask]:
    """Return which records lack a source, and which lack a target."""
    if piece.names is not None:
        return piece.source < 0, piece.target < 0
    first, second = (np.zeros(len(piece.source), np.bool_) if mask is None else mask for mask in piece.missing)
    return first, second


def _narrow(ids: NDArray[Any]) -> NDArray[Any]:
    """As int32 where that holds every id."""
    if ids.dtype == np.int32 or (len(ids) and not (ids.min() >= -(2**31) and ids.max() < 2**31)):
        return ids
    return ids.astype(np.int32)


@dataclass(frozen=True)
class Entry:
    """Description of a piece, without its arrays."""

    number: int
    file: int  # the number of the input
    edges: int
    alone: int
    wide: bool  # int64 rather than int32
    weighted: bool
    names: int  # their number; 0: ids are integers
    lowest: int  # of the ids; 0 if there is none
    highest: int  # -1 if there is none
    tally: dict[str, int]
    is_utf8: bool
    alone_targets: int = 0
    first: int = -1  # of a bipartite graph: the number of names on the first side
    own: bool = False  # whether it had integers at first, and has names since


class Spool:
    """The pieces in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._log = folder / "pieces.jsonl"
        self.entries = self._read_log()

    def add(self, piece: PieceEdges, *, file: int) -> Entry:
        """Write the edges of a piece."""
        edges, number = piece.edges, len(self.entries)
        wide = np.int64 in (edges.source.dtype, edges.target.dtype)
        source, target = (side.astype(np.int64 if wide else np.int32, copy=False) for side in edges[:2])
        edges._replace(source=source, target=target).write(self.path(number, own=False))
        if piece.names is not None:
            write_names(self.names_path(number), number, piece.names, first=piece.first)
        ids = [] if piece.names is not None else [edges.source, edges.target, edges.alone, edges.alone_targets]
        filled = [side for side in ids if len(side)]
        entry = Entry(
            number=number,
            file=file,
            edges=len(edges.source),
            alone=len(edges.alone),
            wide=wide,
            weighted=edges.weights is not None,
            names=0 if piece.names is None else len(piece.names.offsets) - 1,
            lowest=min((int(side.min()) for side in filled), default=0),
            highest=max((int(side.max()) for side in filled), default=-1),
            tally=piece.tally,
            is_utf8=piece.is_utf8,
            alone_targets=len(edges.alone_targets),
            first=piece.first,
        )
        # The entry comes last: a piece without one is written again, while an entry without its arrays would be lost.
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(asdict(entry)) + "\n")
        self.entries.append(entry)
        return entry

    def tally(self) -> Counter[str]:
        """Return the counts of records of all pieces."""
        total: Counter[str] = Counter()
        for entry in self.entries:
            total.update(entry.tally)
        return total

    def edges(self, entry: Entry) -> Edges:
        """Return the arrays of a piece."""
        kind = np.dtype(np.int64 if entry.wide else np.int32)
        with self.path(entry.number, own=entry.own).open("rb") as file:
            source, target = (read_numbers(file, kind, entry.edges) for _ in range(2))
            weights = read_numbers(file, np.float32, entry.edges) if entry.weighted else None
            alone, more = (read_numbers(file, np.int64, count) for count in (entry.alone, entry.alone_targets))
            return Edges(source, target, weights, alone, more)

    def remove(self, entry: Entry) -> None:
        """Delete the arrays of a piece."""
        self.path(entry.number, own=entry.own).unlink(missing_ok=True)

    def replace(self, entries: list[Entry]) -> None:
        """Replace the entries of all pieces, and delete the arrays that these no longer describe."""
        fresh = self._log.with_suffix(".new")
        fresh.write_text("".join(json.dumps(asdict(entry)) + "\n" for entry in entries), encoding="utf-8")
        fresh.replace(self._log)
        self.entries = entries
        for entry in entries:
            if entry.own:
                self.path(entry.number, own=False).unlink(missing_ok=True)

    def path(self, number: int, *, own: bool) -> Path:
        """Return the file of the arrays of a piece."""
        return self.folder / f"{number:06d}.{'own' if own else 'bin'}"

    def names_path(self, number: int) -> Path:
        """Return the file of the names of a piece."""
        return self.folder / f"{number:06d}.parquet"

    def _read_log(self) -> list[Entry]:
        """Return the entries of an earlier run."""
        # The last line may have been cut short. It is taken away, or the next entry would be appended to it, and the
        # piece is read again.
        if not self._log.exists():
            return []
        whole, _, _ = self._log.read_text(encoding="utf-8").rpartition("\n")
        self._log.write_text(whole + "\n" if whole else "", encoding="utf-8")
        return [Entry(**json.loads(line)) for line in whole.split("\n") if line]


def write_names(path: Path, piece: int, names: PackedNames | NDArray[np.int64], *, first: int) -> None:
    """Write the names of a piece for DuckDB to read; of a bipartite graph, ``first`` of them are of the first side."""
    require("pyarrow", "ingesting names, or integers far apart,", "scale")
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(names, PackedNames):
        buffers = [None, pa.py_buffer(names.offsets), pa.py_buffer(np.ascontiguousarray(names.text))]
        column = pa.Array.from_buffers(pa.large_binary(), len(names.offsets) - 1, buffers)
    else:
        column = pa.array(names)
    rows = pa.array(np.arange(len(column), dtype=np.int32))
    side = np.arange(len(column)) >= first if first >= 0 else np.zeros(len(column), np.bool_)
    table = {"piece": np.full(len(column), piece, np.int32), "side": side, "row": rows, "name": column}
    pq.write_table(pa.table(table), path, compression="zstd", use_dictionary=["piece"])
