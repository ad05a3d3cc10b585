"""Adjacency matrices as users hand them over: which rows and columns have names, and which are the nodes' own.

=====================================  ==============================================================================
input                                  rows
=====================================  ==============================================================================
NetworkX graph, `graphrefine.Graph`    its nodes, by name
data frame, index and columns alike    its nodes, by name, whatever the order of the columns
data frame, another labeled index     new nodes, named by the index; the columns are nodes, by name
matrix, frame without labeled rows    without names: column i is fitted node i
=====================================  ==============================================================================
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import list_some, quote_name
from graphrefine.graph.node_ids import Names, name_array
from graphrefine.readers.frames import is_counted, match_labels
from graphrefine.system.digest import hash_parts


class LabeledMatrix(NamedTuple):
    """Entries with the names of their rows and columns, where they have any."""

    matrix: Any  # (m, n): sparse, dense, a data frame without labeled rows; or a Graph
    rows: Names | None = None  # (m,)
    columns: Names | None = None  # (n,); the very rows where these are the nodes
    directed: bool | None = None  # as a graph says itself

    @property
    def square(self) -> bool:
        """Whether rows and columns are the same nodes, by their names."""
        return self.rows is not None and self.rows is self.columns


def read_matrix(X: Any) -> LabeledMatrix:
    """An input in one of its forms; entries are not checked yet.

    Examples
    --------
    >>> read_matrix([[0, 1], [1, 0]]).rows
    >>> read_matrix(Graph.from_edges(["ann"], ["bob"])).rows.tolist()
    ['ann', 'bob']
    """
    if isinstance(X, Graph):
        if X.sources is not None:
            raise InputError(
                f"{X.source} is bipartite, and REFINE takes one set of nodes; graphrefine.NodeVectors and "
                "graphrefine.embed take bipartite graphs"
            )
        return LabeledMatrix(X, X.names, X.names, X.directed)
    if hasattr(X, "is_directed") and hasattr(X, "adj"):
        from networkx import to_scipy_sparse_array

        names = name_array(X.nodes)
        return LabeledMatrix(to_scipy_sparse_array(X), names, names, bool(X.is_directed()))
    X = _keep_names(X)
    if hasattr(X, "iloc") and hasattr(X, "columns") and not is_counted(X.index):
        return _read_frame(X)
    return LabeledMatrix(X)


def _keep_names(X: Any) -> Any:
    """A frame of polars as one of pandas: scikit-learn before 1.9 does not see the names of its columns."""
    if type(X).__module__.partition(".")[0] != "polars" or not hasattr(X, "columns") or find_spec("pandas") is None:
        return X
    from pandas import DataFrame

    return DataFrame(X.to_numpy(), columns=list(X.columns))


def _read_frame(frame: Any) -> LabeledMatrix:
    """A pandas frame whose rows have labels."""
    order = match_labels(frame.index.tolist(), frame.columns.tolist())
    rows = name_array(frame.index.tolist())
    if order is not None:
        return LabeledMatrix(frame.iloc[:, order], rows, rows)
    columns = name_array(frame.columns.tolist())
    for names, axis in ((rows, "index"), (columns, "columns")):
        if len(set(names.tolist())) < len(names):
            raise InputError(f"the {axis} of the data frame has a name twice; each node has one")
    return LabeledMatrix(frame, rows, columns)


def check_nodes(source: LabeledMatrix) -> None:
    """Refuse a data frame to fit whose rows are labeled, but not by the names of its columns."""
    if source.rows is not None and source.columns is not None and not source.square:
        raise InputError(
            f"the rows of the data frame are {list_some(source.rows.tolist())}, and its columns "
            f"{list_some(source.columns.tolist())}: an adjacency matrix has the same nodes in both; "
            "X.to_numpy() leaves the labels out"
        )


def check_direction(source: LabeledMatrix, directed: bool, *, by: str) -> None:
    """Refuse a graph that says another direction than is wanted ``by`` someone."""
    if source.directed is None or source.directed == directed:
        return
    kinds = {True: "directed", False: "undirected"}
    raise InputError(f"the graph is {kinds[source.directed]}, and {by} {kinds[directed]}; make both the same")


def check_shared_edges(graph: Graph, new: NDArray[np.bool_]) -> None:
    """Refuse a graph of new nodes and their edges alone as a snapshot; ``new`` is its mask of nodes not fitted."""
    if not new.any() or graph.edges == 0:
        return
    of_new = np.repeat(new, graph.out_counts) | new[graph.indices]
    if of_new.all():
        raise InputError(
            f"every edge of the graph leads to one of {int(new.sum()):,} new nodes, so it is no snapshot of the fitted "
            "graph; model_.fold_in(edges) gives vectors for new nodes alone, and so does a matrix with a row for each "
            "new and a column for each fitted node"
        )


def edge_digits(graph: Graph) -> str:
    """Digits that tell the edges of a graph, by the rows of their ends, from all others."""
    stored: str | None = getattr(graph, "fingerprint", None)  # of a graph on disk
    return stored or hash_parts(graph.indptr, graph.indices, graph.weights)


def find_positions(names: Names, lookup: Any) -> NDArray[np.int64]:
    """The fitted row of each node of a snapshot, by name, and -1 for a new one; InputError if all are."""
    rows = np.fromiter((-1 if (row := lookup.find(name)) is None else row for name in names), np.int64, len(names))
    if not (rows >= 0).any():
        raise InputError(
            f"no node is in both graphs, so their vectors cannot be compared; the names begin with "
            f"{quote_name(names[0])} here and {quote_name(lookup.names[0])} in the fitted graph"
        )
    return rows


def number_columns(source: LabeledMatrix, lookup: Any) -> NDArray[np.int64]:
    """The node of each column of a frame of new nodes: its fitted row, or n + i for the new node i.  # (columns,)."""
    rows, columns = (np.zeros(0) if names is None else names for names in (source.rows, source.columns))
    known = [name for name in rows.tolist() if lookup.find(name) is not None]
    if known:
        raise InputError(
            f"{len(known):,} of the {len(rows):,} rows are fitted nodes, such as {quote_name(known[0])}, but the "
            "columns are not the nodes of the rows: for another snapshot, index and columns must have the same "
            "names; for new nodes, the index must have new names only"
        )
    new = {name: len(lookup.names) + at for at, name in enumerate(rows.tolist())}
    places = [new.get(name) if (row := lookup.find(name)) is None else row for name in columns.tolist()]
    missing = [name for name, place in zip(columns.tolist(), places, strict=True) if place is None]
    if missing:
        raise InputError(
            f"column {quote_name(missing[0])} is neither a fitted node nor a row{lookup.hint(missing[0])}; "
            f"{len(missing):,} of {len(places):,} columns are not: leave them out"
        )
    return np.array(places, np.int64)
