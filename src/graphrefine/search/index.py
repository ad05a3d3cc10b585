"""An index of near neighbours (usearch's HNSW), kept beside the embedding and mapped from disk.

A score ``query . (s_v y_v) + t_v`` is an inner product of longer vectors, all of one length M,

``(query, 1, 0) . (s_v y_v, t_v, sqrt(M^2 - |s_v y_v|^2 - t_v^2))``,

and among vectors of one length the largest inner product is the smallest distance, which is what such an index is good
at. It keeps bfloat16, and gives candidates; their scores are formed again from the vectors. How widely it
looks is settled when it is made, by exact search for some nodes.

::

    friends.cosine.index/
        meta.json         what this is, the stamp of the vectors, the recall that was measured
        all.usearch       or source.usearch and target.usearch of a bipartite graph
"""

from __future__ import annotations

import importlib.util
import json
import threading
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine import beside
from graphrefine.errors import MissingExtraError, OutputError
from graphrefine.files import replacing_folder
from graphrefine.kernels.nearest import LeftOut, Nearest, nearest
from graphrefine.progress import Stages, Watcher
from graphrefine.search.measures import Terms, Way

if TYPE_CHECKING:
    from graphrefine.embedding import Embedding

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]

INDEX_BEYOND = 1_000_000  # nodes from which on an index is made unasked
MARK = "graphrefine index"
VERSION = 1
RECALL = 0.98  # aimed at, when it is settled how widely to look
_WIDTHS = (64, 96, 128, 192, 256, 384, 512)  # candidates looked at: how widely
_SAMPLE = 300  # nodes that are searched exactly to find that out
_ADDED = 1 << 14  # rows added at a time
_FEW = 8  # questions for which threads are not worth starting
_MOST = 400  # candidates asked of the index at most; more is searched exactly


@dataclass
class Index:
    """The index of an embedding by one score."""

    parts: dict[str, Any]  # usearch's index for each way
    lengths: dict[str, float]  # M of each way
    recall: float
    width: int
    path: Path | None  # the folder beside the embedding; None: in memory
    made: bool  # now, or found
    threads: int
    problem: str = "the embedding is in no file"  # why it is not kept

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def can(self, k: int, left_out: list[Rows]) -> bool:
        """Whether it can answer: the more is asked for, the less it is worth."""
        return k + max(map(len, left_out), default=0) <= _MOST

    def nearest(self, way: Way, queries: Floats, k: int, left_out: list[Rows]) -> Nearest:
        """The k nearest of each query, with exact scores."""
        found = Nearest(np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), -np.inf, np.float32))
        count = min(max(k + max(map(len, left_out), default=0), self.width), len(way.answers.vectors))
        for at, rows in enumerate(self._candidates(way, queries, count)):
            _rescore(found, at, queries[at : at + 1], rows, way.answers, left_out[at])
        return found

    def _candidates(self, way: Way, queries: Floats, count: int) -> list[Rows]:
        index = self.parts[way.name]
        if not len(index) or not len(queries):
            return [np.empty(0, np.int64)] * len(queries)
        with self._lock:  # how widely it looks is a setting of the index, not of a question
            index.expansion_search = max(self.width, count)
            longer, threads = _longer_queries(queries, index.ndim), self.threads if len(queries) > _FEW else 1
            found = index.search(longer, min(count, len(index)), threads=threads)
        keys = np.atleast_2d(found.keys).astype(np.int64)
        counts = getattr(found, "counts", None)  # one question has no counts: all that was found
        return [np.sort(each if counts is None else each[: counts[at]]) for at, each in enumerate(keys)]


def open_index(
    embedding: Embedding, score: str, ways: tuple[Way, ...], *, threads: int, watcher: Watcher | None = None
) -> Index:
    """The index beside an embedding, made anew where there is none, or one of other vectors.

    An embedding that is in no file has its index in memory, as has one whose folder cannot be written.
    """
    if importlib.util.find_spec("usearch") is None:
        raise MissingExtraError("an index of neighbours", "usearch", "ann")
    folder = None if embedding.path is None else beside.companion(embedding.path, f"{score}.index")
    if folder is not None and (found := _opened(folder, embedding, score, threads=threads)) is not None:
        return found
    stages = Stages(watcher)
    index = _made(ways, threads, stages)
    if folder is None:
        return index
    try:
        _keep(index, folder, embedding, score)
    except OutputError as error:
        index.problem = str(error)
        return index
    return _opened(folder, embedding, score, threads=threads, made=True) or index


def _opened(folder: Path, embedding: Embedding, score: str, *, threads: int, made: bool = False) -> Index | None:
    from usearch.index import Index as Graph

    meta = beside.read_meta(folder, MARK)
    if meta is None or meta.get("version") != VERSION or meta.get("score") != score:
        return None
    if not beside.is_current(meta.get("of"), embedding) or meta.get("terms") != _terms(embedding, score):
        return None
    try:
        parts = {}
        for name, about in meta["parts"].items():
            if (folder / f"{name}.usearch").stat().st_size != about["size"]:
                return None
            parts[name] = Graph.restore(folder / f"{name}.usearch", view=True) if about["nodes"] else _Empty()
            if parts[name] is None:
                return None
        lengths = {name: float(about["length"]) for name, about in meta["parts"].items()}
        return Index(parts, lengths, float(meta["recall"]), int(meta["width"]), folder, made, threads)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RuntimeError):
        return None  # damaged: made anew


def _terms(embedding: Embedding, score: str) -> Any:
    """What a score depends on beside the vectors."""
    if score != "link" or embedding.sides.kind is not None or embedding.degrees is None:
        return None
    return [embedding.degree_weight, zlib.crc32(np.ascontiguousarray(embedding.degrees).data)]


def _keep(index: Index, folder: Path, embedding: Embedding, score: str) -> None:
    with replacing_folder(folder, replaceable=lambda path: beside.check_ours(path, MARK)) as hidden:
        parts = {}
        for name, part in index.parts.items():
            file = hidden / f"{name}.usearch"
            if len(part):
                part.save(str(file))
            else:
                file.touch()
            parts[name] = {"nodes": len(part), "length": index.lengths[name], "size": file.stat().st_size}
        meta = {
            "format": MARK,
            "version": VERSION,
            "score": score,
            "of": beside.stamp(embedding),
            "terms": _terms(embedding, score),
            "recall": index.recall,
            "width": index.width,
            "parts": parts,
        }
        (hidden / beside.META).write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")


def _made(ways: tuple[Way, ...], threads: int, stages: Stages) -> Index:
    blocks = sum(-(-len(way.answers.vectors) // _ADDED) for way in ways)
    parts, lengths = {}, {}
    with stages.stage("index", steps=blocks):
        for way in ways:
            parts[way.name], lengths[way.name] = _graph(way.answers, threads, stages)
    index = Index(parts, lengths, 1.0, _WIDTHS[0], None, made=True, threads=threads)
    with stages.stage("recall"):
        _settle(index, ways, threads)
    return index


def _graph(answers: Terms, threads: int, stages: Stages) -> tuple[Any, float]:
    from usearch.index import Index as Graph

    plain = answers.added is None or not (np.isfinite(answers.added) & (answers.added != 0)).any()
    length = _longest(answers)
    dim = answers.vectors.shape[1]
    unit = plain and answers.scale is not None
    graph = Graph(ndim=dim if unit else dim + 2, metric="ip", dtype="bf16", connectivity=16, expansion_add=64)
    for lo in range(0, len(answers.vectors), _ADDED):
        some = answers.part(slice(lo, lo + _ADDED))
        rows = np.arange(lo, lo + len(some.vectors))
        keep = np.ones(len(rows), bool) if some.added is None else np.isfinite(some.added)
        vectors = some.vectors if some.scale is None else some.vectors * some.scale[:, None]
        if not unit:
            vectors = _longer(vectors, some.added, length)
        if keep.any():
            graph.add(rows[keep], np.ascontiguousarray(vectors[keep]), threads=threads)
        stages.advance()
    return graph if len(graph) else _Empty(), length


class _Empty:
    """An index of nothing; usearch cannot keep one."""

    ndim = 0

    def __len__(self) -> int:
        return 0


def _longest(answers: Terms) -> float:
    squares = np.zeros(1)
    for lo in range(0, len(answers.vectors), _ADDED):
        some = answers.part(slice(lo, lo + _ADDED))
        own = np.einsum("ij,ij->i", some.vectors, some.vectors, dtype=np.float64)
        own *= 1 if some.scale is None else some.scale.astype(np.float64) ** 2
        own += 0 if some.added is None else np.where(np.isfinite(some.added), some.added.astype(np.float64), 0) ** 2
        squares = np.maximum(squares, own.max(initial=0))
    return float(np.sqrt(squares[0]))


def _longer(vectors: Floats, added: Floats | None, length: float) -> Floats:
    """Vectors with two columns more, all of one length, which is made 1."""
    extra = np.zeros(len(vectors), np.float32) if added is None else np.where(np.isfinite(added), added, 0)
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


def _rescore(found: Nearest, at: int, query: Floats, rows: Rows, answers: Terms, left_out: Rows) -> None:
    some = answers.part(rows[~np.isin(rows, left_out)] if len(left_out) else rows)
    rows = rows[~np.isin(rows, left_out)] if len(left_out) else rows
    best = nearest(query, some.vectors, found.rows.shape[1], scale=some.scale, added=some.added)
    found.rows[at] = np.where(best.rows[0] >= 0, rows[np.maximum(best.rows[0], 0)] if len(rows) else -1, -1)
    found.scores[at] = best.scores[0]


def _settle(index: Index, ways: tuple[Way, ...], threads: int) -> None:
    """Look as widely as it takes to find what exact search finds, for some nodes."""
    samples = [_sample(way, threads) for way in ways]
    wanted = sum(int((exact.rows >= 0).sum()) for _, _, exact in samples)
    for width in _WIDTHS:
        index.width = width
        hits = 0
        for way, (queries, own, exact) in zip(ways, samples, strict=True):
            found = index.nearest(way, queries, exact.rows.shape[1], own)
            least = exact.scores.min(axis=1, keepdims=True, initial=np.inf)
            hits += int(((found.scores >= least) & (found.rows >= 0)).sum())  # equally near is as good
        index.recall = min(hits / wanted, 1.0) if wanted else 1.0
        if index.recall >= RECALL:
            return


def _sample(way: Way, threads: int) -> tuple[Floats, list[Rows], Nearest]:
    """Some nodes as queries, what they must not find (themselves), and their ten nearest by exact search."""
    rng = np.random.default_rng(0)
    size = len(way.asking.vectors)
    rows = np.sort(rng.choice(size, min(_SAMPLE, size), replace=False))
    asked = way.asking.part(rows)
    queries = asked.vectors if asked.scale is None else asked.vectors * asked.scale[:, None]
    own = [np.array([row], np.int64) + way.first_asking - way.first_answer for row in rows]
    own = [each[(each >= 0) & (each < len(way.answers.vectors))] for each in own]
    k = min(10, max(len(way.answers.vectors) - 1, 1))
    terms = {"scale": way.answers.scale, "added": way.answers.added}
    return queries, own, nearest(queries, way.answers.vectors, k, **terms, left_out=LeftOut.of(own), threads=threads)
