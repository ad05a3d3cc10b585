"""The parts of a session of ``graphrefine explore``: completion, batches of searches, tasks, tables, groups."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from explore_servers import people, ready
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.errors import InputError
from graphrefine.explore import groups
from graphrefine.explore.autocomplete import Autocomplete
from graphrefine.explore.background import Background, StopError, Task, Watch
from graphrefine.explore.columns import read_columns
from graphrefine.explore.neighbor_search import Hits, SearchBatcher, SearchOptions
from graphrefine.explore.session import Session
from graphrefine.graph.graph import Graph


@pytest.mark.parametrize("names", [["b", "ab", "B", "a", "", "ba b", "abab"], ["Straße", "STRASSE", "ß", "é\udce9x"]])
def test_completion_agrees_with_asking_each_name(names: list[str]) -> None:
    autocomplete = Autocomplete(np.array(names, object))
    for part in ("a", "b", "AB", "bab", "ß", "x", "é", " ", "\0"):
        expected = [[], [], []]  # type: list[list[int]]
        for row, name in enumerate(names):
            text = name.lower()
            if part.lower() in text:
                expected[0 if text == part.lower() else 1 if text.startswith(part.lower()) else 2].append(row)
        assert autocomplete.find(part).tolist() == [row for rows in expected for row in rows]


def test_queries_that_wait_are_searched_for_together() -> None:
    batches: list[list[int]] = []

    def slowly(ask: SearchOptions, queries: list[int]) -> list[Hits]:
        threading.Event().wait(0.02)
        batches.append(queries)
        if ask.k == 1:
            raise RuntimeError("no")
        return [Hits([query, ask.k], [1.0, 0.5]) for query in queries]

    async def many() -> list[Any]:
        finder = SearchBatcher(slowly)
        asks = [SearchOptions("cosine", k, None, False, True) for k in (3, 4, 1)]
        searches = [finder.find(asks[i % 2], [i]) for i in range(40)]
        searches += [finder.find(asks[0], [*range(99)]), finder.find(asks[2], [5])]
        return await asyncio.gather(*searches, return_exceptions=True)

    *single, several, failed = asyncio.run(many())
    assert [hits[0].rows for hits in single] == [[i, 3 + i % 2] for i in range(40)], "each has its own answer"
    assert [hits.rows[0] for hits in several] == [*range(99)]
    assert isinstance(failed, RuntimeError), "which ends the searches that it was for, and no others"
    assert len(batches) < 10 and max(map(len, batches)) <= 64


def test_a_kept_layout_is_there_at_once_and_one_of_other_vectors_is_not(tmp_path: Path) -> None:
    people().save(tmp_path / "people")
    first = ready(Session(load(tmp_path / "people")))
    assert (tmp_path / "people.map").is_dir()
    second = Session(load(tmp_path / "people"))
    assert [task.state for task in second.layouts.values()] == ["working", "ready"] and second.best_layout == "clusters"
    assert np.array_equal(second.layouts["clusters"].value, first.layouts["clusters"].value)
    other = people()
    Embedding(other.names, other.vectors[::-1].copy()).save(tmp_path / "people")
    assert Session(load(tmp_path / "people")).layouts["clusters"].state == "working"


def test_background_work_goes_on_after_a_failure_and_stops_when_told(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(watch: Any) -> None:
        raise InputError("the graph has no edge")

    def endless(watch: Any) -> None:
        while True:
            watch.advance()

    works = {"one": refuse, "two": lambda watch: 1 / 0, "three": lambda watch: 3, "last": endless}
    tasks = [Task(name, work) for name, work in works.items()]
    background = Background(tasks)
    background.start()
    while tasks[2].state == "working":
        background.wait(0.01)
    assert background.stop(5)
    assert [task.state for task in tasks] == ["failed", "failed", "ready", "working"]
    assert tasks[0].error == "the graph has no edge" and "bug" in str(tasks[1].error)
    assert "ZeroDivisionError" in capsys.readouterr().err, "a bug is shown"


def test_columns_of_tables_and_more_categories_than_colors(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("kind,id,age,note\nx,ada,3,\ny,bob,,1e5\nx,eve,7,\n,zoe,9,3\n", encoding="utf-8")
    columns, answer = read_columns(path, np.array(["eve", "ada", "bob"], object))
    assert answer == 3 and list(columns) == ["kind", "age", "note"]
    assert [columns["kind"].value(row) for row in range(3)] == ["x", "x", "y"]
    assert [columns["age"].value(row) for row in range(3)] == [7, 3, None]
    assert [columns["note"].value(row) for row in range(3)] == [None, None, 100000]
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ids = list(range(3000))
    table = pa.table({"node": ids, "title": [f"t{i // 2}" for i in ids], "near": [[1]] * 3000, "label": ["a"] * 3000})
    parquet.write_table(table, tmp_path / "t.parquet")
    columns, answer = read_columns(tmp_path / "t.parquet", np.array(ids))
    assert answer == 3000 and list(columns) == ["title", "label"]
    about = columns["title"].describe()["categories"]
    assert len(about) == 1000 and about[-1] == {"name": "other", "count": 1002, "other": True}
    assert columns["title"].value(2999) == "t1499"
    assert np.frombuffer(columns["title"].raw(), "<u2").max() == 999
    session = Session(Embedding(None, np.eye(3000, 4)), labels=["x"] * 3000, columns=columns)
    assert list(session.columns) == ["label", "title", "label (table)", "cluster"]


def test_communities_are_found_in_another_process_that_ends_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    group, pairs = rng.integers(0, 5, 200), np.array([(u, v) for u in range(200) for v in range(u)])
    same = group[pairs[:, 0]] == group[pairs[:, 1]]
    edges = pairs[rng.random(len(pairs)) < np.where(same, 0.3, 0.01)]
    graph = Graph.from_edges(edges[:, 0], edges[:, 1], rng.uniform(0.5, 2, len(edges)), directed=True)
    embedding = Embedding(graph.names, rng.standard_normal((graph.nodes, 4)))
    here, apart, failed, stopped = (Session(embedding, graph=graph).columns["community"] for _ in range(4))
    here.run()
    monkeypatch.setattr(groups, "SUBPROCESS_ENTRIES", 0)
    apart.run()
    assert len(here.value.classes.names) > 1
    assert bytes(here.value.raw()) == bytes(apart.value.raw())
    monkeypatch.setattr(groups, "__name__", "timeit")  # python -m timeit FOLDER: it fails, and says why
    failed.run()
    assert failed.state == "failed" and "communities were not found" in str(failed.error)
    watch = Watch()
    watch.stop()
    with pytest.raises(StopError):
        stopped.run(watch)
