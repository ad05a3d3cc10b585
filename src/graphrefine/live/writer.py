"""Live vectors of a folder, for its one writer: changes are collected, and committed in groups.

A group is all or nothing. It changes the kernel's graph, rows are computed again until all are within the tolerance,
and the group goes into the database with the vectors that moved; if any of it fails, the graph is as before. Groups
that were committed are applied again when the folder is opened, with the same bits.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine import __version__
from graphrefine.errors import FormatError, InputError, UnknownNameError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import SIDES, Side, quote_name
from graphrefine.graph.node_ids import is_text, object_array
from graphrefine.kernels.numerics import numerics_entry
from graphrefine.live.change_log import (
    CHANGE,
    RANGE,
    REMOVE_NODE,
    SIGNS,
    Change,
    ChangeGroup,
    Origin,
    Update,
    check_change,
    parse_change,
    vector_dtype,
)
from graphrefine.live.checkpoint import Checkpoint, kernel_blocks, save_checkpoint
from graphrefine.live.model import (
    ComputedVectors,
    LiveSettings,
    Model,
    Refresh,
    captured_share,
    degrees,
    fit_model,
    refresh_reason,
    unit_vectors,
)
from graphrefine.live.reader import LiveVectors, chord_bounds
from graphrefine.live.store import ADVICE, Store, new_folder
from graphrefine.live.vector_table import VectorTable
from graphrefine.progress import Stages, Watcher
from graphrefine.system.threads import usable_threads

SUFFIX = ".live"
# Changes and vectors that moved in the log, after which closing the folder makes a new checkpoint: the next writer
# applies them again before it answers.
LOGGED = 200_000
# Changes between two looks whether a refresh is due, at least, and in shares of the nodes: a look computes the bounds
# of all nodes, which must stay cheap against the changes themselves.
LOOK, LOOK_SHARE = 1000, 0.01
_SKIP = "nothing of its group was changed. skip_unknown=True skips such changes and counts them"


def create_live(
    graph: Graph,
    path: str | os.PathLike[str],
    settings: LiveSettings,
    *,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> dict[str, float]:
    """Create a folder of live vectors from a graph; return the seconds of each stage. No folder is replaced."""
    target, stages = Path(path), Stages(watcher)
    if target.suffix != SUFFIX:
        raise InputError(f"{target} must end in {SUFFIX}", argument="path")
    has_integers = graph.names.dtype != object
    if not has_integers and not is_text(graph.names):
        raise InputError("names of live graphs are integers or strings, all of one kind; give them as text")
    sides = None if graph.sources is None else "integers" if has_integers else "strings"
    if graph.sources is not None:  # both sides as one set of nodes, by the keys of `VectorTable`
        keys = object_array([f"{'st'[row >= graph.sources]}{name}" for row, name in enumerate(graph.names.tolist())])
        graph = Graph(graph.indptr, graph.indices, graph.weights, keys, source=graph.source)
    with new_folder(target) as folder:
        model, kernel = fit_model(graph, settings, stages, threads=usable_threads(threads))
        with stages.stage("write"):
            first, vectors, rows = folder / "generation-000001", ComputedVectors(model, kernel), np.arange(graph.nodes)
            contents = save_checkpoint(first, model, kernel, vectors, names=graph.names, rows=rows)
            facts = {"graphrefine": __version__, "sides": sides, "settings": vars(settings), **numerics_entry()}
            Store.create(folder, facts, contents)
    return stages.seconds


class Commit(NamedTuple):
    """Stats of a group of changes."""

    group: int  # its number
    changes: int
    skipped: int  # edges to remove that did not exist
    new_nodes: int
    moved: int  # vectors that were published


class Receipt(NamedTuple):
    """Answer to a request for changes."""

    group: int  # that the request has made
    commit: Commit | None  # its stats; None if it was made before, and nothing was changed now


class NameResolution:
    """Rows of names while a group of changes is made: those that exist, and new ones."""

    def __init__(self, table: VectorTable) -> None:
        self._table = table
        self._rows: dict[Any, int | None] = {}  # of names that this group adds, or removes (None)
        self._new: list[Any] = []
        self._positions: list[int] = []  # of the changes by rows among those by names

    def _row(self, key: Any, *, add: bool) -> int:
        """Return the row of a key; where there is none, that of a new node, or UnknownNameError."""
        row = self._rows[key] if key in self._rows else self._table.row_of(key)
        if row is None and not add:
            shown = quote_name(self._table.name(key))
            raise UnknownNameError(f"no node is called {shown}, so there is nothing to remove; {_SKIP}")
        if row is None:
            row = self._rows[key] = len(self._table) + len(self._new)
            self._new.append(key)
        return row

    def resolve(self, changes: Sequence[Change], *, skip: bool) -> tuple[ChangeGroup, int]:
        """Return the changes by rows, and the number of those that were skipped as their nodes do not exist."""
        resolved = list[tuple[int, int, int, float]]()
        skipped = 0
        for position, change in enumerate(changes):
            try:
                kind, rows = self._resolve(change)
            except InputError as error:
                if skip and isinstance(error, UnknownNameError):
                    skipped += 1
                    continue
                raise type(error)(f"change {position + 1} of {len(changes)}: {error}") from None
            if kind is not None:
                resolved.append((kind, rows[0], rows[-1], change.weight))
                self._positions.append(position)
        return ChangeGroup(np.array(resolved, CHANGE), self._new, skip), skipped

    def _resolve(self, change: Change) -> tuple[int | None, list[int]]:
        """Return the kernel's operation (None: there is nothing more to do) and the rows of the ends."""
        if change.source is None and not self._table.has_sides:
            raise InputError("the source is empty; only a change of a bipartite graph has a target alone")
        ends = zip((change.source, change.target), SIDES, strict=True)
        keys = [self._table.key(name, side) for name, side in ends if name is not None]
        if len(keys) == 2 and keys[0] == keys[1]:  # also 1 and "1"
            raise InputError(f"the edge {_edge(change)} is a self-loop; live graphs have none")
        rows = [self._row(key, add=change.sign != "-") for key in keys]
        if len(keys) == 2:
            return SIGNS[change.sign], rows
        if change.sign == "+":
            return None, rows
        self._rows[keys[0]] = None
        return REMOVE_NODE, rows

    def refusal(self, problem: int, changes: Sequence[Change], index: int) -> InputError:
        """Return the error of a change of the group that the kernel's graph cannot take."""
        position = self._positions[index]
        change = changes[position]
        where, edge = f"change {position + 1} of {len(changes)}", _edge(change)
        if problem == 1:
            return UnknownNameError(f"{where}: there is no edge {edge} to remove; {_SKIP}")
        text = f"{where}: the weight {change.weight} of {edge}, or a sum with it, lies outside of {RANGE}"
        return InputError(f"{text}; nothing of its group was changed", argument="weight")


def _edge(change: Change) -> str:
    return f"{quote_name(change.source)} - {quote_name(change.target)}"


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
        self._stages = Stages(watcher)
        self._pending: list[Change] = []
        self._refresh: Refresh | None = None
        self.auto_refresh = True
        self.refresh_problem: str | None = None  # why the last refresh or checkpoint failed
        super().__init__(path, write=True, threads=threads)

    # ---- memory as the disk has it -----------------------------------------------------------------------------------

    def _open(self) -> None:
        """Load the checkpoint, and apply the groups after it again."""
        self._is_stale = True  # memory may be other than the disk
        with self._stages.stage("open"):
            self._store.remove_old_files()  # first, as they take room
            try:
                checkpoint = Checkpoint(self._store)
                self._model, self._kernel = checkpoint.load()
                self._take(checkpoint, checkpoint.table())
            except FileNotFoundError as error:  # only a writer removes any
                raise FormatError(self.path, f"{Path(error.filename).name} is missing; {ADVICE}") from None
            self._logged = self._since_look = 0
            for update in self._store.updates(after=self.group):
                update.group.apply(self._kernel)
                self._accept(update)
        self._is_stale = False

    def _catch_up(self) -> None:
        """Open the folder again, if something failed between memory and disk."""
        if self._is_stale:
            self._open()

    @property
    def _vectors(self) -> VectorTable:
        """The vectors as the disk has them; `_table` may be between two groups."""
        self._catch_up()
        return self._table

    def _make_update(self, number: int, group: ChangeGroup) -> Update:
        """Return the update of a group that the kernel has applied, and not committed yet."""
        rows = self._kernel.published()
        moved = np.zeros(len(rows), vector_dtype(self.dim))
        moved["row"], moved["degree"] = rows, degrees(self._kernel, rows)
        moved["length"], moved["vector"] = unit_vectors(self._model, self._kernel, rows)
        return Update(number, group, moved)

    def _accept(self, update: Update) -> None:
        """Take the next group into memory."""
        self._kernel.commit()
        self._table.apply(update)
        self.group = update.number
        self._logged += len(update.group.changes) + len(update.moved)

    # ---- changes -----------------------------------------------------------------------------------------------------

    def add(self, source: Any, target: Any, weight: Any = 1.0) -> None:
        """Add an edge, or several (lists of ends); of an edge that exists, the weights add up."""
        self._collect("+", source, target, weight)

    def set(self, source: Any, target: Any, weight: Any) -> None:
        """Set the weight of an edge, or of several; one that does not exist is added."""
        self._collect("=", source, target, weight)

    def remove(self, source: Any, target: Any) -> None:
        """Remove an edge, or several."""
        self._collect("-", source, target)

    def add_nodes(self, names: Iterable[Any], *, side: Side | None = None) -> None:
        """Add nodes without edges, those of a bipartite graph to a side; existing ones stay."""
        self._collect_nodes("+", names, side)

    def remove_nodes(self, names: Iterable[Any], *, side: Side | None = None) -> None:
        """Remove nodes and their edges, those of a bipartite graph from a side."""
        self._collect_nodes("-", names, side)

    def _collect_nodes(self, sign: str, names: Iterable[Any], side: Side | None) -> None:
        allowed = SIDES if self._table.has_sides else (None,)
        if side not in allowed:
            expected = " or ".join(map(repr, allowed))
            raise InputError(f"side={side!r}: pass {expected}, as the graph is or is not bipartite", argument="side")
        ends = [(None, name) if side == "target" else (name, None) for name in list_values(names)]
        self._pending += [check_change(sign, *each) for each in ends]

    def _collect(self, sign: str, source: Any, target: Any, weight: Any = None) -> None:
        are_lists = isinstance(source, list | tuple | np.ndarray)
        sources, targets = (list_values(each) if are_lists else [each] for each in (source, target))
        weights = [weight] * len(sources) if np.ndim(weight) == 0 else list(weight)
        if not len(sources) == len(targets) == len(weights):
            counts = f"{len(sources)} sources, {len(targets)} targets and {len(weights)} weights"
            raise InputError(f"there are {counts}; pass lists of one length")
        if None in (*sources, *targets):
            raise InputError("None is no name; add_nodes() and remove_nodes() take nodes without an edge")
        self._pending += [check_change(sign, *each) for each in zip(sources, targets, weights, strict=True)]

    def collect(self, changes: Sequence[Any]) -> None:
        """Collect changes that are lists of an operation, a source, a target and a weight, or checked already."""
        checked = list[Change]()
        for number, change in enumerate(changes, 1):
            try:
                checked.append(change if isinstance(change, Change) else parse_change(change))
            except InputError as error:
                raise InputError(f"change {number} of {len(changes)}: {error}") from None
        self._pending += checked

    def rollback(self) -> None:
        """Drop the changes that were not committed."""
        self._pending = []

    def stream_position(self, stream: str) -> tuple[int, str]:
        """Return the number of records of a stream that are applied, and a hash of them; (0, "") if it is unknown."""
        return self._store.stream_position(stream)

    def commit(self, origin: Origin | None = None, *, skip_unknown: bool = False) -> Commit:
        """Commit the collected changes: on return, they are on the disk.

        Parameters
        ----------
        origin : Origin, optional
            Where the changes come from.
        skip_unknown : bool
            Skip edges and nodes to remove that do not exist, and count them.

        Returns
        -------
        Commit
            Number of the group, and stats of it.
        """
        changes, self._pending = self._pending, []
        if not changes and origin is None:
            return Commit(self.group, 0, 0, 0, 0)
        self._catch_up()
        names = NameResolution(self._table)
        group, skipped = names.resolve(changes, skip=skip_unknown)
        # First the kernel, which may refuse the group or meet the end of the memory; then the disk, by which the group
        # counts; then the table. An interruption between two of them leaves memory stale until it is known whether the
        # disk has the group: then memory follows it, and else the kernel goes back, which needs no reading.
        try:
            self._is_stale = True
            position, problem = group.apply(self._kernel)  # without a problem, the number of skipped changes
            if problem:
                raise names.refusal(problem, changes, position)
            update = self._make_update(self.group + 1, group)
            self._store.append(update, origin or Origin(), changes=len(changes))
            self._accept(update)
            self._is_stale = False
        except BaseException:
            with suppress(Exception):  # if this fails, the next answer opens the folder
                self._kernel.undo()
                self._is_stale = self._store.group != self.group
            raise
        # The group counts by now: an error of what follows must not look as if it did not.
        if not self.finish_ready_refresh() and self._refresh is None:
            with self._warning():
                self._maintain(len(changes))
        return Commit(self.group, len(changes), skipped + position, len(group.names), len(update.moved))

    def submit(self, request: str, changes: Sequence[Any], *, skip_unknown: bool = False) -> Receipt:
        """Commit changes as one group, once for each ``request``: if it was made before, nothing is changed.

        Parameters
        ----------
        request : str
            Id of the request. The last 100,000 groups are remembered by theirs.
        changes : list
            See `collect`.
        skip_unknown : bool
            Skip edges and nodes to remove that do not exist, and count them.

        Returns
        -------
        Receipt
            Number of the group that the request has made, and stats of it if it is new.
        """
        if (group := self._store.request_group(request)) is not None:
            return Receipt(group, None)
        self.collect(changes)
        commit = self.commit(Origin(request=request), skip_unknown=skip_unknown)
        return Receipt(commit.group, commit)

    # ---- refreshes ---------------------------------------------------------------------------------------------------

    def _maintain(self, changes: int) -> None:
        """Begin a refresh, or shorten the log, if it is time."""
        # A checkpoint writes all rows, and by then at least twice as many were appended to the log: it costs less than
        # they did, and the log stays within three times the size of the vectors.
        if self._logged > LOGGED + 2 * len(self):
            self._logged = 0  # if it fails, the next try comes after as many changes again
            self._save(self._model, self._kernel, self._table)
        self._since_look += changes
        if not self.auto_refresh or self._since_look < max(LOOK, LOOK_SHARE * len(self)):
            return
        self._since_look = 0
        reason = refresh_reason(self._kernel, self._model, bounds=self.bounds())
        if reason is not None:
            self._begin_refresh(reason)

    def _begin_refresh(self, reason: str, *, threads: int = 1) -> None:
        table = self._vectors
        self._refresh = Refresh(self._model, self._kernel, table, group=self.group, reason=reason, threads=threads)

    def finish_ready_refresh(self) -> bool:
        """Go over to a refresh that is ready; return whether there was one. A failure is a warning."""
        if self._refresh is None or not self._refresh.fitted.done():
            return False
        with self._warning():
            self._finish_refresh()
        return True

    @contextmanager
    def _warning(self) -> Iterator[None]:
        """Warn of an error of what was not asked for, and is not needed: what was committed counts."""
        try:
            yield
        except Exception as error:
            self.refresh_problem = str(error) or type(error).__name__
            warnings.warn(f"{self.path}: a new generation could not be made: {error}", stacklevel=5)

    def _finish_refresh(self) -> dict[str, Any]:
        refresh, self._refresh = self._refresh, None
        assert refresh is not None
        model, kernel, vectors, stats = refresh.result(self._store.updates(after=refresh.group), self._vectors)
        self._save(model, kernel, vectors, stats)
        return stats

    def _save(
        self, model: Model, kernel: Any, vectors: VectorTable | ComputedVectors, refresh: dict[str, Any] | None = None
    ) -> None:
        """Write a checkpoint of this moment, which the next answer opens: removed rows drop, and others move up."""
        generation, rows = self._store.generation + 1, self._table.present()
        folder, names = self._store.folder(generation), self._table.keys(rows)
        # The arrays are on the disk before the transaction names them. Rows have other numbers from then on, so that
        # memory counts for nothing until the new checkpoint is opened, also where that is interrupted.
        contents = save_checkpoint(folder, model, kernel, vectors, names=names, rows=rows)
        self._is_stale = True
        self._store.switch(generation, contents, refresh=refresh)
        self.refresh_problem = None

    def refresh(self, reason: str = "by request") -> dict[str, Any]:
        """Fit basis, axes and rotation again now; return stats, with the drift of the vectors."""
        self._catch_up()
        if self._pending:
            raise InputError(f"{len(self._pending):,} changes are not committed; commit them or roll back first")
        if self._refresh is None:
            self._begin_refresh(reason, threads=self.threads)
        assert self._refresh is not None
        self._refresh.wait()
        return self._finish_refresh()

    @property
    def refreshing(self) -> bool:
        """Whether a refresh is under way in the background."""
        return self._refresh is not None

    # ---- the whole ---------------------------------------------------------------------------------------------------

    def graph(self) -> Graph:
        """Return the graph as it is now."""
        self._catch_up()
        indptr, indices, weights = self._kernel.rows()
        rows, nodes = self._table.ordered(), self._kernel.nodes
        if self._table.has_sides or len(rows) < nodes:
            from scipy.sparse import csr_array

            kept = csr_array((weights, indices, indptr), shape=(nodes, nodes))[rows][:, rows].sorted_indices()
            indptr, indices, weights = kept.indptr.astype(np.int64), kept.indices.astype(np.int32), kept.data
        plain = bool(np.all(weights == 1))
        graph = Graph(indptr, indices, None if plain else weights, self.names, source=str(self.path))
        return replace(graph, sources=self.sources) if self._table.has_sides else graph

    def _linked_rows(self, row: int) -> NDArray[np.int64]:
        linked: NDArray[np.int64] = self._kernel.neighbors(row)[0].astype(np.int64)
        return linked

    def sharp_bounds(self, rounds: int = 30) -> NDArray[np.float64]:
        """Return bounds of all nodes, in the order of `names`, from the lags of all nodes: sharper than `bounds`."""
        self._catch_up()
        radii = np.empty(self._kernel.nodes)
        self._kernel.bounds(radii, rounds=rounds)
        rows = self._table.ordered()
        return chord_bounds(self._table.lengths[rows], radii[rows], self.settings.publish)

    def stats(self) -> dict[str, Any]:
        """Return counts of the moment, ready for JSON."""
        bounds = self.bounds()
        return {
            "nodes": len(self),
            "edges": int(self._kernel.entries) // 2,
            "group": self.group,
            "generation": self._store.generation,
            "tolerance": self.settings.tolerance,
            "within_tolerance": float(np.mean(bounds <= self.settings.tolerance)) if len(bounds) else 1.0,
            "without_bound": int(np.sum(bounds >= 2)),
            "captured_energy": captured_share(self._kernel),
            "captured_at_refresh": self._model.share,
            "new_since_refresh": int(self._kernel.nodes - len(self._model.basis)),
            "refreshing": self.refreshing,
            "refresh_problem": self.refresh_problem,
        }

    def check(self, *, deep: bool = True) -> dict[str, Any]:
        """Return stats of a check that files are as they were written, the database is sound and lags are true.

        With ``deep`` every row of R is computed again, and every residual is compared with the lag that is kept of it.
        """
        stats = {**self.stats(), "database": self._store.find_damage()}
        self._checkpoint.check_files()
        for _ in self._store.updates(after=self._checkpoint.group):  # which have checksums
            pass
        stats["files"] = len(self._checkpoint.contents["files"])
        if not deep:
            return stats
        kernel, columns = self._kernel, self._model.basis.shape[1]
        kept, true = np.empty((2, kernel.nodes))
        kernel.lags(kept)
        fresh = self._model.make_kernel(*kernel.rows())
        fresh.make_targets()
        states = np.empty((kernel.nodes, columns), np.float32)
        for start, _, block, _ in kernel_blocks(kernel, columns):
            states[start : start + len(block)] = block
        fresh.put_states(states)
        fresh.measure()
        fresh.lags(true)
        is_beyond = true - 2 * self._model.rounding > kept * (1 + 1e-6)  # what is measured is rounded, too
        return {
            **stats,
            "largest_lag": float(kept.max(initial=0.0)),
            "largest_residual": float(true.max(initial=0.0)),
            "lag_tolerance": self._model.lag,
            "beyond_lag": int(is_beyond.sum()),
        }

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the folder as it is now, committed changes and all, to a new path."""
        self._store.backup(path)

    def close(self) -> None:
        """Close the folder; changes that were not committed are dropped.

        A refresh that is under way is waited for. A long log becomes a new checkpoint, so that the folder opens fast.
        """
        try:
            with self._warning():
                if self._refresh is not None and not self._is_stale:
                    self._refresh.wait()
                    self._finish_refresh()
                elif self._logged > LOGGED and not self._is_stale:
                    self._save(self._model, self._kernel, self._table)
        finally:
            self._store.close()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.close()


def list_values(values: Any) -> list[Any]:
    """Return several values as a list; InputError for a single one."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{values!r} is a single value; pass a list of names")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
