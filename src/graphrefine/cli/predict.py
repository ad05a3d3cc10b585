"""``graphrefine predict``: labels of nodes that have none, and missing edges."""

from __future__ import annotations

from typing import Any

from graphrefine.analysis.label_prediction import describe_prediction, predict_labels
from graphrefine.analysis.link_prediction import describe_links, predict_links
from graphrefine.cli.node_labels import take_labels, tell_labels
from graphrefine.cli.options import reading_options
from graphrefine.display.console import note, progress_bar, show_json
from graphrefine.display.table import SHOWN, Table
from graphrefine.display.table_files import check_table_path
from graphrefine.embedding.embedding import load
from graphrefine.embedding.formats import format_place
from graphrefine.readers.read import read

MOST_ROWS = 1000  # in JSON


def labels(
    embedding: str, labels: str, format: str | None, output: str | None, as_json: bool, **options: Any
) -> None:  # fmt: skip
    """Predict the labels of nodes that have none."""
    if output is not None:
        check_table_path(output)
    vectors = load(embedding, format=format)
    node_labels = take_labels(labels, options, vectors.names)
    with progress_bar() as bar:
        table = predict_labels(vectors, node_labels, watcher=bar, **options)
    tell_labels(node_labels, vectors.names)
    show_answer(table, describe_prediction(table), output, as_json, embedding=format_place(embedding))


def links(graph: str, output: str | None, threads: int | None, as_json: bool, **options: Any) -> None:
    """Predict missing edges."""
    if output is not None:
        check_table_path(output)
    reading = reading_options(options)
    with progress_bar() as bar:
        whole = read(graph, threads=threads, **reading)
        note(f"read: {whole.reading}")
        table = predict_links(whole, threads=threads, watcher=bar, **options)
    show_answer(table, describe_links(table), output, as_json)


def show_answer(table: Table, lines: list[str], output: str | None, as_json: bool, **origin: Any) -> None:
    """Write a table to its file, or print its first rows; or both facts and rows as JSON."""
    if output is not None:
        table.save(output)
    if as_json:
        rows = {} if output is not None else {"rows": table[:MOST_ROWS].records()}
        return show_json({**origin, **table.figures, "output": output, "count": len(table), **rows})
    if output is None:
        print(table)
        if len(table) > SHOWN:
            note(f"the first {SHOWN} of {len(table):,} rows; -o FILE writes all")
    else:
        note(f"{output}: {len(table):,} rows")
    for line in lines:
        note(line)
    return None
