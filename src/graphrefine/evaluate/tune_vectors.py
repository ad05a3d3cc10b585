"""Vectors of one trial after the other; parts that trials share are computed once.

The range of M, most of the work, depends on some of the settings only (`RANGE`): trials that differ in the filter or in
a later step smooth the same range again. They also share the graph as the engine orders it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine
from graphrefine.engine.local import LocalTall
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import Resources
from graphrefine.progress import Stages
from graphrefine.refine.refine import find_range, smooth
from graphrefine.refine.settings import RefineSettings

ENGINE = ("dim", "bfloat16")
RANGE = (*ENGINE, "seed", "block", "power", "negative", "exponent", "log_weights", "two_sided", "spectrum")


class TrialVectors:
    """Vectors of a graph by any settings, to the bit those of `graphrefine.embed`.

    Examples
    --------
    >>> vectors = TrialVectors(Graph.from_edges([0, 1, 2], [1, 2, 3]), threads=1)
    >>> vectors.make(RefineSettings(dim=2)).shape
    (4, 2)
    >>> vectors.kind(RefineSettings(dim=2, filter="heat")), vectors.kind(RefineSettings(dim=2, negative=5))
    ('filter', 'range')
    """

    def __init__(self, graph: Graph, *, threads: int) -> None:
        self.graph, self.threads = graph, threads
        self._engine: Engine[LocalTall] | None = None
        self._engine_key: tuple[object, ...] = ()
        self._range: LocalTall | None = None
        self._range_key: tuple[object, ...] = ()

    def kind(self, settings: RefineSettings) -> str:
        """Work for vectors by these settings: a new range, or the filter alone."""
        return "filter" if _range_key(settings) == self._range_key else "range"

    def make(self, settings: RefineSettings) -> NDArray[np.float32]:
        """Vectors by these settings.  # (n, k)."""
        run = Resources(self.threads, Stages())
        engine_key = tuple(getattr(settings, name) for name in ENGINE)
        if self._engine is None or engine_key != self._engine_key:
            self._range, self._range_key, self._engine_key = None, (), engine_key
            self._engine = run.engine(self.graph, columns=settings.dim, bfloat16=settings.bfloat16)
        if self._range is None or self.kind(settings) == "range":
            self._range = None  # its memory is used for the new one
            self._range = find_range(self._engine, self.graph, settings, run.stages, threads=self.threads)
            self._range_key = _range_key(settings)
        vectors = smooth(self._engine, self.graph, settings, self._range, run.stages, keep=True)
        if self.graph.isolated:
            vectors[self.graph.without_edges()] = 0.0
        return vectors


def _range_key(settings: RefineSettings) -> tuple[object, ...]:
    """All settings that a range depends on; without a filter it is stored in another precision."""
    return (*(getattr(settings, name) for name in RANGE), settings.filter == "none")
