"""States, lags and bounds of the twin of live vectors: how changes raise them, and how rows are made anew."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.twin_live_hubs import Hub
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
        hub: int = 512,
    ) -> None:
        self._known, self._columns = basis.shape
        check_rows(indptr, indices, weights)
        check_parts(basis, shifts, rotation, mean, rows=len(indptr) - 1)
        need(0 < keep < 1 and loop > 0, "`keep` lies between 0 and 1, and the loop is positive")
        holds = rounding >= 0 and tolerance * keep > rounding and spread >= 0 and publish >= 0
        need(holds, "the tolerance is above the rounding over `keep`; nothing is negative")
        self._basis, self._shifts, self._rotation, self._mean = basis, shifts.astype(float), rotation, mean
        self._a, self._loop, self._tolerance, self._rounding = keep, loop, tolerance, rounding
        need(hub > 0, "a hub has neighbors")
        self._spread, self._publish_share, self._hub = spread, publish, hub
        self._hubs: dict[int, Hub] = {}
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
        for one, other in ((u, v), (v, u)):
            self._change_hub(one, other, float(before), float(after))

    def _keep(self, u: int) -> None:
        if u not in self._kept:
            copies = replace(self._numbers[u]), replace(self._rows[u]), self._R[u].copy(), self._G[u].copy()
            self._kept[u] = Kept(*copies, self._hubs[u].copy() if u in self._hubs else None)

    # ---- hubs -------------------------------------------------------------------------------------------------------

    def _shifted(self, v: int, weight: float) -> float:
        """An entry of M, but for the degree of its row."""
        return math.log(weight) + (float(self._shifts[v]) if v < self._known else self._typical_shift)

    def _in_basis(self, v: int) -> bool:
        return v < self._known and bool(self._reach[v] > 0)

    def _make_hubs(self) -> None:
        self._hubs.clear()
        for u in range(self.nodes):
            if len(self._rows[u].indices) >= self._hub:
                self._make_hub(u)

    def _make_hub(self, u: int) -> None:
        """Sums of a node anew."""
        row = self._rows[u]
        others = row.indices.tolist()
        entries = np.array([self._shifted(v, w) for v, w in zip(others, row.weights.tolist(), strict=True)])
        used = np.flatnonzero([self._in_basis(v) for v in others])
        known, reach = row.indices[used], self._reach[row.indices[used]]
        self._gathered += 2 * len(used) + len(others)
        self._hubs[u] = Hub(
            sum_precisely(row.indices, row.weights.astype(float), self._G),
            sum_precisely(known, entries[used], self._basis),
            sum_precisely(known, np.ones(len(used)), self._basis),
            entries=float(entries.sum()),
            squares=float((entries**2).sum()),
            peak=self._numbers[u].degree + self._loop,
            mass=float((np.abs(entries[used]) * reach).sum()),
            reach=float(reach.sum()),
        )

    def _change_hub(self, u: int, v: int, before: float, after: float) -> None:
        """The sums of u after a change of its edge to v; u becomes a hub, or is none any more."""
        count, hub = len(self._rows[u].indices), self._hubs.get(u)
        if hub is None:
            if count >= self._hub:
                self._make_hub(u)
        elif 2 * count < self._hub:
            del self._hubs[u]
        else:
            hub.change(self._numbers[u].degree + self._loop, after - before, self._G[v])
            gone, fresh = (self._shifted(v, weight) if weight > 0 else None for weight in (before, after))
            inside = self._in_basis(v)
            hub.change_entry(gone, fresh, self._basis[v] if inside else None, float(self._reach[v]) if inside else 0.0)

    def _obtain_hub(self, u: int, *, logarithm: float | None = None) -> Hub:
        """The sums of a hub, made anew where rounding may have taken over."""
        hub, count = self._hubs[u], len(self._rows[u].indices)
        if logarithm is None:
            worn = hub.is_worn(count, self._numbers[u].degree + self._loop)
        else:
            worn = hub.is_worn_target(count, logarithm)
        if worn:
            self._make_hub(u)
        return self._hubs[u]

    # ---- rows made anew ---------------------------------------------------------------------------------------------

    def _gather(self, u: int) -> Reals:
        self._gathered += len(self._rows[u].indices)
        return sum_rows(self._rows[u].indices, self._rows[u].weights, self._G)

    def _make_target(self, u: int) -> float:
        """R anew, and how far it moved."""
        node, row = self._numbers[u], self._rows[u]
        self._energy -= node.energy
        self._captured -= node.length**2
        if u not in self._hubs:
            node.degree = row.sum()
        own = math.log(node.degree) if node.degree > 0 else 0.0
        if u in self._hubs:
            hub = self._obtain_hub(u, logarithm=own)
            q, node.energy = hub.q(own), hub.energy(own, len(row.indices))
        else:
            q, node.energy = self._sum_entries(row, own)
        node.drift, node.length = 0.0, length_of(q)
        self._energy += node.energy
        self._captured += node.length**2
        fresh = np.zeros(self._columns, np.float32)
        if node.length > 0:
            fresh[:] = (q / node.length - self._mean) @ self._rotation
        return self._replace(self._R, u, fresh)

    def _sum_entries(self, row: Row, own: float) -> tuple[Reals, float]:
        """Q from the edges of a node, and the sum of the squares of its row of M."""
        known = row.indices < self._known
        shifts = np.full(len(known), self._typical_shift)
        shifts[known] = self._shifts[row.indices[known]]
        entries = np.log(row.weights.astype(float)) - own + shifts
        used = np.flatnonzero(known)
        used = used[self._reach[row.indices[used]] > 0]
        self._gathered += len(used)
        return sum_precisely(row.indices[used], entries[used], self._basis), float((entries**2).sum())

    def _make_state(self, u: int) -> float:
        """G anew, and how far it moved."""
        share, fresh = self._inverse(u), np.zeros(self._columns, np.float32)
        if len(self._rows[u].indices):
            own = 1 - (1 - self._a) * self._loop * share
            mixed = self._hubs[u].states if u in self._hubs else self._gather(u)
            fresh[:] = (self._a * self._R[u].astype(float) + (1 - self._a) * share * mixed) / own
        self._numbers[u].lag = self._rounding
        return self._replace(self._G, u, fresh)

    def _residual(self, u: int, mixed: Reals) -> float:
        """Length of the residual of a node, whose neighbors' states have this sum, rounded upwards."""
        state = self._G[u].astype(float)
        average = self._inverse(u) * (mixed + self._loop * state)
        return length_of(self._a * self._R[u] + (1 - self._a) * average - state) * UP + self._rounding

    def _replace(self, rows: Floats, u: int, fresh: Floats) -> float:
        step = length_of(fresh.astype(float) - rows[u]) * UP
        rows[u] = fresh
        return step

    def _make(self, u: int) -> None:
        self._keep(u)
        node, a = self._numbers[u], self._a
        turn = self._make_target(u) if node.drift > 0 else 0.0
        moves, before = True, self._G[u].astype(float)
        if u in self._hubs:
            node.lag = self._residual(u, self._obtain_hub(u).states)
            moves = node.lag > self._tolerance / 2
        step = self._make_state(u) if moves else 0.0
        self._made += 1
        node.unpublished += (step + a * turn) / (1 - a) * UP
        vector = (self._G[u].astype(float) - a * self._R[u].astype(float)) / (1 - a)
        if node.unpublished > self._publish_share * length_of(vector):
            node.unpublished = 0.0
            self._published.add(u)
        if step > 0:
            self._tell_neighbors(u, step, self._G[u] - before)

    def _tell_neighbors(self, u: int, length: float, step: Reals) -> None:
        for v, weight in zip(self._rows[u].indices.tolist(), self._rows[u].weights.tolist(), strict=True):
            self._keep(v)
            self._numbers[v].lag += (1 - self._a) * weight * self._inverse(v) * length * UP
            if v in self._hubs:
                self._hubs[v].follow(weight, step)
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
