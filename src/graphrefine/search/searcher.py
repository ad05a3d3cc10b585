"""Search: the nearest rows of rows or vectors, exact or by an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.errors import InputError
from graphrefine.kernels.nearest import LeftOut, Nearest, nearest
from graphrefine.progress import Watcher
from graphrefine.search.index import INDEX_BEYOND, Index, open_index
from graphrefine.search.scores import Terms, Way, ways
from graphrefine.system.threads import usable_threads
from graphrefine.vectors.lengths import inverse_lengths

if TYPE_CHECKING:
    from graphrefine.vectors.table import VectorTable

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]

_BATCH = 4096  # queries searched at a time: their heaps stay small


class Found(NamedTuple):
    """The nearest rows of each query, nearest first."""

    rows: Rows  # (q, k), -1 where there are fewer
    scores: Floats  # (q, k), -inf where there are fewer


class Search:
    """Finds the nearest nodes of an embedding, by one score.

    Parameters
    ----------
    embedding : VectorTable
        Its vectors stay where they are, mapped or in memory.
    score : "cosine", "dot" or "link"
        What is near; see `graphrefine.search.scores`.
    index : bool, optional
        Whether to search by an index, made now unless a current one is beside the embedding. None: beyond a million
        nodes. It finds nearly all: `recall` says how many.
    threads : int, optional
        One for each core if not given. Answers do not depend on it.
    watcher : Watcher, optional
        Told how far the making of an index is.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> search = Search(Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]]))
    >>> found = search.nearest(rows=[1], k=2)
    >>> found.rows.tolist(), found.scores.round(1).tolist()
    ([[2, 0]], [[0.800000011920929, 0.6000000238418579]])
    """

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
        self._ways = ways(embedding, score)
        wanted = len(embedding) > INDEX_BEYOND if index is None else index
        self.index: Index | None = (
            open_index(embedding, score, self._ways, threads=self.threads, watcher=watcher) if wanted else None
        )

    @property
    def recall(self) -> float | None:
        """Which share of the ten nearest the index finds, of nodes drawn at random; None without an index."""
        return None if self.index is None else self.index.recall

    def nearest(
        self,
        rows: ArrayLike | None = None,
        vectors: ArrayLike | None = None,
        k: int = 10,
        *,
        among: Mask | None = None,
        without: list[Rows] | None = None,
    ) -> Found:
        """The k nearest rows of each query.

        Parameters
        ----------
        rows : array of q rows of the embedding
            The queries; a node is not its own neighbour.
        vectors : array of shape (q, dim)
            The queries, instead.
        k : int
            How many; there are fewer where no more nodes can be found.
        among : array of n bool, optional
            The rows that may be found. Searched exactly, index or not.
        without : list of q arrays of rows, optional
            What each query must not find.
        """
        if (rows is None) == (vectors is None):
            raise InputError("give either rows or vectors to search for, not both")
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise InputError(f"k={k!r}: a positive number of neighbours is expected")
        k = min(int(k), len(self.embedding))
        if vectors is not None:
            return self._of_vectors(self._checked(vectors), k, among, without)
        return self._of_rows(_as_rows(rows, len(self.embedding)), k, among, without)

    def _of_rows(self, rows: Rows, k: int, among: Mask | None, without: list[Rows] | None) -> Found:
        found = Found(np.full((len(rows), k), -1, np.int64), np.full((len(rows), k), -np.inf, np.float32))
        for way in self._ways:
            size = len(way.asking.vectors)
            mine = np.flatnonzero((rows >= way.first_asking) & (rows < way.first_asking + size))
            for lo in range(0, len(mine), _BATCH):
                some = mine[lo : lo + _BATCH]
                asked = way.asking.part(rows[some] - way.first_asking)
                left_out = [rows[i : i + 1] if without is None else np.append(without[i], rows[i]) for i in some]
                found.rows[some], found.scores[some] = self._answer(way, asked, k, among, left_out)
        return found

    def _of_vectors(self, vectors: Floats, k: int, among: Mask | None, without: list[Rows] | None) -> Found:
        """Compared with the answers of every way: there is no telling to which side a vector belongs."""
        asked = self._as_asking(vectors)
        nothing = [np.empty(0, np.int64)] * len(vectors) if without is None else without
        every = [self._answer(way, asked, k, among, nothing) for way in self._ways]
        rows, scores = (np.concatenate(each, axis=1) for each in zip(*every, strict=True))
        order = np.lexsort((rows, -scores))[:, :k]
        return Found(np.take_along_axis(rows, order, 1), np.take_along_axis(scores, order, 1))

    def _answer(self, way: Way, asked: Terms, k: int, among: Mask | None, without: list[Rows]) -> Found:
        size = len(way.answers.vectors)
        left_out = [each[(each >= 0) & (each < size)] for each in (each - way.first_answer for each in without)]
        queries = asked.vectors if asked.scale is None else asked.vectors * asked.scale[:, None]
        if self.index is not None and among is None and self.index.can(k, left_out):
            rows, scores = self.index.nearest(way, queries, k, left_out)
        else:
            there = None if among is None else among[way.first_answer : way.first_answer + size]
            rows, scores = self._exact(way.answers, queries, k, there, left_out)
        if self.score == "cosine" and asked.scale is not None:  # a zero vector is near nothing
            rows[asked.scale == 0], scores[asked.scale == 0] = -1, -np.inf
        elif asked.added is not None:
            scores += asked.added[:, None]
        return Found(np.where(rows >= 0, rows + way.first_answer, -1), scores)

    def _exact(self, answers: Terms, queries: Floats, k: int, there: Mask | None, left_out: list[Rows]) -> Nearest:
        added = answers.added
        if there is not None:
            added = np.where(there, np.float32(0) if added is None else added, np.float32(-np.inf))
        without = LeftOut.of(left_out)
        return nearest(
            queries, answers.vectors, k, scale=answers.scale, added=added, left_out=without, threads=self.threads
        )

    def _checked(self, vectors: ArrayLike) -> Floats:
        try:
            array = np.ascontiguousarray(vectors, np.float32)
        except (TypeError, ValueError) as error:
            raise InputError(f"vectors cannot be made an array of float32: {error}") from error
        dims = sorted({self.embedding.dim, self._ways[0].asking.vectors.shape[1]})
        if array.ndim != 2 or array.shape[1] not in dims:
            wanted = " or ".join(map(str, dims))
            raise InputError(f"vectors has the shape {np.shape(vectors)}; (queries, {wanted}) is expected")
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(bad):
            raise InputError(f"vectors: row {bad[0]} holds NaN or an infinite number")
        return array[:, : self._ways[0].asking.vectors.shape[1]]  # of a directed graph's, the source half

    def _as_asking(self, vectors: Floats) -> Terms:
        scale = None if self._ways[0].asking.scale is None else inverse_lengths(vectors)
        return Terms(vectors, scale, None)  # degrees of what is no node are not known


def _as_rows(rows: ArrayLike | None, count: int) -> Rows:
    array = np.asarray(rows)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"rows: a list of row numbers is expected, not {array.dtype} of shape {array.shape}")
    array = array.astype(np.int64)
    if array.size and not (array.min() >= 0 and array.max() < count):
        bad = array[(array < 0) | (array >= count)][0]
        raise InputError(f"rows: {bad} is not a row; the rows are 0 to {count - 1}")
    return array
