"""The second stage: which way ids are numbered, and the names of the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graphrefine.ingesting.job import Job
from graphrefine.ingesting.numbering import (
    ByBits,
    ByTable,
    Join,
    Numbered,
    by_bits,
    names_of_bits,
    own_numbers,
    saved_bits,
    to_utf8,
)
from graphrefine.ingesting.reading import Table
from graphrefine.ingesting.spool import Entry, Spool
from graphrefine.kernels.ingest import IdSet
from graphrefine.progress import Stages
from graphrefine.storing import NameKind, map_file
from graphrefine.workfolder import WorkFolder


@dataclass(frozen=True)
class Named:
    """Nodes with their numbers and names."""

    nodes: Numbered
    kind: NameKind
    encoding: str
    bytes: int  # of memory that their numbers take


def number(work: WorkFolder, job: Job, table: Table, spool: Spool, graph: Path, stages: Stages) -> Named:
    """Number the ids of all pieces, and write the names of the nodes."""
    state = work.state("numbered")
    if state is None:
        state = _by_bits(work, job, spool, graph, stages) or _by_table(work, job, spool, graph, stages)
        work.save("numbered", state)
    encoding = table.encoding or state["encoding"]
    if state["way"] == "bits":
        ids = saved_bits(work.path / "ids.npz")
        return Named(ByBits(ids, job.options.threads), state["kind"], encoding, ids.bits.nbytes + ids.before.nbytes)
    nodes = ByTable(spool, map_file(work.path / "table.npy"), state["nodes"])
    return Named(nodes, state["kind"], encoding, 0)


def _by_bits(work: WorkFolder, job: Job, spool: Spool, graph: Path, stages: Stages) -> dict[str, object] | None:
    """By bits, if all ids are integers and their range fits the budget."""
    known = [entry for entry in spool.entries if entry.highest >= entry.lowest]
    if any(entry.names for entry in spool.entries) or not known:
        return None
    lowest, highest = min(entry.lowest for entry in known), max(entry.highest for entry in known)
    if IdSet.bytes_for(lowest, highest) > job.budget.bits:
        return None
    ids = by_bits(spool, lowest, highest, saved=work.path / "ids.npz", advance=stages.advance)
    kind = names_of_bits(ids, highest, graph)
    return {"way": "bits", "kind": kind, "nodes": int(ids.before[-1]), "encoding": "utf-8"}


def _by_table(work: WorkFolder, job: Job, spool: Spool, graph: Path, stages: Stages) -> dict[str, object]:
    """By a table that DuckDB makes; pieces of integers get names of their own first."""
    text = any(entry.names and not entry.own for entry in spool.entries)
    if not any(entry.own for entry in spool.entries):
        spool.replace([_with_names(spool, entry, text, job.options.threads, stages) for entry in spool.entries])
    join = Join(spool, work.path / "duckdb", memory=job.budget.join, threads=job.options.threads)
    try:
        nodes = join.number()
        valid = join.write_names(graph, strings=text)
        join.write_table(work.path / "table.npy")
    finally:
        join.close()
    if not valid:
        to_utf8(graph)
    kind = "strings" if text else "integers"
    return {"way": "table", "kind": kind, "nodes": nodes, "encoding": "utf-8" if valid else "latin-1"}


def _with_names(spool: Spool, entry: Entry, text: bool, threads: int, stages: Stages) -> Entry:
    stages.advance()
    return entry if entry.names else own_numbers(spool, entry, text=text, threads=threads)
