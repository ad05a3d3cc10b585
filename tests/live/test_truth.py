"""Truth of live vectors on small graphs: every unit row within its bound of a run from scratch, in float64 with SciPy.

`benchmarks/live/` measures the same on real graphs, and what takes time.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import graphrefine.live
from graphrefine.datasets import block_model, power_law
from graphrefine.graph.graph import Graph
from graphrefine.live import model
from graphrefine.live.writer import Live

SCRIPTS = Path(__file__).parents[2] / "benchmarks" / "live"
DIM, SIZE = 16, 50

if TYPE_CHECKING:
    import scratch
    import truth
    import workload

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the benchmarks are not here")


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.syspath_prepend(str(SCRIPTS.parent))
    global scratch, truth, workload
    import scratch
    import truth
    import workload


@contextmanager
def follow(graph: Graph, place: Path, *, dim: int = DIM, tolerance: float = 0.1) -> Iterator[Live]:
    with graphrefine.live.create(graph, place / "graph.live", dim=dim, tolerance=tolerance, threads=1) as live:
        live.auto_refresh = False
        yield live


def verdicts(live: Live, share: float = 1.0) -> list[scratch.Verdict]:
    vectors, true = live.snapshot().vectors, scratch.scratch_vectors(live._model, *live._kernel.rows())
    return [scratch.judge(vectors, true, share * bounds) for bounds in (live.bounds(), live.sharp_bounds())]


@pytest.mark.parametrize(("tolerance", "weighted"), [(0.02, False), (0.1, False), (0.4, False), (0.1, True)])
def test_every_row_is_within_its_bound_after_edges_were_replaced(
    tmp_path: Path, tolerance: float, weighted: bool
) -> None:
    graph, at = power_law(400, 1600).graph, 0
    if weighted:
        edges = workload.edges_of(graph)
        weights = np.random.default_rng(0).uniform(0.1, 9, len(edges)).astype(np.float32)
        graph = Graph.from_edges(edges.sources, edges.targets, weights)
    changes = workload.replace_edges(graph, 480)
    with follow(graph, tmp_path, tolerance=tolerance) as live:
        for share in (0.01, 0.1, 0.3):
            end = 2 * round(share * graph.edges)
            workload.apply(live, changes.part(at, end), size=SIZE)
            at = end
            assert [each.beyond for each in verdicts(live)] == [0, 0]
        # bounds that say something
        assert weighted or all(each.without < 40 and each.ratio > 0.05 for each in verdicts(live))


def test_every_row_is_within_its_bound_while_a_graph_grows(tmp_path: Path) -> None:
    first, changes = workload.grow(600, 4)
    with follow(first, tmp_path) as live:
        for start in range(0, len(changes), 300):
            workload.apply(live, changes.part(start, start + 300), size=SIZE)
            assert [each.beyond for each in verdicts(live)] == [0, 0]
        assert len(live) == 600
        live.refresh()
        assert [each.beyond for each in verdicts(live)] == [0, 0]


def test_wrong_bounds_and_rows_are_seen(tmp_path: Path) -> None:
    graph = power_law(400, 1600).graph
    changes = workload.replace_edges(graph, 100)
    with follow(graph, tmp_path) as live:
        workload.apply(live, changes, size=SIZE)
        assert all(each.beyond > 0 for each in verdicts(live, share=0.05))
    (tmp_path / "broken").mkdir()
    with follow(graph, tmp_path / "broken") as live:  # a group whose rows are not computed again
        truth.follow(live, changes, argparse.Namespace(broken="group", size=SIZE))
        assert verdicts(live)[0].beyond > 0


def test_the_run_from_scratch_is_the_fixed_point(tmp_path: Path) -> None:
    graph = power_law(60, 200).graph
    with follow(graph, tmp_path) as live:
        parts, rows = live._model, live._kernel.rows()
        A = graph.to_scipy().toarray().astype(float)
        degrees, n = A.sum(axis=1), len(A)
        entries = np.where(A > 0, -np.log(np.maximum(degrees, 1))[:, None] + parts.shifts, 0)
        q = entries @ parts.basis.astype(float)
        length = np.linalg.norm(q, axis=1, keepdims=True)
        R = np.where(length > 0, (q / np.where(length > 0, length, 1) - parts.mean) @ parts.rotation, 0)
        T = (A + parts.loop * np.eye(n)) / (degrees + parts.loop)[:, None]
        a = parts.settings.keep
        F = (T @ np.linalg.solve(np.eye(n) - (1 - a) * T, a * R))[:, :DIM]
        F[degrees == 0] = 0
        norms = np.linalg.norm(F, axis=1, keepdims=True)
        assert np.allclose(scratch.scratch_vectors(parts, *rows), F / np.where(norms > 0, norms, 1), atol=1e-6)


def test_a_refresh_leaves_nodes_without_a_changed_edge_where_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = block_model(1500, 9000, classes=6).graph
    changes = workload.replace_edges(graph, 90)
    same = np.ones(graph.nodes, bool)
    same[changes.ends()] = False

    def drift(folder: str) -> tuple[float, float]:
        (tmp_path / folder).mkdir()
        with follow(graph, tmp_path / folder) as live:
            before = live.snapshot()
            workload.apply(live, changes, size=SIZE)
            moved = truth.distance(before, live.snapshot(), same)
            live.refresh()
            return moved, truth.distance(before, live.snapshot(), same)

    moved, refreshed = drift("even")
    assert moved < 0.1
    assert refreshed < 0.2
    monkeypatch.setattr(model, "WARM_POWER", 3)  # odd: from the other side of M
    assert drift("odd")[1] > 1.5 * refreshed
