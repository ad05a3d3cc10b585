"""A second engine: rows in many blocks, each a SciPy matrix times blocks of rows. Nothing is ever whole.

It stands for the engines to come (disk, cluster): if it gives the same vectors, the algorithms ask nothing of an engine
but its verbs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import ROWS, Rows
from graphrefine.graph.graph import Graph
from graphrefine.kernels import twin
from graphrefine.linalg.operators import Operator

Blocks = list[NDArray[np.float32]]


class BlocksEngine:
    def __init__(self, graph: Graph, *, columns: int, blocks: int) -> None:
        self.columns = columns
        self.bounds = np.linspace(0, graph.nodes, blocks + 1).astype(int).tolist()

    def _slices(self) -> list[slice]:
        return [slice(a, b) for a, b in zip(self.bounds[:-1], self.bounds[1:], strict=True)]

    def random(self, *, seed: int) -> Blocks:
        words = -(-self.columns // 32)
        return [
            twin.to_float32(twin.signs(seed, s.start, rows=s.stop - s.start, words=words))[:, : self.columns]
            for s in self._slices()
        ]

    def fill(self, rows: Rows, *, precise: bool = False) -> Blocks:
        nodes = self.bounds[-1]
        whole = np.concatenate([rows(start, min(start + ROWS, nodes)) for start in range(0, nodes, ROWS)])
        return [whole[s] for s in self._slices()]

    def apply(
        self,
        operator: Operator,
        x: Blocks,
        *,
        scale: float = 1.0,
        plus: tuple[float, Blocks] | None = None,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
        gram: bool = False,
        precise: bool = False,
    ) -> Blocks:
        matrix = operator.to_scipy()
        out = []
        for index, rows in enumerate(self._slices()):
            parts = [matrix[rows, columns] @ block for columns, block in zip(self._slices(), x, strict=True)]
            fresh: NDArray[np.float32] = np.asarray(np.sum(parts, axis=0), np.float32) * np.float32(scale)
            if plus is not None:
                fresh += np.float32(plus[0]) * plus[1][index]
            fresh = _less(fresh, shift)
            out.append(_unit(fresh) if unit else fresh)
        return out

    def gram(self, x: Blocks) -> NDArray[np.float64]:
        gram: NDArray[np.float64] = np.sum([b.T.astype(np.float64) @ b for b in x], axis=0)
        return gram

    def sums(self, x: Blocks, weights: NDArray[np.float32] | None = None) -> NDArray[np.float64]:
        each = np.ones(self.bounds[-1]) if weights is None else weights.astype(np.float64)
        sums: NDArray[np.float64] = np.sum([each[s] @ b for s, b in zip(self._slices(), x, strict=True)], axis=0)
        return sums

    def rotate(
        self, x: Blocks, rotation: NDArray[Any], *, triangular: bool = False, unit: bool = False, precise: bool = False
    ) -> Blocks:
        square = np.zeros((self.columns, self.columns), np.float32)
        square[:, : rotation.shape[1]] = rotation
        out = [block @ square for block in x]
        return [_unit(block) for block in out] if unit else out

    def release(self, x: Blocks) -> None:
        x.clear()

    def collect(
        self,
        x: Blocks,
        rotation: NDArray[Any] | None = None,
        *,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
    ) -> NDArray[np.float32]:
        blocks = x if rotation is None else [block @ rotation.astype(np.float32) for block in x]
        whole = _less(np.concatenate(blocks), shift)
        return _unit(whole) if unit else whole


def _less(x: NDArray[np.float32], shift: NDArray[Any] | None) -> NDArray[np.float32]:
    return x if shift is None else np.where(np.any(x != 0, axis=1, keepdims=True), x - shift.astype(np.float32), x)


def _unit(x: NDArray[np.float32]) -> NDArray[np.float32]:
    length = np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(x / np.where(length > 0, length, 1), np.float32)
