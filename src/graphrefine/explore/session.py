"""The session of a server: an embedding, with the graph, labels, columns, layouts and measures that belong to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError, UnknownNameError, require
from graphrefine.explore.autocomplete import Autocomplete
from graphrefine.explore.background import Background, Task, Watch
from graphrefine.explore.columns import CategoryColumn, Column, NodeLabels, NumberColumn, as_number
from graphrefine.explore.groups import find_groups
from graphrefine.explore.matched_graph import MatchedGraph
from graphrefine.explore.neighbor_search import NeighborSearch
from graphrefine.explore.quality import make_quality_tasks
from graphrefine.explore.request_params import LAYOUTS
from graphrefine.explore.responses import Node
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import SIDES, Side
from graphrefine.graph.node_ids import is_range, text_names
from graphrefine.search.companions import companion
from graphrefine.search.index import INDEX_BEYOND
from graphrefine.search.vectors import check_finite


class Session:
    """An embedding with everything that the page and its API give of it.

    Its vectors stay where they are: mapped, if they come from a file. ``labels`` is anything that
    `graphrefine.readers.labels.as_labels` takes, or the name of an attribute of the graph's nodes; ``columns`` are
    further ones to color by. With ``index``, neighbors are found by an index once it is made; None: beyond a million
    nodes.
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
        embedding, graph = _with_texts(embedding, graph)
        if index:
            require("usearch", "an index of neighbors", "ann")
        self.embedding, self.name = embedding, name
        self.graph = None if graph is None else MatchedGraph(graph, embedding)
        self.labels = None if labels is None else NodeLabels(labels, embedding.names, graph)
        self.search = NeighborSearch(embedding, self.labels, self.graph)
        self.autocomplete = Autocomplete(embedding.names)
        self._pictures: dict[tuple[str, str | None], bytes] = {}
        self._drawing = Lock()
        self.blobs: dict[tuple[str, str], Any] = {}  # of layouts and columns, as they were sent
        groups = Task(
            "cluster" if graph is None else "community", lambda watch: find_groups(embedding, self.graph, watch)
        )
        self.columns = {name: _ready_task(name, column) for name, column in self._list_columns(columns or {})}
        self.columns[groups.name] = groups
        self.layouts = {name: self._layout_task(name) for name in LAYOUTS}
        self.quality = make_quality_tasks(embedding, self.labels, self.graph, self.search)
        if index is None:
            # Below, an exact search is quick enough, and right.
            index = len(embedding) > INDEX_BEYOND and find_spec("usearch") is not None
        index_tasks = [Task("index", self.search.make_index)] if index else []
        preparation = Task("preparation", self._prepare)
        # The order is that of the page: a first map, quick answers, then what takes minutes; the best map comes last.
        tasks = [self.layouts["pca"], preparation, *index_tasks, groups, *self.quality, self.layouts["clusters"]]
        self.background = Background([task for task in tasks if task.state == "working"], urgent=1)

    def _list_columns(self, table: Mapping[str, Column]) -> list[tuple[str, Column]]:
        """List the columns that are there at once: a new way to color the map is one more here."""
        own: list[tuple[str, Column]] = [] if self.labels is None else [("label", self.labels.column())]
        if self.degrees is not None:
            own.append(("degree", NumberColumn(self.degrees, log=True)))
        reserved = {name for name, _ in own} | {"community", "cluster"}
        return [*own, *((f"{name} (table)" if name in reserved else name, column) for name, column in table.items())]

    def _layout_task(self, name: str) -> Task:
        """Return the task of a layout: ready at once if it is in the cache, else made in the background."""
        path = self.embedding.path
        if path is not None and companion(path, "map").is_dir():
            from graphrefine.display.maps import find_layout

            coordinates = find_layout(self.embedding, name)
            if coordinates is not None:
                return _ready_task(name, coordinates)

        def make_layout(watch: Watch) -> NDArray[np.float32]:
            from graphrefine.display.maps import obtain_layout  # here, so that the server is up before its imports

            return obtain_layout(self.embedding, name, watcher=watch).coordinates

        return Task(name, make_layout)

    def _prepare(self, watch: Watch) -> None:
        """Do now the work that the first requests would wait for."""
        self.embedding.lookup.check_distinct()
        watch.check()
        self.autocomplete.find("a")
        watch.check()
        if len(self.embedding):
            self.search.by("cosine").nearest(rows=np.zeros(1, np.int64), k=1)
            self.embedding.score(self.embedding.source_names[:1], self.embedding.target_names[:1])

    @property
    def has_two_sides(self) -> bool:
        """Whether a name may be on two sides."""
        return self.embedding.sides.kind == "rows"

    def check_row(self, row: int) -> int:
        """Return a row that a request names, or raise InputError."""
        count = len(self.embedding)
        if row < count:
            return row
        expected = f"a row from 0 to {count - 1} is expected" if count else "the embedding is empty"
        raise InputError(f"row={row}: {expected}", argument="row")

    def parse_name(self, name: Any, side: Side | None = None) -> Any:
        """Return a name as the embedding has it: in a query, integers are texts. Refuse a side where there is one."""
        if side is not None and not self.has_two_sides:
            raise InputError(f"side={side}: the embedding has one side; leave it out", argument="side")
        return self.embedding.lookup.as_name(name) if isinstance(name, str) else name

    def find_row(self, name: Any, side: Side | None) -> int:
        """Return the row of a node, or raise InputError; UnknownNameError if no node has the name."""
        name = self.parse_name(name, side)
        row = self.embedding.lookup.find(name, side)
        if row is None:
            where = f" on the {side} side" if side else ""
            raise UnknownNameError(
                f"no node is called {repr(name)[:80]}{where}; /api/nodes?prefix= finds names by a part"
            )
        return row + (0 if side is None else self.embedding.sides.first(side))

    @cached_property
    def named(self) -> bool:
        """Whether nodes have names, other than the numbers of their rows."""
        return not is_range(self.embedding.names)

    @cached_property
    def degrees(self) -> NDArray[np.float32] | None:
        """The number of neighbors of each row, if it is known."""
        if self.embedding.degrees is not None:
            return np.asarray(self.embedding.degrees)  # of a mapped file: as a plain array, which is quicker to read
        return None if self.graph is None else self.graph.degrees()

    def node(self, row: int) -> Node:
        """Return a node as every list of nodes has it."""
        name = self.embedding.names[row]
        return {
            "row": row,
            "node": name if isinstance(name, str) else int(name),
            "side": SIDES[row >= self.embedding.sides.start] if self.has_two_sides else None,
            "degree": None if self.degrees is None else as_number(self.degrees[row]),
            "labels": [] if self.labels is None else self.labels.at(row),
        }

    def values(self, row: int) -> dict[str, Any]:
        """Return the value of a row in each column that is ready."""
        return {name: task.value.value(row) for name, task in self.columns.items() if task.state == "ready"}

    def draw(self) -> bytes:
        """Draw the best map that is ready as an image, in the colors of the first categories: labels, if any."""
        layout = self.best_layout
        columns = {name: task.value for name, task in self.columns.items() if task.state == "ready"}
        color = next((name for name, column in columns.items() if isinstance(column, CategoryColumn)), None)
        with self._drawing:
            if (layout, color) not in self._pictures:
                from graphrefine.display.maps.map import NAMES, Map, draw  # here, as maps are slow to load

                classes = columns[color].classes if color else None
                degrees = None if self.degrees is None else np.nan_to_num(self.degrees)
                coordinates, title = self.layouts[layout].value, f"{self.name} by {color or layout}"
                drawn = Map(self.embedding.names, coordinates, classes, degrees, title=title)
                self._pictures[layout, color] = draw(drawn, "png", names=NAMES)
            return self._pictures[layout, color]

    @property
    def best_layout(self) -> str:
        """The best layout that is ready, or the one that will be first."""
        ready = [name for name in LAYOUTS if self.layouts[name].state == "ready"]
        return ready[-1] if ready else LAYOUTS[0]


def _with_texts(embedding: Embedding, graph: Graph | None) -> tuple[Embedding, Graph | None]:
    """Return both with names that a page can hold: integers, or strings."""
    names = text_names(embedding.names, sources=embedding.recipe.get("sources"))
    if names is embedding.names:
        return embedding, graph
    whole = Embedding.from_data(embedding.data._replace(names=names))
    named = graph if graph is None or graph.stored else replace(graph, names=text_names(graph.names))
    return whole, named


def _ready_task(name: str, value: Any) -> Task:
    task = Task(name, lambda watch: value)
    task.run()
    return task
