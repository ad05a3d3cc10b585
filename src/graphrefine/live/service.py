"""Live vectors as a server has them: requests that count once, and answers of this moment, ready for JSON.

It is the folder's one writer, and used by one thread at a time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.lookup import Side
from graphrefine.live.change_log import Origin
from graphrefine.live.writer import Commit, Live
from graphrefine.refine.refine import spread_rows

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}  # of the bounds
MINUTE = 60  # seconds of the mean rate
INTERVAL, INTERVALS = 5, 60  # seconds of each point of the rate's line, and points
REFRESHES = 100  # the last ones that are listed
DIGITS = 5  # of a coordinate: a screen has fewer, and the answer is a third shorter

Rows = NDArray[np.int64]


class Receipt(NamedTuple):
    """Answer to a request for changes."""

    group: int  # that the request has made
    commit: Commit | None  # its stats; None if it was made before, and nothing was changed now


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
            See `Live.collect`.
        skip_unknown : bool
            Skip edges and nodes to remove that do not exist, and count them.
        """
        if (group := self._store.request_group(request)) is not None:
            return Receipt(group, None)
        self.collect(changes)
        commit = self.commit(Origin(request=request), skip_unknown=skip_unknown)
        return Receipt(commit.group, commit)

    def degree(self, name: Any, *, side: Side | None = None) -> int:
        """Return the number of neighbors of a node."""
        return len(self._linked_rows(self._vectors.row(name, side)))

    def state(self) -> dict[str, Any]:
        """Return stats of this moment: counts, quantiles of the bounds, rate of changes, refreshes."""
        now = time.time()
        last = int(now) // INTERVAL
        counts = self._store.count_changes(now - INTERVAL * INTERVALS, seconds=INTERVAL)
        rates = [counts.get(part, 0) / INTERVAL for part in range(last - INTERVALS + 1, last + 1)]
        minute = self._store.count_changes(now - MINUTE, seconds=MINUTE)
        quantiles = dict.fromkeys(QUANTILES)
        if len(bounds := self.bounds()):
            values = np.quantile(bounds, list(QUANTILES.values()), method="inverted_cdf").tolist()
            quantiles = {key: value if value < 2 else None for key, value in zip(QUANTILES, values, strict=True)}
        return {
            **self.stats(),
            "bounds": quantiles,
            "refreshes": self.drift()[-REFRESHES:],
            "dim": self.dim,
            "rate": sum(minute.values()) / MINUTE,
            "rates": {"seconds": INTERVAL, "values": rates},
            "last_commit": self._store.last_time(),
            "time": now,
            "problem": self.refresh_problem,
        }

    def plane(self, axes: tuple[int, int], *, most: int) -> dict[str, Any]:
        """Return names and coordinates in the plane of two axes: of all nodes, or of ``most`` spread over all rows.

        In a bipartite graph, ``sides`` has the side of each.
        """
        rows = self._vectors.ordered()
        total = len(rows)
        if total > most:
            rows = rows[spread_rows(total, most, seed=0)]
        return {**self._moment(), "total": total, **self._points(rows, axes)}

    def moved(self, after: int, axes: tuple[int, int], *, generation: int | None, most: int) -> dict[str, Any]:
        """Return names and coordinates of the nodes whose vectors moved after a group, and names that left.

        The group is one of a ``generation``, if that is given: in another one, all vectors may have moved.
        """
        table = self._vectors
        rows = np.flatnonzero(table.groups > after)
        is_complete = self._base_group <= after <= self.group and generation in (None, self.generation)
        if len(rows) > most:  # those of the newest groups, as far as they are few enough
            rows = rows[table.groups[rows] > np.sort(table.groups[rows])[-most - 1]]
            is_complete = False
        gone = table.keys(rows[table.removed[rows]]).tolist()
        names, sides = self._split([key for key in dict.fromkeys(gone) if table.row_of(key) is None])
        points = self._points(rows[~table.removed[rows]], axes)
        return {**self._moment(), "complete": is_complete, **points, "removed": names, "removed_sides": sides}

    def _moment(self) -> dict[str, int]:
        return {"group": self.group, "generation": self.generation}

    def _points(self, rows: Rows, axes: tuple[int, int]) -> dict[str, Any]:
        points = self._vectors.rows(rows)[:, list(axes)].astype(np.float64).round(DIGITS)
        names, sides = self._split(self._vectors.keys(rows).tolist())
        return {"names": names, "sides": sides, "points": points.tolist()}

    def _split(self, keys: list[Any]) -> tuple[list[Any], list[Side] | None]:
        """Return the names of keys of the folder, and the sides of them in a bipartite graph."""
        names = [self._vectors.name(key) for key in keys]
        return names, ["source" if key[0] == "s" else "target" for key in keys] if self._vectors.has_sides else None
