"""The API of ``graphrefine explore``: right answers, held to plain NumPy and to the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from explore_servers import (
    DIM,
    LABELS,
    NAMES,
    NODES,
    SIZE,
    TestClient,
    client,
    friends,
    get,
    linked_to,
    make_everything,
    nearest,
    people,
    post,
    ready,
)
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.explore.request_params import BODY
from graphrefine.explore.session import Session
from graphrefine.graph.graph import Graph


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return make_everything(tmp_path_factory.mktemp("labels"))


@pytest.fixture(scope="module")
def api(everything: Session) -> Iterator[TestClient]:
    with client(everything) as api:
        yield api


def test_it_tells_what_is_shown(api: TestClient) -> None:
    info = get(api, "/api/info")
    assert get(api, "/healthz") == {"status": "ok"}
    assert (info["name"], info["nodes"], info["dim"], info["method"]) == ("people", NODES, DIM, "refine")
    assert info["recipe"] == {"method": "refine", "seed": 3} and info["named"] and info["sides"] is None
    edges = {"nodes": NODES, "edges": 174, "directed": False, "weighted": False, "matched": NODES}
    assert info["graph"] == edges and info["labels"] == {"classes": 6, "labeled": NODES}
    assert [layout["state"] for layout in info["layouts"]] == ["ready", "ready"] and info["layout"] == "clusters"
    assert [column["name"] for column in info["columns"]] == ["label", "degree", "community"]
    assert info["columns"][0]["categories"][0] == {"name": "clique 5", "count": 9}, "the first node has two labels"
    assert info["columns"][1] | {"min": 7.0, "max": 8.0, "log": True, "kind": "number"} == info["columns"][1]
    assert len(info["columns"][2]["categories"]) == 6
    assert info["limits"] == {"k": 1000, "batch": 1000, "rows": 10000, "body": BODY}


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
    assert 0.3 < control.quality[0].value["value"] < 0.7, "random vectors keep no edges"


def test_nodes_are_found_by_a_part_of_their_names(api: TestClient) -> None:
    answer = get(api, "/api/nodes", prefix="NODE 0", limit=4)
    assert [node["node"] for node in answer["nodes"]] == NAMES[:4] and answer["total"] == 10
    second = get(api, "/api/nodes", prefix="node 0", limit=4, offset=8)
    assert [node["node"] for node in second["nodes"]] == NAMES[8:10]
    assert [node["row"] for node in get(api, "/api/nodes", prefix="7/É")["nodes"]] == [7, 17, 27, 37, 47]
    assert get(api, "/api/nodes", prefix="nobody") == {"nodes": [], "total": 0}
    every = get(api, "/api/nodes", limit=1000)
    assert [node["row"] for node in every["nodes"]] == list(range(NODES)) and every["total"] == NODES
    assert get(api, "/api/nodes", offset=10**12)["nodes"] == []


def test_a_card_has_the_values_of_every_column(api: TestClient, everything: Session) -> None:
    (card,) = get(api, "/api/nodes", node=NAMES[9])["nodes"]
    assert (card["row"], card["node"], card["degree"], card["labels"]) == (9, NAMES[9], 8, ["clique 1"])
    assert card["values"]["label"] == "clique 1" and card["values"]["degree"] == 8
    assert get(api, "/api/nodes", row=9)["nodes"] == [card]
    (both,) = get(api, "/api/nodes", row=0)["nodes"]
    assert both["labels"] == ["clique 5", "clique 0"] and both["values"]["label"] == "clique 5"
    several = post(api, "/api/nodes", nodes=[NAMES[5], NAMES[2]])["nodes"]
    assert several == post(api, "/api/nodes", rows=[5, 2])["nodes"] == [everything.node(5), everything.node(2)]


def test_neighbors_are_those_of_plain_numpy(api: TestClient) -> None:
    for row in (0, 13, 47):
        (answer,) = get(api, "/api/neighbors", node=NAMES[row], k=7)["results"]
        assert (answer["node"], answer["row"]) == (NAMES[row], row)
        assert [each["row"] for each in answer["neighbors"]] == nearest(row, 7)
        assert [each["node"] for each in answer["neighbors"]] == [NAMES[each] for each in nearest(row, 7)]
        scores = [each["score"] for each in answer["neighbors"]]
        assert scores == sorted(scores, reverse=True)
    every = get(api, "/api/neighbors", row=3, k=1000)["results"][0]["neighbors"]
    assert len(every) == NODES - 1


def test_neighbors_of_a_label_and_those_not_linked(api: TestClient) -> None:
    mask = np.array([label == "clique 2" for label in LABELS])
    (answer,) = get(api, "/api/neighbors", row=20, k=5, label="clique 2")["results"]
    assert [each["row"] for each in answer["neighbors"]] == nearest(20, 5, among=mask)
    (answer,) = get(api, "/api/neighbors", row=20, k=5, unlinked="true")["results"]
    rows = [each["row"] for each in answer["neighbors"]]
    assert rows == nearest(20, 5, without=linked_to(20)) != nearest(20, 5)
    assert not set(rows) & linked_to(20)


def test_neighbors_in_batches_and_of_vectors(api: TestClient, everything: Session) -> None:
    rows = [*range(NODES)] * 3
    several = post(api, "/api/neighbors", rows=rows, k=3)["results"]
    assert [each["row"] for each in several] == rows
    assert [[near["row"] for near in each["neighbors"]] for each in several[:NODES]] == [
        nearest(row, 3) for row in range(NODES)
    ]
    vector = everything.embedding.vectors[4].tolist()
    (answer,) = post(api, "/api/neighbors", vectors=[vector], k=1)["results"]
    assert (answer["node"], answer["row"], answer["neighbors"][0]["row"]) == (None, None, 4)
    for score in ("cosine", "dot", "link"):
        (mine,) = post(api, "/api/neighbors", nodes=[NAMES[3]], k=4, score=score)["results"]
        theirs = everything.embedding.neighbors(NAMES[3], 4, score=score)
        assert [(each["node"], each["score"]) for each in mine["neighbors"]] == theirs


def test_a_file_without_a_recipe_has_no_score_of_links(tmp_path: Path) -> None:
    for name, scores in (("people.csv", ["cosine", "dot"]), ("people", ["cosine", "dot", "link"])):
        people().save(tmp_path / name)
        with client(Session(load(tmp_path / name))) as api:
            assert get(api, "/api/info")["score_names"] == scores
            answer = api.get("/api/neighbors", params={"row": 3, "score": "link"})
            assert answer.status_code == (200 if "link" in scores else 400), answer.text
            assert "link" in scores or ("safetensors" in answer.text and str(tmp_path) not in answer.text)
            assert len(get(api, "/api/neighbors", row=3, k=2)["results"][0]["neighbors"]) == 2


def test_neighbors_by_an_index_once_it_is_made(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    people().save(tmp_path / "people")
    session = Session(load(tmp_path / "people"), index=True)
    with client(session) as api:
        assert get(api, "/api/neighbors", row=3, k=5)["search"] == get(api, "/api/info")["search"] == "exact"
        ready(session)
        after = post(api, "/api/neighbors", rows=[*range(NODES)], k=5)
        assert after["search"] == get(api, "/api/info")["search"] == "index"
        found = [[each["row"] for each in result["neighbors"]] for result in after["results"]]
        assert found == [nearest(row, 5) for row in range(NODES)]
        assert get(api, "/api/neighbors", row=3, k=5, score="dot")["search"] == "exact"
        assert len(get(api, "/api/neighbors", row=3, k=500)["results"][0]["neighbors"]) == NODES - 1
    assert (tmp_path / "people.cosine.index").is_dir()
    tasks = Session(load(tmp_path / "people")).background.tasks
    assert "index" not in [task.name for task in tasks], "not asked for, and not needed"


def test_scores_are_those_of_the_embedding(api: TestClient, everything: Session) -> None:
    one = get(api, "/api/score", u=NAMES[1], v=NAMES[2])
    assert one == {"score": "cosine-degree", "scores": [everything.embedding.score(NAMES[1], NAMES[2])]}
    pairs = [[NAMES[i], NAMES[47 - i]] for i in range(NODES)]
    answer = post(api, "/api/score", pairs=pairs)["scores"]
    assert answer == everything.embedding.score(NAMES, NAMES[::-1]).tolist()


def test_coordinates_are_raw_and_kept_by_clients(api: TestClient) -> None:
    for layout in ("pca", "clusters"):
        answer = api.get("/api/coordinates", params={"layout": layout})
        places = np.frombuffer(answer.content, "<f4").reshape(-1, 2)
        assert places.shape == (NODES, 2) and np.abs(places).max() <= 1
        centers = places.reshape(-1, SIZE, 2).mean(axis=1)
        apart = np.linalg.norm(places[:, None] - centers, axis=2).argmin(axis=1)
        assert (apart == np.arange(NODES) // SIZE).mean() > 0.7, "nodes lie where their cliques are"
        second = api.get(
            "/api/coordinates", params={"layout": layout}, headers={"if-none-match": answer.headers["etag"]}
        )
        assert (second.status_code, second.content) == (304, b"")
    assert api.get("/api/coordinates").content == answer.content, "the best that is ready"


def test_the_map_is_an_image_in_the_colors_of_labels(tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text(f"node,label\n{NAMES[0]},red\n{NAMES[1]},blue\n", encoding="utf-8")
    with client(ready(Session(people(), labels=labels))) as api:
        answer = api.get("/map.png")
        assert answer.headers["content-type"] == "image/png" and answer.content.startswith(b"\x89PNG")
        assert api.get("/map.png", headers={"if-none-match": answer.headers["etag"]}).status_code == 304
        codes = np.frombuffer(api.get("/api/columns/label").content, "<u2")
        assert sorted(codes[:2].tolist()) == [0, 1] and set(codes[2:].tolist()) == {65535}


def test_columns_are_raw_codes_and_numbers(api: TestClient) -> None:
    info = {column["name"]: column for column in get(api, "/api/info")["columns"]}
    codes = np.frombuffer(api.get("/api/columns/label").content, "<u2")
    names = [info["label"]["categories"][code]["name"] for code in codes]
    assert names == ["clique 5", *LABELS[1:]]
    degrees = np.frombuffer(api.get("/api/columns/degree").content, "<f4")
    assert degrees.tolist() == people().degrees.tolist()  # type: ignore[union-attr]
    communities = np.frombuffer(api.get("/api/columns/community").content, "<u2").reshape(-1, SIZE)
    assert (communities == communities[:, :1]).all() and len(set(communities[:, 0].tolist())) == 6
    assert api.get("/api/columns/nothing").status_code == 404


def test_an_ego_network_has_the_edges_among_neighbors_too(api: TestClient) -> None:
    answer = get(api, "/api/ego", node=NAMES[9])
    rows = [node["row"] for node in answer["nodes"]]
    assert rows[0] == 9 and set(rows[1:]) == linked_to(9) and answer["of"] == 8
    expected = {(i, j) for i, u in enumerate(rows) for j, v in enumerate(rows) if i < j and v in linked_to(u)}
    assert {tuple(edge) for edge in answer["edges"]} == expected and len(answer["edges"]) == len(expected)
    few = get(api, "/api/ego", row=9, limit=3)
    assert few["nodes"] == answer["nodes"][:4] and few["of"] == 8


def test_the_heaviest_edges_of_a_directed_graph_come_first() -> None:
    graph = Graph.from_edges(["a", "c", "a"], ["b", "a", "d"], [1.0, 9.0, 4.0], directed=True)
    vectors = np.eye(5, 4)
    session = Session(Embedding(["a", "b", "c", "d", "e"], vectors), graph=graph)
    with client(session) as api:
        answer = get(api, "/api/ego", node="a")
        assert [node["node"] for node in answer["nodes"]] == ["a", "c", "d", "b"]
        assert answer["edges"] == [[0, 2], [0, 3], [1, 0]], "arcs keep their direction"
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
        info = get(api, "/api/info")
        assert not info["named"] and info["graph"] is None and info["labels"] is None and info["scores"] == []
        assert [column["name"] for column in info["columns"]] == ["cluster"]
        codes = np.frombuffer(api.get("/api/columns/cluster").content, "<u2")
        assert len(codes) == NODES and codes.max() < 12
        assert get(api, "/api/nodes", node=17)["nodes"][0]["row"] == 17
        for path in ("/api/ego?row=1", "/api/neighbors?row=1&unlinked=true"):
            answer = api.get(path)
            assert answer.status_code == 404 and "--graph" in answer.json()["error"]
        answer = api.get("/api/neighbors?row=1&label=red")
        assert answer.status_code == 404 and "--labels" in answer.json()["error"]
    with client(ready(Session(Embedding(None, np.zeros((0, 4)))))) as api:
        assert get(api, "/api/nodes") == {"nodes": [], "total": 0}
        assert api.get("/api/coordinates").content == b""
        answer = api.get("/api/neighbors?row=0")
        assert answer.status_code == 400 and "empty" in answer.json()["error"]


def test_zero_vectors_have_no_neighbors() -> None:
    vectors = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    with client(ready(Session(Embedding(None, vectors)))) as api:
        assert get(api, "/api/neighbors", row=0)["results"][0]["neighbors"] == []
        assert np.isfinite(np.frombuffer(api.get("/api/coordinates").content, "<f4")).all()
        assert np.frombuffer(api.get("/api/columns/cluster").content, "<u2")[0] == 65535


ADDRESSES = {
    *((f"/api/{name}", "GET") for name in ("info", "nodes", "neighbors", "ego", "score", "coordinates")),
    *((f"/api/{name}", "POST") for name in ("nodes", "neighbors", "score")),
    *(("/healthz", "GET"), ("/api/columns/{name}", "GET"), ("/map.png", "GET")),
}


def test_the_document_has_every_address_and_no_other(api: TestClient, everything: Session) -> None:
    document = get(api, "/api/openapi.json")
    assert document["openapi"] == "3.1.0"
    info = {(path, method.upper()) for path, methods in document["paths"].items() for method in methods}
    assert info == ADDRESSES
    for path, method in info:
        address = path.replace("{name}", "label")
        answer = api.request(method, address, **({"json": {}} if method == "POST" else {}))
        assert answer.status_code in (200, 400), (path, "answers, or asks for a parameter")
