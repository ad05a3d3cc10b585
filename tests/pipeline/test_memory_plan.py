"""Embedding within a budget: which way is taken, the same vectors whichever it is, and what is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from test_numerics_version import begin

import graphrefine
from cli_runs import Outcome, run, spawn
from engines import in_memory
from graphrefine.embedding.embedding import load
from graphrefine.engine.local import LocalEngine
from graphrefine.engine.stage_cache import StageCache
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph, store
from graphrefine.graph.stored import open_stored
from graphrefine.methods.contract import Shape
from graphrefine.methods.registry import find_method, make_settings
from graphrefine.pipeline.memory_plan import BudgetError, packed_names, panel_bytes, plan_local, unread_names
from graphrefine.progress import Stages
from graphrefine.refine.views import TIERS, joint_views
from graphrefine.system.memory import parse_size, private_bytes
from graphrefine.system.threads import one_blas_thread
from graphrefine.tables import source
from graphrefine.tables.source import reading_bytes
from processes import start_process

NODES = 90_000  # fewer would take less in memory than the buffers of work on disk
DIM = 128
JOINT_DIM = 32  # of vectors by the default tier, whose walks have 128 columns
needs_signals = pytest.mark.skipif(os.name != "posix", reason="signals of Unix")


@pytest.fixture(scope="module")
def graph() -> Graph:
    rng = np.random.default_rng(7)
    ends = (rng.random((2, 200_000)) ** 2 * NODES).astype(int)
    return Graph.from_edges(ends[0], ends[1], names=range(NODES))


@pytest.fixture(scope="module")
def stored(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "graph.grf"
    store(graph, path)
    return path


@pytest.fixture(scope="module")
def listed(graph: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "graph.txt"
    rows = np.repeat(np.arange(NODES), graph.out_counts)
    assert graph.weights is not None
    edges = np.column_stack([rows, graph.indices, graph.weights])
    alone = np.flatnonzero(graph.out_counts == 0)  # a loop is no edge, and its node is one
    np.savetxt(path, np.concatenate([edges, np.column_stack([alone, alone, alone + 1])]), fmt="%d\t%d\t%d")
    return path


@pytest.fixture(scope="module")
def expected(graph: Graph) -> NDArray[np.float32]:
    return in_memory(graph, make_settings("refine", dim=DIM))


def embed(path: Path, out: Path, *options: object) -> Outcome:
    fast = () if "--quality" in options else ("--quality", "fast")
    return spawn("embed", path, "-o", out, "--dim", str(DIM), "--threads", "2", *fast, *map(str, options))


@cache
def tight(path: Path) -> str:
    """The least budget, as the refusal of a smaller one names it."""
    refused = embed(path, path.with_name("refused"), "--memory", "70MB")  # enough to read it
    assert refused.code == 2, refused.err
    return str(refused.err.split(" are needed at least")[0].rsplit(" ", 1)[1])


@pytest.mark.parametrize("kind", ["stored", "listed"])
def test_the_vectors_are_the_same_however_they_are_made(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, expected: NDArray[np.float32]
) -> None:
    path: Path = request.getfixturevalue(kind)
    least = tight(path)
    done = embed(path, tmp_path / "out", "--memory", least, "--json")
    assert done.code == 0, done.err
    plan = json.loads(done.out)["plan"]
    assert plan["mode"] == ("streamed" if kind == "stored" else "columns") and plan["panels"] == 4
    assert not plan["resumed"] and plan["predicted_mb"] <= plan["budget_mb"] and plan["disk_mb"] > 0
    assert np.array_equal(load(tmp_path / "out").vectors, expected)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_graph_file_too_large_to_be_read_is_put_on_disk(
    listed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading is said to take a terabyte."""
    expected = graphrefine.embed(listed, dim=DIM, quality="fast").vectors
    monkeypatch.setattr(source, "READING", 10**7)
    assert reading_bytes(str(listed)) > 10**12
    embedding = graphrefine.embed(listed, dim=DIM, quality="fast", memory="3GB", work=tmp_path / "work", threads=1)
    assert np.array_equal(embedding.vectors, expected) and not (tmp_path / "work").exists()


def test_learning_is_left_out_where_the_memory_has_no_room_for_it(
    listed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphrefine.pipeline.memory_plan.learning_bytes", lambda *_: 10**12)
    done = run("embed", listed, "-o", tmp_path / "out", "--dim", "32", "--memory", "3GB")
    assert done.code == 0 and "nothing was learned from the graph, as the memory has no room for that" in done.err
    assert load(tmp_path / "out").fold_map is None
    done = run("embed", listed, "-o", tmp_path / "x", "--dim", "32", "--memory", "3GB", "--learn")
    assert done.code == 2 and "--memory 3000MB is too little" in done.err and not (tmp_path / "x").exists()


def test_the_library_takes_a_budget_too(graph: Graph, tmp_path: Path, expected: NDArray[np.float32]) -> None:
    with pytest.raises(BudgetError) as refused:
        graphrefine.embed(graph, dim=DIM, quality="fast", memory="1MB")
    least = str(refused.value).split(" are needed at least")[0].rsplit(" ", 1)[1]
    made = graphrefine.embed(graph, dim=DIM, quality="fast", memory=parse_size(least) + 10**7, work=tmp_path / "work")
    assert np.array_equal(made.vectors, expected) and not (tmp_path / "work").exists()
    made.save(tmp_path / "out")
    assert np.array_equal(load(tmp_path / "out").vectors, expected)
    with pytest.raises(InputError, match=r"work=.* needs memory="):
        graphrefine.embed(graph, dim=DIM, work=tmp_path)


def in_files(tmp_path: Path) -> set[str]:
    return {path.name for path in tmp_path.iterdir()}


@pytest.fixture(scope="module")
def joint(graph: Graph) -> NDArray[np.float32]:
    """The default tier in memory, in the order that the rows have on disk."""
    cache = StageCache(lambda columns: LocalEngine(graph, columns=columns, reorder=False, threads=2))
    with one_blas_thread():
        chosen = make_settings("refine", dim=JOINT_DIM, quality="default")
        return joint_views(graph, chosen, TIERS["default"], Stages(), threads=2, stage_cache=cache)


KILLS = [  # the tier, what is in the work folder when the run is killed, and seconds after that
    *(("fast", "engine-0/steps", moment) for moment in (0.0, 0.1, 0.3, 0.6)),
    *(("default", after, 0.2) for after in ("engines/refine-32/steps", "stages/memory", "stages/regions-0")),
    ("default", "stages/far-0", 0.2),
]


@needs_signals
@pytest.mark.parametrize(("quality", "after", "moment"), KILLS)
def test_a_killed_run_is_taken_up(
    stored: Path, tmp_path: Path, request: pytest.FixtureRequest, quality: str, after: str, moment: float
) -> None:
    fast = quality == "fast"
    vectors = request.getfixturevalue("expected" if fast else "joint")
    dim, budget = (DIM, tight(stored)) if fast else (JOINT_DIM, "200MB")
    typed = ["embed", stored, "-o", tmp_path / "out", "--dim", dim, "--memory", budget, "--quality", quality]
    for _ in range(5 if moment == 0 else 1):  # on a busy machine the run may end before it is killed
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        with start_process([sys.executable, "-m", "graphrefine", *map(str, typed)], stderr=subprocess.DEVNULL) as child:
            until = time.monotonic() + 100
            while not (tmp_path / "out.work" / after).exists() and child.poll() is None:
                assert time.monotonic() < until
                time.sleep(0.005)
            time.sleep(moment)
            child.send_signal(signal.SIGKILL)
        if killed := not (tmp_path / "out").exists():
            break
    assert killed or (fast and moment > 0)
    done = spawn(*map(str, typed), "--json")
    assert done.code == 0, done.err
    stats = json.loads(done.out)
    assert stats["plan"]["mode"] == "streamed" and stats["plan"]["resumed"] == killed
    assert fast or stats["peak_mb"] <= stats["plan"]["predicted_mb"] <= 200
    assert np.array_equal(load(tmp_path / "out").vectors, vectors) and in_files(tmp_path) == {"out"}


def test_work_of_another_run_or_that_needs_more_memory_is_not_taken_up(stored: Path, tmp_path: Path) -> None:
    work = tmp_path / "out.work"
    begin(work, open_stored(stored), make_settings("refine", dim=DIM, quality="fast"))
    other = tmp_path / "other.grf"
    store(Graph.from_edges(np.arange(500), np.arange(500) + 1), other)
    before = sorted(path.name for path in work.iterdir())
    for path, options, differing in (
        (stored, ["--seed", 5], "settings"),
        (stored, ["--method", "rbqr"], "method, settings"),
        (other, [], "graph"),
    ):
        done = embed(path, tmp_path / "out", "--memory", "500MB", *options)
        assert done.code == 2 and f"the unfinished work of another run ({differing})" in done.err, done.err
        assert sorted(path.name for path in work.iterdir()) == before
    work = tmp_path / "out.work"
    begin(work, open_stored(stored), make_settings("refine", dim=DIM, quality="fast"))
    state = json.loads((work / "run.json").read_text())
    state["plan"]["predicted"] = 9 * 10**9
    (work / "run.json").write_text(json.dumps(state))
    done = embed(stored, tmp_path / "out", "--memory", "500MB")
    assert done.code == 2 and "unfinished work that needs 9000MB" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory", "lots"], "'lots' is not a size"),
        (["--workers", 2], "--executor 'dask'"),
        (["--executor", "dask", "--workers", 0], "at least 1"),
        (["--executor", "dask", "--scheduler", "tcp://127.0.0.1:1", "--workers", 2], "and no --scheduler"),
        (["--executor", "dask", "--tls-cert", "x.pem"], "a cluster that runs with TLS"),
        (["--executor", "dask", "--trusted-network"], "a cluster that runs"),
        (["--executor", "dask", "--scheduler", "tcp://127.0.0.1:1", "--trusted-network"], "cannot be reached"),
        (["--executor", "dask", "--method", "deepwalk"], "works in memory"),
        (["--memory", "40MB", "--quality", "best"], "--quality 'fast' needs"),
    ],
)
def test_what_does_not_go_together(stored: Path, tmp_path: Path, options: list[object], message: str) -> None:
    done = run("embed", stored, "-o", tmp_path / "out", "--dim", str(DIM), *map(str, options))
    assert done.code == 2 and message in done.err and "Traceback" not in done.err, done.err
    assert in_files(tmp_path) == set()


@pytest.mark.parametrize("quality", ["fast", "default", "best"])
def test_a_budget_is_not_exceeded_by_the_plan(graph: Graph, quality: str) -> None:
    chosen, method = make_settings("refine", dim=128, quality=quality), find_method("refine")
    need = method.disk_need(Shape.of(graph), chosen, 1)
    least = private_bytes() + panel_bytes(graph, chosen, 32, need) + 10**6
    budgets = range(least, least + (10**8 if quality == "fast" else 4 * 10**8), 5 * 10**6)
    plans = [plan_local(graph, chosen, budget, method=method) for budget in budgets]
    assert {plan.mode for plan in plans} == {"columns", "memory"}
    assert all(plan.predicted <= plan.budget for plan in plans)
    panels = [plan.panels for plan in plans]
    assert panels == sorted(panels, reverse=True)


@pytest.mark.parametrize("directed", [False, True])
def test_names_that_are_still_on_disk_are_counted(tmp_path: Path, directed: bool) -> None:
    ends = np.random.default_rng(0).integers(0, 5000, (2, 20_000))
    names = [f"a name of some length, {node:05}" for node in range(5000)]
    store(Graph.from_edges(*ends, names=names, directed=directed), tmp_path / "graph.grf")
    stored, text = open_stored(tmp_path / "graph.grf"), sum(map(len, names))
    before = unread_names(stored), packed_names(stored)
    held = sum(map(sys.getsizeof, stored.names)) + stored.names.nbytes
    assert held <= before[0] <= 1.2 * held and before[1] >= text + 8 * 5000
    assert unread_names(stored) == 0 and packed_names(stored) == before[1], "they are in memory now"


def test_info_tells_what_embed_will_do(stored: Path, tmp_path: Path) -> None:
    """The default tier in memory and on disk, and `fast` on disk."""

    def ask(memory: str, *options: str) -> Any:
        done = spawn("info", stored, "--memory", memory, "--json", *options)
        return json.loads(done.out)["predicted"] if done.code == 0 else done.err

    assert ask("4GB")["plan"]["mode"] == "memory" and ask("4GB")["quality"] == "default"
    least = [parse_size(ask("60MB", "--quality", q).split(" are needed")[0].split()[-1]) for q in ("fast", "default")]
    assert least[1] > least[0] + 30 * NODES
    budgets = [f"{size // 10**6 + 10}MB" for size in least]
    lower, tier = ask(budgets[0], "--quality", "fast")["plan"], ask(budgets[1])["plan"]
    assert "--quality 'fast' needs" in ask(budgets[0])
    assert lower["mode"] == tier["mode"] == "streamed" and tier["disk_mb"] > 2 * lower["disk_mb"]
    assert lower["predicted_mb"] < least[0] / 1e6 + 10 < tier["predicted_mb"] < least[1] / 1e6 + 10


# Clusters.


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graph") / "small.txt"
    np.savetxt(path, np.random.default_rng(0).integers(0, 5000, (20_000, 2)), fmt="%d")
    return path


def test_a_cluster_gives_the_same_vectors(small: Path, tmp_path: Path) -> None:
    given = ["--dim", "32", "--executor", "dask", "--workers", "2", "--json"]
    done = spawn("embed", small, "-o", tmp_path / "out", *given)
    assert done.code == 0 and not re.search("distributed|Traceback", done.err), done.err
    figures = json.loads(done.out)
    assert figures["plan"]["mode"] == "dask" and figures["plan"]["blocks"] >= 8
    assert sum(worker["blocks"] for worker in figures["workers"]) > 100
    assert all(worker["bytes_read"] > 0 and worker["bytes_written"] > 0 for worker in figures["workers"])
    made = load(tmp_path / "out")
    assert made.recipe["quality"] == "default"
    assert np.array_equal(made.vectors, graphrefine.embed(small, dim=32).vectors)
    assert in_files(tmp_path) == {"out"}
