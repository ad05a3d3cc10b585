"""Memory plan of a run within its budget: in memory, in panels of columns, or streamed from disk.

What is counted is memory that belongs to the process alone (anonymous memory): pages of files that the system keeps at
hand are its own, and it takes them back when they are wanted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from graphrefine.engine.layout import BLOCK_ENTRIES, usual_bytes
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.kernels import PAD, kernels
from graphrefine.system.memory import gigabytes, megabytes, private_bytes

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.refine.settings import RefineSettings

Mode = Literal["memory", "columns", "streamed", "dask"]
VECTOR_BYTES = 36  # for each node, of vectors with one number: degrees, logarithms, names
STORED_BYTES = 10  # on disk for each number of a tall matrix, at the height: two in float32 and one in bfloat16
BUFFERS = 4.5  # blocks of a tall matrix that are read, worked and written at a time, in float32
ROWS_READ = 3  # blocks of the graph
LIBRARIES = 6_000_000  # bytes of BLAS and of threads, in memory
LATER = 25_000_000  # bytes of modules and of small arrays that the work itself takes
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
    predicted: int  # bytes of memory at the height
    disk: int = 0  # bytes of disk at the height, beside the output
    panel: int = 0  # columns held at a time
    panels: int = 1
    each: int | None = None  # bytes of memory for each worker that is started

    def in_words(self) -> str:
        """The plan for people."""
        parts = [f"{MODES[self.mode]}: about {gigabytes(self.predicted)} of {gigabytes(self.budget)}"]
        if self.mode == "dask":
            parts.append(f"{gigabytes(self.disk)} of disk")
        elif self.mode != "memory":
            parts.append(f"{self.panels} panel{'s' * (self.panels != 1)} of {self.panel} columns")
            parts.append(f"{gigabytes(self.disk)} of disk")
        return ", ".join(parts)

    def figures(self) -> dict[str, Any]:
        """The same for JSON."""
        named = asdict(self)
        sizes = {f"{name}_mb": named[name] / 1e6 for name in ("budget", "predicted", "disk")}
        return {"mode": self.mode, **sizes, "panel": self.panel, "panels": self.panels}


def vector_bytes(graph: Graph, settings: Any) -> int:
    """What the vectors alone take in memory."""
    return int(graph.nodes * settings.dim * 4)


def plan_local(graph: Graph, settings: RefineSettings, budget: int, *, extra: int = 0) -> MemoryPlan:
    """In memory if the budget has room for that, else in panels of as many columns as it has room for.

    Raises BudgetError, which names the least that would do, where it has none for the narrowest.
    """
    vectors = vector_bytes(graph, settings)
    whole = max(in_memory_bytes(graph, settings), private_bytes() + vectors + extra)
    if whole <= budget:
        return MemoryPlan("memory", budget, whole)
    stored = graph.stored
    panel = widest_panel(graph, settings, budget - private_bytes()) if private_bytes() + extra <= budget else 0
    if panel:
        panels = -(-settings.dim // panel)
        needed = private_bytes() + max(panel_bytes(graph, settings, panel), extra)
        mode: Mode = "streamed" if stored else "columns"
        return MemoryPlan(mode, budget, needed, disk_bytes(graph, settings), panel, panels)
    least = private_bytes() + max(panel_bytes(graph, settings, PAD), extra)
    on_disk = "" if stored else f", {megabytes(least - graph_bytes(graph))} with the graph on disk (graphrefine ingest)"
    raise BudgetError(
        f"memory={megabytes(budget)} is too little for {graph.source} ({graph.nodes:,} nodes): with {PAD} columns at a "
        f"time, {megabytes(least)} are needed at least{on_disk}; give that much, or use a cluster (--executor dask)"
    )


def in_memory_bytes(graph: Graph, settings: RefineSettings) -> int:
    """What an embedding in memory holds at its height."""
    engine = LocalEngine.sizes(graph, columns=settings.dim, bfloat16=settings.bfloat16)
    slabs = engine.slabs if settings.filter != "none" else engine.slabs_unfiltered
    return private_bytes() + slabs * engine.slab_bytes + engine.other_bytes + LIBRARIES


def panel_bytes(graph: Graph, settings: RefineSettings, panel: int) -> int:
    """What is held beside the graph when so many columns at a time are gathered from."""
    half = settings.bfloat16 and kernels().name == "native"
    row = -(-settings.dim // PAD) * PAD * 4
    block = usual_bytes(graph.nodes, settings.dim)
    entries = min(BLOCK_ENTRIES, int(len(graph.indices) / graph.nodes * block / row)) * (12 if graph.weighted else 4)
    joined = 0 if panel >= settings.dim else block  # rows are put together from their panels
    buffers = int(BUFFERS * block) + joined + ROWS_READ * entries + LATER
    return graph.nodes * (panel * (2 if half else 4) + VECTOR_BYTES) + buffers


def widest_panel(graph: Graph, settings: RefineSettings, room: int) -> int:
    """The widest panel, in as few as possible of equal width, that so many bytes have room for; 0 if none."""
    units = -(-settings.dim // PAD)
    for panels in range(1, units + 1):
        panel = -(-units // panels) * PAD
        if panel_bytes(graph, settings, panel) <= room:
            return panel
    return 0


def disk_bytes(graph: Graph, settings: RefineSettings) -> int:
    """What the tall matrices take on disk at the height."""
    return graph.nodes * -(-settings.dim // PAD) * PAD * STORED_BYTES


def graph_bytes(graph: Graph) -> int:
    """What the rows of a graph take."""
    arrays = (graph.indptr, graph.indices, graph.weights)
    return sum(array.nbytes for array in arrays if array is not None) * (2 if graph.directed else 1)
