from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runs import run
from graphrefine import embed, read
from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.graph import stored_writer
from graphrefine.graph.graph import Graph, store
from graphrefine.graph.stored import StoredGraph, open_stored
from graphrefine.graph.stored_writer import OWN_CHECKSUM, StoredWriter, sum_manifest
from graphrefine.linalg.operators import proximity
from graphrefine.system.memory import private_bytes
from graphs import check
from strategies import PATIENT, Edge, edge_lists


def same(one: Graph, other: Graph) -> None:
    """Equal to the bit."""
    for name in ("indptr", "indices", "weights", "names"):
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert ours.dtype == theirs.dtype, name
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
    assert (one.directed, one.sources, one.summary()) == (other.directed, other.sources, other.summary())
    assert one.degrees().tobytes() == other.degrees().tobytes()
    assert one.context().tobytes() == other.context().tobytes()
    np.testing.assert_array_equal(one.neighbor_counts(), other.neighbor_counts())


def weighted(seed: int = 0, *, directed: bool = False, nodes: int = 3000, edges: int = 90_000) -> Graph:
    random = np.random.default_rng(seed)
    ends = (nodes * random.random((2, edges)) ** 3).astype(np.int64)  # hubs: rows of thousands
    return Graph.from_edges(ends[0], ends[1], random.random(edges).astype(np.float32), directed=directed)


@PATIENT
@given(edge_lists(), st.booleans())
def test_a_stored_graph_is_the_graph(tmp_path: Path, edges: list[Edge], directed: bool) -> None:
    graph = read(edges, directed=directed)
    store(graph, tmp_path / "g.grf")
    stored = read(tmp_path / "g.grf")
    assert isinstance(stored, StoredGraph)
    same(stored, graph)
    same(stored.transposed(), graph.transposed())
    check(stored)
    assert [each.name for each in tmp_path.iterdir()] == ["g.grf"]


@pytest.mark.parametrize("directed", [False, True])
def test_many_blocks_have_the_same_sums(tmp_path: Path, directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_writer, "FEWEST_ENTRIES", 5000)
    graph = weighted(directed=directed)
    store(graph, tmp_path / "g.grf", threads=2)
    stored = open_stored(tmp_path / "g.grf")
    same(stored, graph)
    assert len(stored.blocks) > 8
    for side in (stored, stored.transposed()):
        assert isinstance(side, StoredGraph)
        for block in range(len(side.blocks) - 1):
            side.verify_block(block)
    ours, theirs = proximity(stored).to_scipy(), proximity(graph).to_scipy()
    assert ours.data.tobytes() == theirs.data.tobytes()
    assert stored.transposed().transposed() is stored


def test_block_bounds_keep_to_rows_and_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_writer, "FEWEST_ENTRIES", 10)
    monkeypatch.setattr(stored_writer, "MOST_ROWS", 3)
    counts = np.array([0, 0, 0, 0, 30, 4, 6, 5, 1, 0])
    indptr = np.append(0, np.cumsum(counts))
    bounds = stored_writer.block_bounds(indptr)
    assert bounds.tolist() == [0, 3, 4, 5, 7, 10]  # a long row stands alone, though 0 entries come before it
    assert stored_writer.block_bounds(np.zeros(1, np.int64)).tolist() == [0]


def test_portions_and_interruptions_change_nothing(tmp_path: Path) -> None:
    graph = weighted(nodes=500, edges=4000, directed=True)
    turned = graph.transposed()
    store(graph, tmp_path / "whole.grf")
    (tmp_path / "parts.grf").mkdir()
    state = None
    for start in range(0, graph.nodes, 37):
        with StoredWriter(tmp_path / "parts.grf", directed=True, state=state) as writer:
            for reverse, side in enumerate((graph, turned)):
                rows = side.rows(start, min(start + 37, graph.nodes))
                writer.append(np.diff(rows.indptr), rows.indices, rows.weights, reverse=bool(reverse))
            state = json.loads(json.dumps(writer.state()))
            rows = graph.rows(0, 20)
            writer.append(np.diff(rows.indptr), rows.indices, rows.weights)  # more, of which the state knows nothing
    with StoredWriter(tmp_path / "parts.grf", directed=True, state=state) as writer:
        kind = stored_writer.write_names(tmp_path / "parts.grf", graph.names)
        writer.finish(names=kind, report=graph.report)
    files = sorted(path.name for path in (tmp_path / "whole.grf").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "parts.grf").iterdir())
    for name in files:
        assert (tmp_path / "whole.grf" / name).read_bytes() == (tmp_path / "parts.grf" / name).read_bytes(), name


def test_weights_that_come_late(tmp_path: Path) -> None:
    graph = read([(0, 1), (1, 2), (2, 3), (2, 3)])
    assert graph.weights is not None and (graph.weights[:3] == 1).all() and not (graph.weights == 1).all()
    with StoredWriter(tmp_path) as writer:
        for row in range(4):
            rows = graph.rows(row, row + 1)
            assert rows.weights is not None
            writer.append(np.diff(rows.indptr), rows.indices, None if (rows.weights == 1).all() else rows.weights)
        writer.finish(names="range", report=graph.report)
    same(open_stored(tmp_path), graph)


def test_reading_it_and_saying_what_does_not_apply(tmp_path: Path) -> None:
    place = tmp_path / "folder"
    store(read([("a", "b"), ("b", "c")]), place)
    assert isinstance(read(place), StoredGraph), "without the suffix too"
    assert isinstance(read(str(place), format="grf"), StoredGraph)
    options: list[dict[str, Any]] = [{"directed": True}, {"bipartite": True}, {"nodes": 3}, {"delimiter": ","}]
    for option in [*options, {"weights": "w"}, {"source": 0}, {"header": True}, {"variable": "x"}]:
        with pytest.raises(InputError, match=f"{next(iter(option))}="):
            read(place, **option)
    sides = read([("ann", "tea"), ("bob", "tea")], bipartite=True)
    store(sides, tmp_path / "sides.grf")
    same(read(tmp_path / "sides.grf", bipartite=True), sides)
    store(read([(1, 2)], directed=True), tmp_path / "arcs.grf")
    assert read(tmp_path / "arcs.grf", directed=True).directed


def damage(path: Path, at: int) -> None:
    """Change one bit."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", ["indptr", "indices", "weights", "degrees", "context"])
def test_damage_is_named(tmp_path: Path, name: str) -> None:
    store(weighted(nodes=300, edges=2000), tmp_path / "g.grf")
    path = tmp_path / "g.grf" / f"{name}.npy"
    whole = path.read_bytes()
    damage(path, 200)
    with pytest.raises(FormatError, match=rf"{name}\.npy.* has the checksum"):
        open_stored(tmp_path / "g.grf").verify_block(0)
    path.write_bytes(whole[:-4])
    with pytest.raises(FormatError, match=rf"{name}\.npy has \d+ bytes, not \d+"):
        read(tmp_path / "g.grf")
    path.unlink()
    with pytest.raises(FormatError, match=rf"{name}\.npy is missing"):
        read(tmp_path / "g.grf")


def test_what_is_no_stored_graph_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "file.grf").write_text("1 2\n")
    (tmp_path / "empty.grf").mkdir()
    for name, message in (("none", r"none\.grf"), ("file", "is a file"), ("empty", r"manifest\.json is missing")):
        with pytest.raises(FormatError, match=message):
            read(tmp_path / f"{name}.grf")
    graph = read([(0, 1)])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").touch()
    with pytest.raises(OutputError, match="would be lost"):
        store(graph, tmp_path / "mine")
    store(graph, tmp_path / "g.grf")
    np.save(tmp_path / "g.grf" / "labels.npy", np.arange(2))
    with pytest.raises(OutputError, match=r"labels\.npy"):
        store(read([(0, 1), (1, 2)]), tmp_path / "g.grf")
    assert np.load(tmp_path / "g.grf" / "labels.npy").tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "format 2; this one reads up to 1"),
        ({"format": "other"}, "'other'"),
        ({"nodes": "x"}, "'nodes'"),
        ({"entries": 3}, "'blocks'"),
        ({"nodes": 2**40}, "'nodes'"),
        ({"blocks": [{"rows": [0, 3]}]}, "'blocks'"),
        ({"sources": 9}, "'sources'"),
        ({"names": "other"}, "'names'"),
        ({"files": {"../x": 1}}, "'files'"),
    ],
)
def test_manifests_that_do_not_fit(tmp_path: Path, change: dict[str, object], message: str) -> None:
    store(read([(0, 1), (1, 2)]), tmp_path / "g.grf")
    manifest = tmp_path / "g.grf" / "manifest.json"
    resum(tmp_path / "g.grf", change)
    with pytest.raises(FormatError) as caught:
        read(tmp_path / "g.grf")
    assert message in str(caught.value)
    manifest.write_text("{")
    with pytest.raises(FormatError, match="is damaged"):
        read(tmp_path / "g.grf")


@pytest.mark.parametrize("directed", [False, True])
def test_equal_graphs_have_one_fingerprint_and_one_embedding(tmp_path: Path, directed: bool) -> None:
    graph = weighted(nodes=200, edges=2000, directed=directed)
    prints = []
    for number, each in enumerate((graph, graph, weighted(seed=1, nodes=200, edges=2000, directed=directed))):
        store(each, tmp_path / f"{number}.grf")
        prints.append(open_stored(tmp_path / f"{number}.grf").fingerprint)
    assert prints[0] == prints[1] != prints[2]
    ours, theirs = embed(read(tmp_path / "0.grf"), 8), embed(graph, 8)
    assert ours.vectors.tobytes() == theirs.vectors.tobytes()


def resum(place: Path, change: dict[str, object]) -> None:
    """Write another manifest, with its own checksum."""
    path = place / "manifest.json"
    manifest = json.loads(path.read_text()) | change
    path.write_text(json.dumps(manifest | {OWN_CHECKSUM: sum_manifest(manifest)}))


@pytest.mark.parametrize(
    ("name", "memory"),
    [(name, memory) for name in ("indices", "weights") for memory in ("memory", "disk")]
    + [("reverse_indices", "memory")],  # directed graphs are embedded in memory
)
def test_one_bit_is_found_in_every_mode(tmp_path: Path, name: str, memory: str) -> None:
    store(weighted(nodes=300, edges=2000, directed=name == "reverse_indices"), tmp_path / "g.grf")
    damage(tmp_path / "g.grf" / f"{name}.npy", 1001)
    budget = "2GB" if memory == "memory" else f"{private_bytes() // 10**6 + 40}MB"
    done = run("embed", tmp_path / "g.grf", "-o", tmp_path / "out", "--dim", "8", "--memory", budget)
    assert done.code == 2 and f"{name}.npy, block 0" in done.err, done.err
    assert "Traceback" not in done.err and not (tmp_path / "out").exists()


def test_what_is_read_is_verified_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_writer, "FEWEST_ENTRIES", 500)
    graph = weighted(nodes=300, edges=2000)
    store(graph, tmp_path / "g.grf")
    blocks = open_stored(tmp_path / "g.grf").blocks.tolist()
    damage(tmp_path / "g.grf" / "indices.npy", -1)
    stored = open_stored(tmp_path / "g.grf")
    assert (stored.entries, stored.edges, stored.mean_count) == (graph.entries, graph.edges, graph.mean_count)
    assert stored.rows(0, blocks[-2]).indices.tobytes() == graph.rows(0, blocks[-2]).indices.tobytes()
    for use in (lambda: stored.rows(blocks[-2], blocks[-1]), lambda: stored.indices, lambda: stored.rows(0, 300)):
        with pytest.raises(FormatError, match=rf"indices\.npy, block {len(blocks) - 2} "):
            use()


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("indices", 2, 3, r"indices\.npy, entry 2 \(row 1\) is 3, and there are 3 nodes"),
        ("indices", 2, -1, r"indices\.npy, entry 2 \(row 1\) is -1, and there are 3 nodes"),
        ("indices", 2, 0, r"indices\.npy, entry 2 \(row 1\) is 0, and the columns of a row ascend"),
        ("weights", 3, np.nan, r"weights\.npy, entry 3 \(row 2\) is nan, and weights are positive and finite"),
        ("weights", 0, -2, r"weights\.npy, entry 0 \(row 0\) is -2\.0, and weights are positive and finite"),
        ("indptr", 1, 4, r"indptr\.npy, row 1 runs from 4 to 3"),
        ("indptr", 0, 1, r"indptr\.npy has 1 at row 0, not 0"),
    ],
)
def test_arrays_with_the_right_checksum_must_be_those_of_a_graph(
    tmp_path: Path, name: str, at: int, value: float, message: str
) -> None:
    place = tmp_path / "g.grf"
    store(Graph.from_edges([0, 1], [1, 2], [2.0, 3.0]), place)
    array = np.load(place / f"{name}.npy")
    array[at] = value
    np.save(place / f"{name}.npy", array)
    manifest = json.loads((place / "manifest.json").read_text())
    if name == "indptr":
        manifest["checksums"]["indptr.npy"] = stored_writer.crc_of(place / "indptr.npy")
    else:
        manifest["blocks"][0]["crc32"][name] = crc32(array.tobytes())
    resum(place, manifest)
    with pytest.raises(FormatError, match=message):
        _ = read(place).indices


def test_a_manifest_has_a_checksum_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "g.grf"
    store(read([(0, 1), (1, 2)]), place)
    text = (place / "manifest.json").read_text()
    (place / "manifest.json").write_text(text.replace('"directed": false', '"directed": true'))
    with pytest.raises(FormatError, match=r"manifest\.json has the checksum \d+, not \d+: it is damaged"):
        read(place)
    manifest = json.loads(text)
    del manifest[OWN_CHECKSUM]
    (place / "manifest.json").write_text(json.dumps(manifest))  # as earlier versions have written it
    assert read(place).edges == 2
