"""The engine for matrices that are stored in full: its operators are NumPy arrays (n, n) with their transposes.

Everything but the product is `LocalEngine`'s. The product is BLAS's, one block of rows after another: a block has a
fixed size and is worked by one thread, so the result does not depend on how many threads there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.kernels import native, to_float32
from graphrefine.system.threads import in_blocks

Floats = NDArray[np.float32]


class DenseProduct:
    """A product with a matrix whose entries are stored."""

    def __init__(self, matrix: Floats) -> None:
        self.dense = matrix  # (n, n), its rows or its columns contiguous

    def apply(
        self,
        x: NDArray[Any],
        *,
        out: NDArray[Any] | None,
        scale: float = 1.0,
        plus: NDArray[Any] | None = None,
        plus_scale: float = 0.0,
        onto: Floats | None = None,
        shift: Floats | None = None,
        unit: bool = False,
        gram: NDArray[np.float64] | None = None,
        threads: int = 1,
    ) -> None:
        """See `graphrefine.kernels.Product.apply`."""
        assert out is not None
        wide = to_float32(x)

        def work(block: slice) -> None:
            fresh = np.matmul(self.dense[block], wide, out=out[block])
            if scale != 1.0:
                fresh *= np.float32(scale)
            if onto is not None:
                fresh += onto[block]
            if plus is not None:
                fresh += np.float32(plus_scale) * plus[block]
            if shift is not None:
                fresh[np.any(fresh != 0, axis=1)] -= shift
            if unit:
                length = np.sqrt(np.einsum("ij,ij->i", fresh, fresh, dtype=np.float64))[:, None]
                fresh /= np.where(length > 0, length, 1.0).astype(np.float32)

        in_blocks(len(out), work, threads=threads)
        if gram is not None:
            native.rotate(out, None, out=None, gram=gram, threads=threads)


class DenseEngine(LocalEngine):
    """See `graphrefine.engine.engine.Engine`; the operators are dense matrices on the nodes of a graph.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> engine = DenseEngine(Graph.from_edges([0, 1], [1, 2]), columns=2)
    >>> signs = engine.random(seed=0)
    >>> doubled = engine.apply(2 * np.eye(3, dtype=np.float32), signs)
    >>> np.abs(engine.collect(doubled)).tolist()
    [[2.0, 2.0], [2.0, 2.0], [2.0, 2.0]]
    """

    def __init__(self, graph: Graph, *, columns: int, threads: int = 1) -> None:
        # BLAS knows no bfloat16, and reads a matrix from end to end in any order of its rows.
        super().__init__(graph, columns=columns, threads=threads, bfloat16=False, reorder=False)

    def _product(self, operator: Any) -> Any:
        return DenseProduct(operator)
