"""The index: graphs of near neighbors, kept next to the embedding and mapped from disk.

It gives candidates; their scores are formed again from the vectors, and are exact. The number of candidates
that usearch looks at, the width, is chosen when the index is made, by exact search for some nodes.

::

    friends.cosine.index/
        meta.json            the score, the stamp of the vectors, the recall that was measured, digests of all files
        all.usearch          usearch's graph; source and target of a bipartite graph
        all.members.npy      rows, those with the same vector next to each other
        all.starts.npy       where each of these groups begins
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
from graphrefine.search import companions, usearch_graph
from graphrefine.search.scores import SearchDirection
from graphrefine.search.usearch_graph import Part
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
    steps = sum(-(-len(direction.answers.vectors) // usearch_graph.ADDED) for direction in directions)
    with stages.stage("index", steps=steps):
        parts = {
            direction.name: usearch_graph.make_part(direction.answers, stages, threads=threads)
            for direction in directions
        }
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
