"""The nearest nodes of a node: the kernel, the search, the index, and `graphrefine neighbors`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import graphrefine
from cli_runs import refuses, run, works
from graphrefine import Embedding
from graphrefine.display.table import Table
from graphrefine.errors import InputError
from graphrefine.evaluate import read_labels
from graphrefine.kernels.nearest import ExcludedRows, nearest
from graphrefine.search import index as index_module
from graphrefine.search.index import Part
from graphrefine.search.neighbors import all_neighbors, join_tables
from graphrefine.search.rankings import Neighbor, Ranking, Rankings
from graphrefine.search.scores import SCORES
from graphrefine.search.searcher import Search
from oracles import nearest as oracle
from strategies import PATIENT

Floats = NDArray[np.float32]


def normal(n: int, k: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).standard_normal((n, k), dtype=np.float32)


def people() -> Embedding:
    vectors: list[list[float]] = [[1, 0], [0.6, 0.8], [0, 1], [0, 0], [-1, 0.1]]
    return Embedding(["ada", "bob", "cy", "dan", "eve"], vectors, degrees=[1, 3, 1, 0, 2])


# The kernel


def whole_numbers(n: int, k: int, seed: int) -> Floats:
    """Vectors whose products have no rounding, with many ties."""
    return np.random.default_rng(seed).integers(-2, 3, (n, k)).astype(np.float32)


def sorted_best(scores: Floats, keep: int) -> tuple[NDArray[np.int64], Floats]:
    """What any search must give: by score, then by row."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :keep]
    best = np.take_along_axis(scores, order, 1)
    return np.where(np.isneginf(best), -1, order), best


@PATIENT
@given(
    st.integers(0, 14), st.integers(0, 90), st.integers(1, 9), st.integers(1, 20), st.integers(1, 4), st.booleans(),
    st.booleans(), st.integers(0, 2**31),
)  # fmt: skip
def test_kernel_and_oracle_find_the_best_of_all_scores(
    q: int, n: int, k: int, keep: int, threads: int, scaled: bool, strided: bool, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    queries = whole_numbers(q, k, seed)
    rows = whole_numbers(n, 2 * k, seed + 1)[:, :k] if strided else whole_numbers(n, k, seed + 1)
    scale = rng.integers(1, 4, n).astype(np.float32) if scaled else None
    added = rng.choice([0, 1, 2, -np.inf], n).astype(np.float32) if scaled else None
    lists = [rng.choice(n, rng.integers(0, n + 1), replace=False) for _ in range(q)]
    excluded_rows = ExcludedRows.from_lists(lists)
    scores = queries @ rows.T
    if scale is not None and added is not None:
        scores = scores * scale + added
    for query, without in enumerate(lists):
        scores[query, without] = -np.inf
    wanted_rows, wanted = sorted_best(np.pad(scores, ((0, 0), (0, keep)), constant_values=-np.inf), keep)

    found = nearest(queries, rows, keep, scale=scale, added=added, excluded_rows=excluded_rows, threads=threads)
    assert np.array_equal(found.rows, wanted_rows) and np.array_equal(found.scores, wanted)
    twin = np.empty_like(found.rows), np.empty_like(found.scores)
    bounds, left_out = excluded_rows
    oracle.nearest(queries, rows, *twin, scale=scale, added=added, bounds=bounds, left_out=left_out, threads=1)
    assert np.array_equal(twin[0], wanted_rows) and np.array_equal(twin[1], wanted)


@PATIENT
@given(st.integers(1, 3000), st.integers(1, 40), st.integers(0, 2**31))
def test_scores_have_the_same_bits_whatever_is_searched_beside_them(n: int, q: int, seed: int) -> None:
    rows = normal(n, 37, seed)
    queries = normal(q, 37, seed + 1)
    together = nearest(queries, rows, 5, threads=3)
    one = nearest(queries[-1:], rows, 5)
    assert np.array_equal(one.rows[0], together.rows[-1]) and np.array_equal(one.scores[0], together.scores[-1])


def test_equal_rows_have_equal_scores_and_nan_is_never_found() -> None:
    rows = np.repeat(normal(1, 128), 1000, axis=0)
    found = nearest(normal(1, 128, 1), rows, 40, threads=2)
    assert found.rows[0].tolist() == list(range(40)) and len(set(found.scores[0].tolist())) == 1
    rows = np.array([[np.nan], [1], [np.nan]], np.float32)
    assert nearest(np.ones((1, 1), np.float32), rows, 3).rows.tolist() == [[1, -1, -1]]


@pytest.mark.parametrize("simd", ["baseline", "avx2"])
def test_every_instruction_set_finds_the_same(simd: str) -> None:
    program = (
        "import numpy as np; from graphrefine.kernels.nearest import nearest\n"
        "rng = np.random.default_rng(0); x = rng.standard_normal((500, 33), np.float32)\n"
        "found = nearest(x[:20], x, 7, threads=2)\n"
        "print([found.rows.tolist(), found.scores.tolist()])"
    )
    env = {**os.environ, "GRAPHREFINE_SIMD": simd}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env)
    x = np.random.default_rng(0).standard_normal((500, 33), np.float32)
    here, (rows, scores) = nearest(x[:20], x, 7), json.loads(done.stdout)
    assert rows == here.rows.tolist() and np.allclose(scores, here.scores, atol=1e-5)
    if simd == "avx2":  # the least that has an instruction for a product and a sum
        assert scores == here.scores.tolist()


# The search


def all_scores(embedding: Embedding, score: str) -> Floats:
    vectors = embedding.vectors
    if score == "link":
        every: Floats = embedding.score(embedding.names.tolist())
        return every.copy()
    if score == "cosine":
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return vectors @ vectors.T


@pytest.mark.parametrize("score", SCORES)
def test_search_agrees_with_all_scores(score: Any) -> None:
    vectors = normal(400, 24)
    embedding = Embedding(None, vectors, degrees=np.random.default_rng(1).integers(0, 40, 400))
    scores = all_scores(embedding, score)
    np.fill_diagonal(scores, -np.inf)
    found = Search(embedding, score).nearest(rows=np.arange(400), k=12)
    wanted = -np.sort(-scores, axis=1)[:, :12]
    assert np.abs(found.scores - wanted).max() < 1e-5 * np.abs(wanted).max()
    assert np.abs(np.take_along_axis(scores, found.rows, 1) - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_neighbors_by_name_vector_label_and_among(labels_file: Path) -> None:
    known, labels = people(), read_labels(labels_file)
    assert [each.node for each in known.neighbors("bob", k=2)] == ["cy", "ada"]
    assert known.neighbors(vectors=known["bob"], k=1)[0].node == "bob"
    assert [each[0].node for each in known.neighbors(vectors=known.vectors[[0, 2]], k=1)] == ["ada", "cy"]
    assert [each.node for each in known.neighbors("bob", candidates=["eve", "ada"])] == ["ada", "eve"]
    assert [each.node for each in known.neighbors("bob", labels=labels, label="red")] == ["ada", "eve"]
    assert [each.node for each in known.neighbors("bob", labels=labels, label="red", candidates=["eve"])] == ["eve"]
    near = people().neighbors(["dan", "ada"], k=9)
    assert near[0] == [] and [each.node for each in near[1]] == ["bob", "cy", "eve"]


@pytest.fixture
def labels_file(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    path.write_text("node,label\nada,red\neve,red\ncy,blue\n")
    return path


def test_unlinked_leaves_out_exactly_the_neighbors_in_the_graph() -> None:
    known = people()
    assert [near.node for near in known.neighbors("bob", exclude_linked=[("bob", "cy"), ("bob", "zoe")])] == [
        "ada",
        "eve",
    ]
    assert known.neighbors("bob", exclude_linked=graphrefine.read([("eve", "ada")]))[0].node == "cy"
    with pytest.raises(InputError, match=r"none of its 2 nodes is in the embedding.*'ada'.*'x'.*another graph"):
        known.neighbors("bob", exclude_linked=[("x", "y")])

    rng = np.random.default_rng(0)
    edges = rng.integers(0, 60, (300, 2))
    graph = graphrefine.read(edges)
    embedding = graphrefine.embed(graph, dim=8)
    for node in (0, 5, 17):
        found = {near.node for near in embedding.neighbors(node, k=60, exclude_linked=graph)}
        linked = {int(b) for a, b in edges.tolist() if a == node} | {int(a) for a, b in edges.tolist() if b == node}
        assert found == set(embedding.names) - linked - {node}


def bipartite() -> Embedding:
    vectors = [[1, 0], [0, 1], [1, 1], [3, 0], [0, 2]]  # two users; three items, one of them called as a user is
    return Embedding(["ann", "ben", "tea", "ann", "cake"], vectors, {"sides": "rows", "sources": 2})


def test_sides_are_like_their_own_and_linked_to_the_other() -> None:
    two = bipartite()
    assert [near.node for near in two.neighbors("tea")] == ["ann", "cake"]
    assert [near.node for near in two.neighbors("ben")] == ["ann"]
    assert [(near.node, near.score) for near in two.neighbors("ann", score="link", side="source")] == [
        ("ann", 3.0), ("tea", 1.0), ("cake", 0.0),
    ]  # fmt: skip
    assert [near.node for near in two.neighbors("ann", score="link", side="target", k=1)] == ["ann"]
    assert two.neighbors("ann", score="link", side="source", exclude_linked=graphrefine.read(
        [("ann", "ann"), ("ben", "cake")], bipartite=True))[0].node == "tea"  # fmt: skip
    assert [near.node for near in two.neighbors("cake", score="link", exclude_linked=graphrefine.read(
        [("ann", "ann"), ("ben", "cake")], bipartite=True))] == ["ann"]  # fmt: skip
    with pytest.raises(InputError, match="both sides"):
        two.neighbors("ann")
    assert two.neighbors(vectors=[0, 1], score="dot", k=2) == [("cake", 2.0), ("ben", 1.0)]
    both = Embedding(["a", "b", "c"], [[1, 0, 0, 5], [0, 1, 3, 0], [1, 1, 1, 1]], {"sides": "columns"})
    assert both.neighbors("a", score="link") == [("b", 3.0), ("c", 1.0)]
    assert both.neighbors(vectors=[0, 1], score="link", k=1) == [("a", 5.0)]
    assert both.neighbors("a", score="dot")[0] == ("c", 6.0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"nodes": "bop"}, "no node is called 'bop'; similar names: bob"),
        ({"nodes": "bob", "k": 0}, "k=0 must be at least 1"),
        ({"nodes": "bob", "k": 1.5}, "k=1.5 must be a whole number"),
        ({"nodes": "bob", "score": "euclid"}, "score='euclid' is not known; it can be 'cosine', 'dot', 'link'"),
        ({"nodes": "bob", "vectors": [1, 2]}, "either nodes or vectors"),
        ({}, "either nodes or vectors"),
        ({"vectors": [1, 2, 3]}, r"shape \(1, 3\); \(queries, 2\) is expected"),
        ({"vectors": [1, np.nan]}, "row 0 holds NaN"),
        ({"vectors": "abc"}, "float32"),
        ({"nodes": "bob", "label": "red"}, "labels and label belong together"),
        ({"nodes": "bob", "labels": "PATH", "label": "green"}, "label='green': no node of .* the labels are blue, red"),
        ({"nodes": "bob", "candidates": "ada"}, "candidates='ada': several names"),
        ({"vectors": [1, 2], "exclude_linked": [(1, 2)]}, "exclude_linked: a vector has no edges"),
        ({"nodes": "bob", "threads": 0}, "threads.*at least 1"),
        ({"nodes": "bob", "side": "target"}, "side='target': is for bipartite graphs"),
        ({"vectors": [1, 2], "side": "target"}, "side='target': a vector has no side"),
    ],
)
def test_what_cannot_be_asked_is_refused(wrong: dict[str, Any], message: str, labels_file: Path) -> None:
    wrong = {key: str(labels_file) if value == "PATH" else value for key, value in wrong.items()}
    with pytest.raises(InputError, match=message):
        people().neighbors(**wrong)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_that_are_no_numbers_are_named(tmp_path: Path, bad: float) -> None:
    vectors = normal(50, 4)
    Embedding([f"n{i}" for i in range(50)], vectors).save(tmp_path / "e")
    stored = np.load(tmp_path / "e" / "vectors.npy", mmap_mode="r+")
    stored[7, 2] = bad
    stored.flush()
    loaded = graphrefine.load(tmp_path / "e", verify=False)
    with pytest.raises(InputError, match=r"'n7' \(row 7\)"):
        loaded.neighbors("n3")


def test_searching_mapped_vectors_copies_none_of_them(tmp_path: Path) -> None:
    import tracemalloc

    Embedding(None, normal(20_000, 64)).save(tmp_path / "e")
    loaded = graphrefine.load(tmp_path / "e")
    tracemalloc.start()
    loaded.neighbors([3, 4, 5])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < loaded.vectors.nbytes / 2


# The index


def save_clusters(path: Path) -> Path:
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((40, 16))
    vectors = centers[rng.integers(0, 40, 3000)] + 0.4 * rng.standard_normal((3000, 16))
    vectors[11] = 0
    Embedding(None, vectors, degrees=rng.integers(1, 60, 3000)).save(path)
    return path


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    return save_clusters(tmp_path / "e")


@pytest.fixture(scope="module")
def index_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The index of that embedding, made once for all tests that begin with one."""
    path = save_clusters(tmp_path_factory.mktemp("index") / "e")
    index = Search(graphrefine.load(path), index=True).index
    assert index is not None and index.is_new and index.path is not None
    return index.path


@pytest.fixture
def indexed(stored: Path, index_folder: Path) -> Path:
    """The embedding with its index beside it."""
    shutil.copytree(index_folder, stored.with_name("e.cosine.index"))
    index = Search(graphrefine.load(stored), index=True).index
    assert index is not None and not index.is_new
    return stored


@pytest.mark.parametrize("score", SCORES)
def test_the_index_finds_what_exact_search_finds(stored: Path, score: Any) -> None:
    loaded = graphrefine.load(stored)
    exact, search = Search(loaded, score), Search(loaded, score, index=True)
    rows = np.arange(0, 3000, 7)
    wanted, found = exact.nearest(rows=rows, k=10), search.nearest(rows=rows, k=10)
    least = wanted.scores.min(axis=1, keepdims=True)
    recall = ((found.scores >= least) & (found.rows >= 0)).sum() / (wanted.rows >= 0).sum()
    assert recall >= 0.95 and search.recall is not None and abs(search.recall - recall) < 0.05
    same = found.rows[:, 0] == wanted.rows[:, 0]
    assert np.array_equal(found.scores[same, 0], wanted.scores[same, 0])  # scores are exact, to the bit
    assert not (found.rows == rows[:, None]).any()
    if score == "cosine":
        assert (Search(loaded, score, index=True).nearest(rows=[11]).rows == -1).all()
        assert not (found.rows == 11).any()


def test_a_wrong_index_has_a_recall_that_says_so(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: candidates drawn at random must not pass for neighbors."""
    drawn = np.random.default_rng(0)

    def candidates(part: Part, queries: Floats, count: int, *, width: int, threads: int) -> list[NDArray[np.int64]]:
        return [np.sort(drawn.choice(3000, width, replace=False)) for _ in queries]

    monkeypatch.setattr(Part, "candidates", candidates)
    recall = Search(graphrefine.load(stored), index=True).recall
    assert recall is not None and recall < 0.5


def test_the_index_is_kept_beside_the_embedding_and_found_again(stored: Path) -> None:
    first = Search(graphrefine.load(stored), index=True).index
    again = Search(graphrefine.load(stored), index=True).index
    assert first is not None and again is not None and first.is_new and not again.is_new
    assert again.path == stored.with_name("e.cosine.index")
    assert again.recall == first.recall and again.width == first.width
    moved = stored.with_name("moved")
    shutil.copytree(stored, moved)
    shutil.copytree(again.path, moved.with_name("moved.cosine.index"))
    found = Search(graphrefine.load(moved), index=True).index
    assert found is not None and not found.is_new  # a copy has another time, and the same vectors


def test_an_index_of_other_vectors_is_rebuilt(indexed: Path) -> None:
    Embedding(None, normal(3000, 16, seed=9)).save(indexed)
    fresh = Search(graphrefine.load(indexed), index=True)
    assert fresh.index is not None and fresh.index.is_new and fresh.recall is not None and fresh.recall > 0.9
    for degrees in (np.ones(3000), np.arange(3000)):  # inputs of the score too
        Embedding(None, normal(3000, 16, seed=9), degrees=degrees).save(indexed)
        link = Search(graphrefine.load(indexed), "link", index=True)
        assert link.index is not None and link.index.is_new


@pytest.mark.parametrize("text", ["{", '{"format": "graphrefine index", "version": 9}'])
def test_a_folder_of_another_program_or_a_newer_version_is_left_alone(indexed: Path, text: str) -> None:
    meta = indexed.with_name("e.cosine.index") / "meta.json"
    meta.write_text(text)
    index = Search(graphrefine.load(indexed), index=True).index
    assert index is not None and index.path is None and "e.cosine.index" in index.problem
    assert meta.read_text() == text


@pytest.mark.parametrize(
    "damage", ["version", "short", "gone", "all.members.npy", "all.starts.npy", "all.usearch", "meta.json"]
)
def test_a_damaged_index_is_never_opened_and_rebuilt(
    indexed: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = indexed.with_name("e.cosine.index")
    if damage == "version":
        meta = json.loads((folder / "meta.json").read_text())
        (folder / "meta.json").write_text(json.dumps({**meta, "version": 1}))
    elif damage == "short":
        os.truncate(folder / "all.usearch", 100)
    elif damage == "gone":
        (folder / "all.usearch").unlink()
    else:
        content = bytearray((folder / damage).read_bytes())
        content[content.find(b'"width": ') + 9 if damage == "meta.json" else len(content) // 2] ^= 1
        (folder / damage).write_bytes(content)
    loaded = graphrefine.load(indexed)
    with monkeypatch.context() as patch:
        patch.setattr(Part, "open", lambda *_: pytest.fail("a damaged index was opened"))
        assert index_module._stored_index(folder, loaded, "cosine", threads=1) is None
    index = Search(loaded, index=True).index
    assert index is not None and index.is_new and index.path == folder


def test_filters_and_many_left_out_are_searched_exactly_beside_an_index(stored: Path) -> None:
    loaded = graphrefine.load(stored)
    search, exact = Search(loaded, index=True), Search(loaded)
    mask = np.arange(3000) % 3 == 0
    exclude = [np.arange(1500)]
    for options in ({"candidates": mask}, {"exclude": exclude}, {"k": 1000}):
        ours, theirs = (each.nearest(rows=[2000], **options) for each in (search, exact))
        assert np.array_equal(ours.rows, theirs.rows)


def test_equal_vectors_and_small_sets_have_an_index_too(stored: Path) -> None:
    """Of 3,000 nodes with one of 30 vectors a graph of all of them would find few."""
    vectors = normal(30, 16)[np.arange(3000) % 30]
    search = Search(Embedding(None, vectors), index=True)
    assert search.recall == 1
    assert search.nearest(rows=[5]).rows.tolist() == [list(range(35, 335, 30))]
    assert (
        search.nearest(rows=[35], k=300).rows.tolist()
        == Search(Embedding(None, vectors)).nearest(rows=[35], k=300).rows.tolist()
    )
    for n in (0, 1, 2):
        search = Search(Embedding(None, np.ones((n, 3))), index=True)
        assert search.nearest(rows=np.arange(n), k=5).rows.shape == (n, min(5, n))
    assert Search(Embedding(None, np.zeros((4, 3))), index=True).nearest(rows=[0]).rows.max() == -1
    assert Search(bipartite(), "link", index=True).nearest(rows=[0], k=1).rows.tolist() == [[3]]


# The command


@pytest.fixture
def friends(tmp_path: Path) -> Path:
    people().save(tmp_path / "friends")
    return tmp_path / "friends"


def test_neighbors_prints_what_the_library_finds(friends: Path) -> None:
    figures = works("neighbors", friends, "bob", "ada", "-k", "2", "--json").figures
    known = people()
    assert figures["results"] == [
        {"node": name, "neighbors": [near._asdict() for near in known.neighbors(name, k=2)]} for name in ("bob", "ada")
    ]
    assert figures["score"] == "cosine" and figures["search"] == "exact"
    out = works("neighbors", friends, "bob", "-k", "1").out
    assert out.splitlines() == ["node  neighbor  cosine", "bob   cy        0.8000"]
    figures = works("neighbors", friends, "bob", "--index", "--json").figures
    assert figures["search"] == "index" and 0 <= figures["index"]["recall"] <= 1
    assert Path(figures["index"]["path"]).is_dir()
    assert "recall@10" in works("neighbors", friends, "bob", "--index").err


def test_neighbors_by_file_stdin_vectors_and_filters(friends: Path, labels_file: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.txt"
    names.write_text("bob\n\nada\n")
    nodes = [each["node"] for each in works("neighbors", friends, "--from", names, "--json").figures["results"]]
    assert nodes == ["bob", "ada"]
    piped = run("neighbors", friends, "--from", "-", "--json", stdin=b"cy\n")
    assert piped.figures["results"][0]["node"] == "cy"
    Embedding(["new"], [[0, 3]]).save(tmp_path / "new.csv")
    found = works("neighbors", friends, "--vectors", tmp_path / "new.csv", "-k", "1", "--json").figures["results"]
    assert found == [{"node": "new", "neighbors": [{"node": "cy", "score": 1.0}]}]
    red = works("neighbors", friends, "bob", "--labels", labels_file, "--label", "red", "--json").figures
    assert [near["node"] for near in red["results"][0]["neighbors"]] == ["ada", "eve"]
    edges = tmp_path / "edges.csv"
    edges.write_text("bob,cy\nbob,ada\n")
    Embedding([10, 20], [[1, 0], [1, 1]]).save(tmp_path / "numbers")
    found = works("neighbors", tmp_path / "numbers", "10", "--json").figures["results"]
    assert found[0]["node"] == 10 and found[0]["neighbors"][0]["node"] == 20
    rest = works("neighbors", friends, "bob", "--exclude-linked", edges, "--score", "link", "--json").figures
    assert [near["node"] for near in rest["results"][0]["neighbors"]] == ["dan", "eve"]


def test_an_index_that_a_full_disk_cuts_is_not_taken_for_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usearch = pytest.importorskip("usearch.index", reason="usearch is not installed")
    save = usearch.Index.save

    def cut(graph: Any, path: str) -> None:
        save(graph, path)
        os.truncate(path, Path(path).stat().st_size - 100)

    Embedding([f"n{i}" for i in range(50)], normal(50, 4)).save(tmp_path / "e")
    monkeypatch.setattr(usearch.Index, "save", cut)
    index = Search(graphrefine.load(tmp_path / "e"), index=True).index
    assert index is not None and index.path is None, "it is used, and not kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e"]


def test_vectors_of_another_kind_of_graph_and_sides_that_are_none_are_refused(tmp_path: Path) -> None:
    edges = [(f"n{i}", f"n{(i + step) % 20}") for i in range(20) for step in (1, 3)]
    one, two = graphrefine.embed(edges, dim=4), graphrefine.embed(edges, dim=4, directed=True)
    one.save(tmp_path / "one")
    two.save(tmp_path / "two")
    expected = ("two: has vectors of a directed graph, and", "one those of an undirected one")
    refuses("neighbors", tmp_path / "one", "--vectors", tmp_path / "two", folder=tmp_path, expected=expected)
    refuses("neighbors", tmp_path / "two", "--vectors", tmp_path / "one", folder=tmp_path, expected=("not comparable",))
    two.save(tmp_path / "two.csv")  # says not what it is
    for queries in ("one", "two.csv"):
        works("neighbors", tmp_path / "one", "--vectors", tmp_path / queries, "-k", "1")
    for folder in ("one", "two"):
        problem = ("--side 'source': is for bipartite graphs",)
        refuses("neighbors", tmp_path / folder, "n0", "--side", "source", folder=tmp_path, expected=problem)


# The neighbors of every node, in blocks: those that single searches give; and rankings as tables


def crowd(count: int = 50, **recipe: Any) -> Embedding:
    vectors = np.random.default_rng(1).standard_normal((count, 6))
    vectors[7] = 0
    return Embedding([f"n{i}" for i in range(count)], vectors, recipe, degrees=np.arange(count) + 1.0)


def rows_of(lists: Rankings[Neighbor]) -> list[tuple[Any, ...]]:
    named = zip(lists.questions, lists, strict=True)
    return [(node, near.node, rank, near.score) for node, each in named for rank, near in enumerate(each, 1)]


@pytest.mark.parametrize("score", ["cosine", "dot", "link"])
@pytest.mark.parametrize("batch", [1, 7, 50, 1000])
def test_blocks_are_what_single_searches_give(score: Any, batch: int) -> None:
    embedding = crowd()
    tables = list(all_neighbors(embedding, 3, score=score, batch=batch))
    assert len(tables) == -(-50 // batch)
    whole = join_tables(iter(tables))
    assert [tuple(row) for row in whole] == rows_of(embedding.neighbors(list(embedding), 3, score=score))
    assert ("n7" in whole["node"].tolist()) == (score != "cosine"), "a zero vector is near nothing by the cosine"


def test_limits_links_and_sides_hold_in_every_block() -> None:
    embedding, links = crowd(), [("n0", "n1"), ("n3", "n4"), ("n49", "n2")]
    limits: dict[str, Any] = {"candidates": [f"n{i}" for i in range(5)], "exclude_linked": links}
    whole = join_tables(all_neighbors(embedding, 9, batch=8, **limits))
    assert [tuple(row) for row in whole] == rows_of(embedding.neighbors(list(embedding), 9, **limits))
    pairs = {frozenset(pair) for pair in zip(whole["node"].tolist(), whole["neighbor"].tolist(), strict=True)}
    assert not pairs & {frozenset(link) for link in links}
    sides = crowd(20, sides="rows", sources=8)
    for score in ("cosine", "link"):
        whole = join_tables(all_neighbors(sides, 2, score=score, batch=3))
        assert set(zip(whole["node"].tolist(), whole["side"].tolist(), strict=True)) == {
            (f"n{i}", "source" if i < 8 else "target") for i in range(20) if score == "link" or i != 7
        }
        same = [(int(row.neighbor[1:]) < 8) == (row.side == "source") for row in whole]
        assert all(same) if score == "cosine" else not any(same)


def test_watchers_see_blocks_and_refusals_come_before_the_first() -> None:
    watch = Mock()
    tables = all_neighbors(crowd(), 2, batch=20, watcher=watch)
    watch.start.assert_not_called()
    next(tables)
    watch.start.assert_called_once_with("neighbors", 3)
    assert len(list(tables)) == 2 and watch.advance.call_count == 3
    for options, problem in (
        ({"batch": 0}, "batch=0 must be at least 1"),
        ({"score": "cosin"}, "did you mean 'cosine'"),
        ({"candidates": ["nobody"]}, "'nobody'"),
    ):
        with pytest.raises(InputError, match=problem):
            all_neighbors(crowd(), **options)


def test_tables_may_be_empty_and_keep_integer_names() -> None:
    (table,) = all_neighbors(Embedding(None, np.zeros((0, 3))), 2)
    assert len(table) == 0 and list(table.columns) == ["node", "neighbor", "rank", "score"]
    ring = graphrefine.embed([(i, (i + 1) % 9) for i in range(9)], dim=4)
    (table,) = all_neighbors(ring, 2)
    assert isinstance(table, Table) and table["node"].dtype == table["neighbor"].dtype == np.int64
    assert ring.neighbors([3, np.int64(4)], 1).to_pandas()["node"].dtype == np.int64


def test_rankings_are_lists_and_tables() -> None:
    embedding = crowd()
    one, several = embedding.neighbors("n1", 2), embedding.neighbors(["n1", "n7", "n2"], 2)
    assert isinstance(one, list) and isinstance(one, Ranking) and one == several[0] and several[1] == []
    assert several == [one, [], embedding.neighbors("n2", 2)] and several[0][0] == tuple(one[0])
    assert one.to_pandas().equals(pd.DataFrame(one, columns=["node", "score"]))
    rows = rows_of(several)
    expected = pd.DataFrame(rows, columns=["node", "neighbor", "rank", "score"])
    pd.testing.assert_frame_equal(several.to_pandas(), expected)
    assert several.to_polars().rows() == pl.DataFrame(several.table()).rows() == rows
    assert pa.table(several.table()).to_pydict() == several.to_arrow().to_pydict() == several.table().to_dict()
    assert "neighbor" in several._repr_html_() and one[0].node in one._repr_html_()
    by_vector = embedding.neighbors(vectors=embedding.vectors[:2], k=1).table()
    assert list(by_vector.columns) == ["vector", "neighbor", "rank", "score"] and by_vector["vector"].tolist() == [0, 1]
    assert Rankings[Neighbor]([], [], ("node", "neighbor")).to_pandas().shape == (0, 4)
    several.pop()
    with pytest.raises(ValueError, match="2 lists do not fit 3 questions"):
        several.table()
