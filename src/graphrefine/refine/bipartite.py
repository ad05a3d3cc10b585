"""Vectors for bipartite graphs, such as users and items, made for recommendation.

With U, S and V of `graphrefine.refine.arc_svd`, free of noise (w: the singular values that remain), and
the rows x_u of ``U w^1/2`` and y_i of ``V w^1/2``:

    source_u = d_u^a x_u / |x_u|^1/2         target_i = d_i^a y_i / |y_i|^1/2

so that ``source_u . target_i`` is a low-rank filter of what users like u took. `Embedding.recommend` ranks items by the
score. That is the tier "fast".

The tier "default" goes on from the singular vectors with the least squares of `graphrefine.refine.weighted_factors`:
a sweep over both sides for each value of `PATH`. How far along the path, or whether the vectors of "fast" are better
than all of them, is chosen by the edges of some sources that are held out. The score of vectors is the mean of
``1 / (1 + (r / 20)^4)`` over these edges, r the rank of the target among those that the source does not have: a smooth
form of recall at 20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T
from graphrefine.graph.graph import Graph
from graphrefine.kernels import native
from graphrefine.kernels.exact import matmul_tall, power, squares_of_rows
from graphrefine.progress import Stages
from graphrefine.refine.arc_svd import Arcs, Side, decompose
from graphrefine.refine.dimension import take_entries
from graphrefine.refine.weighted_factors import Pairs, solve_sources, solve_targets, start_targets, weigh_pairs

# Exponent of degrees, and strength of the noise filter: chosen together on generated and real user-item graphs.
# benchmarks/bipartite.py prints the recall on others, which had no part in the choice.
DEGREE_POWER = 0.3
STRENGTH = 4.0
# Regularization, a sweep each: the strong values of the first sweeps find the large structures. Chosen with a look at
# recall on those graphs of docs/guides/node-data.md that have no mark there, which flatters them.
PATH = (0.2, 0.14, 0.1, 0.07, 0.05, 0.035, 0.025, 0.018, 0.025, 0.035)
USUAL = 5  # sweeps along the path where no edges can be held out
LAST = 2  # further sweeps with the best value
Floats = NDArray[np.float32]

SAMPLE = 1024, 4096  # sources whose edges are held out, at least and at most: more where there are few targets
SCORES = 1 << 24  # of sources and targets, beyond the least sample
SHARE = 0.2  # of the edges of such a source, one at least
TOP = 20
BLOCK = 64  # sources scored at a time


class HeldOut(NamedTuple):
    """A graph of arcs without some, and those."""

    rest: Graph
    nodes: NDArray[np.int64]  # (s,): sources
    source: NDArray[np.int64]  # (m,): index into ``nodes`` of each arc that was taken out, ascending
    target: NDArray[np.int64]  # (m,)


def one_way(graph: Graph) -> Graph:
    """Return a bipartite graph as arcs from its sources to its targets.

    Examples
    --------
    >>> from graphrefine.readers.read import read
    >>> one_way(read([("ann", "tea"), ("bob", "tea")], bipartite=True)).to_scipy().toarray().astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    """
    sources = graph.nodes if graph.sources is None else graph.sources
    indptr = np.minimum(graph.indptr, graph.indptr[sources])
    stop = int(indptr[-1])
    weights = None if graph.weights is None else graph.weights[:stop]
    return Graph(indptr, graph.indices[:stop], weights, graph.names, True, graph.report, graph.source)


def bipartite_vectors(
    engine: Engine[T],
    arcs: Graph,
    stages: Stages,
    *,
    sources: int,
    dim: int,
    rounds: int = 3,
    seed: int = 0,
    threads: int = 1,
) -> NDArray[np.float32]:
    """Return the vectors (n, dim) of a bipartite graph from its arcs one way, on an engine of `oversampled` columns.

    Examples
    --------
    Ann has not had cake, which goes with the tea she takes:

    >>> from graphrefine.engine.local import LocalEngine
    >>> from graphrefine.readers.read import read
    >>> taken = [("ann", "tea"), ("bob", "tea"), ("bob", "cake"), ("cy", "tea"), ("cy", "cake"), ("dee", "beer")]
    >>> graph = read(taken, bipartite=True)
    >>> graph.names.tolist()
    ['ann', 'bob', 'cy', 'dee', 'beer', 'cake', 'tea']
    >>> arcs = one_way(graph)
    >>> vectors = bipartite_vectors(LocalEngine(arcs, columns=2), arcs, Stages(), sources=4, dim=2)
    >>> bool(vectors[0] @ vectors[5] > vectors[0] @ vectors[4])
    True
    """
    with stages.stage("decompose", steps=2 * rounds + 2):
        arcs_svd = decompose(engine, arcs, rounds=rounds, seed=seed, threads=threads, advance=stages.advance)
    with stages.stage("collect"):
        return _filtered(engine, arcs_svd, sources, dim)


def weighted_vectors(
    engine_of: Callable[[Graph], Engine[T]],
    arcs: Graph,
    stages: Stages,
    *,
    sources: int,
    dim: int,
    rounds: int = 3,
    seed: int = 0,
    threads: int = 1,
) -> Floats:
    """Return the vectors (n, dim) of the tier "default"; ``engine_of`` makes an engine as `bipartite_vectors` has it.

    Examples
    --------
    >>> from graphrefine.engine.local import LocalEngine
    >>> from graphrefine.readers.read import read
    >>> taken = [("ann", "tea"), ("bob", "tea"), ("bob", "cake"), ("cy", "tea"), ("cy", "cake"), ("dee", "beer")]
    >>> arcs = one_way(read(taken, bipartite=True))
    >>> vectors = weighted_vectors(lambda arcs: LocalEngine(arcs, columns=2), arcs, Stages(), sources=4, dim=2)
    >>> bool(vectors[0] @ vectors[5] > vectors[0] @ vectors[4])
    True
    """

    def follow(arcs: Graph) -> Iterator[tuple[Pairs, Floats]]:
        pairs, engine = weigh_pairs(arcs, sources), engine_of(arcs)
        arcs_svd = decompose(engine, arcs, rounds=rounds, seed=seed, threads=threads, advance=lambda: None)
        yield pairs, _filtered(engine, arcs_svd, sources, dim)
        svd = arcs_svd.svd
        vectors = engine.collect(svd.target, svd.right(columns=dim))
        start_targets(pairs, vectors[sources:], svd.values[:dim], PATH[0])
        del engine, arcs_svd, svd
        vectors[:sources] = 0
        solve_sources(pairs, vectors[:sources], vectors[sources:], PATH[0], threads=threads)
        for value in PATH:
            _sweep(pairs, vectors, sources, value, threads)
            yield pairs, vectors

    with stages.stage("choose"):
        held = hold_out(arcs, sources, seed=seed)
        best = USUAL  # 0 is the tier "fast", before the path
        if held is not None:
            # The path is followed again on the whole graph below: a row that was trained without its held-out edges
            # must not end up in the result.
            vectors_on_path = (each for _, each in follow(held.rest))
            best = int(np.argmax([score_vectors(held, x[:sources], x[sources:], sources) for x in vectors_on_path]))
        del held
    with stages.stage("factors"):
        pairs, vectors = next(islice(follow(arcs), best, None))
        for _ in range(LAST if best else 0):
            _sweep(pairs, vectors, sources, PATH[best - 1], threads)
    return vectors


def _sweep(pairs: Pairs, vectors: Floats, sources: int, value: float, threads: int) -> None:
    solve_targets(pairs, vectors[:sources], vectors[sources:], value, threads=threads)
    solve_sources(pairs, vectors[:sources], vectors[sources:], value, threads=threads)


def _filtered(engine: Engine[T], arcs_svd: Arcs[T], sources: int, dim: int) -> Floats:
    """Return the vectors of the tier "fast"."""
    vectors = engine.collect(arcs_svd.svd.basis, arcs_svd.left(STRENGTH, columns=dim))
    targets = engine.collect(arcs_svd.svd.target, arcs_svd.right(STRENGTH, columns=dim))
    vectors[sources:] = targets[sources:]
    del targets
    _scale(vectors[:sources], arcs_svd.source, slice(0, sources))
    _scale(vectors[sources:], arcs_svd.target, slice(sources, None))
    return vectors


def _scale(rows: NDArray[np.float32], side: Side, which: slice) -> None:
    """Scale each row by the inverse root of its length and a power of its degree; rows of zeros stay."""
    # The length of a row tells how much of a node the few singular vectors happen to hold, which is unfair to small
    # groups: half of it goes. Degrees, relative to their mean so that the unit of weights is free, favor popular items.
    relative = side.degrees[which] / (side.mean or 1.0)
    lengths = np.sqrt(squares_of_rows(rows))
    there = lengths > 0
    scale = np.where(there, power(relative, DEGREE_POWER) / np.sqrt(np.where(there, lengths, 1.0)), 0.0)
    np.multiply(rows, scale[:, None].astype(np.float32), out=rows)


def hold_out(arcs: Graph, sources: int, *, seed: int) -> HeldOut | None:
    """Hold out arcs of some sources; None where no source has two.

    Examples
    --------
    >>> arcs = Graph.from_edges([0, 0, 0, 1], [2, 3, 4, 4], directed=True)
    >>> held = hold_out(arcs, 2, seed=0)
    >>> held.nodes.tolist(), held.rest.out_counts.tolist()
    ([0], [2, 1, 0, 0, 0])
    """
    counts = arcs.out_counts[:sources]
    nodes = np.flatnonzero(counts > 1)
    if not len(nodes):
        return None
    rng = np.random.Generator(np.random.Philox(key=[seed, 0x68656C64]))
    # Of at most half of the sources that have two or more: the rest must keep enough edges to learn from.
    wanted = min(max(SCORES // (arcs.nodes - sources), SAMPLE[0]), SAMPLE[1])
    nodes = np.sort(rng.choice(nodes, min(wanted, -(-len(nodes) // 2)), replace=False))
    apart = np.maximum(np.rint(SHARE * counts[nodes]).astype(np.int64), 1)
    source = np.repeat(np.arange(len(nodes)), counts[nodes])
    ends = np.cumsum(counts[nodes])
    index = np.arange(int(ends[-1])) - np.repeat(ends - counts[nodes], counts[nodes])
    entries = np.repeat(arcs.indptr[nodes], counts[nodes]) + index
    order = np.lexsort((rng.random(len(entries)), source))  # at random within a source
    picks = order[index < apart[source]]
    remains = np.ones(len(arcs.indices), np.bool_)
    remains[entries[picks]] = False
    return HeldOut(take_entries(arcs, remains), nodes, source[picks], arcs.indices[entries[picks]].astype(np.int64))


def score_vectors(held: HeldOut, x: NDArray[np.float32], y: NDArray[np.float32], first: int) -> float:
    """Return how well ``x_u . y_i`` finds the held-out arcs: 1 at best. Targets are the nodes from ``first`` on."""
    total, turned = 0.0, np.ascontiguousarray(y.T)
    for start in range(0, len(held.nodes), BLOCK):
        nodes = held.nodes[start : start + BLOCK]
        scores = matmul_tall(x[nodes], turned)
        at, stop = np.searchsorted(held.source, [start, start + len(nodes)])
        source, target = held.source[at:stop] - start, held.target[at:stop] - first
        wanted, ranks = scores[source, target], np.empty(stop - at)
        for row, node in enumerate(nodes):
            scores[row, held.rest.indices[held.rest.indptr[node] : held.rest.indptr[node + 1]] - first] = -np.inf
        scores[source, target] = -np.inf  # they are not against each other
        native.rank_scores(scores, source, wanted, ranks)
        total += float(np.sum(1 / (1 + np.square(np.square(ranks / TOP)))))
    return total / len(held.source)
