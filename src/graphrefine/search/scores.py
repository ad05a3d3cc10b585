"""Scores as inner products, for every kind of search: ``score(u, v) = a_u (x_u . y_v) s_v + t_v + b_u``.

======  =================================================================================================
cosine  the cosine of two vectors: nodes that are alike; a zero vector is near nothing
dot     the inner product: vectors whose length has a meaning; of unit vectors the cosine
link    `Embedding.score`, the degrees counted in: nodes that are likely to be linked
======  =================================================================================================

Of a directed graph, ``link`` goes from sources to targets. Of a bipartite graph, ``cosine`` and ``dot`` compare nodes
of one side, and ``link`` those of one side with the other's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.lookup import SIDES
from graphrefine.linalg import inverse_lengths
from graphrefine.search.vectors import check_finite, check_origin, log_degrees
from graphrefine.system.checks import check_choice

if TYPE_CHECKING:
    from graphrefine.search.vectors import VectorTable

SCORES = ("cosine", "dot", "link")

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ScoreSide:
    """One side of a score: vectors x as ``scale * x``, and a term ``added`` of each."""

    vectors: Floats  # (m, k)
    scale: Floats | None  # (m,); None: one
    added: Floats | None  # (m,); None: zero

    def scale_vectors(self) -> Floats:
        """Return the vectors times their scale.  # (m, k)."""
        return self.vectors if self.scale is None else self.vectors * self.scale[:, None]

    def part(self, rows: slice | NDArray[np.int64]) -> ScoreSide:
        """Return the side of these rows alone."""
        scale, added = (None if each is None else each[rows] for each in (self.scale, self.added))
        return ScoreSide(self.vectors[rows], scale, added)


@dataclass(frozen=True)
class SearchDirection:
    """A set of rows to search for, and the set to search in; row i of a set is row first + i of all."""

    name: str
    queries: ScoreSide
    first_query: int
    answers: ScoreSide
    first_answer: int


def search_directions(embedding: VectorTable, score: str) -> tuple[SearchDirection, ...]:
    """Return the rows to search for and the rows to search in: one pair, or one for each side of a bipartite graph."""
    check_choice("score", score, SCORES)
    if score == "link":
        check_origin(embedding, "score='link'", instead="score='cosine', nodes that are alike", argument="score")
    sides = embedding.sides
    every = _score_side(embedding, score)
    if sides.kind == "rows":
        parts = [sides.rows(len(embedding), side) for side in SIDES]
        other = parts[::-1] if score == "link" else parts
        return tuple(
            SearchDirection(name, every.part(asks), asks.start, every.part(answers), answers.start)
            for name, asks, answers in zip(SIDES, parts, other, strict=True)
        )
    if sides.kind == "columns" and score == "link":
        sources, targets = (ScoreSide(each, None, None) for each in (embedding.source, embedding.target))
        return (SearchDirection("all", sources, 0, targets, 0),)
    return (SearchDirection("all", every, 0, every, 0),)


def _score_side(embedding: VectorTable, score: str) -> ScoreSide:
    vectors = embedding.vectors
    # Mapped vectors are not checked when they are loaded. Lengths are formed anyhow, and a row with NaN or infinite
    # numbers has the inverse 0, as has a row of zeros.
    inverse = inverse_lengths(vectors)
    if not inverse.all():
        check_finite(vectors, embedding.names)
    if score == "dot" or (score == "link" and embedding.sides.kind is not None):
        return ScoreSide(vectors, None, None)
    if score == "link" and embedding.degrees is not None:
        added = (embedding.degree_weight * log_degrees(embedding.degrees)).astype(np.float32)
        return ScoreSide(vectors, inverse, added)
    nothing = inverse == 0
    return ScoreSide(vectors, inverse, np.where(nothing, np.float32(-np.inf), np.float32(0)) if nothing.any() else None)
