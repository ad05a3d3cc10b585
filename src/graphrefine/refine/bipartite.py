"""Vectors for bipartite graphs, such as users and items, made for recommendation.

With U, S and V of `graphrefine.refine.arc_svd`, free of noise (w: the singular values that remain), and
the rows x_u of ``U w^1/2`` and y_i of ``V w^1/2``:

    source_u = d_u^a x_u / |x_u|^1/2         target_i = d_i^a y_i / |y_i|^1/2

so that ``source_u . target_i`` is a low-rank filter of what users like u took. Half of the length of a row goes, as it
tells how much of a node the few singular vectors happen to hold, which is unfair to small groups; degrees, relative to
their mean, give popular items their due. `Embedding.recommend` ranks items by the score. That is the tier "fast".

The tier "default" goes on from the singular vectors with the least squares of `graphrefine.refine.weighted_factors`:
a sweep over both sides for each value of `PATH`, so that the strong regularization of the first sweeps finds the large
structures. Where on the path vectors are best, or whether those of "fast" are better than all of them, is tried on the
graph without some edges, which they are to find again (`graphrefine.refine.held_out_pairs`); then the whole graph goes
as far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T
from graphrefine.graph.graph import Graph
from graphrefine.kernels.exact import power, squares_of_rows
from graphrefine.progress import Stages
from graphrefine.refine.arc_svd import Arcs, Side, decompose
from graphrefine.refine.held_out_pairs import HeldOut, hold_out, score_vectors
from graphrefine.refine.weighted_factors import Pairs, solve_sources, solve_targets, start_targets, weigh_pairs

DEGREE_POWER = 0.3  # chosen with STRENGTH on generated and real user-item graphs; benchmarks/bipartite.py has others
STRENGTH = 4.0  # of the noise filter
PATH = (0.2, 0.14, 0.1, 0.07, 0.05, 0.035, 0.025, 0.018, 0.025, 0.035)  # regularization, a sweep each
USUAL = 5  # place on the path, from 1, where no edges can be held out
LAST = 2  # further sweeps with the best value
Floats = NDArray[np.float32]


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
        best = USUAL if held is None else _best_place(held, sources, follow(held.rest))  # 0: before the path
        del held
    with stages.stage("factors"):
        pairs, vectors = next(islice(follow(arcs), best, None))
        for _ in range(LAST if best else 0):
            _sweep(pairs, vectors, sources, PATH[best - 1], threads)
    return vectors


def _best_place(held: HeldOut, sources: int, follow: Iterator[tuple[Pairs, Floats]]) -> int:
    """Where vectors find the edges that were held out best."""
    return int(np.argmax([score_vectors(held, each[:sources], each[sources:], sources) for _, each in follow]))


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
    """Give each row, in place, half of its length and its degree; rows of zeros stay."""
    relative = side.degrees[which] / (side.mean or 1.0)
    lengths = np.sqrt(squares_of_rows(rows))
    there = lengths > 0
    scale = np.where(there, power(relative, DEGREE_POWER) / np.sqrt(np.where(there, lengths, 1.0)), 0.0)
    np.multiply(rows, scale[:, None].astype(np.float32), out=rows)
