"""Embeddings made once for each graph and each setting, in this process: for the clones that a search makes.

`GridSearchCV` clones an estimator for every fold. All of them find here the vectors that the first one made: by the
content of a graph (not by the object, which may have changed since), or by path, size and time of a file, and by the
settings and the numerics. Where something has no such fingerprint, nothing is kept. The cache holds a gigabyte of
vectors, and always the newest ones; `clear_cache` empties it.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.formats import is_address
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import Names
from graphrefine.kernels.numerics import numerics_entry
from graphrefine.pipeline.embed import embed, warn_of_direction
from graphrefine.readers.options import split_reading
from graphrefine.readers.read import read
from graphrefine.sklearn.adjacency_input import edge_digits
from graphrefine.system.digest import hash_parts

MOST_BYTES = 1 << 30

Key = tuple[str, ...]


class EmbeddingCache:
    """Embeddings by key, the newest last; one is made at a time, as it uses all cores by itself.

    Examples
    --------
    >>> cache = EmbeddingCache(most_bytes=0)  # so that it keeps the newest one alone
    >>> first = cache.find_or_make(("a",), lambda: Embedding(["ann"], [[1.0]]))
    >>> cache.find_or_make(("a",), lambda: Embedding(["bob"], [[1.0]])) is first
    True
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[Key, Embedding] = OrderedDict()
        self.renew_locks()

    def renew_locks(self) -> None:
        """Forget who holds the locks: in a child process after a fork, no thread does."""
        self._lock, self._making = Lock(), Lock()

    def find_or_make(self, key: Key | None, make: Callable[[], Embedding]) -> Embedding:
        """The embedding of a key, made if it is not here; made in any case, and not kept, without a key."""
        if key is None:
            return make()
        embedding = self._find(key)
        if embedding is None:
            with self._making:
                embedding = self._find(key)  # another thread may have made it
                if embedding is None:
                    embedding = make()
                    self._keep(key, embedding)
        return embedding

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._kept.clear()

    def _find(self, key: Key) -> Embedding | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: Key, embedding: Embedding) -> None:
        embedding.vectors.flags.writeable = False  # several estimators share them
        with self._lock:
            self._kept[key] = embedding
            size = sum(each.vectors.nbytes for each in self._kept.values())
            while size > self.most_bytes and len(self._kept) > 1:
                size -= self._kept.popitem(last=False)[1].vectors.nbytes


CACHE = EmbeddingCache()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=CACHE.renew_locks)


def embed_once(source: Any, options: dict[str, Any]) -> Embedding:
    """The embedding of a graph by options of `graphrefine.embed`, made or from the cache."""
    reading, others = split_reading(options)
    keyed = {name: value for name, value in others.items() if name not in ("threads", "watcher") and value is not None}
    settings = _digits({**numerics_entry(), **keyed})
    if isinstance(source, str | os.PathLike):
        parts = (_file_digits(source), _digits(reading), settings)
        return CACHE.find_or_make(_key(*parts), lambda: embed(source, **reading, **others))
    if hasattr(source, "__next__"):
        raise InputError(
            f"graph= is a {type(source).__name__}, which can be read only once; give list(graph)", argument="graph"
        )
    graph = read(source, **reading, threads=others.get("threads"))
    if not isinstance(source, Graph):
        warn_of_direction(graph, stacklevel=5)
    return CACHE.find_or_make(_key(_graph_digits(graph), settings), lambda: embed(graph, **others))


def _key(*digits: str | None) -> Key | None:
    """The key of these parts; None where one of them has no digits."""
    known = tuple(each for each in digits if each is not None)
    return known if len(known) == len(digits) else None


def _graph_digits(graph: Graph) -> str:
    """Digits of all that a graph's vectors depend on."""
    kind = f"{edge_digits(graph)} {graph.directed} {graph.sources}"
    return hash_parts(kind.encode(), _name_bytes(graph.names))


def _name_bytes(names: Names) -> bytes:
    """Names as bytes, 7 and "7" apart."""
    return names.tobytes() if names.dtype != object else repr(names.tolist()).encode("utf-8", "backslashreplace")


def _file_digits(path: str | os.PathLike[str]) -> str | None:
    """Path, sizes and times of a file, or of all files of a folder; None for what cannot be looked at."""
    if is_address(path):
        return None
    place = Path(os.fspath(path).partition("?query=")[0]).absolute()
    try:
        files = sorted(each for each in place.rglob("*") if each.is_file()) if place.is_dir() else [place]
        stamps = [(str(each), each.stat().st_size, each.stat().st_mtime_ns) for each in files]
    except OSError:
        return None
    return repr((os.fspath(path), stamps))


def _digits(values: Any) -> str | None:
    """Text that differs for different settings; None where a value is neither plain nor an array nor an embedding."""
    if isinstance(values, dict):
        listed = [_digits([name, values[name]]) for name in sorted(values) if values[name] is not None]
    elif isinstance(values, list | tuple):
        listed = [_digits(each) for each in values]
    elif isinstance(values, Embedding):
        return hash_parts(values.vectors, _name_bytes(values.names))
    elif isinstance(values, np.ndarray) and values.dtype.kind in "biufU":
        return f"{values.dtype} {values.shape} {hash_parts(values)}"
    elif isinstance(values, str | int | float | np.generic | os.PathLike | None):
        return f"{type(values).__name__} {values!r}"
    else:
        return None
    return None if None in listed else f"[{', '.join(map(str, listed))}]"
