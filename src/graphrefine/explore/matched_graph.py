"""The graph of a session: the node of each row, the links of a node, and its neighborhood as it is drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError
from graphrefine.explore.responses import GraphFacts
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import list_some
from graphrefine.linalg import inverse_lengths
from graphrefine.search.neighbors import match_rows

# Neighbors of a node that are ranked to draw the first few: without weights the vector of each is read, and the node of
# a large graph with the most neighbors may have millions.
RANKED = 20_000

Rows = NDArray[np.int64]


class Ego(NamedTuple):
    """A node and some of its neighbors."""

    rows: list[int]  # in the embedding: the node, then its neighbors
    edges: list[tuple[int, int]]  # pairs of positions in `rows`
    of: int  # number of all its neighbors


class MatchedGraph:
    """A graph whose nodes are matched to the rows of an embedding by their names."""

    def __init__(self, graph: Graph, embedding: Embedding) -> None:
        self.graph, self._embedding = graph, embedding
        self.node, self.row = match_rows(
            embedding, graph
        )  # of the graph, for each row; of the embedding, for each node
        self.matches = int((self.node >= 0).sum())
        if not self.matches:
            theirs, ours = (list_some(each[:4].tolist()) for each in (graph.names, embedding.names))
            raise InputError(
                f"none of the {graph.nodes:,} nodes of {graph.source} is in the embedding: the graph has {theirs}, the "
                f"embedding has {ours}; give the graph that it was made from"
            )

    def degrees(self) -> NDArray[np.float32]:
        """Return the number of neighbors of each row; NaN for rows that are not in the graph.  # (n,)."""
        counts = self.graph.neighbor_counts().astype(np.float32)
        return np.where(self.node >= 0, counts[self.node], np.float32(np.nan))

    def neighbors(self, row: int) -> Rows:
        """Return the rows that a row is linked to; of a directed graph, those that its edges lead to."""
        node = int(self.node[row])
        rows = self.row[self.graph.rows(node, node + 1).indices] if node >= 0 else self.node[:0]
        return rows[rows >= 0]

    def _links(self, row: int) -> tuple[Rows, NDArray[np.float32] | None]:
        """Return the nodes that a row is linked to, in either direction, ascending, and their weights."""
        node = int(self.node[row])
        if node < 0:
            return np.empty(0, np.int64), None
        links = self.graph.rows(node, node + 1)
        if not self.graph.directed:
            return links.indices.astype(np.int64), links.weights
        back = self.graph.transposed().rows(node, node + 1)
        nodes, first = np.unique(np.concatenate([links.indices, back.indices]), return_index=True)
        if links.weights is None or back.weights is None:
            return nodes.astype(np.int64), None
        return nodes.astype(np.int64), np.concatenate([links.weights, back.weights])[first]

    def ego(self, row: int, *, limit: int) -> Ego:
        """Return a row with the neighbors of its heaviest edges; or the most similar ones, if edges have no weights."""
        nodes, weights = self._links(row)
        known = np.flatnonzero(self.row[nodes] >= 0)
        if len(known) > RANKED:
            # Spread over all of them rather than drawn: the same neighbors are shown each time.
            known = known[np.linspace(0, len(known) - 1, RANKED).astype(np.int64)]
        rows = self.row[nodes[known]]
        ranks = self._similarity(row, rows) if weights is None else weights[known]
        best = np.argsort(-ranks, kind="stable")[:limit]
        members = [row, *rows[best].tolist()]
        return Ego(members, self._edges_among(members), len(nodes))

    def _similarity(self, row: int, rows: Rows) -> NDArray[np.float32]:
        vectors = self._embedding.vectors[rows]
        similar: NDArray[np.float32] = (vectors @ self._embedding.vectors[row]) * inverse_lengths(vectors)
        return similar

    def _edges_among(self, rows: list[int]) -> list[tuple[int, int]]:
        """Return edges among some rows, as pairs of their positions: once each, or each arc of a directed graph."""
        nodes = self.node[rows]
        edges = []
        for index, node in enumerate(nodes.tolist()):
            if node < 0:
                continue
            links = self.graph.rows(node, node + 1).indices
            at = np.searchsorted(links, nodes)
            is_linked = (at < len(links)) & (links[np.minimum(at, len(links) - 1)] == nodes if len(links) else False)
            others = np.flatnonzero(is_linked).tolist()
            edges += [(index, other) for other in others if self.graph.directed or index < other]
        return edges

    def describe(self) -> GraphFacts:
        """Return the facts of `/api/info`."""
        return {
            "nodes": self.graph.nodes,
            "edges": self.graph.edges,
            "directed": self.graph.directed,
            "weighted": self.graph.weighted,
            "matched": self.matches,
        }
