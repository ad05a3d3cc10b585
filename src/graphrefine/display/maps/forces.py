"""Forces of t-SNE: attraction holds points of a map together, repulsion keeps them apart.

Neighbors attract: ``A_i = sum_j s_ij (y_j - y_i) / (1 + d_ij^2)``, with s the symmetrized neighbors, each of the same
weight. All points repel: ``R_i = n / Z sum_j (y_i - y_j) / (1 + d_ij^2)^2`` with ``Z = sum_jk 1 / (1 + d_jk^2)`` (van
der Maaten and Hinton, JMLR 2008). R is a convolution of the density of points, done on a grid by Fourier transforms as
in Linderman et al. (Nature Methods 2019); here with the simplest grid, on which each point counts for the four nodes
around it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.fft
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.display.maps.nearest import Cells, Neighbors
from graphrefine.kernels.plane import WHOLE, Frame, Neighborhood, spread
from graphrefine.system.threads import thread_pool

Floats = NDArray[np.float32]

SPACING = 0.5  # of the grid, where forces change over a distance of 1
BROAD = 256  # side of a grid from which two threads pay for its two fields
BESIDE = 0.1  # of the attraction: that of points in the cells beside one's own
CELLS_BESIDE = 3
SIDES = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)  # of the grid; twice that is quickly transformed


def attraction(neighbors: Neighbors, rng: np.random.Generator) -> Neighborhood:
    """Neighbors on either side, a weight of 1 a point on average; point i is ``neighbors.order[i]``."""
    n, k = neighbors.rows.shape
    place = np.empty(n, np.int32)
    place[neighbors.order] = np.arange(n, dtype=np.int32)
    others, weights = [neighbors.rows], [np.full(k, 0.5 / k)]
    if neighbors.cells is not None and neighbors.cells.nearest.shape[1] > 1:
        others.append(_draw_beside(neighbors.cells, rng))
        count = others[1].shape[1]
        weights = [(1 - BESIDE) * weights[0], np.full(count, 0.5 * BESIDE / count)]
    rows = np.hstack(others)[neighbors.order]
    present = rows >= 0
    ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    values = np.broadcast_to(np.concatenate(weights).astype(np.float32), rows.shape)[present]
    one_way = sp.csr_array((values, place[rows[present]], ends), shape=(n, n))
    one_way.sum_duplicates()
    both = (one_way + one_way.T.tocsr()).tocsr()
    return Neighborhood(both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data)


def _draw_beside(cells: Cells, rng: np.random.Generator) -> NDArray[np.int32]:
    """For each point, a random member of each of the cells beside its own; -1 of empty ones.  # (n, CELLS_BESIDE)."""
    others = cells.nearest[:, 1 : 1 + CELLS_BESIDE].astype(np.int64)
    first, sizes = cells.starts[others], np.diff(cells.starts)[others]
    positions = first + (rng.random(others.shape) * sizes).astype(np.int64)
    return np.where(sizes > 0, cells.members[np.minimum(positions, len(cells.members) - 1)], -1).astype(np.int32)


class _Kernels(NamedTuple):
    """Transforms of the effect of one point on others, on the grid doubled so that nothing comes round."""

    side: int
    spacing: float
    total: NDArray[np.float64]  # of 1 / (1 + d^2): real, as it is even
    push: tuple[NDArray[np.complex64], NDArray[np.complex64]]  # of d / (1 + d^2)^2 along either axis
    own: float  # the part of a point itself in the total, on average over its place in its cell


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
        """The push at each node of a grid, and the frame of the grid.  # (side, side, 2)."""
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
        """Z: the sum over all pairs of different points, by Parseval's theorem."""
        power = (waves.real.astype(np.float64) ** 2 + waves.imag.astype(np.float64) ** 2) * kernels.total
        whole = 2 * power.sum() - power[:, 0].sum() - power[:, -1].sum()
        return max(float(whole) / (2 * kernels.side) ** 2 - kernels.own * n, 0.05 * n)
