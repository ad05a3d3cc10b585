"""The API of ``graphrefine live serve``: changes by POST, answers of this moment, snapshots that are renewed."""

from __future__ import annotations

import gc
import re
import threading
import warnings
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_servers import DIM, HTML, NODES, Served, edges, name, nearest_names, refused, served, write_folder

import graphrefine
import graphrefine.live.model
import graphrefine.live.writer
from explore_servers import get
from graphrefine import live
from graphrefine.errors import OutputError
from graphrefine.live.model import fit_model
from graphrefine.live.server import CHANGES
from processes import eventually


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path)


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with served(folder) as each:
        yield each


def test_changes_count_at_once_and_stay(folder: Path) -> None:
    with served(folder) as server:
        more: list[list[Any]] = [["-", "n1", "n2"], ["=", "n5", "n6", 3]]
        receipt = edges(server.api, "a", ["+", "ann", "n3", 2.0], ["+", "ann", "n4"], *more)
        assert receipt | {"moved": 0} == {
            "group": 1, "repeated": False, "changes": 4, "skipped": 0, "new_nodes": 1, "moved": 0
        }  # fmt: skip
        assert receipt["moved"] >= 1
        assert edges(server.api, "b", ["-", "n9"], ["+", "lone"])["group"] == 2
        assert get(server.api, "/api/live/node", node="ann")["degree"] == 2
    with live.open(folder) as after:
        graph = after.graph()
        assert graph.neighbors("ann") == {"n3": 2.0, "n4": 1.0}
        assert "n2" not in graph.neighbors("n1") and graph.neighbors("n5")["n6"] == 3.0
        assert "n9" not in after and "lone" in after and len(after) == NODES + 1 and after.group == 2


def test_a_request_counts_once(server: Served) -> None:
    assert edges(server.api, "same", ["+", "ann", "n3"])["group"] == 1
    for change in (["+", "ann", "n3"], ["-", "no such node"]):
        assert edges(server.api, "same", change) == {"group": 1, "repeated": True}
    assert server.folder.graph().neighbors("ann") == {"n3": 1.0}
    assert edges(server.api, "another", ["+", "ann", "n3"])["group"] == 2
    assert server.folder.graph().neighbors("ann") == {"n3": 2.0}


def test_a_bad_request_changes_nothing(server: Served) -> None:
    good = ["+", "ann", "n3"]
    far = ["+", "n1", "n2", 2.0**100]
    for changes, words in [
        ([good, ["-", "n1", "n5"]], ("change 2 of 2", "no edge")),
        ([good, ["-", "zoe", "n5"]], ("no node is called 'zoe'",)),
        ([far, far], ("outside of",)),
        ([good, ["+", "ann", "ann"]], ("change 2 of 2", "self-loop")),
        ([good, ["+", "", "bob"]], ("change 2 of 2", "source is empty")),
    ]:
        refused(server.api, 422, *words, request="c", changes=changes)
    for change, word in [
        (["+", "ann", "bob", True], "weight True"), (["=", "ann"], "end is empty"), (["+", ["ann"], "bob"], "no name"),
        (["*", "ann", "bob"], "unknown op"), (["+"], "a list such as"), ({"op": "+"}, "a list such as"),
    ]:  # fmt: skip
        refused(server.api, 400, "changes.1", word, request="c", changes=[good, change])
    bodies: list[tuple[dict[str, Any], str]] = [
        ({"request": None}, "request"), ({"changes": None}, "changes"), ({"edges": []}, "'edges'"),
        ({"changes": []}, "changes"), ({"changes": [good] * (CHANGES + 1)}, "10000"), ({"skip_unknown": 1}, "skip_un"),
    ]  # fmt: skip
    for body, word in bodies:
        refused(server.api, 400, word, **{"request": "d", "changes": [good], **body})
    for bad in ("", "x" * 201, 7, None, "a\nb", "\ud800"):
        refused(server.api, 400, "request", request=bad, changes=[good])
    state = get(server.api, "/api/live")
    assert (state["group"], state["nodes"], state["rate"], state["last_commit"]) == (0, NODES, 0.0, None)
    assert edges(server.api, "c", good)["group"] == 1, "an id that was refused is free"


def test_a_request_has_as_many_changes_as_its_limit(server: Served) -> None:
    most = [["+", f"m{i}", "n3"] for i in range(CHANGES)]
    assert edges(server.api, "most", *most)["new_nodes"] == CHANGES


def test_a_token_is_always_needed(server: Served) -> None:
    body = {"request": "a", "changes": [["+", "ann", "n3"]]}
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer open"}, {"Authorization": "Bearer open sesame2"}):
        assert server.api.post("/api/edges", json=body, headers=headers).status_code == 401
        for path in ("/", "/live", "/api/live", "/api/info", "/live/live.js"):
            assert server.api.get(path, headers=headers).status_code == 401
    assert server.api.post("/api/edges", json=body, headers={"Host": "evil.example"}).status_code == 421
    assert get(server.api, "/api/live")["group"] == 0


def test_answers_are_of_this_moment(server: Served) -> None:
    edges(server.api, "a", ["+", "ann", "n3"], ["+", "ann", "n4", 2])
    node = get(server.api, "/api/live/node", node="ann")
    assert node["node"] == "ann" and node["group"] == 1 and node["degree"] == 2
    assert np.array_equal(np.float32(node["vector"]), server.folder["ann"])
    assert node["bound"] == server.folder.bound("ann")
    edges(server.api, "b", ["+", "lone"], ["+", "x", "y"])
    lone = get(server.api, "/api/live/node", node="lone")
    assert lone["vector"] == [0.0] * DIM and lone["bound"] == 0 and lone["degree"] == 0
    new = get(server.api, "/api/live/node", node="x")
    assert new["bound"] is server.folder.bound("x") is None, "between new nodes alone there is no bound yet"
    near = get(server.api, "/api/live/neighbors", node="n20", k=7)
    assert [each["node"] for each in near["neighbors"]] == nearest_names(server.folder, "n20", 7) and near["group"] == 2
    for path in ("/api/live/node", "/api/live/neighbors"):
        missing = server.api.get(path, params={"node": "zoe"})
        assert missing.status_code == 404 and "no node is called 'zoe'" in missing.json()["error"]
    assert server.api.get("/api/live/neighbors", params={"node": "ann", "k": 0}).status_code == 400
    assert server.api.get("/api/live/node").status_code == 400
    assert server.api.get("/api/neighbors", params={"node": "ann"}).status_code == 404, "not in the snapshot yet"


def test_the_state_has_rate_bounds_and_refreshes(server: Served) -> None:
    before = get(server.api, "/api/live")
    assert before["rate"] == 0 and before["refreshes"] == [] and not before["refreshing"]
    assert before["name"] == "ring.live"
    edges(server.api, "a", *(["+", f"n{i}", f"n{i + 2}"] for i in range(1, 31)))
    state = get(server.api, "/api/live")
    assert state["rate"] == 0.5 and sum(state["rates"]["values"]) * state["rates"]["seconds"] == 30
    bounds = server.folder.bounds()
    for key, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        value = state["bounds"][key]
        assert np.mean(bounds <= value) >= share and np.mean(bounds < value) < share
    assert state["within_tolerance"] == np.mean(bounds <= state["tolerance"])
    assert state["edges"] == before["edges"] + 30 == server.folder.graph().edges
    assert before["time"] <= state["last_commit"] <= state["time"]
    assert state["snapshot"] | {"time": 0} == {"group": 0, "generation": 1, "time": 0}


def test_moves_are_listed_by_group(server: Served) -> None:
    whole = get(server.api, "/api/live/map")
    assert whole["total"] == NODES and whole["names"] == server.folder.names.tolist()
    vectors = server.folder.snapshot().vectors
    assert np.allclose(whole["points"], vectors[:, :2], atol=1e-5)
    edges(server.api, "a", ["+", "ann", "n3"])
    edges(server.api, "b", ["+", HTML, "n9"], ["-", "n40"])
    axes = {"x": 2, "y": 5}
    since = get(server.api, "/api/live/moved", after=0, generation=1, **axes)
    assert since["complete"] and since["group"] == 2 and since["removed"] == ["n40"]
    assert "ann" in since["names"] and HTML in since["names"] and "n40" not in since["names"]
    for each, place in zip(since["names"], since["points"], strict=True):
        assert np.allclose(place, server.folder[each][[2, 5]], atol=1e-5)
    there = [(each, old) for each, old in zip(whole["names"], vectors, strict=True) if each in server.folder]
    assert {each for each, old in there if not np.array_equal(server.folder[each], old)} <= set(since["names"])
    last = get(server.api, "/api/live/moved", after=1)
    assert set(last["names"]) <= set(since["names"]) and last["removed"] == ["n40"]
    assert get(server.api, "/api/live/moved", after=2) | {"names": 0} == {
        "group": 2, "generation": 1, "complete": True, "names": 0, "sides": None, "points": [], "removed": [],
        "removed_sides": None,
    }  # fmt: skip
    assert not get(server.api, "/api/live/moved", after=3)["complete"], "a moment that has not been"
    assert not get(server.api, "/api/live/moved", after=1, generation=7)["complete"]
    assert server.api.get("/api/live/moved").status_code == 400
    assert server.api.get("/api/live/map", params={"x": DIM}).status_code == 400
    edges(server.api, "c", ["+", "n40", "n41"])
    assert get(server.api, "/api/live/moved", after=1)["removed"] == [], "it is there again"


def test_a_refresh_renews_map_and_snapshot(server: Served) -> None:
    edges(server.api, "a", ["+", "ann", "n3"], ["-", "n40"])
    assert server.api.get("/api/nodes", params={"node": "ann"}).status_code == 404
    server.backend.submit(lambda folder: folder.refresh()).result()
    state = get(server.api, "/api/live")
    assert state["generation"] == 2 and [each["reason"] for each in state["refreshes"]] == ["by request"]
    assert not get(server.api, "/api/live/moved", after=1, generation=1)["complete"]
    assert get(server.api, "/api/live/moved", after=1, generation=2)["complete"]
    assert "n40" not in get(server.api, "/api/live/map")["names"]
    eventually(lambda: server.api.get("/api/nodes", params={"node": "ann"}).status_code == 200)
    info = get(server.api, "/api/info")
    assert info["nodes"] == NODES and info["recipe"]["group"] == 1
    assert info["graph"]["edges"] == get(server.api, "/api/live")["edges"]


def test_changes_renew_the_snapshot_in_time(folder: Path) -> None:
    with served(folder, renew=0.3) as server:
        first = weakref.ref(server.backend.session)
        before = eventually(lambda: get(server.api, "/api/info") if first().background.wait(0) else None)  # type: ignore[union-attr]
        assert before["nodes"] == NODES
        old = server.api.get("/api/coordinates", params={"layout": "pca"}).content
        edges(server.api, "a", ["+", "ann", "n3"])
        eventually(lambda: get(server.api, "/api/info")["nodes"] == NODES + 1)
        new = eventually(lambda: server.api.get("/api/coordinates", params={"layout": "pca"})).content
        assert len(old) == NODES * 8 and len(new) == (NODES + 1) * 8, "places are of the session that is asked"
        assert get(server.api, "/api/openapi.json")["components"]["schemas"]
        rows = server.api.post("/api/nodes", json={"rows": [NODES]})
        assert rows.status_code == 200 and rows.json()["nodes"][0]["node"] == "ann"
        assert get(server.api, "/api/live")["snapshot"]["group"] == 1
        eventually(lambda: gc.collect() >= 0 and first() is None)


def test_posts_of_many_threads_all_count(server: Served) -> None:
    def send(number: int) -> int:
        own = number % 40
        return int(edges(server.api, f"r{own}", ["+", f"t{own}", "n3"], ["+", "hub", f"n{own}"])["group"])

    with ThreadPoolExecutor(8) as pool:
        groups = list(pool.map(send, range(80)))
    assert sorted(groups[:40]) == list(range(1, 41)) and groups[:40] == groups[40:], "each twice, and once counted"
    graph = server.folder.graph()
    assert graph.neighbors("hub") == {name(number): 1.0 for number in range(1, 40)} | {"n0": 1.0}
    assert all(graph.neighbors(f"t{number}") == {"n3": 1.0} for number in range(40))


def test_posts_during_a_refresh_are_not_lost(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def wait_and_fit(*arguments: Any, **options: Any) -> Any:
        assert go_on.wait(60)
        return fit_model(*arguments, **options)

    monkeypatch.setattr(graphrefine.live.writer, "LOOK", 1)
    monkeypatch.setattr(graphrefine.live.model, "fit_model", wait_and_fit)
    edges(server.api, "many", *(["+", f"new{i}", f"n{i + 1}"] for i in range(40)))  # a third is new: a refresh is due
    for number in range(20):
        edges(server.api, f"r{number}", ["+", f"during{number}", f"n{number + 1}"])
        assert get(server.api, "/api/live")["refreshing"]
    monkeypatch.setattr(graphrefine.live.writer, "LOOK", 1000)
    go_on.set()
    state = eventually(lambda: each if (each := get(server.api, "/api/live"))["refreshes"] else None)
    (refresh,) = state["refreshes"]
    assert refresh["begun"] == 1 and refresh["ended"] == 21 and state["problem"] is None and not state["refreshing"]
    assert state["group"] == 21 and state["nodes"] == NODES + 60
    graph = server.folder.graph()
    assert all(graph.neighbors(f"during{number}") == {f"n{number + 1}": 1.0} for number in range(20))


def test_a_failure_before_the_commit_refuses_and_one_after_it_does_not(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(error: Exception) -> Any:
        def raise_error(*_: Any, **options: Any) -> None:
            raise error

        return raise_error

    change = ["+", "ann", "n3"]
    with monkeypatch.context() as context:
        context.setattr(type(server.folder._store), "append", fail(OutputError("disk full; nothing was changed")))
        answer = server.api.post("/api/edges", json={"request": "a", "changes": [change]})
    assert answer.status_code == 503 and "disk full" in answer.json()["error"] and answer.headers["retry-after"] == "1"
    with monkeypatch.context() as context, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context.setattr(graphrefine.live.writer, "LOOK", 1)
        context.setattr(graphrefine.live.writer, "refresh_reason", fail(MemoryError("no memory for a refresh")))
        assert edges(server.api, "a", change)["group"] == 1, "it can be sent again"
    assert get(server.api, "/api/live")["problem"] == "no memory for a refresh"
    assert edges(server.api, "a", change) == {"group": 1, "repeated": True}
    assert server.folder.graph().neighbors("ann") == {"n3": 1.0}


def test_two_sides(tmp_path: Path) -> None:
    path, rng = tmp_path / "shop.live", np.random.default_rng(5)
    pairs = sorted({(f"{user}", f"{item}") for user in range(60) for item in rng.integers(0, 15, 5) * 2 + user % 2})
    live.create(graphrefine.read(pairs, bipartite=True), path, dim=8).close()
    with served(path) as server:
        assert edges(server.api, "a", ["+", "5", "5", 2.0], ["+", "ann", "3"], ["-", "7"])["group"] == 1
        both = server.api.get("/api/live/node", params={"node": "5"})
        assert both.status_code == 400 and "both sides" in both.json()["error"]
        for side in ("source", "target"):
            node = get(server.api, "/api/live/node", node="5", side=side)
            assert np.array_equal(np.float32(node["vector"]), server.folder.vector("5", side=side))
            assert node["degree"] == len(server.folder.graph().neighbors("5", side=side))
        missing = server.api.get("/api/live/node", params={"node": "ann", "side": "target"})
        assert missing.status_code == 404
        near = get(server.api, "/api/live/recommend", node="5", k=4)["neighbors"]
        assert [(each["node"], each["score"]) for each in near] == server.folder.recommend("5", 4)
        moves = get(server.api, "/api/live/moved", after=0)
        assert ("ann", "source") in zip(moves["names"], moves["sides"], strict=True)
        assert (moves["removed"], moves["removed_sides"]) == (["7"], ["source"])
        whole = get(server.api, "/api/live/map")
        sources = server.folder.sources or 0
        assert whole["sides"] == ["source"] * sources + ["target"] * (len(server.folder) - sources)
        assert get(server.api, "/api/info")["sides"] == "rows"


def test_names_may_be_integers(tmp_path: Path) -> None:
    path = tmp_path / "numbers.live"
    live.create([(i, (i + 1) % 50) for i in range(50)], path, dim=1).close()
    with served(path) as server:
        assert edges(server.api, "a", ["+", 100, 3], ["+", "101", 4.0])["new_nodes"] == 2
        refused(server.api, 422, "'ann' is no integer", request="b", changes=[["+", "ann", 3]])
        assert get(server.api, "/api/live/node", node=101)["node"] == 101
        assert [each["node"] for each in get(server.api, "/api/live/neighbors", node=3, k=2)["neighbors"]]
        assert all(x == y for x, y in get(server.api, "/api/live/map")["points"]), "one axis is both"
        assert server.api.get("/api/live/node", params={"node": "x"}).status_code == 404
        assert server.api.get("/api/live/recommend", params={"node": "3"}).status_code == 400, "not bipartite"
        assert server.api.get("/api/live/node", params={"node": "3", "side": "source"}).status_code == 400
        edges(server.api, "c", *(["-", each] for each in server.folder.names.tolist()))
        state = get(server.api, "/api/live")
        assert state["nodes"] == 0 and state["bounds"] == {"p50": None, "p90": None, "p99": None}
        assert get(server.api, "/api/live/map")["names"] == []


def test_the_files_of_the_page_are_sent_with_their_headers(server: Served) -> None:
    types = {"/": "html", "/live": "html", "/live/live.js": "javascript", "/live/live.css": "css"}
    for path, kind in types.items():
        answer = server.api.get(path)
        assert answer.status_code == 200 and f"text/{kind}" in answer.headers["content-type"]
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy and "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert server.api.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
    page = server.api.get("/").text
    assert "<script>" not in page and "style=" not in page and " on" not in re.sub(r">[^<]*<", "><", page)
    script = server.api.get("/live/live.js").text
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", script)
    assert server.api.get("/live/other.js").status_code == 404
