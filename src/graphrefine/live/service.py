"""Live vectors as a server has them: requests that count once, and answers of this moment, ready for JSON.

It is the folder's one writer, and used by one thread at a time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.live.bulletin import Moved, Post
from graphrefine.live.change_lists import Change, check_changes
from graphrefine.live.live import Commit, Live
from graphrefine.live.logged import LoggedGroup, Mark
from graphrefine.live.recent import Moves, Rate
from graphrefine.live.sides import Side
from graphrefine.refine.refine import spread_rows

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}  # of the bounds
MINUTE = 60  # seconds of the mean rate
STRETCH, STRETCHES = 5, 60  # seconds of each point of the rate's line, and points
REFRESHES = 100  # the last ones that are listed
DIGITS = 5  # of a coordinate


class Receipt(NamedTuple):
    """Answer to a request for changes."""

    group: int  # that the request has made
    commit: Commit | None  # its figures, if it was made now
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
        self._moves, self._rate = Moves(), Rate()
        self._problem: str | None = None
        self._cache: tuple[tuple[int, int, bool], dict[str, Any]] | None = None
        super().__init__(path, threads=threads)
        self._last_commit = self._store.last_time()

    def _open(self) -> None:
        super()._open()
        self._moves.restart(self.group)

    def _follow(self, group: LoggedGroup, moved: Moved, number: int) -> Post:
        rows = group.removed().astype(np.int64)
        keys = self._table.names_array(rows[rows < len(self._table)]).tolist()
        post = super()._follow(group, moved, number)
        self._moves.add(number, post.moved.nodes, keys)
        return post

    @property
    def generation(self) -> int:
        """Number of the generation of arrays in use; another one after each refresh."""
        return self._store.generation

    def submit(self, request: str, changes: Sequence[Any], *, skip_unknown: bool = False) -> Receipt:
        """Commit changes as one group, once for each ``request``: if it was made before, nothing is changed.

        Parameters
        ----------
        request
            Id of the request. The last 100,000 groups are remembered by theirs.
        changes
            Lists of an operation, a source, a target and a weight: see `graphrefine.live.change_lists`.
        skip_unknown
            Pass over edges and nodes to remove that are not there, and count them.
        """
        checked = check_changes(changes, sides=self._sides is not None)
        return self.submit_checked(request, checked, skip_unknown=skip_unknown)

    def submit_checked(self, request: str, changes: Iterable[Change], *, skip_unknown: bool = False) -> Receipt:
        """The same, of changes that were checked before."""
        group = self._store.request_group(request)
        if group is not None:
            return Receipt(group, None, repeated=True)
        operations = [self.operation(*change) for change in changes]
        self.collect(operations)
        try:
            commit = self.commit(Mark(request=request), skip_unknown=skip_unknown)
        except Exception as error:
            group = self._store.request_group(request)
            if group is None:
                raise
            commit = None  # it counts: what came after it failed
            self._problem = str(error) or type(error).__name__
        self._rate.add(len(operations))
        self._last_commit = time.time()
        return Receipt(self._store.group if commit is None else commit.group, commit)

    def finish_ready_refresh(self) -> bool:
        """Go over to a refresh that is ready; whether there was one. `state` tells of one that failed."""
        if self._refresh is None or not self._refresh.is_ready():
            return False
        with self._warning():
            self._finish_refresh()
        return True

    def degree(self, name: Any, *, side: Side | None = None) -> int:
        """Number of neighbors of a node."""
        return len(self._linked_rows(self._row(name, side)))

    def state(self) -> dict[str, Any]:
        """Figures of this moment: counts, bounds, rate of changes, refreshes."""
        moment = (self.generation, self.group, self.refreshing)
        if self._cache is None or self._cache[0] != moment:
            refreshes = self.drift()[-REFRESHES:]
            self._cache = (moment, {**self.figures(), "bounds": self._quantiles(), "refreshes": refreshes})
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
        """Quantiles of the bounds; None where most of them are none."""
        bounds = self.bounds()
        if not len(bounds):
            return dict.fromkeys(QUANTILES)
        values = np.quantile(bounds, list(QUANTILES.values()), method="inverted_cdf").tolist()
        return {name: value if value < 2 else None for name, value in zip(QUANTILES, values, strict=True)}

    def plane(self, axes: tuple[int, int], *, most: int) -> dict[str, Any]:
        """Names and places of nodes in the plane of two axes: of all, or of ``most`` that are spread over all rows.

        Of a bipartite graph, ``sides`` has the side of each.
        """
        rows = self._rows()
        total = len(rows)
        if total > most:
            rows = rows[spread_rows(total, most, seed=0)]
        return {**self._moment(), "total": total, **self._places(rows, axes)}

    def moved(self, after: int, axes: tuple[int, int], *, generation: int | None, most: int) -> dict[str, Any]:
        """Names and places of the nodes whose vectors moved after a group, and names that left.

        The group is one of a ``generation``, if that is given: in another one, all vectors may have moved.
        """
        moves = self._moves.since(after, most=most)
        here = moves.rows[~self._published.removed()[moves.rows]]
        gone = [key for key in dict.fromkeys(moves.removed) if key not in self._published]
        is_complete = moves.complete and generation in (None, self.generation) and after <= self.group
        names, sides = self._split(gone)
        left = {"removed": names, "removed_sides": sides}
        return {**self._moment(), "complete": is_complete, **self._places(here, axes), **left}

    def _moment(self) -> dict[str, int]:
        return {"group": self.group, "generation": self.generation}

    def _places(self, rows: NDArray[np.int64], axes: tuple[int, int]) -> dict[str, Any]:
        points = self._published.rows(rows)[:, list(axes)].astype(np.float64).round(DIGITS)
        names, sides = self._split(self._published.names_array(rows).tolist())
        return {"names": names, "sides": sides, "points": points.tolist()}

    def _split(self, keys: list[Any]) -> tuple[list[Any], list[Side] | None]:
        """Names of keys of the folder, and the sides of them in a bipartite graph."""
        if self._sides is None:
            return keys, None
        return [self._sides.name(key) for key in keys], [self._sides.side(key) for key in keys]
