"""The engine in this process: rows in memory, kernels of `graphrefine.kernels`, any number of threads.

* **Precision.** A product's result that will only be gathered from again is stored in bfloat16, half the bytes.
* **Order.** If a tall matrix outgrows the cache, its rows are in breadth-first order, so that a node's neighbors are
  near it. No bit depends on that: the entries of a row are summed in the graph's order, and so are rows.
* **Memory.** Tall matrices are in slabs of n x k float32, each with room for one float32 or two bfloat16 matrices, used
  again as soon as their matrix is released.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import BLOCK_ROWS, Axes, RowSource, RowWork, pad_rotation, pad_row
from graphrefine.graph.node_ids import identities
from graphrefine.kernels import PAD, native, to_bfloat16
from graphrefine.linalg.operators import Operator, edge_terms
from graphrefine.system.arrays import empty_bytes
from graphrefine.system.threads import thread_pool

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.kernels._native import Product

# Beyond this many bytes of bfloat16, a random gather misses the cache more often than not: neighbors next to each other
# in memory are then worth the copy of the graph's rows that the other order takes.
REORDER_BYTES = 1 << 24


class Pattern(NamedTuple):
    """Rows of a graph in the engine's order; the entries of each in the graph's."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    loop_places: NDArray[np.int32] | None = None  # entries of each row before its loop; None: those of lower columns


class Slab:
    """Room for one float32 tall matrix, or for two in bfloat16."""

    # Memory that is new costs as much as the product that fills it, page by page; and a slab is in huge pages, aligned
    # to lines of the cache, which gathers from anywhere in it need.
    def __init__(self, size: int) -> None:
        self.bytes = empty_bytes(size)
        self.used = [False, False]


class LocalTall:
    """A tall matrix of a `LocalEngine`; its memory is used again once it is let go."""

    slab: Slab | None = None  # also of one that an interrupt left unfinished

    def __init__(self, data: NDArray[Any], slab: Slab | None = None, halves: tuple[int, ...] = ()) -> None:
        self.data = data  # (n, padded k), or (n, words) for signs
        self.gram: NDArray[np.float64] | None = None
        self.slab, self._halves = slab, halves

    def release(self) -> None:
        """Give the memory back."""
        if self.slab is not None:
            for half in self._halves:
                self.slab.used[half] = False
            self.slab = None

    __del__ = release


class LocalEngine:
    """See `graphrefine.engine.engine.Engine`."""

    def __init__(
        self,
        graph: Graph,
        *,
        columns: int,
        threads: int = 1,
        bfloat16: bool = True,
        reorder: bool | None = None,
    ) -> None:
        self.graph, self.nodes, self.columns, self.threads = graph, graph.nodes, columns, threads
        self.padded = -(-columns // PAD) * PAD
        self.half = bfloat16
        self._slabs: list[Slab] = []
        self._products: dict[Operator, Product] = {}
        self._reorder = graph.nodes * self.padded * 2 > REORDER_BYTES if reorder is None else reorder
        self._patterns: dict[bool, Pattern] = {}
        self._values: dict[tuple[bool, str, float], NDArray[np.float32] | None] = {}  # terms of the edges

    @property
    def order(self) -> NDArray[np.int32] | None:
        """See `graphrefine.engine.engine.Engine.order`."""
        return None if self._orders is None else self._orders[0]

    @property
    def _positions(self) -> NDArray[np.int32] | None:
        """Position of each row of the graph."""
        return None if self._orders is None else self._orders[1]

    @cached_property
    def _orders(self) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
        """The row of the graph at each position, and the position of each row; the reordered rows are kept."""
        if not self._reorder:
            return None
        order, positions, *rows = native.reorder(self.graph.indptr, self.graph.indices, self.graph.weights)
        self._patterns[False] = Pattern(*rows)
        return order, positions

    def random(self, *, seed: int) -> LocalTall:
        """See `graphrefine.engine.engine.Engine.random`."""
        words, order = self.padded // 32, self.order
        row_ids = identities(self.graph.names)
        if row_ids is not None:
            order = row_ids if order is None else row_ids[order]
        return LocalTall(native.signs(seed, 0, rows=self.nodes, words=words, order=order))

    def fill(self, rows: RowSource, *, precise: bool = False) -> LocalTall:
        """See `graphrefine.engine.engine.Engine.fill`."""
        out, positions = self._new(precise), self._positions
        out.data[:, self.columns :] = 0

        def block(start: int) -> None:
            stop = min(start + BLOCK_ROWS, self.nodes)
            fresh = rows(start, stop)
            at = slice(start, stop) if positions is None else positions[start:stop]
            out.data[at, : self.columns] = to_bfloat16(fresh) if out.data.dtype == np.uint16 else fresh

        with thread_pool(self.threads) as pool:
            list(pool.map(block, range(0, self.nodes, BLOCK_ROWS)))
        return out

    def one_hot(self, rows: NDArray[np.int64], columns: NDArray[np.int32], values: NDArray[np.float32]) -> LocalTall:
        """See `graphrefine.engine.engine.Engine.one_hot`."""
        out, positions = self._new(precise=False), self._positions
        out.data[:] = 0
        at = rows if positions is None else positions[rows]
        out.data[at, columns] = to_bfloat16(values) if out.data.dtype == np.uint16 else values
        return out

    def array(self, columns: int, dtype: Any) -> NDArray[Any]:
        """See `graphrefine.engine.engine.Engine.array`."""
        room: NDArray[Any] = empty_bytes(self.nodes * columns * np.dtype(dtype).itemsize).view(dtype)
        return room.reshape(self.nodes, columns)

    def visit(self, x: LocalTall, work: RowWork, total: NDArray[Any]) -> None:
        """See `graphrefine.engine.engine.Engine.visit`: all rows at once."""
        work(slice(0, self.nodes), x.data)

    def apply(
        self,
        operator: Operator,
        x: LocalTall,
        *,
        scale: float = 1.0,
        plus: tuple[float, LocalTall] | None = None,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
        gram: bool = False,
        precise: bool = False,
    ) -> LocalTall:
        """See `graphrefine.engine.engine.Engine.apply`."""
        out = self._new(precise)
        # Summed while the rows are in the cache, if they are in the graph's order; else `gram` sums them later in that
        # order, as any other would change its bits. A pair is a sum in float64 and what its rounding has lost.
        pair = np.zeros((2, self.padded, self.padded)) if gram and self._positions is None else None
        self._apply(operator, x, out.data, scale=scale, plus=plus, shift=shift, unit=unit, gram=pair)
        out.gram = None if pair is None else pair[0] + pair[1]
        return out

    def project(
        self, operator: Operator, x: LocalTall, *, rows: NDArray[np.int64], axes: Axes, **options: Any
    ) -> NDArray[np.float32]:
        """See `graphrefine.engine.engine.Engine.project`."""
        # The product is never stored: it is made once for the sample, to find the axes, and once for all rows, each
        # turned while it is in the cache. That saves a tall matrix and a pass over it.
        room = self._new(precise=True)
        sample = room.data[: len(rows)]
        positions = rows.astype(np.int32) if self._positions is None else self._positions[rows]
        near = np.argsort(positions, kind="stable")  # rows near each other in memory one after the other
        self._apply(operator, x, sample, rows=positions[near], order=near.astype(np.int32), **options)
        rotation, middle = axes(np.ascontiguousarray(sample[:, : self.columns]))
        del sample, room  # the result takes its memory
        out = self._handed_over(rotation.shape[1])
        small, after = pad_rotation(rotation, self.padded), pad_row(middle, self.padded)
        self._apply(operator, x, out, rotation=small, after=after, order=self.order, **options)
        return out

    def _apply(
        self,
        operator: Operator,
        x: LocalTall,
        out: NDArray[Any],
        *,
        scale: float = 1.0,
        plus: tuple[float, LocalTall] | None = None,
        shift: NDArray[Any] | None = None,
        **more: Any,
    ) -> None:
        self._product(operator).apply(
            x.data,
            out=out,
            scale=scale,
            plus=plus[1].data if plus else None,
            plus_scale=plus[0] if plus else 0.0,
            shift=pad_row(shift, self.padded),
            threads=self.threads,
            **more,
        )

    def _handed_over(self, columns: int) -> NDArray[np.float32]:
        """Memory for a result, which is the caller's from now on."""
        tall = self._new(precise=True)
        self._slabs = [slab for slab in self._slabs if slab is not tall.slab]
        return self._room(tall, np.float32, columns)

    def gram(self, x: LocalTall) -> NDArray[np.float64]:
        """See `graphrefine.engine.engine.Engine.gram`."""
        if x.gram is None:
            pair = np.zeros((2, self.padded, self.padded))
            native.rotate(x.data, None, out=None, places=self._positions, gram=pair, threads=self.threads)
            x.gram = pair[0] + pair[1]
        return x.gram[: self.columns, : self.columns]

    def sums(self, x: LocalTall, weights: NDArray[np.float32] | None = None) -> NDArray[np.float64]:
        """See `graphrefine.engine.engine.Engine.sums`."""
        pair = np.zeros((2, self.padded))
        native.rotate(x.data, None, out=None, places=self._positions, sums=pair, weights=weights, threads=self.threads)
        sums: NDArray[np.float64] = pair[0] + pair[1]
        return sums[: self.columns]

    def rotate(
        self,
        x: LocalTall,
        rotation: NDArray[Any],
        *,
        triangular: bool = False,
        unit: bool = False,
        precise: bool = False,
    ) -> LocalTall:
        """See `graphrefine.engine.engine.Engine.rotate`."""
        out = self._new(precise)
        small = pad_rotation(rotation, self.padded)
        native.rotate(x.data, small, triangular=triangular, out=out.data, unit=unit, threads=self.threads)
        return out

    def release(self, x: LocalTall) -> None:
        """See `graphrefine.engine.engine.Engine.release`."""
        x.release()

    def trim(self) -> None:
        """See `graphrefine.engine.engine.Engine.trim`."""
        self._slabs = [slab for slab in self._slabs if any(slab.used)]

    def collect(
        self,
        x: LocalTall,
        rotation: NDArray[Any] | None = None,
        *,
        shift: NDArray[Any] | None = None,
        unit: bool = False,
    ) -> NDArray[np.float32]:
        """See `graphrefine.engine.engine.Engine.collect`."""
        out = self._handed_over(self.columns if rotation is None else rotation.shape[1])
        small = None if rotation is None else pad_rotation(rotation, self.padded)
        row = pad_row(shift, self.padded)
        native.rotate(x.data, small, out=out, places=self._positions, shift=row, unit=unit, threads=self.threads)
        return out

    def _new(self, precise: bool) -> LocalTall:
        if self.half and not precise:
            # A slab with one half in use first: whole slabs are left for float32.
            slab = next((s for s in self._slabs if sum(s.used) == 1), None) or self._slab()
            halves: tuple[int, ...] = (slab.used.index(False),)
        else:
            slab, halves = self._slab(), (0, 1)
        for half in halves:
            slab.used[half] = True
        tall = LocalTall(slab.bytes, slab, halves)
        tall.data = self._room(tall, np.uint16 if len(halves) == 1 else np.float32, self.padded)
        return tall

    def _room(self, tall: LocalTall, dtype: Any, columns: int) -> NDArray[Any]:
        """Return the memory of a tall matrix as an array of this type and width."""
        slab = tall.slab
        assert slab is not None
        start = tall._halves[0] * len(slab.bytes) // 2
        size = self.nodes * columns * np.dtype(dtype).itemsize
        room: NDArray[Any] = slab.bytes[start : start + size].view(dtype)
        return room.reshape(self.nodes, columns)

    def _slab(self) -> Slab:
        slab = next((s for s in self._slabs if not any(s.used)), None)
        if slab is None:
            slab = Slab(self.nodes * self.padded * 4)
            self._slabs.append(slab)
        return slab

    def _product(self, operator: Operator) -> Product:
        if operator not in self._products:
            pattern = self._pattern(operator)
            self._products[operator] = native.Product(
                pattern.indptr,
                pattern.indices,
                columns=self.nodes,
                row_shift=self._ordered(operator.row_shift),
                column_shift=self._ordered(operator.column_shift),
                row_scale=self._ordered(operator.row_scale),
                column_scale=self._ordered(operator.column_scale),
                value=self._terms(operator, pattern.weights),
                constant=operator.base,
                loop=operator.loop,
                loop_places=pattern.loop_places,
            )
        return self._products[operator]

    def _terms(self, operator: Operator, weights: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        """Return the terms of the edges, made once for all operators that have them."""
        kind = (operator.transposed and self.graph.directed, operator.edge, operator.unit)
        if kind not in self._values:
            self._values[kind] = edge_terms(operator.edge, weights, operator.unit)
        return self._values[kind]

    def _ordered(self, x: NDArray[np.float32] | None) -> NDArray[np.float32] | None:
        return x if x is None or self.order is None else x[self.order]

    def _pattern(self, operator: Operator) -> Pattern:
        key = operator.transposed and self.graph.directed
        order, positions = self.order, self._positions  # with them the rows of the graph itself are there
        if key not in self._patterns:
            graph = operator.pattern if key else operator.graph
            arrays = graph.indptr, graph.indices, graph.weights
            self._patterns[key] = (
                Pattern(*arrays)
                if order is None
                else Pattern(*native.permute(*arrays, order, positions, threads=self.threads))
            )
        return self._patterns[key]
