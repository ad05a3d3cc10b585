"""Live vectors: frozen parts drawn at random, a plain model of the graph, and the fixed point in float64.

A `History` is a graph with the groups of changes that it meets. `find_breach` says whether the bounds that a kernel
claims hold against targets and vectors that are computed here, from the rows of its graph alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import splu

from graphrefine.kernels import native

Reals = NDArray[np.float64]

KEEP, COLUMNS = 0.2, 32
ADD, REMOVE, SET, ISOLATE = range(4)
DUST = 1e-12  # the rounding of the oracle itself
SPREAD = 1 + 1e-9  # of the rotation: its norm is at most 1

Change = tuple[int, int, int, float]  # operation, two ends, weight
Group = tuple[int, tuple[Change, ...]]  # number of new nodes, changes


class Frozen(NamedTuple):
    """Frozen parts: a basis whose columns are orthonormal, and the rest at random."""

    basis: NDArray[np.float32]
    shifts: NDArray[np.float32]
    rotation: Reals
    mean: Reals

    @property
    def rounding(self) -> float:
        """Bound of the rounding of a row: a little more than 128 additions of float32."""
        return float(150 * 2.0**-24 * (1 + np.sqrt((self.mean**2).sum())) * SPREAD)


def draw_frozen(known: int, *, dim: int, seed: int) -> Frozen:
    """Frozen parts for so many nodes, in ``dim`` of the columns; the same bits with every BLAS."""
    rng = np.random.default_rng(seed)
    used = min(dim, known)
    basis = np.zeros((known, COLUMNS), np.float32)
    basis[:, :used] = _draw_orthonormal(rng, known, used) / (1 + 1e-6)
    rotation = _draw_orthonormal(rng, COLUMNS, COLUMNS) * rng.uniform(0.2, 1, COLUMNS)
    return Frozen(
        basis,
        shifts=rng.uniform(0.5, 4, known).astype(np.float32),
        rotation=np.ascontiguousarray(rotation),
        mean=rng.uniform(-0.05, 0.05, COLUMNS),
    )


def _draw_orthonormal(rng: np.random.Generator, rows: int, columns: int) -> Reals:
    axes: list[Reals] = []
    for _ in range(columns):
        axis = rng.uniform(-1, 1, rows)
        for other in axes + axes:  # twice: against rounding
            axis -= (axis * other).sum() * other
        axes.append(axis / np.sqrt((axis**2).sum()))
    return np.array(axes).reshape(columns, rows).T


@dataclass
class Model:
    """The graph as a dictionary of dictionaries."""

    rows: list[dict[int, np.float32]] = field(default_factory=list)

    def change(self, changes: Iterable[Change]) -> None:
        """Make the changes; the removal of an edge that is not there is none."""
        for operation, u, v, weight in changes:
            if operation == ISOLATE:
                for other in list(self.rows[u]):
                    self._set(u, other, np.float32(0))
            elif operation == REMOVE:
                self._set(u, v, np.float32(0))
            else:
                before = self.rows[u].get(v, np.float32(0)) if operation == ADD else np.float32(0)
                self._set(u, v, before + np.float32(weight))

    def _set(self, u: int, v: int, weight: np.float32) -> None:
        for one, other in ((u, v), (v, u)):
            self.rows[one].pop(other, None)
            if weight > 0:
                self.rows[one][other] = weight

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
        """indptr, neighbors and weights."""
        entries = [pair for row in self.rows for pair in sorted(row.items())]
        indptr = np.cumsum([0, *map(len, self.rows)]).astype(np.int64)
        indices = np.array([each for each, _ in entries], np.int32)
        return indptr, indices, np.array([weight for _, weight in entries], np.float32)


@dataclass(frozen=True)
class History:
    """A graph, its frozen parts, and the groups of changes that it meets."""

    nodes: int
    known: int
    edges: tuple[tuple[int, int, float], ...]
    groups: tuple[Group, ...]
    dim: int = 4
    seed: int = 0
    loop: float = 0.5
    tolerance: float = 0.01
    publish: float = 0.1
    hub: int = 512

    @property
    def frozen(self) -> Frozen:
        """The parts, drawn anew and the same each time."""
        return draw_frozen(self.known, dim=self.dim, seed=self.seed)

    def model(self) -> Model:
        """The graph before the first group."""
        model = Model([{} for _ in range(self.nodes)])
        model.change((SET, u, v, weight) for u, v, weight in self.edges)
        return model

    def build(self, rows: Any = None) -> Any:
        """The kernel's graph, of the first rows or of others; without states."""
        parts = self.frozen
        numbers = {"keep": KEEP, "loop": self.loop, "tolerance": self.tolerance, "publish": self.publish}
        numbers |= {"hub": self.hub, "rounding": parts.rounding, "spread": SPREAD}
        graph: Any = native.LiveGraph
        return graph(*(self.model().arrays() if rows is None else rows), **parts._asdict(), **numbers)

    def start(self) -> Any:
        """The kernel's graph, settled."""
        live = self.build()
        live.make_targets()
        live.measure()
        live.settle()
        live.commit()
        return live


def random_history(*, nodes: int, groups: int, seed: int, weighted: bool, hub: int = 512) -> History:
    """A graph of random edges, and groups that each bring a node and change or remove some edges."""
    rng = np.random.default_rng(seed)

    def some(count: int, most: int) -> list[tuple[int, int, float]]:
        u, step = rng.integers(0, most, count), rng.integers(1, most, count)
        weights = rng.uniform(0.1, 3, count) if weighted else np.ones(count)
        return list(zip(u.tolist(), ((u + step) % most).tolist(), weights.tolist(), strict=True))

    kinds, steps = [ADD, ADD, REMOVE, SET, ISOLATE], list[Group]()
    edges = some(4 * nodes, nodes)
    for i in range(groups):
        new = [(int(rng.choice(kinds, p=[0.4, 0.1, 0.3, 0.15, 0.05])), *each) for each in some(9, nodes + i + 1)]
        gone = [(REMOVE, u, v, 0.0) for u, v, _ in edges[5 * i : 5 * i + 5]]
        steps.append((1, (*new, *gone)))
    return History(nodes, nodes, tuple(edges), tuple(steps), dim=20, seed=seed, loop=1.0, tolerance=2e-3, hub=hub)


def change_edges(live: Any, changes: Iterable[Change], *, skip: bool = True) -> tuple[int, int]:
    """Make changes of edges, not settled."""
    operations, sources, targets, weights = zip(*changes, strict=True) if changes else ((), (), (), ())
    ends = np.array(sources, np.int32), np.array(targets, np.int32)
    which, sizes = np.array(operations, np.uint8), np.array(weights, np.float32)
    answer: tuple[int, int] = live.change(which, *ends, sizes, skip=skip)
    return answer


def apply_group(live: Any, group: Group) -> None:
    """New nodes and changes, not settled."""
    live.add_nodes(group[0])
    change_edges(live, group[1])


def settle_group(live: Any, group: Group) -> None:
    """New nodes and changes, settled and kept."""
    apply_group(live, group)
    live.settle()
    live.commit()


def lags_of(live: Any) -> Reals:
    """How far each node claims to be behind at most."""
    live.lags(lags := np.empty(live.nodes))
    return lags


class Snapshot(NamedTuple):
    """All that a kernel's graph knows."""

    targets: NDArray[np.float32]
    states: NDArray[np.float32]
    numbers: Reals
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32]
    sums: Reals  # energy, and the part of it that is captured

    def same_bits(self, other: Snapshot, *, sums: bool = True) -> bool:
        """Whether everything is the same, to the bit."""
        pairs = [(getattr(self, name), getattr(other, name)) for name in self._fields if sums or name != "sums"]
        return all(a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs)

    def vectors(self) -> Reals:
        """F in float64."""
        return (self.states.astype(float) - KEEP * self.targets.astype(float)) / (1 - KEEP)


def snapshot(live: Any) -> Snapshot:
    """All that a kernel's graph knows now."""
    targets, states = np.empty((2, live.nodes, COLUMNS), np.float32)
    numbers = np.empty((live.nodes, 6))
    live.take_out(0, targets, states, numbers)
    indptr, indices, weights = live.rows()
    sums = np.array([live.energy, live.captured])
    return Snapshot(targets, states, numbers, indptr, indices, weights, sums)


def true_parts(now: Snapshot, history: History) -> tuple[Reals, Any]:
    """R and T of the graph as it is, in float64."""
    parts, nodes = history.frozen, len(now.indptr) - 1
    A = csr_array((now.weights.astype(float), now.indices, now.indptr), shape=(nodes, nodes))
    degrees = A.sum(axis=1)
    own = np.repeat(np.arange(nodes), np.diff(now.indptr))
    known = now.indices < history.known
    entries = np.zeros(len(now.indices))
    entries[known] = np.log(A.data[known]) - np.log(degrees[own[known]]) + parts.shifts[now.indices[known]]
    basis = np.zeros((nodes, COLUMNS))
    basis[: history.known] = parts.basis
    q: Reals = np.asarray(csr_array((entries, now.indices, now.indptr), shape=(nodes, nodes)) @ basis)
    lengths = np.linalg.norm(q, axis=1, keepdims=True)
    there = lengths > 0
    R = np.where(there, (q / np.where(there, lengths, 1) - parts.mean) @ parts.rotation, 0)
    T = diags_array(1 / (degrees + history.loop)) @ (A + history.loop * diags_array(np.ones(nodes)))
    return R, T


def find_breach(live: Any, history: History, *, lags: Reals | None = None, share: float = 1.0) -> str | None:
    """The first claim of a kernel's graph that does not hold; other lags and a share of the bounds for controls."""
    lags = lags_of(live) if lags is None else lags
    now = snapshot(live)
    R, T = true_parts(now, history)
    G = now.states.astype(float)
    mixed: Reals = np.asarray(T @ G)
    residuals = np.linalg.norm(KEEP * R + (1 - KEEP) * mixed - G, axis=1)
    if np.any(residuals > lags + DUST):
        return f"residuals: {(residuals - lags).max()}"
    system = (diags_array(np.ones(live.nodes)) - (1 - KEEP) * T).tocsc()
    fixed: Reals = T @ np.asarray(splu(system).solve(KEEP * R))
    errors, last = np.linalg.norm(now.vectors() - fixed, axis=1), np.full(live.nodes, np.inf)
    for rounds in (0, 3, 30):
        live.bounds(bounds := np.empty(live.nodes), rounds=rounds)
        if np.any(errors > share * bounds + DUST):
            return f"bounds of {rounds} rounds: {(errors - share * bounds).max()}"
        if np.any(bounds > last * (1 + 1e-7)):
            return f"{rounds} rounds are worse than fewer"
        last = bounds
    return None
