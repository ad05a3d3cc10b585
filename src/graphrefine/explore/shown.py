"""What is shown: an embedding, and what is known of its nodes from a graph, from labels and from tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.util import find_spec
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import MissingExtraError
from graphrefine.explore.colouring import Categories, Column, Numbers, as_number
from graphrefine.explore.completing import Completion
from graphrefine.explore.endpoints import Facts
from graphrefine.explore.grouping import make_groups
from graphrefine.explore.judging import make_scores
from graphrefine.explore.labelling import NodeLabels
from graphrefine.explore.linking import Linked
from graphrefine.explore.making import Background, Task, Watch
from graphrefine.explore.picture import Picture
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_names import is_range
from graphrefine.search import INDEX_BEYOND, Search
from graphrefine.vectors.checks import check_finite
from graphrefine.vectors.companions import companion

Score = Literal["cosine", "dot", "link"]
LAYOUTS = ("pca", "clusters")  # the better ones last


class Shown:
    """An embedding with all that the page and its API tell about it.

    Parameters
    ----------
    embedding
        Its vectors stay where they are: mapped, if they come from a file.
    graph
        The graph that it was made from, or one with some of the same nodes.
    labels
        Anything that `graphrefine.readers.labels.as_labels` takes.
    columns
        Further columns to colour by, for each row.
    index
        Whether to search neighbours by an index, once it is made, rather than exactly; None: beyond a million nodes.
    name
        What the page calls it.

    Examples
    --------
    >>> shown = Shown(Embedding([0, 1], [[1, 0], [0, 1]], degrees=[1, 1]), labels=["red", "blue"])
    >>> shown.node(1)
    {'row': 1, 'node': 1, 'side': None, 'degree': 1, 'labels': ['blue']}
    """

    def __init__(
        self,
        embedding: Embedding,
        *,
        graph: Graph | None = None,
        labels: Any = None,
        columns: Mapping[str, Column] | None = None,
        index: bool | None = None,
        name: str = "embedding",
    ) -> None:
        check_finite(embedding.vectors, embedding.names)
        if index and find_spec("usearch") is None:
            raise MissingExtraError("an index of neighbours", "usearch", "ann")
        self.embedding, self.name = embedding, name
        self.linked = None if graph is None else Linked(graph, embedding)
        self.labels = None if labels is None else NodeLabels(labels, embedding.names)
        self._searches: dict[str, Search] = {}
        self._pictures: dict[tuple[str, str | None], bytes] = {}
        self._drawing = Lock()
        self._targets = embedding.sides.start  # the row at which they begin, where there are two sides
        self.completion = Completion(embedding.names)
        self.columns = {name: _ready(name, column) for name, column in self._columns(columns or {})}
        self.layouts = {name: self._layout(name) for name in LAYOUTS}
        groups = Task(
            "community" if graph else "cluster", lambda watch: make_groups(embedding, graph, self.linked, watch)
        )
        self.columns[groups.name] = groups
        self.scores = make_scores(self)
        prepared = Task("prepared", self._prepare)
        wanted = len(embedding) > INDEX_BEYOND and find_spec("usearch") is not None if index is None else index
        indexed = [Task("index", self._make_index)] if wanted else []
        work = [self.layouts["pca"], prepared, *indexed, groups, *self.scores, self.layouts["clusters"]]
        self.background = Background([task for task in work if task.state == "working"], urgent=1)

    def _columns(self, given: Mapping[str, Column]) -> list[tuple[str, Column]]:
        own: list[tuple[str, Column]] = []
        if self.labels is not None:
            own.append(("label", self.labels.column()))
        if self.degrees is not None:
            own.append(("degree", Numbers(self.degrees, log=True)))
        taken = {name for name, _ in own} | {"community", "cluster"}
        return [*own, *((f"{name} (table)" if name in taken else name, column) for name, column in given.items())]

    def _layout(self, name: str) -> Task:
        """A layout: at once if it is kept beside the embedding, else made in the background."""
        path = self.embedding.path
        if path is not None and companion(path, "map").is_dir():
            from graphrefine.maps import find_layout

            kept = find_layout(self.embedding, name)
            if kept is not None:
                return _ready(name, kept)
        return Task(name, self._make_layout(name))

    def _make_layout(self, name: str) -> Callable[[Watch], NDArray[np.float32]]:
        def make(watch: Watch) -> NDArray[np.float32]:
            from graphrefine.maps import kept_layout  # here, so that the server is up before all that is loaded

            return kept_layout(self.embedding, name, watch=watch).coordinates

        return make

    def _prepare(self, watch: Watch) -> None:
        """Do now what the first requests would wait for."""
        self.embedding.lookup.check_distinct()
        watch.check()
        self.completion.prepare()
        watch.check()
        if len(self.embedding):
            self.search("cosine").nearest(rows=np.zeros(1, np.int64), k=1)
            self.embedding.score(self.embedding.source_names[:1], self.embedding.target_names[:1])

    @cached_property
    def facts(self) -> Facts:
        """What the parameters of requests depend on."""
        integers = self.embedding.names.dtype != object
        two = self.embedding.sides.kind == "rows"
        return Facts(len(self.embedding), self.embedding.dim, integers, two, LAYOUTS)

    @cached_property
    def named(self) -> bool:
        """Whether nodes have names, rather than the numbers of their rows."""
        return not is_range(self.embedding.names)

    @cached_property
    def degrees(self) -> NDArray[np.float32] | None:
        """How many neighbours each row has, if that is known."""
        if self.embedding.degrees is not None:
            return np.asarray(self.embedding.degrees)  # of a mapped file: as a plain array, which is quicker to ask
        return None if self.linked is None else self.linked.degrees()

    def search(self, score: Score) -> Search:
        """The search by a score, exact until there is an index."""
        if score not in self._searches:
            self._searches[score] = Search(self.embedding, score, index=False)
        return self._searches[score]

    def searched(self, score: str) -> str:
        """How the search by a score is done."""
        found = self._searches.get(score)
        return "exact" if found is None or found.index is None else "index"

    def _make_index(self, watch: Watch) -> None:
        """Search by an index from now on: by the cosine, as most do."""
        self._searches["cosine"] = Search(self.embedding, "cosine", index=True, watcher=watch)

    def node(self, row: int) -> dict[str, Any]:
        """What every list of nodes tells of one."""
        name = self.embedding.names[row]
        return {
            "row": row,
            "node": name if isinstance(name, str) else int(name),
            "side": self._side(row),
            "degree": None if self.degrees is None else as_number(self.degrees[row]),
            "labels": [] if self.labels is None else self.labels.of(row),
        }

    def _side(self, row: int) -> str | None:
        """On which side of a bipartite graph a row stands."""
        if not self.facts.two_sides:
            return None
        return "source" if row < self._targets else "target"

    def values(self, row: int) -> dict[str, Any]:
        """The value of a row in each column that is ready."""
        return {name: task.value.value(row) for name, task in self.columns.items() if task.state == "ready"}

    def picture(self) -> bytes:
        """The best map that is ready as an image, in the colours of the first categories that are: labels, if any."""
        layout = self.best_layout
        found = {name: task.value for name, task in self.columns.items() if task.state == "ready"}
        column = next((name for name, value in found.items() if isinstance(value, Categories)), None)
        with self._drawing:
            if (layout, column) not in self._pictures:
                coordinates = self.layouts[layout].value
                drawn = Picture(self.embedding.names, coordinates, self.degrees, f"{self.name} by {column or layout}")
                self._pictures[layout, column] = drawn.png(found[column] if column else None)
            return self._pictures[layout, column]

    @property
    def best_layout(self) -> str:
        """The best layout that is ready, or the one that will be first."""
        ready = [name for name in LAYOUTS if self.layouts[name].state == "ready"]
        return ready[-1] if ready else LAYOUTS[0]


def _ready(name: str, value: Any) -> Task:
    task = Task(name, lambda watch: value)
    task.run()
    return task
