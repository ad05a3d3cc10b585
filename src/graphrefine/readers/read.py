"""Files and objects to `Graph`: the one way in.

The format decides which edges there are (`formats`); their merging is the same for all: names sorted, directions
merged, duplicates added, self-loops dropped, everything counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.adjacency import Adjacency, adjacency_of_bipartite_matrix, adjacency_of_matrix, merge_edges
from graphrefine.graph.graph import Graph, graph_of
from graphrefine.graph.node_ids import Numbered, add_nodes, from_strings, name_array, split_sides
from graphrefine.readers.formats import EdgeTable, MatrixTable, find_format
from graphrefine.readers.options import ReadKeywords, ReadOptions, list_options, read_options
from graphrefine.readers.source import Source


@list_options
def read(graph: Any, **options: Unpack[ReadKeywords]) -> Graph:
    r"""Read a graph from a file, from standard input, or from an object in memory.

    Files: text edge lists, csv and tsv, parquet, arrow (feather), .mat, .mtx, .npz, METIS and GraphML, each
    also compressed (.gz, .zst, .bz2, .xz); and .grf, the graph on disk that `graphrefine.ingest` makes. Objects: SciPy
    sparse matrices, NumPy edge arrays and square matrices, NetworkX, igraph, pandas, polars, Arrow, PyG, and iterables
    of (u, v) or (u, v, weight).

    Nodes are sorted by name: integers if every id is one, else strings. A matrix keeps its rows, named
    0..n-1, and so does an edge_index of shape (2, m). An edge listed in both directions counts once and the
    larger weight wins; duplicates in one direction add their weights, 1 each if there are none; self-loops
    and edges of weight 0 drop, their nodes stay. All of it is counted in `Graph.report`.

    Parameters
    ----------
    graph
        A path, ``"-"`` for standard input, or an object. A `Graph` comes back as it is.
    directed
        Direction of edges: (u, v) leads from u to v only. Edges listed in both directions, as in a symmetric matrix,
        are an arc each way.
    bipartite
        Ends of edges as two sets of nodes: sources (users) and targets (items), even where their names coincide. The
        rows and the columns of a matrix, square or not, are the two sets. Sources come first; see `Graph.sources`.
    weights
        Column (or attribute) of the weights, by name or position from 0; an array for edges in arrays;
        False: no weights, even if there are some. By default a column called weight, or the third of three.
    source, target
        Columns of the ends, by name or position from 0.
    nodes
        Nodes that no edge may mention: their number (named 0..n-1), their names, or a file with a name
        on each line. For a matrix: the names of its rows, in order.
    format
        Format of a file, where the suffix does not tell it: text, csv, tsv, parquet, arrow, mat, mtx, npz, metis,
        graphml, or grf for a graph on disk.
    delimiter
        Character between the columns of text: ``"\t"``, ``","``, ``";"``, or ``" "`` for any run of blanks. By default
        detected.
    header
        Whether the first line of text names the columns. By default detected.
    comments
        Characters that begin a comment line in text; ``""`` for none.
    encoding
        Encoding of text. By default UTF-8, or Latin-1 if it is not UTF-8.
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
    check_sides(settings, graph)
    if isinstance(graph, Graph):
        return graph
    check_values(settings)
    if isinstance(graph, str | PathLike):
        if settings.format == "grf" or (settings.format is None and _may_be_stored(graph)):
            return _open_stored(graph, settings)
        return read_file(Source(graph), settings)
    if settings.format is not None:
        raise InputError(
            f"format={settings.format!r} is for files, and this is a {type(graph).__name__}", argument="format"
        )
    from graphrefine.readers.objects import find_kind

    kind = find_kind(graph)
    check_options(settings, kind.options, kind.name)
    return _build(kind.load(graph, settings), settings, "memory")


def check_sides(options: ReadOptions, graph: Any = None) -> None:
    """Refuse options that exclude ``bipartite``, and a `Graph` that was not read so."""
    if not options.bipartite:
        return
    if options.directed:
        raise InputError(
            "directed=True and bipartite=True exclude each other: edges of two sets lead one way anyway",
            argument="directed",
            mentions=["bipartite"],
        )
    if options.nodes is not None:
        raise InputError(
            "nodes= cannot tell to which of the two sides of a bipartite graph nodes belong; give a matrix, whose rows "
            "and columns without entries stay",
            argument="nodes",
        )
    if isinstance(graph, Graph) and graph.sources is None:
        raise InputError(
            f"{graph.source} was not read as bipartite; read it again with bipartite=True", argument="bipartite"
        )


def check_values(options: ReadOptions) -> None:
    """Refuse values that no graph can be read with."""
    if options.weights is True:
        raise InputError(
            "weights=True says nothing; name the column of the weights, or leave it to be found", argument="weights"
        )
    _ = options.thread_count  # which refuses fewer than one


def check_options(options: ReadOptions, allowed: frozenset[str], kind: str) -> None:
    """Refuse options that do not apply to a kind of graph."""
    if options.bipartite and "bipartite" not in allowed:
        raise InputError(
            f"bipartite=True does not apply to {kind}, which does not say which end is on which side; give pairs "
            "(source, target), or a matrix with a row for each source and a column for each target",
            argument="bipartite",
        )
    for name in options.changes():
        if name not in allowed:
            usable = f"it takes {', '.join(sorted(allowed))}"
            raise InputError(f"{name}= does not apply to {kind}; {usable}", argument=name)


def _may_be_stored(path: str | PathLike[str]) -> bool:
    """Whether a path has the suffix of a graph on disk, or is a folder."""
    return Path(path).suffix.lower() == ".grf" or Path(path).is_dir()


def _open_stored(path: str | PathLike[str], options: ReadOptions) -> Graph:
    """Open a graph on disk; options that contradict those of its ingestion are refused."""
    from graphrefine.graph.stored import is_stored, open_stored

    if options.format is None and not is_stored(path):
        return read_file(Source(path), options)  # which refuses a folder
    check_options(replace(options, bipartite=False), frozenset({"directed", "bipartite"}), "a graph on disk")
    if options.nodes is not None:
        raise InputError(
            "nodes= does not apply to a graph on disk, whose nodes are known; ingest it again with them",
            argument="nodes",
        )
    graph = open_stored(path)
    for name, contradicted in (
        ("directed", options.directed and not graph.directed),
        ("bipartite", options.bipartite and graph.sources is None),
    ):
        if contradicted:
            raise FormatError(path, f"was not ingested as {name}; ingest it again with {name}=True", argument=name)
    return graph


def read_file(source: Source, options: ReadOptions) -> Graph:
    """Read a file of any format but grf, with options that were checked."""
    format = find_format(source, options.format, lambda: source.data)
    check_options(options, format.options, f"a {format.name} file")
    if format.weights_in_entries and options.weights not in (None, False):
        raise source.error(
            "a matrix holds its own weights, not in columns; weights=False leaves them out", argument="weights"
        )
    try:
        table = format.load(source, options)
        table.report["format"] = format.name
        return _build(table, options, source.name)
    except FormatError:
        raise
    except InputError as error:
        raise source.error(error) from None


def _build(table: EdgeTable | MatrixTable, options: ReadOptions, source: str) -> Graph:
    """The graph of the edges or the matrix that a loader gave."""
    extra = read_nodes(options.nodes)
    if isinstance(table, MatrixTable):
        adjacency = _matrix_adjacency(table, options, extra)
    else:
        adjacency = _edge_adjacency(table, options, extra)
    graph = graph_of(adjacency, source=source)
    if graph.edges == 0:
        loops = graph.report["self_loops"]
        raise InputError(f"there is no edge in the graph{f' but {loops} self-loops' if loops else ''}")
    return graph


def _matrix_adjacency(table: MatrixTable, options: ReadOptions, names: int | NDArray[Any] | None) -> Adjacency:
    settings: dict[str, Any] = {"threads": options.thread_count, "weighted": options.weights is not False}
    if options.bipartite:
        adjacency = adjacency_of_bipartite_matrix(table.matrix, **settings)
    else:
        row_names = range(names) if isinstance(names, int) else names
        adjacency = adjacency_of_matrix(table.matrix, directed=options.directed, names=row_names, **settings)
    return adjacency._replace(report={**adjacency.report, **table.report})


def _edge_adjacency(table: EdgeTable, options: ReadOptions, extra: int | NDArray[Any] | None) -> Adjacency:
    numbered = table.numbered if extra is None else _number_with_nodes(table.numbered, extra)
    settings: dict[str, Any] = {"directed": options.directed, "threads": options.thread_count, "report": table.report}
    if options.bipartite:
        numbered, settings["sources"] = split_sides(numbered, all_rows=table.row_numbers)
    return merge_edges(numbered, table.weights, **settings)


def read_nodes(nodes: Any) -> int | NDArray[Any] | None:
    """The option ``nodes`` as a count, an array of names, or None.

    Examples
    --------
    >>> read_nodes(["b", "a"]).tolist(), read_nodes(3)
    (['b', 'a'], 3)
    """
    if nodes is None:
        return None
    if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool):
        if nodes < 1:
            raise InputError(f"nodes={nodes}: the number of nodes must be positive", argument="nodes")
        return int(nodes)
    if isinstance(nodes, str | PathLike):
        lines, encoding = Source(nodes, needs="a name on each line is expected").lines()
        return from_strings([name for line in lines if (name := line.decode(encoding).strip())])
    if not isinstance(nodes, Iterable):
        raise InputError(f"nodes={nodes!r}: give a count, names, or a file with a name on each line", argument="nodes")
    return name_array(nodes)


def _number_with_nodes(numbered: Numbered, extra: int | NDArray[Any]) -> Numbered:
    """Number again with further nodes: those named, or 0 to ``extra`` - 1."""
    if not isinstance(extra, int):
        return add_nodes(numbered, extra)
    names = numbered[2]
    if names.dtype == object or (len(names) and not (names[0] >= 0 and names[-1] < extra)):
        outside = next(name for name in names.tolist() if isinstance(name, str) or not 0 <= name < extra)
        raise InputError(
            f"nodes={extra} means nodes 0 to {extra - 1}, and the edges mention {outside!r}", argument="nodes"
        )
    return add_nodes(numbered, np.arange(extra))
