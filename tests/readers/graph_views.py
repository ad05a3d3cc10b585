"""Graphs as plain values, and stand-ins for tensors, for the tests of readers."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphrefine.graph.graph import Graph
from graphs import check


def dense(graph: Graph) -> Any:
    """Return the matrix of a graph that is sound, as lists."""
    check(graph)
    return graph.to_scipy().toarray().tolist()


def entries_of(graph: Graph) -> dict[tuple[Any, Any], float]:
    """Return the weights of all entries of a graph that is sound, by the names of their ends."""
    check(graph)
    entries, names = graph.to_scipy().tocoo(), graph.names.tolist()
    arcs = zip(*(each.tolist() for each in entries.coords), entries.data.tolist(), strict=True)
    return {(names[u], names[v]): weight for u, v, weight in arcs}


class Tensor:
    """What this library asks of a dense torch tensor, and no more."""

    layout = "torch.strided"

    def __init__(self, values: Any) -> None:
        self.values_ = np.asarray(values)
        self.shape = self.values_.shape

    def detach(self) -> Any:
        return self

    cpu = detach

    def numpy(self) -> Any:
        return self.values_


class Stream:
    """A table of which nothing is known but that it speaks Arrow's C interface."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)
