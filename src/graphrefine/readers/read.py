"""Files and objects to `Graph`: the one way in.

The format decides how the edges are found (`formats`); what they become is the same for all of them: names
sorted, directions merged, duplicates added, self-loops dropped, everything counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.from_matrix import bipartite_of_matrix, graph_of_matrix, graph_of_rows, row_names
from graphrefine.graph.graph import Graph, build
from graphrefine.graph.node_ids import Numbered, add_nodes, name_array, object_array, split_sides
from graphrefine.graph.stored import is_stored, open_stored
from graphrefine.readers.formats import BY_NAME, BY_SUFFIX, FORMATS, Format
from graphrefine.readers.objects import kind_of
from graphrefine.readers.options import Column, EdgeTable, MatrixTable, Options
from graphrefine.readers.source import CODECS, Source
from graphrefine.system.threads import usable_threads

_WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")


def read(
    graph: Any,
    *,
    directed: bool = False,
    bipartite: bool = False,
    weights: Any = None,
    source: Column | None = None,
    target: Column | None = None,
    nodes: int | str | PathLike[str] | Iterable[Any] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comments: str | None = None,
    encoding: str | None = None,
    variable: str | None = None,
    threads: int | None = None,
) -> Graph:
    r"""Read a graph from a file, from standard input, or from an object in memory.

    Files: text edge lists, csv and tsv, parquet, arrow (feather), .mat, .mtx, .npz, METIS and GraphML, each
    also compressed (.gz, .zst, .bz2, .xz); and .grf, the graph on disk that `graphrefine.ingest` makes. Objects: SciPy
    sparse matrices, NumPy edge arrays and square matrices, NetworkX, igraph, pandas, polars, Arrow, PyG, and iterables
    of (u, v) or (u, v, weight).

    Nodes are sorted by name: integers if every id is one, else strings. A matrix keeps its rows, named
    0..n-1, and so does an edge_index of shape (2, m). An edge listed in both directions counts once and the
    larger weight wins; duplicates in one direction add their weights, 1 each where there are none; self-loops
    and edges of weight 0 drop, their nodes stay. All of it is counted in `Graph.report`.

    Parameters
    ----------
    graph
        A path, ``"-"`` for standard input, or an object. A `Graph` comes back as it is.
    directed
        Whether (u, v) leads from u to v only. Where edges are listed in both directions, as in a symmetric matrix, that
        is an arc each way.
    bipartite
        Whether the ends of edges are two sets of nodes: sources (users) and targets (items), even where their names
        coincide. The rows and the columns of a matrix, square or not, are the two sets. Sources come first; see
        `Graph.sources`.
    weights
        The column (or attribute) of the weights, by name or position from 0; an array for edges in arrays;
        False: no weights, even if there are some. By default a column called weight, or the third of three.
    source, target
        The columns of the ends, by name or position from 0.
    nodes
        Nodes that no edge may mention: how many there are (named 0..n-1), their names, or a file with a name
        on each line. For a matrix: the names of its rows, in order.
    format
        The format, where the suffix does not say it: text, csv, tsv, parquet, arrow, mat, mtx, npz, metis, graphml,
        or grf for a graph on disk.
    delimiter
        Of text: ``"\t"``, ``","``, ``";"``, or ``" "`` for any run of blanks. By default looked for.
    header
        Whether the first line of text names the columns. By default looked for.
    comments
        Characters that begin a comment line in text, ``"#%"`` by default; ``""`` for none.
    encoding
        Of text. By default UTF-8, or Latin-1 if it is not UTF-8.
    variable
        The variable of a .mat file, ``"network"`` by default.
    threads
        At most so many; by default all cores. The graph is the same.

    Examples
    --------
    >>> graph = read([("ann", "bob", 2.0), ("bob", "ann", 3.0), ("bob", "cy", 1.0)])
    >>> graph.names.tolist(), graph.edges, graph.weights.tolist()
    (['ann', 'bob', 'cy'], 2, [3.0, 3.0, 1.0, 1.0])
    """
    check_sides(graph, directed=directed, bipartite=bipartite, nodes=nodes)
    if isinstance(graph, Graph):
        return graph
    options = Options(
        directed=directed,
        bipartite=bipartite,
        weights=weights,
        source=source,
        target=target,
        delimiter=delimiter,
        header=header,
        comments=comments,
        encoding=encoding,
        variable=variable,
        threads=usable_threads(threads),
    )
    if weights is True:
        raise InputError("weights=True says nothing; name the column of the weights, or leave it to be found")
    if isinstance(graph, str | PathLike) and (format == "grf" or (format is None and is_stored(graph))):
        return _open(graph, options, nodes)
    if isinstance(graph, str | PathLike):
        return _read_file(Source(graph), options, nodes, format)
    if format is not None:
        raise InputError(f"format={format!r} is for files, and this is a {type(graph).__name__}")
    kind = kind_of(graph)
    check_options(options, kind.options, kind.name)
    return _finish(kind.load(graph, options), options, nodes, "memory")


def check_sides(graph: Any, *, directed: bool, bipartite: bool, nodes: Any) -> None:
    """Refuse what goes ill with two sides."""
    if not bipartite:
        return
    if directed:
        raise InputError("directed=True and bipartite=True exclude each other: edges of two sets lead one way anyway")
    if nodes is not None:
        raise InputError(
            "nodes= cannot tell to which of the two sides of a bipartite graph nodes belong; give a matrix, whose rows "
            "and columns without entries stay"
        )
    if isinstance(graph, Graph) and graph.sources is None:
        raise InputError(f"{graph.source} was not read as bipartite; read it again with bipartite=True")


def _open(path: str | PathLike[str], options: Options, nodes: Any) -> Graph:
    """A graph on disk, which is what it is: only what it was ingested as may be said of it."""
    check_options(replace(options, bipartite=False), frozenset({"directed", "bipartite"}), "a graph on disk")
    if nodes is not None:
        raise InputError("nodes= does not apply to a graph on disk, whose nodes are known; ingest it again with them")
    graph = open_stored(path)
    for name, given, found in (
        ("directed", options.directed, graph.directed),
        ("bipartite", options.bipartite, graph.sources is not None),
    ):
        if given and not found:
            raise FormatError(path, f"was not ingested as {name}; ingest it again with {name}=True")
    return graph


def _read_file(source: Source, options: Options, nodes: Any, name: str | None) -> Graph:
    format = format_of(source, name, lambda: source.data)
    check_options(options, format.options, f"a {format.name} file")
    if format.name in ("mat", "mtx", "npz", "metis") and options.weights not in (None, False):
        raise source.error("a matrix holds its own weights, not in columns; weights=False leaves them out")
    try:
        table = format.load(source, options)
        table.report["format"] = format.name
        return _finish(table, options, nodes, source.name)
    except FormatError:
        raise
    except InputError as error:
        raise source.error(str(error)) from None


def format_of(source: Source, name: str | None, head: Callable[[], bytes]) -> Format:
    """The format of a file: the one named, that of its suffix, or that of its first bytes."""
    if name is not None:
        if name not in BY_NAME:
            raise InputError(f"format={name!r} is not known; the formats are {', '.join(BY_NAME)}, grf")
        return BY_NAME[name]
    named = BY_SUFFIX.get(source.suffix)
    if named is not None and named.name != "text":
        return named
    for format in FORMATS:  # no telling suffix: the first bytes may tell
        if head().startswith(format.magic) and format.magic:
            return format
    if named is None and source.suffix:
        known = " ".join(suffix for each in FORMATS for suffix in each.suffixes)
        packed = " ".join(codec.suffix for codec in CODECS)
        raise source.error(
            f"the suffix {source.suffix!r} is not known; known are {known}, each also with {packed}; "
            'format="text" reads it as an edge list'
        )
    return BY_NAME["text"]


def check_options(options: Options, allowed: frozenset[str], what: str) -> None:
    """Refuse options that do not apply to a kind of graph."""
    plain = Options()
    if options.bipartite and "bipartite" not in allowed:
        raise InputError(
            f"bipartite=True does not apply to {what}, which does not say which end is on which side; give pairs "
            "(source, target), or a matrix with a row for each source and a column for each target"
        )
    for name in ("weights", "source", "target", "delimiter", "header", "comments", "encoding", "variable"):
        if name not in allowed and getattr(options, name) is not getattr(plain, name):
            usable = f"it takes {', '.join(sorted(allowed))}"
            raise InputError(f"{name}= does not apply to {what}; {usable}")


def _finish(table: EdgeTable | MatrixTable, options: Options, nodes: Any, source: str) -> Graph:
    """The graph of what a loader found."""
    extra = given_nodes(nodes)
    if isinstance(table, MatrixTable) and options.bipartite:
        graph = _bipartite(table.matrix, options, source)
        graph = replace(graph, report={**graph.report, **table.report})
    elif isinstance(table, MatrixTable):
        graph = _of_matrix(table.matrix, options, extra, source)
        graph = replace(graph, report={**graph.report, **table.report})
    else:
        numbered = table.numbered if extra is None else _with_nodes(table.numbered, extra)
        sources = None
        if options.bipartite:
            numbered, sources = split_sides(numbered, all_rows=table.row_numbers)
        settings: dict[str, Any] = {"directed": options.directed, "threads": options.threads, "sources": sources}
        graph = build(numbered, table.weights, report=table.report, source=source, **settings)
    if graph.edges == 0:
        loops = graph.report["self_loops"]
        raise InputError(f"there is no edge in the graph{f' but {loops} self-loops' if loops else ''}")
    return graph


def _bipartite(matrix: Any, options: Options, source: str) -> Graph:
    if isinstance(matrix, tuple):
        from scipy.sparse import csc_array

        indptr, indices, values = matrix
        data = np.ones(len(indices), dtype=np.float32) if values is None else values
        matrix = csc_array((data, indices, indptr), shape=(len(indptr) - 1, len(indptr) - 1))
    weighted = options.weights is not False
    return bipartite_of_matrix(matrix, weighted=weighted, threads=options.threads, source=source)


def _of_matrix(matrix: Any, options: Options, names: Any, source: str) -> Graph:
    weighted = options.weights is not False
    if isinstance(names, int):
        names = range(names)
    if not isinstance(matrix, tuple):
        settings: dict[str, Any] = {"directed": options.directed, "threads": options.threads}
        return graph_of_matrix(matrix, names=names, weighted=weighted, source=source, **settings)
    indptr, indices, values = matrix
    if options.directed or not weighted:
        from scipy.sparse import csc_array

        data = np.ones(len(indices), dtype=np.float32) if values is None else values
        columns = csc_array((data, indices, indptr), shape=(len(indptr) - 1, len(indptr) - 1))
        return _of_matrix(columns, options, names, source)
    listed = row_names(len(indptr) - 1, names)
    return graph_of_rows(indptr, indices, values, directed=False, names=listed, threads=options.threads, source=source)


def given_nodes(nodes: Any) -> int | NDArray[Any] | None:
    """The argument `nodes`: a count, names, or None."""
    if nodes is None:
        return None
    if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool):
        if nodes < 1:
            raise InputError(f"nodes={nodes}: the number of nodes must be positive")
        return int(nodes)
    if isinstance(nodes, str | PathLike):
        source = Source(nodes)
        try:
            text = source.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = source.data.decode("latin-1")
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        return name_array(map(int, lines)) if all(map(_WHOLE.fullmatch, lines)) else object_array(lines)
    if not isinstance(nodes, Iterable):
        raise InputError(f"nodes={nodes!r}: give a count, names, or a file with a name on each line")
    return name_array(nodes)


def _with_nodes(numbered: Numbered, extra: int | NDArray[Any]) -> Numbered:
    if not isinstance(extra, int):
        return add_nodes(numbered, extra)
    names = numbered[2]
    if names.dtype == object or (len(names) and not (names[0] >= 0 and names[-1] < extra)):
        raise InputError(
            f"nodes={extra} means nodes 0 to {extra - 1}, and the edges mention {_outside(names, extra)!r}"
        )
    return add_nodes(numbered, np.arange(extra))


def _outside(names: NDArray[Any], count: int) -> Any:
    return next(name for name in names.tolist() if isinstance(name, str) or not 0 <= name < count)
