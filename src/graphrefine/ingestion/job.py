"""Job: input files, by names, folders and patterns; options; and the budget of memory, from which all sizes follow.

It is written down, so that a run that goes on has the same files, options and sizes.
"""

from __future__ import annotations

import glob
import json
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, OutputError
from graphrefine.graph.stored import is_stored
from graphrefine.ingestion.spool import Spool
from graphrefine.readers.formats import BY_SUFFIX, Format, find_format, is_ogb_folder
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.read import read_nodes
from graphrefine.system.digest import digest_names
from graphrefine.system.memory import budget_of
from graphrefine.system.work_folder import FORMAT, WorkFolder
from graphrefine.tables.source import Source

BASE = 160_000_000  # bytes set aside for Python, NumPy, pyarrow and their caches
# Bytes that these really take, to which the remains of a piece are added. It is only for the prediction: with a wrong
# one, `predicted_mb` is off, but the budget holds.
USUAL = 85_000_000
LEAST = 256_000_000
Pages = tuple[NDArray[np.int64], NDArray[np.int64]]  # nodes at which pages begin, and the ends of arcs in each
RECORD = 64  # bytes of memory for each record of a piece, at most: ids, node numbers, records of arcs
# Marks of folders whose log lists the files that count: others in them were deleted or replaced, and their edges would
# be read without a word.
LOGGED = {"Delta Lake": "_delta_log", "Iceberg": "metadata/*.metadata.json", "Hudi": ".hoodie"}
DEEPEST = 3  # folders above a file, one of which may be such a table: table/data/partition=1/file
_NO_PARTS = ("json", "sqlite", "duckdb")  # formats of files next to tables, such as their schema, that are no parts


@dataclass(frozen=True)
class Input:
    """A file of edges."""

    source: Source
    format: Format
    size: int  # in bytes
    changed: int  # when, in nanoseconds


def find_inputs(paths: Sequence[str | os.PathLike[str]], name: str | None) -> list[Input]:
    """Return the files of names, folders (every file in them with the suffix of a format) and patterns, in order."""
    files = [file for path in paths for file in _files(os.fspath(path))]
    if not files:
        raise InputError("there is nothing to ingest: name at least one file", argument="paths")
    seen: set[str] = set()
    for path in files:
        if os.path.realpath(path) in seen:
            problem = "is given twice, and its edges would count twice; leave one out"
            raise InputError(f"{path}: {problem}", argument="paths")
        seen.add(os.path.realpath(path))
    _check_plain(dict.fromkeys(folder for each in files for folder in [*Path(each).absolute().parents][:DEEPEST]))
    return [_input(path, name) for path in files]


def _files(path: str) -> list[str]:
    """Return the files of a name, a folder or a pattern."""
    problem, found = "", [path]
    if path == "-":
        problem = "standard input cannot be ingested, as it cannot be read twice: use a file"
    elif Path(path).is_dir() and is_stored(path):
        problem = "is a graph on disk already; embed it as it is"
    elif Path(path).is_dir() and is_ogb_folder(path):
        problem = "is a graph of OGB; name the file raw/edge.csv.gz in it"
    elif Path(path).is_dir():
        inside = [Path(path), *sorted(Path(path).rglob("*"))]
        _check_plain(each for each in inside if each.is_dir())
        found = [str(each) for each in inside if each.is_file() and _is_table(each)]
        problem = "" if found else "there is no file of a known format in this folder"
    elif not os.path.lexists(path) and glob.has_magic(path):
        found = sorted(each for each in glob.glob(path, recursive=True) if Path(each).is_file())  # noqa: PTH207
        problem = "" if found else "no file matches this pattern"
    if problem:
        raise InputError(f"{path}: {problem}", argument="paths")
    return found


def _check_plain(folders: Iterable[Path]) -> None:
    """Refuse tables of Delta Lake, Iceberg and Hudi, of whose files only those count that their log names."""
    for folder in folders:
        for kind, mark in LOGGED.items():
            if any(folder.glob(mark)):
                raise InputError(
                    f"{folder}: is a table of {kind}, whose folder also holds files that were deleted or replaced; "
                    "write the rows that count as plain parquet first, and name that",
                    argument="paths",
                )


def _is_table(path: Path) -> bool:
    format = BY_SUFFIX.get(Source(path).suffix)
    return format is not None and format.name not in _NO_PARTS and not path.name.startswith((".", "_"))


def _input(path: str, name: str | None) -> Input:
    source = Source(path)
    try:
        about = Path(path).stat()
    except OSError as error:
        raise source.error(f"the file cannot be read: {error.strerror or error}") from None
    if not stat.S_ISREG(about.st_mode):
        raise source.error("a pipe or device cannot be ingested, as it cannot be read twice: use a file")
    return Input(source, find_format(source, name, lambda: source.head), about.st_size, about.st_mtime_ns)


@dataclass(frozen=True)
class Job:
    """The inputs, the options of reading them, and the budget."""

    inputs: Sequence[Input]
    options: ReadOptions
    nodes: Any  # a number, an array of names, or None
    budget: Budget
    resumed: bool


def begin(work: WorkFolder, inputs: Sequence[Input], options: ReadOptions, *, memory: int | None) -> Job:
    """Begin in an empty work folder, or go on with the work in it, and its budget, if it is the same job."""
    nodes = read_nodes(options.nodes)
    values = {each.name: getattr(options, each.name) for each in fields(options)}
    values = {name: value for name, value in values.items() if name not in ("threads", "nodes")}
    stamps = [[os.path.realpath(each.source.path), each.format.name, each.size, each.changed] for each in inputs]
    chosen = nodes if nodes is None or isinstance(nodes, int) else digest_names(nodes)
    description = {"inputs": stamps, "options": values, "nodes": chosen}
    description = json.loads(json.dumps(description))
    state = work.state("job")
    if state is None:
        budget = Budget(budget_of(memory))
        check_memory(budget.memory)
        work.clear()
        work.save("job", {"format": FORMAT, **description, "memory": budget.memory})
        return Job(inputs, options, nodes, budget, resumed=False)
    work.check_format(state)
    before, now = (
        {**each["options"], "inputs": each["inputs"], "nodes": each["nodes"]} for each in (state, description)
    )
    changed = [name for name, value in now.items() if before.get(name) != value]
    if memory is not None and memory < state["memory"]:
        changed.append("memory")
    if changed:
        raise OutputError(
            f"{work.path}: holds work that was begun with other {', '.join(changed)}; delete that folder to start "
            "again, or run the job that it was begun with"
        )
    return Job(inputs, options, nodes, Budget(state["memory"]), resumed=True)


# ---- the budget ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    """A budget of memory in bytes, and the sizes that follow from it."""

    memory: int

    @property
    def free(self) -> int:
        """Bytes for the graph."""
        return self.memory - BASE

    @property
    def rows(self) -> int:
        """Records of a table in a piece."""
        return int(min(max(self.free // 8 // RECORD, 1 << 12), 1 << 22))

    @property
    def text(self) -> int:
        """Bytes of text in a piece; a record takes at least four."""
        return int(min(max(self.free // 8 // (RECORD // 4), 1 << 16), 1 << 25))

    @property
    def bits(self) -> int:
        """Bytes for sets with a bit for each possible id."""
        return self.free // 2

    @property
    def bucket(self) -> int:
        """Bytes for merging the arcs of a bucket of rows."""
        # Larger buckets would leave the caches of the processor and gain nothing.
        return min(self.free // 2, 1 << 29)

    @property
    def join(self) -> int:
        """Bytes for DuckDB, which goes a little beyond its limit."""
        return max(self.free // 2, 64 << 20)

    def predicted(self, spool: Spool, pages: Pages, bounds: NDArray[np.int32], *, each: int, named: int) -> int:
        """Return the bytes of memory that the work will take at most, from its pieces and nodes."""
        starts, arcs = pages
        piece = max(entry.edges for entry in spool.entries)
        ends, sums = np.searchsorted(starts, bounds), np.append(0, np.cumsum(arcs))
        merging = int(((sums[ends[1:]] - sums[ends[:-1]]) * each + np.diff(bounds) * 40).max(initial=0))
        return USUAL + 32 * piece + max(16 * piece + named, merging, 9 * int(starts[-1]))


def check_memory(memory: int, nodes: int = 0) -> None:
    """Refuse a budget that is too small, and again with the number of nodes."""
    least = max(LEAST, BASE + 10 * nodes)  # the sums of rows, and of a block of columns
    if memory < least:
        of = f" for {nodes:,} nodes" if nodes else ""
        raise InputError(
            f"memory={memory / 1e6:,.0f}MB is too little; the least possible{of} is {-(-least // 10**6):,} MB",
            argument="memory",
        )


def bucket_bounds(
    starts: NDArray[np.int64], arcs: NDArray[np.int64], *, each: int, most: int, room: int
) -> NDArray[np.int32]:
    """Return the rows where buckets begin, so that merging one takes ``most`` bytes; refuse a page beyond ``room``."""
    costs = arcs * each + np.diff(starts) * 40
    if len(costs) and costs.max() > room:
        least = int(BASE + 2 * costs.max())
        raise InputError(
            "the budget of memory is too small for the nodes with most edges; "
            f"the least possible is {-(-least // 10**6):,} MB",
            argument="memory",
        )
    bounds, total = [0], 0
    for page, cost in enumerate(costs.tolist()):
        if total and total + cost > most:
            bounds.append(int(starts[page]))
            total = 0
        total += cost
    return np.array([*bounds, int(starts[-1])], np.int32)
