"""Live vectors: a graph that changes, and vectors that follow it within a bound.

>>> import graphrefine.live, tempfile
>>> path = tempfile.mkdtemp() + "/friends.live"
>>> with graphrefine.live.create([("ann", "bob"), ("bob", "cleo"), ("cleo", "ann")], path, dim=2) as friends:
...     friends.add("dan", "ann")
>>> with graphrefine.live.open(path, read_only=True) as friends:
...     "dan" in friends
True
"""

from __future__ import annotations

import os
from typing import Any, Literal, overload

from graphrefine.live.create import create_live
from graphrefine.live.frozen import LiveSettings
from graphrefine.live.live import Live
from graphrefine.live.vectors import LiveReader
from graphrefine.progress import Watcher
from graphrefine.readers.read import read

__all__ = ["create", "open"]


@overload
def open(path: str | os.PathLike[str], *, read_only: Literal[False] = False, threads: int | None = None) -> Live: ...
@overload
def open(path: str | os.PathLike[str], *, read_only: Literal[True], threads: int | None = None) -> LiveReader: ...
def open(path: str | os.PathLike[str], *, read_only: bool = False, threads: int | None = None) -> Live | LiveReader:
    """Open a folder of live vectors: for its one writer, or with ``read_only`` for one of any number of readers."""
    return LiveReader(path, threads=threads) if read_only else Live(path, threads=threads)


def create(
    graph: Any,
    path: str | os.PathLike[str],
    *,
    dim: int = 128,
    seed: int = 0,
    tolerance: float = 0.1,
    keep: float = 0.2,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Live:
    """Make a folder of live vectors from a graph, or from anything that `graphrefine.read` takes, and open it.

    Parameters
    ----------
    graph
        The graph to begin with, undirected.
    path
        The folder to make; it ends in ``.live``.
    dim
        Length of the vectors.
    seed
        Seed of the random sketch.
    tolerance
        Bound of the error of unit rows, for 99 % of them.
    keep
        Weight of a node's own row in the filter: the smaller, the farther vectors look, and the slower changes are.
    threads
        Largest number of threads of making it.
    watcher
        Told of the progress.
    """
    settings = LiveSettings(dim=dim, seed=seed, tolerance=tolerance, keep=keep)
    create_live(read(graph), path, settings, threads=threads, watcher=watcher)
    return open(path, threads=threads)
