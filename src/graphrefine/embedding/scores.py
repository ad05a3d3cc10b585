"""Scores of pairs of nodes: the likelihood of an edge.

Every score has one form, so that two functions serve them all:

``score(u, v) = inner_u inner_v sum_k middle_k X_uk X_vk * outer_u outer_v + added_u + added_v``

The score of an `Embedding` is `cosine_degree`,

``cos(x_u, x_v) + w (ln d_u + ln d_v)``,

with d the number of neighbors; of directed and bipartite graphs it is ``source_u . target_v``. Vectors of length 1
have forgotten the degrees, which say much about where edges are; that one term gives them back. Their weight w differs
from graph to graph, and is learned (`degree_weight`). It is a sum, not a product, so that degrees count alike for
likely and unlikely pairs, and the nodes of the highest score for a given one are those of the largest inner product
with ``(x_u, 1)`` of the rows ``(x_v, w ln d_v)``: any index of inner products finds them. ``benchmarks/link_scores.py``
measures it, by the `auc`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.learn import warn_unlearned
from graphrefine.embedding.state import DEGREE_WEIGHT, StatefulVectors
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.lookup import SIDES, Side, Unknown, warn_skipped
from graphrefine.linalg import inverse_lengths
from graphrefine.search.vectors import log_degrees

BLOCK = 1 << 14  # pairs scored at a time: gathered rows of both ends, 16 MB each at 256 numbers

Floats = NDArray[np.float32]
Which = NDArray[np.int64] | slice  # nodes


class Pairs(NamedTuple):
    """Pairs of nodes, by their rows."""

    first: NDArray[np.int64]  # (m,)
    second: NDArray[np.int64]  # (m,)


@dataclass(frozen=True)
class PairScore:
    """A score of pairs of nodes, in the form above; what is None is 1 everywhere, or 0 where it is added."""

    vectors: Floats  # (n, k)
    middle: Floats | None = None  # (k,)
    inner: Floats | None = None  # (n,)
    outer: Floats | None = None  # (n,)
    added: Floats | None = None  # (n,)
    second: PairScore | None = None  # what the second of a pair has instead, if it is another

    @property
    def other(self) -> PairScore:
        """What the second node of a pair has."""
        return self.second or self

    def of_pairs(self, pairs: Pairs) -> Floats:
        """Return the scores of pairs."""
        scores = np.empty(len(pairs.first), np.float32)
        for lo in range(0, len(scores), BLOCK):
            first, second = (side[lo : lo + BLOCK] for side in pairs)
            sums = np.einsum("ij,ij->i", self._left(first), self.other.vectors[second])
            scores[lo : lo + BLOCK] = self._finished(sums, first, second)
        return scores

    def against(self, nodes: Which, others: Which) -> Floats:
        """Return the score of each node with each of the others.  # (nodes, others)."""
        return self._finished(self._left(nodes) @ self.other.vectors[others].T, nodes, others)

    def in_order(self, order: NDArray[np.int64]) -> PairScore:
        """Return the same score where node ``order[i]`` is called i."""
        terms = {"inner": self.inner, "outer": self.outer, "added": self.added}
        moved: dict[str, Any] = {name: None if term is None else term[order] for name, term in terms.items()}
        return replace(self, vectors=self.vectors[order], **moved)

    def sizes(self, pairs: Pairs) -> Floats:
        """Return what the terms of these scores can come to, signs aside: rounding is in proportion to it."""
        both = self._weighted(pairs.first), self.other._weighted(pairs.second)
        lengths = [np.sqrt(np.einsum("ij,ij->i", rows, rows)) for rows in both]
        second = None if self.second is None else self.second._unsigned()
        return replace(self._unsigned(), second=second)._finished(lengths[0] * lengths[1], *pairs)

    def _unsigned(self) -> PairScore:
        return replace(self, added=None if self.added is None else np.abs(self.added))

    def _weighted(self, nodes: NDArray[np.int64]) -> Floats:
        rows = self.vectors[nodes]
        return rows if self.middle is None else rows * np.sqrt(np.abs(self.middle))

    def _left(self, nodes: Which) -> Floats:
        rows = self.vectors[nodes]
        return rows if self.middle is None else rows * self.middle

    def _finished(self, sums: Floats, first: Which, second: Which) -> Floats:
        """Return scores from sums: of pairs, or of all first with all second."""
        column = (-1, *[1] * (sums.ndim - 1))
        for scale, others in ((self.inner, self.other.inner), (self.outer, self.other.outer)):
            if scale is not None and others is not None:
                sums *= scale[first].reshape(column)
                sums *= others[second]
        if self.added is not None and self.other.added is not None:
            sums += self.added[first].reshape(column)
            sums += self.other.added[second]
        return sums


def cosine(vectors: Floats) -> PairScore:
    """Return the cosine; 0 for a zero vector."""
    return PairScore(vectors, inner=inverse_lengths(vectors))


def cosine_degree(vectors: Floats, degrees: NDArray[Any], weight: float = DEGREE_WEIGHT) -> PairScore:
    """Return the cosine, plus what the degrees say."""
    return replace(cosine(vectors), added=(weight * log_degrees(degrees)).astype(np.float32))


def score_of(table: StatefulVectors) -> PairScore:
    """Return the score of an embedding: see `graphrefine.Embedding.score`."""
    if table.sides.kind is not None:
        return PairScore(table.source, second=PairScore(table.target))
    if table.is_bare:
        text = f"{table.path} holds no degrees, and does not say whether edges have a direction or two sides"
        warnings.warn(ArgumentWarning(f"{text}, so score is the cosine alone"), stacklevel=5)
    if table.degrees is None:
        return cosine(table.vectors)
    if table.state.degree_weight is None:
        warn_unlearned(table.recipe, f"score gives degrees the usual weight, {table.degree_weight}", stacklevel=6)
    return cosine_degree(table.vectors, table.degrees, table.degree_weight)


def score_nodes(table: StatefulVectors, score: PairScore, u: Any, v: Any = None, *, unknown: Unknown = "error") -> Any:
    """Return the scores of nodes by name, one with one, several, or all: see `graphrefine.Embedding.score`."""
    sides: tuple[Side | None, Side | None] = SIDES if table.sides.kind else (None, None)
    first = _find_rows(table, u, sides[0], unknown)
    is_name = table.lookup.is_name
    if v is None:
        rows = _score_known(lambda known: score.against(first[known], slice(None)), first >= 0)
        return rows[0] if is_name(u) else rows
    second = _find_rows(table, v, sides[1], unknown)
    if len(first) != len(second) and not (is_name(u) or is_name(v)):
        raise InputError(f"{len(first)} nodes cannot be paired with {len(second)}; give as many, or one name")
    pairs = Pairs(*np.broadcast_arrays(first, second))
    pair_scores = _score_known(
        lambda known: score.of_pairs(Pairs(pairs.first[known], pairs.second[known])), np.minimum(*pairs) >= 0
    )
    return float(pair_scores[0]) if is_name(u) and is_name(v) else pair_scores


def _find_rows(table: StatefulVectors, nodes: Any, side: Side | None, unknown: Unknown) -> NDArray[np.int64]:
    """Return the rows of names; -1, with a warning, for those that are unknown and skipped."""
    names = [nodes] if table.lookup.is_name(nodes) else list(nodes)
    rows = table.lookup.rows(names, side, unknown=unknown)
    warn_skipped([names[at] for at in np.flatnonzero(rows < 0)], len(names), stacklevel=5)
    return rows


def _score_known(score: Callable[[Any], Floats], known: NDArray[np.bool_]) -> Floats:
    """Return the scores of the pairs, or of the rows, that are known; NaN for the others."""
    if known.all():
        return score(slice(None))
    scores = score(known)
    whole = np.full((len(known), *scores.shape[1:]), np.nan, np.float32)
    whole[known] = scores
    return whole
