"""The engine in blocks: the bits of the engine in memory whatever the cuts, and what it does when it is interrupted."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engines import StoppedError, engine_in, in_memory, stop_after
from graphrefine.engine.layout import UNIT, cut_chunks, cut_rows
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import FormatError, OutputError
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import Operator, proximity, transition
from graphrefine.progress import Stages
from graphrefine.refine.refine import refine
from graphrefine.refine.settings import RefineSettings


def graph_of(nodes: int, edges: int, *, seed: int, weighted: bool = False, directed: bool = False) -> Graph:
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, nodes, (2, edges)) ** 2 // nodes  # some nodes have many more edges than others
    weights = rng.integers(1, 9, edges).astype(np.float32) if weighted else None
    return Graph.from_edges(ends[0], ends[1], weights, names=range(nodes), directed=directed)


KINDS = st.fixed_dictionaries({"seed": st.integers(0, 99), "weighted": st.booleans(), "directed": st.booleans()})
CUTS = st.fixed_dictionaries(
    {
        "rows": st.sampled_from([512, 1024]),
        "panel": st.sampled_from([32, 64, 96]),
        "chunk": st.sampled_from([None, 512, 1200]),
        "bfloat16": st.booleans(),
    }
)


@settings(max_examples=12, deadline=None)
@given(kind=KINDS, cuts=CUTS)
def test_the_bits_do_not_depend_on_the_cuts(
    tmp_path_factory: pytest.TempPathFactory, kind: dict[str, Any], cuts: dict[str, Any]
) -> None:
    graph = graph_of(2100, 4000, **kind)
    chosen = RefineSettings(dim=70, seed=kind["seed"], bfloat16=cuts["bfloat16"])
    vectors = refine(engine_in(tmp_path_factory.mktemp("work"), graph, 70, **cuts), graph, chosen, Stages())
    assert np.array_equal(vectors, in_memory(graph, chosen))
    assert np.isfinite(vectors).all() and np.abs(vectors).max() > 0


@pytest.mark.parametrize(("panel", "chunk"), [(32, None), (64, 512)])
@pytest.mark.parametrize("precise", [False, True])
def test_every_verb_is_that_of_the_engine_in_memory(
    tmp_path: Path, panel: int, chunk: int | None, precise: bool
) -> None:
    graph = graph_of(1200, 2000, seed=3)
    blocks = engine_in(tmp_path, graph, 48, panel=panel, chunk=chunk)
    both: list[Any] = [blocks, LocalEngine(graph, columns=48, reorder=False)]
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1200, 48)).astype(np.float32)
    weights, rotation, shift = rng.random(1200).astype(np.float32), rng.normal(size=(48, 20)), rng.normal(size=48)
    M, T = proximity(graph), transition(graph)
    results = []
    for engine in both:
        given = engine.fill(lambda start, stop: rows[start:stop], precise=True)
        signs = engine.random(seed=5)
        filled = engine.apply(T, signs, plus=(0.5, given), shift=shift, unit=True, gram=True, precise=precise)
        found = [engine.gram(filled), engine.sums(filled, weights), engine.sums(given)]
        turned = engine.rotate(engine.apply(M, filled, precise=True), rotation, unit=True, precise=True)
        found += [engine.collect(turned), engine.collect(filled, rotation, shift=shift[:20]), engine.gram(turned)]
        results.append(found)
    for ours, theirs in zip(*results, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("panel", [32, 64])
def test_rows_are_visited_as_in_memory_and_not_again_in_a_run_that_is_taken_up(tmp_path: Path, panel: int) -> None:
    graph = graph_of(1300, 4000, seed=4)
    rows, columns = np.array([0, 7, 512, 1299]), np.array([3, 0, 47, 5], np.int32)
    values = np.array([1.5, 2, 3, 4], np.float32)
    results, visits = [], list[slice]()
    for where in (None, tmp_path, tmp_path):
        local: Any = LocalEngine(graph, columns=48, reorder=False)
        engine = local if where is None else engine_in(where, graph, 48, panel=panel)
        results.append(visit_all(engine, transition(graph), rows, columns, values, visits))
    assert [block.stop for block in visits].count(1300) == 2, "the third finds the work of the second"
    assert [block.start for block in visits[1:]] == [0, *(block.stop for block in visits[1:-1])]
    (hot, copy, total), *others = results
    assert np.array_equal(hot[rows, columns], values) and np.count_nonzero(hot) == 4
    for other in others:
        assert np.array_equal(hot, other[0]) and np.array_equal(copy, other[1])
        assert np.allclose(total, other[2], rtol=1e-12) and total.any()


def visit_all(
    engine: Any, T: Operator, rows: Any, columns: Any, values: Any, visits: list[slice]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float64]]:
    """A one-hot matrix, a copy of what a step makes of it, and its sums; the blocks are added to ``visits``."""
    hot = engine.one_hot(rows, columns, values)
    spread = engine.apply(T, hot, precise=True)
    copy, total = engine.array(48, np.float32), np.zeros(48)

    def work(block: slice, entries: NDArray[np.float32]) -> None:
        copy[block] = entries[:, :48]
        total[:] += entries[:, :48].sum(axis=0, dtype=np.float64)
        visits.append(block)

    engine.visit(spread, work, total)
    return engine.collect(hot), np.array(copy), total


@pytest.mark.parametrize(("count", "panel"), [(0, 64), (5, 64), (23, 32), (60, 32)])
def test_an_interrupted_run_goes_on_where_it_stood(tmp_path: Path, count: int, panel: int) -> None:
    graph = graph_of(1400, 3000, seed=2)
    chosen = RefineSettings(dim=64)
    first = engine_in(tmp_path, graph, 64, panel=panel)
    stop_after(first, count)
    with pytest.raises(StoppedError):
        refine(first, graph, chosen, Stages())
    asked: list[int] = []  # the tasks of a run that is taken up, and of a whole one
    for folder in (tmp_path, tmp_path / "whole"):
        engine = engine_in(folder, graph, 64, panel=panel)
        asked.append(0)

        def counting(tasks: Any, run: Any = engine.executor.run) -> Any:
            asked[-1] += len(tasks)
            return run(tasks)

        engine.executor.run = counting  # type: ignore[method-assign]
        assert np.array_equal(refine(engine, graph, chosen, Stages()), in_memory(graph, chosen))
    assert asked[0] <= asked[1] - count + 1


def test_the_work_of_another_run_and_damaged_work_are_not_taken_up(tmp_path: Path) -> None:
    graph, chosen = graph_of(1400, 3000, seed=2), RefineSettings(dim=32)
    refine(engine_in(tmp_path / "other", graph, 32), graph, chosen, Stages())
    assert len(list((tmp_path / "other" / "tall").iterdir())) <= 3, "files that are not needed any more are removed"
    with pytest.raises(OutputError, match="another run"):
        refine(engine_in(tmp_path / "other", graph, 32), graph, RefineSettings(dim=32, power=3), Stages())
    first = engine_in(tmp_path, graph, 32)
    stop_after(first, 3 * first.layout.blocks + 1)
    with pytest.raises(StoppedError):
        refine(first, graph, chosen, Stages())
    for path in tmp_path.glob("tall/*/*"):
        data = bytearray(path.read_bytes())
        data[5] ^= 64
        path.write_bytes(data)
    with pytest.raises(FormatError, match="checksum"):
        refine(engine_in(tmp_path, graph, 32), graph, chosen, Stages())


@given(
    counts=st.lists(st.integers(0, 50), min_size=1, max_size=60),
    rows=st.integers(1, 3000),
    entries=st.integers(1, 60_000),
    chunk=st.integers(1, 3000),
)
@example(counts=[9] * 20, rows=700, entries=60_000, chunk=500)  # a block that is no whole number of units
def test_cuts_cover_all_rows_within_their_limits(counts: list[int], rows: int, entries: int, chunk: int) -> None:
    indptr = np.concatenate([[0], np.cumsum(np.repeat(counts, 100))])
    bounds = cut_rows(indptr, columns=32, block_bytes=rows * 128, entries=entries)
    assert bounds[0] == 0 and bounds[-1] == len(indptr) - 1 and (np.diff(bounds) >= 1).all()
    assert (bounds[:-1] % UNIT == 0).all()
    for start, stop in pairwise(bounds.tolist()):
        assert stop - start <= max(rows, UNIT)
        assert indptr[stop] - indptr[start] <= entries or stop - start <= UNIT
    chunks = cut_chunks(bounds, rows=chunk)
    assert chunks[0] == 0 and chunks[-1] == len(bounds) - 1 and (np.diff(chunks) >= 1).all()
