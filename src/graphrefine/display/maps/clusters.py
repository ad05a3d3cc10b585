"""Maps that show clusters: each point near those whose vectors are most like its own, all others kept apart.

This is t-SNE (van der Maaten and Hinton, JMLR 2008). Neighbors attract,
``A_i = sum_j s_ij (y_j - y_i) / (1 + d_ij^2)``, with s the symmetrized neighbors; all points repel,
``R_i = n / Z sum_j (y_i - y_j) / (1 + d_ij^2)^2`` with ``Z = sum_jk 1 / (1 + d_jk^2)``.

1. This differs from the paper: every neighbor has the same weight, so that no perplexity needs to be solved for.
2. R is a convolution of the density of points, done on a grid by Fourier transforms as in Linderman et al. (Nature
   Methods 2019), but with the simplest grid, on which each point counts for the four nodes around it.
3. Of many points the cells of the search are laid out first, as points of another map, and each point begins at
   the coordinates of its cell. Otherwise the layout would have to find the order in the large by itself.
4. A few points from neighboring cells attract a point too, with a small weight: small groups of one kind stay together.
5. Attraction is exaggerated: strongly in the first steps (Linderman and Steinerberger, SIAM J. Math. Data Sci. 2019),
   and with many points a little to the end, or clusters would dissolve in an even disc (Kobak and Berens, Nature
   Communications 2019).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.fft
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.display.maps.nearest import Cells, Neighbors, find_nearest, sum_by_cell
from graphrefine.display.maps.principal import project
from graphrefine.kernels.plane import WHOLE, Frame, Motion, Neighborhood, forces, move, spread
from graphrefine.progress import Stages
from graphrefine.system.threads import thread_pool

Floats = NDArray[np.float32]

FEW = 8  # points: too few for clusters
EARLY = 12.0  # exaggeration of the first steps
FARTHEST = 5.0  # that a point moves in a step, along each axis
PLAIN = 20_000  # points up to which attraction is not exaggerated to the end
SINGLE_THREAD = 5_000  # points up to which a step takes less time than the start of a second thread
HAZE = 0.5  # standard deviation of the distance from its cell at which a point begins
SPACING = 0.5  # of the grid, where forces change over a distance of 1
BROAD = 256  # side of a grid from which two threads pay for its two fields
NEIGHBOR_CELL_WEIGHT = 0.1  # of the attraction: that of points in neighboring cells
NEIGHBOR_CELLS = 3  # of each cell
SIDES = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)  # of the grid; twice that is quickly transformed


class Phase(NamedTuple):
    """Steps with one exaggeration of the attraction."""

    steps: int
    attraction: float
    momentum: float
    rate: float


def lay_out_clusters(
    vectors: Floats, points: NDArray[Any], *, seed: int = 0, threads: int = 1, stages: Stages
) -> tuple[Floats, Neighbors]:
    """Return coordinates of points, which are rows of `vectors` that are not zero, and their neighbors.  # (n, 2).

    Examples
    --------
    Two groups of vectors, two groups of points:

    >>> rng = np.random.default_rng(0)
    >>> vectors = np.repeat(np.eye(2), 50, axis=0) + rng.normal(0, 0.1, (100, 2))
    >>> coordinates, neighbors = lay_out_clusters(vectors.astype(np.float32), np.arange(100), stages=Stages())
    >>> bool((neighbors.rows[:50] < 50).all() and (neighbors.rows[50:] >= 50).all())
    True
    >>> distances = np.linalg.norm(coordinates[:, None] - coordinates, axis=2)
    >>> bool(distances[:50, :50].max() < distances[:50, 50:].min())
    True
    """
    neighbors = find_nearest(vectors, points, seed=seed, threads=threads, stages=stages)
    if len(points) <= FEW:
        return project(vectors, points, threads=threads), neighbors
    rng = np.random.default_rng(seed)
    if neighbors.cells is None:
        start = _whiten(project(vectors, points, threads=threads), rng)
    else:
        start = _start_at_cells(vectors, points, neighbors.cells, rng, threads=threads)
    with stages.stage("attraction"):
        pulls = attraction(neighbors, rng)
    ordered = np.ascontiguousarray(start[neighbors.order])
    _descend(pulls, ordered, phases(len(points)), threads=threads, stages=stages)
    coordinates = np.empty_like(ordered)
    coordinates[neighbors.order] = ordered
    return coordinates, neighbors


def phases(n: int) -> tuple[Phase, ...]:
    """Return the phases for n points: the more points, the fewer steps, and the stronger the attraction."""
    # Repulsion grows with the number of points while each keeps its few neighbors. Without more attraction a million
    # points end as an even disc.
    late = 1 + 1.2 * max(0.0, float(np.log10(n / PLAIN)))
    early, steps = ((50, 50), 250) if n <= PLAIN else ((10, 15), 150)
    return (
        Phase(early[0], EARLY, 0.5, 4 / EARLY),
        Phase(early[1], EARLY, 0.8, 4 / EARLY),
        Phase(steps, late, 0.8, 2 / late),
    )


def _whiten(start: Floats, rng: np.random.Generator) -> Floats:
    """Make coordinates as wide as high, and no two points equal, or they would never separate."""
    whole = start.astype(np.float64)
    spread = whole.std(axis=0)
    spread[spread == 0] = 1
    haze = rng.normal(0, 0.01, start.shape)
    whitened: Floats = (whole / spread + haze).astype(np.float32)
    return whitened


def _start_at_cells(
    vectors: Floats, points: NDArray[Any], cells: Cells, rng: np.random.Generator, *, threads: int
) -> Floats:
    """Begin each point near its cell, on a map of the cells."""
    centers = sum_by_cell(vectors, points, cells)
    filled = np.flatnonzero(centers.any(axis=1))
    cell_coordinates = np.zeros((len(centers), 2), np.float32)
    cell_coordinates[filled] = lay_out_clusters(centers, filled, threads=threads, stages=Stages())[0]
    haze = rng.normal(0, HAZE, (len(points), 2)).astype(np.float32)
    start: Floats = cell_coordinates[cells.nearest[:, 0]] + haze
    return start


def _descend(pulls: Neighborhood, points: Floats, phases: tuple[Phase, ...], *, threads: int, stages: Stages) -> None:
    """Move points down the gradient of t-SNE's objective, with momentum."""
    threads = threads if len(points) > SINGLE_THREAD else 1
    repulsion = Repulsion(threads)
    motion = Motion.from_rest(points)
    with stages.stage("layout", steps=sum(phase.steps for phase in phases)):
        # Plain gradient descent with momentum: on a grid a step costs less than a line search would.
        for steps, strength, momentum, rate in phases:
            for _ in range(steps):
                field, frame = repulsion.field(points)
                push = forces(pulls, points, field, frame, attraction=strength, threads=threads)
                move(motion, push, momentum=momentum, rate=rate, farthest=FARTHEST, threads=threads)
                stages.advance()


def attraction(neighbors: Neighbors, rng: np.random.Generator) -> Neighborhood:
    """Symmetrize neighbors, with a weight of 1 a point on average; point i is ``neighbors.order[i]``."""
    n, k = neighbors.rows.shape
    position = np.empty(n, np.int32)
    position[neighbors.order] = np.arange(n, dtype=np.int32)
    others, weights = [neighbors.rows], [np.full(k, 0.5 / k)]
    if neighbors.cells is not None and neighbors.cells.nearest.shape[1] > 1:
        others.append(_draw_from_neighbor_cells(neighbors.cells, rng))
        count = others[1].shape[1]
        weights = [(1 - NEIGHBOR_CELL_WEIGHT) * weights[0], np.full(count, 0.5 * NEIGHBOR_CELL_WEIGHT / count)]
    rows = np.hstack(others)[neighbors.order]
    present = rows >= 0
    ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    values = np.broadcast_to(np.concatenate(weights).astype(np.float32), rows.shape)[present]
    one_way = sp.csr_array((values, position[rows[present]], ends), shape=(n, n))
    one_way.sum_duplicates()
    both = (one_way + one_way.T.tocsr()).tocsr()
    return Neighborhood(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)


def _draw_from_neighbor_cells(cells: Cells, rng: np.random.Generator) -> NDArray[np.int32]:
    """Draw, for each point, a random member of each neighboring cell; -1 of empty ones.  # (n, NEIGHBOR_CELLS)."""
    others = cells.nearest[:, 1 : 1 + NEIGHBOR_CELLS].astype(np.int64)
    first, sizes = cells.starts[others], np.diff(cells.starts)[others]
    positions = first + (rng.random(others.shape) * sizes).astype(np.int64)
    return np.where(sizes > 0, cells.members[np.minimum(positions, len(cells.members) - 1)], -1).astype(np.int32)


class _Kernels(NamedTuple):
    """Transforms of the effect of one point on others, on the grid doubled so that nothing comes round."""

    side: int
    spacing: float
    total: NDArray[np.float64]  # of 1 / (1 + d^2): real, as it is even
    push: tuple[NDArray[np.complex64], NDArray[np.complex64]]  # of d / (1 + d^2)^2 along either axis
    own: float  # the part of a point itself in the total, on average over its position in its cell


def _kernels(side: int, spacing: float) -> _Kernels:
    steps = np.arange(2 * side)
    d = np.where(steps < side, steps, steps - 2 * side) * spacing
    d[side] = 0  # as far to the left as to the right
    near = 1 / (1 + d[:, None] ** 2 + d[None, :] ** 2)
    pushes = (near**2 * d[None, :], near**2 * d[:, None])
    across, up = (scipy.fft.rfft2(push).astype(np.complex64) for push in pushes)
    own = (4 * near[0, 0] + 4 * near[0, 1] + near[1, 1]) / 9
    return _Kernels(side, spacing, scipy.fft.rfft2(near).real, (across, up), float(own))


class Repulsion:
    """The field that pushes points apart."""

    def __init__(self, threads: int = 1) -> None:
        self.threads = threads
        self._pool = thread_pool(2) if threads > 1 else None
        self._ready: _Kernels | None = None

    def field(self, points: Floats) -> tuple[Floats, Frame]:
        """Return the push at each node of a grid, and the frame of the grid.  # (side, side, 2)."""
        frame = self._frame(points)
        kernels = self._prepared(frame)
        density = spread(points, frame, threads=self.threads).astype(np.float32)
        density /= np.float32(WHOLE)
        double = 2 * frame.side  # the other half is empty: its rows need no transform, here as below
        waves = scipy.fft.fft(scipy.fft.rfft(density, double, axis=1), double, axis=0, overwrite_x=True)
        scale = np.float32(len(points) / self._total(waves, kernels, len(points)))
        field = np.empty((frame.side, frame.side, 2), np.float32)

        def push(axis: int) -> None:
            rows = scipy.fft.ifft(waves * kernels.push[axis], axis=0, overwrite_x=True)[: frame.side]
            whole = scipy.fft.irfft(rows, double, axis=1, overwrite_x=True)
            np.multiply(whole[:, : frame.side], scale, out=field[:, :, axis])

        for _ in (map if frame.side < BROAD or self._pool is None else self._pool.map)(push, range(2)):
            pass
        return field, frame

    def _frame(self, points: Floats) -> Frame:
        columns = points[:, 0], points[:, 1]  # one after the other: over both at once NumPy takes thirty times as long
        low, high = (np.array([pick(column) for column in columns]) for pick in (np.min, np.max))
        reach = float((high - low).max()) * 1.01 + SPACING
        least = reach / SPACING + 2
        side = next((side for side in SIDES if side >= least), SIDES[-1])
        # A map that outgrows the largest grid gets a coarser one: memory and time of a step stay bounded, and forces
        # over short distances, which attraction decides anyway, lose precision.
        spacing = SPACING
        while (side - 2) * spacing < reach:
            spacing *= 1.25
        left, bottom = ((low + high) / 2 - np.float32(spacing * (side - 1) / 2)).tolist()
        return Frame(left, bottom, spacing, side)

    def _prepared(self, frame: Frame) -> _Kernels:
        if self._ready is None or (self._ready.side, self._ready.spacing) != (frame.side, frame.spacing):
            self._ready = _kernels(frame.side, frame.spacing)
        return self._ready

    @staticmethod
    def _total(waves: NDArray[np.complex64], kernels: _Kernels, n: int) -> float:
        """Return Z, the sum over all pairs of different points, by Parseval's theorem."""
        power = (waves.real.astype(np.float64) ** 2 + waves.imag.astype(np.float64) ** 2) * kernels.total
        whole = 2 * power.sum() - power[:, 0].sum() - power[:, -1].sum()
        # The sum over the grid counts each point's effect on itself, on average `own`. Where all points are close the
        # difference is small and may even be negative, and forces are divided by it: hence a floor.
        return max(float(whole) / (2 * kernels.side) ** 2 - kernels.own * n, 0.05 * n)
