"""A worker of a cluster: it runs tasks of the block engine, and reads all that they need from shared storage.

A worker gets paths, never data: the rows of the graph, the vectors of operators and the blocks of tall matrices are
files. It has one `engine.block_compute.BlockCompute` for its run, and computes one task at a time with all threads.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine import __version__
from graphrefine.engine.block_compute import BlockCompute, Counts, OperatorParts
from graphrefine.engine.layout import Layout
from graphrefine.engine.pipeline import Pipeline
from graphrefine.engine.tasks import Small, Task
from graphrefine.errors import FormatError, GraphRefineError
from graphrefine.graph.graph import Rows
from graphrefine.graph.stored import StoredPattern
from graphrefine.graph.stored_checks import check_sum
from graphrefine.kernels.numerics import NUMERICS_VERSION
from graphrefine.system.digest import hash_parts
from graphrefine.system.storage import Storage, StoredArray, as_bytes, open_storage, read_arrays

PLAN = "cluster/plan.npz"  # the layout, see `read_layout`
IDENTITIES = "cluster/identities.npy"
RUN = "cluster/run"  # the token of the run, by which a worker knows the folder
MANIFEST = "manifest.json"
PIECE = 1 << 22  # bytes that are read at a time for a checksum

_lock = Lock()
_computes: dict[str, BlockCompute] = {}  # by run; of this process


class Versions(NamedTuple):
    """Versions of a process; results of workers are joined only where those of the client are the same."""

    package: str  # graphrefine
    numerics: int


def own_versions() -> Versions:
    """Return the versions of this process."""
    return Versions(__version__, NUMERICS_VERSION)


def find_difference(theirs: object) -> str | None:
    """Explain why the results of a process cannot be joined with those of this one; None where they can.

    Examples
    --------
    >>> find_difference(own_versions()) is None
    True
    >>> find_difference(own_versions()._replace(numerics=7))
    'it has numerics version 7, and this machine 1: install the same version there'
    """
    if not isinstance(theirs, Versions):
        return "it does not state its version of graphrefine: install the same version there"
    for name, own, other in zip(("graphrefine", "numerics version"), own_versions(), theirs, strict=True):
        if own != other:
            return f"it has {name} {other}, and this machine {own}: install the same version there"
    return None


class RunSite(NamedTuple):
    """The paths of a run's files, and settings of its workers."""

    run: str
    storage: str
    graph: str
    threads: int | None  # None: as many as the worker has
    identities: bool
    versions: Versions  # of the client
    fingerprint: str  # of the graph


class TaskBatch(NamedTuple):
    """Tasks for a worker, with the operators and vectors that they name."""

    tasks: Sequence[Task]
    operators: Mapping[int, OperatorParts]  # names of files instead of vectors
    weights: str | None  # name of the vector that tasks use
    suspect: frozenset[int]


class BatchResult(NamedTuple):
    """Results of a batch: a small one for each task, or an error; and the blocks and bytes that were moved."""

    worker: str
    versions: Versions
    small: list[Small]
    error: str | None
    blocks: int
    bytes_read: int
    bytes_written: int


class CachedSlice:
    """A vector on a storage, with its last slice in memory: tasks ask for the same one again and again."""

    def __init__(self, storage: Storage, name: str) -> None:
        self._array = StoredArray(storage, name)
        self._span: slice | None = None
        self._slice: NDArray[Any] = np.empty(0, self._array.dtype)

    def __getitem__(self, which: slice) -> NDArray[Any]:
        if self._span != which:
            self._slice, self._span = self._array[which], which
        return self._slice


class CheckedPattern(StoredPattern):
    """Rows of a graph on a storage; the checksum of a block is compared when it is first read from.

    Examples
    --------
    >>> import tempfile
    >>> from graphrefine.graph.graph import Graph
    >>> from graphrefine.graph.graph import store
    >>> path = f"{tempfile.mkdtemp()}/triangle.grf"
    >>> store(Graph.from_edges(["a", "b", "c"], ["b", "c", "a"]), path)
    >>> storage = open_storage(path)
    >>> CheckedPattern(storage, json.loads(read_all(storage, MANIFEST))).rows(1, 3).indices.tolist()
    [0, 2, 0, 1]
    """

    def __init__(self, storage: Storage, manifest: Mapping[str, Any], *, reverse: bool = False) -> None:
        super().__init__(storage, weighted=manifest["weighted"], reverse=reverse)
        self._table = manifest[f"{self.side}blocks"]
        self._ends = np.array([block["rows"][1] for block in self._table], np.int64)
        self._verified = np.zeros(len(self._table), bool)

    def rows(self, start: int, stop: int) -> Rows:
        """See `engine.block_compute.Pattern.rows`."""
        first_block = int(np.searchsorted(self._ends, start, side="right"))
        for number in range(first_block, int(np.searchsorted(self._ends, stop, side="left")) + 1):
            if number < len(self._table) and not self._verified[number]:
                self._verify(number)
        return super().rows(start, stop)

    def _verify(self, number: int) -> None:
        block = self._table[number]
        first, last = block["entries"]
        for name, expected in block["crc32"].items():
            array, checksum = self.array(name), 0
            step = PIECE // array.dtype.itemsize
            for at in range(first, last, step):
                checksum = zlib.crc32(as_bytes(array[at : min(at + step, last)]), checksum)
            file = f"{self.side}{name}"
            check_sum(self.storage.root, file, number, (first, last), actual=checksum, expected=expected)
        self._verified[number] = True


def read_all(storage: Storage, name: str) -> bytes | None:
    """Return the bytes of a file; None without one on the storage."""
    size = storage.size(name)
    if size is None:
        return None
    content = np.empty(size, np.uint8)
    storage.read_into(name, content)
    return content.tobytes()


def read_layout(storage: Storage) -> tuple[Layout, int] | None:
    """Return the layout of a run and the number of blocks of a product's task; None without one on the storage."""
    plan = read_arrays(storage, PLAN)
    if plan is None:
        return None
    columns, panel, group = plan["sizes"].astype(int).tolist()
    return Layout(plan["bounds"].astype(np.int64), plan["chunks"].astype(np.int64), columns, panel), group


def run_batch(site: RunSite, batch: TaskBatch) -> BatchResult:
    """Run tasks, on a worker; an error of ours is returned, not raised."""
    with _lock:
        name, versions = str(_worker().address), own_versions()
        # Returned: Dask would log what is raised, and try it again on every other worker, where it is no better.
        try:
            # A worker that joined after the check of all would write blocks with other bits. The client compares too,
            # and names the difference.
            if site.versions != versions:
                raise FormatError(f"the worker {name}", "its versions are not those of the client")
            compute = _compute_of(site)
            compute.counts = counts = Counts()
            _register(compute, batch)
            small = [part for _, part in Pipeline(compute).run(batch.tasks)]
        except GraphRefineError as problem:
            return BatchResult(name, versions, [], str(problem), 0, 0, 0)
        return BatchResult(name, versions, small, None, counts.blocks, counts.bytes_read, counts.bytes_written)


def forget_run(run: str) -> None:
    """Free the memory of a run."""
    with _lock:
        _computes.pop(run, None)


def _worker() -> Any:
    from distributed import get_worker

    return get_worker()


def _compute_of(site: RunSite) -> BlockCompute:
    if site.run not in _computes:
        _computes.clear()  # of runs that are over
        storage, graph = open_storage(site.storage), open_storage(site.graph)
        # A path may lead elsewhere here: to nothing, to the work of another run, or to another graph of the same name.
        plan, token = read_layout(storage), read_all(storage, RUN)
        if plan is None or token != site.run.encode():
            raise FormatError(
                storage.root, "is not the work folder of the run, as this worker sees it; share the folder"
            )
        content = read_all(graph, MANIFEST)
        if content is None:
            raise FormatError(graph.root, f"{MANIFEST} is missing: not a graph on disk")
        if hash_parts(content) != site.fingerprint:
            raise FormatError(graph.root, "is another graph, as this worker sees it; share the graph")
        manifest = json.loads(content)
        patterns = {"rows": CheckedPattern(graph, manifest)}
        if manifest["directed"]:
            patterns["arrivals"] = CheckedPattern(graph, manifest, reverse=True)
        _computes[site.run] = BlockCompute(
            storage,
            plan[0],
            patterns,
            threads=site.threads or _worker().state.nthreads,
            identities=StoredArray(storage, IDENTITIES) if site.identities else None,
        )
    return _computes[site.run]


def _register(compute: BlockCompute, batch: TaskBatch) -> None:
    for number, files in batch.operators.items():
        if number not in compute.operators:
            vectors = {name: CachedSlice(compute.storage, file) for name, file in files.vectors.items()}
            compute.operators[number] = files._replace(vectors=vectors)
    if batch.weights is not None and batch.weights not in compute.vectors:
        compute.vectors = {batch.weights: StoredArray(compute.storage, weights_file(batch.weights))}
    compute.suspect |= batch.suspect


def weights_file(name: str) -> str:
    """Return the file of a vector that tasks name, in a separate folder."""
    return f"cluster/{name}/vector.npy"
