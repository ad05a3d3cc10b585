"""Sums over the neighbors of hubs for the twin of live vectors, as in ``native/live_hubs.h``, but for rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace

from graphrefine.kernels.twin_live_rows import Floats, Reals, length_of

ROUNDING, ENOUGH = 2.0**-51, 2.0**-30  # of an update, in lengths of what is added; of a sum in all


@dataclass(slots=True)
class Hub:
    """Sums of a node with many neighbors, kept up to date; arrays are replaced, never changed.

    Each change of a sum adds a rounding, which the last four numbers bound.
    """

    states: Reals  # sum of A_ij G_j
    shifted: Reals  # sum of (ln A_ij + shift_j) B_j
    plain: Reals  # sum of B_j
    entries: float  # sums of ln A + shift, and of its square, over all neighbors
    squares: float
    peak: float  # the largest degree since the sums were made
    mass: float  # sums of |ln A + shift| |B|, and of |B|, of all that was added since
    reach: float
    updates: int = 0

    def copy(self) -> Hub:
        """Another one with the same sums."""
        return replace(self)

    def change(self, degree: float, difference: float, state: Floats) -> None:
        """The sum of states after a change of the weight of an edge."""
        self.updates += 1
        self.peak = max(self.peak, degree)
        self.states = self.states + difference * state.astype(float)  # NumPy would round the product to float32

    def change_entry(self, gone: float | None, fresh: float | None, axis: Floats | None, reach: float) -> None:
        """The other sums after it; ``axis`` is the neighbor's row of the basis, ``reach`` its length."""
        old, new = gone or 0.0, fresh or 0.0
        self.entries += new - old
        self.squares += new * new - old * old
        if axis is None:
            return
        self.shifted = self.shifted + (new - old) * axis.astype(float)
        self.mass += (abs(new) + abs(old)) * reach
        if (gone is None) != (fresh is None):
            self.plain = self.plain + (1.0 if gone is None else -1.0) * axis.astype(float)
            self.reach += reach

    def follow(self, weight: float, step: Reals) -> None:
        """The sum of states after a step of a neighbor's."""
        self.states = self.states + weight * step
        self.updates += 1

    def q(self, logarithm: float) -> Reals:
        """The row of M B, for a node whose degree has this logarithm."""
        return self.shifted - logarithm * self.plain

    def energy(self, logarithm: float, count: int) -> float:
        """Sum of the squares of the row of M."""
        return max(0.0, self.squares - 2 * logarithm * self.entries + count * logarithm * logarithm)

    def is_worn(self, count: int, degree: float) -> bool:
        """Whether rounding may have taken over in the sum of states."""
        return (self.updates + count) * ROUNDING * self.peak > ENOUGH * degree

    def is_worn_target(self, count: int, logarithm: float) -> bool:
        """Whether it may have in q, whose length may be far less than that of its terms."""
        mass = self.mass + abs(logarithm) * self.reach
        return (self.updates + count) * ROUNDING * mass > ENOUGH * length_of(self.q(logarithm))
