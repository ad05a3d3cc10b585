"""The engine in blocks, in a folder of a test, and runs of it that end too early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.block_compute import BlockCompute
from graphrefine.engine.blocks import BlockEngine
from graphrefine.engine.layout import Layout, cut_chunks, cut_rows
from graphrefine.engine.pipeline import Pipeline
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import identities
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


def engine_of_many_blocks(folder: Path, graph: Graph, columns: int, *, blocks: int) -> BlockEngine:
    """Blocks of any number of rows, of a graph of any size, gathered in two chunks; in float32."""
    bounds = np.unique(np.linspace(0, graph.nodes, blocks + 1).astype(np.int64))
    return engine_in(folder, graph, columns, bounds=bounds, chunk=-(-graph.nodes // 2), bfloat16=False)


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
