"""Joint views in blocks on disk: the bits of work in memory whatever the cuts, near its usual order, and taken up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines import StoppedError, engine_in
from graphrefine.engine.blocks import BlockEngine
from graphrefine.engine.local import LocalEngine
from graphrefine.engine.stage_cache import FolderStageCache, StageCache
from graphrefine.graph.graph import Graph, store
from graphrefine.graph.stored import open_stored
from graphrefine.pipeline.out_of_core import OnDisk
from graphrefine.progress import Stages
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.views import TIERS, Tier, joint_views
from graphrefine.system.threads import one_blas_thread
from graphs import random_graph

Floats = NDArray[np.float32]

FEW = Tier(each=1, least=256, most=256, draws=2, work=1 << 32, products=9)


@pytest.fixture(autouse=True, scope="module")
def alone() -> Iterator[None]:
    """As in a run: BLAS has one thread."""
    with one_blas_thread():
        yield


def in_memory(graph: Graph, chosen: RefineSettings, *, tier: Tier = FEW) -> Floats:
    """In the order that rows have on disk."""
    cache = StageCache(lambda columns: LocalEngine(graph, columns=columns, reorder=False, bfloat16=chosen.bfloat16))
    return joint_views(graph, chosen, tier, Stages(), stage_cache=cache)


def in_blocks(folder: Path, graph: Graph, chosen: RefineSettings, *, threads: int = 1, **cuts: Any) -> Floats:
    def make(place: Path, columns: int) -> BlockEngine:
        return engine_in(place, graph, columns, bfloat16=chosen.bfloat16, threads=threads, **cuts)

    return joint_views(graph, chosen, FEW, Stages(), threads=threads, stage_cache=FolderStageCache(folder, make))


CUTS = st.fixed_dictionaries(
    {
        "rows": st.sampled_from([512, 1024]),
        "panel": st.sampled_from([32, 64, 128]),
        "chunk": st.sampled_from([None, 512]),
        "threads": st.integers(1, 3),
    }
)


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 99), CUTS, st.sampled_from([6, 40]), st.booleans(), st.booleans())
def test_the_bits_do_not_depend_on_the_cuts(
    tmp_path_factory: pytest.TempPathFactory, seed: int, cuts: dict[str, Any], degree: int, weighted: bool, half: bool
) -> None:
    """Walks remember with a degree of 6, and forget with 40."""
    graph = random_graph(1100, degree=degree, seed=seed, weighted=weighted, isolated=3)
    chosen = RefineSettings(dim=40, seed=seed, bfloat16=half)
    made = in_blocks(tmp_path_factory.mktemp("work"), graph, chosen, **cuts)
    assert np.array_equal(made, in_memory(graph, chosen))
    assert np.abs(np.linalg.norm(made, axis=1) - 1)[graph.degrees() > 0].max() < 1e-3


@pytest.mark.parametrize("weighted", [False, True])
def test_a_graph_on_disk_gives_the_same(tmp_path: Path, weighted: bool) -> None:
    graph = random_graph(1200, weighted=weighted)
    store(graph, tmp_path / "graph.grf")
    stored, chosen = open_stored(tmp_path / "graph.grf"), RefineSettings(dim=128)
    cache = OnDisk(tmp_path / "work", 64, 2).stage_cache(stored, bfloat16=True)
    made = joint_views(stored, chosen, TIERS["default"], Stages(), threads=2, stage_cache=cache)
    assert np.array_equal(made, in_memory(graph, chosen, tier=TIERS["default"]))
    assert not list((tmp_path / "work" / "engines").iterdir()), "files of engines go with their stage"


class Clock:
    """Engines that stop, all together, after so many of their steps; and how many tasks they were asked for."""

    def __init__(self, folder: Path, graph: Graph, *, most: int | None = None) -> None:
        self.folder, self.graph, self.left, self.tasks = folder, graph, most, 0

    def vectors(self) -> Floats:
        cache = FolderStageCache(self.folder, self.make)
        return joint_views(self.graph, RefineSettings(dim=24), FEW, Stages(), stage_cache=cache)

    def make(self, place: Path, columns: int) -> BlockEngine:
        engine = engine_in(place, self.graph, columns, rows=1024, entries=10**6, panel=64)
        run, finish = engine.executor.run, engine.journal.finish

        def counting(tasks: Any) -> Any:
            self.tasks += len(tasks)
            return run(tasks)

        def stopping(step: int, description: str, small: Any) -> None:
            if self.left == 0:
                raise StoppedError
            finish(step, description, small)
            self.left = None if self.left is None else self.left - 1

        engine.executor.run, engine.journal.finish = counting, stopping  # type: ignore[method-assign]
        return engine


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, alone: None) -> tuple[Graph, Floats, int]:
    graph = random_graph(1100, weighted=True)
    clock = Clock(tmp_path_factory.mktemp("whole"), graph)
    return graph, clock.vectors(), clock.tasks


@pytest.mark.parametrize("most", [0, 3, 25, 40, 46, 58, 70, 77])
def test_a_run_that_was_stopped_is_taken_up(tmp_path: Path, whole: tuple[Graph, Floats, int], most: int) -> None:
    graph, expected, tasks = whole
    first = Clock(tmp_path, graph, most=most)
    with pytest.raises(StoppedError):
        first.vectors()
    again = Clock(tmp_path, graph)
    assert np.array_equal(again.vectors(), expected)
    assert again.tasks <= tasks - first.tasks + 8, "what was done is not done again"


def test_a_run_that_was_stopped_while_views_were_joined_is_taken_up(
    tmp_path: Path, whole: tuple[Graph, Floats, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The views are as they were, whatever of the result was written."""
    graph, expected, _ = whole
    count = [0]

    def unit_rows(rows: Floats) -> Floats:
        count[0] += 1
        if count[0] == 1:
            return rows * np.float32(np.nan)
        raise StoppedError

    clock = Clock(tmp_path, graph)
    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr("graphrefine.refine.views.BLOCK", 512)
        patch.setattr("graphrefine.refine.views.unit_rows", unit_rows)
        clock.vectors()
    again = Clock(tmp_path, graph)
    assert np.array_equal(again.vectors(), expected) and again.tasks == 0


def test_a_complete_graph_has_refine_alone(tmp_path: Path) -> None:
    complete = Graph.from_edges(*np.triu_indices(60, 1))
    chosen = RefineSettings(dim=8)
    made = in_blocks(tmp_path, complete, chosen)
    assert np.array_equal(made, in_memory(complete, chosen))
    made[0] = 0  # it may be written to: nodes without edges are zero
