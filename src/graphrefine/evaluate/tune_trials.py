"""Vectors for one trial after the other; what trials share is made once.

The range of M, most of the work, depends on some of the settings only (`RANGE`): trials that differ in the filter or in
what follows it smooth the same one again. So do they share the graph as the engine orders it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphrefine.methods.contract import Resources
from graphrefine.progress import Stages
from graphrefine.refine.refine import find_range, smooth
from graphrefine.refine.settings import RefineSettings

if TYPE_CHECKING:
    from graphrefine.engine.engine import Engine
    from graphrefine.engine.local import LocalTall
    from graphrefine.graph.graph import Graph

ENGINE = ("dim", "bfloat16")
RANGE = (*ENGINE, "seed", "block", "power", "negative", "exponent", "log_weights", "two_sided", "spectrum")


class Bench:
    """Makes the vectors of a graph by any settings, to the bit as `graphrefine.embed` does.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> bench = Bench(Graph.from_edges([0, 1, 2], [1, 2, 3]), threads=1)
    >>> bench.vectors(Settings(dim=2)).shape
    (4, 2)
    >>> bench.kind(Settings(dim=2, filter="heat")), bench.kind(Settings(dim=2, negative=5))
    ('filter', 'range')
    """

    def __init__(self, graph: Graph, *, threads: int) -> None:
        self.graph, self.threads = graph, threads
        self._engine: Engine[LocalTall] | None = None
        self._engine_by: tuple[object, ...] = ()
        self._range: LocalTall | None = None
        self._range_by: tuple[object, ...] = ()

    def kind(self, chosen: RefineSettings) -> str:
        """What vectors by these settings take: a new range, or the filter alone."""
        return "filter" if _range_by(chosen) == self._range_by else "range"

    def vectors(self, chosen: RefineSettings) -> NDArray[np.float32]:
        """The vectors (n, k)."""
        run = Resources(self.threads, Stages())
        engine_by = tuple(getattr(chosen, name) for name in ENGINE)
        if self._engine is None or engine_by != self._engine_by:
            self._range, self._range_by, self._engine_by = None, (), engine_by
            self._engine = run.engine(self.graph, columns=chosen.dim, bfloat16=chosen.bfloat16)
        if self._range is None or self.kind(chosen) == "range":
            self._range = None  # its memory is used for the new one
            self._range = find_range(self._engine, self.graph, chosen, run.stages, threads=self.threads)
            self._range_by = _range_by(chosen)
        made = smooth(self._engine, self.graph, chosen, self._range, run.stages, keep=True)
        if self.graph.isolated:
            made[self.graph.without_edges()] = 0.0
        return made


def _range_by(chosen: RefineSettings) -> tuple[object, ...]:
    """All that a range depends on; without a filter it is kept in another precision."""
    return (*(getattr(chosen, name) for name in RANGE), chosen.filter == "none")
