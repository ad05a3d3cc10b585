"""The pieces that were read, each in a file of its own; a line of JSON for each says what it is.

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

from graphrefine.ingestion.pieces import Kept, Packed


@dataclass(frozen=True)
class Entry:
    """What is known of a piece without opening it."""

    number: int
    file: int  # which input
    edges: int
    alone: int
    wide: bool  # int64 rather than int32
    weighted: bool
    names: int  # how many; 0: ids are integers
    lowest: int  # of the ids
    highest: int
    comments: int
    tally: dict[str, int]
    alone_targets: int = 0  # of a bipartite graph, as is all that follows: ids of the second side that no edge mentions
    first: int = -1  # how many of the names are on the first side
    own: bool = False  # whether it was integers at first, and has been given names since


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
        self.entries = self._known()

    def add(self, kept: Kept, *, file: int, comments: int) -> Entry:
        """Keep a piece."""
        number, wide = len(self.entries), np.int64 in (kept.source.dtype, kept.target.dtype)
        kind = np.int64 if wide else np.int32
        ends = [] if kept.names is not None else [kept.source, kept.target, kept.alone, kept.alone_targets]
        with self.path(number, own=False).open("wb") as out:
            for array in (kept.source.astype(kind, copy=False), kept.target.astype(kind, copy=False)):
                out.write(np.ascontiguousarray(array).data)
            if kept.weights is not None:
                out.write(np.ascontiguousarray(kept.weights).data)
            out.write(kept.alone.data)
            out.write(kept.alone_targets.data)
        if kept.names is not None:
            write_names(self.names_path(number), number, kept.names, first=kept.first)
        lowest, highest = _range(ends)
        entry = Entry(
            number=number,
            file=file,
            edges=len(kept.source),
            alone=len(kept.alone),
            wide=wide,
            weighted=kept.weights is not None,
            names=0 if kept.names is None else len(kept.names.offsets) - 1,
            lowest=lowest,
            highest=highest,
            comments=comments,
            tally=kept.tally,
            alone_targets=len(kept.alone_targets),
            first=kept.first,
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
        """Delete the arrays of a piece, which are no longer needed."""
        self.path(entry.number, own=entry.own).unlink(missing_ok=True)

    def replace(self, entries: list[Entry]) -> None:
        """Take other entries for the same pieces, and delete the arrays that these no longer mean."""
        fresh = self._log.with_suffix(".new")
        fresh.write_text("".join(json.dumps(asdict(entry)) + "\n" for entry in entries), encoding="utf-8")
        fresh.replace(self._log)
        self.entries = entries
        for entry in entries:
            if entry.own:
                self.path(entry.number, own=False).unlink(missing_ok=True)

    def path(self, number: int, *, own: bool) -> Path:
        """Where the arrays of a piece are."""
        return self.folder / f"{number:06d}.{'own' if own else 'bin'}"

    def names_path(self, number: int) -> Path:
        """Where the names of a piece are."""
        return self.folder / f"{number:06d}.parquet"

    def _known(self) -> list[Entry]:
        """What an earlier run has kept. Its last line may have been cut short: that piece is read again."""
        if not self._log.exists():
            return []
        whole, _, _ = self._log.read_text(encoding="utf-8").rpartition("\n")
        self._log.write_text(whole + "\n" if whole else "", encoding="utf-8")
        return [Entry(**json.loads(line)) for line in whole.split("\n") if line]


def _range(ends: Sequence[NDArray[Any]]) -> tuple[int, int]:
    """The lowest and the highest id; 0 and -1 if there is none."""
    filled = [side for side in ends if len(side)]
    return min((int(side.min()) for side in filled), default=0), max((int(side.max()) for side in filled), default=-1)


def write_names(path: Path, piece: int, names: Packed | NDArray[np.int64], *, first: int) -> None:
    """Write the names of a piece for DuckDB to read; of a bipartite graph, ``first`` of them are of the first side."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(names, Packed):
        buffers = [None, pa.py_buffer(names.offsets), pa.py_buffer(np.ascontiguousarray(names.text))]
        column = pa.Array.from_buffers(pa.large_binary(), len(names.offsets) - 1, buffers)
    else:
        column = pa.array(names)
    places = pa.array(np.arange(len(column), dtype=np.int32))
    side = np.arange(len(column)) >= first if first >= 0 else np.zeros(len(column), np.bool_)
    table = {"piece": np.full(len(column), piece, np.int32), "side": side, "place": places, "name": column}
    pq.write_table(pa.table(table), path, compression="zstd", use_dictionary=["piece"])
