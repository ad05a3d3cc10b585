"""Vectors for bipartite graphs, users and items say: made for the question which items a user would take next.

With U, S and V of `graphrefine.arcs`, free of noise (w: what is left of S):

    source_u = d_u^a (U w^1/2)_u         target_i = d_i^a (V w^1/2)_i

so that ``source_u . target_i`` is a low-rank filter of what users like u took, the degree of the item giving back part
of what the normalisation took from popular items. `Embedding.recommend` ranks items by it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.arcs import Side, decompose
from graphrefine.engine import Engine, T
from graphrefine.progress import Stages
from graphrefine.svd import oversampled

if TYPE_CHECKING:
    from graphrefine.graph import Graph

DEGREE_POWER = 0.125  # chosen with STRENGTH on generated and real user-item graphs; benchmarks/bipartite.py has others
STRENGTH = 4.0  # of the noise filter


def columns(dim: int, nodes: int) -> int:
    """How wide an engine must be for vectors of this length."""
    return oversampled(dim, nodes)


def one_way(graph: Graph) -> Graph:
    """A bipartite graph as arcs from its sources to its targets.

    Examples
    --------
    >>> from graphrefine.reader import read
    >>> one_way(read([("ann", "tea"), ("bob", "tea")], bipartite=True)).to_scipy().toarray().astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [0, 0, 0]]
    """
    sources = graph.nodes if graph.sources is None else graph.sources
    indptr = np.minimum(graph.indptr, graph.indptr[sources])
    stop = int(indptr[-1])
    weights = None if graph.weights is None else graph.weights[:stop]
    return replace(graph, indptr=indptr, indices=graph.indices[:stop], weights=weights, directed=True, sources=None)


def bipartite_vectors(
    engine: Engine[T],
    arcs: Graph,
    stages: Stages,
    *,
    sources: int,
    dim: int,
    power: int = 3,
    seed: int = 0,
    threads: int = 1,
) -> NDArray[np.float32]:
    """The vectors (n, dim) of a bipartite graph from its arcs one way, on an engine of `columns` columns.

    Examples
    --------
    Ann has not had cake, which goes with the tea she takes:

    >>> from graphrefine.engine.local import LocalEngine
    >>> from graphrefine.reader import read
    >>> taken = [("ann", "tea"), ("bob", "tea"), ("bob", "cake"), ("cy", "tea"), ("cy", "cake"), ("dee", "beer")]
    >>> graph = read(taken, bipartite=True)
    >>> graph.names.tolist()
    ['ann', 'bob', 'cy', 'dee', 'beer', 'cake', 'tea']
    >>> arcs = one_way(graph)
    >>> vectors = bipartite_vectors(LocalEngine(arcs, columns=2), arcs, Stages(), sources=4, dim=2)
    >>> bool(vectors[0] @ vectors[5] > vectors[0] @ vectors[4])
    True
    """
    with stages.stage("decompose", steps=2 * power + 2):
        found = decompose(engine, arcs, power=power, seed=seed, threads=threads, advance=stages.advance)
    with stages.stage("collect"):
        vectors = engine.collect(found.found.basis, found.left(STRENGTH, columns=dim))
        targets = engine.collect(found.found.target, found.right(STRENGTH, columns=dim))
        np.multiply(vectors[:sources], _scale(found.source)[:sources], out=vectors[:sources])
        np.multiply(targets[sources:], _scale(found.target)[sources:], out=vectors[sources:])
    return vectors


def _scale(side: Side) -> NDArray[np.float32]:
    """``(d / mean)^a``, zero for nodes without edges.  # (n, 1)."""
    relative = side.degrees / (side.mean or 1.0)
    scale: NDArray[np.float32] = np.where(relative > 0, relative**DEGREE_POWER, 0.0).astype(np.float32)[:, None]
    return scale
