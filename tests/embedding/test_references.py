"""An embedding holds vectors, not the graph that they were made from: nothing leads from it to a graph or a closure."""

from __future__ import annotations

import functools
import gc
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse

import graphrefine
from graphrefine import Embedding, Graph
from graphs import random_graph

CALLS = (types.FunctionType, types.MethodType, types.CellType, types.GeneratorType, types.FrameType, functools.partial)


def reachable(embedding: Any) -> Iterator[Any]:
    """All that an object holds, directly or through others; its class and modules aside."""
    waiting, visited = [embedding], {id(embedding): embedding}
    while waiting:
        each = waiting.pop()
        yield each
        referents = gc.get_referents(each)
        if isinstance(each, np.ndarray):  # which does not tell the collector
            referents += [each.base, *(each.ravel().tolist() if each.dtype == object else [])]
        for referent in referents:
            if not isinstance(referent, type | types.ModuleType) and id(referent) not in visited:
                visited[id(referent)] = referent
                waiting.append(referent)


GRAPHS: dict[str, Callable[[], Graph]] = {
    "undirected": lambda: random_graph(60, degree=6),
    "directed": lambda: graphrefine.read([(i, (i * 7 + 3) % 30) for i in range(30)], directed=True),
    "bipartite": lambda: graphrefine.read([(i % 12, (i * 5) % 9) for i in range(60)], bipartite=True),
}
MADE: dict[str, Callable[[Graph], Embedding]] = {
    "plain": lambda graph: graphrefine.embed(graph, 4),
    "at once": lambda graph: graphrefine.embed(graph, 4, learn=True),
    "later": lambda graph: graphrefine.embed(graph, 4).learn(graph),
    "aligned": lambda graph: graphrefine.embed(graph, 4, learn=True).align_to(graphrefine.embed(graph, 4, seed=1)),
}


@pytest.mark.parametrize(
    ("kind", "way"),
    [*(("undirected", way) for way in MADE), *((kind, way) for kind in GRAPHS for way in ("plain", "at once"))],
)
def test_an_embedding_holds_no_graph(kind: str, way: str) -> None:
    graph = GRAPHS[kind]()
    embedding = MADE[way](graph)
    graph_alive = weakref.ref(graph)
    del graph
    gc.collect()
    assert graph_alive() is None
    check_free(embedding)
    node = embedding.source_names[0].item()
    if embedding.state.degree_weight is not None:  # without a warning
        embedding.score(node)
        check_free(embedding.fold_in([("new", node)]))
    embedding.index(node, side="source")
    check_free(embedding)  # with what it has cached by now


def check_free(embedding: Embedding) -> None:
    objects = list(reachable(embedding))
    assert any(each is embedding.vectors for each in objects)
    assert not [each for each in objects if isinstance(each, Graph) or issparse(each)]
    assert not [each for each in objects if isinstance(each, CALLS)]


def test_the_walk_finds_what_it_must_find() -> None:
    """The control."""
    graph = random_graph(20)
    embedding = Embedding(None, np.eye(2))
    check_free(embedding)
    for held in (graph, lambda: graph, functools.partial(len, [graph]), csr_array(np.eye(2)), graph.to_scipy):
        embedding.recipe["held"] = [{"deep": held}]
        with pytest.raises(AssertionError):
            check_free(embedding)
