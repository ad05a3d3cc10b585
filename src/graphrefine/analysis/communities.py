"""Communities: groups of nodes by their vectors, each named by its hub.

Groups are those of k-means (`graphrefine.linalg.kmeans`). Their number is the smallest of `COUNTS` whose modularity,

``Q = sum_c (inside_c / W - (weight_c / W)^2)``,

is within `AS_GOOD` of the best: W is the weight of all ends of edges, ``inside_c`` that of edges within c, ``weight_c``
that of the ends in c. The edges are those of the graph or, without one, those of a sample of nodes to the ten nearest
of the sample.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphrefine.display.table import Table
from graphrefine.embedding.embedding import Embedding, check_embedding
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import object_array
from graphrefine.linalg import unit_rows
from graphrefine.linalg.kmeans import Clusters, find_clusters, sample_rows
from graphrefine.progress import Stages, Watcher
from graphrefine.search.neighbors import as_graph, match_nodes
from graphrefine.search.searcher import Search
from graphrefine.search.vectors import check_finite
from graphrefine.system import as_plain
from graphrefine.system.checks import check_integer

COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
# Modularity hardly changes with more groups once it is near its best, and fewer groups are easier to read.
AS_GOOD = 0.03
SAMPLE, NEAREST = 5000, 10  # nodes, and edges of each, of the graph of near vectors
FALLING = 2  # counts in a row that are not as good, after which no more are tried

Ints = NDArray[np.int64]


def find_communities(
    embedding: Embedding,
    graph: Any = None,
    *,
    count: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Table:
    """Find groups of nodes whose vectors are alike, the largest first, each named by its hub.

    Parameters
    ----------
    embedding : Embedding
        Names and vectors.
    graph : Graph, or anything that `graphrefine.read` takes, optional
        The graph of the embedding: for degrees, the share of edges inside, the modularity and the number of groups.
    count : int, optional
        Number of communities; if not given, a number of which the modularity is nearly the best.
    seed : int
        Of k-means.
    threads : int, optional
        One for each core if not given; the answer does not depend on it.
    watcher : Watcher, optional
        Receives the progress.

    Returns
    -------
    Table
        A row for each node: ``node``, ``community`` (from 1, the largest; 0 for a zero vector), ``name`` of the
        community and ``cosine`` to its center. ``stats["communities"]`` lists ``community``, ``name``, ``size``,
        ``cohesion`` (the mean cosine) and, with a graph, ``inside``: the share of ends of edges whose other end is in
        it. ``name`` is the node with the most neighbors, or the nearest to the center where degrees are not known.

    Examples
    --------
    >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [1, 0.1], [0, 1]], degrees=[1, 2, 1])
    >>> find_communities(people, count=2)
    node  community  name  cosine
    ada           1  bob   0.9988
    bob           1  bob   0.9988
    cy            2  cy         1
    """
    check_embedding(embedding, "embedding")
    if count is not None:
        count = check_integer("count", count, least=1, most=len(embedding))
    seed = check_integer("seed", seed, least=0, most=2**32 - 1)
    check_finite(embedding.vectors, embedding.names)
    stages = Stages(watcher)
    links = None if graph is None else _match(embedding, as_graph(embedding, graph))
    if count is None:
        judge = links or _link_nearest(embedding, threads=threads, stages=stages)
        clusters, trials = _try_counts(embedding, judge, seed=seed, stages=stages)
    else:
        with stages.stage("clusters"):
            clusters, trials = find_clusters(embedding.vectors, count=int(count), seed=seed), None
    return _make_table(embedding, clusters, links, trials)


class Edges(NamedTuple):
    """Edges among rows of an embedding, in both directions."""

    adjacency: csr_array  # (m, m)
    rows: Ints  # (m,)
    degrees: NDArray[Any] | None = None  # number of neighbors of each row of the embedding; 0 outside the graph

    def measure(self, clusters: Clusters) -> tuple[float, NDArray[np.float64]]:
        """Return the `modularity` of clusters; a node without a row is in none."""
        return modularity(self.adjacency, np.append(clusters.groups, -1)[self.rows])


def modularity(adjacency: csr_array, groups: Ints) -> tuple[float, NDArray[np.float64]]:
    """Return Q of groups of an undirected graph; and for each the share of its ends of edges that stay inside."""
    count = int(groups.max(initial=-1)) + 1
    first = np.repeat(groups, np.diff(adjacency.indptr))
    weight = np.bincount(first[first >= 0], weights=adjacency.data[first >= 0], minlength=count)
    same = (first == groups[adjacency.indices]) & (first >= 0)
    inside = np.bincount(first[same], weights=adjacency.data[same], minlength=count)
    total = max(float(adjacency.data.sum(dtype=np.float64)), 1e-300)
    Q = float((inside / total - (weight / total) ** 2).sum())
    return Q, inside / np.where(weight > 0, weight, 1)


def _match(embedding: Embedding, graph: Graph) -> Edges:
    node, row = match_nodes(embedding, graph)
    adjacency = graph.to_scipy()
    if graph.directed:
        adjacency = csr_array(adjacency + adjacency.T)
    return Edges(adjacency, row, np.append(graph.neighbor_counts(), 0)[node])


def _link_nearest(embedding: Embedding, *, threads: int | None, stages: Stages) -> Edges:
    """Link each node of a sample to the nearest of the sample."""
    rows = sample_rows(len(embedding), SAMPLE)
    some = Embedding(None, unit_rows(embedding.vectors[rows]))
    with stages.stage("neighbors"):
        near = Search(some, threads=threads).nearest(rows=np.arange(len(rows)), k=NEAREST).rows if len(rows) else rows
    there = near >= 0
    ends = np.nonzero(there)[0], near[there]
    one_way = csr_array((np.ones(len(ends[0])), ends), shape=(len(rows), len(rows)))
    return Edges(csr_array(one_way + one_way.T), rows)


def _try_counts(
    embedding: Embedding, judge: Edges, *, seed: int, stages: Stages
) -> tuple[Clusters, list[dict[str, float]]]:
    """Find the clusters of the smallest count that is nearly the best, and the modularity of each count."""
    trials: list[tuple[Clusters, float]] = []
    with stages.stage("clusters", steps=len(COUNTS)):
        for count in COUNTS:
            clusters = find_clusters(embedding.vectors, count=count, seed=seed)
            trials.append((clusters, judge.measure(clusters)[0]))
            stages.advance()
            best = max(Q for _, Q in trials)
            # Modularity rises and then falls with the number of groups; one lower value may be the noise of k-means.
            if clusters.total < count or all(best - AS_GOOD > Q for _, Q in trials[-FALLING:]):
                break
    good = next(clusters for clusters, Q in trials if best - AS_GOOD <= Q)
    return good, [{"count": clusters.total, "modularity": Q} for clusters, Q in trials]


def _make_table(
    embedding: Embedding, clusters: Clusters, links: Edges | None, trials: list[dict[str, float]] | None
) -> Table:
    sizes = np.bincount(clusters.groups[clusters.groups >= 0], minlength=clusters.total)
    order = np.argsort(-sizes, kind="stable")
    number = np.append(np.argsort(order) + 1, 0)  # the last is that of -1
    degrees = embedding.degrees if links is None else links.degrees
    ranks = clusters.cosines if degrees is None else degrees
    names: list[Any] = []
    listed: list[dict[str, Any]] = []
    Q, inside = (None, None) if links is None else links.measure(clusters)
    for rank, group in enumerate(order.tolist(), start=1):
        rows = np.flatnonzero(clusters.groups == group)
        names.append(as_plain(embedding.names[rows[np.argmax(ranks[rows])]]))
        cohesion = float(clusters.cosines[rows].mean(dtype=np.float64))
        listed.append({"community": rank, "name": names[-1], "size": len(rows), "cohesion": cohesion})
        if inside is not None:
            listed[-1]["inside"] = float(inside[group])
    community = number[clusters.groups]
    hub = object_array([None, *names])[community]
    columns = {"node": embedding.names, "community": community, "name": hub, "cosine": clusters.cosines}
    stats = {
        "nodes": len(embedding), "zero_vectors": int((clusters.groups < 0).sum()),
        "communities": listed, "modularity": Q, "trials": trials,
        "named_by": "cosine" if degrees is None else "degree",
    }  # fmt: skip
    return Table(columns, stats)
