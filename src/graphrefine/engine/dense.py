"""Products with matrices that are stored in full: NumPy arrays (n, n), which no engine has as operators."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine, LocalTall
from graphrefine.kernels import to_float32
from graphrefine.system.threads import in_blocks

Floats = NDArray[np.float32]


def dense_product(engine: LocalEngine) -> Callable[..., LocalTall]:
    """Return the product of an array and a tall matrix of the engine, for `graphrefine.refine.svd.randomized_svd`.

    The engine keeps rows in the graph's order, ``reorder=False``: an array is read from end to end in any order.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> engine = LocalEngine(Graph.from_edges([0, 1], [1, 2]), columns=2, reorder=False)
    >>> doubled = dense_product(engine)(2 * np.eye(3, dtype=np.float32), engine.random(seed=0), precise=True)
    >>> np.abs(engine.collect(doubled)).tolist()
    [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
    """

    # BLAS's, one block of rows after another: a block has a fixed size and is worked by one thread, so the result does
    # not depend on how many threads there are.
    def multiply(matrix: Floats, x: LocalTall, *, gram: bool = False, precise: bool) -> LocalTall:
        wide = to_float32(x.data)
        product = np.empty_like(wide)

        def work(rows: slice) -> None:
            np.matmul(matrix[rows], wide, out=product[rows])

        in_blocks(len(wide), work, threads=engine.threads)
        return engine.fill(lambda start, stop: product[start:stop, : engine.columns], precise=precise)

    return multiply
