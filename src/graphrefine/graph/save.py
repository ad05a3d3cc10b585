"""Graphs in files: the graph on disk (.grf), and lists of edges that `graphrefine.read` takes back.

In a list of edges, an undirected edge stands once, and a node without edges is a line with one end. Direction and sides
are no part of it: the reader is told with ``directed=True`` or ``bipartite=True``. Attributes of nodes are in neither.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from graphrefine.display.table import Table, check_table_path
from graphrefine.errors import ArgumentWarning, InputError, suggest
from graphrefine.graph.frames import GraphRows, edge_ends, edge_table
from graphrefine.graph.lookup import list_some
from graphrefine.graph.node_ids import from_strings, is_text, text_names
from graphrefine.graph.stored_writer import StoredWriter, check_replaceable, write_names
from graphrefine.system.files import replacing, replacing_folder

GRF = ".grf"


def save_graph(graph: GraphRows, path: str | os.PathLike[str], *, stacklevel: int = 3) -> None:
    """Write a graph, replacing what is there in one step; the suffix names the format: see `Graph.save`."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        near = suggest(suffix, WRITERS)
        known = ", ".join(WRITERS)
        raise InputError(f"{os.fspath(path)}: no graph is written as {suffix!r}{near}; it can be {known}")
    if suffix != GRF and not len(graph.indices):
        raise InputError(f"{os.fspath(path)}: the graph has no edges to list; {GRF} holds a graph without edges")
    if graph.attributes:
        listed = ", ".join(graph.attributes)
        warnings.warn(
            ArgumentWarning(f"node attributes are not in the file: {listed}; graph.node_table().save(...) keeps them"),
            stacklevel=stacklevel,
        )
    if suffix in (".csv", ".tsv") and is_text(graph.names) and from_strings(graph.names.tolist()).dtype != object:
        text = f"names such as {graph.names[0]!r} are digits, and come back as integers; .parquet keeps them as text"
        warnings.warn(ArgumentWarning(text), stacklevel=stacklevel)
    WRITERS[suffix](graph, path)


def store(graph: GraphRows, path: str | os.PathLike[str], *, threads: int = 1) -> None:
    """Write a graph that is in memory as a graph on disk; a graph that is there is replaced in one step."""
    replacing_one = replacing_folder(path, replaceable=check_replaceable)
    with replacing_one as folder, StoredWriter(folder, directed=graph.directed) as writer:
        writer.append(graph.out_counts, graph.indices, graph.weights)
        if graph.directed:
            turned = graph.transposed()
            writer.append(turned.out_counts, turned.indices, turned.weights, reverse=True)
        kind = write_names(folder, text_names(graph.names, sources=graph.sources))
        writer.finish(names=kind, report=graph.report, source=graph.source, sources=graph.sources, threads=threads)


def _write_text(graph: GraphRows, path: str | os.PathLike[str]) -> None:
    """Edges as csv or tsv, then the nodes without any, each with one end."""
    ends, alone = edge_ends(graph), np.flatnonzero(graph.without_edges())
    if len(alone) and Path(path).suffix.lower() == ".tsv":
        some = list_some(graph.names[alone[:4]].tolist())
        raise InputError(
            f"{os.fspath(path)}: nodes without edges, such as {some}, cannot stand in a list that is split by tabs, "
            "as an empty end would be passed over; save as .csv or .parquet"
        )
    on_target = alone >= (graph.nodes if graph.sources is None else graph.sources)
    nobody = np.full(len(alone), None, object)
    columns: dict[str, Any] = {
        name: [*graph.names[rows].tolist(), *np.where(there, graph.names[alone], nobody).tolist()]
        for name, rows, there in (("source", ends.source, ~on_target), ("target", ends.target, on_target))
    }
    if ends.weights is not None:
        columns["weight"] = np.concatenate([ends.weights, np.ones(len(alone), np.float32)])
    Table(columns).save(path)


def _write_arrow(graph: GraphRows, path: str | os.PathLike[str]) -> None:
    check_table_path(path)
    table = edge_table(graph, isolated=True)
    with replacing(path) as hidden:
        if Path(path).suffix.lower() == ".parquet":
            from pyarrow import parquet

            parquet.write_table(table, hidden, compression="zstd")
        else:
            from pyarrow import feather

            feather.write_feather(table, str(hidden), compression="uncompressed")


WRITERS: dict[str, Callable[[GraphRows, str | os.PathLike[str]], None]] = {
    GRF: store,
    ".csv": _write_text,
    ".tsv": _write_text,
    ".parquet": _write_arrow,
    ".arrow": _write_arrow,
}
