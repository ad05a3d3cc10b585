"""Overlap of neighbors: how many of the k nearest in one embedding are among the k nearest in another.

A node that is nearer than the k-th has a place among the k for certain; those that are as near as the k-th share the
places that are left, each to the same part. What both embeddings give to a node counts as common::

    weight(v) = 1 above the k-th score, places / ties at it, 0 below;        kept = sum_v min(old(v), new(v)) / k

So the order of equal vectors makes no difference, the same vectors have 1, and vectors that are all alike, where no
node is nearer than another, have what chance gives. Scores that rounding cannot tell apart are equal: a difference of
up to 1e-6 of a cosine, and, because the edge of any width can fall between two scores that are nearly as far, 2e-6 and
4e-6 are tried too. The largest share holds; of many ties, it is that of 4e-6.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.graph.lookup import Side
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages
from graphrefine.search.searcher import Search
from graphrefine.system.threads import map_tasks

BATCH = 4096  # nodes searched at a time
WIDTHS = (1e-6, 2e-6, 4e-6)  # of a tie, in cosines
PAIRS = 1 << 14  # pairs of vectors whose scores are formed at a time
QUERIES = 128  # nodes whose scores with all others are formed at a time, where ties are many
ACROSS = 1 << 14  # and those others

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]


class Shortlist(NamedTuple):
    """The nearest rows of some nodes, twice as many as are compared, and where the last place lies."""

    rows: Rows  # (q, m), -1 where there is none
    scores: Doubles  # (q, m), descending; -inf where there is none
    places: Rows  # (q,): k, or as many as there are
    bound: Doubles  # (q,): the score of the last place; inf where there is none
    unit: Doubles  # (q,): what a cosine of 1 is on the scale of the scores
    overrun: NDArray[np.bool_]  # (q,): there may be more ties than are listed

    def part(self, some: Rows) -> Shortlist:
        """That of some of the nodes."""
        rows, scores, places, bound, unit, overrun = self
        return Shortlist(rows[some], scores[some], places[some], bound[some], unit[some], overrun[some])


class Ranking:
    """The nearest answers of nodes in one embedding: of their kind by the cosine, or targets by the score of an edge.

    Parameters
    ----------
    embedding : Embedding
        Its vectors stay where they are.
    score : "cosine" or "link"
        See `graphrefine.search.scores`; scores are those of unit queries, whose length changes no order.
    side : "source" or "target", optional
        That of the answers.
    threads : int, optional
        One for each core if not given.
    """

    def __init__(
        self, embedding: Embedding, score: Literal["cosine", "link"], side: Side, *, threads: int | None
    ) -> None:
        halves = score == "link" and embedding.sides.kind == "columns"
        self.queries = embedding.source if halves else embedding.vectors  # (n, d)
        self.answers = embedding.target if halves else embedding.vectors  # (n, d)
        self.range = range(len(embedding))[embedding.sides.rows(len(embedding), side)]
        self.cosine = score == "cosine"
        self.search = Search(embedding, score, index=None if self.cosine else False, threads=threads)

    def list_nearest(self, rows: Rows, k: int) -> Shortlist:
        """The 2 k nearest answers of each row; none for a row of zeros."""
        near = self.search.nearest(rows=rows, k=2 * k).rows
        near[~self.queries[rows].any(axis=1)] = -1
        scores, lengths = self.score_pairs(rows, near)
        order = np.argsort(-scores, axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        scores, lengths = (np.take_along_axis(each, order, axis=1) for each in (scores, lengths))
        count = np.isfinite(scores).sum(axis=1)
        places = np.minimum(count, k)
        bound = np.take_along_axis(scores, np.maximum(places - 1, 0)[:, None], axis=1)[:, 0]
        unit = np.ones(len(rows)) if self.cosine else np.median(lengths[:, :k], axis=1)
        overrun = (count == near.shape[1]) & (count > 0) & (scores[:, -1] >= bound - WIDTHS[-1] * unit)
        return Shortlist(near, scores, places, np.where(places > 0, bound, np.inf), unit, overrun)

    def score_pairs(self, rows: Rows, answers: Rows) -> tuple[Doubles, Doubles]:
        """Scores of each row with its answers, -inf where there is none, and lengths of the answers.  # (q, m) each."""
        scores, lengths = np.full(answers.shape, -np.inf), np.zeros(answers.shape)
        step = max(1, PAIRS // max(answers.shape[1], 1))
        for lo in range(0, len(rows), step):
            some = slice(lo, lo + step)
            asks = self.queries[rows[some]].astype(np.float64)
            there = self.answers[np.maximum(answers[some], 0)].astype(np.float64)
            asks /= _divisors(np.sqrt(np.einsum("qd,qd->q", asks, asks)))[:, None]
            lengths[some] = np.sqrt(np.einsum("qmd,qmd->qm", there, there))
            products = np.einsum("qd,qmd->qm", asks, there)
            known = answers[some] >= 0
            if self.cosine:
                products /= _divisors(lengths[some])
                known &= lengths[some] > 0  # a zero vector is near nothing
            scores[some] = np.where(known, products, -np.inf)
        return scores, lengths

    def score_all(self, rows: Rows, answers: Rows) -> Floats:
        """Scores of all rows with all answers, -inf where an answer is -1 or has no cosine.  # (q, m)."""
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
    """The share of the k nearest answers that nodes keep; NaN for those that had none.

    Parameters
    ----------
    old, new : Ranking
        By the same score, of the same side.
    queries : pair of (m,) rows
        The nodes, in the older embedding and in the newer one.
    row_now : (n,)
        The row in the newer embedding of each row of the older one; -1 where it is lost.
    k : int
        Number of places.
    stages : Stages
        Who is told of the progress: one step for each batch.
    """
    kept = np.full(len(queries[0]), np.nan, np.float32)
    for lo in range(0, len(kept), BATCH):
        mine, theirs = (rows[lo : lo + BATCH] for rows in queries)
        before, after = old.list_nearest(mine, k), new.list_nearest(theirs, k)
        now = np.where(before.rows >= 0, row_now[before.rows], -1)
        common = _compare_lists(before, after, new.score_pairs(theirs, now)[0])
        many = np.flatnonzero((before.overrun | after.overrun) & (before.places > 0) & (after.places > 0))
        if len(many):
            common[many] = _compare_all(old, new, (mine, theirs), (before, after), row_now, many)
        kept[lo : lo + BATCH] = np.where(before.places > 0, common / np.maximum(before.places, 1), np.nan)
        stages.advance()
    return kept


def count_batches(count: int) -> int:
    """Number of steps that `compare_rankings` tells of, for so many nodes."""
    return -(-count // BATCH)


def _compare_lists(before: Shortlist, after: Shortlist, now: Doubles) -> Doubles:
    """Common places where no list is overrun; `now` are the newer scores of the older list.  # (q,)."""
    common = np.zeros(len(now))
    for width in WIDTHS:
        weights = [
            _weigh(each, *_classify(each.scores, each, width), _classify(scores, each, width))
            for each, scores in ((before, before.scores), (after, now))
        ]
        common = np.maximum(common, np.minimum(*weights).sum(axis=1))
    return common


def _classify(
    scores: NDArray[np.floating], shortlist: Shortlist, width: float
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which scores are above the bound, and which are ties at it."""
    slack = width * shortlist.unit
    most, least = ((shortlist.bound + by).astype(scores.dtype)[:, None] for by in (slack, -slack))
    above = scores > most
    return above, (scores >= least) ^ above


def _weigh(
    shortlist: Shortlist,
    above: NDArray[np.bool_],
    tied: NDArray[np.bool_],
    classes: tuple[NDArray[np.bool_], NDArray[np.bool_]],
) -> Doubles:
    """Weights of scores of two classes, where `above` and `tied` are all scores of the list.  # (q, m)."""
    share = _share(shortlist.places, above.sum(axis=1), tied.sum(axis=1))
    return classes[0] + classes[1] * share[:, None]


def _share(places: Rows, above: Rows, tied: Rows) -> Doubles:
    share: Doubles = np.clip((places - above) / np.maximum(tied, 1), 0, 1)
    return share


def _compare_all(
    old: Ranking,
    new: Ranking,
    queries: tuple[Rows, Rows],
    lists: tuple[Shortlist, Shortlist],
    row_now: Rows,
    many: Rows,
) -> Doubles:
    """Common places of some nodes, counted over all answers: blocks of scores, not all at once.  # (len(many),)."""
    before_rows = np.arange(old.range.start, old.range.stop)
    now = row_now[before_rows]
    fresh = np.setdiff1d(np.arange(new.range.start, new.range.stop), now)
    answers = np.concatenate([before_rows, np.full(len(fresh), -1)]), np.concatenate([now, fresh])

    def count(lo: int) -> Doubles:
        some = many[lo : lo + QUERIES]
        mine, theirs = (rows[some] for rows in queries)
        parts = [each.part(some) for each in lists]
        own = mine - old.range.start  # a node is no answer to itself
        singles, joint = np.zeros((4, len(some)), np.int64), np.zeros((len(some), 4), np.int64)
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
            (above, tied), (above_now, tied_now) = classes
            singles += [[np.count_nonzero(row) for row in mask] for pair in classes for mask in pair]  # fast on rows
            at = np.flatnonzero((above | tied) & (above_now | tied_now))
            codes = 4 * (at // above.shape[1]) + 2 * tied.ravel()[at] + tied_now.ravel()[at]
            joint += np.bincount(codes, minlength=joint.size).reshape(joint.shape)
        then, afterwards = (
            _share(each.places, *counts) for each, counts in zip(parts, np.split(singles, 2), strict=True)
        )
        weights = np.stack([np.ones(len(some)), afterwards, then, np.minimum(then, afterwards)], axis=1)
        common: Doubles = (joint * weights).sum(axis=1)
        return common

    return np.concatenate(list(map_tasks(range(0, len(many), QUERIES), count, old.search.threads)))


def _divisors(lengths: Doubles) -> Doubles:
    divisors: Doubles = np.where(lengths > 0, lengths, 1)
    return divisors
