"""The model of live vectors: what is frozen between two refreshes, fitted to a graph in one go.

Row i of the targets is ``R_i = (q / |q| - mean) W`` with ``q = sum_j (ln A_ij - ln d_i + shift_j) B_j``: a function of
the edges of node i alone, as long as these parts are frozen:

* the basis B, of the range of the transpose of the proximity matrix M (`range_finder`), so that q is row i of ``M B``;
* the shifts ``-ln(negative phi_j)``, the context distribution of Eq. 2;
* the weight of the loops of T, and the mean of the rows in the limit of many steps;
* the rotation W to the scaled principal axes of the vectors, of norm 1.

A refresh fits them again, in the background: from the basis of before (a warm start), with the new vectors rotated onto
the old ones, so that they stay comparable. It is a function of the graph at its beginning, the old model and the groups
that came meanwhile, which are applied again with the new model.

The states G are near the fixed point of ``G = a R + (1 - a) T G``, and the vectors are ``F = T G``. The page "Live
vectors" of the documentation has the proof of the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from threading import Thread
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import RowSource, principal_rotation
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD, exact, native
from graphrefine.linalg.operators import proximity, transition
from graphrefine.live.change_log import Update
from graphrefine.live.vector_table import VectorTable
from graphrefine.progress import Stages
from graphrefine.refine.filters import limit, limit_weights, smallest_weight
from graphrefine.refine.range_finder import range_finder
from graphrefine.refine.refine import spread_rows
from graphrefine.refine.settings import MethodSettings, setting
from graphrefine.system.memory import release_free_memory

Floats = NDArray[np.float32]
Reals = NDArray[np.float64]

# Products that the basis is found with: from signs, and from the basis of before. The latter is even: after an odd
# number the basis would come from the other side of M, and nodes without a change would move, too.
POWER, WARM_POWER = 9, 2
EXPONENT = 0.75  # of the context distribution
AXES = 0.8  # exponent of the spectrum of the vectors
STEPS, PRECISE_STEPS = 14, 8  # of T, towards the fixed point: gathered from bfloat16, and then from float32
SWEEPS = 5  # over the rows as the kernel makes them: targets found from bfloat16 differ by more than some tolerances
HUB = 512  # neighbors from which sums are kept: below, a row is gathered as fast as its sums are kept up to date
LAG_SHARE = 0.8  # of the tolerance is for states that lag behind; the rest is for vectors that are not published
QUANTILE = 0.007  # of the lengths of vectors: rows below may have a larger bound than the tolerance; changes add some
ROUNDING = 150 * 2.0**-24  # of a row of G, in lengths of the longest row: pieces of 128 products in float32
FLOOR = 3  # roundings over `keep`, at least, in the largest lag: `settle` ends for more than one
ROUNDS, NEAR = 100, 1e-12  # of Newton's iteration for the nearest orthogonal matrix, and where it ends
BLOCK_ROWS = 1 << 14  # rows of a matrix that are copied at a time
LEAST_SHARE = 0.85  # of the energy that the basis held at the last refresh: below it, a refresh is due
MOST_NEW = 0.1  # share of nodes that have no row of the basis
MOST_BEYOND = 0.03  # share of nodes whose bound is beyond the tolerance
SAMPLE = 1 << 16  # rows that the rotation onto the old vectors is computed from


@dataclass(frozen=True)
class LiveSettings(MethodSettings):
    """Settings of live vectors; frozen, too."""

    tolerance: float = setting(0.1, "Bound of the error of unit rows, for 99 % of them.", above=0, most=1)
    keep: float = setting(0.2, "Weight of a node's own row in the filter.", least=0.01, most=0.9)

    @property
    def publish(self) -> float:
        """Share of its length that a vector may move by before it is published."""
        return (1 - LAG_SHARE) * self.tolerance


@dataclass(frozen=True, eq=False)
class Model:
    """The frozen parts, see above; columns are padded to a multiple of 32."""

    settings: LiveSettings
    basis: Floats  # (known, k)
    shifts: Floats  # (known,)
    rotation: Reals  # (k, k)
    mean: Reals  # (k,)
    loop: float
    lag: float  # the largest total lag of a node
    share: float = 0.0  # of M's energy that the basis holds

    @property
    def rounding(self) -> float:
        """Bound of the rounding of a row of G."""
        return ROUNDING * (1 + float(np.sqrt(exact.dot(self.mean, self.mean))))

    def make_kernel(self, indptr: Any, indices: Any, weights: Any) -> Any:
        """Make the kernel's graph of these rows."""
        return native.LiveGraph(
            indptr,
            indices,
            weights,
            basis=self.basis,
            shifts=self.shifts,
            rotation=self.rotation,
            mean=self.mean,
            keep=self.settings.keep,
            loop=self.loop,
            tolerance=self.lag,
            rounding=self.rounding,
            spread=1 + 1e-6,
            publish=self.settings.publish,
            hub=HUB,
        )


def captured_share(kernel: Any) -> float:
    """Return the share of M's energy that the basis holds."""
    return float(kernel.captured / max(kernel.energy, 1e-300))


def fit_model(
    graph: Graph,
    settings: LiveSettings,
    stages: Stages,
    *,
    threads: int = 1,
    warm: RowSource | None = None,
    anchors: tuple[NDArray[np.int64], Floats] | None = None,
) -> tuple[Model, Any]:
    """Fit a model to a graph; return it and the kernel's graph, whose states are settled.

    ``warm(start, stop)`` are rows of a basis to begin with. ``anchors``, some rows and their older vectors, are what
    the new vectors are rotated onto.
    """
    if graph.directed:
        raise InputError(
            "live vectors follow undirected and bipartite graphs, and this one is directed; read it as undirected, or "
            "embed it again when it has changed"
        )
    if not len(graph.indices):
        raise InputError("the graph has no edges to begin with; live vectors need some to find a basis")
    engine = LocalEngine(graph, columns=settings.dim, threads=threads)
    with stages.stage("range", steps=1):
        M = proximity(graph, exponent=EXPONENT, threads=threads)
        sketch = engine.random(seed=settings.seed) if warm is None else engine.fill(warm)
        power = POWER if warm is None else WARM_POWER
        factors = range_finder(engine, M.T, sketch, power=power, two_sided=True, unit=True)
        del sketch
        # The bounds need a basis of norm 1 at most, and bfloat16 has rounded this one.
        norm = _norm(engine.gram(factors.basis)) * (1 + 1e-6)
        basis = _pad_columns(engine.collect(factors.basis, np.eye(engine.columns) / max(norm, 1.0)))
        R = factors.target
        del factors
    alone, loop = graph.without_edges(), smallest_weight(graph)
    weights = limit_weights(alone, graph.degrees(), loop=loop)
    mean = limit(engine.sums(R, weights.astype(np.float32)), weights)
    with stages.stage("filter", steps=STEPS + PRECISE_STEPS):
        T, a = transition(graph, loop=loop), settings.keep
        states = R
        for step in range(STEPS + PRECISE_STEPS):
            states = engine.apply(T, states, scale=1 - a, plus=(a, R), precise=step >= STEPS)
            stages.advance()
        vectors = engine.apply(T, states, shift=mean, gram=True, precise=True)
        del R
        engine.trim()
        rotation = principal_rotation(engine.gram(vectors), AXES)
        rotation = rotation / (_norm(exact.matmul(rotation.T, rotation)) or 1.0)
        if anchors is not None:
            fresh = engine.collect(vectors, rotation)[anchors[0]]
            rotation = exact.matmul(rotation, rotation_onto(fresh, anchors[1]))
            del fresh
        del vectors
        engine.trim()
    rows = engine.collect(states, rotation, shift=exact.matmul(mean, rotation))
    shifts = np.asarray(M.column_shift)
    del states, engine, M, T
    release_free_memory()
    with stages.stage("settle"):
        model = Model(
            settings,
            basis=basis,
            shifts=shifts,
            rotation=np.pad(rotation, (0, basis.shape[1] - len(rotation))),
            mean=np.pad(mean, (0, basis.shape[1] - len(mean))),
            loop=loop,
            lag=1.0,
        )
        kernel = model.make_kernel(graph.indptr, graph.indices, graph.weights)
        kernel.make_targets()
        kernel.put_states(_pad_columns(rows))
        del rows  # settling takes memory, too
        for _ in range(SWEEPS):
            kernel.sweep()
        return _settle(model, kernel), kernel


def _settle(model: Model, kernel: Any) -> Model:
    """Return the model with the lag that the lengths of vectors ask for; states are then within it."""
    lengths = ComputedVectors(model, kernel).lengths
    present = lengths[lengths > 0]
    short = float(np.quantile(present, QUANTILE)) if len(present) else 1.0
    a, tolerance = model.settings.keep, model.settings.tolerance
    most = tolerance * float(np.sqrt(1 - tolerance * tolerance / 4))  # whose chord is the tolerance
    share = most - model.settings.publish
    lag = a * (1 - a) * share * short
    tight = replace(model, lag=max(lag, FLOOR * model.rounding / a), share=captured_share(kernel))
    kernel.set_tolerance(tight.lag)
    kernel.measure()
    kernel.settle()
    kernel.commit()
    return tight


def unit_vectors(model: Model, kernel: Any, rows: NDArray[np.int32]) -> tuple[Reals, Floats]:
    """Return the lengths of the vectors of some rows, -1 without edges, and the vectors at length 1; zeros stay."""
    padded, lengths = np.empty((len(rows), model.basis.shape[1]), np.float32), np.empty(len(rows))
    kernel.vectors(rows, padded, lengths)
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    vectors = np.empty((len(rows), model.settings.dim), np.float32)
    np.multiply(padded[:, : model.settings.dim], scale[:, None], out=vectors, dtype=np.float64, casting="same_kind")
    return lengths, vectors


def degrees(kernel: Any, rows: NDArray[np.int32] | None = None) -> Reals:
    """Return the sums of the weights of some rows, or of all."""
    which = np.arange(kernel.nodes, dtype=np.int32) if rows is None else rows
    kernel.degrees(which, sums := np.empty(len(which)))
    return sums


class ComputedVectors:
    """Vectors of a model, computed where they are read: an array of them would double the memory."""

    def __init__(self, model: Model, kernel: Any) -> None:
        self._model, self._kernel = model, kernel
        self.lengths, self.degrees = np.empty(kernel.nodes), degrees(kernel)
        for start in range(0, kernel.nodes, BLOCK_ROWS):
            rows = np.arange(start, min(start + BLOCK_ROWS, kernel.nodes), dtype=np.int32)
            self.lengths[rows] = unit_vectors(model, kernel, rows)[0]

    def rows(self, rows: NDArray[Any]) -> Floats:
        """Return the unit vectors of rows; zeros where a node has none."""
        return unit_vectors(self._model, self._kernel, rows.astype(np.int32))[1]


def rotation_onto(moved: Floats, fixed: Floats) -> Reals:
    """Return the orthogonal matrix that rotates unit rows of some vectors closest to others, or a matrix near one.

    Examples
    --------
    >>> rows = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
    >>> np.abs(rotation_onto(rows, rows[:, ::-1])).round(6).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    lengths = np.sqrt(exact.squares_of_rows(moved))
    rows = moved * np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)[:, None]
    cross = exact.matmul(rows.T.astype(np.float64), fixed.astype(np.float64))
    norm = _norm(exact.matmul(cross.T, cross))
    if not norm > 0:
        return np.eye(len(cross))
    # Newton's iteration X <- X (3 - X^T X) / 2 goes to the orthogonal factor of the cross product, from exactly rounded
    # steps: the same bits on every processor, which no SVD has. Directions that the rows leave open stay.
    X: Reals = cross / norm + 1e-9 * np.eye(len(cross))
    for _ in range(ROUNDS):
        gram = exact.matmul(X.T, X)
        if np.abs(gram - np.eye(len(X))).max() < NEAR:
            break
        X = exact.matmul(X, 1.5 * np.eye(len(X)) - 0.5 * gram)
    return X


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


def _norm(gram: Reals) -> float:
    """Return the largest singular value of a matrix, from its Gram matrix."""
    return float(np.sqrt(exact.eigh(gram)[0].max()))


def _pad_columns(rows: Floats) -> Floats:
    padding = -rows.shape[1] % PAD
    return np.pad(rows, ((0, 0), (0, padding))) if padding else rows
