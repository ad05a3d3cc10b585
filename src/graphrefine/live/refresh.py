"""A refresh of live vectors: basis, axes and rotation fitted again to the graph of one moment, in the background.

It begins with the basis of before (a warm start), and the new vectors are rotated onto the old ones, so that they stay
comparable. Groups of changes go on meanwhile; `Refresh.result` applies those that came since again, with the new model.
The result is a function of the graph at the beginning, the old model and the groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import Thread
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.kernels import exact
from graphrefine.live.change_log import ChangeGroup
from graphrefine.live.model import Alignment, Model, captured_share, degrees, fit_model, unit_vectors, vector_lengths
from graphrefine.live.vector_table import VectorTable
from graphrefine.progress import Stages
from graphrefine.refine.refine import spread_rows
from graphrefine.system.memory import release_free_memory

Floats = NDArray[np.float32]
Reals = NDArray[np.float64]

LEAST_SHARE = 0.85  # of the energy that the basis held at the last refresh: below it, a refresh is due
MOST_NEW = 0.1  # share of nodes that have no row of the basis
MOST_BEYOND = 0.03  # share of nodes whose bound is beyond the tolerance
SAMPLE = 1 << 16  # rows that the rotation onto the old vectors is computed from
ROUNDS = 100  # of Newton's iteration for the nearest orthogonal matrix
NEAR = 1e-12


def refresh_reason(kernel: Any, model: Model, *, bounds: Reals) -> str | None:
    """Return why a refresh is due, or None; ``bounds`` are those of all nodes."""
    if not kernel.entries:
        return None  # no basis can be found
    now = captured_share(kernel)
    if now < LEAST_SHARE * model.share:
        return f"the basis holds {now:.1%} of the energy, {model.share:.1%} at the last refresh"
    new = (kernel.nodes - len(model.basis)) / kernel.nodes
    if new > MOST_NEW:
        return f"{new:.1%} of the nodes are new since the last refresh"
    beyond = float(np.mean(bounds > model.settings.tolerance))
    return f"{beyond:.1%} of the bounds are above the tolerance" if beyond > MOST_BEYOND else None


class Refresh:
    """A refresh that is under way.

    Parameters
    ----------
    model : Model
        The model of before.
    kernel : LiveGraph
        The kernel's graph; nothing of it is changed.
    table : VectorTable
        The vectors of now.
    group : int
        The last group that the graph has.
    reason : str
        Why, for the record.
    threads : int
        Threads of the computation.
    """

    def __init__(
        self, model: Model, kernel: Any, table: VectorTable, *, group: int, reason: str, threads: int = 1
    ) -> None:
        self.group, self._reason = group, reason
        self._model, self._threads = model, threads
        indptr, indices, weights = kernel.rows()
        names = np.arange(kernel.nodes, dtype=np.int64)
        self._graph = Graph(indptr, indices, None if np.all(weights == 1) else weights, names)
        rows = np.flatnonzero((table.lengths > 0) & ~table.removed)
        # Chosen evenly over all rows: new nodes come at the end, and would be missing among the first.
        self._sample = rows if len(rows) <= SAMPLE else rows[spread_rows(len(rows), SAMPLE, seed=0)]
        self._old = table.rows(self._sample)
        self._outcome: tuple[Model, Any] | None = None
        self._error: BaseException | None = None
        self._seconds = 0.0
        self._thread = Thread(target=self._work, name="graphrefine refresh", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        start = perf_counter()
        alignment = Alignment(self._sample, lambda fresh: rotation_onto(fresh, self._old))
        settings, warm = self._model.settings, self._warm_rows
        try:
            self._outcome = fit_model(
                self._graph, settings, Stages(), threads=self._threads, warm=warm, alignment=alignment
            )
        except BaseException as error:  # raised where the result is asked for
            self._error = error
        self._seconds = perf_counter() - start
        release_free_memory()

    def _warm_rows(self, start: int, stop: int) -> Floats:
        """Return rows of the old basis, zeros for the nodes that came since.  # (stop - start, dim)."""
        rows = np.zeros((stop - start, self._model.settings.dim), np.float32)
        known = self._model.basis[start:stop, : self._model.settings.dim]
        rows[: len(known)] = known
        return rows

    def is_ready(self) -> bool:
        """Return whether `result` need not wait."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait until it is ready."""
        self._thread.join()

    def result(
        self, groups: Iterable[tuple[int, ChangeGroup]], table: VectorTable
    ) -> tuple[Model, Any, ComputedVectors, dict[str, Any]]:
        """Return model, kernel and vectors after the groups that came since, and stats; ``table`` is that of now."""
        self.wait()
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        model, kernel = self._outcome
        for _, group in groups:
            group.apply(kernel)
            kernel.commit()
        fresh = ComputedVectors(model, kernel)
        stats = {
            "reason": self._reason,
            "begun": self.group,
            "seconds": round(self._seconds, 3),
            **measure_drift(fresh, table),
            "captured_energy": captured_share(kernel),
        }
        return model, kernel, fresh, stats


class ComputedVectors:
    """Vectors of a model that is not saved yet, computed where they are read: an array would double the memory."""

    def __init__(self, model: Model, kernel: Any) -> None:
        self._model, self._kernel = model, kernel
        self.lengths, self.degrees = vector_lengths(kernel, model.basis.shape[1]), degrees(kernel)

    def rows(self, rows: NDArray[Any]) -> Floats:
        """Return the unit vectors of rows; zeros where a node has none."""
        return unit_vectors(self._model, self._kernel, rows.astype(np.int32))[1]


def measure_drift(fresh: ComputedVectors, old: VectorTable) -> dict[str, float]:
    """Return the mean and the 99th percentile of the distance of unit rows."""
    rows = np.flatnonzero((fresh.lengths > 0) & (old.lengths > 0) & ~old.removed)
    steps = np.empty(len(rows))
    for start in range(0, len(rows), SAMPLE):
        some = rows[start : start + SAMPLE]
        steps[start : start + SAMPLE] = np.sqrt(exact.squares_of_rows(fresh.rows(some) - old.rows(some)))
    return {"drift": float(steps.mean()), "drift_p99": float(np.quantile(steps, 0.99))} if len(rows) else {"drift": 0.0}


def rotation_onto(moved: Floats, fixed: Floats) -> Reals:
    """Return the orthogonal matrix that rotates unit rows of some vectors closest to others, or a matrix near one.

    Newton's iteration ``X <- X (3 - X^T X) / 2`` goes to the orthogonal factor of the cross product, from exactly
    rounded steps: the same bits on every processor, which no SVD has. Directions that the rows leave open stay.

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
