"""A worker of a cluster: it runs tasks of the block engine, and reads all that they need from shared storage.

A worker gets paths, never data: the rows of the graph, the vectors of operators and the blocks of tall matrices are
files. It has one `engine.block_compute.BlockCompute` for its run, and computes one task at a time with all threads.
"""

from __future__ import annotations

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
from graphrefine.graph.stored import open_stored, read_patterns
from graphrefine.kernels.numerics import NUMERICS_VERSION
from graphrefine.system.storage import Storage, StoredArray, read_arrays

PLAN = "cluster/plan.npz"  # the layout, see `read_layout`
IDENTITIES = "cluster/identities.npy"
RUN = "cluster/run"  # the token of the run, by which a worker knows the folder

_lock = Lock()
_computes: dict[str, BlockCompute] = {}  # by run; of this process


def describe_versions() -> str:
    """Return the versions of this process; results of workers are joined only where they are those of the client."""
    return f"graphrefine {__version__} with numerics version {NUMERICS_VERSION}"


class RunSite(NamedTuple):
    """The paths of a run's files, and settings of its workers."""

    run: str
    storage: str
    graph: str
    identities: bool
    versions: str  # of the client
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


def read_layout(storage: Storage) -> tuple[Layout, int] | None:
    """Return the layout of a run and the number of blocks of a product's task; None without one on the storage."""
    plan = read_arrays(storage, PLAN)
    if plan is None:
        return None
    columns, panel, group = plan["sizes"].astype(int).tolist()
    return Layout(plan["bounds"].astype(np.int64), plan["chunks"].astype(np.int64), columns, panel), group


def run_batch(site: RunSite, batch: TaskBatch) -> BatchResult:
    """Run tasks, on a worker; an error of ours is returned, not raised."""
    from distributed import get_worker

    with _lock:
        worker = get_worker()
        name = str(worker.address)
        # Returned: Dask would log what is raised, and try it again on every other worker, where it is no better.
        try:
            if site.versions != describe_versions():  # its blocks might have other bits
                problem = (
                    f"it has {describe_versions()}, and the client {site.versions}: install the same version there"
                )
                raise FormatError(f"the worker {name}", problem)
            compute = _compute_of(site, threads=worker.state.nthreads)
            compute.counts = counts = Counts()
            _register(compute, batch)
            small = [part for _, part in Pipeline(compute).run(batch.tasks)]
        except GraphRefineError as problem:
            return BatchResult(name, [], str(problem), 0, 0, 0)
        return BatchResult(name, small, None, counts.blocks, counts.bytes_read, counts.bytes_written)


def forget_run(run: str) -> None:
    """Free the memory of a run."""
    with _lock:
        _computes.pop(run, None)


def _compute_of(site: RunSite, *, threads: int) -> BlockCompute:
    if site.run not in _computes:
        _computes.clear()  # of runs that are over
        storage = Storage(site.storage)
        # A path may lead elsewhere here: to nothing, to the work of another run, or to another graph of the same name.
        plan = read_layout(storage)
        if plan is None or storage.read(RUN) != site.run.encode():
            raise FormatError(
                storage.root, "is not the work folder of the run, as this worker sees it; share the folder"
            )
        graph = open_stored(site.graph, verify=False)
        if graph.fingerprint != site.fingerprint:
            raise FormatError(site.graph, "is another graph, as this worker sees it; share the graph")
        _computes[site.run] = BlockCompute(
            storage,
            plan[0],
            read_patterns(graph),
            threads=threads,
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
