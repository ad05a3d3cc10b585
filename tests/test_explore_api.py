"""The API of ``graphrefine explore``: right answers, refusals with a way out, and who is answered at all."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import struct
import threading
import time
import urllib.request
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from cli_runs import check_refused, refuses, run, spawn
from explore_servers import (
    DIM,
    LABELS,
    NAMES,
    NODES,
    SIZE,
    Server,
    TestClient,
    client,
    friends,
    people,
    ready,
    received,
    serving,
    write_friends,
    write_labels,
)
from graphrefine.embedding import Embedding, load
from graphrefine.errors import InputError
from graphrefine.explore import groups
from graphrefine.explore.app import make_app
from graphrefine.explore.autocomplete import Autocomplete
from graphrefine.explore.background import Background, StopError, Task, Watch
from graphrefine.explore.column_table import read_columns
from graphrefine.explore.limits import Limits
from graphrefine.explore.picture import plain_png
from graphrefine.explore.request_params import BODY
from graphrefine.explore.search_batcher import Hits, SearchBatcher, SearchOptions
from graphrefine.explore.server import Access, bind, make_access, make_server
from graphrefine.explore.session import Session
from graphrefine.graph import Graph


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """An embedding with all that can stand beside it."""
    labels = write_labels(tmp_path_factory.mktemp("labels") / "labels.csv")
    return ready(Session(people(), graph=friends(), labels=labels, name="people"))


@pytest.fixture(scope="module")
def api(everything: Session) -> Iterator[TestClient]:
    with client(everything) as found:
        yield found


def get(api: TestClient, path: str, **query: Any) -> Any:
    found = api.get(path, params=query)
    assert found.status_code == 200, found.text
    return found.json()


def post(api: TestClient, path: str, **body: Any) -> Any:
    found = api.post(path, json=body)
    assert found.status_code == 200, found.text
    return found.json()


def nearest(row: int, k: int, *, among: Any = None, without: Any = ()) -> list[int]:
    """By the cosine, in plain NumPy."""
    vectors = people().vectors.astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scores = vectors @ vectors[row]
    scores[[row, *without]] = -np.inf
    if among is not None:
        scores[~among] = -np.inf
    order = np.argsort(-scores)[:k]
    return [int(each) for each in order if np.isfinite(scores[each])]


def linked_to(row: int) -> set[int]:
    graph = friends()
    names = graph.names.tolist()
    at = names.index(NAMES[row])
    return {NAMES.index(names[each]) for each in graph.indices[graph.indptr[at] : graph.indptr[at + 1]]}


# What is told


def test_it_tells_what_is_shown(api: TestClient) -> None:
    told = get(api, "/api/info")
    assert get(api, "/healthz") == {"status": "ok"}
    assert (told["name"], told["nodes"], told["dim"], told["method"]) == ("people", NODES, DIM, "refine")
    assert told["recipe"] == {"method": "refine", "seed": 3} and told["named"] and told["sides"] is None
    edges = {"nodes": NODES, "edges": 174, "directed": False, "weighted": False, "matched": NODES}
    assert told["graph"] == edges
    assert told["labels"] == {"classes": 6, "labelled": NODES}
    assert [layout["state"] for layout in told["layouts"]] == ["ready", "ready"] and told["layout"] == "clusters"
    assert [column["name"] for column in told["columns"]] == ["label", "degree", "community"]
    assert told["columns"][0]["categories"][0] == {"name": "clique 5", "count": 9}, "the first node has two labels"
    assert told["columns"][1] | {"min": 7.0, "max": 8.0, "log": True, "kind": "number"} == told["columns"][1]
    assert len(told["columns"][2]["categories"]) == 6
    assert told["limits"] == {"k": 1000, "batch": 1000, "rows": 10000, "body": BODY}


def test_its_scores_stand_beside_chance(api: TestClient) -> None:
    share, micro, edges = get(api, "/api/info")["scores"]
    vectors, hits = people().vectors, 0
    for row in range(NODES):
        mine = {LABELS[row]} | ({"clique 5"} if row == 0 else set())
        hits += sum(bool(mine & ({LABELS[each]} | ({"clique 5"} if each == 0 else set()))) for each in nearest(row, 10))
    assert share["value"] == pytest.approx(hits / (10 * NODES)) and "0.1" in share["note"]
    assert micro["value"] > 0.9 and "commonest" in micro["note"]
    assert edges["value"] > 0.95 and "has seen these edges" in edges["note"] and "174 edges" in edges["note"]
    random = Embedding(NAMES, np.random.default_rng(0).standard_normal(vectors.shape))
    control = ready(Session(random, graph=friends()))
    assert 0.3 < control.figures[0].value["value"] < 0.7, "random vectors keep no edges"


def test_nodes_are_found_by_a_part_of_their_names(api: TestClient) -> None:
    found = get(api, "/api/nodes", prefix="NODE 0", limit=4)
    assert [node["node"] for node in found["nodes"]] == NAMES[:4] and found["total"] == 10
    again = get(api, "/api/nodes", prefix="node 0", limit=4, offset=8)
    assert [node["node"] for node in again["nodes"]] == NAMES[8:10]
    assert [node["row"] for node in get(api, "/api/nodes", prefix="7/É")["nodes"]] == [7, 17, 27, 37, 47]
    assert get(api, "/api/nodes", prefix="nobody") == {"nodes": [], "total": 0}
    every = get(api, "/api/nodes", limit=1000)
    assert [node["row"] for node in every["nodes"]] == list(range(NODES)) and every["total"] == NODES
    assert get(api, "/api/nodes", offset=10**12)["nodes"] == []


@pytest.mark.parametrize("names", [["b", "ab", "B", "a", "", "ba b", "abab"], ["Straße", "STRASSE", "ß", "é\udce9x"]])
def test_completion_agrees_with_asking_each_name(names: list[str]) -> None:
    autocomplete = Autocomplete(np.array(names, object))
    for part in ("a", "b", "AB", "bab", "ß", "x", "é", " ", "\0"):
        wanted = [[], [], []]  # type: list[list[int]]
        for row, name in enumerate(names):
            text = name.lower()
            if part.lower() in text:
                wanted[0 if text == part.lower() else 1 if text.startswith(part.lower()) else 2].append(row)
        assert autocomplete.find(part).tolist() == [row for rows in wanted for row in rows]


def test_a_card_has_the_values_of_every_column(api: TestClient, everything: Session) -> None:
    (card,) = get(api, "/api/nodes", node=NAMES[9])["nodes"]
    assert (card["row"], card["node"], card["degree"], card["labels"]) == (9, NAMES[9], 8, ["clique 1"])
    assert card["values"]["label"] == "clique 1" and card["values"]["degree"] == 8
    assert get(api, "/api/nodes", row=9)["nodes"] == [card]
    (both,) = get(api, "/api/nodes", row=0)["nodes"]
    assert both["labels"] == ["clique 5", "clique 0"] and both["values"]["label"] == "clique 5"
    several = post(api, "/api/nodes", nodes=[NAMES[5], NAMES[2]])["nodes"]
    assert several == post(api, "/api/nodes", rows=[5, 2])["nodes"] == [everything.node(5), everything.node(2)]


# Neighbours


def test_neighbours_are_those_of_plain_numpy(api: TestClient) -> None:
    for row in (0, 13, 47):
        (found,) = get(api, "/api/neighbors", node=NAMES[row], k=7)["results"]
        assert (found["node"], found["row"]) == (NAMES[row], row)
        assert [each["row"] for each in found["neighbors"]] == nearest(row, 7)
        assert [each["node"] for each in found["neighbors"]] == [NAMES[each] for each in nearest(row, 7)]
        scores = [each["score"] for each in found["neighbors"]]
        assert scores == sorted(scores, reverse=True)
    every = get(api, "/api/neighbors", row=3, k=1000)["results"][0]["neighbors"]
    assert len(every) == NODES - 1


def test_neighbours_of_a_label_and_those_not_linked(api: TestClient) -> None:
    mask = np.array([label == "clique 2" for label in LABELS])
    (found,) = get(api, "/api/neighbors", row=20, k=5, label="clique 2")["results"]
    assert [each["row"] for each in found["neighbors"]] == nearest(20, 5, among=mask)
    (found,) = get(api, "/api/neighbors", row=20, k=5, unlinked="true")["results"]
    rows = [each["row"] for each in found["neighbors"]]
    assert rows == nearest(20, 5, without=linked_to(20)) != nearest(20, 5)
    assert not set(rows) & linked_to(20)


def test_neighbours_in_batches_and_of_vectors(api: TestClient, everything: Session) -> None:
    rows = [*range(NODES)] * 3
    several = post(api, "/api/neighbors", rows=rows, k=3)["results"]
    assert [each["row"] for each in several] == rows
    assert [[near["row"] for near in each["neighbors"]] for each in several[:NODES]] == [
        nearest(row, 3) for row in range(NODES)
    ]
    vector = everything.embedding.vectors[4].tolist()
    (found,) = post(api, "/api/neighbors", vectors=[vector], k=1)["results"]
    assert (found["node"], found["row"], found["neighbors"][0]["row"]) == (None, None, 4)
    for score in ("cosine", "dot", "link"):
        (mine,) = post(api, "/api/neighbors", nodes=[NAMES[3]], k=4, score=score)["results"]
        theirs = everything.embedding.neighbors(NAMES[3], 4, score=score)
        assert [(each["node"], each["score"]) for each in mine["neighbors"]] == theirs


def test_neighbours_by_an_index_once_it_is_made(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    people().save(tmp_path / "people")
    session = Session(load(tmp_path / "people"), index=True)
    with client(session) as api:
        before = get(api, "/api/neighbors", row=3, k=5)
        assert before["search"] == get(api, "/api/info")["search"] == "exact"
        ready(session)
        after = get(api, "/api/neighbors", row=3, k=5)
        assert after["search"] == get(api, "/api/info")["search"] == "index"
        assert [each["row"] for each in after["results"][0]["neighbors"]] == nearest(3, 5)
        several = post(api, "/api/neighbors", rows=[*range(NODES)], k=5)
        assert [result["neighbors"][0]["row"] for result in several["results"]] == [
            nearest(i, 1)[0] for i in range(NODES)
        ]
        assert get(api, "/api/neighbors", row=3, k=5, score="dot")["search"] == "exact"
        (few,) = get(api, "/api/neighbors", row=3, k=500)["results"]
        assert len(few["neighbors"]) == NODES - 1
    assert (tmp_path / "people.cosine.index").is_dir()
    small = Session(load(tmp_path / "people"))
    assert [task.name for task in small.background.tasks].count("index") == 0, "not asked for, and not needed"


def test_queries_that_wait_are_searched_for_together() -> None:
    batches: list[list[int]] = []

    def slowly(ask: SearchOptions, queries: list[int]) -> list[Hits]:
        threading.Event().wait(0.02)
        batches.append(queries)
        return [Hits([query, ask.k], [1.0, 0.5]) for query in queries]

    async def many() -> list[list[Hits]]:
        finder = SearchBatcher(slowly)
        asks = [SearchOptions("cosine", k, None, False, True) for k in (3, 4)]
        return await asyncio.gather(
            *(finder.find(asks[i % 2], [i]) for i in range(40)), finder.find(asks[0], [*range(99)])
        )

    *single, several = asyncio.run(many())
    assert [hits[0].rows for hits in single] == [[i, 3 + i % 2] for i in range(40)], "each has its own answer"
    assert [hits.rows[0] for hits in several] == [*range(99)]
    assert len(batches) < 10 and max(map(len, batches)) <= 64


def test_an_error_in_a_search_ends_the_searches_that_it_was_for() -> None:
    def broken(ask: SearchOptions, queries: list[int]) -> list[Hits]:
        if ask.k == 1:
            raise RuntimeError("no")
        return [Hits([query], [0.0]) for query in queries]

    async def both() -> list[Any]:
        finder = SearchBatcher(broken)
        asks = [SearchOptions("dot", k, None, False, True) for k in (1, 2)]
        return await asyncio.gather(*(finder.find(ask, [5]) for ask in asks), return_exceptions=True)

    failed, fine = asyncio.run(both())
    assert isinstance(failed, RuntimeError) and fine == [Hits([5], [0.0])]


def test_scores_are_those_of_the_embedding(api: TestClient, everything: Session) -> None:
    one = get(api, "/api/score", u=NAMES[1], v=NAMES[2])
    assert one == {"score": "cosine-degree", "scores": [everything.embedding.score(NAMES[1], NAMES[2])]}
    pairs = [[NAMES[i], NAMES[47 - i]] for i in range(NODES)]
    found = post(api, "/api/score", pairs=pairs)["scores"]
    assert found == everything.embedding.score(NAMES, NAMES[::-1]).tolist()


# Maps, columns, the graph


def test_coordinates_are_raw_and_kept_by_clients(api: TestClient) -> None:
    for layout in ("pca", "clusters"):
        found = api.get("/api/coordinates", params={"layout": layout})
        places = np.frombuffer(found.content, "<f4").reshape(-1, 2)
        assert places.shape == (NODES, 2) and np.abs(places).max() <= 1
        centres = places.reshape(-1, SIZE, 2).mean(axis=1)
        apart = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
        assert (apart == np.arange(NODES) // SIZE).mean() > 0.7, "nodes lie where their cliques are"
        again = api.get("/api/coordinates", params={"layout": layout}, headers={"if-none-match": found.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert api.get("/api/coordinates").content == found.content, "the best that is ready"


def test_the_map_is_an_image_with_or_without_matplotlib(api: TestClient, everything: Session) -> None:
    found = api.get("/map.png")
    assert found.headers["content-type"] == "image/png" and found.content.startswith(b"\x89PNG")
    assert api.get("/map.png", headers={"if-none-match": found.headers["etag"]}).status_code == 304
    coordinates = np.array([[-1, -1], [1, 1], [0, 0]], np.float32)
    pixels = pixels_of(plain_png(coordinates, np.array([0, 1, 65535], np.uint16)))
    assert pixels.shape == (1000, 1000, 3) and (pixels[500, 100] == 255).all()
    low_left, high_right, middle = pixels[969, 30], pixels[30, 969], pixels[500, 500]
    assert low_left[2] > low_left[0] and high_right[0] > high_right[2], "blue is the first category, orange the second"
    assert len(set(middle.tolist())) == 1, "none is grey"


def test_the_map_is_drawn_where_some_nodes_have_no_label(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(f"node,label\n{NAMES[0]},red\n{NAMES[1]},blue\n", encoding="utf-8")
    with client(ready(Session(people(), labels=labels))) as api:
        assert api.get("/map.png").status_code == 200
        codes = np.frombuffer(api.get("/api/columns/label").content, "<u2")
        assert sorted(codes[:2].tolist()) == [0, 1] and set(codes[2:].tolist()) == {65535}


def pixels_of(image: bytes) -> Any:
    """The pixels of a PNG without filters: a decoder that shares nothing with what is tested but the format."""
    width, height = struct.unpack(">II", image[16:24])
    start = image.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", image[start - 8 : start - 4])
    rows = np.frombuffer(zlib.decompress(image[start : start + length]), np.uint8).reshape(height, 1 + 3 * width)
    return rows[:, 1:].reshape(height, width, 3)


def test_columns_are_raw_codes_and_numbers(api: TestClient) -> None:
    told = {column["name"]: column for column in get(api, "/api/info")["columns"]}
    codes = np.frombuffer(api.get("/api/columns/label").content, "<u2")
    names = [told["label"]["categories"][code]["name"] for code in codes]
    assert names == ["clique 5", *LABELS[1:]]
    degrees = np.frombuffer(api.get("/api/columns/degree").content, "<f4")
    assert degrees.tolist() == people().degrees.tolist()  # type: ignore[union-attr]
    communities = np.frombuffer(api.get("/api/columns/community").content, "<u2").reshape(-1, SIZE)
    assert (communities == communities[:, :1]).all() and len(set(communities[:, 0].tolist())) == 6
    assert api.get("/api/columns/nothing").status_code == 404


def test_an_ego_network_has_the_edges_among_neighbours_too(api: TestClient) -> None:
    found = get(api, "/api/ego", node=NAMES[9])
    rows = [node["row"] for node in found["nodes"]]
    assert rows[0] == 9 and set(rows[1:]) == linked_to(9) and found["of"] == 8
    wanted = {(i, j) for i, u in enumerate(rows) for j, v in enumerate(rows) if i < j and v in linked_to(u)}
    assert {tuple(edge) for edge in found["edges"]} == wanted and len(found["edges"]) == len(wanted)
    few = get(api, "/api/ego", row=9, limit=3)
    assert few["nodes"] == found["nodes"][:4] and few["of"] == 8


def test_the_heaviest_edges_of_a_directed_graph_come_first() -> None:
    graph = Graph.from_edges(["a", "c", "a"], ["b", "a", "d"], [1.0, 9.0, 4.0], directed=True)
    vectors = np.eye(5, 4)
    session = Session(Embedding(["a", "b", "c", "d", "e"], vectors), graph=graph)
    with client(session) as api:
        found = get(api, "/api/ego", node="a")
        assert [node["node"] for node in found["nodes"]] == ["a", "c", "d", "b"]
        assert found["edges"] == [[0, 2], [0, 3], [1, 0]], "arcs keep their direction"
        assert [node["node"] for node in get(api, "/api/ego", node="e")["nodes"]] == ["e"], "not in the graph"
        assert get(api, "/api/info")["graph"]["matched"] == 4
        assert get(api, "/api/nodes", node="e")["nodes"][0]["degree"] is None


def test_a_name_that_stands_on_both_sides() -> None:
    recipe = {"sides": "rows", "sources": 2}
    vectors = np.array([[1, 0], [0, 1], [1, 0.1], [0.1, 1]])
    with client(Session(Embedding([1, 2, 1, 3], vectors, recipe))) as api:
        assert get(api, "/api/info")["sides"] == "rows"
        both = api.get("/api/nodes", params={"node": 1})
        assert both.status_code == 400 and "both sides" in both.json()["error"]
        for side, row in (("source", 0), ("target", 2)):
            (node,) = get(api, "/api/nodes", node=1, side=side)["nodes"]
            assert (node["row"], node["side"]) == (row, side)
        assert get(api, "/api/score", u=1, v=3) == {"score": "dot", "scores": [pytest.approx(0.1)]}
        (linked,) = get(api, "/api/neighbors", node=2, side="source", score="link")["results"]
        assert [each["row"] for each in linked["neighbors"]] == [3, 2]
        assert api.get("/api/score", params={"u": 3, "v": 1}).status_code == 404, "3 is no source"


def test_an_embedding_alone_and_an_empty_one() -> None:
    with client(ready(Session(Embedding(None, people().vectors)))) as api:
        told = get(api, "/api/info")
        assert not told["named"] and told["graph"] is None and told["labels"] is None and told["scores"] == []
        assert [column["name"] for column in told["columns"]] == ["cluster"]
        codes = np.frombuffer(api.get("/api/columns/cluster").content, "<u2")
        assert len(codes) == NODES and codes.max() < 12
        assert get(api, "/api/nodes", node=17)["nodes"][0]["row"] == 17
        for path in ("/api/ego?row=1", "/api/neighbors?row=1&unlinked=true"):
            found = api.get(path)
            assert found.status_code == 404 and "--graph" in found.json()["error"]
        found = api.get("/api/neighbors?row=1&label=red")
        assert found.status_code == 404 and "--labels" in found.json()["error"]
    with client(ready(Session(Embedding(None, np.zeros((0, 4)))))) as api:
        assert get(api, "/api/nodes") == {"nodes": [], "total": 0}
        assert api.get("/api/coordinates").content == b""
        found = api.get("/api/neighbors?row=0")
        assert found.status_code == 400 and "empty" in found.json()["error"]


def test_zero_vectors_have_no_neighbours() -> None:
    vectors = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    with client(ready(Session(Embedding(None, vectors)))) as api:
        assert get(api, "/api/neighbors", row=0)["results"][0]["neighbors"] == []
        assert np.isfinite(np.frombuffer(api.get("/api/coordinates").content, "<f4")).all()
        assert np.frombuffer(api.get("/api/columns/cluster").content, "<u2")[0] == 65535


# Refusals


REFUSED = [
    ("/api/nodes?node=nobody", 404, "no node is called 'nobody'"),
    ("/api/nodes?row=48", 400, "from 0 to 47"),
    ("/api/nodes?row=-1", 400, "from 0 to 47"),
    ("/api/nodes?row=1.0", 400, "whole number"),
    ("/api/nodes?row=" + "9" * 3000, 400, "whole number"),
    ("/api/nodes?limit=0", 400, "from 1 to 1000"),
    ("/api/nodes?limit=5&limit=6", 400, "twice"),
    ("/api/nodes?node=a&row=1", 400, "do not go together"),
    ("/api/nodes?row=1&limit=3", 400, "do not go together"),
    ("/api/nodes?prefix=%ff", 400, "not UTF-8"),
    ("/api/nodes?prefix=%F0%9F%98", 400, "not UTF-8"),
    ("/api/nodes?prefix=" + "a" * 4001, 400, "4000"),
    ("/api/nodes?side=source", 400, "there is no parameter 'side'"),
    ("/api/nodes?Prefix=a", 400, "it can be prefix"),
    ("/api/neighbors", 400, "exactly one of node, row"),
    ("/api/neighbors?row=1&k=0", 400, "from 1 to 1000"),
    ("/api/neighbors?row=1&k=1001", 400, "from 1 to 1000"),
    ("/api/neighbors?row=1&score=cosinus", 400, "cosine, dot, link"),
    ("/api/neighbors?row=1&label=none", 404, "'clique 5'"),
    ("/api/neighbors?row=1&unlinked=yes", 400, "true or false"),
    ("/api/score?u=a", 400, "v is missing"),
    ("/api/score?u=a&v=b", 404, "no node is called 'a'"),
    ("/api/coordinates?layout=umap", 400, "pca, clusters"),
    ("/api/columns/label?x=1", 400, "there is none here"),
    ("/api/columns/../../etc/passwd", 404, "error"),
    ("/api/columns/%2e%2e%2fpasswd", 404, "error"),
    ("/api/info?" + "&".join(f"a{i}=1" for i in range(40)), 400, "32"),
    ("/api", 404, "openapi"),
    ("/api/nodes/", 404, "openapi"),
    ("/assets/../app.py", 404, "openapi"),
    ("/assets/%2e%2e/app.py", 404, "openapi"),
    ("//etc/passwd", 404, "openapi"),
    ("/page/index.html", 404, "openapi"),
]


@pytest.mark.parametrize(("path", "status", "said"), REFUSED)
def test_bad_questions_are_refused_with_the_way_out(api: TestClient, path: str, status: int, said: str) -> None:
    found = api.get("http://localhost" + path)
    assert found.status_code == status, found.text
    assert set(found.json()) == {"error"} and said in found.text, found.text
    assert len(found.text) < 1000, "what was sent is not sent back at length"


BODIES = [
    (b"", "not JSON"),
    (b"\xff", "not JSON"),
    (b"[]", "a JSON object"),
    (b'{"rows": [1], "k": NaN}', "NaN"),
    (b'{"rows": [1], "k": Infinity}', "Infinity"),
    (b'{"rows": [1], "k": true}', "whole number"),
    (b'{"rows": [1], "k": 1e400}', "whole number"),
    (b'{"rows": [1], "k": ' + b"9" * 5000 + b"}", "not JSON"),
    (b'{"rows": [1], "rows": [2]}', "twice"),
    (b'{"rows": []}', "1 to 1000"),
    (b'{"rows": [0, 99]}', "entry 1"),
    (b'{"rows": ["0"]}', "entry 0"),
    (b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested"),
    (b'{"rows": [1], "nodes": ["a"]}', "exactly one"),
    (b'{"rows": [' + b"1," * 1000 + b"1]}", "1 to 1000"),
    (b'{"vectors": [[1, 2]]}', "12 numbers"),
    (b'{"vectors": [[' + b"1e400," * 11 + b"1]]}", "numbers from"),
    (b'{"vectors": [[' + b"true," * 11 + b"1]]}", "12 numbers"),
    (b'{"vectors": [[' + b"1," * 11 + b'1]], "unlinked": true}', "do not go together"),
    (b'{"rows": [1], "path": "/etc/passwd"}', "there is no parameter"),
]


@pytest.mark.parametrize(("body", "said"), BODIES)
def test_bad_bodies_are_refused(api: TestClient, body: bytes, said: str) -> None:
    found = api.post("/api/neighbors", content=body, headers={"content-type": "application/json"})
    assert found.status_code == 400 and said in found.json()["error"], found.text


def test_a_lone_surrogate_is_a_name_that_no_node_has(api: TestClient) -> None:
    body = b'{"nodes": ["\\ud800"]}'
    assert api.post("/api/nodes", content=body, headers={"content-type": "application/json"}).status_code == 404


def test_bodies_of_another_kind_or_too_large_are_refused(api: TestClient) -> None:
    assert api.post("/api/nodes", content=b'{"rows": [1]}').status_code == 415
    assert api.post("/api/nodes", data={"rows": "1"}).status_code == 415
    huge = b'{"rows": [' + b" " * BODY + b"1]}"
    found = api.post("/api/nodes", content=huge, headers={"content-type": "application/json"})
    assert found.status_code == 413 and str(BODY) in found.json()["error"]
    extra = api.post("/api/nodes?rows=1", json={"rows": [1]})
    assert extra.status_code == 400, "a query beside a body would be ignored"


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
def test_other_methods_are_refused(api: TestClient, method: str) -> None:
    found = api.request(method, "/api/nodes")
    assert found.status_code == 405 and set(found.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    assert "access-control-allow-origin" not in found.headers
    assert api.post("/api/info", json={}).status_code == 405
    head = api.head("/api/info")
    assert head.status_code == 200


# Who is answered


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "localhost:80:80", "", "a b"]
)
def test_another_host_is_refused(api: TestClient, host: str) -> None:
    for path in ("/", "/api/info", "/healthz", "/nothing"):
        found = api.get(path, headers={"host": host})
        assert found.status_code == 421 and "Host" in found.json()["error"]
        assert found.headers["x-content-type-options"] == "nosniff"


def test_names_of_the_loopback_are_ours_and_others_if_said(everything: Session) -> None:
    with client(everything, hosts=["Lab.example"]) as api:
        for host in ("localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:9", "lab.example:80"):
            assert api.get("/api/info", headers={"host": host}).status_code == 200, host
        assert api.get("/api/info", headers={"host": "10.0.0.1"}).status_code == 421
    with client(everything, any_address=True, token="t") as api:
        allowed = api.get("/api/info", headers={"host": "10.0.0.1:1", "authorization": "Bearer t"})
        assert allowed.status_code == 200
        assert api.get("/api/info", headers={"host": "evil.example", "authorization": "Bearer t"}).status_code == 421


def test_every_answer_keeps_browsers_to_this_page(api: TestClient) -> None:
    for path in ("/", "/api/info", "/api/coordinates", "/nothing", "/api/nodes?row=x", "/map.png"):
        headers = api.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert not any(name.startswith("access-control") for name in headers)


def test_a_token_is_asked_for_everywhere_but_for_health(everything: Session) -> None:
    with client(everything, token="s3cret ü") as api:
        for path in ("/", "/api/info", "/api/openapi.json", "/map.png", "/nothing", "/?token=wrong", "/?token="):
            found = api.get(path)
            assert found.status_code == 401 and "token" in found.json()["error"], path
            assert found.headers["www-authenticate"] == "Bearer"
        assert api.get("/healthz").status_code == 200
        for wrong in (b"Bearer s3cret", b"Bearer ", b"Basic s3cret", b"Bearer \xff\xfe", "Bearer s3cret üx".encode()):
            assert api.get("/api/info", headers={"authorization": wrong}).status_code == 401
        right = {"authorization": "Bearer s3cret ü".encode()}
        assert api.get("/api/info", headers=right).status_code == 200
        welcome = api.get("/?view=1&token=s3cret%20%C3%BC", follow_redirects=False)
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/?view=1")
        cookie = welcome.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "s3cret" not in cookie
        assert api.get("/api/info").status_code == 200, "the client has the cookie now"
        api.cookies.clear()
        for wrong_cookie in ("graphrefine-80=zz", "graphrefine-80=", "graphrefine-80=00", "=;;=", "graphrefine-80"):
            assert api.get("/api/info", headers={"cookie": wrong_cookie}).status_code == 401


# Limits and background work


def test_too_many_at_once_and_too_long_are_asked_to_come_again() -> None:
    from starlette.responses import Response

    def refuse(status: int, problem: str) -> Any:
        return Response(problem, status)

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.05 if scope["path"] == "/" else 60)
        await Response("done")(scope, receive, send)

    limits = Limits(slow, refuse=refuse, at_once=3, seconds=0.3)

    async def ask(path: str) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        await limits({"type": "http", "path": path, "method": "GET", "headers": []}, None, send)  # type: ignore[arg-type]
        return int(sent[0]["status"])

    async def crowd() -> list[int]:
        return await asyncio.gather(*(ask("/") for _ in range(5)))

    async def later() -> tuple[list[int], int, int]:
        return await crowd(), await ask("/"), await ask("/forever")

    assert asyncio.run(later()) == ([200, 200, 200, 503, 503], 200, 503)


def test_a_head_that_does_not_come_to_an_end_is_not_waited_for(
    everything: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphrefine.explore.limits.HEAD_SECONDS", 0.3)
    server = make_server(make_app(everything))
    listening = bind("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for sent in (b"", b"GET /healthz HT", whole + b"GET /healthz HT"):
            with socket.create_connection(listening.getsockname(), timeout=10) as connection:
                connection.sendall(sent)
                if sent.startswith(whole):
                    assert received(connection).endswith(b'{"status":"ok"}')
                assert connection.recv(100) == b"", "closed"
        with socket.create_connection(listening.getsockname(), timeout=10) as connection:
            for _ in range(3):  # someone who asks now and then is not cut off
                connection.sendall(whole)
                assert received(connection).endswith(b'{"status":"ok"}')
                time.sleep(0.2)
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()


def test_what_is_not_ready_is_said_to_be_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.explore.raw_handlers.PATIENCE", 0.05)
    with client(Session(people())) as api:
        states = [layout["state"] for layout in get(api, "/api/info")["layouts"]]
        assert states == ["working", "working"]
        for path in ("/api/coordinates", "/api/columns/cluster", "/map.png"):
            found = api.get(path)
            assert found.status_code == 503 and found.headers["retry-after"] == "1", path


def test_a_kept_layout_is_there_at_once_and_one_of_other_vectors_is_not(tmp_path: Path) -> None:
    people().save(tmp_path / "people")
    first = ready(Session(load(tmp_path / "people")))
    assert (tmp_path / "people.map").is_dir()
    again = Session(load(tmp_path / "people"))
    assert [task.state for task in again.layouts.values()] == ["working", "ready"] and again.best_layout == "clusters"
    assert np.array_equal(again.layouts["clusters"].value, first.layouts["clusters"].value)
    other = people()
    Embedding(other.names, other.vectors[::-1].copy()).save(tmp_path / "people")
    assert Session(load(tmp_path / "people")).layouts["clusters"].state == "working"


def test_background_work_goes_on_after_a_failure_and_stops_when_told(capsys: pytest.CaptureFixture[str]) -> None:
    def refuse(watch: Any) -> None:
        raise InputError("the graph has no edge")

    def endless(watch: Any) -> None:
        while True:
            watch.advance()

    tasks = [
        Task("one", refuse),
        Task("two", lambda watch: 1 / 0),
        Task("three", lambda watch: 3),
        Task("last", endless),
    ]
    background = Background(tasks)
    background.start()
    while tasks[2].state == "working":
        background.wait(0.01)
    assert background.stop(5)
    assert [task.state for task in tasks] == ["failed", "failed", "ready", "working"]
    assert tasks[0].error == "the graph has no edge" and "bug" in str(tasks[1].error)
    assert "ZeroDivisionError" in capsys.readouterr().err, "a bug is shown"


# The document

ADDRESSES = {
    *(
        (f"/api/{name}", "GET")
        for name in ("info", "openapi.json", "nodes", "neighbors", "ego", "score", "coordinates")
    ),
    *((f"/api/{name}", "POST") for name in ("nodes", "neighbors", "score")),
    *(("/healthz", "GET"), ("/api/columns/{name}", "GET"), ("/map.png", "GET")),
}


def test_the_document_has_every_address_and_no_other(api: TestClient, everything: Session) -> None:
    document = get(api, "/api/openapi.json")
    assert document["openapi"] == "3.1.0"
    told = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    assert told == ADDRESSES
    for path, method in told:
        address = path.replace("{name}", "label")
        found = api.request(method, address, **({"json": {}} if method == "POST" else {}))
        assert found.status_code in (200, 400), (path, "answers, or asks for a parameter")


# Tables


def test_columns_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("kind,id,age,note\nx,ada,3,\ny,bob,,1e5\nx,eve,7,\n,zoe,9,3\n", encoding="utf-8")
    columns, found = read_columns(path, np.array(["eve", "ada", "bob"], object))
    assert found == 3 and list(columns) == ["kind", "age", "note"]
    assert [columns["kind"].value(row) for row in range(3)] == ["x", "x", "y"]
    assert [columns["age"].value(row) for row in range(3)] == [7, 3, None]
    assert [columns["note"].value(row) for row in range(3)] == [None, None, 100000]


def test_columns_of_parquet_and_more_categories_than_colours(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    ids = list(range(3000))
    table = pa.table({"node": ids, "title": [f"t{i // 2}" for i in ids], "near": [[1]] * 3000, "label": ["a"] * 3000})
    parquet.write_table(table, tmp_path / "t.parquet")
    columns, found = read_columns(tmp_path / "t.parquet", np.array(ids))
    assert found == 3000 and list(columns) == ["title", "label"]
    about = columns["title"].describe()["categories"]
    assert len(about) == 1000 and about[-1] == {"name": "other", "count": 1002, "other": True}
    assert columns["title"].value(2999) == "t1499"
    assert np.frombuffer(columns["title"].raw(), "<u2").max() == 999
    session = Session(Embedding(None, np.eye(3000, 4)), labels=["x"] * 3000, columns=columns)
    assert list(session.columns) == ["label", "title", "label (table)", "cluster"]


# The command


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("explore")
    people().save(place / "people")
    write_friends(place / "friends.csv")
    write_labels(place / "labels.csv")
    return place


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    options = ("--graph", folder / "friends.csv", "--labels", folder / "labels.csv")
    with serving(folder / "people", *options) as found:
        yield found


def test_the_command_serves(server: Server) -> None:
    with urllib.request.urlopen(server.url + "healthz", timeout=10) as found:
        assert json.load(found) == {"status": "ok"}
        assert "server" not in found.headers
    query = f"api/neighbors?node={quote(NAMES[13])}&k=3"
    with urllib.request.urlopen(server.url + query, timeout=10) as found:
        (result,) = json.load(found)["results"]
    assert [each["row"] for each in result["neighbors"]] == nearest(13, 3)


RAW = [
    (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 404 "),
    (b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 404 "),
    (b"GET /assets/..%2f..%2fapp.py HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 404 "),
    (b"GET /assets/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 404 "),
    (b"GET http://evil.example/api/info HTTP/1.1\r\nHost: evil.example\r\n\r\n", b" 421 "),
    (b"GET /api/info HTTP/1.1\r\n\r\n", b" 400 "),
    (b"GET /api/info HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", b" 400 "),
    (b"GET /api/info HTTP/1.0\r\n\r\n", b" 421 "),
    (b"nonsense\r\n\r\n", b" 400 "),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b" 400 "),
    (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 40"),
    (
        b"POST /api/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: -1\r\n\r\n",
        b" 400 ",
    ),
    (
        b"POST /api/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 999999999999\r\n\r\n{",
        b" 413 ",
    ),
    (
        b"POST /api/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n" + (b"100000\r\n" + b" " * 0x100000 + b"\r\n") * 6,
        b" 413 ",
    ),
    (
        b"POST /api/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nc\r\n" + b'{"rows":[1]}\r\n0\r\n\r\n',
        b" 200 ",
    ),
]


@pytest.mark.parametrize(("request_", "status"), RAW)
def test_raw_requests(server: Server, request_: bytes, status: bytes) -> None:
    found = server.talk(request_, timeout=5)
    assert status in found.partition(b"\r\n")[0], found[:300]
    assert b"root:" not in found


def test_ctrl_c_ends_it_quietly(folder: Path) -> None:
    with serving(folder / "people") as server:
        with socket.create_connection(("127.0.0.1", server.port)) as idle:  # someone who keeps a connection open
            idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200" in idle.recv(1000)
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(20) == 130
            assert received(idle) in (b"", b'{"status":"ok"}'), "the connection is closed"
        assert (
            server.process.stderr and server.process.stderr.read() == b"interrupted; no half-written output is left\n"
        )


def test_beyond_this_machine_there_is_always_a_token() -> None:
    assert make_access("127.0.0.1", 80, None) == Access("http://127.0.0.1:80/", None, ("127.0.0.1",), False)
    assert make_access("::1", 80, "a b").url == "http://[::1]:80/?token=a%20b"
    made = make_access("192.0.2.1", 80, None)
    assert made.token and len(made.token) >= 32 and made.hosts == ("192.0.2.1",) and not made.any_address
    assert made.token != make_access("192.0.2.1", 80, None).token
    every = make_access("0.0.0.0", 80, None)
    assert every.token and every.any_address and socket.gethostname() in every.hosts


def test_mistakes_of_the_command(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("x,y\ny,z\n")
    said = ("none of the 3 nodes", "'x'", repr(NAMES[0]))
    refuses("explore", folder / "people", "--graph", other, folder=folder, expected=said)
    other.write_text("node,label\nx,red\n")
    refuses("explore", folder / "people", "--labels", other, folder=folder, expected=("none of the 1 nodes", "'x'"))
    refuses("explore", folder / "people", "--columns", other, folder=folder, expected=("none of the 1 nodes", "'x'"))
    refuses("explore", folder / "people", "--port", "70000", folder=folder, expected=("--port 70000",))
    vectors = np.array(people().vectors)
    vectors[5, 3] = np.nan
    np.save(tmp_path / "broken.npy", vectors)
    check_refused(run("explore", tmp_path / "broken.npy"), "node 5 (row 5)", "nan")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refuses("explore", folder / "people", "--port", port, folder=folder, expected=(f"--port {port} is taken", "0"))


def test_what_does_not_fit_is_said(folder: Path, tmp_path: Path) -> None:
    graph = tmp_path / "part.csv"
    graph.write_text(f"{NAMES[0]},{NAMES[1]}\n{NAMES[1]},someone\n", encoding="utf-8")
    labels = tmp_path / "labels.csv"
    labels.write_text(f"node,label\n{NAMES[0]},red\nsomeone,blue\n", encoding="utf-8")
    with serving(folder / "people", "--graph", graph, "--labels", labels) as server:
        with urllib.request.urlopen(server.url + "api/info", timeout=10) as found:
            told = json.load(found)
        assert told["graph"]["matched"] == 2 and told["labels"] == {"classes": 1, "labelled": 1}
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 143
        assert server.process.stderr
        first, second = server.process.stderr.read().decode().splitlines()[:2]
    assert first == "warning: 2 of 48 nodes of the embedding are in the graph, which has 3 nodes"
    assert second == "warning: 1 of 2 labelled nodes are not in the embedding"


def test_an_embedding_without_names_shown_on_every_address(tmp_path: Path) -> None:
    np.save(tmp_path / "plain.npy", people().vectors)
    with serving(tmp_path / "plain.npy", "--host", "0.0.0.0", "--token", "open sesame") as server:
        assert server.url.endswith("/?token=open%20sesame")
        ask = b"GET /api/nodes?node=5 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        assert b" 401 " in server.talk(ask + b"\r\n")
        found = server.talk(ask + b"Authorization: Bearer open sesame\r\n\r\n")
        assert b" 200 " in found and b'"row":5' in found
        server.process.send_signal(signal.SIGINT)
        server.process.wait(20)
        assert server.process.stderr and b"called by their rows, 0 to 47" in server.process.stderr.read()


def test_without_its_packages_it_says_what_to_install(folder: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; from graphrefine.cli import main; main()"
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code, "explore", folder / "people"], capture_output=True, timeout=60)
    assert done.returncode == 2 and b'pip install "graphrefine[explore]"' in done.stderr


def test_help_says_how(folder: Path) -> None:
    done = spawn("explore", "--help")
    assert done.code == 0 and "--no-browser" in done.out and "API" not in done.err


@pytest.mark.parametrize("kind", ["plain", "weighted", "directed"])
def test_communities_are_the_same_from_a_process_of_their_own(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(0, 5, 200)
    pairs = np.array([(u, v) for u in range(200) for v in range(u)])
    same = group[pairs[:, 0]] == group[pairs[:, 1]]
    edges = pairs[rng.random(len(pairs)) < np.where(same, 0.3, 0.01)]
    weights = rng.uniform(0.5, 2, len(edges)) if kind == "weighted" else None
    graph = Graph.from_edges(edges[:, 0], edges[:, 1], weights, directed=kind == "directed")
    embedding = Embedding(graph.names, rng.standard_normal((graph.nodes, 4)))
    here, apart = Session(embedding, graph=graph), Session(embedding, graph=graph)
    here.columns["community"].run()
    monkeypatch.setattr(groups, "APART", 0)
    apart.columns["community"].run()
    assert len(here.columns["community"].value.names) > 1
    assert here.columns["community"].value.codes.tolist() == apart.columns["community"].value.codes.tolist()


def test_a_process_that_looks_for_communities_ends_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "APART", 0)
    monkeypatch.setattr(groups, "__name__", "timeit")  # python -m timeit FOLDER: it fails, and says why
    embedding, graph = Embedding([0, 1], [[1, 0], [0, 1]]), Graph.from_edges([0], [1])
    session = Session(embedding, graph=graph)
    task = session.columns["community"]
    task.run()
    assert task.state == "failed" and "communities were not found" in str(task.error)
    watch = Watch()
    watch.stop()
    with pytest.raises(StopError):
        Session(embedding, graph=graph).columns["community"].run(watch)
