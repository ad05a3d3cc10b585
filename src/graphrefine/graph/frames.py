"""Graphs as objects of other packages: a NetworkX graph, a table of edges, a table of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.table import Table, arrow_table, fill_gaps
from graphrefine.errors import InputError, MissingExtraError
from graphrefine.graph.node_ids import text_names

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class GraphRows(Protocol):
    """As much of a `graphrefine.Graph` as is needed here."""

    @property
    def indptr(self) -> NDArray[np.int64]: ...  # noqa: D102  those of `Graph`
    @property
    def indices(self) -> NDArray[np.int32]: ...  # noqa: D102
    @property
    def weights(self) -> NDArray[np.float32] | None: ...  # noqa: D102
    @property
    def names(self) -> NDArray[Any]: ...  # noqa: D102
    @property
    def nodes(self) -> int: ...  # noqa: D102
    @property
    def directed(self) -> bool: ...  # noqa: D102
    @property
    def sources(self) -> int | None: ...  # noqa: D102
    @property
    def attributes(self) -> Mapping[str, NDArray[Any]]: ...  # noqa: D102
    @property
    def report(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def source(self) -> str: ...  # noqa: D102
    @property
    def out_counts(self) -> NDArray[np.int64]: ...  # noqa: D102
    def neighbor_counts(self) -> NDArray[np.int64]: ...  # noqa: D102
    def without_edges(self) -> NDArray[np.bool_]: ...  # noqa: D102
    def names_of(self, rows: NDArray[np.int64], /) -> NDArray[Any]: ...  # noqa: D102
    def to_scipy(self) -> csr_array: ...  # noqa: D102
    def transposed(self) -> GraphRows: ...  # noqa: D102


class EdgeEnds(NamedTuple):
    """Edges by the rows of their ends, each once."""

    source: NDArray[np.int64]  # (edges,)
    target: NDArray[np.int32]  # (edges,)
    weights: NDArray[np.float32] | None  # (edges,)


def edge_ends(graph: GraphRows) -> EdgeEnds:
    """Return the edges: an undirected one from its earlier row to its later one, in a bipartite graph a target."""
    rows = np.repeat(np.arange(graph.nodes), graph.out_counts)
    if graph.directed:
        return EdgeEnds(rows, graph.indices, graph.weights)
    once = rows < graph.indices
    return EdgeEnds(rows[once], graph.indices[once], None if graph.weights is None else graph.weights[once])


def edge_table(graph: GraphRows, *, isolated: bool = False) -> Any:
    """Return a pyarrow Table of the edges; with ``isolated``, nodes without edges have a row with one end."""
    ends = edge_ends(graph)
    names = arrow_table({"node": text_names(graph.names, sources=graph.sources)})["node"].combine_chunks()
    import pyarrow as pa

    alone = np.flatnonzero(graph.without_edges()) if isolated else np.empty(0, np.int64)
    on_target = alone >= (graph.nodes if graph.sources is None else graph.sources)
    places = [np.concatenate([ends.source, alone]), np.concatenate([ends.target, alone])]
    missing = [np.concatenate([np.zeros(len(ends.source), bool), mask]) for mask in (on_target, ~on_target)]
    columns = {
        column: names.take(pa.array(rows, pa.int64(), mask=mask if mask.any() else None))
        for column, rows, mask in zip(("source", "target"), places, missing, strict=True)
    }
    if ends.weights is not None:
        columns["weight"] = pa.array(np.concatenate([ends.weights, np.ones(len(alone), np.float32)]))
    return pa.table(columns)


def networkx_graph(graph: GraphRows) -> Any:
    """Return a graph of NetworkX: see `Graph.to_networkx`."""
    try:
        import networkx as nx
    except ModuleNotFoundError:
        raise MissingExtraError("to_networkx()", "networkx") from None
    names = graph.names.tolist()
    if graph.sources is not None and len(set(names)) < len(names):
        twice = next(name for name in names[: graph.sources] if name in set(names[graph.sources :]))
        raise InputError(f"the name {twice!r} stands on both sides, and NetworkX has one set of names; rename one side")
    other: Any = nx.DiGraph() if graph.directed else nx.Graph()
    other.add_nodes_from(names)
    if graph.sources is not None:
        nx.set_node_attributes(other, {name: int(row >= graph.sources) for row, name in enumerate(names)}, "bipartite")
    for attribute, values in graph.attributes.items():
        known = {name: value for name, value in zip(names, values.tolist(), strict=True) if value is not None}
        nx.set_node_attributes(other, known, attribute)
    ends = edge_ends(graph)
    sides = [[names[row] for row in side.tolist()] for side in (ends.source, ends.target)]
    if ends.weights is None:
        other.add_edges_from(zip(*sides, strict=True))
    else:
        other.add_weighted_edges_from(zip(*sides, ends.weights.tolist(), strict=True))
    return other


def subgraph_fields(graph: GraphRows, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return the fields of the graph of some rows, ascending, and the edges among them."""
    from scipy.sparse import csr_array

    part = csr_array(graph.to_scipy()[rows][:, rows])
    part.sort_indices()
    weighted = graph.weights is not None and bool((part.data != 1).any())
    return {
        "indptr": part.indptr.astype(np.int64),
        "indices": part.indices.astype(np.int32),
        "weights": part.data.astype(np.float32) if weighted else None,
        "names": graph.names_of(rows),
        "directed": graph.directed,
        "report": {"format": f"{len(rows):,} of {graph.nodes:,} nodes of {graph.source}"},
        "sources": None if graph.sources is None else int((rows < graph.sources).sum()),
        "attributes": {name: values[rows] for name, values in graph.attributes.items()},
    }


def node_table(graph: GraphRows) -> Table:
    """Return a table of the nodes: see `Graph.node_table`."""
    columns: dict[str, Any] = {"node": graph.names}
    if graph.sources is not None:
        columns["side"] = np.array(["source", "target"], object)[(np.arange(graph.nodes) >= graph.sources).astype(int)]
    columns["degree"] = graph.neighbor_counts()
    for name, values in graph.attributes.items():
        columns[f"attribute {name}" if name in columns else name] = fill_gaps(values.tolist())
    return Table(columns)
