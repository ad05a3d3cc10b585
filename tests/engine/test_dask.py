"""The block engine on a Dask cluster: its bits, workers that are killed, and what can go wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engines import StoppedError, in_memory, stop_after
from graphrefine.engine.blocks import BlockEngine
from graphrefine.engine.dask import Cluster, cluster_engine, plan_layout
from graphrefine.engine.dask_client import connect
from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.graph.graph import Graph, store
from graphrefine.graph.stored import StoredGraph, open_stored, read_patterns
from graphrefine.kernels import native
from graphrefine.progress import Stages
from graphrefine.refine.refine import refine
from graphrefine.refine.settings import RefineSettings
from graphs import random_graph
from processes import start_process


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with connect(workers=2) as client:
        yield client


def stored(folder: Path, graph: Graph) -> StoredGraph:
    store(graph, folder / "graph.grf")
    return open_stored(folder / "graph.grf")


def reports(engine: BlockEngine) -> list[dict[str, Any]]:
    assert isinstance(engine.executor, Cluster)
    return engine.executor.workers_report()


@pytest.mark.parametrize(("directed", "names"), [(False, "range"), (True, "strings")])
def test_the_bits_are_those_of_the_engine_in_memory(client: Any, tmp_path: Path, directed: bool, names: str) -> None:
    plain = random_graph(9000, degree=10, weighted=True, directed=directed, isolated=70, seed=4)
    if names == "strings":
        ends = np.repeat(np.arange(plain.nodes), plain.out_counts)
        plain = Graph.from_edges(
            [f"n{i}" for i in ends], [f"n{i}" for i in plain.indices], plain.weights, directed=True
        )
    graph, chosen = stored(tmp_path, plain), RefineSettings(dim=40)
    engine = cluster_engine(client, graph, str(tmp_path / "work"), columns=40)
    assert engine.layout.blocks >= 8 and len(engine.layout.chunks) - 1 >= 4
    vectors = refine(engine, graph, chosen, Stages())
    assert np.array_equal(vectors, in_memory(plain, chosen))
    report = reports(engine)
    assert len(report) == 2
    assert all(worker["blocks"] > 0 and worker["bytes_read"] > 0 and worker["tasks"] > 0 for worker in report)


def test_a_worker_that_is_killed_is_survived_with_the_right_bits(client: Any, tmp_path: Path) -> None:
    plain = random_graph(9000, degree=10, isolated=3, seed=5)
    graph, chosen = stored(tmp_path, plain), RefineSettings(dim=40)
    before = client.run(os.getpid)
    address, pid = next(iter(before.items()))
    engine, done = cluster_engine(client, graph, str(tmp_path / "work"), columns=40), list[Any]()

    def killing(tasks: Any, run: Any = engine.executor.run) -> Any:
        for found in run(tasks):
            done.append(found)
            if len(done) == 12:
                os.kill(pid, signal.SIGKILL)
            yield found

    engine.executor.run = killing  # type: ignore[method-assign]
    vectors = refine(engine, graph, chosen, Stages())
    assert np.array_equal(vectors, in_memory(plain, chosen))
    client.wait_for_workers(2, timeout=20)
    assert pid not in client.run(os.getpid).values()
    report = {worker["name"]: worker["tasks"] for worker in reports(engine)}
    assert 0 < report[address] < sum(report.values()) / 2  # it had its part until then, and what it did is counted


def test_an_interrupted_run_goes_on_with_the_cuts_it_had(client: Any, tmp_path: Path) -> None:
    plain = random_graph(9000, degree=10, seed=6)
    graph, chosen, work = stored(tmp_path, plain), RefineSettings(dim=32), str(tmp_path / "work")
    first = stop_after(cluster_engine(client, graph, work, columns=32), 9)
    with pytest.raises(StoppedError):
        refine(first, graph, chosen, Stages())
    # As if there were more workers now: cut anew, blocks and tasks would be others.
    again = cluster_engine(client, graph, work, columns=32, worker_memory=1 << 22)
    assert np.array_equal(again.layout.bounds, first.layout.bounds)
    assert np.array_equal(refine(again, graph, chosen, Stages()), in_memory(plain, chosen))
    with pytest.raises(OutputError, match="another run"):
        cluster_engine(client, graph, work, columns=64)


def test_a_damaged_block_of_the_graph_is_named(client: Any, tmp_path: Path) -> None:
    graph = stored(tmp_path, random_graph(9000, degree=10, seed=7))
    path = tmp_path / "graph.grf" / "indices.npy"
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    engine = cluster_engine(client, graph, str(tmp_path / "work"), columns=32)
    with pytest.raises(FormatError, match=r"indices\.npy, block \d+"):
        refine(engine, graph, RefineSettings(dim=32), Stages())


@pytest.mark.parametrize("missing", ["elsewhere", "other", "work"])
def test_a_worker_that_does_not_see_what_it_needs_says_so(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    graph, work, root = stored(tmp_path, random_graph(600, seed=8)), tmp_path / "work", tmp_path / f"{missing}.grf"
    if missing == "other":
        store(random_graph(600, seed=9), root)
    elif missing == "work":  # a path that means another folder to each process, as on a disk that is not shared
        work.mkdir()
        monkeypatch.chdir(tmp_path)
        work, root = Path("/proc/self/cwd/work"), graph.path
    with pytest.raises(InputError, match=missing):
        engine = cluster_engine(client, graph, str(work), columns=32)
        assert isinstance(engine.executor, Cluster)
        engine.executor.site = engine.executor.site._replace(graph=str(root))
        refine(engine, graph, RefineSettings(dim=32), Stages())


@contextmanager
def mixed_client(*environments: dict[str, str]) -> Iterator[Any]:
    """A client of a cluster whose workers have these environments, one thread each."""
    from distributed import Client, Nanny, Scheduler, SpecCluster

    options = {"nthreads": 1, "dashboard": False}
    workers = {at: {"cls": Nanny, "options": {**options, "env": env}} for at, env in enumerate(environments)}
    scheduler = {"cls": Scheduler, "options": {"dashboard": False, "dashboard_address": ":0", "host": "127.0.0.1"}}
    with SpecCluster(workers=workers, scheduler=scheduler, silence_logs=50) as cluster, Client(cluster) as client:
        client.wait_for_workers(len(environments), timeout=30)
        yield client


def test_workers_of_several_instruction_sets_give_the_same_bits(tmp_path: Path) -> None:
    plain = random_graph(9000, degree=10, weighted=True, isolated=7, seed=14)
    graph, settings = stored(tmp_path, plain), RefineSettings(dim=40)

    def instruction_set() -> str:
        from graphrefine.kernels import native

        return str(native.simd())

    with mixed_client({"GRAPHREFINE_SIMD": "baseline"}, {"GRAPHREFINE_SIMD": "avx2"}) as client:
        sets = set(client.run(instruction_set).values())
        assert len(sets) == 2 or native.simd() not in ("avx2", "avx512"), sets
        engine = cluster_engine(client, graph, str(tmp_path / "work"), columns=40)
        vectors = refine(engine, graph, settings, Stages())
        assert all(worker["tasks"] > 0 for worker in reports(engine))
    assert np.array_equal(vectors, in_memory(plain, settings))


def test_a_worker_that_comes_later_is_held_to_the_run(tmp_path: Path) -> None:
    graph = stored(tmp_path, random_graph(9000, seed=8))
    preload = tmp_path / "preload.py"
    preload.write_text("from graphrefine.engine import worker; worker.__version__ = '0.0.9'\n", encoding="utf-8")
    with mixed_client({}) as client:
        engine = cluster_engine(client, graph, str(tmp_path / "work"), columns=32)
        command = [sys.executable, "-m", "dask", "worker", client.scheduler.address, "--no-nanny", "--no-dashboard"]
        command += ["--nthreads", "1", "--preload", str(preload), "--local-directory", str(tmp_path)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with start_process(command, **quiet):
            client.wait_for_workers(2, timeout=60)
            with pytest.raises(InputError, match=r"tcp://.*0\.0\.9"):
                refine(engine, graph, RefineSettings(dim=32), Stages())


def test_workers_read_the_rows_of_the_graph(tmp_path: Path) -> None:
    plain = random_graph(700, directed=True, weighted=True, seed=3)
    patterns = read_patterns(stored(tmp_path, plain))
    for name, graph in (("rows", plain), ("arrivals", plain.transposed())):
        for ours, theirs in zip(patterns[name].rows(100, 350), graph.rows(100, 350), strict=True):
            np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("memory", [None, 1 << 22, 1 << 26])
@pytest.mark.parametrize("workers", [1, 2, 7])
def test_no_worker_gets_a_whole_matrix(memory: int | None, workers: int) -> None:
    graph = random_graph(20_000, seed=1)
    layout, group = plan_layout(graph, columns=64, workers=workers, memory=memory)
    rows = max(int(np.diff(layout.bounds[layout.chunks]).max()), 1)
    assert layout.blocks >= 8 and layout.panels == 1 and rows <= 0.6 * graph.nodes
    assert group * workers <= layout.blocks + workers
    if memory is not None:
        assert rows * 64 * 4 <= max(memory / 4, int(np.diff(layout.bounds).max()) * 64 * 4)
