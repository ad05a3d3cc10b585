"""The block engine on a Dask cluster: its bits, workers that are killed, and what can go wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from graphrefine.engine.blocks import BlockEngine
from graphrefine.engine.cluster import Cluster, cluster_engine, connect
from graphrefine.engine.local import LocalEngine
from graphrefine.graph import Graph
from graphrefine.progress import Stages
from graphrefine.refine import Settings, refine
from graphrefine.stored import StoredGraph, open_stored, store
from graphs import random_graph

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connect(workers=2) as client:
        yield client


def stored(folder: Path, graph: Graph) -> StoredGraph:
    store(graph, folder / "graph.grf")
    return open_stored(folder / "graph.grf")


def in_memory(graph: Graph, chosen: Settings) -> NDArray[np.float32]:
    return refine(LocalEngine(graph, columns=chosen.dim, reorder=False), graph, chosen, Stages())


def executor(engine: BlockEngine) -> Cluster:
    assert isinstance(engine.executor, Cluster)
    return engine.executor


@pytest.mark.parametrize(("directed", "names"), [(False, "range"), (True, "strings")])
def test_the_bits_are_those_of_the_engine_in_memory(client: Any, tmp_path: Path, directed: bool, names: str) -> None:
    plain = random_graph(9000, degree=10, weighted=True, directed=directed, isolated=70, seed=4)
    if names == "strings":
        ends = np.repeat(np.arange(plain.nodes), plain.out_counts)
        plain = Graph.from_edges(
            [f"n{i}" for i in ends], [f"n{i}" for i in plain.indices], plain.weights, directed=True
        )
    graph, chosen = stored(tmp_path, plain), Settings(dim=40)
    engine = cluster_engine(client, graph, str(tmp_path / "work"), columns=40)
    assert engine.layout.blocks >= 8 and len(engine.layout.chunks) - 1 >= 4
    vectors = refine(engine, graph, chosen, Stages())
    assert np.array_equal(vectors, in_memory(plain, chosen))
    report = executor(engine).workers_report()
    assert len(report) == 2
    assert all(worker["blocks"] > 0 and worker["bytes_read"] > 0 and worker["tasks"] > 0 for worker in report)
