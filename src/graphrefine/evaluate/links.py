"""How well vectors tell where edges are missing: link prediction.

A random part of the edges is held out, the vectors are made from the rest, and pairs of nodes are scored
(``link_scores.py``). Two protocols:

* **A.** The held-out edges against as many pairs that are no edges: AUC and average precision.
* **B.** Each held-out edge against the pairs that are left when one of its ends, chosen at random, is replaced by each
  of 1,000 random nodes, pairs that are edges of the whole graph not counting: mean rank, mean of 1/rank, hits.

Pairs without an edge are mostly pairs of nodes with few edges, so d_u d_v alone scores high in both. It is always part
of the result: vectors are worth what they add to it.

In a **directed** graph arcs are held out, pairs are ordered, and scores are ``source_u . target_v``. Half of the pairs
without an arc (``turned``) are held-out arcs the other way round, as far as those are no arcs: who scores u -> v and
v -> u alike gets half of them wrong. In protocol B the target is replaced. In a **bipartite** graph pairs are of a
source and a target, and the target is replaced.

The nodes that stand in for an end are drawn once for `SHARING` edges together, so that their scores are a product of
two small matrices, and no array is larger than one such block.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.scores import Floats, Pairs, PairScore, auc
from graphrefine.errors import InputError
from graphrefine.evaluate.held_out_edges import HeldOut, hold_out, name_order
from graphrefine.evaluate.link_results import FIGURES, LinkScores, ScoreFigures
from graphrefine.evaluate.link_scores import SCORES, Known, chosen_scores, pair_score
from graphrefine.evaluate.ranking import average_precision, middle_ranks, rank_figures
from graphrefine.evaluate.vectors import Maker, Making
from graphrefine.graph.graph import Graph
from graphrefine.linalg.small import one_blas_thread
from graphrefine.progress import Stages, Watcher
from graphrefine.system.threads import usable_threads

SHARING = 64  # held-out edges that are ranked against the same nodes
ROUNDING = 2e-6  # scores that differ by less, of what their terms can come to, are equal

Ranks = NDArray[np.float64]


def evaluate_links(
    graph: Any,
    method: str | Making = "refine",
    *,
    held_out: float = 0.3,
    repeats: int = 1,
    scores: Sequence[str] = tuple(SCORES),
    corruptions: int = 1000,
    ranked: int | None = 100_000,
    turned: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Watcher | None = None,
    **settings: Any,
) -> LinkScores:
    """Hide some edges of a graph, and see how well vectors made from the others find them.

    Parameters
    ----------
    graph : Graph, or anything that `graphrefine.read` takes
        Undirected; a `Graph` that was read as directed or as bipartite is judged as that.
    method : str or callable
        A name in `graphrefine.methods.registry.METHODS`; or a function that makes vectors (n, k), or an
        `Embedding`, from a `Graph`.
    held_out : float
        Part of the edges to hide, above 0 and below 1.
    repeats : int
        How often, each time with other edges hidden.
    scores : sequence of str
        Names in `graphrefine.evaluate.link_scores.SCORES`; the degree product is always added.
    corruptions : int
        Nodes to rank each held-out edge against; all nodes where the graph has fewer.
    ranked : int, optional
        At most so many of the held-out edges are ranked; None for all of them.
    turned : float, optional
        Of a directed graph: part of the pairs without an arc that are held-out arcs turned round; 0.5 if not given.
    seed : int
        Of the edges hidden, the pairs drawn, and the method.
    threads : int, optional
        As many as there are processors if not given. The figures are the same wherever the vectors are.
    progress : Watcher, optional
        Told of the stages of the method, and of the stage "score".
    settings
        Of the method: ``dim``, ``preset`` and its own. ``dim`` is 128, or the number of nodes if that is less.

    Examples
    --------
    Two cliques of twelve nodes, joined by an edge: what is hidden in them is found, by vectors and not by degrees.

    >>> pairs = [(i, j) for i in range(24) for j in range(i) if i // 12 == j // 12] + [(0, 12)]
    >>> found = evaluate_links(pairs, dim=2, scores=["cosine"], held_out=0.2)
    >>> found["cosine"].mean("auc") > 0.9, found["degree"].mean("auc") < 0.7
    (True, True)
    """
    from graphrefine.readers.read import read

    whole = read(graph)
    wanted = chosen_scores(scores, directed=whole.directed)
    _check(whole, held_out=held_out, repeats=repeats, corruptions=corruptions, ranked=ranked, turned=turned, seed=seed)
    back = (0.5 if turned is None else turned) if whole.directed else 0.0
    threads = usable_threads(threads)
    maker = Maker.of(method, whole, {**settings, "seed": seed}, threads=threads, progress=progress)
    stages = Stages(progress)
    rows: list[dict[str, dict[str, float]]] = []
    for repeat in range(repeats):
        held = hold_out(whole, held_out, repeat=repeat, seed=seed, turned=back)
        known = Known.of(held.rest, maker.embedding(held.rest), seed, threads)
        trial = _Trial.of(whole, held, corruptions=corruptions, ranked=ranked)
        with stages.stage("score", steps=trial.blocks):
            rows.append(trial.judge({name: pair_score(name, known) for name in wanted}, threads, stages))
    gathered = (
        ScoreFigures(name, {figure: tuple(row[name][figure] for row in rows) for figure in FIGURES}) for name in wanted
    )
    return LinkScores(
        scores=tuple(gathered),
        method=maker.name,
        settings=maker.settings,
        nodes=whole.nodes,
        edges=whole.edges,
        held_out=held_out,
        held_out_edges=len(held.edges.first),
        ranked_edges=len(trial.fixed),
        corruptions=trial.corruptions,
        turned_arcs=held.turned if whole.directed else None,
        repeats=repeats,
        seed=seed,
        source=whole.source,
    )


def _check(
    graph: Graph,
    *,
    held_out: float,
    repeats: int,
    corruptions: int,
    ranked: int | None,
    turned: float | None,
    seed: int,
) -> None:
    if not 0 < held_out < 1:
        raise InputError(f"held_out={held_out:g}: a part of the edges, above 0 and below 1, is expected, like 0.3")
    for name, value in (("repeats", repeats), ("corruptions", corruptions), ("ranked", ranked)):
        if value is not None and value < 1:
            raise InputError(f"{name}={value}: at least 1 is expected")
    if seed < 0:
        raise InputError(f"seed={seed}: 0 or a positive integer is expected")
    if turned is not None and not graph.directed:
        raise InputError(f"turned={turned:g}: {graph.source} is not directed, so that no edge can be turned round")
    if turned is not None and not 0 <= turned <= 1:
        raise InputError(f"turned={turned:g}: a part of the pairs, from 0 to 1, is expected, like 0.5")


@dataclass(frozen=True)
class _Trial:
    """The questions that every score is asked, the same for all of them."""

    graph: Graph  # the whole of it
    held: HeldOut
    fixed: NDArray[np.int64]  # (ranked,): the end of a held-out edge that stays
    true: NDArray[np.int64]  # (ranked,): the end that is replaced
    candidates: NDArray[np.int64]  # nodes that may replace it
    corruptions: int

    @classmethod
    def of(cls, graph: Graph, held: HeldOut, *, corruptions: int, ranked: int | None) -> _Trial:
        fixed, true = (side[:ranked] for side in held.edges)  # they are in random order
        order = name_order(graph)
        if not graph.directed and graph.sources is None:
            turned = np.random.default_rng((*held.key, 1)).random(len(fixed)) < 0.5
            fixed, true = np.where(turned, true, fixed), np.where(turned, fixed, true)
        candidates = order[graph.sources or 0 :]
        return cls(graph, held, fixed, true, candidates, min(corruptions, len(candidates)))

    @property
    def blocks(self) -> int:
        """Groups of held-out edges that are ranked together."""
        return -(-len(self.fixed) // SHARING)

    def judge(self, scores: dict[str, PairScore], threads: int, stages: Stages) -> dict[str, dict[str, float]]:
        """All figures of all scores."""
        ranks: dict[str, list[Ranks]] = {name: [] for name in scores}
        with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
            try:
                for ranked in pool.map(partial(self._ranks, scores), range(self.blocks)):
                    for name, found in ranked.items():
                        ranks[name].append(found)
                    stages.advance()
                sides = [pool.map(partial(_of_pairs, pairs), scores.values()) for pairs in self.held[1:3]]
                told = {name: pair for name, *pair in zip(scores, *sides, strict=True)}
            except BaseException:  # Ctrl-C too: do not work through the queue before saying so
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return {
            name: {"auc": auc(*told[name]), "ap": average_precision(*told[name]), **rank_figures(np.concatenate(found))}
            for name, found in ranks.items()
        }

    def _ranks(self, scores: dict[str, PairScore], block: int) -> dict[str, Ranks]:
        """The ranks of a block of held-out edges among their corruptions."""
        part = slice(block * SHARING, (block + 1) * SHARING)
        pairs = Pairs(self.fixed[part], self.true[part])
        rng = np.random.default_rng((*self.held.key, 2, block))
        drawn = self.candidates[rng.choice(len(self.candidates), self.corruptions, replace=False)]
        known, ranks = self._known(pairs.first, drawn), {}
        for name, score in scores.items():
            others = score.against(pairs.first, drawn)
            others[known] = -np.inf
            ranks[name] = middle_ranks(others, score.of_pairs(pairs), tolerance=ROUNDING * score.sizes(pairs))
        return ranks

    def _known(self, fixed: NDArray[np.int64], drawn: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Places in a block of scores that hold an edge of the whole graph, or a node beside itself."""
        column = np.full(self.graph.nodes, -1, np.int32)
        column[drawn] = np.arange(len(drawn))
        starts, counts = self.graph.indptr[fixed], self.graph.out_counts[fixed]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        neighbours = self.graph.indices[np.repeat(starts, counts) + offsets]
        rows = np.concatenate([np.repeat(np.arange(len(fixed)), counts), np.arange(len(fixed))])
        columns = column[np.concatenate([neighbours, fixed])]
        return rows[columns >= 0], columns[columns >= 0]


def _of_pairs(pairs: Pairs, score: PairScore) -> Floats:
    return score.of_pairs(pairs)
