"""States, lags and bounds of the twin of live vectors: how changes raise them, and how rows are made anew."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.twin_live_rows import (
    LARGEST_DEGREE,
    UP,
    Floats,
    Ints,
    Kept,
    Numbers,
    Reals,
    Row,
    check_parts,
    check_rows,
    chord,
    is_weight,
    length_of,
    need,
    sum_precisely,
    sum_rows,
)


class LiveStates:
    """What `LiveGraph` keeps, see there."""

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: Ints,
        weights: Floats | None,
        *,
        basis: Floats,
        shifts: Floats,
        rotation: Reals,
        mean: Reals,
        keep: float,
        loop: float,
        tolerance: float,
        rounding: float,
        spread: float,
        publish: float,
    ) -> None:
        self._known, self._columns = basis.shape
        check_rows(indptr, indices, weights)
        check_parts(basis, shifts, rotation, mean, rows=len(indptr) - 1)
        need(0 < keep < 1 and loop > 0, "`keep` lies between 0 and 1, and the loop is positive")
        holds = rounding >= 0 and tolerance > rounding and spread >= 0 and publish >= 0
        need(holds, "the tolerance is above the rounding; nothing is negative")
        self._basis, self._shifts, self._rotation, self._mean = basis, shifts.astype(float), rotation, mean
        self._a, self._loop, self._tolerance, self._rounding = keep, loop, tolerance, rounding
        self._spread, self._publish_share = spread, publish
        self._reach = np.sqrt((basis.astype(float) ** 2).sum(axis=1)) * (1 + 1e-6)
        self._typical_shift = float(self._shifts.mean()) if self._known else 0.0
        values = np.ones(len(indices), np.float32) if weights is None else weights
        self._rows = [Row(indices[a:b].copy(), values[a:b].copy()) for a, b in pairwise(indptr)]
        degrees = [row.sum() for row in self._rows]
        need(max(degrees, default=0) <= LARGEST_DEGREE, "the weights of a node must add up to 2^120 at most")
        self._numbers = [Numbers(degree, drift=math.inf) for degree in degrees]
        self._R, self._G = np.zeros((2, len(self._rows), self._columns), np.float32)
        self._queue: deque[int] = deque()
        self._queued: set[int] = set()
        self._kept: dict[int, Kept] = {}
        self._published: set[int] = set()
        self._made = self._gathered = 0
        self._energy = self._captured = 0.0
        self._remember()
        self._nodes_before = self.nodes

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self._rows)

    # ---- bounds -----------------------------------------------------------------------------------------------------

    def _inverse(self, u: int) -> float:
        return 1 / (self._numbers[u].degree + self._loop)

    def _behind(self, node: Numbers) -> float:
        """Bound of the distance of R from what it would be if it were made now."""
        if node.drift == 0:
            return 0.0
        return self._spread * chord(node.drift / node.length) if node.drift < node.length else math.inf

    def _total_lag(self, u: int) -> float:
        return self._numbers[u].lag + self._a * self._behind(self._numbers[u])

    def _look(self, u: int) -> None:
        if u not in self._queued and self._total_lag(u) > self._tolerance:
            self._queued.add(u)
            self._queue.append(u)

    def _look_at_all(self) -> None:
        for u in range(self.nodes):
            self._look(u)
        self._remember()

    def _remember(self) -> None:
        """What `undo` goes back to, beside the nodes that are kept."""
        self._sums_before, self._queue_before = (self._energy, self._captured), tuple(self._queue)

    def _spread_errors(self, errors: Reals) -> Reals:
        """T @ errors, rounded upwards."""
        sums = [float(row.weights.astype(float) @ errors[row.indices]) for row in self._rows]
        shares = np.array([self._inverse(u) for u in range(self.nodes)])
        mixed: Reals = (self._loop * errors + np.array(sums)) * shares * UP
        return mixed

    def _note(self, u: int, v: int, before: float, after: float) -> None:
        """The end u of an edge to v whose weight has changed, in the row too."""
        node, row, a = self._numbers[u], self._rows[u], self._a
        change, old = after - before, node.degree
        degree = old + change if 2 * (old + change) > old else row.sum()  # anew, where rounding would take over
        node.degree = degree
        if not old > 0 or not degree > 0:
            node.drift = math.inf
        else:
            G, R = self._G[[u, v]].astype(float), self._R[u].astype(float)
            far = length_of((1 - a) * G[1] - G[0] + a * R)
            node.lag = (node.lag + abs(change) / (degree + self._loop) * (far + node.lag)) * UP
            moved = abs(change) / min(old, degree) * math.sqrt(len(row.indices))
            if v < self._known:
                moved += abs(self._entry_change(v, before, after, old, degree)) * float(self._reach[v])
            node.drift += moved * UP
        self._look(u)

    def _entry_change(self, v: int, before: float, after: float, old: float, degree: float) -> float:
        if before > 0 and after > 0:
            return math.log(after) - math.log(before)
        own = math.log(after) - math.log(degree) if after > 0 else math.log(before) - math.log(old)
        return own + float(self._shifts[v])

    def _fits(self, u: int, weight: np.float32) -> bool:
        return is_weight(float(weight)) and self._numbers[u].degree + float(weight) <= LARGEST_DEGREE

    def _set_weight(self, u: int, v: int, before: np.float32, after: np.float32) -> None:
        for one, other in ((u, v), (v, u)):
            self._keep(one)
            self._rows[one].put(other, after)
        for one, other in ((u, v), (v, u)):
            self._note(one, other, float(before), float(after))

    def _keep(self, u: int) -> None:
        if u not in self._kept:
            copies = replace(self._numbers[u]), replace(self._rows[u]), self._R[u].copy(), self._G[u].copy()
            self._kept[u] = Kept(*copies)

    # ---- rows made anew ---------------------------------------------------------------------------------------------

    def _gather(self, u: int) -> Reals:
        return sum_rows(self._rows[u].indices, self._rows[u].weights, self._G)

    def _make_target(self, u: int) -> float:
        """R anew, and how far it moved."""
        node, row = self._numbers[u], self._rows[u]
        self._energy -= node.energy
        self._captured -= node.length**2
        weights = row.weights.astype(float)
        degree = row.sum()
        known = row.indices < self._known
        shifts = np.full(len(known), self._typical_shift)
        shifts[known] = self._shifts[row.indices[known]]
        entries = np.log(weights) - (math.log(degree) if degree > 0 else 0.0) + shifts
        used = np.flatnonzero(known)
        used = used[self._reach[row.indices[used]] > 0]
        q = sum_precisely(row.indices[used], entries[used], self._basis)
        self._gathered += len(used)
        node.degree, node.drift, node.energy, node.length = degree, 0.0, float((entries**2).sum()), length_of(q)
        self._energy += node.energy
        self._captured += node.length**2
        fresh = np.zeros(self._columns, np.float32)
        if node.length > 0:
            fresh[:] = (q / node.length - self._mean) @ self._rotation
        return self._replace(self._R, u, fresh)

    def _make_state(self, u: int) -> float:
        """G anew, and how far it moved."""
        share, fresh = self._inverse(u), np.zeros(self._columns, np.float32)
        count = len(self._rows[u].indices)
        self._gathered += count
        if count:
            own = 1 - (1 - self._a) * self._loop * share
            fresh[:] = (self._a * self._R[u].astype(float) + (1 - self._a) * share * self._gather(u)) / own
        self._numbers[u].lag = self._rounding
        return self._replace(self._G, u, fresh)

    def _replace(self, rows: Floats, u: int, fresh: Floats) -> float:
        step = length_of(fresh.astype(float) - rows[u]) * UP
        rows[u] = fresh
        return step

    def _make(self, u: int) -> None:
        self._keep(u)
        node, a = self._numbers[u], self._a
        turn = self._make_target(u) if node.drift > 0 else 0.0
        step = self._make_state(u)
        self._made += 1
        node.unpublished += (step + a * turn) / (1 - a) * UP
        vector = (self._G[u].astype(float) - a * self._R[u].astype(float)) / (1 - a)
        if node.unpublished > self._publish_share * length_of(vector):
            node.unpublished = 0.0
            self._published.add(u)
        if step == 0:
            return
        for v, weight in zip(self._rows[u].indices.tolist(), self._rows[u].weights.tolist(), strict=True):
            self._keep(v)
            self._numbers[v].lag += (1 - a) * weight * self._inverse(v) * step * UP
            self._look(v)

    def _check_node(self, u: int) -> None:
        need(0 <= u < self.nodes, "there is no such node")

    def _check_shapes(self, first: int, targets: Floats, states: Floats, numbers: Reals) -> slice:
        """The nodes from one on that arrays have rows for."""
        rows = len(numbers)
        fits = targets.shape == states.shape == (rows, self._G.shape[1]) and numbers.shape == (rows, 6)
        need(fits, "a node has a row of targets, of states, and six numbers")
        need(0 <= first <= self.nodes - rows, "there are no such nodes")
        return slice(first, first + rows)
