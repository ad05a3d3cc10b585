"""Spool: the pieces that were read, each in a file of its own, described by a line of JSON.

A file has the sources, the targets, the weights if there are any, and the ids that no edge mentions. Names, where ids
are strings, are in a parquet file beside it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.ingestion.pieces import PackedNames, PieceEdges


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
    lowest: int  # of the ids
    highest: int
    comments: int
    tally: dict[str, int]
    alone_targets: int = 0  # of a bipartite graph, as is all that follows: ids of the second side that no edge mentions
    first: int = -1  # the number of names on the first side
    own: bool = False  # whether it had integers at first, and has names since


class Edges(NamedTuple):
    """The edges of a piece."""

    source: NDArray[Any]
    target: NDArray[Any]
    weights: NDArray[np.float32] | None
    alone: NDArray[np.int64]
    alone_targets: NDArray[np.int64]


class Spool:
    """The pieces in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._log = folder / "pieces.jsonl"
        self.entries = self._read_log()

    def add(self, piece: PieceEdges, *, file: int, comments: int) -> Entry:
        """Write the edges of a piece."""
        number, wide = len(self.entries), np.int64 in (piece.source.dtype, piece.target.dtype)
        kind = np.int64 if wide else np.int32
        ends = [] if piece.names is not None else [piece.source, piece.target, piece.alone, piece.alone_targets]
        with self.path(number, own=False).open("wb") as out:
            for array in (piece.source.astype(kind, copy=False), piece.target.astype(kind, copy=False)):
                out.write(np.ascontiguousarray(array).data)
            if piece.weights is not None:
                out.write(np.ascontiguousarray(piece.weights).data)
            out.write(piece.alone.data)
            out.write(piece.alone_targets.data)
        if piece.names is not None:
            write_names(self.names_path(number), number, piece.names, first=piece.first)
        lowest, highest = _range(ends)
        entry = Entry(
            number=number,
            file=file,
            edges=len(piece.source),
            alone=len(piece.alone),
            wide=wide,
            weighted=piece.weights is not None,
            names=0 if piece.names is None else len(piece.names.offsets) - 1,
            lowest=lowest,
            highest=highest,
            comments=comments,
            tally=piece.tally,
            alone_targets=len(piece.alone_targets),
            first=piece.first,
        )
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(asdict(entry)) + "\n")
        self.entries.append(entry)
        return entry

    def edges(self, entry: Entry) -> Edges:
        """The arrays of a piece."""
        kind = np.dtype(np.int64 if entry.wide else np.int32)
        with self.path(entry.number, own=entry.own).open("rb") as file:
            source, target = (np.fromfile(file, kind, entry.edges) for _ in range(2))
            weights = np.fromfile(file, np.float32, entry.edges) if entry.weighted else None
            alone, more = (np.fromfile(file, np.int64, count) for count in (entry.alone, entry.alone_targets))
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
        """The file of the arrays of a piece."""
        return self.folder / f"{number:06d}.{'own' if own else 'bin'}"

    def names_path(self, number: int) -> Path:
        """The file of the names of a piece."""
        return self.folder / f"{number:06d}.parquet"

    def _read_log(self) -> list[Entry]:
        """The entries of an earlier run. Its last line may have been cut short: that piece is read again."""
        if not self._log.exists():
            return []
        whole, _, _ = self._log.read_text(encoding="utf-8").rpartition("\n")
        self._log.write_text(whole + "\n" if whole else "", encoding="utf-8")
        return [Entry(**json.loads(line)) for line in whole.split("\n") if line]


def _range(ends: Sequence[NDArray[Any]]) -> tuple[int, int]:
    """The lowest and the highest id; 0 and -1 if there is none."""
    filled = [side for side in ends if len(side)]
    return min((int(side.min()) for side in filled), default=0), max((int(side.max()) for side in filled), default=-1)


def write_names(path: Path, piece: int, names: PackedNames | NDArray[np.int64], *, first: int) -> None:
    """Write the names of a piece for DuckDB to read; of a bipartite graph, ``first`` of them are of the first side."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(names, PackedNames):
        buffers = [None, pa.py_buffer(names.offsets), pa.py_buffer(np.ascontiguousarray(names.text))]
        column = pa.Array.from_buffers(pa.large_binary(), len(names.offsets) - 1, buffers)
    else:
        column = pa.array(names)
    places = pa.array(np.arange(len(column), dtype=np.int32))
    side = np.arange(len(column)) >= first if first >= 0 else np.zeros(len(column), np.bool_)
    table = {"piece": np.full(len(column), piece, np.int32), "side": side, "place": places, "name": column}
    pq.write_table(pa.table(table), path, compression="zstd", use_dictionary=["piece"])
