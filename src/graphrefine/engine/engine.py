"""The protocol of engines: tall matrices (n x k) and nine verbs on them.

Algorithms (the range finder, the filters, every method) are written once, against these verbs. An engine decides about
the place, the order and the precision of the rows, and about the workers: `graphrefine.engine.local.LocalEngine` has
them in the memory of this process.

A tall matrix is opaque to its users: they hold it and hand it back to the engine that made it. Its memory is used again
once nobody holds it; `Engine.release` does so early, while a caller further up still holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graphrefine.linalg.operators import Operator
    from graphrefine.linalg.sketches import RowSource

T = TypeVar("T")


class Engine(Protocol[T]):
    """The verbs. ``T`` is the engine's kind of tall matrix."""

    def random(self, *, seed: int) -> T:
        """A sketch of random signs, as wide as the engine's matrices.

        The row of a node depends on the seed and on its name alone (`graphrefine.graph.node_ids.identities`), so that
        graphs which share nodes, such as one before and after some edges changed, share their sketch.
        """

    def fill(self, rows: RowSource, *, precise: bool = False) -> T:
        """The matrix whose rows a function gives, in the graph's order.

        It is asked for blocks of `graphrefine.linalg.sketches.BLOCK_ROWS` rows, the last one shorter, in any order and
        from several threads at a time.
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

        The row ``shift`` (k,) is not taken away from rows of zeros: they stay. ``gram``: the Gram matrix of the result
        will be needed. ``precise``: the result is needed in float32, not only to gather from.
        """

    def gram(self, x: T) -> NDArray[np.float64]:
        """``x^T x`` (k, k), summed in float64."""

    def sums(self, x: T, weights: NDArray[np.float32] | None = None) -> NDArray[np.float64]:
        """``weights @ x`` (k,), summed in float64: one weight for each node in the graph's order, 1 if not given."""

    def rotate(
        self, x: T, rotation: NDArray[Any], *, triangular: bool = False, unit: bool = False, precise: bool = False
    ) -> T:
        """``x @ rotation`` for a small matrix, upper triangular if ``triangular``; rows made unit if asked.

        Where the rotation has fewer than k columns, the last ones of the result are zero.
        """

    def release(self, x: T) -> None:
        """Let ``x`` go, which is not used again, though its memory may be."""

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
