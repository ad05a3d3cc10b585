"""``graphrefine ingest``: edges to a graph on disk, whatever their number."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

from graphrefine.cli.describe import remarks
from graphrefine.cli.options import reading_options
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.ingestion.ingest import ingest_files
from graphrefine.readers.options import ReadOptions


def ingest(
    edges: tuple[str, ...], output: str, memory: str | None, threads: int | None, as_json: bool, **options: Any
) -> None:
    """Write edges that need not fit into memory as a graph on disk."""
    start = perf_counter()
    reading = ReadOptions(threads=threads, **reading_options(options))
    with progress_bar() as bar:
        ingestion = ingest_files(edges, output, reading, memory=memory, watcher=bar)
    graph, seconds = ingestion.graph, {**ingestion.seconds, "total": perf_counter() - start}
    size = _measure(graph.path)
    figures = {
        "output": output,
        "nodes": graph.nodes,
        "edges": graph.edges,
        "seconds": seconds,
        "bytes": size,
        "blocks": len(graph.blocks) - 1,
        "budget_mb": ingestion.budget / 1e6,
        "predicted_mb": ingestion.predicted / 1e6,
        "peak_mb": ingestion.peak / 1e6,
        "resumed": ingestion.resumed,
        "reading": graph.reading,
        "graph": graph.summary(),
    }
    note(f"read: {graph.reading}")
    for line in remarks(graph):
        note(f"note: {line}")
    if as_json:
        return show_json(figures)
    print(f"{output}: {graph!r}, {size / 1e6:,.0f} MB, in {seconds['total']:,.1f} s")
    return None


def _measure(folder: Path) -> int:
    """Bytes of the files in a folder; 0 if the disk does not say, as the graph is made all the same."""
    for _ in range(2):
        with suppress(OSError):
            return sum(path.stat().st_size for path in folder.iterdir())
    return 0
