"""The API of ``graphrefine explore``: answers held to plain NumPy and the library; refusals, access, limits."""

from __future__ import annotations

import socket
import threading
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
    nearest,
    people,
    post,
    ready,
    received,
    write_people,
)
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.explore.app import make_app
from graphrefine.explore.request_params import BODY
from graphrefine.explore.server import bind, make_server
from graphrefine.explore.session import Session
from graphrefine.graph.graph import Graph


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session with all that can be shown with an embedding."""
    labels = write_people(tmp_path_factory.mktemp("people")) / "labels.csv"
    return ready(Session(people(), graph=friends(), labels=labels, name="people"))


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
    for query, rows, total in (
        ({"prefix": "NODE 0", "limit": 4}, [0, 1, 2, 3], 10),
        ({"prefix": "node 0", "limit": 4, "offset": 8}, [8, 9], 10),
        ({"prefix": "7/É"}, [7, 17, 27, 37, 47], 5),
        ({"prefix": "nobody"}, [], 0),
        ({"limit": 1000}, [*range(NODES)], NODES),
        ({"offset": 10**12}, [], NODES),
    ):
        answer = get(api, "/api/nodes", **query)
        assert [node["row"] for node in answer["nodes"]] == rows and answer["total"] == total
        assert [node["node"] for node in answer["nodes"]] == [NAMES[row] for row in rows]


def test_a_card_has_the_values_of_every_column(api: TestClient, everything: Session) -> None:
    (card,) = get(api, "/api/nodes", node=NAMES[9])["nodes"]
    assert (card["row"], card["node"], card["degree"], card["labels"]) == (9, NAMES[9], 8, ["clique 1"])
    assert card["values"]["label"] == "clique 1" and card["values"]["degree"] == 8
    (both,) = get(api, "/api/nodes", row=0)["nodes"]
    assert both["labels"] == ["clique 5", "clique 0"] and both["values"]["label"] == "clique 5"
    several = post(api, "/api/nodes", nodes=[NAMES[5], NAMES[2]])["nodes"]
    assert several == post(api, "/api/nodes", rows=[5, 2])["nodes"] == [everything.node(5), everything.node(2)]


def test_neighbors_are_those_of_plain_numpy(api: TestClient, everything: Session) -> None:
    (answer,) = get(api, "/api/neighbors", node=NAMES[13], k=7)["results"]
    assert (answer["node"], answer["row"]) == (NAMES[13], 13)
    assert [each["node"] for each in answer["neighbors"]] == [NAMES[each] for each in nearest(13, 7)]
    scores = [each["score"] for each in answer["neighbors"]]
    assert scores == sorted(scores, reverse=True)
    assert len(get(api, "/api/neighbors", row=3, k=1000)["results"][0]["neighbors"]) == NODES - 1
    mask = np.array([label == "clique 2" for label in LABELS])
    for query, expected in (
        ({"label": "clique 2"}, nearest(20, 5, among=mask)),
        ({"exclude_linked": "true"}, nearest(20, 5, without=linked_to(20))),
    ):
        (answer,) = get(api, "/api/neighbors", row=20, k=5, **query)["results"]
        assert [each["row"] for each in answer["neighbors"]] == expected
    rows = [*range(NODES)] * 3
    several = post(api, "/api/neighbors", rows=rows, k=3)["results"]
    found = [[near["row"] for near in each["neighbors"]] for each in several]
    assert [each["row"] for each in several] == rows and found == [nearest(row, 3) for row in rows]
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


def test_coordinates_and_the_map_are_kept_by_clients(api: TestClient) -> None:
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
    answer = api.get("/map.png")
    assert answer.headers["content-type"] == "image/png" and answer.content.startswith(b"\x89PNG")
    assert api.get("/map.png", headers={"if-none-match": answer.headers["etag"]}).status_code == 304


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
        asked = {
            "ego?row=1": "--graph",
            "neighbors?row=1&exclude_linked=true": "--graph",
            "neighbors?row=1&label=a": "--labels",
        }
        for path, option in asked.items():
            answer = api.get(f"/api/{path}")
            assert answer.status_code == 404 and option in answer.json()["error"]
    with client(ready(Session(Embedding(None, np.zeros((0, 4)))))) as api:
        assert get(api, "/api/nodes") == {"nodes": [], "total": 0}
        assert api.get("/api/coordinates").content == b""
        answer = api.get("/api/neighbors?row=0")
        assert answer.status_code == 400 and "empty" in answer.json()["error"]
    with client(ready(Session(Embedding(None, np.array([[0, 0], [1, 0], [0, 1], [1, 1]]))))) as api:
        assert get(api, "/api/neighbors", row=0)["results"][0]["neighbors"] == [], "a zero vector has none"
        assert np.isfinite(np.frombuffer(api.get("/api/coordinates").content, "<f4")).all()
        assert np.frombuffer(api.get("/api/columns/cluster").content, "<u2")[0] == 65535


# Refusals


REFUSED = [
    ("/api/nodes?node=nobody", 404, "'nobody'"),
    ("/api/nodes?row=48", 400, "from 0 to 47"),
    ("/api/nodes?row=" + "9" * 3000, 400, "row"),
    ("/api/nodes?limit=5&limit=6", 400, "twice"),
    ("/api/nodes?node=a&row=1", 400, "node and row"),
    ("/api/nodes?row=1&limit=3", 400, "row and limit"),
    ("/api/nodes?prefix=%F0%9F%98", 400, "UTF-8"),
    ("/api/nodes?prefix=" + "a" * 4001, 400, "4000"),
    ("/api/nodes?side=source&node=a", 400, "side"),
    ("/api/nodes?Prefix=a", 400, "'Prefix'"),
    ("/api/neighbors", 400, "node, row"),
    ("/api/neighbors?row=1&k=1001", 400, "1000"),
    ("/api/neighbors?row=1&score=cosinus", 400, "'cosine', 'dot' or 'link'"),
    ("/api/neighbors?row=1&label=none", 404, "'clique 5'"),
    ("/api/score?u=a", 400, "v"),
    ("/api/coordinates?layout=umap", 400, "'pca' or 'clusters'"),
    ("/api/columns/label?x=1", 400, "'x'"),
    ("/api/columns/%2e%2e%2fpasswd", 404, "error"),
    *((path, 404, "openapi") for path in ("/api", "/api/nodes/", "//etc/passwd", "/page/index.html")),
    *((path, 404, "openapi") for path in ("/docs", "/redoc")),  # pages about the API that load code from elsewhere
]


@pytest.mark.parametrize(("path", "status", "fact"), REFUSED)
def test_bad_questions_are_refused(api: TestClient, path: str, status: int, fact: str) -> None:
    answer = api.get("http://localhost" + path)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"} and fact in answer.json()["error"] + answer.text
    assert len(answer.text) < 1000, "what was sent is not sent back at length"


BODIES: list[tuple[bytes, int, str]] = [
    (b"", 400, "body"),
    (b"\xff", 400, "body"),
    (b'{"rows": [1], "k": NaN}', 400, "k"),
    (b'{"rows": [1], "k": ' + b"9" * 5000 + b"}", 400, "body"),
    (b'{"rows": [0, 99]}', 400, "99"),
    (b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "body"),
    (b'{"rows": [1], "nodes": ["a"]}', 400, "exactly one"),
    (b'{"rows": [' + b"1," * 1000 + b"1]}", 400, "1000"),
    (b'{"vectors": [[1, 2]]}', 400, "12 numbers"),
    (b'{"vectors": [[' + b"1e400," * 11 + b"1]]}", 400, "vectors.0.0"),
    (b'{"vectors": [[' + b"true," * 11 + b"1]]}", 400, "vectors.0.0"),
    (b'{"vectors": [[' + b"1," * 11 + b'1]], "exclude_linked": true}', 400, "vectors and exclude_linked"),
    (b'{"rows": [1], "path": "/etc/passwd"}', 400, "'path'"),
    (b'{"rows": [' + b" " * BODY + b"1]}", 413, str(BODY)),
    (b'{"nodes": ["\\ud800"]}', 404, "ud800"),  # a name that no node has
]


@pytest.mark.parametrize(("body", "status", "fact"), BODIES)
def test_bad_bodies_are_refused(api: TestClient, body: bytes, status: int, fact: str) -> None:
    answer = api.post("/api/neighbors", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status and fact in answer.json()["error"], answer.text
    assert len(answer.text) < 1000


def test_other_methods_and_kinds_of_bodies_are_refused(api: TestClient) -> None:
    for method in ("OPTIONS", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"):
        answer = api.request(method, "/api/nodes")
        assert answer.status_code == 405 and answer.headers["allow"]
        assert "access-control-allow-origin" not in answer.headers
    assert api.post("/api/info", json={}).status_code == 405
    assert api.post("/api/nodes", content=b'{"rows": [1]}').status_code == 415
    assert api.post("/api/nodes", data={"rows": "1"}).status_code == 415
    assert api.post("/api/nodes?rows=1", json={"rows": [1]}).status_code == 400, "the query would be ignored"


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "localhost:80:80", "", "a b"]
)
def test_another_host_is_refused(api: TestClient, host: str) -> None:
    for path in ("/", "/api/info", "/healthz", "/nothing"):
        answer = api.get(path, headers={"host": host})
        assert answer.status_code == 421 and "Host" in answer.json()["error"]


def test_names_of_the_loopback_are_ours_and_others_if_said(everything: Session) -> None:
    def status(api: TestClient, host: str) -> int:
        return int(api.get("/api/info", headers={"host": host, "authorization": "Bearer t"}).status_code)

    with client(everything, hosts=["Lab.example"]) as api:
        for host in ("localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:9", "lab.example:80"):
            assert status(api, host) == 200, host
        assert status(api, "10.0.0.1") == 421
    with client(everything, any_address=True, token="t") as api:
        assert (status(api, "10.0.0.1:1"), status(api, "evil.example")) == (200, 421)


def test_every_answer_keeps_browsers_to_this_page(api: TestClient) -> None:
    hosts = [("evil.example", "/"), *(("localhost", path) for path in ("/", "/api/info", "/nothing", "/map.png"))]
    for host, path in [*hosts, ("localhost", "/api/coordinates"), ("localhost", "/api/nodes?row=x")]:
        headers = api.get(path, headers={"host": host}).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff" and headers["referrer-policy"] == "no-referrer"
        assert not any(name.startswith("access-control") for name in headers)


def test_a_token_is_asked_for_everywhere_but_for_health(everything: Session) -> None:
    with client(everything, token="s3cret ü") as api:
        for path in ("/", "/api/info", "/api/openapi.json", "/map.png", "/nothing", "/?token=wrong", "/?token="):
            answer = api.get(path)
            assert answer.status_code == 401 and "token" in answer.json()["error"], path
            assert answer.headers["www-authenticate"] == "Bearer"
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


def test_a_body_that_does_not_arrive_is_not_waited_for(everything: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.explore.app.BODY_SECONDS", 0.2)
    head = b"POST /api/nodes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    server, socket_ = make_server(make_app(everything)), bind("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket_]})
    thread.start()
    try:
        with socket.create_connection(socket_.getsockname(), timeout=10) as connection:
            connection.sendall(head + b"Content-Length: 13\r\n\r\n{")
            assert received(connection).startswith(b"HTTP/1.1 408 ")
    finally:
        server.should_exit = True
        thread.join(20)
        socket_.close()


def test_what_is_not_ready_is_said_to_be_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphrefine.explore.handlers.PATIENCE", 0.05)
    with client(Session(people())) as api:
        states = [layout["state"] for layout in get(api, "/api/info")["layouts"]]
        assert states == ["working", "working"]
        for path in ("/api/coordinates", "/api/columns/cluster", "/map.png"):
            answer = api.get(path)
            assert answer.status_code == 503 and answer.headers["retry-after"] == "1", path
