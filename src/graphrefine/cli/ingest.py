"""``graphrefine ingest``: edges to a graph on disk, also more than the memory holds."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import click

from graphrefine.cli import options as opt
from graphrefine.cli.options import Option, check_not_input, command, reading_options, show_notes
from graphrefine.display.console import note, progress_bar, show_json


@command(
    "ingest",
    first=("output", "memory", "weights", "directed"),
    short_help="Edges to a graph on disk, also more than the memory holds.",
    params=[
        click.Argument(["edges"], metavar="EDGES...", nargs=-1, required=True),
        Option(["-o", "--output"], required=True, metavar="OUT",
               help="The graph on disk, a folder, usually called NAME.grf. Unfinished work is in OUT.work, next to "
                    "it; a run that was killed goes on from there."),
        Option(["--memory"], metavar="AMOUNT",
               help="Largest amount of memory, as in 8GB or 512MB.  [default: most of the free memory]"),
        opt.THREADS, opt.JSON, *opt.READING,
    ],
)  # fmt: skip
def ingest(
    edges: tuple[str, ...], output: str, memory: str | None, threads: int | None, as_json: bool, **options: Any
) -> None:
    """Make a graph on disk of edges that need not fit into memory; embed and info take it as they take any file.

    EDGES are files (edge lists, csv, tsv, parquet, arrow, also compressed), folders of files, or patterns in quotes;
    several are parts of one list. Graphs in other formats (mat, GraphML, JSON ...) are read whole, if they fit.
    """
    from graphrefine.ingestion.ingest import ingest_files
    from graphrefine.readers.options import ReadOptions

    start = perf_counter()
    check_not_input(output, [*edges, options["nodes"]])
    reading = ReadOptions(threads=threads, **reading_options(options))
    with progress_bar() as bar:
        ingestion = ingest_files(edges, output, reading, memory=memory, watcher=bar)
    graph, seconds = ingestion.graph, {**ingestion.seconds, "total": perf_counter() - start}
    size = sum(path.stat().st_size for path in graph.path.iterdir())
    stats = {
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
    show_notes(graph)
    if as_json:
        return show_json(stats)
    print(f"{output}: {graph!r}, {size / 1e6:,.0f} MB, in {seconds['total']:,.1f} s")
    return None
