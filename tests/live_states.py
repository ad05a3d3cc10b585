"""States of live vectors: all that a folder holds at one moment, to the bit, and a plain model of its graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.live.checkpoint import kernel_blocks
from graphrefine.live.model import Refresh
from graphrefine.live.reader import LiveVectors
from graphrefine.live.writer import Live

Edges = dict[frozenset[Any], float]


def kernel_bits(kernel: Any, columns: int) -> tuple[bytes, ...]:
    """Targets, states and numbers of all nodes, and the rows of the graph."""
    blocks = zip(*(parts for _, *parts in kernel_blocks(kernel, columns)), strict=True)
    arrays = [np.concatenate(each) for each in blocks]
    return tuple(array.tobytes() for array in (*arrays, *kernel.rows()))


def published_bits(live: LiveVectors) -> tuple[Any, ...]:
    """What readers see: names, unit rows and lengths of nodes that are there, and the number of the group."""
    rows = live._vectors.present()
    vectors, lengths = live._vectors.rows(rows), live._vectors.lengths[rows]
    return live.group, tuple(live.names.tolist()), vectors.tobytes(), lengths.tobytes()


def bits(live: Live) -> tuple[Any, ...]:
    """All that counts of a writer's state."""
    return *published_bits(live), *kernel_bits(live._kernel, live._model.basis.shape[1]), live._kernel.captured


class Model:
    """A graph as a plain dict: the weight of each edge, and the names."""

    def __init__(self, edges: Edges, names: set[Any]) -> None:
        self.edges, self.names = dict(edges), set(names)

    def apply(self, sign: str, source: Any, target: Any, weight: float) -> None:
        """A change; KeyError for one to remove that is not there."""
        if target is None and sign == "+":
            self.names.add(source)
        elif target is None:
            self.names.remove(source)
            self.edges = {edge: each for edge, each in self.edges.items() if source not in edge}
        elif sign == "-":
            del self.edges[frozenset((source, target))]
        else:
            edge = frozenset((source, target))
            before = self.edges.get(edge, 0.0) if sign == "+" else 0.0
            self.edges[edge] = float(np.float32(before) + np.float32(weight))
            self.names |= edge


def graph_of(live: Live) -> Model:
    """The graph of a folder as a plain dict."""
    graph = live.graph()
    names = graph.names.tolist()
    ends = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    weights: NDArray[Any] = np.ones(len(ends)) if graph.weights is None else graph.weights
    pairs = zip(ends.tolist(), graph.indices.tolist(), weights.tolist(), strict=True)
    return Model({frozenset((names[u], names[v])): weight for u, v, weight in pairs}, set(names))


def generations(live: Live) -> list[tuple[int, int]]:
    """Numbers of all checkpoints after the first, and the last group that each began with."""
    rows: list[tuple[int, int]] = live._store._all("SELECT id, ended FROM generations WHERE id > 1 ORDER BY id")
    return rows


class Replay:
    """A copy of a folder as it was created, which goes the way that the log of another one tells.

    Groups are made by ``operations(number)``. Refreshes begin and end after the same groups as there, and generations
    come at the same moments.
    """

    def __init__(self, folder: Path, operations: Any) -> None:
        self.live = Live(folder, threads=1)
        self.live.auto_refresh = False
        self._operations = operations
        self._generation = 1

    def follow(self, other: Live) -> None:
        """Go on to the state of another folder."""
        refreshes = {each["generation"]: each["begun"] for each in other.drift()}
        for number, through in generations(other):
            if number <= self._generation:
                continue
            refresh = self._begin(refreshes[number]) if number in refreshes else None
            self._commit(through)
            if refresh is None:
                self.live._save(self.live._model, self.live._kernel, self.live._table)
                self.live._open()
            else:
                self.live._refresh = refresh
                self.live._finish_refresh()
            self._generation = number
        self._commit(other.group)

    def _begin(self, group: int) -> Refresh:
        self._commit(group)
        live = self.live
        refresh = Refresh(live._model, live._kernel, live._table, group=group, reason="replay")
        refresh.wait()
        return refresh

    def _commit(self, through: int) -> None:
        while self.live.group < through:
            self.live.collect(self._operations(self.live.group + 1))
            self.live.commit()
