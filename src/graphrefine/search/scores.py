"""Scores as inner products, for every kind of search: ``score(u, v) = a_u (x_u . y_v) s_v + t_v + b_u``.

======  =================================================================================================
cosine  the cosine of two vectors; a zero vector is near nothing
dot     the inner product
link    `Embedding.score`: how likely an edge is, the degrees counted in
======  =================================================================================================

Of a directed graph, ``link`` goes from sources to targets. Of a bipartite graph, ``cosine`` and ``dot`` compare nodes
of one side, and ``link`` those of one side with the other's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.vectors.checks import check_finite
from graphrefine.vectors.lengths import inverse_lengths, log_degrees
from graphrefine.vectors.source_target import SIDES

if TYPE_CHECKING:
    from graphrefine.vectors.table import VectorTable

SCORES = ("cosine", "dot", "link")

_BLOCK = 1 << 14  # rows looked at in one go

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Terms:
    """What makes vectors one side of a score: ``scale * x`` and ``+ added``."""

    vectors: Floats  # (m, k)
    scale: Floats | None  # (m,); None: one
    added: Floats | None  # (m,); None: zero

    def part(self, rows: slice | NDArray[np.int64]) -> Terms:
        """Of some of them."""
        scale, added = (None if each is None else each[rows] for each in (self.scale, self.added))
        return Terms(self.vectors[rows], scale, added)


@dataclass(frozen=True)
class Way:
    """A set of rows that ask, and the set in which they are answered; row i of a set is row first + i of all."""

    name: str
    asking: Terms
    first_asking: int
    answers: Terms
    first_answer: int


def ways(embedding: VectorTable, score: str) -> tuple[Way, ...]:
    """Which rows are compared with which: one way, or one for each side of a bipartite graph.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> two = Embedding(["ann", "tea", "cake"], [[1, 2], [1, 0], [1, 1]], {"sides": "rows", "sources": 1})
    >>> [(way.name, way.first_asking, way.first_answer) for way in ways(two, "link")]
    [('source', 0, 1), ('target', 1, 0)]
    """
    if score not in SCORES:
        raise InputError(f"score={score!r} is not known; it can be {', '.join(SCORES)}")
    sides = embedding.sides
    every = _terms(embedding, score)
    if sides.kind == "rows":
        parts = [sides.rows(len(embedding), side) for side in SIDES]
        other = parts[::-1] if score == "link" else parts
        return tuple(
            Way(name, every.part(asks), asks.start, every.part(answers), answers.start)
            for name, asks, answers in zip(SIDES, parts, other, strict=True)
        )
    if sides.kind == "columns" and score == "link":
        return (Way("all", Terms(embedding.source, None, None), 0, Terms(embedding.target, None, None), 0),)
    return (Way("all", every, 0, every, 0),)


def _terms(embedding: VectorTable, score: str) -> Terms:
    vectors = embedding.vectors
    inverse = inverse_lengths(vectors)
    suspects = np.flatnonzero(inverse == 0)  # rows of zeros, of NaN, of infinite numbers
    for lo in range(0, len(suspects), _BLOCK):
        some = suspects[lo : lo + _BLOCK]
        if not np.isfinite(vectors[some]).all():
            check_finite(vectors, embedding.names)
    if score == "dot" or (score == "link" and embedding.sides.kind is not None):
        return Terms(vectors, None, None)
    if score == "link" and embedding.degrees is not None:
        added = (embedding.degree_weight * log_degrees(embedding.degrees)).astype(np.float32)
        return Terms(vectors, inverse, added)
    nothing = inverse == 0
    return Terms(vectors, inverse, np.where(nothing, np.float32(-np.inf), np.float32(0)) if nothing.any() else None)
