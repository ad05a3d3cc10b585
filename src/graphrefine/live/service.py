"""Live vectors as a server has them: requests that count once, and answers of this moment, ready for JSON.

It is the folder's one writer, and used by one thread at a time.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.live.change_log import Origin, Update
from graphrefine.live.changes import check_changes
from graphrefine.live.name_resolution import Change, Side
from graphrefine.live.writer import Commit, Live
from graphrefine.refine.refine import spread_rows

REMOVED = 200_000  # names that are remembered
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}  # of the bounds
MINUTE = 60  # seconds of the mean rate
STRETCH, STRETCHES = 5, 60  # seconds of each point of the rate's line, and points
REFRESHES = 100  # the last ones that are listed
DIGITS = 5  # of a coordinate

Rows = NDArray[np.int64]


class Receipt(NamedTuple):
    """Answer to a request for changes."""

    group: int  # that the request has made
    commit: Commit | None  # its stats, if it was made now
    repeated: bool = False  # whether it was made before, and nothing was changed now


class LiveService(Live):
    """A folder of live vectors, open for writing, with what its watchers ask for.

    Examples
    --------
    >>> import graphrefine.live, tempfile
    >>> path = tempfile.mkdtemp() + "/ring.live"
    >>> graphrefine.live.create([(i, (i + 1) % 40) for i in range(40)], path, dim=4).close()
    >>> with LiveService(path) as ring:
    ...     receipts = [ring.submit("one", [["+", 0, 20, 2]]) for _ in range(2)]
    ...     receipts[0].commit.changes, receipts[1].commit, receipts[1].group, ring.degree(0)
    (1, None, 1, 3)
    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int | None = None) -> None:
        self._rate = Rate()
        self._problem: str | None = None
        self._cache: tuple[tuple[int, int, bool], dict[str, Any]] | None = None
        super().__init__(path, threads=threads)
        self._last_commit = self._store.last_time()

    def _open(self) -> None:
        self._removed: deque[tuple[int, Any]] = deque(maxlen=REMOVED)  # group, and the key of a node that left
        super()._open()

    def _accept(self, update: Update) -> None:
        removed = update.removed[update.removed < len(self._table)]
        self._removed += [(self.group + 1, key) for key in self._table.names_array(removed).tolist()]
        super()._accept(update)

    @property
    def generation(self) -> int:
        """Number of the checkpoint in use; another one after each refresh."""
        return self._store.generation

    def submit(self, request: str, changes: Sequence[Any], *, skip_unknown: bool = False) -> Receipt:
        """Commit changes as one group, once for each ``request``: if it was made before, nothing is changed.

        Parameters
        ----------
        request : str
            Id of the request. The last 100,000 groups are remembered by theirs.
        changes : list
            Lists of an operation, a source, a target and a weight: see `graphrefine.live.changes.check_changes`.
        skip_unknown : bool
            Skip edges and nodes to remove that do not exist, and count them.
        """
        checked = check_changes(changes, sides=self._sides is not None)
        return self.submit_checked(request, checked, skip_unknown=skip_unknown)

    def submit_checked(self, request: str, changes: Sequence[Change], *, skip_unknown: bool = False) -> Receipt:
        """Do the same with changes that were checked before."""
        group = self._store.request_group(request)
        if group is not None:
            return Receipt(group, None, repeated=True)
        self.collect(changes)
        try:
            commit = self.commit(Origin(request=request), skip_unknown=skip_unknown)
        except Exception as error:
            group = self._store.request_group(request)
            if group is None:
                raise
            commit = None  # it counts: what came after it failed
            self._problem = str(error) or type(error).__name__
        self._rate.add(len(changes))
        self._last_commit = time.time()
        return Receipt(self._store.group if commit is None else commit.group, commit)

    def degree(self, name: Any, *, side: Side | None = None) -> int:
        """Return the number of neighbors of a node."""
        return len(self._linked_rows(self._row(name, side)))

    def state(self) -> dict[str, Any]:
        """Return stats of this moment: counts, bounds, rate of changes, refreshes."""
        moment = (self.generation, self.group, self.refreshing)
        if self._cache is None or self._cache[0] != moment:
            refreshes = self.drift()[-REFRESHES:]
            self._cache = (moment, {**self.stats(), "bounds": self._quantiles(), "refreshes": refreshes})
        return {
            **self._cache[1],
            "dim": self.dim,
            "rate": self._rate.mean(MINUTE),
            "rates": {"seconds": STRETCH, "values": self._rate.series(STRETCH, STRETCHES)},
            "last_commit": self._last_commit,
            "time": time.time(),
            "problem": self.refresh_problem or self._problem,
        }

    def _quantiles(self) -> dict[str, float | None]:
        """Return quantiles of the bounds; None where most of them are none."""
        bounds = self.bounds()
        if not len(bounds):
            return dict.fromkeys(QUANTILES)
        values = np.quantile(bounds, list(QUANTILES.values()), method="inverted_cdf").tolist()
        return {name: value if value < 2 else None for name, value in zip(QUANTILES, values, strict=True)}

    def plane(self, axes: tuple[int, int], *, most: int) -> dict[str, Any]:
        """Return names and coordinates in the plane of two axes: of all nodes, or of ``most`` spread over all rows.

        In a bipartite graph, ``sides`` has the side of each.
        """
        rows = self._rows()
        total = len(rows)
        if total > most:
            rows = rows[spread_rows(total, most, seed=0)]
        return {**self._moment(), "total": total, **self._points(rows, axes)}

    def moved(self, after: int, axes: tuple[int, int], *, generation: int | None, most: int) -> dict[str, Any]:
        """Return names and coordinates of the nodes whose vectors moved after a group, and names that left.

        The group is one of a ``generation``, if that is given: in another one, all vectors may have moved.
        """
        table = self._vectors
        rows = np.flatnonzero((table.groups > after) & ~table.removed())
        removed = [(group, key) for group, key in self._removed if group > after and key not in table]
        is_known = self._base_group <= after <= self.group and generation in (None, self.generation)
        if len(self._removed) == REMOVED:  # some are forgotten
            is_known &= after >= self._removed[0][0]
        first = after + 1
        if len(rows) > most or len(removed) > most:  # those of the newest groups, as far as they are few enough
            groups = np.sort(np.append(table.groups[rows], [group for group, _ in removed]))
            first = int(groups[-most]) + 1
        rows = rows[table.groups[rows] >= first]
        names, sides = self._split(list(dict.fromkeys(key for group, key in removed if group >= first)))
        left = {"removed": names, "removed_sides": sides}
        return {**self._moment(), "complete": is_known and first == after + 1, **self._points(rows, axes), **left}

    def _moment(self) -> dict[str, int]:
        return {"group": self.group, "generation": self.generation}

    def _points(self, rows: Rows, axes: tuple[int, int]) -> dict[str, Any]:
        points = self._vectors.rows(rows)[:, list(axes)].astype(np.float64).round(DIGITS)
        names, sides = self._split(self._vectors.names_array(rows).tolist())
        return {"names": names, "sides": sides, "points": points.tolist()}

    def _split(self, keys: list[Any]) -> tuple[list[Any], list[Side] | None]:
        """Return the names of keys of the folder, and the sides of them in a bipartite graph."""
        if self._sides is None:
            return keys, None
        return [self._sides.name(key) for key in keys], [self._sides.side(key) for key in keys]


class Rate:
    """Changes per second, over the last minutes.

    Examples
    --------
    >>> rate = Rate()
    >>> rate.add(30, now=99.0), rate.add(60, now=102.5)
    (None, None)
    >>> rate.mean(60, now=103.0), rate.series(5, 2, now=103.0)
    (1.5, [6.0, 12.0])
    """

    def __init__(self) -> None:
        self._counts: deque[tuple[int, int]] = deque()  # second, changes

    def add(self, changes: int, *, now: float | None = None) -> None:
        """Count changes."""
        second = int(time.monotonic() if now is None else now)
        self._counts.append((second, changes))
        while self._counts[0][0] < second - STRETCH * STRETCHES:
            self._counts.popleft()

    def mean(self, seconds: int, *, now: float | None = None) -> float:
        """Return the changes per second over the last seconds."""
        last = int(time.monotonic() if now is None else now)
        return sum(count for second, count in self._counts if last - seconds < second <= last) / seconds

    def series(self, length: int, parts: int, *, now: float | None = None) -> list[float]:
        """Return the changes per second of stretches of ``length`` seconds, which begin at multiples; newest last."""
        last = int(time.monotonic() if now is None else now) // length
        sums = dict.fromkeys(range(last - parts + 1, last + 1), 0)
        for second, count in self._counts:
            if second // length in sums:
                sums[second // length] += count
        return [total / length for total in sums.values()]
