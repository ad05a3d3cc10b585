"""The index: graphs of near neighbors, kept next to the embedding and mapped from disk.

It gives candidates; their scores are formed again from the vectors, and are exact. The number of candidates
that usearch looks at, the width, is chosen when the index is made, by exact search for some nodes.

::

    friends.cosine.index/
        meta.json            the score, the stamp of the vectors, the recall that was measured, digests of all files
        all.usearch          usearch's graph; source and target of a bipartite graph
        all.members.npy      rows, those with the same vector next to each other
        all.starts.npy       where each of these groups begins

A score ``query . (s_v y_v) + t_v`` is an inner product of longer vectors, all of one length M,

``(query, 1, 0) . (s_v y_v, t_v, sqrt(M^2 - |s_v y_v|^2 - t_v^2))``,

and among vectors of one length the largest inner product is the smallest distance, which is what such a graph is good
at. It keeps numbers of 16 bits: half precision, as bfloat16 cannot tell a cosine of 0.996 from one of 0.999.

Nodes with the same vector are one in the graph: twenty leaves of a hub would be linked to nothing but each other, and
never be left, or reached. On web-google a third of the nodes have another's vector.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import OutputError, require
from graphrefine.kernels.nearest import ExcludedRows, NearestRows, nearest
from graphrefine.progress import Stages, Watcher
from graphrefine.search import companions
from graphrefine.search.close_pairs import group_equal_rows
from graphrefine.search.scores import ScoreSide, SearchDirection
from graphrefine.system.arrays import save_npy
from graphrefine.system.digest import digest_array

if TYPE_CHECKING:
    from graphrefine.search.vectors import VectorTable

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
_Sample = tuple[Floats, list[Rows], NearestRows]  # queries, rows excluded for each, exact answers

_log = logging.getLogger(__name__)
INDEX_BEYOND = 1_000_000  # nodes from which on an index is made by default
MARK = "graphrefine index"
VERSION = 2  # 1 had no digests: rebuilt
# The width is the smallest of `_WIDTHS` (candidates that usearch looks at) with this recall, or with the best one but
# for `_WORTH`: on some graphs no width reaches it, and a search takes time in proportion to the width.
RECALL = 0.975
_WIDTHS = (32, 64, 96, 128, 192, 256, 384, 512)
_WORTH = 0.005
_SAMPLE = 1000  # nodes that are searched exactly to measure the recall
_FEW = 8  # queries for which threads are not worth starting
_MOST = 400  # candidates taken from the index at most; more is searched exactly
# Rows added at a time: progress is reported, and a signal answered, between the blocks.
ADDED = 1 << 14
# Candidates for each row to return: numbers of 16 bits put nearly equal ones in another order, and the exact scores
# decide among the candidates alone.
SPARE = 4


@dataclass
class Index:
    """The index of an embedding by one score."""

    parts: dict[str, Part]  # one for each direction
    recall: float
    width: int
    path: Path | None  # the folder next to the embedding; None: in memory
    is_new: bool  # made now; False: it was in the folder
    threads: int
    problem: str = "the embedding is in no file"  # the reason why no folder holds it

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def can(self, k: int, excluded_rows: list[Rows], *, size: int) -> bool:
        """Return whether it can answer with k of ``size`` rows."""
        # Where most rows are asked for, those that no link of the graph leads to would be missing.
        return k + max(map(len, excluded_rows), default=0) <= min(_MOST, size // 2)

    def nearest(self, direction: SearchDirection, queries: Floats, k: int, excluded_rows: list[Rows]) -> NearestRows:
        """Return the k nearest of each query, with exact scores."""
        neighbors = NearestRows(
            np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf, np.float32)
        )
        count, threads = k + max(map(len, excluded_rows), default=0), self.threads if len(queries) > _FEW else 1
        with self._lock:  # the width is a setting of the graph, not of a query
            every = self.parts[direction.name].candidates(queries, count, width=self.width, threads=threads)
        for at, (rows, own) in enumerate(zip(every, excluded_rows, strict=True)):
            # Mostly one row is excluded: the node itself.
            found = rows[rows != own[0]] if len(own) == 1 else np.setdiff1d(rows, own, assume_unique=True)
            some = direction.answers.part(found)
            best = nearest(queries[at : at + 1], some.vectors, k, scale=some.scale, added=some.added)
            there = best.rows[0] >= 0
            neighbors.rows[at][there] = found[best.rows[0][there]]
            neighbors.scores[at] = best.scores[0]
        return neighbors


def open_index(
    embedding: VectorTable,
    score: str,
    directions: tuple[SearchDirection, ...],
    *,
    threads: int,
    watcher: Watcher | None = None,
) -> Index:
    """Return the index of an embedding, rebuilt if missing or of other vectors; in memory where it is in no file."""
    require("usearch", "an index of neighbors", "ann")
    folder = None if embedding.path is None else companions.companion(embedding.path, f"{score}.index")
    if folder is not None and (index := _stored_index(folder, embedding, score, threads=threads)) is not None:
        return index
    index = _make_index(directions, Stages(watcher), threads=threads)
    _log.info("made an index of %d nodes by %s, recall %.3f", len(embedding.names), score, index.recall)
    if folder is None:
        return index
    facts = {"score": score, "terms": _score_inputs(embedding, score), "recall": index.recall, "width": index.width}
    try:
        with companions.replacing_companion(
            folder, MARK, VERSION, embedding, **facts, parts=list(index.parts)
        ) as hidden:
            for name, part in index.parts.items():
                part.save(hidden, name)
    except OSError as error:
        index.problem = str(error) if isinstance(error, OutputError) else f"{folder}: {error.strerror or error}"
        return index
    return _stored_index(folder, embedding, score, threads=threads, is_new=True) or index


def _stored_index(
    folder: Path, embedding: VectorTable, score: str, *, threads: int, is_new: bool = False
) -> Index | None:
    meta = companions.find_meta(folder, MARK, VERSION, embedding)
    if meta is None or (meta.get("score"), meta.get("terms")) != (score, _score_inputs(embedding, score)):
        return None
    try:
        files = [f"{name}.{of}.npy" for name in meta["parts"] for of in ("members", "starts")]
        if not companions.is_whole(folder, meta, *files):
            _log.warning("%s: does not have the checksums that it was written with; rebuilt", folder)
            return None
        parts = {name: Part.open(folder, name) for name in meta["parts"]}
        return Index(parts, float(meta["recall"]), int(meta["width"]), folder, is_new, threads)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RuntimeError):
        return None  # damaged: rebuilt


def _score_inputs(embedding: VectorTable, score: str) -> Any:
    """Return the inputs of a score other than the vectors: the weight of degrees, and their digest."""
    if score != "link" or embedding.sides.kind is not None or embedding.degrees is None:
        return None
    return [embedding.degree_weight, digest_array(embedding.degrees, "<f4")]


def _make_index(directions: tuple[SearchDirection, ...], stages: Stages, *, threads: int) -> Index:
    steps = sum(-(-len(direction.answers.vectors) // ADDED) for direction in directions)
    with stages.stage("index", steps=steps):
        parts = {direction.name: make_part(direction.answers, stages, threads=threads) for direction in directions}
    index = Index(parts, 1.0, _WIDTHS[0], None, is_new=True, threads=threads)
    with stages.stage("recall"):
        samples = [(direction, _sample(direction, threads)) for direction in directions]
        recalls = {width: _recall(index, width, samples) for width in _WIDTHS}
        enough = min(RECALL, max(recalls.values()) - _WORTH)
        index.width, index.recall = next((width, recall) for width, recall in recalls.items() if recall >= enough)
    return index


def _recall(index: Index, width: int, samples: list[tuple[SearchDirection, _Sample]]) -> float:
    index.width = width
    hits = expected = 0
    for direction, (queries, own, exact) in samples:
        neighbors = index.nearest(direction, queries, exact.rows.shape[1], own)
        least = exact.scores.min(axis=1, keepdims=True, initial=np.inf)
        hits += int(((neighbors.scores >= least) & (neighbors.rows >= 0)).sum())  # equally near is as good
        expected += int((exact.rows >= 0).sum())
    return min(hits / expected, 1.0) if expected else 1.0


def _sample(direction: SearchDirection, threads: int) -> _Sample:
    """Return some nodes as queries, the rows excluded for each (its own), and their ten nearest by exact search."""
    size = len(direction.queries.vectors)
    rows = np.sort(np.random.default_rng(0).choice(size, min(_SAMPLE, size), replace=False))
    queries = direction.queries.part(rows).scale_vectors()
    own = [np.array([row], np.int64) + direction.first_query - direction.first_answer for row in rows]
    own = [each[(each >= 0) & (each < len(direction.answers.vectors))] for each in own]
    k = min(10, max(len(direction.answers.vectors) - 1, 1))
    excluded, answers = ExcludedRows.from_lists(own), direction.answers
    weights = {"scale": answers.scale, "added": answers.added}
    exact = nearest(queries, answers.vectors, k, **weights, excluded_rows=excluded, threads=threads)
    return queries, own, exact


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
