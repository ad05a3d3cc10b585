"""What a notebook shows of embeddings and graphs: well-formed, escaped, small and quick."""

from __future__ import annotations

import re
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine import Embedding, Graph, embed, load, read
from graphrefine.graph.graph import store
from graphrefine.graph.notebook import MOST_NODES
from graphrefine.graph.stored import open_stored
from html_pages import Page
from strategies import PATIENT

ALLOWED = {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "svg", "path", "rect", "text", "title"}
ALLOWED |= {"details", "summary"}
LEADING = ("src", "href")  # attributes that have a browser load something
EVIL = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><b>', "&amp;", "a\n</td>"]
EVIL += ["\ud800", "\0", "\u202e"]


def page_of(shown: Embedding | Graph) -> tuple[Page, str]:
    html = shown._repr_html_()
    html.encode()  # a browser must be sent it
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= ALLOWED
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on") or name in LEADING]
    written = re.findall(r'="([^"]*)"|, −(\S+) \(orange|mean (\S+),', html)  # noqa: RUF001  attributes, and numbers
    assert not re.search(r"\bnan\b|\binf\b", str(written))
    assert len(html) < 30_000
    return page, html


def test_an_embedding_says_what_it_is_and_how_it_was_made(tmp_path: Path) -> None:
    graph = read([(f"n{row}", f"n{row + 1}") for row in range(30)])
    made = embed(graph, dim=4, seed=7)
    page, _ = page_of(made)
    told = " ".join(page.texts)
    assert "31 nodes × 4" in told and "by refine, quality default, seed 7, graphrefine 0.1.0" in told  # noqa: RUF001
    assert "power 5" in told and "filter reach" in told and "two sided" in told
    assert [name for name in page.texts if re.fullmatch(r"n\d+|⋮", name)] == [*made.names[:5], "⋮", made.names[-1]]
    assert [tag for tag, _ in page.tags].count("svg") == 6
    made.save(tmp_path / "kept")
    assert f"from {tmp_path / 'kept'}" in " ".join(page_of(load(tmp_path / "kept"))[0].texts)


def test_a_strip_has_the_signs_of_its_numbers() -> None:
    _, html = page_of(Embedding(None, [[1, 1, -1, 0, 1]]))
    blue, orange = re.findall(r'd="([^"]*)" fill="#(?:2b8cc4|e0762b)"', html)
    assert [int(float(x)) // 14 for x in re.findall(r"M([\d.]+) ", blue)] == [0, 1, 4]
    assert [int(float(x)) // 14 for x in re.findall(r"M([\d.]+) ", orange)] == [2]


def test_a_graph_says_what_it_is_and_both_sides_are_shown() -> None:
    hub = read([("hub", f"n{leaf}", 2.0) for leaf in range(20)] + [("n1", "n1", 1.0)], nodes=["alone"])
    page, html = page_of(hub)
    told = " ".join(page.texts)
    assert "22 nodes, 20 edges" in told and "undirected, weighted, 1 isolated" in told
    assert "names 'alone' to 'n9'" in told and "median 1, mean 1.8, highest 20" in told
    assert "self-loops left out: 1" in told
    assert page.texts[page.texts.index("hub") + 1] == "20"
    counts = dict(re.findall(r"<title>degree ([^:]*): (\d+) node", html))
    assert counts == {"0": "1", "1": "20", "2 to 3": "0", "4 to 7": "0", "8 to 15": "0", "16 to 31": "1"}
    page, _ = page_of(read([(1, 2), (2, 3)], directed=True))
    assert "directed, unweighted, 0 isolated" in page.texts and "out-degree" in page.texts
    graph = read([(user, item) for user in range(9) for item in range(5)], bipartite=True)
    page, _ = page_of(graph)
    assert any("bipartite: 9 sources, 5 targets" in text for text in page.texts)
    page, _ = page_of(embed(graph, dim=2))
    assert (page.texts.count("source"), page.texts.count("target"), page.texts.count("⋮")) == (3, 4, 2)


def test_a_graph_on_disk_reads_only_the_names_that_it_shows(tmp_path: Path) -> None:
    for names in (["é", "b", "c", "dd"], [5, 6, 7, 9], None):
        graph = Graph.from_edges([0, 1, 1], [1, 2, 3], names=names or list(range(4)))
        store(graph, tmp_path / "g.grf")
        stored = open_stored(tmp_path / "g.grf")
        assert stored._repr_html_() == graph._repr_html_()
        assert names is None or isinstance(names[0], int) or "names" not in stored.__dict__


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (2, 100), (7, 1)])
def test_empty_and_small_embeddings_and_graphs(shape: tuple[int, int]) -> None:
    for vectors in (np.zeros(shape), np.ones(shape)):
        page_of(Embedding(None, vectors, degrees=np.zeros(shape[0])))
    none = np.array([], np.int64)
    page_of(Graph.from_edges(none, none, names=[f"n{row}" for row in range(shape[0])]))


def test_a_mapped_file_with_what_is_no_number(tmp_path: Path) -> None:
    for vectors in ([[1, np.nan, -np.inf]], [[np.nan, np.nan, np.nan]], [[3e38, -3e38, 1e-45]]):
        np.save(tmp_path / "x.npy", np.array(vectors, np.float32))
        page_of(load(tmp_path / "x.npy"))


@pytest.mark.parametrize("evil", EVIL)
def test_names_and_recipes_are_escaped(evil: str) -> None:
    recipe = {"method": evil.replace("\ud800", ""), evil.replace("\ud800", ""): ["<i>"], "seed": "<u>"}
    for shown in (
        Embedding([evil, "other"], [[1], [2]], recipe, degrees=[1, 1]),
        Graph.from_edges([0, 1], [1, 2], names=[evil.replace("\n", " "), "b", "c"]),
    ):
        _, html = page_of(shown)
        assert "<script" not in html and "<img" not in html and "<b>" not in html and "<i>" not in html


@PATIENT
@given(names=st.lists(st.text(max_size=60), min_size=2, max_size=8, unique=True), seed=st.integers(0, 9))
def test_any_names_and_numbers(names: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((len(names), 3)) * 10.0 ** rng.integers(-38, 38)
    page_of(Embedding(names, vectors, {"note": names[0]}, degrees=rng.integers(0, 9, len(names))))
    page_of(Graph.from_edges([0], [1], names=[f"{row}{name}".replace("\n", "") for row, name in enumerate(names)]))


def test_a_million_nodes_in_a_blink() -> None:
    count = 1_000_000
    rng = np.random.default_rng(0)
    vectors = np.zeros((count, 64), np.float32)
    embedding = Embedding(None, vectors, degrees=np.ones(count))
    ends = rng.integers(0, count, (2, 2_000_000)).astype(np.int32)
    graph = Graph.from_edges(ends[0], ends[1], names=np.arange(count))
    for shown in (embedding, graph):
        repr(shown), shown._repr_html_()  # what is imported and counted once
        times = []
        for _ in range(5):
            start = time.process_time()
            shown._repr_html_()
            times.append(time.process_time() - start)
        assert min(times) < 0.05, times
        tracemalloc.start()
        page_of(shown)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < vectors.nbytes / 8


def test_beyond_a_million_nodes_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.graph.notebook.MOST_NODES", 8)
    graph = Graph.from_edges(np.zeros(29, np.int64), np.arange(1, 30), names=list(range(30)))
    page, html = page_of(graph)
    assert any("degree (of one node in 4): median 1" in text for text in page.texts)
    counted = re.findall(r"<title>[^:]*: (\d+) node", html)
    assert sum(map(int, counted)) == 8
    assert MOST_NODES >= 1_000_000
