"""Vectors for bipartite graphs, such as users and items, made for recommendation.

With U, S and V of `graphrefine.refine.arc_svd`, free of noise (w: the singular values that remain), and
the rows x_u of ``U w^1/2`` and y_i of ``V w^1/2``:

    source_u = d_u^a x_u / |x_u|^1/2         target_i = d_i^a y_i / |y_i|^1/2

so that ``source_u . target_i`` is a low-rank filter of what users like u took. Half of the length of a row goes, as it
tells how much of a node the few singular vectors happen to hold, which is unfair to small groups; degrees, relative to
their mean, give popular items their due. `Embedding.recommend` ranks items by the score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T
from graphrefine.graph.graph import Graph
from graphrefine.progress import Stages
from graphrefine.refine.arc_svd import Side, decompose

DEGREE_POWER = 0.3  # chosen with STRENGTH on generated and real user-item graphs; benchmarks/bipartite.py has others
STRENGTH = 4.0  # of the noise filter


def one_way(graph: Graph) -> Graph:
    """A bipartite graph as arcs from its sources to its targets.

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
    """The vectors (n, dim) of a bipartite graph from its arcs one way, on an engine of `oversampled` columns.

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
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    there = lengths > 0
    scale = np.where(there, relative**DEGREE_POWER / np.sqrt(np.where(there, lengths, 1.0)), 0.0)
    np.multiply(rows, scale[:, None].astype(np.float32), out=rows)
