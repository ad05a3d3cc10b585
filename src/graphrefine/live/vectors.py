"""Reading side of live vectors, the same for the writer and readers: names, vectors, bounds, neighbors, snapshots."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine import __version__
from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import FormatError, InputError
from graphrefine.kernels import exact
from graphrefine.kernels.numerics import KEY
from graphrefine.live.bulletin import Bulletin, Post
from graphrefine.live.frozen import LiveSettings, error_radius
from graphrefine.live.generation import Generation
from graphrefine.live.index import LiveIndex
from graphrefine.live.published import Published
from graphrefine.live.sides import Side, SideNames
from graphrefine.live.store import Store
from graphrefine.refine.bipartite import DEGREE_POWER
from graphrefine.system.threads import usable_threads

TRIES = 100  # of opening a generation that a writer may be replacing


class Neighbor(NamedTuple):
    """A node near another, and the cosine of their vectors."""

    name: Any
    score: float


class LiveVectors:
    """Vectors of a folder, as one moment has them.

    Where the graph is bipartite, sources come before targets, and ``side`` says which node is meant by a name that
    stands on both sides.

    Attributes
    ----------
    path
        The folder.
    settings
        Its settings.
    group
        Number of the last group of changes that the vectors follow.
    """

    settings: LiveSettings
    group: int
    _table: Published
    _base_group: int  # the group that the generation was made after
    _radius: float  # bound of the distance of any vector from where it should be, before it is made unit
    _publish: float  # share of its length that a vector may have moved by since
    _index: LiveIndex | None = None
    _targets: tuple[Published, NDArray[np.bool_]] | None = None  # of a table: mask of rows on the target side

    def __init__(self, path: str | os.PathLike[str], store: Store, *, threads: int | None = None) -> None:
        self.path, self.threads = Path(path), usable_threads(threads)
        self._store = store
        kind = store.fact("sides")
        self._sides = None if kind is None else SideNames(integers=kind == "integers")

    @property
    def _published(self) -> Published:
        return self._table

    def __len__(self) -> int:
        return self._published.nodes

    def __contains__(self, name: object) -> bool:
        if self._sides is None:
            return name in self._published
        return any(key in self._published for key in self._sides.keys_of(name))

    def __getitem__(self, name: Any) -> NDArray[np.float32]:
        return self.vector(name)

    def vector(self, name: Any, *, side: Side | None = None) -> NDArray[np.float32]:
        """The unit vector of a node; zeros if it has no edges."""
        row: NDArray[np.float32] = self._published.rows(np.array([self._row(name, side)]))[0]
        return row

    def _row(self, name: Any, side: Side | None = None) -> int:
        if self._sides is None:
            return self._published.row(name)
        return self._sides.row(self._published, name, side)

    @property
    def names(self) -> NDArray[Any]:
        """Names of all nodes."""
        return self._names(self._rows())

    def _names(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        names = self._published.names_array(rows)
        return names if self._sides is None else self._sides.names(names)

    @property
    def sources(self) -> int | None:
        """Number of sources, which come first among `names`; None if the graph is not bipartite."""
        return None if self._sides is None else int(np.sum(~self._target_mask()[self._rows()]))

    def _target_mask(self) -> NDArray[np.bool_]:
        """Mask of the rows on the target side."""
        table = self._published
        mask = self._targets[1] if self._targets is not None and self._targets[0] is table else np.zeros(0, bool)
        if len(mask) < len(table):
            mask = np.concatenate([mask, SideNames.mask(table, len(mask))])
            self._targets = table, mask
        return mask

    @property
    def id(self) -> str:
        """Name of the folder that no other has, in every recipe."""
        return str(self._store.fact("id"))

    @property
    def dim(self) -> int:
        """Length of the vectors."""
        return self.settings.dim

    def _rows(self) -> NDArray[np.int64]:
        """Rows of the nodes that are there; sources before targets."""
        there = ~self._published.removed()
        if self._sides is None:
            return np.flatnonzero(there)
        targets = self._target_mask()
        return np.concatenate([np.flatnonzero(there & ~targets), np.flatnonzero(there & targets)])

    def bound(self, name: Any, *, side: Side | None = None) -> float | None:
        """Bound of the distance of a node's unit vector from that of a run from scratch with the same frozen parts.

        None where there is none: the vector is shorter than its error may be, as those of nodes that are linked to
        new nodes only can be until a refresh. A node without edges has a vector of zeros, and the bound 0.
        """
        bound = float(self._bounds(np.array([self._row(name, side)]))[0])
        return bound if bound < 2 else None

    def bounds(self) -> NDArray[np.float64]:
        """Bounds of all nodes, in the order of `names`; 2 where there is none."""
        return self._bounds(self._rows())

    def _bounds(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return chord_bounds(self._published.lengths[rows], self._radius, self._publish)

    def neighbors(self, name: Any, k: int = 10, *, side: Side | None = None, index: bool = False) -> list[Neighbor]:
        """The nodes with the most similar vectors, by an exact search; in a bipartite graph, of the same side.

        With ``index`` they are candidates of an index (extra ``ann``), which is made by the first such call, again
        after a refresh, and follows all changes: scores are those of this moment, and a node may be missing.
        """
        row = self._row(name, side)
        if index:
            if self._sides is not None:
                raise InputError("index=True: the index is for graphs that are not bipartite", argument="index")
            vector = self._published.rows(np.array([row]))[0]
            return self._list(self._obtain_index().nearest(vector, k, without=row))
        without = np.array([row])
        if self._sides is not None:
            targets = self._target_mask()
            without = np.append(np.flatnonzero(targets != targets[row]), row)
        vector = self._published.rows(np.array([row]))[0]
        return self._list(self._published.nearest(vector, k, without=without, threads=self.threads))

    def _obtain_index(self) -> LiveIndex:
        if self._index is None or self._index.published is not self._published:
            self._index = LiveIndex(self._published, threads=self.threads)
        return self._index

    def _give(self, post: Post, table: Published) -> None:
        """Bring a table to the moment of a post, and the index of it."""
        if self._index is not None and self._index.published is table:
            self._index.follow(post.moved.nodes, post.moved.vectors, removed=post.removed)
        post.give_to(table)

    def recommend(self, name: Any, k: int = 10, *, exclude: Iterable[Any] = ()) -> list[Neighbor]:
        """The targets of a bipartite graph that score highest for a source: the cosine, and a share for popularity.

        Targets that it is linked to are left out by a writer, which has the graph; for a reader, list them in
        ``exclude``.
        """
        if self._sides is None:
            raise InputError("the graph is not bipartite, so there are no targets to recommend; see neighbors()")
        row, targets = self._row(name, "source"), self._target_mask()
        names = (self._row(each, "target") for each in exclude)
        without = np.concatenate([np.flatnonzero(~targets), self._linked_rows(row), np.fromiter(names, np.int64)])
        vector, scale = self._published.rows(np.array([row]))[0], self._popularity()
        return self._list(self._published.nearest(vector, k, without=without, scale=scale, threads=self.threads))

    def _linked_rows(self, row: int) -> NDArray[np.int64]:
        """Rows of the neighbors of a node in the graph, where it is known."""
        return np.empty(0, np.int64)

    def _popularity(self) -> NDArray[np.float32]:
        """Factor of each row in a recommendation: a power of its degree over the mean of its side."""
        degrees = self._published.degrees
        chosen = self._target_mask() & (degrees > 0)
        mean = float(degrees[chosen].mean()) if chosen.any() else 1.0
        factors = exact.power_where(chosen, np.where(chosen, degrees / mean, 1.0), DEGREE_POWER)
        return np.where(chosen, factors, 1.0).astype(np.float32)

    def _list(self, near: list[tuple[int, float]]) -> list[Neighbor]:
        names = self._names(np.array([each for each, _ in near], np.int64))
        return [Neighbor(each, score) for each, (_, score) in zip(names.tolist(), near, strict=True)]

    def snapshot(self, *, after: int | None = None) -> Embedding:
        """An `Embedding` of this moment, a copy that changes no more.

        With ``after``, the number of a group, it has only the nodes whose vectors came or moved since; those of a newer
        generation all have. Of a bipartite graph, vectors of targets are as long as their popularity says, so that
        `Embedding.recommend` ranks as `recommend` does.
        """
        rows = self._rows()
        if after is not None and after >= self._base_group:
            rows = rows[self._published.groups[rows] > after]
        recipe = {
            "method": "live",
            **vars(self.settings),
            "folder": self.id,
            "group": self.group,
            "version": __version__,
            KEY: self._store.numerics_version,  # of the writer, not of this reader
        }
        if self._sides is None:
            return Embedding(self._names(rows), self._published.rows(rows), recipe)
        recipe |= {"sides": "rows", "sources": int(np.sum(~self._target_mask()[rows]))}
        vectors = self._published.rows(rows) * self._popularity()[rows][:, None]
        degrees = self._published.degrees[rows].astype(np.float32)
        return Embedding(self._names(rows), vectors, recipe, degrees=degrees)

    def group_at(self, moment: float) -> int:
        """The last group before a moment, in seconds since 1970."""
        return self._store.group_at(moment)

    def drift(self) -> list[dict[str, Any]]:
        """Figures of all refreshes, the oldest first: time, groups, reason, drift of the vectors."""
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
        super().__init__(path, Store(path, write=False), threads=threads)
        self._generation, self.group = -1, -1
        try:
            self._bulletin = Bulletin(self.path, write=False)
        except BaseException:
            self._store.close()
            raise
        try:
            self.update()
        except BaseException:
            self.close()
            raise

    def update(self) -> int:
        """Go on to the newest moment; the number of groups that came since the last one."""
        for _ in range(TRIES):
            try:
                return self._update()
            except FileNotFoundError:  # the writer has just gone over to a new generation
                continue
        raise FormatError(self.path, "its generation is missing; go back to a backup")

    def _update(self) -> int:
        news = self._bulletin.news(generation=self._generation, group=self.group)
        before = self.group
        if news.whole:
            generation = Generation(self._store.folder(news.generation))
            table = generation.published()
            self._generation = -1  # until all of it is here
        else:
            table = self._table
        for post in news.posts:
            self._give(post, table)
        if news.whole:
            self._table, self.settings, self._base_group = table, generation.settings, generation.group
            numbers = generation.manifest["frozen"]
            self._radius = error_radius(numbers["lag"], generation.settings.keep)
            self._publish = numbers["publish"]
        self._generation, self.group = news.generation, news.group
        return self.group - max(before, 0)

    def close(self) -> None:
        """Close the folder."""
        self._bulletin.close()
        self._store.close()

    def __enter__(self) -> LiveReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def chord_bounds(
    lengths: NDArray[np.float64], radius: float | NDArray[np.float64], publish: float
) -> NDArray[np.float64]:
    """Bounds of the distance of two unit vectors: one of a vector of this length, the other of one within a radius.

    The radius is ``radius`` and the share ``publish`` of the length, by which a vector may have moved since it was
    published. Nothing can be said where the radius reaches the length: 2. A length of -1 is that of a node without
    edges, whose zeros are exact.

    Examples
    --------
    >>> chord_bounds(np.array([1.0, 0.05, -1.0]), 0.06, 0.02).round(4).tolist()
    [0.0801, 2.0, 0.0]
    """
    share = np.divide(radius, lengths, out=np.full_like(lengths, np.inf), where=lengths > 0) + publish
    inside = np.minimum(share, 1.0)
    chords = np.where(share < 1, np.sqrt(2 - 2 * np.sqrt(1 - inside * inside)), 2.0)
    return np.where(lengths < 0, 0.0, chords)
