"""usearch's graph of near neighbors for one set of answers: made, stored, and searched for candidates.

A score ``query . (s_v y_v) + t_v`` is an inner product of longer vectors, all of one length M,

``(query, 1, 0) . (s_v y_v, t_v, sqrt(M^2 - |s_v y_v|^2 - t_v^2))``,

and among vectors of one length the largest inner product is the smallest distance, which is what such a graph is good
at. It keeps numbers of 16 bits: half precision, as bfloat16 cannot tell a cosine of 0.996 from one of 0.999.

Nodes with the same vector are one in the graph: twenty leaves of a hub would be linked to nothing but each other, and
never be left, or reached. On web-google a third of the nodes have another's vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import OutputError
from graphrefine.progress import Stages
from graphrefine.search.close_pairs import group_equal_rows
from graphrefine.search.scores import ScoreSide
from graphrefine.system.arrays import save_npy

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

# Rows added at a time: progress is reported, and a signal answered, between the blocks.
ADDED = 1 << 14
# Candidates for each row to return: numbers of 16 bits put nearly equal ones in another order, and the exact scores
# decide among the candidates alone.
SPARE = 4


@dataclass
class Part:
    """The graph of a set of answers; key g in it means the rows ``members[starts[g] : starts[g + 1]]``."""

    graph: Any  # None without members
    members: Rows
    starts: Rows  # (groups + 1,)

    def candidates(self, queries: Floats, count: int, *, width: int, threads: int) -> list[Rows]:
        """Return candidates for the nearest of each query, ascending; of equal vectors the first `count` at most."""
        if self.graph is None or not len(queries):
            return [self.members[:0]] * len(queries)
        keys_each = min(SPARE * count, len(self.graph))
        self.graph.expansion_search = max(width, keys_each)
        matches = self.graph.search(_longer_queries(queries, self.graph.ndim), keys_each, threads=threads)
        keys = np.atleast_2d(matches.keys).astype(np.int64)
        counts = getattr(matches, "counts", None)  # a single query has no counts: all keys are matches
        return [self._rows(each if counts is None else each[: counts[at]], count) for at, each in enumerate(keys)]

    def _rows(self, groups: Rows, most: int) -> Rows:
        starts = self.starts[groups]
        sizes = np.minimum(self.starts[groups + 1] - starts, most)
        ends = np.cumsum(sizes)
        if len(ends) and ends[-1] == len(sizes):  # no two with the same vector, as mostly
            return np.sort(self.members[starts])
        positions = np.repeat(starts - (ends - sizes), sizes) + np.arange(ends[-1] if len(ends) else 0)
        return np.sort(self.members[positions])

    def save(self, folder: Path, name: str) -> None:
        """Write its files."""
        if self.graph is not None:
            path = folder / f"{name}.usearch"
            try:
                self.graph.save(str(path))
            except RuntimeError as error:  # a full disk
                raise OutputError(f"{path}: cannot be written: {error}") from error
            size, whole = path.stat().st_size, self.graph.serialized_length
            if size != whole:  # usearch ignores a last flush that fails
                raise OutputError(f"{path}: cannot be written: {size:,} of {whole:,} bytes are there")
        save_npy(folder / f"{name}.members.npy", self.members)
        save_npy(folder / f"{name}.starts.npy", self.starts)

    @classmethod
    def open(cls, folder: Path, name: str) -> Part:
        """Map its files."""
        from usearch.index import Index as Graph

        files = (folder / f"{name}.{of}.npy" for of in ("members", "starts"))
        members, starts = (np.asarray(np.load(file, mmap_mode="r")) for file in files)  # plain arrays: quicker to index
        graph = Graph.restore(folder / f"{name}.usearch", view=True) if len(members) else None
        if (0 if graph is None else len(graph)) != len(starts) - 1:
            raise ValueError(f"{name}.usearch does not have the groups of {name}.starts.npy")
        return cls(graph, members, starts)


def make_part(answers: ScoreSide, stages: Stages, *, threads: int) -> Part:
    """Return the graph of these answers; rows that are never an answer (``added`` is -inf) are not in it."""
    from usearch.index import Index as Graph

    members, starts = group_equal_rows(answers)
    if not len(members):
        return Part(None, members, starts)
    columns = answers.vectors.shape[1]
    plain = answers.scale is not None and (answers.added is None or not answers.added[members].any())
    length = 1.0 if plain else _longest(answers)
    graph = Graph(ndim=columns if plain else columns + 2, metric="ip", dtype="f16", connectivity=16, expansion_add=128)
    first = members[starts[:-1]]  # a row for each group
    for lo in range(0, len(first), ADDED):
        some = answers.part(first[lo : lo + ADDED])
        vectors = some.scale_vectors()
        keys = np.arange(lo, lo + len(vectors))
        graph.add(keys, vectors if plain else _longer(vectors, some.added, length), threads=threads)
        stages.advance()
    return Part(graph, members, starts)


def _longest(answers: ScoreSide) -> float:
    squares = 0.0
    for lo in range(0, len(answers.vectors), ADDED):
        some = answers.part(slice(lo, lo + ADDED))
        own = np.einsum("ij,ij->i", some.vectors, some.vectors, dtype=np.float64)
        own *= 1 if some.scale is None else some.scale.astype(np.float64) ** 2
        own += 0 if some.added is None else np.where(np.isfinite(some.added), some.added.astype(np.float64), 0) ** 2
        squares = max(squares, own.max(initial=0))
    return float(np.sqrt(squares))


def _longer(vectors: Floats, added: Floats | None, length: float) -> Floats:
    """Return vectors with two columns more, all of length 1."""
    extra = np.zeros(len(vectors), np.float32) if added is None else added
    rest = length**2 - np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64) - extra.astype(np.float64) ** 2
    columns = (vectors, extra[:, None], np.sqrt(np.maximum(rest, 0))[:, None])
    longer: Floats = (np.hstack(columns) / (length or 1)).astype(np.float32)
    return longer


def _longer_queries(queries: Floats, ndim: int) -> Floats:
    if queries.shape[1] == ndim:
        return np.ascontiguousarray(queries)
    ones, zeros = np.ones((len(queries), 1), np.float32), np.zeros((len(queries), 1), np.float32)
    longer = np.hstack([queries, ones, zeros]).astype(np.float64)
    unit: Floats = (longer / np.sqrt(np.einsum("ij,ij->i", longer, longer))[:, None]).astype(np.float32)
    return unit
