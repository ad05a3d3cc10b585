"""Files and objects to `Graph`: the one way in.

The format decides which edges there are (`formats`); their merging is the same for all: names sorted, directions
merged, duplicates added, self-loops dropped, everything counted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.adjacency import Adjacency, adjacency_of_bipartite_matrix, adjacency_of_matrix, merge_edges
from graphrefine.graph.graph import Graph, graph_of
from graphrefine.graph.node_ids import Numbered, add_nodes, from_strings, name_array, object_array, split_sides
from graphrefine.readers.formats import EdgeTable, MatrixTable, find_format, is_ogb_folder
from graphrefine.readers.odd_names import add_name_notes, are_plain
from graphrefine.readers.options import ReadKeywords, ReadOptions, list_options, read_options
from graphrefine.tables.source import Source, wrap_errors

_log = logging.getLogger(__name__)


@list_options
def read(graph: Any, **options: Unpack[ReadKeywords]) -> Graph:
    r"""Read a graph from a file, from standard input, or from an object in memory.

    Files: text edge lists, csv and tsv, parquet, arrow (feather), .mat, .mtx, .npz, METIS, GraphML, GEXF, GML, Pajek,
    JSON (node-link and others), JSON Lines, edge and adjacency lists of NetworkX, each also compressed (.gz, .zst,
    .bz2, .xz); databases of SQLite and DuckDB; folders of OGB; and .grf, the graph on disk that `graphrefine.ingest`
    makes. Objects: SciPy sparse matrices, NumPy arrays of edges, matrices and records, torch tensors, NetworkX, igraph,
    rustworkx, NetworKit, PyG, pandas, polars, DuckDB and all that speaks Arrow, mappings of columns or of neighbors,
    and iterables of (u, v) or (u, v, weight).

    Nodes are sorted by name: integers if every id is one, else strings; ids of other types, such as tuples, stay as
    they are, sorted by type and value. A matrix keeps its rows, named 0..n-1 unless it has names, and so does an
    edge_index of shape (2, m). An edge listed in both directions counts once and the larger weight wins; duplicates in
    one direction add their weights, 1 each if there are none; self-loops and edges of weight 0 drop, their nodes stay.
    All of it is counted in `Graph.report`.

    Parameters
    ----------
    graph
        A path, ``"-"`` for standard input, or an object. A `Graph` comes back as it is; options that would change it
        are refused.
    directed
        Direction of edges: True, (u, v) leads from u to v only; False, edges have none. Edges listed in both
        directions, as in a symmetric matrix, are an arc each way. By default as the graph says (NetworkX, igraph,
        GraphML ...), else False.
    bipartite
        Ends of edges as two sets of nodes: sources (users) and targets (items), even where their names coincide. The
        rows and the columns of a matrix, square or not, are the two sets. Sources come first; see `Graph.sources`. By
        default one set; columns that name different things over overlapping integers, such as userId and movieId, are
        refused until this is True or False.
    weights
        Column (or attribute) of the weights, by name or position from 0; an array for edges in arrays;
        False: no weights, even if there are some. By default a column called weight, or the third of three.
    source, target
        Columns of the ends, by name or position from 0.
    nodes
        Nodes that no edge may mention: their number (named 0..n-1), their names, or a file: a name on each line, or a
        table with a column called node, id or name. For a matrix: the names of its rows, in order.
    format
        Format of a file, where the suffix does not tell it: text, csv, tsv, parquet, arrow, mat, mtx, npz, metis,
        graphml, gexf, gml, pajek, json, jsonl, sqlite, duckdb, networkx, adjlist, ogb, or grf for a graph on disk.
    delimiter
        Character between the columns of text: ``"\t"``, ``","``, ``";"``, or ``" "`` for any run of blanks. By default
        detected.
    header
        Whether the first line of text names the columns. By default detected.
    quote
        Character around fields of text that hold delimiters or line ends, doubled within them; ``""`` for none.
    comments
        Characters that begin a comment line, anywhere in a text; ``""`` for none. By default # and %, but only before
        the first record.
    encoding
        Encoding of text. By default UTF-8, or Latin-1 if it is not UTF-8.
    time
        Column of the times of the edges, by name or position from 0: numbers since 1970 (seconds, or milliseconds,
        microseconds or nanoseconds by their size), dates, or dates with times.
    since, until
        Earliest time of an edge, and the time before which it must lie: ``"2024-01-31"``, a datetime, or a number.
    half_life
        Time in which the weight of an edge halves, seen from ``until`` or from the newest edge: ``"30d"``, ``"12h"``,
        ``"2w"``, ``"1y"``, or seconds.
    names
        Attribute of the nodes that holds their names, in formats and objects that have such attributes.
    query
        Query in SQL, or name of a table, of a database.
    variable
        Variable of a .mat file.
    threads
        Largest number of threads; by default all cores. The graph is the same.

    Examples
    --------
    >>> graph = read([("ann", "bob", 2.0), ("bob", "ann", 3.0), ("bob", "cy", 1.0)])
    >>> graph.names.tolist(), graph.edges, graph.weights.tolist()
    (['ann', 'bob', 'cy'], 2, [3.0, 3.0, 1.0, 1.0])
    """
    settings = read_options(options)
    check_sides(settings)
    if isinstance(graph, Graph):
        _check_unchanged(graph, settings)
        return graph
    check_values(settings)
    if isinstance(graph, str | PathLike):
        may_be_stored = Path(graph).suffix.lower() == ".grf" or Path(graph).is_dir()
        if settings.format == "grf" or (settings.format is None and may_be_stored):
            return _open_stored(graph, settings)
        return read_file(Source(graph), settings)
    if settings.format is not None:
        raise InputError(
            f"format={settings.format!r} is for files, and this is a {type(graph).__name__}", argument="format"
        )
    from graphrefine.readers.objects import find_kind

    kind = find_kind(graph)
    check_options(settings, kind.options, kind.name)
    table = kind.load(graph, settings)
    table.report.setdefault("format", kind.name)
    return _build(table, settings)


def check_sides(options: ReadOptions) -> None:
    """Refuse options that exclude ``bipartite``."""
    if options.bipartite and options.directed:
        problem = "directed and bipartite exclude each other: edges of two sets lead one way anyway"
        raise InputError(problem, argument="directed")
    if options.bipartite and options.nodes is not None:
        raise InputError(
            "nodes= does not say to which of the two sides of a bipartite graph nodes belong; give a matrix, whose "
            "rows and columns without entries stay",
            argument="nodes",
        )


def _check_unchanged(graph: Graph, options: ReadOptions) -> None:
    """Refuse options that would read a `Graph` in another way than it was."""
    held = {"directed": graph.directed, "bipartite": graph.sources is not None}
    changes = [name for name in held if getattr(options, name) not in (None, held[name])]
    changes += [name for name in (*options.changes(), "nodes", "format") if getattr(options, name) is not None]
    if changes:
        raise InputError(
            f"{changes[0]}={getattr(options, changes[0])!r} does not apply to a Graph, which was read already; read "
            f"what it was read from ({graph.source}) with it",
            argument=changes[0],
        )


_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "direction": (bool, "True or False"),
    "switch": (bool, "True or False"),
    "column": ((str, int), "a name, or a position from 0"),
    "format": (str, "a name"),
    "delimiter": (str, "a character"),
    "characters": (str, "characters"),
    "name": (str, "a name"),
}


def check_values(options: ReadOptions) -> None:
    """Refuse values that no graph can be read with."""
    for each in fields(options):
        kind, words = _KINDS.get(each.metadata["kind"], (object, ""))
        value = getattr(options, each.name)
        if value is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind == (str, int))):
            raise InputError(f"{each.name}={value!r}: {words} is expected", argument=each.name)
    if options.weights is True:
        problem = "weights=True does not say which; name the column of the weights, or leave it to be found"
        raise InputError(problem, argument="weights")
    if options.comments is not None and (not options.comments.isascii() or set(options.comments) & set(" \t\r\n")):
        raise InputError(f"comments={options.comments!r} must be ASCII characters and no blanks", argument="comments")
    for name in ("since", "until", "half_life"):
        if options.time is None and getattr(options, name) is not None:
            problem = f"{name}={getattr(options, name)!r} needs the column of the times; pass time="
            raise InputError(problem, argument=name)
    _ = options.thread_count  # which refuses fewer than one


def check_options(options: ReadOptions, allowed: frozenset[str], kind: str) -> None:
    """Refuse options that do not apply to a kind of graph."""
    for name in (*(["bipartite"] if options.bipartite else []), *options.changes()):
        if name not in allowed:
            usable = f"it takes {', '.join(sorted(allowed))}"
            hint = "; pairs (source, target), or a matrix, say which end is on which side" * (name == "bipartite")
            raise InputError(f"{name}= does not apply to {kind}; {usable}{hint}", argument=name)


def _open_stored(path: str | PathLike[str], options: ReadOptions) -> Graph:
    """Open a graph on disk; options that contradict those of its ingestion are refused."""
    from graphrefine.graph.stored import is_stored, open_stored

    if options.format is None and not is_stored(path):
        format = "ogb" if is_ogb_folder(path) else None
        return read_file(Source(path), replace(options, format=format))  # which refuses any other folder
    check_options(options, frozenset({"directed", "bipartite"}), "a graph on disk")
    if options.nodes is not None:
        problem = "nodes= does not apply to a graph on disk, whose nodes are known; ingest it again with them"
        raise InputError(problem, argument="nodes")
    graph = open_stored(path)
    for name, value in {"directed": graph.directed, "bipartite": graph.sources is not None}.items():
        wanted = getattr(options, name)
        if wanted not in (None, value):
            problem = f"was ingested with {name}={value}; ingest it again with {name}={wanted}"
            raise FormatError(path, problem, argument=name)
    _log.info("opened %s: %d nodes, %d edges", graph.source, graph.nodes, graph.edges)
    return graph


def read_file(source: Source, options: ReadOptions) -> Graph:
    """Read a file of any format but grf, with options that were checked."""
    format = find_format(source, options.format, lambda: source.data)
    check_options(options, format.options, f"a {format.name} file")
    if format.weights_in_entries and options.names_weights:
        raise source.error(
            "a matrix holds its own weights, not in columns; weights=False leaves them out", argument="weights"
        )
    # Here alone the exception of a library becomes an error that names the file: on damaged bytes pyarrow,
    # h5py, SciPy, zipfile and expat raise anything, and no list of types is ever complete.
    with wrap_errors(source, f"{format.name} file"):
        table = format.load(source, options)
        table.report.setdefault("format", format.name)  # the content may say more than the suffix
        return _build(table, options, file=source.name)


def _build(table: EdgeTable | MatrixTable, options: ReadOptions, *, file: str | None = None) -> Graph:
    """Return the graph of the edges or the matrix that a loader gave, of a file or, without one, of an object."""
    extra = read_nodes(options.nodes)
    if options.directed is None and table.directed is not None:
        table.report["direction"] = "declared"
        options = replace(options, directed=table.directed)
    if isinstance(table, MatrixTable):
        adjacency = _matrix_adjacency(table, options, extra)
    else:
        adjacency = _edge_adjacency(table, options, extra, text=file is not None)
    if adjacency.names.dtype == object and not are_plain(adjacency.names.tolist()):
        names, sources = adjacency.names.tolist(), adjacency.sources
        sides = [names] if sources is None else [names[:sources], names[sources:]]
        adjacency = adjacency._replace(report=add_name_notes(adjacency.report, *map(sorted, sides)))
    attributes = _align_attributes(table, adjacency) if table.attributes else {}
    graph = graph_of(adjacency, source="memory" if file is None else file, attributes=attributes)
    if graph.edges == 0:
        raise InputError(describe_no_edge(graph.report))
    _log.info("read %s: %d nodes, %d edges; %s", graph.source, graph.nodes, graph.edges, graph.reading)
    return graph


def describe_no_edge(counts: Mapping[str, Any]) -> str:
    """Return the problem of records none of which is an edge."""
    others = {"self-loops": counts.get("self_loops", 0), "of weight 0": counts.get("zero_weights", 0)}
    some = " and ".join(f"{count:,} {words}" for words, count in others.items() if count)
    return f"there is no edge in the graph{f' but {some}' if some else ''}"


def _align_attributes(table: EdgeTable | MatrixTable, adjacency: Adjacency) -> dict[str, NDArray[Any]]:
    """Return attributes of the nodes in the order of the graph's rows."""
    names = table.names if isinstance(table, MatrixTable) else table.numbered[2]
    if names is None or all(len(values) == len(adjacency.names) for values in table.attributes.values()):
        return table.attributes
    index = {name: at for at, name in enumerate(names.tolist())}
    rows = np.array([index.get(name, len(names)) for name in adjacency.names.tolist()])
    return {key: object_array([*values.tolist(), None])[rows] for key, values in table.attributes.items()}


def _matrix_adjacency(table: MatrixTable, options: ReadOptions, names: int | NDArray[Any] | None) -> Adjacency:
    settings: dict[str, Any] = {"threads": options.thread_count, "weighted": options.weights is not False}
    if options.bipartite:
        settings |= {"names": table.names, "column_names": table.column_names}
        adjacency = adjacency_of_bipartite_matrix(table.matrix, **settings)
    else:
        chosen = range(names) if isinstance(names, int) else names
        row_names = table.names if chosen is None else chosen
        adjacency = adjacency_of_matrix(table.matrix, directed=bool(options.directed), names=row_names, **settings)
    return adjacency._replace(report={**adjacency.report, **table.report})


def _edge_adjacency(
    table: EdgeTable, options: ReadOptions, extra: int | NDArray[Any] | None, *, text: bool
) -> Adjacency:
    numbered = table.numbered if extra is None else _number_with_nodes(table.numbered, extra, text=text)
    settings: dict[str, Any] = {"directed": bool(options.directed), "threads": options.thread_count}
    if table.sets is not None and options.bipartite is None:
        table.sets.check(numbered)
    if options.bipartite:
        numbered, settings["sources"] = split_sides(numbered, all_rows=table.row_numbers)
    return merge_edges(numbered, table.weights, report=table.report, **settings)


def read_nodes(nodes: Any) -> int | NDArray[Any] | None:
    """Return the option ``nodes`` as a count, an array of names, or None."""
    if nodes is None:
        return None
    if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool):
        if nodes < 1:
            raise InputError(f"nodes={nodes}: the number of nodes must be positive", argument="nodes")
        return int(nodes)
    if isinstance(nodes, str | PathLike):
        from graphrefine.readers.small_table import read_names  # with the modules for tables

        return from_strings(read_names(Source(nodes, needs="a name on each line is expected")))
    if not isinstance(nodes, Iterable):
        raise InputError(f"nodes={nodes!r}: give a count, names, or a file with a name on each line", argument="nodes")
    return name_array(nodes)


def _number_with_nodes(numbered: Numbered, extra: int | NDArray[Any], *, text: bool) -> Numbered:
    """Add further nodes and renumber: those named, or 0 to ``extra`` - 1."""
    if not isinstance(extra, int):
        return add_nodes(numbered, extra, text=text)
    source, target, names = numbered
    if names.dtype == object:
        outside = [name for name in names.tolist() if not isinstance(name, int) or not 0 <= name < extra]
    else:
        outside = names[(names < 0) | (names >= extra)].tolist()
    if outside:
        problem = f"nodes={extra} means nodes 0 to {extra - 1}, and the edges mention {outside[0]!r}"
        raise InputError(problem, argument="nodes")
    return add_nodes((source, target, names.astype(np.int64, copy=False)), np.arange(extra))
