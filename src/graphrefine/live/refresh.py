"""A refresh of live vectors: basis, axes and rotation fitted again to the graph of one moment, in the background.

It begins with the basis of before (a warm start), and the new vectors are rotated onto the old ones, so that they stay
comparable. Groups of changes go on meanwhile; `Refresh.result` applies those that came since again, with the new model.
The result is a function of the graph at the beginning, the old model and the groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, wait
from threading import Thread
from time import perf_counter
from typing import Any

import numpy as np

from graphrefine.graph.graph import Graph
from graphrefine.kernels import exact
from graphrefine.live.change_log import Update
from graphrefine.live.model import ComputedVectors, Floats, Model, Reals, captured_share, fit_model
from graphrefine.live.vector_table import VectorTable
from graphrefine.progress import Stages
from graphrefine.refine.refine import spread_rows
from graphrefine.system.memory import release_free_memory

LEAST_SHARE = 0.85  # of the energy that the basis held at the last refresh: below it, a refresh is due
MOST_NEW = 0.1  # share of nodes that have no row of the basis
MOST_BEYOND = 0.03  # share of nodes whose bound is beyond the tolerance
SAMPLE = 1 << 16  # rows that the rotation onto the old vectors is computed from


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
    """A refresh of a kernel's graph after a group, under way in a thread; nothing of that graph is changed."""

    def __init__(
        self, model: Model, kernel: Any, table: VectorTable, *, group: int, reason: str, threads: int = 1
    ) -> None:
        self.group, self._reason = group, reason
        self._model, self._threads = model, threads
        indptr, indices, weights = kernel.rows()
        names = np.arange(kernel.nodes, dtype=np.int64)
        self._graph = Graph(indptr, indices, None if np.all(weights == 1) else weights, names)
        rows = np.flatnonzero(table.lengths > 0)
        # Chosen evenly over all rows: new nodes come at the end, and would be missing among the first.
        sample = rows if len(rows) <= SAMPLE else rows[spread_rows(len(rows), SAMPLE, seed=0)]
        self._anchors = sample, table.rows(sample)
        self.fitted: Future[tuple[Model, Any, float]] = Future()
        # Not a thread of a pool, which Python waits for before it ends.
        Thread(target=self._work, name="graphrefine refresh", daemon=True).start()

    def _work(self) -> None:
        start = perf_counter()
        options: dict[str, Any] = {"threads": self._threads, "warm": self._warm_rows, "anchors": self._anchors}
        try:
            model, kernel = fit_model(self._graph, self._model.settings, Stages(), **options)
            self.fitted.set_result((model, kernel, perf_counter() - start))
        except BaseException as error:  # raised where the result is asked for
            self.fitted.set_exception(error)
        release_free_memory()

    def _warm_rows(self, start: int, stop: int) -> Floats:
        """Return rows of the old basis, zeros for the nodes that came since.  # (stop - start, dim)."""
        rows = np.zeros((stop - start, self._model.settings.dim), np.float32)
        known = self._model.basis[start:stop, : self._model.settings.dim]
        rows[: len(known)] = known
        return rows

    def wait(self) -> None:
        """Wait until it is ready."""
        wait([self.fitted])

    def result(
        self, updates: Iterable[Update], table: VectorTable
    ) -> tuple[Model, Any, ComputedVectors, dict[str, Any]]:
        """Return model, kernel and vectors after the groups that came since, and stats; ``table`` is that of now."""
        model, kernel, seconds = self.fitted.result()
        for update in updates:
            update.group.apply(kernel)
            kernel.commit()
        fresh = ComputedVectors(model, kernel)
        stats = {
            "reason": self._reason,
            "begun": self.group,
            "seconds": round(seconds, 3),
            **measure_drift(fresh, table),
            "captured_energy": captured_share(kernel),
        }
        return model, kernel, fresh, stats


def measure_drift(fresh: ComputedVectors, old: VectorTable) -> dict[str, float]:
    """Return the mean and the 99th percentile of the distance of unit rows."""
    rows = np.flatnonzero((fresh.lengths > 0) & (old.lengths > 0))
    steps = np.empty(len(rows))
    for start in range(0, len(rows), SAMPLE):
        some = rows[start : start + SAMPLE]
        steps[start : start + SAMPLE] = np.sqrt(exact.squares_of_rows(fresh.rows(some) - old.rows(some)))
    return {"drift": float(steps.mean()), "drift_p99": float(np.quantile(steps, 0.99))} if len(rows) else {"drift": 0.0}
