"""Input table: all inputs as parts of one list of edges; the first stage writes them as pieces into the spool."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphrefine.errors import FormatError, InputError
from graphrefine.ingestion.job import Input, Job
from graphrefine.ingestion.pieces import EdgeFile, TableFile, TextFile
from graphrefine.ingestion.spool import TALLY, Edges, PackedNames, PieceEdges, Spool, select_edges
from graphrefine.progress import Stages
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.text import NO_RECORD
from graphrefine.system.work_folder import WorkFolder
from graphrefine.tables.source import SUFFIXES


@dataclass(frozen=True)
class InputTable:
    """The inputs as parts of one list of edges, opened as far as their layout."""

    inputs: Sequence[Input]
    parts: Sequence[EdgeFile]

    @property
    def name(self) -> str:
        """The name of the first input, and the count of the others."""
        first, *others = (each.source.name for each in self.inputs)
        return first if not others else f"{first} and {len(others)} more"

    @property
    def disk_bytes(self) -> int:
        """About the bytes of disk at the fullest moment: the arcs of all rows, and the files made of them."""
        # Pieces, which are smaller, go as their arcs are dealt, and arcs as their rows are written.
        files = zip(self.parts, self.inputs, strict=True)
        records = sum(each.size // 8 if part.records is None else part.records for part, each in files)
        return int(records * 2 * (8 + 4 * any(part.weighted for part in self.parts)) * 1.05) + (64 << 20)


def open_table(inputs: Sequence[Input], options: ReadOptions, folder: Path) -> InputTable:
    """Open all inputs, and check that all have weights or none has."""
    parts: list[EdgeFile] = []
    first: TextFile | None = None
    for number, each in enumerate(inputs):
        try:
            part = _part(each, options, folder / f"plain-{number}", first)
        except FormatError:
            raise
        except InputError as error:
            raise each.source.error(error) from None
        if first is None and isinstance(part, TextFile) and part.layout is not None:
            first = part
        parts.append(part)
    filled = [(part.weighted, each) for part, each in zip(parts, inputs, strict=True) if part.weighted is not None]
    for weighted, each in filled:
        if weighted != filled[0][0]:
            has, lacks = (each, filled[0][1]) if weighted else (filled[0][1], each)
            raise lacks.source.error(
                f"there are no weights here, and {has.source.name} has some; pass weights=False, or weights= a column",
                argument="weights",
            )
    if not filled:
        raise inputs[0].source.error(NO_RECORD, argument="comments")
    return InputTable(inputs, parts)


def read_pieces(work: WorkFolder, job: Job, table: InputTable, spool: Spool, stages: Stages) -> None:
    """Write all inputs as pieces; those of an earlier run are left out."""
    if work.state("read") is not None:
        return
    # Pieces are cut at the same records in every run of a job, as sizes follow from the budget that is written down: so
    # a later run leaves out as many as there are.
    sizes = np.cumsum([0, *(each.size for each in job.inputs)])
    percent = 0
    done = [0] * len(job.inputs)
    for entry in spool.entries:
        done[entry.file] += 1
    for number, part in enumerate(table.parts):
        size = job.budget.text if isinstance(part, TextFile) else job.budget.rows
        for piece in itertools.islice(part.pieces(size), done[number], None):
            spool.add(select_edges(piece, bipartite=bool(job.options.bipartite)), file=number)
            share = (sizes[number] + piece.share * (sizes[number + 1] - sizes[number])) / max(sizes[-1], 1)
            while percent < int(100 * share):
                percent += 1
                stages.advance()
    if sum(entry.tally["records"] for entry in spool.entries) == 0:
        raise FormatError(table.name, "there is no edge in the file, only a header", argument="header")
    if job.nodes is not None:
        spool.add(_alone(job.nodes, spool), file=len(job.inputs))
    for plain in work.path.glob("plain-*"):
        plain.unlink()
    work.save("read", True)


def _part(each: Input, options: ReadOptions, plain: Path, like: TextFile | None) -> EdgeFile:
    if each.format.pieces == "text":
        return TextFile(each.source, options, like)
    compressed = Path(each.source.path).suffix.lower() in SUFFIXES
    if compressed and not plain.exists():
        # Parquet and Arrow are read from their end, so a compressed one is unpacked on disk; renamed once it is whole,
        # as a run that goes on takes the file for all of the table.
        fresh = plain.with_suffix(".new")
        with fresh.open("wb") as file:
            for portion, _ in each.source.chunks(1 << 22):
                file.write(portion)
        fresh.replace(plain)
    path = str(plain) if compressed else each.source.path
    return TableFile(each.source, options, path, parquet=each.format.name == "parquet")


def _alone(nodes: Any, spool: Spool) -> PieceEdges:
    """Return the option ``nodes`` as a piece without edges."""
    none, empty = dict.fromkeys(TALLY, 0), np.zeros(0, np.int32)
    if isinstance(nodes, int):
        filled = [entry for entry in spool.entries if entry.highest >= entry.lowest]
        lowest = min((entry.lowest for entry in filled), default=0)
        highest = max((entry.highest for entry in filled), default=-1)
        others = ["strings"] if any(entry.names for entry in spool.entries) else []
        others += [str(id) for id in (lowest, highest) if not 0 <= id < nodes and filled]
        if others:
            problem = f"nodes={nodes} means nodes 0 to {nodes - 1}, and the edges mention {others[0]}"
            raise InputError(problem, argument="nodes")
        nodes = np.arange(nodes, dtype=np.int64)
    if nodes.dtype != object:
        return PieceEdges(Edges(empty, empty, alone=np.unique(nodes)), None, none)
    texts = sorted({str(name) for name in nodes.tolist()})
    # Names of Latin-1 are decoded when all of them are joined: those of the option must be written as they are.
    encoding = "utf-8" if all(entry.is_utf8 for entry in spool.entries) else "latin-1"
    try:
        encoded = [text.encode(encoding, "surrogateescape") for text in texts]
    except UnicodeEncodeError as error:
        problem = f"the edges are read as Latin-1, which lacks {error.object[error.start]!r} of a node; pass encoding="
        raise InputError(problem, argument="encoding") from None
    offsets = np.cumsum([0, *map(len, encoded)])
    return PieceEdges(Edges(empty, empty), PackedNames(np.frombuffer(b"".join(encoded), np.uint8), offsets), none)
