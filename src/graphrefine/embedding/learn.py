"""Learning from the graph: the fold map and the degree weight of an embedding, as its state.

A stage of a run with a name, after the method; what it learns are plain arrays and numbers. `learning_bytes` is its
part of the memory plan. The fold map is learned by `graphrefine.embedding.fold_in`.

**Degree weight**, the w of `scores.cosine_degree`. On some graphs edges stay among few nodes (a grid, citations) and
the cosine says nearly all; on others edges have little but the degrees of their ends to go by. The cosines of edges do
not say which: the vectors were made from these edges. So each end of a sampled edge (u, v) is
described without the other,

``y_u = sum of x_j over the neighbors j of u but v``,  degree ``d_u - 1``,

as if the edge were not there, and random pairs of nodes likewise with all of their neighbors. The weight is the one of
`WEIGHTS` for which ``cos(y_u, y_v) + w (ln d_u + ln d_v)`` tells edges from random pairs best (AUC); of those that are
as good, the largest, because the neighbors' vectors still know a little of the edge.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding import fold_in
from graphrefine.embedding.fold_in import Links, Neighbors, parts
from graphrefine.embedding.state import FOLD_BLOCKS, State
from graphrefine.errors import ArgumentWarning
from graphrefine.graph.lookup import ONE, Sides
from graphrefine.linalg import unit_rows
from graphrefine.search.vectors import log_degrees

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

NODE_BYTES = 32  # for each node: degrees, and their order
ENTRY_BYTES = 28  # for each entry of a sample: its offset, its neighbor, its weight
# Candidates for the weight; more was better on no graph that was tried. Of those whose AUC differs by less than chance
# does, the largest is taken: the vectors of the neighbors still know a little of the edge, which favors the cosine.
WEIGHTS = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2)
AS_GOOD = 0.001  # of AUC
SAMPLE = 2048  # edges, and as many random pairs
NEIGHBORS = 64  # of a node at most: a sample of them points the same way

Floats = NDArray[np.float32]


def can_learn(graph: Graph) -> bool:
    """Return whether there is something to learn: from edges, and of directed graphs from those in memory."""
    return graph.edges > 0 and not (graph.directed and graph.stored)


def learn_state(
    graph: Graph, vectors: NDArray[np.float32], degrees: NDArray[np.float32], *, seed: int, sides: Sides = ONE
) -> State:
    """Return degrees, fold map and degree weight of vectors (n, k); degrees alone where `can_learn` is false.

    Vectors with two sides have a fold map for each, and need no degree weight. Of a directed graph whose vectors have
    no sides, nothing is learned.
    """
    if not can_learn(graph) or (graph.directed and sides.kind is None):
        return State(degrees)
    if sides.kind is not None:
        from graphrefine.embedding.side_maps import learn_side_maps  # which most graphs do without

        return State(degrees, learn_side_maps(graph, vectors, sides, degrees, seed=seed))
    neighbors = Neighbors(vectors)
    nodes, links = fold_in.sample(graph, seed=seed)
    own = fold_in.Scale.of(degrees).standardized(degrees[nodes])
    fold_map = fold_in.learn_map(neighbors, degrees, neighbors.rows(nodes), own, links)
    return State(degrees, fold_map, learn_weight(neighbors, *draw(graph, seed=seed)))


def learning_bytes(nodes: int, entries: int, dim: int) -> int:
    """Return the peak memory of `learn_state` beyond graph and vectors, from the size of the adjacency matrix."""
    sample, width = min(nodes, fold_in.SAMPLE), FOLD_BLOCKS * dim
    near = min(nodes * dim, fold_in.NUMBERS_AT_A_TIME) * 4
    regression = max(4 * near, 28 * width**2)
    fold_map = sample * (width + 4 * dim) * 4 + min(entries, fold_in.ENTRIES) * ENTRY_BYTES + regression
    pairs = 4 * SAMPLE
    weight = min(pairs * NEIGHBORS, pairs * -(-entries // max(nodes, 1)) * 4) * ENTRY_BYTES
    return nodes * NODE_BYTES + max(fold_map, weight)


def warn_unlearned(recipe: dict[str, Any], consequence: str, *, stacklevel: int) -> None:
    """Warn, of vectors that graphrefine made, that a graph was there to learn from, and was not used."""
    if "method" in recipe:
        text = f"nothing was learned from the graph, so {consequence}; embed with learn=True, or call learn(graph)"
        warnings.warn(ArgumentWarning(text, argument="learn"), stacklevel=stacklevel)


class Ends(NamedTuple):
    """One end of each sampled pair: its neighbors but the other end, and its degree without that one."""

    links: Links  # (2 * SAMPLE rows): of edges, then of random pairs
    degrees: NDArray[np.int64]  # (2 * SAMPLE,)


def draw(graph: Graph, *, seed: int) -> tuple[Ends, Ends]:
    """Return both ends of sampled edges and of random pairs of an undirected graph that has edges."""
    rng = np.random.default_rng((seed, 1))
    entries = rng.integers(0, len(graph.indices), SAMPLE)
    rows = np.searchsorted(graph.indptr, entries, side="right") - 1
    pairs = rng.integers(0, graph.nodes, (2, SAMPLE))
    first = np.concatenate([rows, pairs[0]])
    second = np.concatenate([graph.indices[entries], pairs[1]])
    return _ends(graph, first, second, rng), _ends(graph, second, first, rng)


def _ends(graph: Graph, nodes: NDArray[Any], others: NDArray[Any], rng: np.random.Generator) -> Ends:
    """Return the neighbors of nodes, a sample of them where there are many, without the others."""
    counts = graph.indptr[nodes + 1] - graph.indptr[nodes]
    sizes = np.minimum(counts, NEIGHBORS)
    row = np.repeat(np.arange(len(nodes)), sizes)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    many = counts[row] > NEIGHBORS
    offset[many] = rng.integers(0, counts[row[many]])
    neighbors = graph.indices[graph.indptr[nodes][row] + offset]
    remaining = neighbors != others[row]
    without = np.concatenate([[0], np.cumsum(np.bincount(row[remaining], minlength=len(nodes)))])
    degrees = counts.copy()
    degrees[:SAMPLE] -= 1
    links = Links(without, neighbors[remaining].astype(np.int64), np.ones(int(remaining.sum()), np.float32))
    return Ends(links, degrees)


def learn_degree_weight(graph: Graph, vectors: Floats, *, seed: int) -> float:
    """Return the weight of degrees that a sample of the graph's edges calls for."""
    return learn_weight(Neighbors(vectors), *draw(graph, seed=seed))


def learn_weight(neighbors: Neighbors, one: Ends, other: Ends) -> float:
    """Return the weight of degrees that tells the sampled edges from random pairs best."""
    first, second = one.links, other.links
    cosines = np.empty(2 * SAMPLE)
    vectors_before = first.indptr + second.indptr + 2 * np.arange(len(cosines) + 1)  # of neighbors, and their sums
    for part in parts(vectors_before, neighbors.at_a_time):
        near, rows, _ = neighbors.of(first.rows(part).followed_by(second.rows(part)))
        sums = near.times(rows)
        cosines[part] = np.einsum("ij,ij->i", *np.split(unit_rows(sums), 2))
    logs = log_degrees(one.degrees) + log_degrees(other.degrees)
    areas = [auc(*np.split(cosines + weight * logs, 2)) for weight in WEIGHTS]
    good = np.flatnonzero(np.array(areas) >= max(areas) - AS_GOOD)
    return WEIGHTS[int(good.max())]


def auc(true: NDArray[np.floating[Any]], false: NDArray[np.floating[Any]]) -> float:
    """Return the chance that a true one scores above a false one, equal scores counting half (Mann-Whitney)."""
    ordered = np.sort(false)
    below = int(np.searchsorted(ordered, true, side="left").sum())  # pairs in the right order
    not_above = int(np.searchsorted(ordered, true, side="right").sum())
    return (below + not_above) / 2 / (len(true) * len(false))
