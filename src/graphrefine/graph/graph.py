"""Graph: node names and checked CSR rows, the form in which every later stage takes a graph.

An undirected graph is stored symmetric, each edge in the rows of both its ends. A directed one keeps
``u -> v`` in row u. There are no self-loops; weights are positive, and absent where all of them are 1.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.display.table import Table, arrow_table, check_table_path, fill_gaps, save_blocks
from graphrefine.errors import ArgumentWarning, InputError, require, suggest
from graphrefine.graph.adjacency import (
    Adjacency,
    Rows,
    adjacency_of_matrix,
    check_weights,
    cut_rows,
    describe_reading,
    end_array,
    inverses,
    merge_edges,
    row_numbers,
    sums_of_rows,
)
from graphrefine.graph.lookup import ONE, Lookup, Side, Sides, list_some
from graphrefine.graph.node_ids import from_strings, is_text, name_array, number, text_names
from graphrefine.graph.stored_writer import StoredWriter, check_replaceable, write_names
from graphrefine.kernels import native
from graphrefine.system.checks import check_choice
from graphrefine.system.files import replacing_folder
from graphrefine.system.threads import usable_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph with named nodes. Made by `graphrefine.read`, `Graph.from_edges` or `Graph.from_matrix`.

    Attributes
    ----------
    indptr, indices, weights
        CSR rows: int64 (n + 1,), int32 (nnz,) ascending within a row, float32 (nnz,) or None for all
        ones. They may be read-only.
    names
        The node of each row: int64 if every id is an integer, else an object array, of strings where every id is one.
    directed
        Whether row u holds only the edges that leave u.
    sources
        Number of nodes on the first side (users) of a bipartite graph; they come first, and every edge joins one of
        them and one of the others (items). A name may be on both sides. None: not read as bipartite.
    report
        How the graph was read, and counts of reading; `summary` explains them, and `reading` is the same in words.
    attributes
        Attributes of the nodes that came with the graph: for each name an array with a value for each row, None where
        a node has none. They can serve as labels.
    source
        The file, or "memory".
    nodes, edges
        Numbers of nodes and of edges; an undirected edge counts once, and has two `entries` in the rows.
    weighted
        Whether some weight differs from 1.

    Examples
    --------
    >>> graph = Graph.from_edges(["a", "b", "b"], ["b", "c", "b"])
    >>> graph
    Graph(3 nodes, 2 edges, undirected, unweighted)
    >>> graph.report["self_loops"]
    1
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    names: NDArray[Any]
    directed: bool = False
    report: Mapping[str, Any] = field(default_factory=dict)
    source: str = "memory"
    sources: int | None = None
    attributes: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    stored: ClassVar[bool] = False  # whether the arrays stay on disk
    nodes: int = field(init=False)
    edges: int = field(init=False)
    entries: int = field(init=False)
    weighted: bool = field(init=False)

    def __post_init__(self) -> None:
        # Counted once, as code asks for them in loops; the fields of a frozen dataclass cannot be assigned.
        counts = {"entries": (entries := len(self.indices)), "edges": entries // (2 - self.directed)}
        self.__dict__.update(counts, nodes=len(self.indptr) - 1, weighted=self.weights is not None)

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike | Sequence[Any],
        target: ArrayLike | Sequence[Any],
        weights: ArrayLike | None = None,
        *,
        names: Sequence[Any] | NDArray[Any] | None = None,
        directed: bool = False,
        threads: int | None = None,
    ) -> Graph:
        """Build a graph from the ends of its edges.

        Parameters
        ----------
        source, target
            Ids: integers, strings, or anything hashable; with `names`, row numbers from 0.
        weights
            One for each edge: finite and not negative; an edge of weight 0 is no edge.
        names
            The node of each row, in order. Without it the distinct ids, sorted.
        directed
            Whether (u, v) leads from u to v only.
        threads
            Largest number of threads; by default all cores. The graph is the same.
        """
        ends = [end_array(side) for side in (source, target)]
        if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
            raise InputError(
                f"source and target must be one-dimensional and equally long, not {ends[0].shape} and {ends[1].shape}"
            )
        count = usable_threads(threads)
        if names is None:
            numbered = number(ends[0], ends[1], threads=count)
        else:
            numbered = row_numbers(ends[0], ends[1], name_array(names))
        values = None if weights is None else check_weights(np.asarray(weights), len(ends[0]))
        return graph_of(merge_edges(numbered, values, directed=directed, threads=count))

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        directed: bool = False,
        names: Sequence[Any] | None = None,
        threads: int | None = None,
    ) -> Graph:
        """Build a graph from a square SciPy sparse or dense adjacency matrix; see `graphrefine.graph.adjacency`.

        Examples
        --------
        >>> Graph.from_matrix([[0, 2, 0], [2, 0, 0], [0, 0, 0]])
        Graph(3 nodes, 1 edge, undirected, weighted, 1 isolated)
        """
        count = usable_threads(threads)
        return graph_of(adjacency_of_matrix(matrix, directed=directed, names=names, threads=count))

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        if self.sources is not None:
            kind = f"bipartite ({self.sources:,} + {self.nodes - self.sources:,})"
        parts = [
            f"{self.nodes:,} node{'s' * (self.nodes != 1)}",
            f"{self.edges:,} edge{'s' * (self.edges != 1)}",
            kind,
            "weighted" if self.weighted else "unweighted",
        ]
        if self.isolated:
            parts.append(f"{self.isolated:,} isolated")
        return f"Graph({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """Return the graph in a notebook; see `graphrefine.graph.notebook`."""
        from graphrefine.graph.notebook import graph_html  # and its templates, for notebooks alone

        return graph_html(
            self.summary(), reading=self.reading, report=self.report, indptr=self.indptr, names_of=self.names_of
        )

    @cached_property
    def lookup(self) -> Lookup:
        """Rows by the names of their nodes."""
        return Lookup(self.names, ONE if self.sources is None else Sides("rows", self.sources))

    def index(self, name: Any, *, side: Side | None = None) -> int:
        """Return the row of a node, by its name; a name on both sides of a bipartite graph needs its side."""
        row = self.lookup.row(name, side)
        return row if side is None else row + self.lookup.sides.first(side)

    def __contains__(self, name: object) -> bool:
        return bool(self.lookup.on_sides(name))

    def neighbors(
        self, name: Any, *, direction: Literal["out", "in"] = "out", side: Side | None = None
    ) -> dict[Any, float]:
        """Return the neighbors of a node with the weights of the edges; in a directed graph, those that it leads to.

        With ``direction="in"`` they are those that lead to it. ``side`` is "source" or "target", where a name is on
        both sides of a bipartite graph.

        Examples
        --------
        >>> Graph.from_edges(["a", "b"], ["b", "c"], [2.0, 5.0]).neighbors("b")
        {'a': 2.0, 'c': 5.0}
        """
        check_choice("direction", direction, ["out", "in"])
        at = self.index(name, side=side)
        row = (self if direction == "out" else self.transposed()).rows(at, at + 1)
        weights = np.ones(len(row.indices)) if row.weights is None else row.weights
        return dict(zip(self.names_of(row.indices).tolist(), weights.tolist(), strict=True))

    def subgraph(self, names: Iterable[Any]) -> Graph:
        """Return the graph of some nodes and the edges among them, in the order of this graph.

        Of a bipartite graph, a name that is on both sides is taken on both.

        Examples
        --------
        >>> path = Graph.from_edges(["a", "b", "c"], ["b", "c", "d"])
        >>> path.subgraph(["d", "c", "a"])
        Graph(3 nodes, 1 edge, undirected, unweighted, 1 isolated)
        """
        from scipy.sparse import csr_array

        rows = np.unique(self.lookup.all_rows(names))
        part = csr_array(self.to_scipy()[rows][:, rows])
        part.sort_indices()
        weighted = self.weights is not None and bool((part.data != 1).any())
        return Graph(
            indptr=part.indptr.astype(np.int64),
            indices=part.indices.astype(np.int32),
            weights=part.data.astype(np.float32) if weighted else None,
            names=self.names_of(rows),
            directed=self.directed,
            report={"format": f"{len(rows):,} of {self.nodes:,} nodes of {self.source}"},
            sources=None if self.sources is None else int((rows < self.sources).sum()),
            attributes={name: values[rows] for name, values in self.attributes.items()},
        )

    def node_table(self) -> Table:
        """Return the nodes as a table: name, degree (number of neighbors) and attributes; of two sides, the side.

        Examples
        --------
        >>> Graph.from_edges(["a", "b"], ["b", "c"]).node_table().to_dict()
        {'node': ['a', 'b', 'c'], 'degree': [1, 2, 1]}
        """
        columns: dict[str, Any] = {"node": self.names}
        if self.sources is not None:
            sides = np.array(["source", "target"], object)
            columns["side"] = sides[(np.arange(self.nodes) >= self.sources).astype(int)]
        columns["degree"] = self.neighbor_counts()
        for name, values in self.attributes.items():
            columns[f"attribute {name}" if name in columns else name] = fill_gaps(values.tolist())
        return Table(columns)

    def to_networkx(self) -> Any:
        """Return a NetworkX graph with direction, weights and attributes of nodes; of two sides, also ``bipartite``."""
        require("networkx", "to_networkx()")
        import networkx as nx

        names = self.names.tolist()
        if self.sources is not None and len(set(names)) < len(names):
            targets = set(names[self.sources :])
            both = next(name for name in names[: self.sources] if name in targets)
            raise InputError(f"{both!r} is a name on both sides, and NetworkX has one set of names; rename one side")
        other: Any = nx.DiGraph() if self.directed else nx.Graph()
        other.add_nodes_from(names)
        if self.sources is not None:
            sides = {name: int(row >= self.sources) for row, name in enumerate(names)}
            nx.set_node_attributes(other, sides, "bipartite")
        for attribute, values in self.attributes.items():
            known = {name: value for name, value in zip(names, values.tolist(), strict=True) if value is not None}
            nx.set_node_attributes(other, known, attribute)
        source, target, weights = edge_ends(self)
        pairs = [[names[row] for row in side.tolist()] for side in (source, target)]
        if weights is None:
            other.add_edges_from(zip(*pairs, strict=True))
        else:
            other.add_weighted_edges_from(zip(*pairs, weights.tolist(), strict=True))
        return other

    def to_arrow(self) -> Any:
        """Return the edges as a pyarrow Table: ``source``, ``target`` and, where there are any, ``weight``.

        An undirected edge is listed once. ``pyarrow.table(graph)`` and ``polars.DataFrame(graph)`` are the same.
        """
        return _edge_table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the edges by the Arrow PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph, replacing what is there in one step: .grf, .csv, .tsv, .parquet or .arrow.

        `graphrefine.read` gives it back. ``.grf`` is the graph on disk and remembers direction and sides; of a list of
        edges, read it with ``directed=True`` or ``bipartite=True``. Attributes of nodes are not written, with a
        warning: `node_table` has them.

        Examples
        --------
        >>> import graphrefine, tempfile
        >>> path = tempfile.mkdtemp() + "/path.csv"
        >>> Graph.from_edges(["a", "b"], ["b", "c"], [2.0, 5.0]).save(path)
        >>> graphrefine.read(path).neighbors("b")
        {'a': 2.0, 'c': 5.0}
        """
        suffix = Path(path).suffix.lower()
        if suffix not in WRITERS:
            near, known = suggest(suffix, WRITERS), ", ".join(WRITERS)
            raise InputError(f"{os.fspath(path)}: no graph is written as {suffix!r}{near}; it can be {known}")
        if suffix != ".grf" and not len(self.indices):
            raise InputError(f"{os.fspath(path)}: the graph has no edges to list; .grf holds a graph without edges")
        if self.attributes:
            listed = ", ".join(self.attributes)
            text = f"node attributes are not in the file: {listed}; graph.node_table().save(...) keeps them"
            warnings.warn(ArgumentWarning(text), stacklevel=2)
        is_csv = suffix in (".csv", ".tsv")
        if is_csv and is_text(self.names) and from_strings(self.names.tolist()).dtype != object:
            text = f"names such as {self.names[0]!r} are digits, and come back as integers; .parquet keeps them as text"
            warnings.warn(ArgumentWarning(text), stacklevel=2)
        WRITERS[suffix](self, path)

    def names_of(self, rows: ArrayLike) -> NDArray[Any]:
        """Return the names of these rows; of a graph on disk, no others are read."""
        names: NDArray[Any] = self.names[np.asarray(rows, np.int64)]
        return names

    @cached_property
    def isolated(self) -> int:
        """Number of nodes without an edge."""
        return int(self.without_edges().sum())

    def without_edges(self) -> NDArray[np.bool_]:
        """Return the mask of the nodes without an edge.  # (n,)."""
        alone: NDArray[np.bool_] = self.neighbor_counts() == 0
        return alone

    @property
    def unread_text(self) -> int:
        """Bytes of names that are still on disk: none in memory."""
        return 0

    @property
    def out_counts(self) -> NDArray[np.int64]:
        """Entries of each row: neighbors, or successors in a directed graph.  # (n,)."""
        return np.diff(self.indptr)

    def neighbor_counts(self) -> NDArray[np.int64]:
        """Count the neighbors of each node: in a directed graph, successors and predecessors.  # (n,)."""
        counts = self.out_counts
        return counts + np.bincount(self.indices, minlength=self.nodes) if self.directed else counts

    @property
    def mean_count(self) -> float:
        """Entries of a row, on average over the nodes that have edges."""
        return self.entries / max(self.nodes - self.isolated, 1)

    def degrees(self) -> NDArray[np.float64]:
        """Return the sum of the weights in each row.  # (n,)."""
        return sums_of_rows(self.indptr, self.weights)

    def context(self, *, threads: int = 1) -> NDArray[np.float64]:
        """Return for each node j the sum of ``A_ij / d_i`` over the arcs i -> j that arrive; d is `degrees`.  # (n,).

        Examples
        --------
        >>> Graph.from_edges([0, 0], [1, 2]).context().tolist()
        [2.0, 0.5, 0.5]
        """
        arrivals, inverse = self.transposed(), inverses(self.degrees())
        rows = arrivals.indptr, arrivals.indices, arrivals.weights
        sums: NDArray[np.float64] = native.row_sums(*rows, inverse, threads=threads)
        return sums

    def to_scipy(self) -> csr_array:
        """Return the adjacency matrix, sharing the graph's arrays."""
        from scipy.sparse import csr_array

        weights = np.ones(len(self.indices), dtype=np.float32) if self.weights is None else self.weights
        return csr_array((weights, self.indices, self.indptr), shape=(self.nodes, self.nodes), copy=False)

    def transposed(self) -> Graph:
        """Return the graph with every edge turned round: itself if undirected."""
        return self._transposed if self.directed else self

    @cached_property
    def _transposed(self) -> Graph:
        # SciPy's conversion is a counting sort over the entries, in compiled code: rows come out ascending.
        turned = self.to_scipy().T.tocsr()
        return Graph(
            indptr=turned.indptr.astype(np.int64, copy=False),
            indices=turned.indices.astype(np.int32, copy=False),
            weights=None if self.weights is None else turned.data,
            names=self.names,
            directed=True,
            report=self.report,
            source=self.source,
        )

    def components(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of connected components (directions aside), and the component of each node."""
        from scipy.sparse.csgraph import connected_components

        count, labels = connected_components(self.to_scipy(), directed=self.directed, connection="weak")
        return int(count), labels

    def rows(self, start: int, stop: int) -> Rows:
        """Return the rows from `start` to before `stop`, for engines that work in blocks."""
        return cut_rows(Rows(self.indptr, self.indices, self.weights), start, stop)

    @cached_property
    def reading(self) -> str:
        """How the graph was read, in one line: format, columns used and not used, direction, weights, counts."""
        return describe_reading(self.report, directed=self.directed, weights=self.weights, edges=self.edges)

    def summary(self) -> dict[str, Any]:
        """Return size and kind of the graph and the counts of reading it, ready for JSON.

        ``records``: edges as listed (entries, for a matrix); of these ``self_loops``, ``zero_weights`` and
        ``missing`` (one end empty) were left out, but not their nodes; ``duplicates`` were added to an edge
        listed before in the same direction; ``reciprocal`` pairs were listed in both directions and count once.
        """
        return {
            "source": self.source,
            "nodes": self.nodes,
            "edges": self.edges,
            "directed": self.directed,
            **({} if self.sources is None else {"bipartite": True, "sources": self.sources}),
            "weighted": self.weighted,
            "isolated": self.isolated,
            **self.report,
        }


def graph_of(
    adjacency: Adjacency, *, source: str = "memory", attributes: Mapping[str, NDArray[Any]] | None = None
) -> Graph:
    """Return the graph with these rows."""
    return Graph(**adjacency._asdict(), source=source, attributes=attributes or {})


def edge_ends(graph: Graph) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32] | None]:
    """Return source rows, target rows and weights of the edges, each edge once.

    An undirected one leads from its earlier row to its later one, which in a bipartite graph is a target.
    """
    rows = np.repeat(np.arange(graph.nodes, dtype=np.int32), graph.out_counts)
    if graph.directed:
        return rows, graph.indices, graph.weights
    once = rows < graph.indices
    return rows[once], graph.indices[once], None if graph.weights is None else graph.weights[once]


def _edge_columns(graph: Graph, *, isolated: bool) -> dict[str, Any]:
    """Return the rows of the two ends, masked where an end is missing, and the weights where there are any.

    With ``isolated``, each node without edges has a record with one end: the second for a target of two sides.
    """
    source, target, weights = edge_ends(graph)
    alone = np.flatnonzero(graph.without_edges()) if isolated else np.empty(0, np.int64)
    on_target = alone >= (graph.nodes if graph.sources is None else graph.sources)
    columns: dict[str, Any] = {}
    for column, rows, missing in (("source", source, on_target), ("target", target, ~on_target)):
        mask = np.concatenate([np.zeros(len(rows), np.bool_), missing])
        columns[column] = np.ma.masked_array(np.concatenate([rows, alone]), mask=mask)
    if weights is not None:
        columns["weight"] = np.concatenate([weights, np.ones(len(alone), np.float32)])
    return columns


def _edge_table(graph: Graph, *, isolated: bool = False) -> Any:
    """Return a pyarrow Table of the edges; with ``isolated``, nodes without edges have a row with one end."""
    # Arrow takes the names by row: no text of an edge is made in Python.
    names = arrow_table({"node": text_names(graph.names, sources=graph.sources)})["node"].combine_chunks()
    import pyarrow as pa

    columns = _edge_columns(graph, isolated=isolated)
    for column in ("source", "target"):
        rows = columns[column]
        columns[column] = names.take(pa.array(rows.data, pa.int64(), mask=rows.mask if rows.mask.any() else None))
    return pa.table(columns)


def store(graph: Graph, path: str | os.PathLike[str], *, threads: int = 1) -> None:
    """Write a graph that is in memory as a graph on disk; a graph that is there is replaced in one step."""
    replacing_one = replacing_folder(path, replaceable=check_replaceable)
    with replacing_one as folder, StoredWriter(folder, directed=graph.directed) as writer:
        writer.append(graph.out_counts, graph.indices, graph.weights)
        if graph.directed:
            turned = graph.transposed()
            writer.append(turned.out_counts, turned.indices, turned.weights, reverse=True)
        kind = write_names(folder, text_names(graph.names, sources=graph.sources))
        writer.finish(names=kind, report=graph.report, source=graph.source, sources=graph.sources, threads=threads)


def _write_text(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write the edges as csv or tsv, then the nodes without any, each with one end."""
    alone = np.flatnonzero(graph.without_edges())
    if len(alone) and Path(path).suffix.lower() == ".tsv":
        some = list_some(graph.names[alone[:4]].tolist())
        raise InputError(
            f"{os.fspath(path)}: nodes without edges, such as {some}, cannot be in a list that is split by tabs, "
            "as an empty end would be skipped; save as .csv or .parquet"
        )
    columns = _edge_columns(graph, isolated=True)
    for column in ("source", "target"):
        rows = columns[column]
        columns[column] = graph.names[rows.data].astype(object)
        columns[column][rows.mask] = None
    Table(columns).save(path)


def _write_arrow(graph: Graph, path: str | os.PathLike[str]) -> None:
    check_table_path(path)
    save_blocks([_edge_table(graph, isolated=True)], path)


WRITERS: dict[str, Callable[[Graph, str | os.PathLike[str]], None]] = {
    ".grf": store,
    ".csv": _write_text,
    ".tsv": _write_text,
    ".parquet": _write_arrow,
    ".arrow": _write_arrow,
}
