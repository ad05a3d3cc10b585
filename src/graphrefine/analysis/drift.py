"""Drift: what has become of the nodes of an older embedding in a newer one.

``moved`` is the distance of the unit rows of a node after the newer vectors were rotated onto the older ones
(`graphrefine.embedding.derive`): 0 is no movement, 1.41 a right angle, 2 the opposite direction, and 1 that of a vector
which has become zeros. ``kept`` is the share of its k nearest nodes in the older embedding that are among the k nearest
in the newer one, and needs no rotation. Of directed and bipartite graphs, ``targets`` is the share of the k targets
with the highest scores that a source keeps.

**Ties.** A node that is nearer than the k-th is one of the k; those that are as near as the k-th share the slots that
are left. What both embeddings give to a node counts as common::

    weight(v) = 1 above the k-th score, slots / ties at it, 0 below;        kept = sum_v min(old(v), new(v)) / k

So the order of equal vectors makes no difference, the same vectors have 1, and vectors that are all alike have what
chance gives.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.table import Table
from graphrefine.embedding.derive import BLOCK, align_tables, rotatable
from graphrefine.embedding.embedding import Embedding, check_embedding
from graphrefine.graph.lookup import SIDES, Side
from graphrefine.kernels.numerics import warn_of_differences
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages, Watcher
from graphrefine.search.searcher import Search
from graphrefine.system.checks import check_integer
from graphrefine.system.threads import map_tasks, one_blas_thread

SAMPLE = 10_000  # nodes whose neighbors are compared, unless all are asked for

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]
BATCH = 4096  # nodes searched at a time
# Scores that rounding cannot tell apart are ties: a difference of up to 1e-6 of a cosine. The edge of any width can be
# between two scores that are nearly as far, so the wider ones are tried too, and the largest share holds. Of more ties
# than are listed, the share is that of the widest alone.
WIDTHS = (1e-6, 2e-6, 4e-6)
PAIRS = 1 << 14  # pairs of vectors whose scores are formed at a time
QUERIES = 128  # nodes whose scores with all others are formed at a time, where ties are many
ACROSS = 1 << 14  # and those others

Doubles = NDArray[np.float64]
TINY = np.finfo(np.float64).tiny  # divisor of a zero vector, which stays zero


def measure_drift(
    old: Embedding,
    new: Embedding,
    *,
    k: int = 10,
    sample: int | None = SAMPLE,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Table:
    """Measure for each node whether it moved, was lost or is new, and how many of its neighbors it kept.

    Parameters
    ----------
    old, new : Embedding
        With vectors of the same length, and some of the same nodes.
    k : int
        Number of nearest nodes, by the cosine, that are compared. Where all others would be among them, it is reduced
        to half of the others, with a warning.
    sample : int, optional
        Number of shared nodes, of each side of a bipartite graph, whose neighbors are compared, drawn at random; None
        for all of them.
    seed : int
        Of the sample.
    threads : int, optional
        One for each core if not given; the answer does not depend on it.
    watcher : Watcher, optional
        Receives the progress.

    Returns
    -------
    Table
        Columns ``node``, ``change`` ("shared", "lost" or "new"), ``moved`` and ``kept`` (NaN where there is nothing to
        measure: lost and new nodes, those that had a zero vector, nodes outside the sample) and, of directed and
        bipartite graphs, ``targets``. A node whose vector has become zeros has moved by 1 and kept nothing. Shared
        nodes come first, the one that moved most at the top. ``stats`` has the counts (``vanished``: shared nodes
        that had a vector and have zeros now), mean, median and 95th percentile of ``moved``, the mean of ``kept``, and
        what that would be by ``chance``, with vectors that have nothing in common; ``targets`` has the same of targets,
        and ``sides``, of a bipartite graph, the same of each side.

    Examples
    --------
    >>> old = Embedding(["ada", "bob", "cy"], [[1, 0], [0, 1], [0.6, 0.8]])
    >>> new = Embedding(["bob", "ada", "dan"], [[1, 0], [0, 1], [1, 0]])  # the axes are swapped
    >>> drift = measure_drift(old, new, k=1)
    >>> list(zip(drift["node"], drift["change"], drift["moved"].round(3).tolist(), strict=True))
    [('ada', 'shared', 0.0), ('bob', 'shared', 0.0), ('cy', 'lost', nan), ('dan', 'new', nan)]
    >>> drift["kept"][:2].tolist()  # cy was the nearest of both
    [0.0, 0.0]
    """
    if sample is not None:
        check_integer("sample", sample, least=1)
    check_embedding(old, "old")
    check_embedding(new, "new")
    warn_of_differences(old.recipe, new.recipe, stacklevel=2)
    stages = Stages(watcher)
    with stages.stage("align"):
        R, drift = align_tables(new, old)
        there, here = new.lookup.shared(old.lookup)
        moved = _measure_moves(old, new, here, there, R)
    if drift.shared < R.shape[0]:
        # With fewer nodes than numbers, some rotation brings any of them together.
        text = f"{drift.shared:,} shared nodes with vectors do not fix a rotation of {R.shape[0]} numbers: moved is"
        warnings.warn(f"{text} less than it would be with more of them", stacklevel=2)
    pair = Pair(old, new, here, there)
    draw: dict[str, Any] = {"k": k, "sample": sample, "seed": seed, "threads": threads, "stages": stages}
    sides = SIDES if old.sides.kind == "rows" else SIDES[:1]
    comparisons = {side: _compare_neighbors(pair, "cosine", side, **draw) for side in sides}
    targets = _compare_neighbors(pair, "link", "target", **draw) if old.sides.kind is not None else None
    return _make_table(pair, moved, comparisons, targets)


class Pair(NamedTuple):
    """Two embeddings, and the rows of the nodes that both have."""

    old: Embedding
    new: Embedding
    here: Rows  # (shared,): in the older one
    there: Rows  # (shared,): in the newer one

    def sizes(self, side: Side) -> tuple[int, int]:
        """Return the number of nodes of a side, in each of the two."""
        return len(_rows_of(self.old, side)), len(_rows_of(self.new, side))

    def on_side(self, side: Side) -> NDArray[np.bool_]:
        """Return which of the shared nodes are of a side.  # (shared,)."""
        rows = _rows_of(self.old, side)
        return (self.here >= rows.start) & (self.here < rows.stop)


def _rows_of(embedding: Embedding, side: Side) -> range:
    return range(len(embedding))[embedding.sides.rows(len(embedding), side)]


class Comparison(NamedTuple):
    """The share of neighbors that shared nodes have kept, and what it is a share of."""

    kept: Floats  # (shared,): NaN where there is nothing to compare, or outside of the sample
    k: int
    chance: float
    sampled: int
    eligible: int  # nodes that the sample is drawn from: those that had a vector

    def stats(self) -> dict[str, Any]:
        """Return the mean share, and the rest."""
        shares = self.kept[~np.isnan(self.kept)].astype(np.float64)
        return {**self._asdict(), "kept": float(shares.mean()) if len(shares) else None}


def _compare_neighbors(
    pair: Pair,
    score: Literal["cosine", "link"],
    side: Side,
    *,
    k: int,
    sample: int | None,
    seed: int,
    threads: int | None,
    stages: Stages,
) -> Comparison:
    """Compare nodes of a side, by the cosine, or targets of sources, by the score of an edge.

    Of a graph that is not bipartite, every node is of both sides.
    """
    old, new, here, there = pair
    apart = score == "link" and old.sides.kind == "rows"
    others = min(pair.sizes(side)) - (0 if apart else 1)
    k = _reduce(k, others)
    before, after = (Ranking(each, score, side, threads=threads) for each in (old, new))
    mine = pair.on_side("source" if score == "link" else side)
    eligible = some = np.flatnonzero(mine & _have_vectors(before.queries, here))
    if sample is not None and len(eligible) > sample:
        some = np.sort(np.random.default_rng(seed).choice(eligible, sample, replace=False))
    row_now = np.full(len(old), -1, np.int64)
    row_now[here] = there
    kept = np.full(len(here), np.nan, np.float32)
    with stages.stage("targets" if score == "link" else "neighbors", steps=-(-len(some) // BATCH)):
        kept[some] = compare_rankings(before, after, (here[some], there[some]), row_now, k, stages=stages)
    chance = min(k / others, 1.0) if others > 0 else 1.0
    return Comparison(kept, k, chance, len(some), len(eligible))


def _reduce(k: int, others: int) -> int:
    """Reduce k so that not all others are neighbors, and a share can be kept or lost."""
    k = check_integer("k", k, least=1)
    # Of one other there is no choice, and the nearest of two is a question as good as any.
    if k < max(others, 2) or others < 2:
        return k
    warnings.warn(f"k={k} is reduced to {others // 2}: all of the {others} others would be neighbors", stacklevel=4)
    return others // 2


def _have_vectors(vectors: Floats, rows: Rows) -> NDArray[np.bool_]:
    """Return which rows are not zeros.  # (len(rows),)."""
    # In blocks, as in all of this module: vectors may be mapped, and larger than the memory.
    there = np.zeros(len(rows), bool)
    for lo in range(0, len(rows), BLOCK):
        there[lo : lo + BLOCK] = vectors[rows[lo : lo + BLOCK]].any(axis=1)
    return there


def _measure_moves(old: Embedding, new: Embedding, here: Rows, there: Rows, R: NDArray[np.float64]) -> Floats:
    """Measure distances of unit rows of shared nodes after the rotation; NaN where the older is zero.  # (shared,)."""
    moved = np.full(len(here), np.nan, np.float32)
    parts = new.dim // R.shape[0]  # two of a directed graph, source and target, rotated alike
    theirs = rotatable(new).reshape(len(new), parts, R.shape[0])
    with one_blas_thread():
        for lo in range(0, len(here), BLOCK):
            before = unit_rows(old.vectors[here[lo : lo + BLOCK]])
            after = unit_rows((theirs[there[lo : lo + BLOCK]] @ R).reshape(len(before), old.dim))
            distances = np.linalg.norm(after.astype(np.float64) - before, axis=1)
            moved[lo : lo + BLOCK] = np.where(before.any(axis=1), distances, np.nan)
    return moved


def _make_table(pair: Pair, moved: Floats, comparisons: dict[Side, Comparison], targets: Comparison | None) -> Table:
    old, new, here, there = pair
    order = np.lexsort((here, -moved))  # NaN last
    lost, fresh = (np.setdiff1d(np.arange(len(each)), rows) for each, rows in ((old, here), (new, there)))
    names = [*old.names[here[order]].tolist(), *old.names[lost].tolist(), *new.names[fresh].tolist()]
    nothing = np.full(len(lost) + len(fresh), np.nan, np.float32)
    changes = np.repeat(np.array(["shared", "lost", "new"], object), [len(here), len(lost), len(fresh)])
    kept = np.full(len(here), np.nan, np.float32)
    for comparison in comparisons.values():
        kept = np.where(np.isnan(comparison.kept), kept, comparison.kept)
    measures = {"moved": moved, "kept": kept} | ({} if targets is None else {"targets": targets.kept})
    columns = {"node": names, "change": changes}
    columns |= {name: np.concatenate([values[order], nothing]) for name, values in measures.items()}
    vanished = _have_vectors(old.vectors, here) & ~_have_vectors(new.vectors, there)
    every = np.ones(len(here), bool)
    stats = _count(every, (len(old), len(new)), moved, vanished) | {"dim": old.dim}
    stats |= _join(list(comparisons.values()), kept).stats()
    if targets is not None:
        stats["targets"] = targets.stats()
    if len(comparisons) > 1:
        stats["sides"] = {
            side: _count(pair.on_side(side), pair.sizes(side), moved, vanished) | comparison.stats()
            for side, comparison in comparisons.items()
        }
    return Table(columns, stats)


def _join(parts: list[Comparison], kept: Floats) -> Comparison:
    """Join the comparisons of all sides; chance is that of their nodes, on average."""
    if len(parts) == 1:
        return parts[0]
    sampled = sum(each.sampled for each in parts)
    chance = sum(each.chance * each.sampled for each in parts) / sampled if sampled else parts[0].chance
    return Comparison(kept, max(each.k for each in parts), chance, sampled, sum(each.eligible for each in parts))


def _count(
    mine: NDArray[np.bool_], sizes: tuple[int, int], moved: Floats, vanished: NDArray[np.bool_]
) -> dict[str, Any]:
    """Count nodes, all or those of a side, and summarize how far they moved."""
    shared = int(mine.sum())
    stats: dict[str, Any] = {
        "old_nodes": sizes[0],
        "new_nodes": sizes[1],
        "shared": shared,
        "lost": sizes[0] - shared,
        "new": sizes[1] - shared,
        "vanished": int((vanished & mine).sum()),
        "moved": None,
    }
    distances = moved[mine & ~np.isnan(moved)].astype(np.float64)
    if len(distances):
        median, p95 = np.quantile(distances, [0.5, 0.95]).tolist()
        stats["moved"] = {"mean": float(distances.mean()), "median": median, "p95": p95}
    return stats


class Shortlist(NamedTuple):
    """The nearest rows of some nodes, twice as many as are compared, and the score of the k-th."""

    rows: Rows  # (q, m), -1 where there is none
    scores: Doubles  # (q, m), descending; -inf where there is none
    slots: Rows  # (q,): k, or the number of answers if that is less
    bound: Doubles  # (q,): the score of the last slot; inf where there is none
    unit: Doubles  # (q,): what a cosine of 1 is on the scale of the scores
    overrun: NDArray[np.bool_]  # (q,): there may be more ties than are listed

    def part(self, some: Rows) -> Shortlist:
        """Return the shortlist of some of the nodes."""
        rows, scores, slots, bound, unit, overrun = self
        return Shortlist(rows[some], scores[some], slots[some], bound[some], unit[some], overrun[some])


class Ranking:
    """The nearest answers of nodes in one embedding: of their kind by the cosine, or targets by the score of an edge.

    Scores are those of unit queries, whose length changes no order; ``side`` is that of the answers.
    """

    def __init__(
        self, embedding: Embedding, score: Literal["cosine", "link"], side: Side, *, threads: int | None
    ) -> None:
        halves = score == "link" and embedding.sides.kind == "columns"
        self.queries = embedding.source if halves else embedding.vectors  # (n, d)
        self.answers = embedding.target if halves else embedding.vectors  # (n, d)
        self.range = _rows_of(embedding, side)
        self.cosine = score == "cosine"
        self.search = Search(embedding, score, index=None if self.cosine else False, threads=threads)

    def list_nearest(self, rows: Rows, k: int) -> Shortlist:
        """Find the 2 k nearest answers of each row; none for a row of zeros."""
        near = self.search.nearest(rows=rows, k=2 * k).rows
        near[~self.queries[rows].any(axis=1)] = -1
        scores, lengths = self.score_pairs(rows, near)
        order = np.argsort(-scores, axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        scores, lengths = (np.take_along_axis(each, order, axis=1) for each in (scores, lengths))
        count = np.isfinite(scores).sum(axis=1)
        slots = np.minimum(count, k)
        bound = np.take_along_axis(scores, np.maximum(slots - 1, 0)[:, None], axis=1)[:, 0]
        unit = np.ones(len(rows)) if self.cosine else np.median(lengths[:, :k], axis=1)
        overrun = (count == near.shape[1]) & (count > 0) & (scores[:, -1] >= bound - WIDTHS[-1] * unit)
        return Shortlist(near, scores, slots, np.where(slots > 0, bound, np.inf), unit, overrun)

    def score_pairs(self, rows: Rows, answers: Rows) -> tuple[Doubles, Doubles]:
        """Return scores of each row with its answers, -inf where there is none; and the lengths of the answers."""
        # In float64: the ties of the two embeddings are compared, and the search ranks by products in float32.
        scores, lengths = np.full(answers.shape, -np.inf), np.zeros(answers.shape)
        step = max(1, PAIRS // max(answers.shape[1], 1))
        for lo in range(0, len(rows), step):
            some = slice(lo, lo + step)
            asks = self.queries[rows[some]].astype(np.float64)
            there = self.answers[np.maximum(answers[some], 0)].astype(np.float64)
            asks /= np.maximum(np.sqrt(np.einsum("qd,qd->q", asks, asks)), TINY)[:, None]
            lengths[some] = np.sqrt(np.einsum("qmd,qmd->qm", there, there))
            products = np.einsum("qd,qmd->qm", asks, there)
            known = answers[some] >= 0
            if self.cosine:
                products /= np.maximum(lengths[some], TINY)
                known &= lengths[some] > 0  # a zero vector is near nothing
            scores[some] = np.where(known, products, -np.inf)
        return scores, lengths

    def score_all(self, rows: Rows, answers: Rows) -> Floats:
        """Return scores of all rows with all answers, -inf where an answer is -1 or has no cosine.  # (q, m)."""
        there = self.answers[np.maximum(answers, 0)]
        none = answers < 0
        if self.cosine:
            there, none = unit_rows(there), none | ~there.any(axis=1)
        scores: Floats = unit_rows(self.queries[rows]) @ there.T
        scores[:, none] = -np.inf
        return scores


def compare_rankings(
    old: Ranking, new: Ranking, queries: tuple[Rows, Rows], row_now: Rows, k: int, *, stages: Stages
) -> Floats:
    """Measure the share of the k nearest answers that nodes keep; NaN for those that had none.

    The queries are rows of the nodes in the older embedding and in the newer one; ``row_now`` is the row in the newer
    embedding of each row of the older one, -1 where it is lost.
    """
    kept = np.full(len(queries[0]), np.nan, np.float32)
    for lo in range(0, len(kept), BATCH):
        mine, theirs = (rows[lo : lo + BATCH] for rows in queries)
        before, after = old.list_nearest(mine, k), new.list_nearest(theirs, k)
        now = np.where(before.rows >= 0, row_now[before.rows], -1)
        common = _compare_lists(before, after, new.score_pairs(theirs, now)[0])
        many = np.flatnonzero((before.overrun | after.overrun) & (before.slots > 0) & (after.slots > 0))
        if len(many):
            common[many] = _compare_all(old, new, (mine, theirs), (before, after), row_now, many)
        kept[lo : lo + BATCH] = np.where(before.slots > 0, common / np.maximum(before.slots, 1), np.nan)
        stages.advance()
    return kept


def _compare_lists(before: Shortlist, after: Shortlist, now: Doubles) -> Doubles:
    """Count common neighbors where no list is overrun; `now` are the newer scores of the older list.  # (q,)."""
    common = np.zeros(len(now))
    for width in WIDTHS:
        weights = []
        for each, scores in ((before, before.scores), (after, now)):
            share = _share(each.slots, *(mask.sum(axis=1) for mask in _classify(each.scores, each, width)))
            above, tied = _classify(scores, each, width)
            weights.append(above + tied * share[:, None])
        common = np.maximum(common, np.minimum(*weights).sum(axis=1))
    return common


def _classify(
    scores: NDArray[np.floating], shortlist: Shortlist, width: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which scores are above the bound, and which are ties at it."""
    slack = width * shortlist.unit
    most, least = ((shortlist.bound + by).astype(scores.dtype)[:, None] for by in (slack, -slack))
    above = scores > most
    return above, (scores >= least) ^ above


def _share(slots: Rows, above: Rows, tied: Rows) -> Doubles:
    """Return the weight of a tie, by the numbers of scores above the bound and at it."""
    share: Doubles = np.clip((slots - above) / np.maximum(tied, 1), 0, 1)
    return share


def _compare_all(
    old: Ranking,
    new: Ranking,
    queries: tuple[Rows, Rows],
    lists: tuple[Shortlist, Shortlist],
    row_now: Rows,
    many: Rows,
) -> Doubles:
    """Count common neighbors over all answers, in blocks of scores.  # (len(many),)."""
    # Leaves of one hub, or vectors that collapsed, tie with more nodes than a list holds. A node's weight depends only
    # on its class in each embedding, above or tied, so four counts of pairs of classes are enough.
    before_rows = np.arange(old.range.start, old.range.stop)
    now = row_now[before_rows]
    fresh = np.setdiff1d(np.arange(new.range.start, new.range.stop), now)
    answers = np.concatenate([before_rows, np.full(len(fresh), -1)]), np.concatenate([now, fresh])

    def count(lo: int) -> Doubles:
        some = many[lo : lo + QUERIES]
        mine, theirs = (rows[some] for rows in queries)
        parts = [each.part(some) for each in lists]
        own = mine - old.range.start  # a node is no answer to itself
        counts = np.zeros((8, len(some)), np.int64)
        for start in range(0, len(answers[0]), ACROSS):
            block = [rows[start : start + ACROSS] for rows in answers]
            scores = [
                ranking.score_all(rows, each)
                for ranking, rows, each in zip((old, new), (mine, theirs), block, strict=True)
            ]
            here = np.flatnonzero((own >= start) & (own < min(start + ACROSS, len(before_rows))))
            for each in scores:
                each[here, own[here] - start] = -np.inf
            classes = [_classify(*each, WIDTHS[-1]) for each in zip(scores, parts, strict=True)]
            masks = [*classes[0], *classes[1], *(then & now for then in classes[0] for now in classes[1])]
            counts += [[np.count_nonzero(row) for row in mask] for mask in masks]  # fast on rows
        then, now = (_share(each.slots, *counts[at : at + 2]) for each, at in zip(parts, (0, 2), strict=True))
        above_both, tied_now, tied_then, tied_both = counts[4:]
        common: Doubles = above_both + tied_now * now + tied_then * then + tied_both * np.minimum(then, now)
        return common

    return np.concatenate(list(map_tasks(range(0, len(many), QUERIES), count, old.search.threads)))
