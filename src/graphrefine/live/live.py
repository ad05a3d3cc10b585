"""Live vectors of a folder, for its one writer: changes are collected, and committed in groups.

A group is all or nothing. It changes the kernel's graph, rows are made anew until all are within the tolerance, and the
group goes into the database with the vectors that moved; if any of it fails, the graph is as before. Groups that were
committed are made again when the folder is opened, with the same bits.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import quote_name
from graphrefine.live.bulletin import Bulletin, Moved, Post
from graphrefine.live.frozen import Frozen
from graphrefine.live.generation import Generation, Snapshot, save_generation, unit_vectors
from graphrefine.live.naming import NameRows, Operation
from graphrefine.live.refresh import Refresh, refresh_reason
from graphrefine.live.store import LoggedGroup, Mark, Store
from graphrefine.live.vectors import LiveVectors
from graphrefine.progress import Stages, Watcher

REPLAYS = 200_000  # changes in the log, after which closing the folder makes a new generation
SPARE = 200_000  # vectors that the bulletin may hold twice
LOOK = 1000  # changes between two looks whether a refresh is due


class Commit(NamedTuple):
    """Figures of a group of changes."""

    group: int  # its number
    changes: int
    skipped: int  # edges to remove that were not there
    new_nodes: int
    moved: int  # vectors that were published


class Live(LiveVectors):
    """A folder of live vectors, open for writing. Made by `graphrefine.live.open` and `graphrefine.live.create`.

    Used as a context manager it commits at the end of the block, or drops what was not committed if that fails.

    Examples
    --------
    >>> import graphrefine.live, tempfile
    >>> path = tempfile.mkdtemp() + "/ring.live"
    >>> with graphrefine.live.create([(i, (i + 1) % 40) for i in range(40)], path, dim=4) as ring:
    ...     ring.add(0, 20)
    ...     ring.remove(3, 4)
    >>> with graphrefine.live.open(path) as ring:
    ...     ring.graph().neighbors(0), len(ring), ring.bound(0) < 1
    ({1: 1.0, 20: 1.0, 39: 1.0}, 40, True)
    """

    def __init__(
        self, path: str | os.PathLike[str], *, threads: int | None = None, watcher: Watcher | None = None
    ) -> None:
        super().__init__(path, Store(path, write=True), threads=threads)
        self._stages = Stages(watcher)
        self._refresh: Refresh | None = None
        self.refresh_by_itself = True
        try:
            self._bulletin = Bulletin(self.path, write=True)
            self._open()
        except BaseException:
            self._store.close()
            raise

    def _open(self) -> None:
        """Take the generation, and make the groups after it again."""
        self._pending: list[Operation] = []
        self._stale = False
        with self._stages.stage("open"):
            generation = Generation(self._store.folder(self._store.generation))
            self._take(generation.snapshot())
            self._replayed = 0
            self.group = generation.group
            for number, group in self._store.groups(after=generation.group):
                self._make(group)
                self._follow(group, unit_moved(self._live, self._frozen), number)
                self._replayed += len(group.operations)
            moment = (self._store.generation, self.group)
            if self._bulletin.moment != moment:
                self._bulletin.rewrite(*moment, self._published)
            self._store.remove_old_generations()
        self._since_look = self._posted = 0

    def _take(self, snapshot: Snapshot) -> None:
        self._frozen, self._live, self._published = snapshot
        self.settings = self._frozen.settings
        self._radius, self._publish = self._frozen.radius, self._frozen.publish
        self._share = self._live.captured / max(self._live.energy, 1e-300)  # of M's energy, at the last refresh

    def _make(self, group: LoggedGroup) -> tuple[int, int]:
        self._live.add_nodes(len(group.names))
        place, problem = self._live.change(*group[:4], skip=group.skip)
        if not problem:
            self._live.settle()
        return place, problem

    def _follow(self, group: LoggedGroup, moved: Moved, number: int) -> Post:
        """The published vectors after a group, and the news of it."""
        self._live.commit()
        post = Post(len(self._published), group.names, group.removed().astype(np.int64), moved)
        post.give_to(self._published)
        self.group = number
        return post

    # ---- changes ------------------------------------------------------------------------------------------------------

    def add(self, source: Any, target: Any, weight: Any = 1.0) -> None:
        """Add an edge, or several (lists of ends); of an edge that is there, the weights add up."""
        self._collect("+", source, target, weight)

    def set(self, source: Any, target: Any, weight: Any) -> None:
        """Set the weight of an edge, or of several; one that is not there is made."""
        self._collect("=", source, target, weight)

    def remove(self, source: Any, target: Any) -> None:
        """Remove an edge, or several."""
        self._collect("-", source, target, 0.0)

    def add_nodes(self, names: Iterable[Any]) -> None:
        """Add nodes without edges; those that are there stay."""
        self._pending += [Operation("+", name, None, 0.0) for name in _several(names)]

    def remove_nodes(self, names: Iterable[Any]) -> None:
        """Remove nodes and their edges."""
        self._pending += [Operation("-", name, None, 0.0) for name in _several(names)]

    def _collect(self, sign: str, source: Any, target: Any, weight: Any) -> None:
        if not isinstance(source, list | tuple | np.ndarray):
            self._pending.append(Operation.checked(sign, source, target, weight))
            return
        sources, targets = _several(source), _several(target)
        weights = [weight] * len(sources) if np.ndim(weight) == 0 else list(weight)
        if not len(sources) == len(targets) == len(weights):
            raise InputError(
                f"there are {len(sources)} sources, {len(targets)} targets and {len(weights)} weights; give as many"
            )
        ends = zip(sources, targets, weights, strict=True)
        self._pending += [Operation.checked(sign, *each) for each in ends]

    def collect(self, operations: Iterable[Operation]) -> None:
        """Collect changes of any kind."""
        self._pending += operations

    def stream_position(self, stream: str) -> tuple[int, str]:
        """Records of a stream that count already, and a hash of them; (0, "") for one that is not known."""
        return self._store.stream_position(stream)

    def rollback(self) -> None:
        """Drop the changes that were not committed."""
        self._pending = []

    def commit(self, mark: Mark | None = None, *, skip_unknown: bool = False) -> Commit:
        """Make the collected changes count: when it returns, they and the vectors that moved are on the disk.

        Parameters
        ----------
        mark
            Where the changes come from.
        skip_unknown
            Pass over edges and nodes to remove that are not there, and count them.
        """
        operations, self._pending = self._pending, []
        if self._stale:
            self._open()
        if not operations and mark is None:
            return Commit(self.group, 0, 0, 0, 0)
        names = NameRows(self._published, len(self._published))
        group, skipped = names.group(operations, skip=skip_unknown)
        try:
            place, problem = self._make(group)
            if problem:
                raise _refusal(problem, operations, names, place)
            moved = unit_moved(self._live, self._frozen)
            self._stale = True  # until memory has what the disk may have
            number = self._store.log(group, mark or Mark())
        except BaseException:
            self._live.undo()
            with suppress(Exception):
                self._stale = self._stale and self._store.group != self.group
            raise
        self._announce(self._follow(group, moved, number))
        self._stale = False
        self._replayed += len(group.operations)
        self._consider(len(operations))
        return Commit(number, len(operations), skipped + place, len(group.names), len(moved.nodes))

    def _announce(self, post: Post) -> None:
        """Tell readers; once the bulletin holds many vectors twice, all of it anew."""
        self._posted += len(post.moved.nodes)
        if self._posted > 2 * len(self._published.moved_rows()) + SPARE:
            self._bulletin.rewrite(self._store.generation, self.group, self._published)
            self._posted = 0
        else:
            self._bulletin.post(self.group, post)

    # ---- refreshes ----------------------------------------------------------------------------------------------------

    def _consider(self, changes: int) -> None:
        """Begin a refresh if one is due, and go over to it if it is ready."""
        if self._refresh is not None:
            if self._refresh.is_ready():
                self._finish_refresh()
            return
        self._since_look += changes
        if not self.refresh_by_itself or self._since_look < LOOK:
            return
        self._since_look = 0
        reason = refresh_reason(self._live, self._frozen, share=self._share, bounds=self.bounds())
        if reason is not None:
            self._refresh = Refresh(self._live, self._frozen, self._published, group=self.group, reason=reason)

    def _finish_refresh(self) -> dict[str, Any]:
        refresh, self._refresh = self._refresh, None
        assert refresh is not None
        snapshot, figures = refresh.result(self._store.groups(after=refresh.group), self._published)
        self._save(snapshot, figures)
        return figures

    def _save(self, snapshot: Snapshot, refresh: dict[str, Any] | None = None) -> None:
        """Write a generation of this moment, and go over to it."""
        number = self._store.generation + 1
        folder = self._store.folder(number)
        save_generation(folder, snapshot, group=self.group, removed=self._published.removed())
        self._stale = True
        self._store.swap(number, through=self.group, refresh=refresh)
        self._open()

    def refresh(self, reason: str = "by request") -> dict[str, Any]:
        """Renew basis, axes and rotation now; figures of it, with the drift of the vectors."""
        if self._pending:
            raise InputError(f"{len(self._pending):,} changes are not committed; commit them or roll back first")
        if self._refresh is None:
            self._refresh = Refresh(
                self._live, self._frozen, self._published, group=self.group, reason=reason, threads=self.threads
            )
        self._refresh.wait()
        return self._finish_refresh()

    @property
    def refreshing(self) -> bool:
        """Whether a refresh is under way in the background."""
        return self._refresh is not None

    # ---- the whole ----------------------------------------------------------------------------------------------------

    def graph(self) -> Graph:
        """The graph as it is now."""
        indptr, indices, weights = self._live.rows()
        rows, removed = self._rows(), self._published.removed()
        if len(rows) < self._live.nodes:
            indptr, indices = np.append(indptr[rows], indptr[-1]), (np.cumsum(~removed, dtype=np.int32) - 1)[indices]
        plain = bool(np.all(weights == 1))
        return Graph(indptr, indices, None if plain else weights, self.names, source=str(self.path))

    def sharp_bounds(self, rounds: int = 30) -> NDArray[np.float64]:
        """Bounds of all nodes, in the order of `names`, by the lags of all nodes around each: sharper than `bounds`."""
        from graphrefine.live.vectors import chord_bounds

        radii = np.empty(self._live.nodes)
        self._live.bounds(radii, rounds=rounds)
        rows = self._rows()
        return chord_bounds(self._published.lengths[rows], radii[rows], self._publish)

    def figures(self) -> dict[str, Any]:
        """Counts of the moment, ready for JSON."""
        bounds = self.bounds()
        return {
            "nodes": len(self),
            "edges": int(self._live.entries) // 2,
            "group": self.group,
            "generation": self._store.generation,
            "tolerance": self.settings.tolerance,
            "within_tolerance": float(np.mean(bounds <= self.settings.tolerance)) if len(bounds) else 1.0,
            "without_bound": int(np.sum(bounds >= 2)),
            "captured_energy": self._live.captured / max(self._live.energy, 1e-300),
            "captured_at_refresh": self._share,
            "new_since_refresh": int(self._live.nodes - len(self._frozen.basis)),
            "refreshing": self.refreshing,
        }

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the folder as it is now, committed changes and all, to a new place."""
        from graphrefine.live.maintenance import back_up

        back_up(self._store, Path(path))

    def close(self) -> None:
        """Close the folder; changes that were not committed are dropped.

        A refresh that is under way is waited for. A long log becomes a new generation, so that the folder opens fast.
        """
        try:
            if self._refresh is not None and not self._stale:
                self._refresh.wait()
                self._finish_refresh()
            elif self._replayed > REPLAYS and not self._stale:
                self._save(Snapshot(self._frozen, self._live, self._published))
        finally:
            self._bulletin.close()
            self._store.close()

    def __enter__(self) -> Live:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()


def unit_moved(live: Any, frozen: Frozen) -> Moved:
    """The vectors that the group under way publishes."""
    nodes = live.published()
    lengths, vectors = unit_vectors(live, nodes, frozen)
    return Moved(nodes.astype(np.int64), lengths, vectors)


def _several(values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{values!r} is one thing; give a list of names")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _refusal(problem: int, operations: list[Operation], names: NameRows, place: int) -> InputError:
    """The error of a change that the graph cannot take."""
    at = names.places[place]
    sign, source, target, weight = operations[at]
    edge = f"{quote_name(source)} - {quote_name(target)}"
    if problem == 1:
        return UnknownNameError(
            f"change {at + 1} of {len(operations)}: there is no edge {edge} to remove; nothing of its group was "
            "changed. skip_unknown=True passes over such changes and counts them"
        )
    return InputError(
        f"change {at + 1} of {len(operations)}: the weight {weight} of {edge} ({sign}) makes a sum that is too large; "
        "nothing of its group was changed"
    )
