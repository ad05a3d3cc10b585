"""The second stage: the way of numbering ids, by bits or by a table, and the names of the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphrefine.graph.stored_writer import NameKind, map_file
from graphrefine.ingestion.input_table import InputTable
from graphrefine.ingestion.job import Job
from graphrefine.ingestion.numbering import (
    ByBits,
    ByTable,
    Join,
    NodeNumbers,
    by_bits,
    names_of_bits,
    own_numbers,
    saved_bits,
    to_utf8,
)
from graphrefine.ingestion.spool import Entry, Spool
from graphrefine.kernels.arcs import IdSet
from graphrefine.progress import Stages
from graphrefine.readers.options import ReadOptions
from graphrefine.system.work_folder import WorkFolder

SMALL = 4_000_000  # bytes of bits that are always worth it
JOINING = 40_000_000  # bytes that DuckDB takes beyond its limit


@dataclass(frozen=True)
class NamedNodes:
    """Nodes with their numbers and names."""

    nodes: NodeNumbers
    kind: NameKind
    encoding: str
    bytes: int  # of memory that numbering takes
    sources: int | None  # of a bipartite graph


def number(work: WorkFolder, job: Job, table: InputTable, spool: Spool, graph: Path, stages: Stages) -> NamedNodes:
    """Number the ids of all pieces, and write the names of the nodes."""
    state = work.state("numbered")
    if state is None:
        state = _by_bits(work, job, spool, graph, stages) or _by_table(work, job, spool, graph, stages)
        work.save("numbered", state)
    encoding = table.encoding or state["encoding"]
    sources = state["sources"] if job.options.bipartite else None
    if state["way"] == "bits":
        sets = saved_bits(work.path, 2 if job.options.bipartite else 1)
        size = sum(ids.bits.nbytes + ids.before.nbytes for ids in sets)
        return NamedNodes(ByBits(sets, job.options.thread_count), state["kind"], encoding, size, sources)
    nodes = ByTable(spool, map_file(work.path / "table.npy"), state["nodes"])
    joining = 200 * sum(entry.names for entry in spool.entries)  # bytes that DuckDB would take for them
    return NamedNodes(nodes, state["kind"], encoding, min(job.budget.join, joining) + JOINING, sources)


def _by_bits(work: WorkFolder, job: Job, spool: Spool, graph: Path, stages: Stages) -> dict[str, object] | None:
    """By bits, if all ids are integers and their range fits the budget."""
    filled = [entry for entry in spool.entries if entry.highest >= entry.lowest]
    if any(entry.names for entry in spool.entries) or not filled:
        return None
    whole = min(entry.lowest for entry in filled), max(entry.highest for entry in filled)
    ranges = [whole, whole] if job.options.bipartite else [whole]
    worth = SMALL + 16 * sum(entry.edges for entry in spool.entries)  # more than that is slower than the other way
    if sum(IdSet.bytes_for(*each) for each in ranges) > min(worth, job.budget.bits):
        return None
    sets = by_bits(spool, ranges, folder=work.path, advance=stages.advance)
    kind = names_of_bits(sets, whole[1], graph)
    return {"way": "bits", "kind": kind, "sources": int(sets[0].before[-1]), "encoding": "utf-8"}


def _by_table(work: WorkFolder, job: Job, spool: Spool, graph: Path, stages: Stages) -> dict[str, object]:
    """By a table that DuckDB makes; pieces of integers get names of their own first."""
    text = any(entry.names and not entry.own for entry in spool.entries)
    if not any(entry.own for entry in spool.entries):
        spool.replace([_with_names(spool, entry, text, job.options, stages) for entry in spool.entries])
    join = Join(spool, work.path / "duckdb", memory=job.budget.join, threads=job.options.thread_count)
    try:
        nodes, sources = join.number(), join.sources()
        valid = join.write_names(graph, strings=text)
        join.write_table(work.path / "table.npy")
    finally:
        join.close()
    if not valid:
        to_utf8(graph)
    kind = "strings" if text else "integers"
    encoding = "utf-8" if valid else "latin-1"
    return {"way": "table", "kind": kind, "nodes": nodes, "sources": sources, "encoding": encoding}


def _with_names(spool: Spool, entry: Entry, text: bool, options: ReadOptions, stages: Stages) -> Entry:
    stages.advance()
    if entry.names:
        return entry
    return own_numbers(spool, entry, text=text, bipartite=options.bipartite, threads=options.thread_count)
