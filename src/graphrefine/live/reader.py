"""The reading side of live vectors, the same for writer and readers: names, vectors, bounds, neighbors, snapshots."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from graphrefine import __version__
from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError, require
from graphrefine.graph.lookup import Side
from graphrefine.kernels import exact
from graphrefine.kernels.numerics import KEY, version_of
from graphrefine.live.change_log import Update
from graphrefine.live.checkpoint import Checkpoint
from graphrefine.live.model import LiveSettings
from graphrefine.live.store import Store
from graphrefine.live.vector_table import VectorTable
from graphrefine.refine.bipartite import DEGREE_POWER
from graphrefine.system.threads import usable_threads

STEP = 0.25  # distance of a unit vector from the one in the index, beyond which it is put in again
ADDED = 1 << 14  # rows added to the index at a time
SPARE = 4  # candidates for each answer
LEAST = 64  # candidates at least


class Neighbor(NamedTuple):
    """A node near another, and the cosine of their vectors."""

    name: Any
    score: float


class LiveIndex:
    """The index of a table of vectors: usearch's graph, which each search first brings up to date.

    Candidates of the graph are scored by the vectors of this moment, so that scores and their order are exact; what the
    graph does not find is missing, as with any index.
    """

    def __init__(self, table: VectorTable, *, threads: int = 1) -> None:
        require("usearch", "an index of neighbors", "ann")
        from usearch.index import Index

        self.table, self._threads = table, threads
        self._graph: Any = Index(ndim=table.dim, metric="ip", dtype="f16", connectivity=16, expansion_add=128)
        self._group = -1  # that the graph has followed

    def _follow(self) -> None:
        """Put in the rows that moved since the last search, and take out those without a vector."""
        table = self.table
        changed = np.flatnonzero(table.groups > self._group)
        for start in range(0, len(changed), ADDED):
            rows = changed[start : start + ADDED]
            vectors, has_vector = table.rows(rows), table.lengths[rows] > 0
            is_inside = self._graph.contains(rows)
            kept = np.zeros_like(vectors)
            if is_inside.any():
                kept[is_inside] = self._graph.get(rows[is_inside])
            # A vector that moved a little stays near where it is looked for; adding it costs a search of the graph.
            is_late = np.sqrt(exact.squares_of_rows(vectors - kept)) > STEP
            if (stale := is_inside & (is_late | ~has_vector)).any():
                self._graph.remove(rows[stale])
            if (fresh := has_vector & (is_late | ~is_inside)).any():
                self._graph.add(rows[fresh], vectors[fresh], threads=self._threads)
        self._group = int(table.groups.max(initial=0))

    def nearest(self, vector: NDArray[np.float32], k: int, *, exclude: int) -> list[tuple[int, float]]:
        """Return the rows of the highest cosine with a unit vector among the candidates, and that cosine."""
        self._follow()
        count = min(max(SPARE * k, LEAST), len(self._graph))
        if not count:
            return []
        self._graph.expansion_search = max(count, 2 * LEAST)
        rows = np.sort(self._graph.search(vector, count, threads=self._threads).keys.astype(np.int64))
        rows = rows[rows != exclude]
        scores = self.table.rows(rows) @ vector
        order = np.argsort(-scores, kind="stable")[:k]
        return list(zip(rows[order].tolist(), scores[order].tolist(), strict=True))


class LiveVectors:
    """Vectors of a folder, as one moment has them.

    In a bipartite graph, sources come before targets, and ``side`` says which node is meant by a name that is on both
    sides.

    Attributes
    ----------
    path : Path
        The folder.
    settings : LiveSettings
        Its settings.
    group : int
        Number of the last group of changes that the vectors follow.
    """

    settings: LiveSettings
    group: int
    _checkpoint: Checkpoint
    _table: VectorTable
    _index: LiveIndex | None = None

    def __init__(self, path: str | os.PathLike[str], *, write: bool, threads: int | None) -> None:
        self.path, self.threads = Path(path), usable_threads(threads)
        self._store = Store(path, write=write)
        try:
            self._open()
        except BaseException:
            self._store.close()
            raise

    def _open(self) -> None:
        """Load the newest moment."""
        raise NotImplementedError

    def _take(self, checkpoint: Checkpoint, table: VectorTable) -> None:
        self._checkpoint, self._table = checkpoint, table
        self.settings, self.group = checkpoint.settings, checkpoint.group

    @property
    def _vectors(self) -> VectorTable:
        return self._table

    @property
    def _radius(self) -> float:
        """Bound of the distance of any vector from where it should be, before it is made unit."""
        # h of docs/explanation/live-bounds.md: no vector is farther from the fixed point's than this.
        lag: float = self._checkpoint.contents["frozen"]["lag"]
        return lag / (self.settings.keep * (1 - self.settings.keep))

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Close the folder."""
        self._store.close()

    def __len__(self) -> int:
        return self._vectors.nodes

    def __contains__(self, name: object) -> bool:
        return bool(self._vectors.find_rows(name))

    def __getitem__(self, name: Any) -> NDArray[np.float32]:
        return self.vector(name)

    def vector(self, name: Any, *, side: Side | None = None) -> NDArray[np.float32]:
        """Return the unit vector of a node; zeros if it has no edges."""
        row: NDArray[np.float32] = self._vectors.rows(np.array([self._vectors.row(name, side)]))[0]
        return row

    @property
    def names(self) -> NDArray[Any]:
        """Names of all nodes."""
        return self._vectors.names(self._vectors.ordered())

    @property
    def sources(self) -> int | None:
        """Number of sources, which come first among `names`; None if the graph is not bipartite."""
        table = self._vectors
        return int(np.sum(~table.removed & ~table.is_target)) if table.has_sides else None

    @property
    def id(self) -> str:
        """Id of the folder, which is in every recipe."""
        return str(self._store.facts["id"])

    @property
    def dim(self) -> int:
        """Length of the vectors."""
        return self.settings.dim

    def bound(self, name: Any, *, side: Side | None = None) -> float | None:
        """Return a bound of the distance of a node's unit vector from that of a run with the same frozen parts.

        None where there is none: the vector is shorter than its error may be, as those of nodes that are linked to
        new nodes only can be until a refresh. A node without edges has a vector of zeros, and the bound 0.
        """
        length = self._vectors.lengths[[self._vectors.row(name, side)]]
        bound = float(chord_bounds(length, self._radius, self.settings.publish)[0])
        return bound if bound < 2 else None

    def bounds(self) -> NDArray[np.float64]:
        """Return the bounds of all nodes, in the order of `names`; 2 where there is none."""
        return chord_bounds(self._vectors.lengths[self._vectors.ordered()], self._radius, self.settings.publish)

    def neighbors(self, name: Any, k: int = 10, *, side: Side | None = None, index: bool = False) -> list[Neighbor]:
        """Return the k nodes with the most similar vectors, by an exact search; in a bipartite graph, of the same side.

        With ``index`` they are candidates of an index (extra ``ann``), which is made by the first such call, again
        after a refresh, and follows all changes: scores are those of this moment, and a node may be missing.
        """
        table = self._vectors
        row = table.row(name, side)
        vector = table.rows(np.array([row]))[0]
        if index:
            if table.has_sides:
                raise InputError("index=True: the index is for graphs that are not bipartite", argument="index")
            if self._index is None or self._index.table is not table:
                self._index = LiveIndex(table, threads=self.threads)
            return self._list(self._index.nearest(vector, k, exclude=row))
        exclude = np.append(np.flatnonzero(table.is_target != table.is_target[row]), row)  # the other side, and itself
        return self._list(table.nearest(vector, k, exclude=exclude, threads=self.threads))

    def recommend(self, name: Any, k: int = 10, *, exclude: Iterable[Any] = ()) -> list[Neighbor]:
        """Return the k targets of a bipartite graph that score highest for a source: the cosine times a popularity.

        A writer, which has the graph, leaves out targets that it is linked to; for a reader, pass them in ``exclude``.
        """
        table = self._vectors
        if not table.has_sides:
            raise InputError("the graph is not bipartite, so there are no targets to recommend; see neighbors()")
        row = table.row(name, "source")
        excluded = np.fromiter((table.row(each, "target") for each in exclude), np.int64)
        excluded = np.concatenate([np.flatnonzero(~table.is_target), self._linked_rows(row), excluded])
        vector, scale = table.rows(np.array([row]))[0], self._popularity()
        return self._list(table.nearest(vector, k, exclude=excluded, scale=scale, threads=self.threads))

    def _linked_rows(self, row: int) -> NDArray[np.int64]:
        """Return the rows of the neighbors of a node in the graph; a reader knows none."""
        return np.empty(0, np.int64)

    def _popularity(self) -> NDArray[np.float32]:
        """Return the factor of each row in a recommendation: a power of its degree over the mean of its side."""
        table, degrees = self._vectors, self._vectors.degrees
        chosen = table.is_target & (degrees > 0) & ~table.removed
        mean = float(degrees[chosen].mean()) if chosen.any() else 1.0
        factors = exact.power_where(chosen, np.where(chosen, degrees / mean, 1.0), DEGREE_POWER)
        return np.where(chosen, factors, 1.0).astype(np.float32)

    def _list(self, near: list[tuple[int, float]]) -> list[Neighbor]:
        names = self._vectors.names(np.array([row for row, _ in near], np.int64))
        return [Neighbor(name, score) for name, (_, score) in zip(names.tolist(), near, strict=True)]

    def snapshot(self, *, after: int | None = None, generation: int | None = None) -> Embedding:
        """Return an `Embedding` of this moment, a copy that changes no more.

        With ``after``, the number of a group, it has only the nodes whose vectors came or moved since; those of a newer
        checkpoint all have, and so do those of a refresh at that very group, unless ``generation`` (of the recipe) says
        that it had come. In a bipartite graph, vectors of targets are as long as their popularity says, so that
        `Embedding.recommend` ranks as `recommend` does.
        """
        table = self._vectors
        rows = table.ordered()
        if after is not None and self._has_moves(after, generation):
            rows = rows[table.groups[rows] > after]
        recipe = {"method": "live", **vars(self.settings), "folder": self.id, "group": self.group}
        recipe |= {"generation": self._checkpoint.generation, "version": __version__}
        recipe[KEY] = version_of(self._store.facts)  # numerics of the writer
        names, vectors = table.names(rows), table.rows(rows)
        if not table.has_sides:
            return Embedding(names, vectors, recipe)
        recipe |= {"sides": "rows", "sources": int(np.sum(~table.is_target[rows]))}
        vectors = vectors * self._popularity()[rows][:, None]
        return Embedding(names, vectors, recipe, degrees=table.degrees[rows].astype(np.float32))

    def _has_moves(self, after: int, generation: int | None) -> bool:
        """Return whether the table says which vectors moved after a group, one of that generation if it is known."""
        if generation is None and any(each["ended"] >= after for each in self.drift()):
            return False  # vectors of before the refresh may be meant
        return generation in (None, self._checkpoint.generation) and after >= self._checkpoint.group

    def drift(self) -> list[dict[str, Any]]:
        """Return the stats of all refreshes, the oldest first: time, groups, reason, drift of the vectors."""
        return self._store.refreshes()


class LiveReader(LiveVectors):
    """A folder that another process may be writing, at one moment; `update` goes on to the newest one.

    Examples
    --------
    >>> import graphrefine.live, tempfile
    >>> path = tempfile.mkdtemp() + "/ring.live"
    >>> ring = [(i, (i + 1) % 40) for i in range(40)]
    >>> graphrefine.live.create(ring, path, dim=4).close()
    >>> with graphrefine.live.open(path, read_only=True) as vectors:
    ...     len(vectors), vectors[7].shape, vectors.update()
    (40, (4,), 0)
    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int | None = None) -> None:
        self._generation, self.group = 0, -1
        super().__init__(path, write=False, threads=threads)

    def update(self) -> int:
        """Go on to the newest moment; return the number of groups that came since the last one."""
        before = self.group
        self._open()
        return self.group - before

    def _open(self) -> None:
        self._store.retry(self._follow)

    def _follow(self) -> None:
        # One transaction: between two queries the writer may go over to a checkpoint and empty the log.
        with self._store.transaction():
            group = self._store.group
            if self._store.generation != self._generation:
                checkpoint = Checkpoint(self._store)
                table = checkpoint.table()
                updates: Iterable[Update] = self._store.updates(after=checkpoint.group)
            else:
                checkpoint, table = self._checkpoint, self._table
                updates = list(self._store.updates(after=self.group))  # all are whole before the first is followed
            self._generation = 0  # an interruption leaves a table between two moments: all is read again then
            for update in updates:
                table.apply(update)
        self._take(checkpoint, table)
        self._generation, self.group = checkpoint.generation, group

    def __exit__(self, *_: object) -> None:
        self.close()


def chord_bounds(
    lengths: NDArray[np.float64], radius: float | NDArray[np.float64], publish: float
) -> NDArray[np.float64]:
    """Return bounds of the distance of two unit vectors: one of a vector of this length, the other within a radius.

    The radius is ``radius`` and the share ``publish`` of the length, by which a vector may have moved since it was
    published.

    Examples
    --------
    >>> chord_bounds(np.array([1.0, 0.05, -1.0]), 0.06, 0.02).round(4).tolist()
    [0.0801, 2.0, 0.0]
    """
    # Where the radius reaches the length nothing can be said: 2, as far apart as unit vectors can be. A length of -1 is
    # that of a node without edges, whose zeros are exact.
    share = np.divide(radius, lengths, out=np.full_like(lengths, np.inf), where=lengths > 0) + publish
    inside = np.minimum(share, 1.0)
    chords = np.where(share < 1, np.sqrt(2 - 2 * np.sqrt(1 - inside * inside)), 2.0)
    return np.where(lengths < 0, 0.0, chords)
