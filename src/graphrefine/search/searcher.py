"""Search: the nearest rows of rows or vectors, exact or by an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.errors import InputError
from graphrefine.kernels.nearest import ExcludedRows, NearestRows, nearest
from graphrefine.linalg import inverse_lengths
from graphrefine.progress import Watcher
from graphrefine.search.index import INDEX_BEYOND, Index, open_index
from graphrefine.search.scores import ScoreSide, SearchDirection, search_directions
from graphrefine.search.vectors import as_vectors
from graphrefine.system.checks import check_integer
from graphrefine.system.threads import usable_threads

if TYPE_CHECKING:
    from graphrefine.search.vectors import VectorTable

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

_BATCH = 4096  # queries searched at a time: their heaps stay small


class Search:
    """Search for the nearest nodes of an embedding by one score, exact or by an index; threads change no answer."""

    def __init__(
        self,
        embedding: VectorTable,
        score: Literal["cosine", "dot", "link"] = "cosine",
        *,
        index: bool | None = None,
        threads: int | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self.embedding, self.score = embedding, score
        self.threads = usable_threads(threads)
        self._directions = search_directions(embedding, score)
        indexed = len(embedding) > INDEX_BEYOND if index is None else index
        self.index: Index | None = (
            open_index(embedding, score, self._directions, threads=self.threads, watcher=watcher) if indexed else None
        )

    @property
    def recall(self) -> float | None:
        """Share of the ten nearest that the index finds, of nodes drawn at random; None without an index."""
        return None if self.index is None else self.index.recall

    def nearest(
        self,
        rows: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
        k: int = 10,
        *,
        candidates: Mask | None = None,
        exclude: list[Rows] | None = None,
    ) -> NearestRows:
        """Return the k nearest rows of each row but itself, or vector (q, dim), among candidates."""
        if (rows is None) == (vectors is None):
            raise InputError("give either rows or vectors to search for, not both")
        k = min(check_integer("k", k, least=1), len(self.embedding))
        if vectors is not None:
            return self._nearest_to_vectors(self._check_vectors(vectors), k, candidates, exclude)
        return self._nearest_to_rows(np.asarray(rows, np.int64), k, candidates, exclude)

    def _nearest_to_rows(self, rows: Rows, k: int, candidates: Mask | None, exclude: list[Rows] | None) -> NearestRows:
        neighbors = NearestRows(np.full((len(rows), k), -1, np.int64), np.full((len(rows), k), -np.inf, np.float32))
        for direction in self._directions:
            size = len(direction.queries.vectors)
            mine = np.flatnonzero((rows >= direction.first_query) & (rows < direction.first_query + size))
            for lo in range(0, len(mine), _BATCH):
                some = mine[lo : lo + _BATCH]
                query_side = direction.queries.part(rows[some] - direction.first_query)
                excluded_rows = [rows[i : i + 1] if exclude is None else np.append(exclude[i], rows[i]) for i in some]
                neighbors.rows[some], neighbors.scores[some] = self._search(
                    direction, query_side, k, candidates, excluded_rows
                )
        return neighbors

    def _nearest_to_vectors(
        self, vectors: Floats, k: int, candidates: Mask | None, exclude: list[Rows] | None
    ) -> NearestRows:
        """Compare with the answers of every direction: a vector has no side."""
        scale = None if self._directions[0].queries.scale is None else inverse_lengths(vectors)
        query_side = ScoreSide(vectors, scale, None)  # a vector has no degree
        excluded_rows = [np.empty(0, np.int64)] * len(vectors) if exclude is None else exclude
        every = [self._search(direction, query_side, k, candidates, excluded_rows) for direction in self._directions]
        rows, scores = (np.concatenate(each, axis=1) for each in zip(*every, strict=True))
        order = np.lexsort((rows, -scores))[:, :k]
        return NearestRows(np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1))

    def _search(
        self, direction: SearchDirection, query_side: ScoreSide, k: int, candidates: Mask | None, exclude: list[Rows]
    ) -> NearestRows:
        size = len(direction.answers.vectors)
        excluded_rows = [
            each[(each >= 0) & (each < size)] for each in (each - direction.first_answer for each in exclude)
        ]
        queries = query_side.scale_vectors()
        if self.index is not None and candidates is None and self.index.can(k, excluded_rows, size=size):
            rows, scores = self.index.nearest(direction, queries, k, excluded_rows)
        else:
            answers, added = direction.answers, direction.answers.added
            if candidates is not None:
                there = candidates[direction.first_answer : direction.first_answer + size]
                added = np.where(there, np.float32(0) if added is None else added, np.float32(-np.inf))
            rows, scores = nearest(
                queries, answers.vectors, k, scale=answers.scale, added=added,
                excluded_rows=ExcludedRows.from_lists(excluded_rows), threads=self.threads,
            )  # fmt: skip
        if self.score == "cosine" and query_side.scale is not None:  # a zero vector is near nothing
            rows[query_side.scale == 0], scores[query_side.scale == 0] = -1, -np.inf
        elif query_side.added is not None:
            scores += query_side.added[:, None]
        return NearestRows(np.where(rows >= 0, rows + direction.first_answer, -1), scores)

    def _check_vectors(self, vectors: ArrayLike) -> Floats:
        array = as_vectors(vectors)
        dims = sorted({self.embedding.dim, self._directions[0].queries.vectors.shape[1]})
        if array.shape[1] not in dims:
            widths = " or ".join(map(str, dims))
            raise InputError(f"vectors has the shape {np.shape(vectors)}; (queries, {widths}) is expected")
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            raise InputError(f"vectors: row {bad[0]} holds NaN or an infinite number")
        return array[:, : self._directions[0].queries.vectors.shape[1]]  # of a directed graph's, the source half
