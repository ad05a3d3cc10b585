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

from graphrefine.live.model import LiveSettings
from graphrefine.live.reader import LiveReader
from graphrefine.live.writer import Live, create_live
from graphrefine.progress import Watcher
from graphrefine.readers.read import read

__all__ = ["create", "open"]


@overload
def open(path: str | os.PathLike[str], *, read_only: Literal[False] = False, threads: int | None = None) -> Live: ...
@overload
def open(path: str | os.PathLike[str], *, read_only: Literal[True], threads: int | None = None) -> LiveReader: ...
def open(path: str | os.PathLike[str], *, read_only: bool = False, threads: int | None = None) -> Live | LiveReader:
    """Open a folder of live vectors: for its one writer, or with ``read_only`` for one of any number of readers.

    Parameters
    ----------
    path : path
        The folder.
    read_only : bool
        Whether to open it for reading; a writer may be at work.
    threads : int, optional
        Largest number of threads of a search.

    Returns
    -------
    Live or LiveReader
        The folder, open.
    """
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
    """Create a folder of live vectors from a graph, or from anything that `graphrefine.read` takes, and open it.

    Parameters
    ----------
    graph : Graph or anything that `graphrefine.read` takes
        The graph to begin with, undirected.
    path : path
        The folder to create; it ends in ``.live``.
    dim : int
        Length of the vectors.
    seed : int
        Seed of the random sketch.
    tolerance : float
        Bound of the error of unit rows, for 99 % of them.
    keep : float
        Weight of a node's own row in the filter: the smaller, the farther vectors look, and the slower changes are.
    threads : int, optional
        Largest number of threads of making it.
    watcher : Watcher, optional
        Called with the progress.

    Returns
    -------
    Live
        The folder, open for writing.
    """
    settings = LiveSettings(dim=dim, seed=seed, tolerance=tolerance, keep=keep)
    create_live(read(graph), path, settings, threads=threads, watcher=watcher)
    return open(path, threads=threads)
