"""Memory plan of a run on a Dask cluster: shares of the workers, and of this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphrefine.engine.dask import plan_layout
from graphrefine.engine.layout import Layout
from graphrefine.graph.stored import StoredGraph
from graphrefine.kernels import PAD
from graphrefine.run.memory_plan import VECTOR_BYTES, BudgetError, MemoryPlan, disk_bytes, graph_bytes
from graphrefine.system.memory import megabytes, private_bytes

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.refine.settings import RefineSettings

WORKER = 55_000_000  # bytes that a Dask worker holds by itself
MANAGING = 60_000_000  # of the scheduler, and of the processes that mind workers
LEAST_OF_WORKER = 32_000_000


def plan_cluster(graph: Graph, settings: RefineSettings, budget: int, *, workers: int | None) -> MemoryPlan:
    """A plan for a Dask cluster.

    ``workers`` are those that are started on this machine, and then share the budget with this process; None: the
    cluster is elsewhere, its workers have limits of their own, and the budget is this process's.
    """
    here = private_bytes() + graph.nodes * VECTOR_BYTES
    disk = disk_bytes(graph, settings) + (0 if isinstance(graph, StoredGraph) else graph_bytes(graph))
    padded = -(-settings.dim // PAD) * PAD
    if workers is None:
        return MemoryPlan("dask", budget, here, disk, padded)
    each = (budget - here - MANAGING) // workers - WORKER
    if each < LEAST_OF_WORKER:
        least = here + MANAGING + workers * (WORKER + LEAST_OF_WORKER)
        raise BudgetError(
            f"memory={megabytes(budget)} is too little for {workers} workers on this machine: {megabytes(least)} are "
            "needed at least; give that much, or start fewer"
        )
    layout, group = plan_layout(graph, columns=settings.dim, workers=workers, memory=each)
    needed = here + MANAGING + workers * (WORKER + task_bytes(graph, layout, group))
    return MemoryPlan("dask", budget, needed, disk, padded, each=each)


def task_bytes(graph: Graph, layout: Layout, group: int) -> int:
    """What a worker holds in a product: a chunk to gather from, the sums of its blocks, their rows of the graph."""
    chunks = len(layout.chunks) - 1
    chunk = max(layout.chunk_rows(at).stop - layout.chunk_rows(at).start for at in range(chunks))
    rows = min(group * int(np.diff(layout.bounds).max()), graph.nodes)
    entries = len(graph.indices) / graph.nodes * (8 if graph.weighted else 4)
    return int(chunk * layout.padded * 2 + rows * (layout.padded * 4 * 2 + 8 * chunks + 8 + entries))
