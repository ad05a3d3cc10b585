"""Tall matrices (n x k) and the few verbs on them.

Algorithms (the range finder, the filters, every method) are written once, against these verbs. An engine decides where
the rows live, in which order and precision, and who works on them: `graphrefine.engine.local.LocalEngine` keeps them in
this process's memory.

A tall matrix is opaque to its users: they hold it and hand it back to the engine that made it. Its memory is used again
once nobody holds it; `Engine.release` says so early, where a caller further up still does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrefine.linalg.operators import Operator

T = TypeVar("T")
Rows: TypeAlias = "Callable[[int, int], NDArray[np.float32]]"  # rows start to stop of a matrix, (stop - start, k)
ROWS = 4096  # in a block that `Engine.fill` asks for


class Engine(Protocol[T]):
    """The verbs. ``T`` is the engine's kind of tall matrix."""

    def random(self, *, seed: int) -> T:
        """A sketch of random signs, as wide as the engine's matrices.

        The row of a node depends on the seed and on its name alone (`naming.identities`), so that graphs which share
        nodes, such as one before and after some edges changed, share their sketch.
        """

    def fill(self, rows: Rows, *, precise: bool = False) -> T:
        """The matrix whose rows a function gives, in the graph's order.

        It is asked for blocks of `ROWS` rows, the last one shorter, in any order and from several threads at a time.
        """

    def apply(
        self,
        operator: Operator,
        x: T,
        *,
        scale: float = 1.0,
        plus: tuple[float, T] | None = None,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
        gram: bool = False,
        precise: bool = False,
    ) -> T:
        """``scale * operator @ x``, plus a multiple of another tall matrix, less a row, rows made unit if asked.

        The row ``shift`` (k,) is not taken away from rows of zeros: they stay. ``gram`` says that `gram` will be asked
        of the result; ``precise`` that it is not only to be gathered from, and is worth float32.
        """

    def gram(self, x: T) -> NDArray[np.float64]:
        """``x^T x`` (k, k), summed in float64."""

    def sums(self, x: T, weights: NDArray[np.float32] | None = None) -> NDArray[np.float64]:
        """``weights @ x`` (k,), summed in float64: one weight for each node in the graph's order, 1 if not given."""

    def rotate(
        self, x: T, rotation: NDArray[Any], *, triangular: bool = False, unit: bool = False, precise: bool = False
    ) -> T:
        """``x @ rotation`` for a small matrix, upper triangular if said; rows made unit if asked.

        Where the rotation has fewer than k columns, the last ones of the result are zero.
        """

    def release(self, x: T) -> None:
        """``x`` is not used again: its memory may be."""

    def collect(
        self,
        x: T,
        rotation: NDArray[Any] | None = None,
        *,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
    ) -> NDArray[np.float32]:
        """``x @ rotation - shift`` as one array, as wide as the rotation, rows in the graph's order.

        Rows of zeros stay; the others are made unit if asked.
        """
