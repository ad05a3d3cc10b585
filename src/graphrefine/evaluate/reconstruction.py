"""Network reconstruction: the part of edges among the pairs of nodes with the closest vectors.

All pairs of nodes are scored, by dot product and by cosine; precision@K is the part of edges among the K pairs of
highest score, pairs of equal scores counting as chance would order them. The degree product, a random order (the
density) and the highest possible value, which is below 1 if there are fewer than K edges, are there to compare with.
A graph with too many pairs is judged on the pairs with an end in a random sample of its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.scores import Pairs, PairScore
from graphrefine.errors import InputError
from graphrefine.evaluate.classification import NamedVectors
from graphrefine.evaluate.held_out_edges import find_entries, order_by_name
from graphrefine.evaluate.link_scores import BASELINE, SCORES, ScoreInputs
from graphrefine.evaluate.results import Reconstruction
from graphrefine.graph.graph import Graph
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.options import GraphKeywords, list_options
from graphrefine.readers.read import read
from graphrefine.search.vectors import check_finite
from graphrefine.system.checks import check_integer
from graphrefine.system.threads import map_tasks, usable_threads

MOST_PAIRS = 1_000_000_000  # more are sampled
BLOCK = 1 << 24  # scores formed at a time, by each thread
JUDGED = ("dot", "cosine", BASELINE)

Rows = NDArray[np.int64]


@list_options
def evaluate_reconstruction(
    graph: Any,
    embedding: NamedVectors | NDArray[Any],
    *,
    top: Sequence[int] | None = None,
    sample: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
    **reading: Unpack[GraphKeywords],
) -> Reconstruction:
    """Measure the precision of the closest pairs of an embedding as edges of the graph.

    Parameters
    ----------
    graph : Graph, or anything that `graphrefine.read` takes
        Undirected.
    embedding : Embedding, or ndarray (n, k)
        A vector for every node of the graph. The rows of an array are the rows of the graph.
    top : sequence of int, optional
        The K of precision@K. If not given: 100, 1,000 and so on below the number of edges, and that number.
    sample : int, optional
        Number of random nodes whose pairs are judged. If not given: all nodes, or as many as have a thousand million
        pairs.
    seed : int
        Seed of the sample.
    threads : int, optional
        The number of processors if not given. The result does not depend on it.
    watcher : Watcher, optional
        Watcher of the stage "score", with a step for each block.
    reading
        Options of `graphrefine.read`, such as ``weights`` or ``header``.

    Examples
    --------
    Two triangles, with one vector for each:

    >>> triangles = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    >>> vectors = np.array([[1.0, 0]] * 3 + [[0, 1.0]] * 3)
    >>> result = evaluate_reconstruction(triangles, vectors)
    >>> result.top, result.precision["dot"], result.precision["degree"]
    ((6,), (1.0,), (0.4,))
    """
    whole = read(graph, threads=threads, **reading)
    _check(whole, sample=sample, seed=seed)
    vectors, extra = _align(whole, embedding)
    check_finite(vectors, whole.names)
    count = sample or min(whole.nodes, max(1, MOST_PAIRS // whole.nodes))
    pairs = _SampledPairs.from_sample(whole, _sample_nodes(whole, count, seed))
    ks = _check_top(top, pairs)
    threads = usable_threads(threads)
    inputs = ScoreInputs(whole, vectors, seed, threads)
    stages = Stages(watcher)
    blocks = pairs.blocks()
    with stages.stage("score", steps=len(JUDGED) * len(blocks)):
        levels = {name: _top_levels(pairs, SCORES[name](inputs), blocks, max(ks), threads, stages) for name in JUDGED}
    return Reconstruction(
        top=ks,
        precision={name: tuple(each.precision(k) for k in ks) for name, each in levels.items()},
        nodes=whole.nodes,
        sampled=count,
        pairs=pairs.pairs,
        edges=pairs.edges,
        extra_nodes=extra,
        seed=seed,
        source=whole.source,
    )


def _check(graph: Graph, *, sample: int | None, seed: int) -> None:
    if graph.directed or graph.sources is not None:
        raise InputError(
            f"{graph.source} was read as {'directed' if graph.directed else 'bipartite'}, and reconstruction looks at "
            "all pairs of nodes, in no order; read it with directed=False",
            argument="directed",
        )
    if not graph.edges:
        raise InputError(f"{graph.source} has no edges to reconstruct")
    if sample is not None:
        check_integer("sample", sample, least=1, most=graph.nodes)
    check_integer("seed", seed, least=0)


def _check_top(top: Sequence[int] | None, sampled: _SampledPairs) -> tuple[int, ...]:
    if top is None:
        powers = (10**power for power in range(2, 19))
        return (*(k for k in powers if k < sampled.edges), max(sampled.edges, 1))
    if not len(top) or any(not 1 <= k <= sampled.pairs for k in top):
        listed = ", ".join(str(k) for k in top)
        raise InputError(
            f"top={listed}: numbers from 1 to {sampled.pairs:,}, the pairs there are, are expected", argument="top"
        )
    return tuple(sorted(set(top)))


def _align(graph: Graph, embedding: NamedVectors | NDArray[Any]) -> tuple[NDArray[np.float32], int]:
    """Put vectors in the order of the graph's rows; count those without a node in it."""
    if isinstance(embedding, np.ndarray):
        if embedding.ndim != 2 or len(embedding) != graph.nodes:
            raise InputError(
                f"vectors of shape {embedding.shape}: one row for each of the {graph.nodes} nodes of {graph.source} is "
                "expected; give an Embedding, which has names, if the order is another"
            )
        return np.asarray(embedding, np.float32), 0
    row = {str(name): at for at, name in enumerate(embedding.names.tolist())}
    rows = np.array([row.get(str(name), -1) for name in graph.names.tolist()])
    missing = np.flatnonzero(rows < 0)
    if missing.size:
        raise InputError(
            f"the embedding has no vector for {len(missing)} of the {graph.nodes} nodes of {graph.source}, such as "
            f"{graph.names.tolist()[missing[0]]!r}; embed this very graph"
        )
    return np.asarray(embedding.vectors[rows], np.float32), len(row) - graph.nodes


def _sample_nodes(graph: Graph, count: int, seed: int) -> Rows:
    """Return random nodes, which depend on the names and the seed; or all nodes in the order of their rows."""
    if count == graph.nodes:
        return np.arange(count)
    return order_by_name(graph)[np.random.default_rng((seed, count)).choice(graph.nodes, count, replace=False)]


@dataclass(frozen=True)
class _SampledPairs:
    """Pairs to judge: each of the first ``count`` nodes of ``order`` with each node that comes after it."""

    graph: Graph
    order: Rows  # (n,)
    count: int
    pairs: int
    edges: int

    @classmethod
    def from_sample(cls, graph: Graph, sample: Rows) -> _SampledPairs:
        count, n = len(sample), graph.nodes
        inside = np.zeros(n, np.bool_)
        inside[sample] = True
        rows = np.repeat(inside, graph.out_counts)  # entries that begin in the sample
        twice = int(inside[graph.indices[rows]].sum())  # and end in it
        pairs = count * (n - count) + count * (count - 1) // 2
        order = np.concatenate([sample, np.flatnonzero(~inside)])
        return cls(graph, order, count, pairs, int(rows.sum()) - twice // 2)

    def blocks(self) -> list[tuple[int, int]]:
        """Return ranges of the sampled nodes, each with no more pairs than a block holds."""
        ranges, lo = [], 0
        while lo < self.count:
            hi = min(self.count, lo + max(1, BLOCK // (self.graph.nodes - lo)))
            ranges.append((lo, hi))
            lo = hi
        return ranges


# By value and not by pair: a graph of equal vectors, or the degree product, has millions of pairs with one score, and
# which of them come before the K-th is chance. So ties need no list of pairs, and memory is bounded.
class _Levels(NamedTuple):
    """The highest scores, descending: numbers of pairs with each, and of edges among these."""

    scores: NDArray[np.float32]
    pairs: Rows
    edges: Rows

    def precision(self, k: int) -> float:
        """Return the part of edges among the first k pairs, equals in no order."""
        last = int(np.searchsorted(np.cumsum(self.pairs), k))  # the score at which k is reached
        before, hits = int(self.pairs[:last].sum()), int(self.edges[:last].sum())
        level, among = int(self.pairs[last]), int(self.edges[last])
        return (hits * level + (k - before) * among) / (k * level)

    def join(self, other: _Levels, k: int) -> _Levels:
        """Join the highest scores of both, down to the k-th pair."""
        scores, inverse = np.unique(-np.concatenate([self.scores, other.scores]), return_inverse=True)
        pairs, edges = np.zeros((2, len(scores)), np.int64)
        np.add.at(pairs, inverse, np.concatenate([self.pairs, other.pairs]))
        np.add.at(edges, inverse, np.concatenate([self.edges, other.edges]))
        count = int(np.searchsorted(np.cumsum(pairs), k)) + 1
        return _Levels(-scores[:count], pairs[:count], edges[:count])


def _top_levels(
    sampled: _SampledPairs, score: PairScore, blocks: list[tuple[int, int]], k: int, threads: int, stages: Stages
) -> _Levels:
    """Find the highest scores of all pairs. A worker leaves out scores below the lowest level so far."""
    empty = np.zeros(0, np.int64)
    levels, floor = _Levels(np.zeros(0, np.float32), empty, empty), np.float32(-np.inf)
    score = score.in_order(sampled.order)
    for start in range(0, len(blocks), threads):  # as many at a time as there are threads: then the floor rises
        job = partial(_block_levels, sampled, score, floor=floor, k=k)
        for block in map_tasks(blocks[start : start + threads], job, threads):
            levels = levels.join(block, k)
            stages.advance()
        floor = levels.scores[-1] if levels.pairs.sum() >= k else floor
    return levels


def _block_levels(
    sampled: _SampledPairs, score: PairScore, block: tuple[int, int], *, floor: np.float32, k: int
) -> _Levels:
    lo, hi = block
    scores = score.against(slice(lo, hi), slice(lo, None))
    scores[np.tril_indices(hi - lo, 0, scores.shape[1])] = -np.inf  # pairs that another row has
    flat = scores.ravel()
    if flat.size > k and not np.isfinite(floor):
        floor = np.partition(flat, flat.size - k)[flat.size - k]
    high = np.flatnonzero(flat >= floor)
    high = high[np.isfinite(flat[high])]
    rows, columns = np.divmod(high, scores.shape[1])
    edges = find_entries(sampled.graph, Pairs(sampled.order[lo + rows], sampled.order[lo + columns])) >= 0
    values, inverse = np.unique(flat[high], return_inverse=True)
    hits = np.bincount(inverse[edges], minlength=len(values))
    return _Levels(values, np.bincount(inverse, minlength=len(values)), hits)
