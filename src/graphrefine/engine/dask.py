"""The block engine's tasks done by the workers of a Dask cluster.

Tall matrices are files on storage that all workers share, the graph is a `.grf` there: tasks that travel say which
blocks and with which small matrices, and what comes back are sums of k x k. Workers may come, go and be killed: a task
that was lost is done again elsewhere, and writes the same bytes. Sums are added in the order of the blocks, so the bits
of the result do not depend on how many workers there are, nor on who did what.

A product reads its whole input for each of its tasks, chunk by chunk: a task has `Cluster.blocks_per_task` blocks, that
is two tasks or so for each worker, and no worker holds more than a chunk of its input and the blocks that it makes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.block_compute import OperatorParts
from graphrefine.engine.blocks import BlockEngine
from graphrefine.engine.layout import BLOCK_BYTES, BLOCK_ENTRIES, Layout, cut_chunks, cut_rows
from graphrefine.engine.tasks import Rotation, Small, Task
from graphrefine.engine.worker import (
    IDENTITIES,
    PLAN,
    RUN,
    BatchResult,
    RunSite,
    TaskBatch,
    find_difference,
    forget_run,
    own_versions,
    read_layout,
    run_batch,
    weights_file,
)
from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.graph.node_ids import identities
from graphrefine.system.storage import FolderStorage, Storage, open_storage, write_array, write_arrays

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.graph.stored import StoredGraph

__all__ = ["Cluster", "WorkerReport", "cluster_engine"]

RETRIES = 2  # of a task that failed for a reason that may pass, such as a storage that does not answer
FEWEST_BLOCKS = 16
BLOCKS_EACH = 8  # for a worker, at least
TASKS_EACH = 1  # of a product, for a worker: each reads the whole matrix
BATCHES_EACH = 4  # of other steps, for a worker
CHUNKS = 3  # at least: each is another pass over the sums


@dataclass
class WorkerReport:
    """Work of a worker process."""

    name: str
    blocks: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    tasks: int = 0

    def add(self, result: BatchResult) -> None:
        """Count the results of a batch."""
        self.blocks += result.blocks
        self.bytes_read += result.bytes_read
        self.bytes_written += result.bytes_written
        self.tasks += len(result.small)


class Cluster:
    """See `graphrefine.engine.blocks.Executor`.

    Parameters
    ----------
    client
        A client of Dask, see `graphrefine.engine.dask_client.connect`.
    storage_root
        The folder of the work, under this path on all workers.
    graph_root
        The graph on disk: a path, or a URL that fsspec reaches.
    group
        Number of blocks of a product's task.
    fingerprint
        Fingerprint of the graph, which must be the one that workers see.
    identities
        See `graphrefine.graph.node_ids.identities`.
    threads
        Threads of each worker; all of its own if None.
    """

    def __init__(
        self,
        client: Any,
        storage_root: str,
        graph_root: str,
        *,
        group: int,
        fingerprint: str,
        identities: NDArray[np.int32] | None = None,
        threads: int | None = None,
    ) -> None:
        self.client, self.storage = client, open_storage(storage_root)
        self.site = RunSite(
            run=secrets.token_hex(8),
            storage=self.storage.root,
            graph=graph_root,
            threads=threads,
            identities=identities is not None,
            versions=own_versions(),
            fingerprint=fingerprint,
        )
        self._group = group
        self._operators: dict[int, OperatorParts] = {}
        self._weights: str | None = None
        self._suspect: set[int] = set()
        self._reports: dict[str, WorkerReport] = {}
        self.storage.write(RUN, np.frombuffer(self.site.run.encode(), np.uint8))
        if identities is not None:
            write_array(self.storage, IDENTITIES, identities)

    def register_operator(self, number: int, parts: OperatorParts) -> None:
        """See `graphrefine.engine.blocks.Executor.register_operator`."""
        files = {}
        for name, vector in parts.vectors.items():
            files[name] = f"cluster/operators/{number:03d}-{name}.npy"
            write_array(self.storage, files[name], vector[:])
        self._operators[number] = parts._replace(vectors=files)

    def register_vector(self, name: str, vector: NDArray[np.float32]) -> None:
        """See `graphrefine.engine.blocks.Executor.register_vector`; one at a time is in use."""
        if self._weights is not None:
            self.storage.remove(weights_file(self._weights).rpartition("/")[0])
        write_array(self.storage, weights_file(name), vector)
        self._weights = name

    def distrust(self, number: int) -> None:
        """See `graphrefine.engine.blocks.Executor.distrust`."""
        self._suspect.add(number)

    def blocks_per_task(self) -> int:
        """See `graphrefine.engine.blocks.Executor.blocks_per_task`."""
        return self._group

    def trim(self) -> None:
        """See `graphrefine.engine.blocks.Executor.trim`: nothing is held here, and workers use theirs again."""

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Small]]:
        """See `graphrefine.engine.blocks.Executor.run`."""
        from distributed import as_completed

        futures = {self._send(share): share for share in self._shares(tasks)}
        try:
            for future in as_completed(list(futures), loop=self.client.loop):
                result, share = self._result(future), futures.pop(future)
                yield from zip(share, result.small, strict=True)
        finally:
            if futures:
                self.client.cancel(list(futures))

    def workers_report(self) -> list[dict[str, Any]]:
        """Work of each worker process, those that were lost included: blocks, bytes and tasks."""
        return [asdict(report) for _, report in sorted(self._reports.items())]

    def close(self) -> None:
        """Let the workers free the memory of this run."""
        self.client.run(forget_run, self.site.run)

    def _shares(self, tasks: Sequence[Task]) -> list[Sequence[Task]]:
        """Tasks that a worker gets together, so that it reads and writes for one while it computes another."""
        shares = max(len(_workers(self.client)), 1) * (BATCHES_EACH if tasks and isinstance(tasks[0], Rotation) else 1)
        size = max(-(-len(tasks) // shares), 1)
        return [tasks[at : at + size] for at in range(0, len(tasks), size)]

    def _send(self, tasks: Sequence[Task]) -> Any:
        numbers = {task.operator for task in tasks if not isinstance(task, Rotation)}
        weights = next((task.weights for task in tasks if isinstance(task, Rotation) and task.weights), None)
        operators = {number: self._operators[number] for number in numbers}
        batch = TaskBatch(tasks, operators, weights, frozenset(self._suspect))
        return self.client.submit(run_batch, self.site, batch, pure=False, retries=RETRIES)

    def _result(self, future: Any) -> BatchResult:
        from distributed import CancelledError, KilledWorker

        try:
            result: BatchResult = future.result()
        except KilledWorker as error:
            raise InputError(
                f"the worker {error.last_worker.address} was lost, as were {error.allowed_failures} before it that had "
                "the same task: most likely their memory does not suffice; give workers more of it, or say how much "
                "they have with --memory; the same command then goes on where this run stood"
            ) from None
        except CancelledError:
            raise OutputError(
                "the connection to the Dask scheduler was lost; start the same command again, it goes on where it stood"
            ) from None
        except Exception as error:  # of a worker without graphrefine, or without the right to write
            raise InputError(
                f"a worker cannot do its tasks ({type(error).__name__}: {error}); it needs the same version of "
                'graphrefine, pip install "graphrefine[scale]", and a work folder that it can write to'
            ) from error
        difference = find_difference(getattr(result, "versions", None))
        if difference is not None:
            raise InputError(f"the worker {getattr(result, 'worker', '')}: {difference}")
        self._reports.setdefault(result.worker, WorkerReport(result.worker)).add(result)
        if result.error is not None:
            path, _, problem = result.error.partition(": ")
            raise FormatError(path, problem)
        return result


def cluster_engine(
    client: Any,
    graph: StoredGraph,
    storage_root: str,
    *,
    columns: int,
    bfloat16: bool = True,
    worker_memory: int | None = None,
    graph_root: str | None = None,
    threads: int | None = None,
) -> BlockEngine:
    """Return an engine whose work is done by a Dask cluster.

    Parameters
    ----------
    client
        A client of Dask, see `graphrefine.engine.dask_client.connect`.
    graph
        A graph on disk.
    storage_root
        A folder that this process and all workers share. Work that is there is taken up as it was cut.
    columns, bfloat16
        See `graphrefine.engine.local.LocalEngine`.
    worker_memory
        Bytes that a worker may use; if None, most of the limit that it was started with.
    graph_root
        Place of the graph for workers, if it is not its own path: another path, or a URL that fsspec reaches.
    threads
        Threads of each worker; all of its own if None.
    """
    storage = open_storage(storage_root)
    if not isinstance(storage, FolderStorage):
        raise InputError(f"the work folder {storage_root} is a URL; it must be a path that all workers share")
    if not _workers(client):
        raise InputError("the Dask cluster has no workers; start some with: dask worker ADDRESS")
    plan = read_layout(storage)
    if plan is None:
        memory = worker_memory or _least_memory(client)
        plan = plan_layout(graph, columns=columns, workers=len(_workers(client)), memory=memory)
        _write_layout(storage, *plan)
    layout, group = plan
    if layout.columns != columns or layout.bounds[-1] != graph.nodes:
        raise OutputError(f"{storage.root}: is the work of another run; delete it to start anew")
    executor = Cluster(
        client,
        storage.root,
        graph_root or str(graph.path.absolute()),
        group=group,
        fingerprint=graph.fingerprint,
        identities=None if graph.has_row_names else identities(graph.names),
        threads=threads,
    )
    return BlockEngine(storage, layout, executor, bfloat16=bfloat16)


def plan_layout(graph: Graph, *, columns: int, workers: int, memory: int | None) -> tuple[Layout, int]:
    """Return the layout of tall matrices for a number of workers, and the number of blocks of a product's task."""
    padded = -(-columns // 32) * 32
    pieces = max(FEWEST_BLOCKS, BLOCKS_EACH * workers)
    bounds = cut_rows(
        graph.indptr,
        columns=columns,
        block_bytes=min(BLOCK_BYTES, -(-graph.nodes // pieces) * padded * 4),
        entries=min(BLOCK_ENTRIES, -(-graph.entries // pieces)),
    )
    blocks = len(bounds) - 1
    chunk, group = -(-graph.nodes // CHUNKS), max(-(-blocks // (TASKS_EACH * max(workers, 1))), 1)
    if memory is not None:
        each = memory // 4
        chunk = min(chunk, max(each // (padded * 4), 1))
        cuts = -(-graph.nodes // chunk) + 1
        row = padded * 8 + 8 * cuts + 8 + 8 * graph.entries // max(graph.nodes, 1)
        group = min(group, max(2 * each // (row * -(-graph.nodes // blocks)), 1))
    return Layout(bounds, cut_chunks(bounds, rows=chunk), columns, padded), group


def _write_layout(storage: Storage, layout: Layout, group: int) -> None:
    sizes = np.array([layout.columns, layout.panel, group])
    write_arrays(storage, PLAN, {"bounds": layout.bounds, "chunks": layout.chunks, "sizes": sizes})


def _workers(client: Any) -> dict[str, Any]:
    return dict(client.scheduler_info(n_workers=-1)["workers"])


def _least_memory(client: Any) -> int | None:
    """Return the smallest limit that workers were started with, less the part at which Dask steps in."""
    limits = [worker["memory_limit"] for worker in _workers(client).values() if worker["memory_limit"]]
    return int(0.6 * min(limits)) if limits else None
