"""The proof of a worker that its results may be joined with those of others: versions, kernels, and bits that it makes.

A version is what a worker says. The bits of a small computation are what it does: they would differ where kernels are
other ones under the same name.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

import numpy as np

from graphrefine import __version__
from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.kernels import kernels
from graphrefine.kernels.arithmetic import ARITHMETICS, use_arithmetic
from graphrefine.linalg.operators import adjacency

NODES, COLUMNS, SEED = 50, 40, 7  # of the small computation
SAME = "install the same version there"


class Proof(NamedTuple):
    """What a process says of itself, and a checksum of what it computes."""

    version: str  # of graphrefine
    arithmetics: tuple[int, ...]  # versions that it computes
    kernel: str  # "native" or "scipy"
    simd: str  # instruction set; may differ
    bits: int | None  # None: not computed, for an arithmetic that it has not, or twins, which have no contract


def make_proof(arithmetic: int) -> Proof:
    """The proof of this process for a run with a version of the arithmetic."""
    chosen, known = kernels(), tuple(sorted(ARITHMETICS))
    computes = chosen.name == "native" and arithmetic in known
    return Proof(__version__, known, chosen.name, chosen.simd, _bits(arithmetic) if computes else None)


def find_difference(ours: Proof, theirs: object, arithmetic: int) -> str | None:
    """Why the results of a process cannot be joined with those of the client; None where they can.

    Examples
    --------
    >>> ours = Proof("0.1.0", (1, 2), "native", "avx2", 99)
    >>> find_difference(ours, ours._replace(simd="baseline"), 2) is None
    True
    >>> find_difference(ours, ours._replace(version="0.0.9"), 2)
    'it has graphrefine 0.0.9, and this machine 0.1.0; install the same version there'
    >>> find_difference(ours, ours._replace(arithmetics=(1,)), 2)
    'it computes arithmetic 1, and this run has arithmetic 2: the bits would differ; install the same version there'
    >>> find_difference(ours, ours._replace(bits=98), 2)
    'it computes other bits than this machine with the same version and kernels; install graphrefine there anew'
    >>> find_difference(ours, None, 2)
    'it does not say which graphrefine it has; install the same version there'
    """
    if not isinstance(theirs, Proof):
        return f"it does not say which graphrefine it has; {SAME}"
    if arithmetic not in theirs.arithmetics:
        known = ", ".join(map(str, theirs.arithmetics))
        return (
            f"it computes arithmetic {known}, and this run has arithmetic {arithmetic}: the bits would differ; {SAME}"
        )
    if theirs.version != ours.version:
        return f"it has graphrefine {theirs.version}, and this machine {ours.version}; {SAME}"
    if theirs.kernel != ours.kernel:
        return (
            f"it computes with {theirs.kernel} kernels, and this machine with {ours.kernel} ones: the last bits would "
            "differ; install graphrefine there as it is here, and set GRAPHREFINE_KERNEL alike"
        )
    if theirs.bits != ours.bits:
        return (
            "it computes other bits than this machine with the same version and kernels; install graphrefine there anew"
        )
    return None


def _bits(arithmetic: int) -> int:
    """A checksum of a random sketch, a product with a small graph, its Gram matrix and a rotation."""
    first = np.arange(NODES)
    ends = np.concatenate([(first + 1) % NODES, (first * 7 + 3) % NODES])
    weights = 1 / (1 + np.arange(2 * NODES, dtype=np.float32))
    graph = Graph.from_edges(np.concatenate([first, first]), ends, weights)
    with use_arithmetic(arithmetic):
        engine = LocalEngine(graph, columns=COLUMNS, threads=1)
        sketch = engine.random(seed=SEED)
        product = engine.apply(adjacency(graph, loop=0.5), sketch)
        gram = engine.gram(product)
        rows = engine.collect(product, rotation=gram / np.abs(gram).max())
    return zlib.crc32(rows.tobytes(), zlib.crc32(gram.tobytes()))
