"""Ids to node numbers, in the order of the ids; and the names of the nodes.

Integers in a range that a bit for each fits the budget: the bits are set, and the number of a node is the count of bits
set before its own. Any other ids: each piece's own numbers become nodes' by a table, which DuckDB makes of the distinct
names of all pieces, on disk where they do not fit.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from errno import EIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, OutputError, require
from graphrefine.graph.node_ids import MAX_NODES, unpack
from graphrefine.graph.stored_writer import NameKind, NpyFile, map_file
from graphrefine.ingestion.input_table import InputTable
from graphrefine.ingestion.job import Job, Pages
from graphrefine.ingestion.pieces import pack_arrow
from graphrefine.ingestion.spool import Edges, Entry, Spool, write_names
from graphrefine.kernels.edge_lists import IdSet, number_ids
from graphrefine.progress import Stages
from graphrefine.readers.databases import stream_rows
from graphrefine.readers.options import ReadOptions
from graphrefine.system.work_folder import WorkFolder

PAGE = 1024  # nodes, or possible ids, whose arcs are counted together
SMALL = 4_000_000  # bytes of bits that are always worth it
# Bytes that DuckDB takes beyond its limit. Only the prediction uses it; the limit itself leaves room (`Budget.join`).
JOINING = 40_000_000
Ends = tuple[NDArray[np.int32], NDArray[np.int32]]  # node numbers of sources and of targets
_BATCH = 1 << 20  # names at a time


class ByBits:
    """Integers in a range: ranks in a set of bits, or in one for each side of a bipartite graph."""

    def __init__(self, sets: Sequence[IdSet], threads: int) -> None:
        self._sets, self._threads = sets, threads
        self.nodes = sum(int(ids.before[-1]) for ids in sets)

    def ends(self, entry: Entry, edges: Edges) -> Ends:
        """Return the node numbers of the ends of a piece's edges."""
        first, last = self._sets[0], self._sets[-1]
        target = last.ranks(edges.target, threads=self._threads)
        if last is not first:
            target += first.before[-1]
        return first.ranks(edges.source, threads=self._threads), target

    def pages(self) -> Pages:
        """Return node numbers at which pages begin, and that of nodes; and the count of arcs' ends in each page."""
        starts, before = [np.zeros(1, np.int64)], 0
        for ids in self._sets:
            starts.append(before + ids.page_ranks()[1:])
            before += int(ids.before[-1])
        return np.concatenate(starts), np.concatenate([ids.pages for ids in self._sets])


class ByTable:
    """Any ids: a table from the numbers of each piece to those of nodes."""

    def __init__(self, spool: Spool, table: NDArray[np.int32], nodes: int) -> None:
        self._spool, self._table, self.nodes = spool, table, nodes
        self._starts = np.append(0, np.cumsum([entry.names for entry in spool.entries]))

    def ends(self, entry: Entry, edges: Edges) -> Ends:
        """Return what `ByBits.ends` does."""
        table = self._table[self._starts[entry.number] : self._starts[entry.number + 1]]
        return table[edges.source], table[edges.target]

    def pages(self) -> Pages:
        """Return what `ByBits.pages` does."""
        counts = np.zeros(-(-self.nodes // PAGE), np.int64)
        for entry in self._spool.entries:
            for side in self.ends(entry, self._spool.edges(entry)):
                counts += np.bincount(side // PAGE, minlength=len(counts))
        return np.append(np.arange(0, self.nodes, PAGE), self.nodes), counts


NodeNumbers = ByBits | ByTable


@dataclass(frozen=True)
class NamedNodes:
    """Nodes with their numbers and names."""

    nodes: NodeNumbers
    kind: NameKind
    encoding: str
    bytes: int  # of memory that numbering takes
    sources: int | None  # of a bipartite graph


def number(work: WorkFolder, job: Job, table: InputTable, spool: Spool, graph: Path, stages: Stages) -> NamedNodes:
    """Assign numbers to the ids of all pieces, and write the names of the nodes."""
    state = work.state("numbered")
    if state is None:
        _refuse_overlap(job, table, spool)
        state = _by_bits(work, job, spool, graph, stages) or _by_table(work, job, spool, graph, stages)
        work.save("numbered", state)
    encoding = next((part.encoding for part in table.parts if part.encoding is not None), state["encoding"])
    sources = state["sources"] if job.options.bipartite else None
    if state["way"] == "bits":
        sets = _saved_bits(work.path, 2 if job.options.bipartite else 1)
        size = sum(ids.bits.nbytes + ids.before.nbytes for ids in sets)
        return NamedNodes(ByBits(sets, job.options.thread_count), state["kind"], encoding, size, sources)
    nodes = ByTable(spool, map_file(work.path / "table.npy"), state["nodes"])
    joining = 200 * sum(entry.names for entry in spool.entries)  # bytes that DuckDB would take for them
    return NamedNodes(nodes, state["kind"], encoding, min(job.budget.join, joining) + JOINING, sources)


def _refuse_overlap(job: Job, table: InputTable, spool: Spool) -> None:
    """Refuse integers on both sides of edges whose ends are of two sets, and other ids if these may be."""
    found = [(part.source, part.roles.sets) for part in table.parts if part.roles and part.roles.sets]
    if not found or job.options.bipartite is not None:
        return
    source, sets = found[0]
    is_text = any(entry.names for entry in spool.entries)
    if is_text and not sets.is_declared:
        return
    filled = [entry for entry in spool.entries if entry.highest >= entry.lowest and entry.file < len(job.inputs)]
    whole = min((entry.lowest for entry in filled), default=0), max((entry.highest for entry in filled), default=-1)
    if is_text or 2 * IdSet.bytes_for(*whole) > job.budget.bits:
        raise source.error(sets.refuse("ids may be in both"))
    sides = IdSet(*whole), IdSet(*whole)
    for edges in map(spool.edges, filled):
        for ids, side in zip(sides * 2, (edges.source, edges.target, edges.alone, edges.alone_targets), strict=True):
            ids.add(side)
    both = sides[0].bits & sides[1].bits
    if both.any():
        at = int(np.flatnonzero(both)[0])
        lowest_bit = (int(both[at]) & -int(both[at])).bit_length() - 1
        raise source.error(sets.refuse(f"{whole[0] + 64 * at + lowest_bit} is in both"))


def _by_bits(work: WorkFolder, job: Job, spool: Spool, graph: Path, stages: Stages) -> dict[str, object] | None:
    """Assign numbers by bits, if all ids are integers and their range fits the budget."""
    filled = [entry for entry in spool.entries if entry.highest >= entry.lowest]
    if any(entry.names for entry in spool.entries) or not filled:
        return None
    whole = min(entry.lowest for entry in filled), max(entry.highest for entry in filled)
    ranges = [whole, whole] if job.options.bipartite else [whole]
    worth = SMALL + 16 * sum(entry.edges for entry in spool.entries)  # more than that is slower than the other way
    if sum(IdSet.bytes_for(*each) for each in ranges) > min(worth, job.budget.bits):
        return None
    sets = _save_bits(spool, ranges, folder=work.path, advance=stages.advance)
    kind = _names_of_bits(sets, whole[1], graph)
    return {"way": "bits", "kind": kind, "sources": int(sets[0].before[-1]), "encoding": "utf-8"}


def _by_table(work: WorkFolder, job: Job, spool: Spool, graph: Path, stages: Stages) -> dict[str, object]:
    """Assign numbers by a table that DuckDB makes; pieces of integers get names first."""
    text = any(entry.names and not entry.own for entry in spool.entries)
    if not any(entry.own for entry in spool.entries):
        entries = []
        for entry in spool.entries:
            entries.append(entry if entry.names else _own_numbers(spool, entry, job.options, text=text))
            stages.advance()
        spool.replace(entries)
    # As in `read`, which decodes all names at once, a single name that is not UTF-8 makes all of them Latin-1: that is
    # known when the last piece has been read, and not before.
    encoding = "utf-8" if all(entry.is_utf8 for entry in spool.entries) else "latin-1"
    with _joining(spool, work.path / "duckdb", memory=job.budget.join, threads=job.options.thread_count) as join:
        nodes, sources = join.number()
        join.write_names(graph, encoding if text else None)
        join.write_table(work.path / "table.npy")
    kind = "strings" if text else "integers"
    return {"way": "table", "kind": kind, "nodes": nodes, "sources": sources, "encoding": encoding}


def _save_bits(
    spool: Spool, ranges: Sequence[tuple[int, int]], *, folder: Path, advance: Callable[[], None]
) -> list[IdSet]:
    """Return the set of all ids of a spool, or one for each side of a bipartite graph; also saved in files."""
    sets = [IdSet(*each) for each in ranges]
    for entry in spool.entries:
        source, target, _, alone, alone_targets = spool.edges(entry)
        for ids, side in ((sets[0], source), (sets[0], alone), (sets[-1], target), (sets[-1], alone_targets)):
            if len(side):
                ids.add(side)
        advance()
    try:
        for ids in sets:
            ids.close()
    except ValueError:
        raise _too_many() from None
    for number, ids in enumerate(sets):
        path, lowest = folder / f"ids-{number}.npz", np.int64(ids.lowest)
        np.savez(path, bits=ids.bits, before=ids.before, pages=ids.pages, lowest=lowest)
    return sets


def _saved_bits(folder: Path, count: int) -> list[IdSet]:
    """Return the sets that `_save_bits` saved."""
    sets = []
    for number in range(count):
        path = folder / f"ids-{number}.npz"
        try:
            with np.load(path) as arrays:
                ids = IdSet(int(arrays["lowest"]), int(arrays["lowest"]), bits=arrays["bits"])
                ids.before, ids.pages = arrays["before"], arrays["pages"]
        except BadZipFile as error:  # also where the file cannot be read
            raise OSError(EIO, f"cannot be read as it was written: {error}", str(path)) from None
        sets.append(ids)
    return sets


def _names_of_bits(sets: Sequence[IdSet], highest: int, folder: Path) -> NameKind:
    """Write the ids of sets as names of nodes, unless they are 0, 1, ..., n - 1."""
    if len(sets) == 1 and (sets[0].lowest, highest) == (0, int(sets[0].before[-1]) - 1):
        return "range"
    file = NpyFile(folder / "names.npy", np.int64)
    for ids in sets:
        for start in range(0, len(ids.bits), _BATCH // 64):
            words = ids.bits[start : start + _BATCH // 64].astype("<u8")
            present = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
            file.append(present + (ids.lowest + start * 64))
    file.close()
    return "integers"


def _own_numbers(spool: Spool, entry: Entry, options: ReadOptions, *, text: bool) -> Entry:
    """Turn a piece of integers into one with names: the integers themselves, or as ``text``."""
    source, target, weights, *alone = spool.edges(entry)
    ends = [np.concatenate([side.astype(np.int64), more]) for side, more in zip((source, target), alone, strict=True)]
    threads = options.thread_count
    if options.bipartite:
        (numbers, names), (others, more) = (_number(side, threads) for side in ends)
        first, numbered, names = len(names), [numbers, others + np.int32(len(names))], np.concatenate([names, more])
    else:
        whole, names = _number(np.concatenate(ends), threads)
        first, numbered = -1, [whole[: len(ends[0])], whole[len(ends[0]) :]]
    name_column: Any = names
    if text:
        import pyarrow as pa

        name_column = pack_arrow(pa.array(names).cast(pa.large_string()))
    write_names(spool.names_path(entry.number), entry.number, name_column, first=first)
    own = Edges(numbered[0][: entry.edges], numbered[1][: entry.edges], weights)
    own.write(spool.path(entry.number, own=True))
    return replace(entry, names=len(names), alone=0, alone_targets=0, wide=False, first=first, own=True)


def _number(ids: NDArray[np.int64], threads: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return ids as numbers in their order, and the distinct ids."""
    half = -(-len(ids) // 2)  # the kernel takes two arrays of one length
    first, second, names = number_ids(ids[:half], np.append(ids[half:], ids[: 2 * half - len(ids)]), threads=threads)
    return np.concatenate([first, second])[: len(ids)], names


@contextmanager
def _joining(spool: Spool, folder: Path, *, memory: int, threads: int) -> Iterator[Join]:
    """Yield a `Join`, whose errors are those of the disk."""
    require("duckdb", "numbering strings, or integers far apart,", "scale")
    import duckdb

    shutil.rmtree(folder, ignore_errors=True)  # the remains of a run that was killed at this stage
    folder.mkdir()
    settings = {"memory_limit": f"{memory // 2**20}MiB", "temp_directory": str(folder / "spilled"), "threads": threads}
    try:
        with duckdb.connect(
            str(folder / "names.duckdb"), config={**settings, "preserve_insertion_order": False}
        ) as base:
            yield Join(base, spool)
    except duckdb.Error as error:
        (problem, *_) = str(error).splitlines() or [type(error).__name__]
        raise OutputError(f"{folder}: names cannot be numbered there: {problem}; run the same command again") from error


class Join:
    """DuckDB with the names of all pieces, within its own budget."""

    def __init__(self, base: Any, spool: Spool) -> None:
        self._base = base
        paths = [str(spool.names_path(entry.number)) for entry in spool.entries if entry.names]
        files = ", ".join("'{}'".format(path.replace("'", "''")) for path in paths)
        # DuckDB's hash has no salt, and integers can be made to collide in it: it gets others, by a secret number.
        kind = self._base.execute(f"SELECT typeof(name) FROM read_parquet([{files}]) LIMIT 1").fetchall()
        self._plain = f"xor(name, {secrets.randbits(62)})" if kind == [("BIGINT",)] else "name"
        rows = f"SELECT * REPLACE ({self._plain} AS name) FROM read_parquet([{files}])"
        self._base.execute(f"CREATE VIEW listed AS {rows}")

    def number(self) -> tuple[int, int]:
        """Give every distinct name its number; return the counts of names, and of those on the first side."""
        self._base.execute(
            "CREATE TABLE numbered AS SELECT side, name, "
            f"(row_number() OVER (ORDER BY side, {self._plain}) - 1)::BIGINT AS node "
            "FROM (SELECT DISTINCT side, name FROM listed)"
        )
        ((count, sources),) = self._base.execute(
            "SELECT count(*), count(*) FILTER (WHERE NOT side) FROM numbered"
        ).fetchall()
        if count > MAX_NODES:
            raise _too_many()
        return count, sources

    def write_names(self, folder: Path, encoding: str | None) -> None:
        """Write the names in order, as UTF-8; None: integers."""
        names = NpyFile(folder / "names.npy", np.int64 if encoding is None else np.uint8)
        offsets = None if encoding is None else NpyFile(folder / "offsets.npy", np.int64)
        if offsets is not None:
            offsets.append(np.zeros(1, np.int64))
        for column in self._stream(f"SELECT {self._plain} FROM numbered ORDER BY node"):
            if offsets is None:
                names.append(column.to_numpy(zero_copy_only=False))
                continue
            text, ends = pack_arrow(column.cast("large_binary"))
            if encoding == "latin-1":
                ends = ends + np.append(0, np.cumsum(text >= 0x80))[ends]  # these characters take two bytes each
                text = np.frombuffer(text.tobytes().decode("latin-1").encode(), np.uint8)
            offsets.append(ends[1:] + names.count)
            names.append(text)
        names.close()
        if offsets is not None:
            offsets.close()

    def write_table(self, path: Path) -> None:
        """Write the node of every name of every piece, piece after piece."""
        table = NpyFile(path, np.int32)
        query = "SELECT node::INTEGER FROM listed JOIN numbered USING (side, name) ORDER BY piece, row"
        for column in self._stream(query):
            table.append(column.to_numpy(zero_copy_only=False))
        table.close()

    def _stream(self, query: str) -> Any:
        for batch in stream_rows(self._base, query, _BATCH):
            yield batch.column(0)


def _too_many() -> InputError:
    """Return the error for more nodes than there are numbers for."""
    return InputError(f"there are more than {MAX_NODES:,} nodes, which is the most that a graph can have here")


def open_texts(folder: Path, sources: int | None, *, most: int) -> list[list[str]]:
    """Return the names in the folder of a graph; of a bipartite one, those of each side. No more than the ``most``."""
    text, offsets = map_file(folder / "names.npy"), map_file(folder / "offsets.npy")
    if len(offsets) > most:
        return []
    bounds = [0, len(offsets) - 1] if sources is None else [0, sources, len(offsets) - 1]
    names = unpack(text, offsets).tolist()
    return [names[start:stop] for start, stop in pairwise(bounds)]
