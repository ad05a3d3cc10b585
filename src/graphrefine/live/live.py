"""Live vectors of a folder, for its one writer: changes are collected, and committed in groups.

A group is all or nothing. It changes the kernel's graph, rows are made anew until all are within the tolerance, and the
group goes into the database with the vectors that moved; if any of it fails, the graph is as before. Groups that were
committed are made again when the folder is opened, with the same bits.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.graph.graph import Graph
from graphrefine.live.backup import back_up
from graphrefine.live.bulletin import Bulletin, Moved, Post
from graphrefine.live.frozen import captured_share
from graphrefine.live.generation import Generation, Snapshot, save_generation, unit_moved
from graphrefine.live.logged import LoggedGroup, Mark
from graphrefine.live.naming import NameRows
from graphrefine.live.pending import PendingChanges
from graphrefine.live.published import Published
from graphrefine.live.refresh import Refresh, refresh_reason
from graphrefine.live.store import Store
from graphrefine.live.vectors import LiveVectors, chord_bounds
from graphrefine.progress import Stages, Watcher

REPLAYS = 200_000  # changes in the log, after which closing the folder makes a new generation
SPARE = 200_000  # vectors that the bulletin may hold twice
LOOK = 1000  # changes between two looks whether a refresh is due, at least,
LOOK_SHARE = 0.01  # and in shares of the nodes


class Commit(NamedTuple):
    """Figures of a group of changes."""

    group: int  # its number
    changes: int
    skipped: int  # edges to remove that were not there
    new_nodes: int
    moved: int  # vectors that were published


class Live(PendingChanges, LiveVectors):
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
        self._pending = []
        self._refresh: Refresh | None = None
        self.refresh_by_itself = True
        self.refresh_problem: str | None = None  # why the last refresh by itself did not come about
        self._stale = True  # memory may be other than the disk
        self._announced = -1  # the last group that the bulletin has
        self._posted = 0  # vectors in the bulletin since all of it was written
        with ExitStack() as opened:
            opened.callback(self._store.close)
            self._bulletin = Bulletin(self.path, write=True)
            opened.callback(self._bulletin.close)
            self._open()
            opened.pop_all()

    def _open(self) -> None:
        """Take the generation, and make the groups after it again."""
        with self._stages.stage("open"):
            self._store.remove_old_generations(but=self._bulletin.moment[0])  # first, as they take room
            self._take(self._generation())
            self._replayed = 0
            for number, group in self._store.groups(after=self.group):
                group.make(self._live)
                self._follow(group, unit_moved(self._live, self._frozen), number)
                self._replayed += len(group.operations)
            self._announce_all()
            self._store.remove_old_generations()
        self._since_look = 0
        self._stale = False

    def _generation(self) -> Generation:
        folder = self._store.folder(self._store.generation)
        try:
            return Generation(folder)
        except FileNotFoundError as error:
            raise FormatError(folder, f"{Path(error.filename).name} is missing; go back to a backup") from None

    def _catch_up(self) -> None:
        """Memory as the disk has it, after something went wrong in between."""
        if self._stale:
            self._open()

    @property
    def _published(self) -> Published:
        """The vectors as the disk has them; while a group is made, `_table` has what is under way."""
        self._catch_up()
        return self._table

    def _take(self, generation: Generation) -> None:
        self._frozen, self._live, self._table = generation.snapshot()
        self.group = self._base_group = generation.group
        self.settings = self._frozen.settings
        self._radius, self._publish = self._frozen.radius, self._frozen.publish

    def _follow(self, group: LoggedGroup, moved: Moved, number: int) -> Post:
        """The published vectors after a group, and the news of it."""
        self._live.commit()
        fresh = moved._replace(groups=number)
        post = Post(len(self._table), group.names, group.removed().astype(np.int64), fresh)
        self._give(post, self._table)
        self.group = number
        return post

    # ---- changes -----------------------------------------------------------------------------------------------------

    def stream_position(self, stream: str) -> tuple[int, str]:
        """Records of a stream that count already, and a hash of them; (0, "") for one that is not known."""
        return self._store.stream_position(stream)

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
        self._catch_up()
        if not operations and mark is None:
            return Commit(self.group, 0, 0, 0, 0)
        names = NameRows(self._table, len(self._table))
        group, skipped = names.group(operations, skip=skip_unknown)
        try:
            self._stale = True  # until memory has what the disk may have
            place, problem = group.make(self._live)
            if problem:
                raise names.refusal(problem, operations, place)
            moved = unit_moved(self._live, self._frozen)
            post = self._follow(group, moved, self._store.log(group, mark or Mark()))
            self._stale = False
        except BaseException:
            self._go_back()
            raise
        self._replayed += len(group.operations)
        self._announce(post)
        self._consider(len(operations))
        return Commit(self.group, len(operations), skipped + place, len(group.names), len(moved.nodes))

    def _go_back(self) -> None:
        """After a group that failed: memory as the disk has it, now or, if that fails, when it is needed."""
        with suppress(Exception):
            self._live.undo()
            if self._store.group == self.group:
                self._stale = False
            self._catch_up()

    def _announce(self, post: Post) -> None:
        """Tell readers; once the bulletin holds many vectors twice, all of it anew.

        The group counts already, so a bulletin that cannot be written is a warning, and the next group tries again.
        """
        self._posted += len(post.moved.nodes)
        try:
            if self._announced != self.group - 1 or self._posted > 2 * self._table.moved + SPARE:
                self._announce_all()
            else:
                self._bulletin.post(self.group, post)
                self._announced = self.group
        except OutputError as error:
            warnings.warn(str(error), stacklevel=3)

    def _announce_all(self) -> None:
        self._bulletin.rewrite(self._store.generation, self.group, self._table)
        self._announced, self._posted = self.group, 0

    # ---- refreshes ---------------------------------------------------------------------------------------------------

    def _consider(self, changes: int) -> None:
        """Begin a refresh if one is due, and go over to it if it is ready; a failure is a warning."""
        if self._refresh is not None:
            if self._refresh.is_ready():
                with self._warning():
                    self._finish_refresh()
            return
        self._since_look += changes
        if not self.refresh_by_itself or self._since_look < max(LOOK, LOOK_SHARE * len(self)):
            return
        self._since_look = 0
        reason = refresh_reason(self._live, self._frozen, bounds=self.bounds(), logged=self._replayed)
        if reason is not None:
            self._refresh = Refresh(self._live, self._frozen, self._published, group=self.group, reason=reason)

    @contextmanager
    def _warning(self) -> Iterator[None]:
        """A warning in place of an error of what was not asked for, and is not needed: what was committed counts."""
        self.refresh_problem = None
        try:
            yield
        except Exception as error:
            self.refresh_problem = str(error)
            warnings.warn(f"{self.path}: a new generation could not be made: {error}", stacklevel=5)

    def _finish_refresh(self) -> dict[str, Any]:
        refresh, self._refresh = self._refresh, None
        assert refresh is not None
        snapshot, figures = refresh.result(self._store.groups(after=refresh.group), self._table)
        self._save(snapshot, figures)
        del refresh, snapshot  # what is opened takes as much memory
        try:
            self._open()
        except OSError:  # the new generation counts whatever the disk says now
            self._open()
        return figures

    def _save(self, snapshot: Snapshot, refresh: dict[str, Any] | None = None) -> None:
        """Write a generation of this moment, which is then to be opened."""
        number = self._store.generation + 1
        folder = self._store.folder(number)
        save_generation(folder, snapshot, group=self.group, removed=self._table.removed())
        self._stale = True  # until it is read again
        self._store.swap(number, through=self.group, refresh=refresh)

    def refresh(self, reason: str = "by request") -> dict[str, Any]:
        """Renew basis, axes and rotation now; figures of it, with the drift of the vectors."""
        self._catch_up()
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

    # ---- the whole ---------------------------------------------------------------------------------------------------

    def graph(self) -> Graph:
        """The graph as it is now."""
        self._catch_up()
        indptr, indices, weights = self._live.rows()
        rows, nodes = self._rows(), self._live.nodes
        if self._sides is not None or len(rows) < nodes:
            from scipy.sparse import csr_array

            kept = csr_array((weights, indices, indptr), shape=(nodes, nodes))[rows][:, rows].sorted_indices()
            indptr, indices, weights = kept.indptr.astype(np.int64), kept.indices.astype(np.int32), kept.data
        plain = bool(np.all(weights == 1))
        graph = Graph(indptr, indices, None if plain else weights, self.names, source=str(self.path))
        return graph if self._sides is None else replace(graph, sources=self.sources)

    def _linked_rows(self, row: int) -> NDArray[np.int64]:
        linked: NDArray[np.int64] = self._live.neighbors(row)[0].astype(np.int64)
        return linked

    def sharp_bounds(self, rounds: int = 30) -> NDArray[np.float64]:
        """Bounds of all nodes, in the order of `names`, by the lags of all nodes around each: sharper than `bounds`."""
        self._catch_up()
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
            "captured_energy": captured_share(self._live),
            "captured_at_refresh": self._frozen.share,
            "new_since_refresh": int(self._live.nodes - len(self._frozen.basis)),
            "refreshing": self.refreshing,
            "refresh_problem": self.refresh_problem,
        }

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the folder as it is now, committed changes and all, to a new place."""
        self._catch_up()
        back_up(self._store, Path(path))

    def close(self) -> None:
        """Close the folder; changes that were not committed are dropped.

        A refresh that is under way is waited for. A long log becomes a new generation, so that the folder opens fast.
        """
        try:
            with self._warning():
                if self._refresh is not None and not self._stale:
                    self._refresh.wait()
                    self._finish_refresh()
                elif self._replayed > REPLAYS and not self._stale:
                    self._save(Snapshot(self._frozen, self._live, self._table))
                    self._open()  # readers go over to it, and what was removed goes
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
