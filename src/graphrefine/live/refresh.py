"""A refresh of live vectors: basis, axes and rotation anew, from the graph of one moment, in the background.

It begins with the basis of before (a warm start), and the new vectors are turned onto the old ones, so that they stay
comparable. Groups of changes go on meanwhile; `Refresh.result` makes those that came since again, with the new parts.
The result is a function of the graph at the beginning, the old parts and the groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Thread
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import Names
from graphrefine.kernels import exact
from graphrefine.live.frozen import Frozen, Turn, captured_share, freeze, vector_lengths
from graphrefine.live.generation import Snapshot, all_degrees, unit_vectors
from graphrefine.live.logged import LoggedGroup
from graphrefine.live.published import Published
from graphrefine.progress import Stages
from graphrefine.refine.refine import spread_rows
from graphrefine.system.memory import release_free_memory

Floats = NDArray[np.float32]
Reals = NDArray[np.float64]

LEAST_SHARE = 0.85  # of the energy that the basis held at the last refresh: below it, a refresh is due
MOST_NEW = 0.1  # share of nodes that have no row of the basis
MOST_BEYOND = 0.03  # share of nodes whose bound is beyond the tolerance
LONGEST_LOG = 5_000_000  # changes in the log, which are made again when the folder is opened: minutes
SAMPLE = 1 << 16  # rows that the rotation onto the old vectors is found from
ROUNDS = 100  # of Newton's iteration for the nearest orthogonal matrix
NEAR = 1e-12


def refresh_reason(live: Any, frozen: Frozen, *, bounds: Reals, logged: int = 0) -> str | None:
    """Why a refresh is due, or None; ``bounds`` are those of all nodes, ``logged`` the changes in the log."""
    if not live.entries:
        return None  # no basis can be found
    now = captured_share(live)
    if now < LEAST_SHARE * frozen.share:
        return f"the basis holds {now:.1%} of the energy, {frozen.share:.1%} at the last refresh"
    new = (live.nodes - len(frozen.basis)) / max(live.nodes, 1)
    if new > MOST_NEW:
        return f"{new:.1%} of the nodes are new since the last refresh"
    beyond = float(np.mean(bounds > frozen.settings.tolerance)) if len(bounds) else 0.0
    if beyond > MOST_BEYOND:
        return f"{beyond:.1%} of the bounds are above the tolerance"
    if logged > LONGEST_LOG:
        return f"the log holds {logged:,} changes"
    return None


class Refresh:
    """A refresh that is under way.

    Parameters
    ----------
    live, frozen, published
        What the writer works on; nothing of it is changed.
    group
        The last group that the graph has.
    reason
        Why, for the record.
    threads
        Threads of the computation.
    """

    def __init__(
        self, live: Any, frozen: Frozen, published: Published, *, group: int, reason: str, threads: int = 1
    ) -> None:
        self.group, self._reason = group, reason
        self._frozen, self._threads = frozen, threads
        indptr, indices, weights = live.rows()
        names = np.arange(live.nodes, dtype=np.int64)
        self._graph = Graph(indptr, indices, None if np.all(weights == 1) else weights, names)
        self._rows = _sample_rows(published)
        self._old = published.rows(self._rows)
        self._outcome: tuple[Frozen, Any] | None = None
        self._error: BaseException | None = None
        self._seconds = 0.0
        self._thread = Thread(target=self._work, name="graphrefine refresh", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        start = perf_counter()
        try:
            self._outcome = freeze(
                self._graph,
                self._frozen.settings,
                Stages(),
                threads=self._threads,
                warm=lambda start, stop: _warm_rows(self._frozen, start, stop),
                turn=Turn(self._rows, lambda fresh: rotation_onto(fresh, self._old)),
            )
        except BaseException as error:  # told where the result is asked for
            self._error = error
        self._seconds = perf_counter() - start
        release_free_memory()

    def is_ready(self) -> bool:
        """Whether `result` need not wait."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until it is ready."""
        self._thread.join()

    def result(
        self, groups: Iterable[tuple[int, LoggedGroup]], published: Published
    ) -> tuple[Snapshot, dict[str, Any]]:
        """The new state after the groups that came since, and the figures; ``published`` are the vectors of now."""
        self.wait()
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        frozen, live = self._outcome
        for _, group in groups:
            group.make(live)
            live.commit()
        fresh = Fresh(live, frozen, published)
        figures = {
            "reason": self._reason,
            "begun": self.group,
            "seconds": round(self._seconds, 3),
            **measure_turn(fresh, published),
            "captured_energy": captured_share(live),
        }
        return Snapshot(frozen, live, fresh), figures


class Fresh(Published):
    """Vectors of a refresh that are not saved yet: made where they are asked for, as they would be one array more."""

    def __init__(self, live: Any, frozen: Frozen, old: Published) -> None:
        super().__init__(np.empty(0, np.int64), np.empty((0, old.dim), np.float32), np.empty(0))
        self._live, self._frozen, self._old = live, frozen, old
        self.lengths = vector_lengths(live, frozen.basis.shape[1])
        self.degrees = all_degrees(live)

    def __len__(self) -> int:
        return len(self._old)

    def rows(self, rows: NDArray[Any]) -> Floats:
        """Unit vectors of rows; of zeros where a node has none."""
        return unit_vectors(self._live, rows.astype(np.int32), self._frozen)[1]

    def names_array(self, rows: NDArray[Any]) -> Names:
        """Names of rows as an array."""
        return self._old.names_array(rows)


def measure_turn(fresh: Published, old: Published) -> dict[str, float]:
    """Drift of the vectors from old to fresh: the mean and the 99th percentile of the distance of unit rows."""
    rows = np.flatnonzero((fresh.lengths > 0) & (old.lengths > 0) & ~old.removed())
    steps = np.empty(len(rows))
    for start in range(0, len(rows), SAMPLE):
        some = rows[start : start + SAMPLE]
        steps[start : start + SAMPLE] = np.sqrt(exact.squares_of_rows(fresh.rows(some) - old.rows(some)))
    return {"drift": float(steps.mean()), "drift_p99": float(np.quantile(steps, 0.99))} if len(rows) else {"drift": 0.0}


def _sample_rows(published: Published) -> NDArray[np.int64]:
    rows = np.flatnonzero((published.lengths > 0) & ~published.removed())
    return rows if len(rows) <= SAMPLE else rows[spread_rows(len(rows), SAMPLE, seed=0)]


def _warm_rows(frozen: Frozen, start: int, stop: int) -> Floats:
    """Rows of the basis of before, of zeros for the nodes that came since.  # (stop - start, dim)."""
    rows = np.zeros((stop - start, frozen.settings.dim), np.float32)
    known = frozen.basis[start:stop, : frozen.settings.dim]
    rows[: len(known)] = known
    return rows


def rotation_onto(moved: Floats, fixed: Floats) -> Reals:
    """The orthogonal matrix that turns unit rows of some vectors closest to others, or a matrix near one.

    Newton's iteration ``X <- X (3 - X^T X) / 2`` goes to the orthogonal factor of the cross product, from exactly
    rounded steps. Directions that the rows leave open are kept as they are.

    Examples
    --------
    >>> rows = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
    >>> np.abs(rotation_onto(rows, rows[:, ::-1])).round(6).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    lengths = np.sqrt(exact.squares_of_rows(moved))
    rows = moved * np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)[:, None]
    cross = exact.matmul(rows.T.astype(np.float64), fixed.astype(np.float64))
    norm = float(np.sqrt(exact.eigh(exact.matmul(cross.T, cross))[0].max()))
    if not norm > 0:
        return np.eye(len(cross))
    X: Reals = cross / norm + 1e-9 * np.eye(len(cross))
    for _ in range(ROUNDS):
        gram = exact.matmul(X.T, X)
        if np.abs(gram - np.eye(len(X))).max() < NEAR:
            break
        X = exact.matmul(X, 1.5 * np.eye(len(X)) - 0.5 * gram)
    return X
