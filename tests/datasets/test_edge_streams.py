"""Edges drawn straight to disk: the same for any threads and order, in range, of the asked shape, all or nothing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow import parquet

from cli_runs import contents
from graphrefine.errors import InputError

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "scale"))
edge_streams = pytest.importorskip("edge_streams", reason="the benchmarks are not here")
write_edges, bijection = edge_streams.write_edges, edge_streams.bijection


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


@pytest.mark.parametrize("model", edge_streams.MODELS)
def test_files_are_the_same_for_any_threads(tmp_path: Path, small_blocks: int, model: str) -> None:
    once = contents(write_edges(tmp_path / "1", model, nodes=9000, edges=7 * small_blocks + 1, seed=3, threads=1))
    assert len(once) == 8
    assert sum(len(parquet.read_table(tmp_path / "1" / name)) for name in once) == 7001
    for threads in (2, 3):
        again = write_edges(tmp_path / str(threads), model, nodes=9000, edges=7001, seed=3, threads=threads)
        assert contents(again) == once
    assert contents(write_edges(tmp_path / "other", model, nodes=9000, edges=7001, seed=4)) != once


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


def test_rmat_has_its_quarters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(edge_streams, "bijection", lambda nodes, seed: lambda ids: ids)
    monkeypatch.setattr(edge_streams, "BLOCK", 10_000)
    nodes, quarters = 1 << 22, (0.4, 0.3, 0.2, 0.1)
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


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"model": "smallworld"}, "smallworld"),
        ({"model": "rmat", "exponent": 2.5}, "exponent"),
        ({"model": "rmat", "quarters": (0.5, 0.5, 0.5, 0.5)}, "add up to 1"),
        ({"model": "rmat", "quarters": (0, 0, 0, 1)}, "the first the largest"),
        ({"most": 10_000}, "at most 99"),
    ],
)
def test_refused(tmp_path: Path, options: dict[str, Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        write_edges(tmp_path / "edges", **{"nodes": 100, "edges": 1000, **options})
    assert not list(tmp_path.iterdir())
