"""What an embedding will cost before it is made: one cost model for `info`, refusals and estimates.

A small graph is simply embedded: that takes a fraction of a second and is the best forecast there is. For a larger one,
memory is counted (what the process holds, the engine's slabs, its reordered copy of the graph) and time is measured in
part: everything that happens once (ordering, proximity) is done, the products and the dense algebra are timed on a
sample of the rows, with the kernels, threads and order of the real run, and multiplied out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.local import LocalEngine, LocalTall
from graphrefine.linalg.operators import Operator, proximity, transition, walk
from graphrefine.methods.contract import Shape
from graphrefine.methods.refine import arcs_and_columns, rounds, two_sides
from graphrefine.methods.registry import embed_graph, find
from graphrefine.refine.arc_svd import normalised
from graphrefine.refine.high_quality import LANDMARKS, WINDOW
from graphrefine.refine.landmarks import WIDTH
from graphrefine.refine.range_finder import TOGETHER
from graphrefine.refine.refine import Settings
from graphrefine.system.memory import held_bytes, peak_bytes

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

SMALL = 1 << 28  # entries times columns: below this, a trial is the whole run
SAMPLE_ENTRIES = 1_000_000  # entries of the graph that a probe goes through, at most
SAMPLE_ROWS = 32_768
CHUNKS = 16  # places that a sample of rows is taken from


@dataclass(frozen=True)
class Estimate:
    """What an embedding is expected to take, reading and writing aside."""

    seconds: float
    peak_bytes: int


def estimate(graph: Graph, chosen: Settings, *, threads: int) -> Estimate:
    """The cost of embedding a graph with these settings on this machine."""
    if len(graph.indices) * chosen.dim <= SMALL:
        import graphrefine.embedding.embedding  # noqa: F401  loading it is not the embedding's time

        start = perf_counter()
        embed_graph(graph, chosen, threads=threads)
        return Estimate(perf_counter() - start, peak_bytes())
    if two_sides(graph, chosen):
        needed = find("refine").memory(Shape.of(graph), chosen)
        return Estimate(_seconds_of_sides(graph, chosen, threads), max(peak_bytes(), held_bytes() + needed))
    return Estimate(_seconds(graph, chosen, threads), _bytes(graph, chosen))


def _seconds_of_sides(graph: Graph, chosen: Settings, threads: int) -> float:
    start = perf_counter()
    arcs, width = arcs_and_columns(graph, chosen.dim)
    engine = LocalEngine(arcs, columns=width, threads=threads, bfloat16=chosen.bfloat16)
    N = normalised(arcs)[0]
    turned = N.T
    engine._product(N)
    engine._product(turned)
    once = perf_counter() - start
    probe = _Probe(engine, threads)
    x = probe.fresh_half()
    pairs = rounds(chosen) + 1
    dense = probe.gram() + probe.rotation(triangular=True)
    return once + probe.touching(3) + pairs * (probe.product(N, x) + probe.product(turned, x) + 2 * dense)


def _bytes(graph: Graph, chosen: Settings) -> int:
    """What the process holds at the height of the run: what it holds now, and what the engine adds."""
    engine = LocalEngine.sizes(graph, columns=chosen.dim, bfloat16=chosen.bfloat16)
    if chosen.quality == "high":
        return max(peak_bytes(), held_bytes() + find("refine").memory(Shape.of(graph), chosen))
    slabs = engine.slabs if chosen.filter != "none" else engine.slabs_unfiltered
    return max(peak_bytes(), held_bytes() + slabs * engine.slab_bytes + engine.other_bytes)


def _seconds(graph: Graph, chosen: Settings, threads: int) -> float:
    if chosen.quality == "high":
        return _seconds_of_high_quality(graph, threads)
    theta = chosen.theta(graph)
    start = perf_counter()
    engine = LocalEngine(graph, columns=chosen.dim, threads=threads, bfloat16=chosen.bfloat16)
    M = proximity(graph, threads=threads)
    sketch = engine.random(seed=chosen.seed)
    engine._product(M)
    once = perf_counter() - start

    probe = _Probe(engine, threads)
    signs = probe.product(M, sketch)
    x = probe.fresh_half()
    product = probe.product(M, x)
    total = once + probe.touching(2) + signs + (chosen.power - 1) * product + product
    gram, turn = probe.gram(), probe.rotation(triangular=False)
    total += -(-chosen.power // TOGETHER) * (gram + probe.rotation(triangular=True))
    if chosen.spectrum != 1.0:
        total += gram + turn
    if theta is not None:
        total += (len(theta) - 1) * probe.product(transition(graph), x)
        total += gram + turn
        if chosen.centre:
            total += 2 * probe.sums()
    return total


def _seconds_of_high_quality(graph: Graph, threads: int) -> float:
    """Walks from all landmarks, twice, are nearly all of it: as many columns in products of an engine's width."""
    probe = _Probe(LocalEngine(graph, columns=WIDTH, threads=threads), threads)
    products = 2 * WINDOW * -(-min(LANDMARKS, graph.nodes) // WIDTH)
    return products * probe.product(walk(graph), probe.fresh_half())


class _Probe:
    """Times the verbs of an engine on a part of the rows."""

    def __init__(self, engine: LocalEngine, threads: int) -> None:
        self.engine, self.threads = engine, threads
        self.nodes = engine.graph.nodes
        self._touch = 0.0

    def fresh_half(self) -> LocalTall:
        """A tall matrix as a product gathers from, in memory touched for the first time."""
        tall = self.engine._new(precise=False)
        start = perf_counter()
        tall.data.reshape(-1).view(np.uint8)[::4096] = 1
        self._touch = (perf_counter() - start) / tall.data.nbytes
        return tall

    def touching(self, slabs: float) -> float:
        """First use of so many slabs."""
        return self._touch * slabs * self.nodes * self.engine.padded * 4 / self.threads

    def product(self, operator: Operator, x: LocalTall) -> float:
        """One product, from a sample of its rows."""
        indptr, indices, weights = self.engine._pattern(operator)
        rows = self._rows(indptr)
        parts = [slice(indptr[r.start], indptr[r.stop]) for r in rows]
        counts = np.concatenate([np.diff(indptr[r.start : r.stop + 1]) for r in rows])
        sampled = self.engine.kernels.product(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            np.concatenate([indices[p] for p in parts]),
            columns=self.nodes,
            value=operator.edge_values(None if weights is None else np.concatenate([weights[p] for p in parts])),
            row_shift=_pick(operator.row_shift, rows),
            column_shift=operator.column_shift,
            row_scale=_pick(operator.row_scale, rows),
            column_scale=operator.column_scale,
            constant=operator.base,
        )
        out = np.empty((len(counts), self.engine.padded), np.uint16 if self.engine.half else np.float32)
        share = (int(counts.sum()) / max(len(indices), 1) + len(counts) / self.nodes) / 2
        return _timed(lambda: sampled.apply(x.data, out=out, threads=self.threads)) / max(share, 1e-12)

    def _rows(self, indptr: NDArray[np.int64]) -> list[slice]:
        """Chunks of consecutive rows, spread over the graph, with about the wanted number of entries."""
        share = min(1.0, SAMPLE_ENTRIES / max(int(indptr[-1]), 1))
        edges = np.linspace(0, self.nodes, CHUNKS + 1).astype(int)
        return [
            slice(a, a + max(1, round((b - a) * share)))
            for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
            if b > a
        ]

    def gram(self) -> float:
        """The Gram matrix of a tall matrix that is in the cache."""
        block, share = self._block()
        gram = np.zeros((self.engine.padded, self.engine.padded))
        run = lambda: self.engine.kernels.rotate(block, None, out=None, gram=gram, threads=self.threads)
        return _timed(run) / share

    def rotation(self, *, triangular: bool) -> float:
        """A rotation of a tall matrix."""
        block, share = self._block()
        small = np.eye(self.engine.padded, dtype=np.float32)
        out = np.empty_like(block)
        run = lambda: self.engine.kernels.rotate(block, small, triangular=triangular, out=out, threads=self.threads)
        return _timed(run) / share

    def sums(self) -> float:
        """The sums of a tall matrix's columns."""
        block, share = self._block()
        sums = np.zeros(self.engine.padded)
        run = lambda: self.engine.kernels.rotate(block, None, out=None, sums=sums, threads=self.threads)
        return _timed(run) / share

    def _block(self) -> tuple[NDArray[np.float32], float]:
        rows = min(self.nodes, SAMPLE_ROWS)
        return np.ones((rows, self.engine.padded), np.float32), rows / self.nodes


def _pick(x: NDArray[np.float32] | None, rows: list[slice]) -> NDArray[np.float32] | None:
    return None if x is None else np.concatenate([x[r] for r in rows])


def _timed(run: Callable[[], None]) -> float:
    """Seconds of a second run: the first one fills the caches and touches the memory."""
    run()
    start = perf_counter()
    run()
    return perf_counter() - start
