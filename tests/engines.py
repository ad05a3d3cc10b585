"""The engine in blocks, in a folder of a test, and runs of it that end too early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.block_compute import BlockCompute
from graphrefine.engine.blocks import BlockEngine
from graphrefine.engine.layout import Layout, cut_chunks, cut_rows
from graphrefine.engine.local import LocalEngine
from graphrefine.engine.pipeline import Pipeline
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import identities
from graphrefine.progress import Stages
from graphrefine.refine.refine import refine
from graphrefine.refine.settings import RefineSettings
from graphrefine.system.storage import Storage


def engine_in(
    folder: Path,
    graph: Graph,
    columns: int,
    *,
    rows: int = 512,
    entries: int = 2000,
    bounds: NDArray[np.int64] | None = None,
    panel: int = 32,
    chunk: int | None = None,
    **options: Any,
) -> BlockEngine:
    padded = -(-columns // 32) * 32
    if bounds is None:
        bounds = cut_rows(graph.indptr, columns=columns, block_bytes=rows * padded * 4, entries=entries)
    layout = Layout(bounds, cut_chunks(bounds, rows=chunk or graph.nodes), columns, panel)
    storage = Storage(folder)
    patterns = {"rows": graph, "arrivals": graph.transposed()}
    compute = BlockCompute(storage, layout, patterns, identities=identities(graph.names))
    return BlockEngine(storage, layout, Pipeline(compute), **options)


def in_memory(graph: Graph, chosen: RefineSettings) -> NDArray[np.float32]:
    """REFINE's vectors by the engine in memory, in the order that the rows have on disk."""
    engine = LocalEngine(graph, columns=chosen.dim, reorder=False, bfloat16=chosen.bfloat16, threads=2)
    return refine(engine, graph, chosen, Stages())


class StoppedError(Exception):
    """The power went."""


def stop_after(engine: BlockEngine, count: int) -> BlockEngine:
    """Let so many tasks be done, and no more."""
    run, left = engine.executor.run, [count]

    def stopping(tasks: Any) -> Any:
        for found in run(tasks):
            if left[0] == 0:
                raise StoppedError
            left[0] -= 1
            yield found

    engine.executor.run = stopping  # type: ignore[method-assign]
    return engine
