"""Dimension from the spectrum of a graph: how much of the energy k axes leave out, and the k that `dim="auto"` takes.

The vectors of a node are its row on principal axes. The energy of an axis is the squared singular value of the matrix
of all rows there: of the three views side by side (`graphrefine.refine.views`), 3 x 256 axes, in the tiers "default"
and "best"; of REFINE's own vectors with 256 numbers in the tier "fast". What k axes lose is the share of the energy
of all these axes that the first k do not hold. ``benchmarks/dimension.py`` measures the rule by the F1 of labels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Small

PROBE = 256  # columns of the run that the spectrum is taken from: no automatic dimension is larger
STEP = 16  # an automatic dimension is a multiple, or the number of nodes
LOST = 0.3  # share of the energy that an automatic dimension may leave out
SHOWN = (32, 64, 128, 256)  # numbers of axes whose loss is told
BLOCK = 8192  # rows squared at a time


class Dimension(NamedTuple):
    """An automatic dimension, and the energies it was chosen by."""

    dim: int
    energies: Small  # of the axes, largest first; their sum is 1

    def lost(self, axes: int) -> float:
        """Share of the energy that the first axes, so many, leave out.

        Examples
        --------
        >>> round(Dimension(2, np.array([0.5, 0.3, 0.2])).lost(2), 3)
        0.2
        """
        return float(max(self.energies[axes:].sum(), 0.0))

    def figures(self) -> dict[str, Any]:
        """The losses for the recipe and for JSON: of the usual numbers of axes, and of its own.

        Examples
        --------
        >>> Dimension(2, np.array([0.5, 0.3, 0.2])).figures()
        {'axes': 3, 'lost': {'2': 0.2}}
        """
        there = sorted({self.dim, *(k for k in SHOWN if k <= len(self.energies))})
        return {"axes": len(self.energies), "lost": {str(k): round(self.lost(k), 4) for k in there}}


def choose_dimension(energies: Small, most: int) -> Dimension:
    """The fewest axes, a multiple of 16 and at most ``most``, that leave out no more than `LOST` of the energy.

    Examples
    --------
    >>> choose_dimension(0.95 ** np.arange(768), most=256).dim, choose_dimension(np.ones(6), most=6).dim
    (32, 6)
    """
    shares = energies / max(float(energies.sum()), 1e-300)
    held = np.cumsum(shares)
    needed = int(np.searchsorted(held, 1.0 - LOST)) + 1
    return Dimension(min(-(-needed // STEP) * STEP, most), shares)


def column_energies(vectors: NDArray[np.float32]) -> Small:
    """Squared lengths of the columns of vectors, largest first.

    Examples
    --------
    >>> column_energies(np.array([[0, 2], [1, 0]], np.float32)).tolist()
    [4.0, 1.0]
    """
    energies = np.zeros(vectors.shape[1])
    for start in range(0, len(vectors), BLOCK):
        rows = vectors[start : start + BLOCK]
        energies += np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
    return np.sort(energies)[::-1]
