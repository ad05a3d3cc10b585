"""``graphrefine split``: train, validation and test edges, with negatives."""

from __future__ import annotations

from typing import Any

from graphrefine.analysis.edge_split import split_edges
from graphrefine.analysis.split_folder import check_split_folder
from graphrefine.cli.options import reading_options
from graphrefine.display.console import note, progress_bar, show_json, show_table
from graphrefine.progress import Stages
from graphrefine.readers.read import read


def split(graph: str, output: str, table: str, threads: int | None, as_json: bool, **options: Any) -> None:
    """Split the edges of a graph, and write a folder."""
    reading = reading_options(options)
    check_split_folder(output, table)
    with progress_bar() as bar:
        stages = Stages(bar)
        with stages.stage("read"):
            whole = read(graph, threads=threads, **reading)
        note(f"read: {whole.reading}")
        with stages.stage("split"):
            parts = split_edges(whole, **options)
        with stages.stage("write"):
            parts.save(output, format=table)
    if as_json:
        return show_json({**parts.figures, "output": output, "table": table})
    rows = [(name, f"{part['edges']:,}", f"{part['negatives']:,}") for name, part in parts.figures["parts"].items()]
    show_table([("part", "edges", "negatives"), *rows])
    lost = parts.figures["without_train_edges"]
    if lost:
        note(f"note: {lost:,} nodes have edges, and none in train; --connected keeps one for each")
    note(f"{output}: tables in {table}, the nodes, and split.json")
    return None
