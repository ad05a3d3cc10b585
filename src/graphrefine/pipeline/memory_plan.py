"""Memory plan of a run within its budget: in memory, in panels of columns, streamed from disk, or on a cluster.

What is counted is memory that belongs to the process alone (anonymous memory): pages of files that the system keeps at
hand are its own, and it takes them back when they are wanted. The count is what the process holds once the graph is
read, and on top of it the largest of: the work of the method (`Method.memory`, or `panel_bytes` with the vectors on
disk), learning with the vectors, and the writer with the vectors; and names that are still on disk. `dim="auto"`
needs further memory, before there is a plan: `choose_dimension`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphrefine.embedding.learn import can_learn, learning_bytes
from graphrefine.errors import InputError
from graphrefine.kernels import PAD
from graphrefine.methods.contract import DiskNeed, Method, Shape, engine_memory
from graphrefine.refine.dimension import PAIRS, PROBE, Dimension, measure_dimension
from graphrefine.system.memory import available_bytes, gigabytes, megabytes, private_bytes, release_free_memory

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.pipeline.settings import RunSettings
    from graphrefine.refine.settings import RefineSettings

Mode = Literal["memory", "columns", "streamed", "dask"]
# A plan that promises too little ends with the process killed, one that promises too much with a needless run on disk.
# Tests hold the peaks of runs to their plans.
VECTOR_BYTES = 36  # for each node, of vectors with one number: degrees, logarithms, names
STORED_BYTES = 10  # on disk for each number of a tall matrix, at the height: two in float32 and one in bfloat16
BUFFERS = 5.0  # blocks of a tall matrix that are read, worked and written at a time, in float32
PRECISE = 2  # further ones, where all that is read and written is in float32
ROWS_READ = 3  # blocks of the graph
STRING_BYTES = 64  # for each name that is a string, in addition to its text: an object, and a pointer in the array
LIBRARIES = 6_000_000  # bytes of BLAS and of threads, in memory
LATER = 24_000_000  # bytes of modules and of small arrays that the work itself takes
WORKER = 55_000_000  # bytes that a Dask worker holds by itself
MANAGING = 60_000_000  # of the scheduler, and of the processes that mind workers
LEAST_OF_WORKER = 32_000_000
DIM_MATRICES = 3  # tall ones that dim="auto" takes: two of the engine, and the axes
RUN = "run"  # name of the state of a work folder with the plan of its run
MODES = {
    "memory": "in memory",
    "columns": "the graph in memory, vectors on disk in panels of columns",
    "streamed": "the graph and the vectors on disk, read in blocks",
    "dask": "on a Dask cluster, in blocks",
}


class BudgetError(InputError):
    """A budget that is too small, however the work is done."""


@dataclass(frozen=True)
class MemoryPlan:
    """How an embedding will be made."""

    mode: Mode
    budget: int
    predicted: int  # bytes of memory at the peak
    disk: int = 0  # bytes of disk at the peak, without the output
    panel: int = 0  # columns held at a time
    panels: int = 1
    each: int | None = None  # bytes of memory for each worker that is started
    learn: bool = False  # from the graph, after the method

    def in_words(self) -> str:
        """Return the plan for people."""
        parts = [f"{MODES[self.mode]}: about {gigabytes(self.predicted)} of {gigabytes(self.budget)}"]
        if self.mode in ("columns", "streamed"):
            parts.append(f"{self.panels} panel{'s' * (self.panels != 1)} of {self.panel} columns")
        if self.mode != "memory":
            parts.append(f"{gigabytes(self.disk)} of disk")
        return ", ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan for JSON."""
        named = asdict(self)
        sizes = {f"{name}_mb": named[name] / 1e6 for name in ("budget", "predicted", "disk")}
        return {"mode": self.mode, **sizes, "panel": self.panel, "panels": self.panels}


def plan_run(
    graph: Graph, settings: Any, *, learn: bool = False, must_learn: bool = False, writing: int = 0, **how: Any
) -> MemoryPlan:
    """Return the plan of a run within a budget; InputError where there is none.

    ``learn`` adds the stage that learns from the graph, where that is possible and, unless ``must_learn``, the budget
    has room for it. ``writing`` is the memory of the writer without vectors and names; ``how`` are arguments of
    `_plan_with`.
    """
    writer = writing + packed_names(graph) if writing else 0
    learning = learning_need(graph, settings) if learn else 0
    try:
        return replace(_plan_with(graph, settings, extra=max(writer, learning), **how), learn=learning > 0)
    except BudgetError:
        if not learning or must_learn:
            raise
        return _plan_with(graph, settings, extra=writer, **how)


def _plan_with(
    graph: Graph,
    settings: Any,
    *,
    method: Method[Any],
    budget: int,
    extra: int,
    folder: Path | None = None,
    in_memory_for: str | None = None,
    cluster: RunSettings | None = None,
    threads: int = 1,
) -> MemoryPlan:
    """Return the plan of a run; unfinished work in ``folder`` keeps its plan.

    ``extra`` is the memory of what comes after the method, without the vectors; ``in_memory_for`` is why the vectors
    must be in memory; ``cluster`` has the settings of a run on a cluster.
    """
    if in_memory_for is not None:
        if cluster is not None:
            raise InputError(f"a Dask cluster cannot be used for {method.name} on {graph.source}: {in_memory_for}")
        method.check_room(graph, settings)  # which says what would fit
        needed = in_memory_bytes(graph, settings, method, extra=extra)
        if needed > budget:
            words = f"{megabytes(needed)} are needed, as {in_memory_for}"
            raise _too_little(budget, f"{method.name} on {graph.source}", words)
        return MemoryPlan("memory", budget, needed)
    if cluster is not None:
        need = method.disk_need(Shape.of(graph), settings, threads)
        return plan_cluster(graph, settings, budget, workers=cluster.new_workers, need=need)
    # Work that has begun keeps its panels, also under another budget: the files in the folder are cut by them.
    plan = replace(
        plan_local(graph, settings, budget, method=method, extra=extra, threads=threads), **begun_plan(folder)
    )
    if plan.predicted > budget:
        raise InputError(
            f"memory={megabytes(budget)}: {folder} holds unfinished work that needs {megabytes(plan.predicted)}; "
            "delete it to start again",
            argument="memory",
        )
    return plan


def _too_little(budget: int, work: str, need: str) -> BudgetError:
    return BudgetError(f"memory={megabytes(budget)} is too little for {work}: {need}", argument="memory")


def begun_plan(folder: Path | None) -> dict[str, Any]:
    """Return the plan of the work that waits in a folder; empty if there is none."""
    if folder is None:
        return {}
    try:
        begun = json.loads((folder / f"{RUN}.json").read_bytes())["plan"]
        return {name: begun[name] for name in ("mode", "predicted", "disk", "panel", "panels")}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def plan_local(
    graph: Graph, settings: RefineSettings, budget: int, *, method: Method[Any], extra: int = 0, threads: int = 1
) -> MemoryPlan:
    """Return a plan in memory if the budget has room for that, else in panels of as many columns as it has room for.

    ``extra`` is the memory of what comes after the method, without the vectors. Raises BudgetError, which names the
    least that would do, where there is no room for the narrowest panel.
    """
    needed = in_memory_bytes(graph, settings, method, extra=extra)
    # A budget above the memory that is free would end in swapping, which is slower than panels on disk.
    if needed <= min(budget, private_bytes() + available_bytes()):
        return MemoryPlan("memory", budget, needed)
    base, need = private_bytes() + unread_names(graph), method.disk_need(Shape.of(graph), settings, threads)
    mode: Mode = "streamed" if graph.stored else "columns"
    units = -(-need.columns // PAD)
    for panels in range(1, units + 1):  # as few as possible, of equal width
        panel = -(-units // panels) * PAD
        needed = base + max(panel_bytes(graph, settings, panel, need), extra)
        if needed <= budget:
            return MemoryPlan(mode, budget, needed, disk_bytes(graph, need), panel, -(-need.columns // panel))
    fast = base + max(panel_bytes(graph, settings, PAD), extra)
    lower = f"; quality='fast' needs {megabytes(fast)}" if fast < needed else ""
    words = f"with {PAD} columns at a time, {megabytes(needed)} are needed at least{lower}"
    raise _too_little(budget, f"{graph.source} ({graph.nodes:,} nodes)", words)


def in_memory_bytes(graph: Graph, settings: Any, method: Method[Any], *, extra: int = 0) -> int:
    """Return the peak of an embedding in memory: of the method, or of ``extra`` next to the vectors later."""
    names, vectors = unread_names(graph), int(graph.nodes * settings.dim * 4)
    work = method.memory(Shape.of(graph), settings) + LIBRARIES
    return names + max(work, vectors + extra) + private_bytes()


def learning_need(graph: Graph, settings: Any) -> int:
    """Return what learning from a graph takes in addition to the vectors; 0 where there is nothing to learn."""
    return learning_bytes(graph.nodes, graph.entries, settings.dim) if can_learn(graph) else 0


def unread_names(graph: Graph) -> int:
    """Return what names will take that are strings and still on disk."""
    text = graph.unread_text if graph.stored else 0
    return text + graph.nodes * STRING_BYTES if text else 0


def packed_names(graph: Graph) -> int:
    """Return what names that are strings take in the form that files hold, while they are written."""
    if graph.stored and graph.unread_text:
        return 2 * graph.unread_text + 8 * graph.nodes
    names = graph.names
    return 0 if names.dtype != object else 2 * sum(len(str(name)) for name in names) + 8 * graph.nodes


def panel_bytes(graph: Graph, settings: RefineSettings, panel: int, need: DiskNeed | None = None) -> int:
    """Return what is held in addition to the graph when ``panel`` columns at a time are gathered from."""
    from graphrefine.engine.layout import BLOCK_ENTRIES, usual_bytes  # where vectors are on disk

    need = need or DiskNeed(settings.dim)
    half = settings.bfloat16
    row = -(-need.columns // PAD) * PAD * 4
    block = usual_bytes(graph.nodes, need.columns)
    entries = min(BLOCK_ENTRIES, int(graph.entries / graph.nodes * block / row)) * (12 if graph.weighted else 4)
    joined = 0 if panel >= need.columns else block  # rows are put together from their panels
    degrees = graph.entries * 8 if graph.weighted and not graph.stored else 0  # weights, while they are summed
    buffers = int(BUFFERS * block) + joined + ROWS_READ * entries + degrees + LATER
    gathered = graph.nodes * panel * (2 if half else 4) + need.held
    if need.precise:
        gathered = max(gathered, graph.nodes * min(panel, settings.dim) * 4 + PRECISE * block)
    return graph.nodes * VECTOR_BYTES + buffers + gathered


def disk_bytes(graph: Graph, need: DiskNeed) -> int:
    """Return what the tall matrices and the results of stages take on disk at the height."""
    return graph.nodes * -(-need.columns // PAD) * PAD * STORED_BYTES + need.stored


def plan_cluster(
    graph: Graph, settings: RefineSettings, budget: int, *, workers: int | None, need: DiskNeed
) -> MemoryPlan:
    """Return a plan for a Dask cluster.

    ``workers`` are those that are started on this machine, and then share the budget with this process; None: the
    cluster is elsewhere, its workers have their own limits, and the budget is this process's.
    """
    from graphrefine.engine.dask import plan_layout  # loads Dask's engine

    here = private_bytes() + unread_names(graph) + graph.nodes * VECTOR_BYTES + need.held
    disk = disk_bytes(graph, need)
    if not graph.stored:  # the workers read it from the folder
        rows = sum(array.nbytes for array in (graph.indptr, graph.indices, graph.weights) if array is not None)
        disk += rows * (2 if graph.directed else 1)
    padded = -(-need.columns // PAD) * PAD
    if workers is None:
        return MemoryPlan("dask", budget, here, disk, padded)
    each = (budget - here - MANAGING) // workers - WORKER
    if each < LEAST_OF_WORKER:
        least = here + MANAGING + workers * (WORKER + LEAST_OF_WORKER)
        words = f"{megabytes(least)} are needed at least; give that much, or start fewer"
        raise _too_little(budget, f"{workers} workers on this machine", words)
    layout, group = plan_layout(graph, columns=need.columns, workers=workers, memory=each)
    # A worker in a product holds a chunk to gather from, sums of blocks, and their rows of the graph.
    chunks = len(layout.chunks) - 1
    chunk = max(layout.chunk_rows(at).stop - layout.chunk_rows(at).start for at in range(chunks))
    rows = min(group * int(np.diff(layout.bounds).max()), graph.nodes)
    entries = graph.entries / graph.nodes * (8 if graph.weighted else 4)
    task = int(chunk * layout.padded * 2 + rows * (layout.padded * 4 * 2 + 8 * chunks + 8 + entries))
    needed = here + MANAGING + workers * (WORKER + task)
    return MemoryPlan("dask", budget, needed, disk, padded, each=each)


def choose_dimension(graph: Graph, *, budget: int, threads: int, method: str = "refine") -> Dimension:
    """Return the dimension of a graph from its spectrum; InputError where that is not possible within the budget."""
    if method != "refine" or graph.directed or graph.sources is not None:
        kind = "directed" if graph.directed else "undirected" if graph.sources is None else "bipartite"
        raise InputError(
            f"dim='auto' is for method 'refine' on undirected graphs of one set of nodes, and this is {method!r} on "
            f"{graph.source}, read as {kind}; pass a number, as in dim=128",
            argument="dim",
        )
    # Bytes for each entry: its end in the graph without held-out edges, where rows end, weights and their logarithms.
    shape, entry, columns = Shape.of(graph), 20 + (8 if graph.weighted else 0), min(PROBE, graph.nodes)
    needed = private_bytes() + engine_memory(shape, columns=columns, matrices=DIM_MATRICES)
    needed += shape.entries * entry + 8 * columns * (8 * columns + 5 * PAIRS)
    room = min(private_bytes() + available_bytes(), budget)
    if needed > room:
        raise BudgetError(
            f"dim='auto' looks at {PROBE} axes of {graph.source} in memory, which takes {megabytes(needed)}, and there "
            f"is room for {megabytes(room)}; pass a number, as in dim=128",
            argument="dim",
        )
    dimension = measure_dimension(graph, threads=threads)
    release_free_memory()
    return dimension
