"""How much memory an embedding may take, and how it is made within that: in memory, in column blocks, or streamed.

What is counted is memory that belongs to the process alone (anonymous memory): pages of files that the system keeps at
hand are its own, and it takes them back when they are wanted.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from graphrefine.engine.dask import plan_layout
from graphrefine.engine.layout import BLOCK_ENTRIES, Layout, usual_bytes
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.graph.stored import StoredGraph
from graphrefine.kernels import PAD, kernels
from graphrefine.readers.source import CODECS
from graphrefine.system.memory import available_bytes, gigabytes, private_bytes

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.refine.refine import Settings

Mode = Literal["memory", "columns", "streamed", "dask"]
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
SHARE = 0.9  # of what is free, where no budget is given: others need memory too
VECTOR_BYTES = 36  # for each node, of vectors with one number: degrees, logarithms, names
STORED_BYTES = 10  # on disk for each number of a tall matrix, at the height: two in float32 and one in bfloat16
BUFFERS = 4.5  # blocks of a tall matrix that are read, worked and written at a time, in float32
ROWS_READ = 3  # blocks of the graph
LATER = 40_000_000  # bytes of modules that are loaded by the work itself
WORKER = 55_000_000  # bytes that a Dask worker holds by itself
MANAGING = 60_000_000  # of the scheduler, and of the processes that mind workers
LEAST_OF_WORKER = 32_000_000
READING = 4  # bytes of memory for each byte of a file, while it is read; compressed ones hold more
PACKED = 4
SAYING = {
    "memory": "in memory",
    "columns": "the graph in memory, vectors on disk in panels of columns",
    "streamed": "the graph and the vectors on disk, read in blocks",
    "dask": "on a Dask cluster, in blocks",
}


class BudgetError(InputError):
    """A budget that is too small, however the work is done."""


@dataclass(frozen=True)
class Plan:
    """How an embedding will be made."""

    mode: Mode
    budget: int
    predicted: int  # bytes of memory at the height
    disk: int = 0  # bytes of disk at the height, beside the output
    panel: int = 0  # columns held at a time
    panels: int = 1
    each: int | None = None  # bytes of memory for each worker that is started

    def in_words(self) -> str:
        """What was chosen, for people."""
        parts = [f"{SAYING[self.mode]}: about {gigabytes(self.predicted)} of {gigabytes(self.budget)}"]
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


def parse_size(text: str | int) -> int:
    """Bytes, from a number with a unit.

    Examples
    --------
    >>> parse_size("8GB"), parse_size("1.5 GiB"), parse_size("300M"), parse_size(1000)
    (8000000000, 1610612736, 300000000, 1000)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*", str(text), re.IGNORECASE)
    if found is None or float(found[1]) <= 0 or (found[3] and not found[2]):
        raise InputError(f"memory={text!r} is not a size; give one such as 8GB, 500MB or 16GiB")
    unit = found[2].lower()
    scale = 1024 ** " kmgt".index(unit) if found[3] else UNITS[unit]
    return int(float(found[1]) * scale)


def budget_of(memory: str | int | None) -> int:
    """The budget in bytes: as given, else most of what is free."""
    if memory is not None:
        return parse_size(memory)
    free = available_bytes()
    return int((free or 1 << 62) * SHARE) + private_bytes()


def reading_bytes(path: str) -> int:
    """About what reading a graph file into memory takes; 0 for what is not a file."""
    place = Path(path)
    if not place.is_file():
        return 0
    packed = place.suffix.lower() in {codec.suffix for codec in CODECS} or place.suffix.lower() == ".parquet"
    return place.stat().st_size * READING * (PACKED if packed else 1)


def make_plan(graph: Graph, chosen: Settings, budget: int) -> Plan:
    """In memory if the budget has room for that, else in panels of as many columns as it has room for.

    Raises BudgetError, which names the least that would do, where it has none for the narrowest.
    """
    whole = in_memory(graph, chosen)
    if whole <= budget:
        return Plan("memory", budget, whole)
    stored = isinstance(graph, StoredGraph)
    panel = widest_panel(graph, chosen, budget - private_bytes())
    if panel:
        panels = -(-chosen.dim // panel)
        needed = private_bytes() + panel_bytes(graph, chosen, panel)
        return Plan("streamed" if stored else "columns", budget, needed, disk_bytes(graph, chosen), panel, panels)
    least = private_bytes() + panel_bytes(graph, chosen, PAD)
    on_disk = "" if stored else f", {megabytes(least - graph_bytes(graph))} with the graph on disk (graphrefine ingest)"
    raise BudgetError(
        f"memory={megabytes(budget)} is too little for {graph.source} ({graph.nodes:,} nodes): with {PAD} columns at a "
        f"time, {megabytes(least)} are needed at least{on_disk}; give that much, or use a cluster (--executor dask)"
    )


def cluster_plan(graph: Graph, chosen: Settings, budget: int, *, workers: int | None) -> Plan:
    """A plan for a Dask cluster.

    ``workers`` are those that are started on this machine, and then share the budget with this process; None: the
    cluster is elsewhere, its workers have limits of their own, and the budget is this process's.
    """
    here = private_bytes() + graph.nodes * VECTOR_BYTES
    disk = disk_bytes(graph, chosen) + (0 if isinstance(graph, StoredGraph) else graph_bytes(graph))
    padded = -(-chosen.dim // PAD) * PAD
    if workers is None:
        return Plan("dask", budget, here, disk, padded)
    each = (budget - here - MANAGING) // workers - WORKER
    if each < LEAST_OF_WORKER:
        least = here + MANAGING + workers * (WORKER + LEAST_OF_WORKER)
        raise BudgetError(
            f"memory={megabytes(budget)} is too little for {workers} workers on this machine: {megabytes(least)} are "
            "needed at least; give that much, or start fewer"
        )
    layout, group = plan_layout(graph, columns=chosen.dim, workers=workers, memory=each)
    needed = here + MANAGING + workers * (WORKER + task_bytes(graph, layout, group))
    return Plan("dask", budget, needed, disk, padded, each=each)


def task_bytes(graph: Graph, layout: Layout, group: int) -> int:
    """What a worker holds in a product: a chunk to gather from, the sums of its blocks, their rows of the graph."""
    chunks = len(layout.chunks) - 1
    chunk = max(layout.chunk_rows(at).stop - layout.chunk_rows(at).start for at in range(chunks))
    rows = min(group * int(np.diff(layout.bounds).max()), graph.nodes)
    entries = len(graph.indices) / graph.nodes * (8 if graph.weighted else 4)
    return int(chunk * layout.padded * 2 + rows * (layout.padded * 4 * 2 + 8 * chunks + 8 + entries))


def megabytes(size: int) -> str:
    """Bytes for people who will type the number, rounded up.

    Examples
    --------
    >>> megabytes(1_234_500_001)
    '1235MB'
    """
    return f"{-(-size // 10**6)}MB"


def in_memory(graph: Graph, chosen: Settings) -> int:
    """What an embedding in memory holds at its height."""
    engine = LocalEngine.sizes(graph, columns=chosen.dim, bfloat16=chosen.bfloat16)
    slabs = engine.slabs if chosen.filter != "none" else engine.slabs_unfiltered
    return private_bytes() + slabs * engine.slab_bytes + engine.other_bytes


def panel_bytes(graph: Graph, chosen: Settings, panel: int) -> int:
    """What is held beside the graph when so many columns at a time are gathered from."""
    half = chosen.bfloat16 and kernels().name == "native"
    row = -(-chosen.dim // PAD) * PAD * 4
    block = usual_bytes(graph.nodes, chosen.dim)
    entries = min(BLOCK_ENTRIES, int(len(graph.indices) / graph.nodes * block / row)) * (12 if graph.weighted else 4)
    joined = 0 if panel >= chosen.dim else block  # rows are put together from their panels
    buffers = int(BUFFERS * block) + joined + ROWS_READ * entries + LATER
    return graph.nodes * (panel * (2 if half else 4) + VECTOR_BYTES) + buffers


def widest_panel(graph: Graph, chosen: Settings, room: int) -> int:
    """The widest panel, in as few as possible of equal width, that so many bytes have room for; 0 if none."""
    units = -(-chosen.dim // PAD)
    for panels in range(1, units + 1):
        panel = -(-units // panels) * PAD
        if panel_bytes(graph, chosen, panel) <= room:
            return panel
    return 0


def disk_bytes(graph: Graph, chosen: Settings) -> int:
    """What the tall matrices take on disk at the height."""
    return graph.nodes * -(-chosen.dim // PAD) * PAD * STORED_BYTES


def graph_bytes(graph: Graph) -> int:
    """What the rows of a graph take."""
    arrays = (graph.indptr, graph.indices, graph.weights)
    return sum(array.nbytes for array in arrays if array is not None) * (2 if graph.directed else 1)
