"""The twin of ``native/live.cpp``: a graph that changes, and vectors that follow it, in NumPy; alike but for rounding.

Fixed point, lags and drifts are those of ``native/live.cpp``, under the same names and in the same order.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import astuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels.twin_live_rows import UP, Floats, Ints, Numbers, Reals, Row, length_of, need
from graphrefine.kernels.twin_live_states import LiveStates

ADD, REMOVE, SET, ISOLATE = range(4)  # operations
NONE, NO_EDGE, OUT_OF_RANGE = range(3)  # problems


class LiveGraph(LiveStates):
    """A graph that changes, and the vectors that follow it within a bound.

    ``basis`` (known, k) belongs to the first nodes and has a norm of at most 1, k is a multiple of 32; ``spread`` is at
    least the norm of ``rotation``. See ``native/live.cpp`` and the page of live vectors.

    Examples
    --------
    A path of three nodes loses an edge: its two ends move, and the node without edges goes to zero.

    >>> indptr, indices = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> parts = {"basis": np.eye(3, 32, dtype=np.float32), "shifts": np.ones(3, np.float32), "rotation": np.eye(32)}
    >>> numbers = {"keep": 0.2, "loop": 1.0, "tolerance": 1e-3, "rounding": 1e-5, "spread": 1.0, "publish": 0.0}
    >>> live = LiveGraph(indptr, indices, None, **parts, mean=np.zeros(32), **numbers)
    >>> live.make_targets()
    >>> live.measure()
    >>> live.settle()
    >>> live.commit()
    >>> edge = np.array([1], np.uint8), np.array([1], np.int32), np.array([2], np.int32), np.ones(1, np.float32)
    >>> live.change(*edge)
    (0, 0)
    >>> live.settle()
    >>> vectors, lengths = np.empty((3, 32), np.float32), np.empty(3)
    >>> live.vectors(np.arange(3, dtype=np.int32), vectors, lengths)
    >>> vectors[:, :2].round(2).tolist(), lengths.round(2).tolist()
    ([[0.5, 0.5], [0.5, 0.5], [0.0, 0.0]], [0.71, 0.71, -1.0])
    >>> live.published().tolist()
    [0, 1, 2]
    """

    @property
    def entries(self) -> int:
        """Number of entries of the rows: two for each edge."""
        return sum(len(row.indices) for row in self._rows)

    @property
    def made(self) -> int:
        """Number of rows that were made anew."""
        return self._made

    @property
    def gathered(self) -> int:
        """Number of entries that were summed for them."""
        return self._gathered

    @property
    def energy(self) -> float:
        """Sum of the squares of M."""
        return self._energy

    @property
    def captured(self) -> float:
        """Part of the energy that the basis holds."""
        return self._captured

    # ---- groups of changes ------------------------------------------------------------------------------------------

    def set_tolerance(self, tolerance: float) -> None:
        """Queue the nodes whose lag is above another tolerance."""
        need(tolerance * self._a > self._rounding, "the tolerance is above the rounding over `keep`")
        self._tolerance = tolerance
        self._look_at_all()

    def add_nodes(self, count: int) -> None:
        """New nodes without edges, published as zeros."""
        need(count >= 0 and self.nodes + count < 2**31, "there are too many nodes")
        new = range(self.nodes, self.nodes + count)
        self._rows += [Row() for _ in new]
        self._numbers += [Numbers() for _ in new]
        zeros = np.zeros((count, self._columns), np.float32)
        self._R, self._G = np.concatenate([self._R, zeros]), np.concatenate([self._G, zeros])
        self._published.update(new)

    def change(
        self, operations: NDArray[np.uint8], sources: Ints, targets: Ints, weights: Floats, *, skip: bool = False
    ) -> tuple[int, int]:
        """Make the changes in order: the number of those skipped and 0, or the first that is impossible and why.

        Operations are 0 (add a weight to an edge), 1 (remove an edge), 2 (set its weight) and 3 (remove all edges of
        the source). Problems are 1, an edge to be removed that is not there (which ``skip`` allows), and 2, a weight
        out of range. Changes before the impossible one are made.
        """
        holds = len(operations) == len(sources) == len(targets) == len(weights)
        need(holds, "a change has an operation, two ends and a weight")
        changes = list(zip(operations.tolist(), sources.tolist(), targets.tolist(), weights, strict=True))
        for operation, u, v, _ in changes:
            self._check_node(u)
            self._check_node(v)
            need(operation <= ISOLATE and (u != v or operation == ISOLATE), "an edge joins two nodes")
        skipped = 0
        for i, (operation, u, v, value) in enumerate(changes):
            if operation == ISOLATE:
                for w in reversed(self._rows[u].indices.tolist()):
                    self._set_weight(u, w, self._rows[u].weight(w), np.float32(0))
                continue
            before = self._rows[u].weight(v)
            with np.errstate(over="ignore", invalid="ignore"):
                after = np.float32(0) if operation == REMOVE else before + value if operation == ADD else value
            if operation == REMOVE and before == 0:
                if not skip:
                    return i, NO_EDGE
                skipped += 1
            elif not self._fits(u, after) or not self._fits(v, after):
                return i, OUT_OF_RANGE
            elif after != before:
                self._set_weight(u, v, before, after)
        return skipped, NONE

    def settle(self) -> None:
        """Make rows anew until the lag of every node is within the tolerance."""
        while self._queue:
            u = self._queue.popleft()
            self._queued.remove(u)
            if self._total_lag(u) > self._tolerance:
                self._make(u)

    def commit(self) -> None:
        """End the group: what was done stays."""
        self._remember()
        self._nodes_before = self.nodes
        self._kept.clear()
        self._published.clear()

    def undo(self) -> None:
        """Go back to where the group began."""
        for u, kept in self._kept.items():
            self._numbers[u], self._rows[u], self._R[u], self._G[u], hub = kept
            self._hubs.pop(u, None)
            if hub is not None:
                self._hubs[u] = hub
        self._queue, (self._energy, self._captured) = deque(self._queue_before), self._sums_before
        self._queued = set(self._queue)
        before = self._nodes_before
        del self._rows[before:], self._numbers[before:]
        self._R, self._G = self._R[:before].copy(), self._G[:before].copy()
        self.commit()

    # ---- what can be read -------------------------------------------------------------------------------------------

    def published(self) -> Ints:
        """Nodes whose vectors are published by this group, in order."""
        return np.array(sorted(self._published), np.int32)

    def vectors(self, which: Ints, out: Floats, lengths: Reals) -> None:
        """``out[i]`` = the vector of a node, (G - a R) / (1 - a), and its length, -1 if the node has no edges."""
        fits = len(out) == len(which) == len(lengths) and out.shape[1] == self._columns
        need(fits, "`out` must have a row for each node, and `lengths` a number")
        for node in which.tolist():
            self._check_node(node)
        states, targets = self._G[which].astype(float), self._R[which].astype(float)
        vectors = (states - self._a * targets) / (1 - self._a)
        out[:] = vectors
        linked = (len(self.neighbors(node)[0]) > 0 for node in which.tolist())
        lengths[:] = [length_of(row) if edges else -1 for row, edges in zip(vectors, linked, strict=True)]

    def degrees(self, which: Ints, out: Reals) -> None:
        """``out[i]`` = the sum of a node's weights."""
        need(len(out) == len(which), "`out` must have a number for each node")
        for node in which.tolist():
            self._check_node(node)
        out[:] = [self._numbers[node].degree for node in which.tolist()]

    def lags(self, out: Reals) -> None:
        """``out[u]`` = the lag in all of each node."""
        need(len(out) == self.nodes, "`out` must have one number for each node")
        out[:] = [self._total_lag(u) for u in range(self.nodes)]

    def bounds(self, out: Reals, *, rounds: int) -> None:
        """``out[u]`` = a bound of the distance of F from the fixed point's, sharper with each round."""
        need(len(out) == self.nodes and rounds >= 0, "`out` must have one number for each node")
        lags = np.empty(self.nodes)
        self.lags(lags)
        errors = np.full(self.nodes, lags.max(initial=0.0) / self._a * UP)
        for _ in range(rounds):
            errors = lags + (1 - self._a) * self._spread_errors(errors)
        out[:] = self._spread_errors(errors) + np.array([each.lag for each in self._numbers]) / (1 - self._a)

    def rows(self) -> tuple[NDArray[np.int64], Ints, Floats]:
        """The rows of the graph as they are: indptr, neighbors, weights."""
        ends = np.cumsum([0, *(len(row.indices) for row in self._rows)]).astype(np.int64)
        indices = [np.empty(0, np.int32), *(row.indices for row in self._rows)]
        weights = [np.empty(0, np.float32), *(row.weights for row in self._rows)]
        return ends, np.concatenate(indices), np.concatenate(weights)

    def neighbors(self, node: int) -> tuple[Ints, Floats]:
        """The row of a node: neighbors, weights."""
        self._check_node(node)
        return self._rows[node].indices.copy(), self._rows[node].weights.copy()

    # ---- all nodes at once, which is not undone ---------------------------------------------------------------------

    def take_out(self, first: int, targets: Floats, states: Floats, numbers: Reals) -> None:
        """R, G and six numbers of the nodes from one on: degree, lag, drift, length of q, way of F, energy."""
        some = self._check_shapes(first, targets, states, numbers)
        targets[:], states[:] = self._R[some], self._G[some]
        numbers[:] = np.array([astuple(each) for each in self._numbers[some]]).reshape(-1, 6)

    def put_in(self, first: int, targets: Floats, states: Floats, numbers: Reals) -> None:
        """What `take_out` has taken out; then `begin`."""
        some = self._check_shapes(first, targets, states, numbers)
        self._R[some], self._G[some] = targets, states
        self._numbers[some] = [Numbers(*each) for each in numbers.tolist()]

    def begin(self) -> None:
        """Go on from what was put in."""
        self._energy = math.fsum(each.energy for each in self._numbers)
        self._captured = math.fsum(each.length**2 for each in self._numbers)
        self._make_hubs()
        self._look_at_all()

    def put_states(self, states: Floats) -> None:
        """Other states; to be measured."""
        need(states.shape == self._G.shape, "there is a row for each node")
        self._G[:] = states

    def make_targets(self) -> None:
        """All rows of R anew."""
        self._hubs.clear()
        for u in range(self.nodes):
            self._make_target(u)
        self._remember()

    def sweep(self) -> None:
        """All rows of G anew, each from those before it and, for the rest, from those of the last sweep."""
        self._hubs.clear()
        for u in range(self.nodes):
            self._make_state(u)

    def measure(self) -> None:
        """The states as they are, with their residuals as lags."""
        for u in range(self.nodes):
            self._numbers[u].lag = self._residual(u, self._gather(u))
        self._make_hubs()
        self._look_at_all()
