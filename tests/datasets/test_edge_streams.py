"""Edges drawn straight to disk: the same for any threads and order, in range, of the asked shape, all or nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow import parquet

from graphrefine.datasets import edge_streams, write_edges
from graphrefine.datasets.stream_models import bijection
from graphrefine.errors import InputError, OutputError
from graphrefine.graph.graph import Graph


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> int:
    """Blocks so small that a few thousand edges are many of them."""
    monkeypatch.setattr(edge_streams, "BLOCK", 1000)
    monkeypatch.setattr(edge_streams, "PIECE", 300)
    return 1000


def ends_of(folder: Path) -> NDArray[Any]:
    """All edges in the order of the files.  # (edges, 2)."""
    tables = [parquet.read_table(path) for path in sorted(folder.iterdir())]
    return np.concatenate([np.stack([table["source"], table["target"]], axis=1) for table in tables])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("model", edge_streams.MODELS)
def test_files_are_the_same_for_any_threads(tmp_path: Path, small_blocks: int, model: str) -> None:
    once = contents(write_edges(tmp_path / "1", model, nodes=9000, edges=7 * small_blocks + 1, seed=3, threads=1))
    assert len(once) == 8
    assert sum(len(parquet.read_table(tmp_path / "1" / name)) for name in once) == 7001
    for threads in (2, 3):
        again = write_edges(tmp_path / str(threads), model, nodes=9000, edges=7001, seed=3, threads=threads)
        assert contents(again) == once
    assert contents(write_edges(tmp_path / "other", model, nodes=9000, edges=7001, seed=4)) != once


def test_blocks_do_not_depend_on_their_order(
    tmp_path: Path, small_blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = contents(write_edges(tmp_path / "forward", "rmat", nodes=9000, edges=5 * small_blocks))
    plain = ThreadPoolExecutor.submit
    held: list[Any] = []

    def last_first(pool: Any, function: Any, block: int) -> Any:
        held.append(plain(pool, function, 4 - block))
        return held[-1]

    monkeypatch.setattr(edge_streams._Pool, "submit", last_first)
    assert contents(write_edges(tmp_path / "backward", "rmat", nodes=9000, edges=5000, threads=1)) == forward
    assert len(held) == 5


def test_blocks_differ(tmp_path: Path, small_blocks: int) -> None:
    parts = contents(write_edges(tmp_path / "edges", nodes=10**6, edges=4 * small_blocks))
    assert len(set(parts.values())) == 4


@settings(max_examples=25, deadline=None)
@given(
    model=st.sampled_from(edge_streams.MODELS),
    nodes=st.integers(200, 5000) | st.integers(2**31 - 3, 2**31 + 3) | st.just(2**32),
    edges=st.integers(1, 600),
    seed=st.integers(0, 2**70),
)
def test_counts_and_ranges(tmp_path_factory: Any, model: str, nodes: int, edges: int, seed: int) -> None:
    folder = write_edges(tmp_path_factory.mktemp("drawn") / "e", model, nodes=nodes, edges=edges, seed=seed, threads=1)
    ends = ends_of(folder)
    assert ends.shape == (edges, 2)
    assert ends.dtype == (np.int32 if nodes <= 2**31 else np.int64)
    assert ends.min() >= 0
    assert ends.max() < nodes
    assert (ends[:, 0] != ends[:, 1]).all()
    assert len(np.unique(ends, axis=0)) == edges


@pytest.mark.parametrize("nodes", [2, 3, 64, 1000, 1025, 4097])
def test_renumbering_is_a_bijection_that_hides_the_order(nodes: int) -> None:
    new = bijection(nodes, seed=1)(np.arange(nodes, dtype=np.uint64))
    assert np.array_equal(np.sort(new), np.arange(nodes))
    if nodes >= 1000:
        assert abs(np.corrcoef(new, np.arange(nodes))[0, 1]) < 0.1


@pytest.mark.parametrize("exponent", [2.2, 2.5, 3.0])
def test_degrees_have_the_exponent(tmp_path: Path, exponent: float) -> None:
    nodes, edges = 100_000, 1_000_000
    ends = ends_of(write_edges(tmp_path / "edges", "powerlaw", nodes=nodes, edges=edges, exponent=exponent))
    degrees = np.bincount(ends.ravel(), minlength=nodes)
    tail = degrees[degrees >= 100]
    hill = 1 + 1 / np.log(tail / 99.5).mean()  # the maximum-likelihood exponent of the tail (Clauset et al., 2009)
    assert hill == pytest.approx(exponent, abs=0.12)
    assert abs(np.corrcoef(np.arange(nodes), np.log1p(degrees))[0, 1]) < 0.02
    out = np.bincount(ends[:, 0], minlength=nodes)
    few = degrees < 1000  # hubs end more of the edges that they start: what is drawn twice is drawn anew
    assert np.abs(out - degrees / 2)[few].max() < 5 * np.sqrt(1000)


@pytest.mark.parametrize("model", edge_streams.MODELS)
def test_no_edge_stands_twice_so_the_graph_has_no_weights(tmp_path: Path, small_blocks: int, model: str) -> None:
    folder = write_edges(tmp_path / "edges", model, nodes=3000, edges=8 * small_blocks)
    ends = ends_of(folder)
    assert len(np.unique(ends, axis=0)) == 8000
    graph = Graph.from_edges(ends[:, 0], ends[:, 1])
    assert not graph.weighted
    assert 0.9 * 8000 < graph.edges < 8000  # some are there in both directions


def test_a_block_that_is_too_full_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge_streams, "BLOCK", 100)
    with pytest.raises(InputError, match="fewer edges or more nodes"):
        write_edges(tmp_path / "edges", "rmat", nodes=100, edges=2000)
    assert not list(tmp_path.iterdir())


def test_the_largest_degree_is_held(tmp_path: Path) -> None:
    ends = ends_of(write_edges(tmp_path / "edges", "powerlaw", nodes=10_000, edges=200_000, most=500))
    assert 420 < np.bincount(ends.ravel()).max() < 600
    free = ends_of(write_edges(tmp_path / "edges", "powerlaw", nodes=10_000, edges=200_000))
    assert np.bincount(free.ravel()).max() > 2000


@pytest.mark.parametrize("nodes", [1 << 20, 1 << 22])
def test_rmat_has_its_quarters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nodes: int) -> None:
    monkeypatch.setattr(edge_streams, "bijection", lambda nodes, seed: lambda ids: ids)
    monkeypatch.setattr(edge_streams, "BLOCK", 10_000)
    quarters = (0.4, 0.3, 0.2, 0.1)
    ends = ends_of(write_edges(tmp_path / "edges", "rmat", nodes=nodes, edges=400_000, quarters=quarters))
    for level in range(nodes.bit_length() - 1):
        bits = ends >> level & 1
        share = np.bincount(2 * bits[:, 0] + bits[:, 1], minlength=4) / len(ends)
        assert share == pytest.approx(quarters, abs=0.004)
    for level in (0, 7, 17):  # one cut does not depend on another
        joint = np.bincount((ends >> level & 3) @ [4, 1], minlength=16) / len(ends)
        assert joint[0] == pytest.approx(0.16, abs=0.004)
        assert joint[15] == pytest.approx(0.01, abs=0.001)


@pytest.mark.parametrize("failing", [OSError("disk full"), KeyboardInterrupt()])
def test_an_interrupted_run_leaves_nothing(
    tmp_path: Path, small_blocks: int, monkeypatch: pytest.MonkeyPatch, failing: BaseException
) -> None:
    plain, calls = edge_streams._write_parquet, []

    def third_fails(path: Path, ends: NDArray[Any]) -> None:
        calls.append(path)
        if len(calls) == 3:
            raise failing
        plain(path, ends)

    old = contents(write_edges(tmp_path / "edges", nodes=9000, edges=50 * small_blocks))
    monkeypatch.setattr(edge_streams, "_write_parquet", third_fails)
    with pytest.raises(type(failing)):
        write_edges(tmp_path / "edges", nodes=9000, edges=100 * small_blocks, threads=1)
    assert [path.name for path in tmp_path.iterdir()] == ["edges"]
    assert contents(tmp_path / "edges") == old
    assert len(calls) < 20  # the rest was not begun


def test_progress_is_told(tmp_path: Path, small_blocks: int) -> None:
    class Told:
        steps = advanced = 0

        def start(self, stage: str, steps: int) -> None:
            self.steps = steps

        def advance(self) -> None:
            self.advanced += 1

    told = Told()
    write_edges(tmp_path / "edges", nodes=9000, edges=3 * small_blocks, watcher=told)
    assert (told.steps, told.advanced) == (3, 3)


def test_other_folders_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match=r"thesis\.txt"):
        write_edges(tmp_path, nodes=100, edges=10)


def test_room_is_checked_first(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"needs about .* GB of disk, and"):
        write_edges(tmp_path / "edges", nodes=10**9, edges=10**14)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"model": "smallworld"}, "'rmat', 'powerlaw'"),
        ({"model": "rmat", "exponent": 2.5}, "exponent"),
        ({"model": "powerlaw", "quarters": (1, 0, 0, 0)}, "quarters"),
        ({"model": "rmat", "quarters": (0.5, 0.5, 0.5, 0.5)}, "add up to 1"),
        ({"model": "rmat", "quarters": (0, 0, 0, 1)}, "the first the largest"),
        ({"exponent": 2.0}, "greater than 2"),
        ({"most": 10_000}, "at most 99"),
        ({"nodes": 1}, "nodes"),
        ({"edges": 0}, "edges"),
        ({"seed": -1}, "seed"),
    ],
)
def test_refused(tmp_path: Path, options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        write_edges(tmp_path / "edges", **{"nodes": 100, "edges": 1000, **options})
    assert not list(tmp_path.iterdir())
