"""The block engine's tasks done by the workers of a Dask cluster.

Tall matrices are files on storage that all workers share, the graph is a `.grf` there: tasks that travel say which
blocks and with which small matrices, and what comes back are sums of k x k. Workers may come, go and be killed: a task
that was lost is done again elsewhere, and writes the same bytes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
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
    describe_versions,
    forget_run,
    read_layout,
    run_batch,
    weights_file,
)
from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.graph.node_ids import identities
from graphrefine.system.storage import Storage, write_array, write_arrays

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.graph.stored import StoredGraph

RETRIES = 2  # of a task that failed for a reason that may pass, such as a storage that does not answer
FEWEST_BLOCKS = 16
BLOCKS_EACH = 8  # for a worker, at least
# A product reads its whole input for each of its tasks, chunk by chunk: more than one for each worker would read it
# several times. Steps that read their own blocks alone are cut finer, so that fast workers get more of them.
TASKS_EACH, BATCHES_EACH = 1, 4
CHUNKS = 3  # at least, as a worker holds one of them; each is another pass over the sums


class Cluster:
    """See `graphrefine.engine.blocks.Executor`.

    Parameters
    ----------
    client
        A client of Dask, see `graphrefine.engine.dask_client.connect`.
    storage
        The folder of the work, under this path on all workers.
    graph
        The graph on disk, under its path on all workers.
    group
        Number of blocks of a product's task.
    """

    def __init__(self, client: Any, storage: Storage, graph: StoredGraph, *, group: int) -> None:
        self.client, self.storage = client, storage
        hashes = None if graph.has_row_names else identities(graph.names)
        self.site = RunSite(
            run=secrets.token_hex(8),
            storage=storage.root,
            graph=str(graph.path.absolute()),
            identities=hashes is not None,
            versions=describe_versions(),
            fingerprint=graph.fingerprint,
        )
        self.group = group
        self._operators: dict[int, OperatorParts] = {}
        self._weights: str | None = None
        self.suspect: set[int] = set()
        self._reports: dict[str, dict[str, Any]] = {}
        storage.write(RUN, np.frombuffer(self.site.run.encode(), np.uint8))
        if hashes is not None:
            write_array(storage, IDENTITIES, hashes)

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
        return [report for _, report in sorted(self._reports.items())]

    def close(self) -> None:
        """Let the workers free the memory of this run."""
        self.client.run(forget_run, self.site.run)

    def _shares(self, tasks: Sequence[Task]) -> list[Sequence[Task]]:
        """Return batches of tasks: a worker reads and writes for one task while it computes another."""
        shares = max(len(_workers(self.client)), 1) * (BATCHES_EACH if tasks and isinstance(tasks[0], Rotation) else 1)
        size = max(-(-len(tasks) // shares), 1)
        return [tasks[at : at + size] for at in range(0, len(tasks), size)]

    def _send(self, tasks: Sequence[Task]) -> Any:
        numbers = {task.operator for task in tasks if not isinstance(task, Rotation)}
        weights = next((task.weights for task in tasks if isinstance(task, Rotation) and task.weights), None)
        operators = {number: self._operators[number] for number in numbers}
        batch = TaskBatch(tasks, operators, weights, frozenset(self.suspect))
        return self.client.submit(run_batch, self.site, batch, pure=False, retries=RETRIES)

    def _result(self, future: Any) -> BatchResult:
        from distributed import CancelledError, KilledWorker

        try:
            result: BatchResult = future.result()
        except KilledWorker as error:
            raise InputError(
                f"the worker {error.last_worker.address} was lost, as were {error.allowed_failures} before it that had "
                "the same task: most likely their memory does not suffice; give workers more of it, or say how much "
                "they have with --memory; the same command then continues from the last finished block"
            ) from None
        except CancelledError:
            raise OutputError(
                "the connection to the Dask scheduler was lost; start the same command again to continue"
            ) from None
        except Exception as error:  # of a worker without graphrefine, or without the right to write
            raise InputError(
                f"a worker cannot do its tasks ({type(error).__name__}: {error}); it needs the same version of "
                'graphrefine, pip install "graphrefine[scale]", and a work folder that it can write to'
            ) from error
        nothing = {"name": result.worker, "blocks": 0, "bytes_read": 0, "bytes_written": 0, "tasks": 0}
        report = self._reports.setdefault(result.worker, nothing)
        for name in ("blocks", "bytes_read", "bytes_written"):
            report[name] += getattr(result, name)
        report["tasks"] += len(result.small)
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
    """
    # The cuts are stored with the work: a run that is taken up by more or fewer workers keeps them, as finished blocks
    # fit no other cuts.
    storage = Storage(storage_root)
    if not _workers(client):
        raise InputError("the Dask cluster has no workers; start some with: dask worker ADDRESS")
    plan = read_layout(storage)
    if plan is None:
        memory = worker_memory or _least_memory(client)
        plan = plan_layout(graph, columns=columns, workers=len(_workers(client)), memory=memory)
        sizes = np.array([columns, plan[0].panel, plan[1]])
        write_arrays(storage, PLAN, {"bounds": plan[0].bounds, "chunks": plan[0].chunks, "sizes": sizes})
    layout, group = plan
    if layout.columns != columns or layout.bounds[-1] != graph.nodes:
        raise OutputError(f"{storage.root}: is the work of another run; delete it to start again")
    return BlockEngine(storage, layout, Cluster(client, storage, graph, group=group), bfloat16=bfloat16)


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
        # A quarter for the chunk that is gathered from, half for the blocks at work; the rest is the process itself.
        each = memory // 4
        chunk = min(chunk, max(each // (padded * 4), 1))
        cuts = -(-graph.nodes // chunk) + 1
        row = padded * 8 + 8 * cuts + 8 + 8 * graph.entries // max(graph.nodes, 1)
        group = min(group, max(2 * each // (row * -(-graph.nodes // blocks)), 1))
    return Layout(bounds, cut_chunks(bounds, rows=chunk), columns, padded), group


def _workers(client: Any) -> dict[str, Any]:
    return dict(client.scheduler_info(n_workers=-1)["workers"])


def _least_memory(client: Any) -> int | None:
    """Return the smallest limit that workers were started with, less the part at which Dask steps in."""
    limits = [worker["memory_limit"] for worker in _workers(client).values() if worker["memory_limit"]]
    return int(0.6 * min(limits)) if limits else None
