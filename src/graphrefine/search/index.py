"""The index: graphs of near neighbours, kept beside the embedding and mapped from disk.

It gives candidates; their scores are formed again from the vectors, and are exact. How widely it looks is settled when
it is made, by exact search for some nodes.

::

    friends.cosine.index/
        meta.json            what this is, the stamp of the vectors, the recall that was measured
        all.usearch          usearch's graph; source and target of a bipartite graph
        all.members.npy      rows, those with the same vector beside each other
        all.starts.npy       where each of these groups begins
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

from graphrefine.errors import MissingExtraError, OutputError
from graphrefine.kernels.nearest import LeftOut, Nearest, nearest
from graphrefine.progress import Stages, Watcher
from graphrefine.search import usearch_graph as graphs
from graphrefine.search.scores import Terms, Way
from graphrefine.search.usearch_graph import Part
from graphrefine.system.files import replacing_folder
from graphrefine.vectors import companions as beside

if TYPE_CHECKING:
    from graphrefine.vectors.table import VectorTable

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
_Sample = tuple[Floats, list[Rows], Nearest]  # queries, what each must not find, what it must

INDEX_BEYOND = 1_000_000  # nodes from which on an index is made unasked
MARK = "graphrefine index"
VERSION = 1
RECALL = 0.975  # aimed at, when it is settled how widely to look
_WIDTHS = (32, 64, 96, 128, 192, 256, 384, 512)  # candidates looked at: how widely
_WORTH = 0.005  # recall for which it is not worth looking more widely
_SAMPLE = 1000  # nodes that are searched exactly to find that out
_FEW = 8  # questions for which threads are not worth starting
_MOST = 400  # candidates asked of the index at most; more is searched exactly


@dataclass
class Index:
    """The index of an embedding by one score."""

    parts: dict[str, Part]  # one for each way
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
        count, threads = k + max(map(len, left_out), default=0), self.threads if len(queries) > _FEW else 1
        with self._lock:  # how widely usearch looks is a setting of its graph, not of a question
            every = self.parts[way.name].candidates(queries, count, width=self.width, threads=threads)
        for at, rows in enumerate(every):
            _rescore(found, at, queries[at : at + 1], _without(rows, left_out[at]), way.answers)
        return found


def open_index(
    embedding: VectorTable, score: str, ways: tuple[Way, ...], *, threads: int, watcher: Watcher | None = None
) -> Index:
    """The index beside an embedding, made anew where there is none, or one of other vectors.

    An embedding that is in no file has its index in memory, as has one whose folder cannot be written.
    """
    if importlib.util.find_spec("usearch") is None:
        raise MissingExtraError("an index of neighbours", "usearch", "ann")
    folder = None if embedding.path is None else beside.companion(embedding.path, f"{score}.index")
    if folder is not None and (found := _opened(folder, embedding, score, threads=threads)) is not None:
        return found
    index = _made(ways, Stages(watcher), threads=threads)
    if folder is None:
        return index
    try:
        _keep(index, folder, embedding, score)
    except OutputError as error:
        index.problem = str(error)
        return index
    return _opened(folder, embedding, score, threads=threads, made=True) or index


def _opened(folder: Path, embedding: VectorTable, score: str, *, threads: int, made: bool = False) -> Index | None:
    meta = beside.read_meta(folder, MARK)
    if meta is None or meta.get("version") != VERSION or meta.get("score") != score:
        return None
    if not beside.is_current(meta.get("of"), embedding) or meta.get("terms") != _terms(embedding, score):
        return None
    try:
        if any((folder / name).stat().st_size != size for name, size in meta["files"].items()):
            return None
        parts = {name: Part.open(folder, name) for name in meta["parts"]}
        return Index(parts, float(meta["recall"]), int(meta["width"]), folder, made, threads)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RuntimeError):
        return None  # damaged: made anew


def _terms(embedding: VectorTable, score: str) -> Any:
    """What a score depends on beside the vectors."""
    if score != "link" or embedding.sides.kind is not None or embedding.degrees is None:
        return None
    return [embedding.degree_weight, zlib.crc32(np.ascontiguousarray(embedding.degrees).data)]


def _keep(index: Index, folder: Path, embedding: VectorTable, score: str) -> None:
    with replacing_folder(folder, replaceable=lambda path: beside.check_ours(path, MARK)) as hidden:
        for name, part in index.parts.items():
            part.save(hidden, name)
        meta = {
            "format": MARK,
            "version": VERSION,
            "score": score,
            "of": beside.stamp(embedding),
            "terms": _terms(embedding, score),
            "recall": index.recall,
            "width": index.width,
            "parts": list(index.parts),
            "files": {file.name: file.stat().st_size for file in sorted(hidden.iterdir())},
        }
        (hidden / beside.META).write_text(json.dumps(meta, indent=1) + "\n", encoding="utf-8")


def _made(ways: tuple[Way, ...], stages: Stages, *, threads: int) -> Index:
    with stages.stage("index", steps=sum(graphs.steps(way.answers) for way in ways)):
        parts = {way.name: graphs.make(way.answers, stages, threads=threads) for way in ways}
    index = Index(parts, 1.0, _WIDTHS[0], None, made=True, threads=threads)
    with stages.stage("recall"):
        _settle(index, ways)
    return index


def _without(rows: Rows, left_out: Rows) -> Rows:
    """All but some, of which there is mostly one: the node itself."""
    return rows[rows != left_out[0]] if len(left_out) == 1 else np.setdiff1d(rows, left_out, assume_unique=True)


def _rescore(found: Nearest, at: int, query: Floats, rows: Rows, answers: Terms) -> None:
    some = answers.part(rows)
    best = nearest(query, some.vectors, found.rows.shape[1], scale=some.scale, added=some.added)
    there = best.rows[0] >= 0
    found.rows[at][there] = rows[best.rows[0][there]]
    found.scores[at] = best.scores[0]


def _settle(index: Index, ways: tuple[Way, ...]) -> None:
    """Look as widely as it takes to find what exact search finds, for some nodes, or nearly all that ever is found."""
    samples = [_sample(way, index.threads) for way in ways]
    recalls = {width: _recall(index, width, list(zip(ways, samples, strict=True))) for width in _WIDTHS}
    enough = min(RECALL, max(recalls.values()) - _WORTH)
    index.width, index.recall = next((width, recall) for width, recall in recalls.items() if recall >= enough)


def _recall(index: Index, width: int, samples: list[tuple[Way, _Sample]]) -> float:
    index.width = width
    hits = wanted = 0
    for way, (queries, own, exact) in samples:
        found = index.nearest(way, queries, exact.rows.shape[1], own)
        least = exact.scores.min(axis=1, keepdims=True, initial=np.inf)
        hits += int(((found.scores >= least) & (found.rows >= 0)).sum())  # equally near is as good
        wanted += int((exact.rows >= 0).sum())
    return min(hits / wanted, 1.0) if wanted else 1.0


def _sample(way: Way, threads: int) -> _Sample:
    """Some nodes as queries, what they must not find (themselves), and their ten nearest by exact search."""
    size = len(way.asking.vectors)
    rows = np.sort(np.random.default_rng(0).choice(size, min(_SAMPLE, size), replace=False))
    asked = way.asking.part(rows)
    queries = asked.vectors if asked.scale is None else asked.vectors * asked.scale[:, None]
    own = [np.array([row], np.int64) + way.first_asking - way.first_answer for row in rows]
    own = [each[(each >= 0) & (each < len(way.answers.vectors))] for each in own]
    k = min(10, max(len(way.answers.vectors) - 1, 1))
    terms = {"scale": way.answers.scale, "added": way.answers.added}
    return queries, own, nearest(queries, way.answers.vectors, k, **terms, left_out=LeftOut.of(own), threads=threads)
