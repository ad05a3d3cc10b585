"""Vectors of directed and bipartite graphs and of features: the same bits for any order of rows, and on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engines import engine_in
from graphrefine.engine.engine import Engine
from graphrefine.engine.local import LocalEngine
from graphrefine.engine.stage_cache import StageCache
from graphrefine.graph.graph import Graph
from graphrefine.progress import Stages
from graphrefine.refine.bipartite import bipartite_vectors, weighted_vectors
from graphrefine.refine.directed import columns, directed_vectors
from graphrefine.refine.features import feature_vectors
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.svd import oversampled
from graphrefine.refine.views import TIERS, joint_views
from graphs import random_graph

NODES, USERS = 1300, 1100
Floats = NDArray[np.float32]
EngineOf = Callable[[Graph, int], Engine[Any]]


def directed(engine_of: EngineOf, weighted: bool) -> Floats:
    graph = random_graph(NODES, directed=True, weighted=weighted, isolated=5)
    return directed_vectors(engine_of(graph, columns(32, NODES)), graph, Stages(), dim=32, far=True)


def taken(weighted: bool) -> Graph:
    """Arcs from users to items."""
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, USERS, 9000), USERS + (200 * rng.random(9000) ** 2).astype(np.int64)
    weights = rng.uniform(0.1, 5, 9000) if weighted else None
    return Graph.from_edges(user, item, weights, names=np.arange(NODES), directed=True)


def bipartite(engine_of: EngineOf, weighted: bool) -> Floats:
    arcs = taken(weighted)
    return bipartite_vectors(engine_of(arcs, oversampled(24, NODES)), arcs, Stages(), sources=USERS, dim=24)


def factors(engine_of: EngineOf, weighted: bool) -> Floats:
    width = oversampled(24, NODES)
    return weighted_vectors(lambda arcs: engine_of(arcs, width), taken(weighted), Stages(), sources=USERS, dim=24)


def features(engine_of: EngineOf, weighted: bool) -> Floats:
    graph, rng = random_graph(NODES, weighted=weighted, isolated=5), np.random.default_rng(1)
    numbers = np.arange(NODES)[:, None] % 7 + rng.random((NODES, 50))
    numbers[rng.random(numbers.shape) < 0.7 * weighted] = 0.0  # sparse beside weights, dense without
    return feature_vectors(lambda width: engine_of(graph, width), graph, numbers, dim=24, seed=0)[0]


def views(engine_of: EngineOf, weighted: bool) -> Floats:
    graph = random_graph(NODES, weighted=weighted, isolated=3)
    cache = StageCache(lambda columns: engine_of(graph, columns))
    return joint_views(graph, RefineSettings(dim=32), TIERS["default"], Stages(), stage_cache=cache)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("vectors_of", [directed, bipartite, factors, features, views])
def test_order_and_blocks_change_no_bit(
    tmp_path: Path, vectors_of: Callable[[EngineOf, bool], Floats], weighted: bool
) -> None:
    orders = list[Any]()
    folders = iter(range(9))

    def local(reorder: bool) -> EngineOf:
        def engine_of(graph: Graph, width: int) -> Engine[Any]:
            engine = LocalEngine(graph, columns=width, threads=2, reorder=reorder)
            orders.append(engine.order)
            return engine

        return engine_of

    def on_disk(graph: Graph, width: int) -> Engine[Any]:
        return engine_in(tmp_path / str(next(folders)), graph, width, chunk=600)

    here = vectors_of(local(False), weighted)
    assert all(order is None for order in orders) and here.any()
    there = vectors_of(local(True), weighted)
    assert orders[-1] is not None and not np.array_equal(orders[-1], np.arange(NODES))
    assert np.array_equal(here, there)
    assert np.array_equal(here, vectors_of(on_disk, weighted))
