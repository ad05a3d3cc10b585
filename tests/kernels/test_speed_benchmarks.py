"""What the benchmarks of speed measure with: a record of kernel calls, the machine's floor, a worker."""

from __future__ import annotations

import doctest
import importlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import graphrefine
from graphrefine.engine.local import LocalEngine
from graphrefine.graph.graph import Graph
from graphrefine.kernels import native
from graphrefine.linalg.operators import adjacency

SCRIPTS = Path(__file__).parents[2] / "benchmarks"

if TYPE_CHECKING:
    import compute_worker
    import kernel_calls
    import machine_probe

pytestmark = pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the benchmarks are not here")


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    global compute_worker, kernel_calls, machine_probe
    import compute_worker
    import kernel_calls
    import machine_probe


@pytest.mark.parametrize("name", ["kernel_calls", "machine_probe", "roofline", "per_edge"])
def test_the_examples(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried and not failed


def ring(nodes: int) -> Graph:
    return Graph.from_edges(np.arange(nodes), (np.arange(nodes) + 1) % nodes)


def test_a_record_has_every_product_and_its_work() -> None:
    graph = ring(50)
    with kernel_calls.recording() as calls:
        engine = LocalEngine(graph, columns=32)
        engine.gram(engine.apply(adjacency(graph), engine.random(seed=0), precise=True))
    product, gram = (call for call in calls if call.entries or call.flops)
    assert (product.rows, product.entries, product.row_bytes, product.gathered) == (50, 100, 4, 400)
    assert gram.flops == 50 * 32 * 33 and product.name.startswith("product, signs to float32")
    assert all(call.seconds > 0 for call in calls)


def test_the_kernels_are_as_before_after_a_record() -> None:
    before = dict(vars(native))
    with pytest.raises(ZeroDivisionError), kernel_calls.recording():
        assert vars(native) != before
        raise ZeroDivisionError
    assert vars(native) == before


def test_a_record_changes_no_bits() -> None:
    graph = ring(40)
    plain = graphrefine.embed(graph, 8, quality="fast").vectors
    with kernel_calls.recording() as calls:
        recorded = graphrefine.embed(graph, 8, quality="fast").vectors
    assert np.array_equal(plain, recorded) and calls


@pytest.mark.skipif(not any(map(shutil.which, ("c++", "g++", "clang++"))), reason="there is no compiler")
def test_the_floor_of_this_machine() -> None:
    floor = machine_probe.MachineProbe(size=1 << 24, part=1 << 22, gathers=1 << 12, repeats=2).measure(2)
    figures = [floor.read, floor.write, floor.copy, floor.gflops, *(each.gbps for each in floor.gather.values())]
    assert set(floor.gather) == {128, 256} and all(0.001 < figure < 1e5 for figure in figures)


def test_without_a_compiler_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(machine_probe.NoCompilerError, match="needs a C"):
        machine_probe.MachineProbe().measure(1)


def test_a_worker_times_the_same_runs(tmp_path: Path) -> None:
    (tmp_path / "graph.txt").write_text("\n".join(f"{i} {(i * 7 + 1) % 60}" for i in range(60)))
    worker = compute_worker.Worker(sys.executable, tmp_path / "graph.txt")
    try:
        assert worker.version == graphrefine.__version__
        seconds = worker.run(preset="paper", dim=8, threads=1)
        assert 0 < seconds.wall < 60 and 0 < seconds.cpu < 60
    finally:
        worker.close()
