"""Live vectors of bipartite graphs: users and items that come and go, and what is recommended meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import graphrefine
import graphrefine.live
from cli_runs import check_refused, run, works
from graphrefine.errors import InputError, UnknownNameError
from graphrefine.live.writer import Live
from graphrefine.refine.bipartite import DEGREE_POWER

ROOM = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Edges = dict[tuple[Any, Any], float]


def shop_edges(*, text: bool = False) -> Edges:
    """Two kinds of users, each with items of its own; users and items have the same names."""
    rng = np.random.default_rng(5)
    pairs = {(user, int(item)) for user in range(60) for item in rng.integers(0, 15, 5) * 2 + user % 2}
    return {(f"{user}", f"{item}") if text else (user, item): 1.0 for user, item in sorted(pairs)}


def create(path: Path, edges: Edges) -> Live:
    graph = graphrefine.read(list(edges), bipartite=True)
    return graphrefine.live.create(graph, path, dim=8)


def edges_of(live: Live) -> Edges:
    graph, sources = live.graph(), live.sources or 0
    users = graph.names[:sources].tolist()
    return {
        (user, item): weight
        for user in users
        for item, weight in graph.neighbors(user, side="source").items()
    }  # fmt: skip


@ROOM
@given(st.lists(st.tuples(st.sampled_from("+-="), st.integers(0, 70), st.integers(0, 40)), max_size=30), st.booleans())
def test_changes_follow_a_model(tmp_path_factory: Any, changes: list[tuple[str, int, int]], text: bool) -> None:
    model, path = shop_edges(text=text), tmp_path_factory.mktemp("shop") / "shop.live"
    with create(path, model) as live:
        for sign, user, item in changes:
            edge = (f"{user}", f"{item}") if text else (user, item)
            if sign == "+":
                live.add(*edge)
                model[edge] = model.get(edge, 0.0) + 1.0
            elif sign == "=":
                live.set(edge[0], edge[1], 2.5)
                model[edge] = 2.5
            elif edge in model:
                live.remove(*edge)
                del model[edge]
        live.commit()
        assert edges_of(live) == model
        names, vectors = live.names.tolist(), live.snapshot().vectors
    with graphrefine.live.open(path) as again, graphrefine.live.open(path, read_only=True) as reader:
        assert edges_of(again) == model
        assert again.names.tolist() == reader.names.tolist() == names
        assert again.snapshot().vectors.tobytes() == reader.snapshot().vectors.tobytes() == vectors.tobytes()


def test_recommendations_are_those_of_the_vectors(tmp_path: Path) -> None:
    with create(tmp_path / "shop.live", shop_edges()) as live:
        live.add(1000, 4)
        live.add(1000, 6)
        live.commit()
        graph, sources = live.graph(), live.sources or 0
        items = graph.names[sources:].tolist()
        degrees = np.array([sum(graph.neighbors(item, side="target").values()) for item in items])
        own = live.vector(1000, side="source")
        cosines = np.array([live.vector(item, side="target") @ own for item in items])
        scores = dict(zip(items, cosines * (degrees / degrees.mean()) ** DEGREE_POWER, strict=True))
        best = sorted((item for item in items if item not in (4, 6)), key=lambda item: -scores[item])[:5]
        near = live.recommend(1000, 5)
        assert [each.name for each in near] == best
        assert np.allclose([each.score for each in near], [scores[item] for item in best], atol=1e-5)
        assert [each.node for each in live.snapshot().recommend(1000, 5, exclude=graph)] == best
        with graphrefine.live.open(live.path, read_only=True) as reader:
            assert reader.recommend(1000, 5, exclude=[4, 6]) == near
        assert all(item % 2 == 0 for item in best)  # those of users like it
        assert all(each.name % 2 == 0 for each in live.neighbors(0, 5, side="source"))


def test_a_name_may_be_on_both_sides_and_a_refresh_keeps_them(tmp_path: Path) -> None:
    with create(tmp_path / "shop.live", shop_edges()) as live:
        live.add([7, 100, 101, 102], [7, 2, 2, 30])
        live.remove_nodes([5], side="source")
        live.remove_nodes([8], side="target")
        live.commit()
        with pytest.raises(InputError, match="both sides"):
            live.vector(7)
        assert live.vector(7, side="source").any() and 7 in live and 50 in live and 999 not in live
        assert np.array_equal(live[50], live.vector(50, side="source"))  # it is no item
        with pytest.raises(UnknownNameError, match="source side"):
            live.recommend(999)
        before, names = edges_of(live), live.names.tolist()
        assert before[7, 7] == 1.0
        assert live.refresh()["drift"] < 0.3
        assert edges_of(live) == before and live.names.tolist() == names and live.sources == 62


def test_sides_are_asked_for_where_they_matter(tmp_path: Path) -> None:
    with create(tmp_path / "shop.live", shop_edges()) as live:
        for call in (live.add_nodes, live.remove_nodes):
            with pytest.raises(InputError, match="'source' or 'target'"):
                call([7])
        live.add("ann", 7)
        with pytest.raises(InputError, match="no integer"):
            live.commit()
        live.remove(7, 999)
        with pytest.raises(UnknownNameError, match="999"):
            live.commit()
    with graphrefine.live.create([(i, (i + 1) % 9) for i in range(9)], tmp_path / "ring.live", dim=2) as ring:
        with pytest.raises(InputError, match="not bipartite"):
            ring.recommend(0)
        with pytest.raises(InputError, match="bipartite"):
            ring.add_nodes([7], side="source")


def test_commands_take_bipartite_graphs(tmp_path: Path) -> None:
    listed = "".join(f"{user},{item}\n" for user, item in shop_edges())
    (tmp_path / "shop.csv").write_text(listed)
    (tmp_path / "day.csv").write_text("op,source,target,weight\n+,7,7,\n+,1000,4,2\n-,0,,\n")
    folder = tmp_path / "shop.live"
    works("live", "create", tmp_path / "shop.csv", "-o", folder, "--bipartite", "--dim", "8")
    figures = works("live", "apply", folder, tmp_path / "day.csv", "--json").figures
    assert figures["changes"] == 3 and figures["new_nodes"] == 1 and figures["nodes"] == 60 + 30
    check_refused(run("live", "apply", folder, tmp_path / "day.csv"), "--resume")
    (tmp_path / "day.csv").write_text("-,,7,\n+,,99,\n")  # other changes under the same name
    works("live", "apply", folder, tmp_path / "day.csv")
    with graphrefine.live.open(folder) as live:
        assert not any(item == 7 for _, item in edges_of(live))
        assert not np.any(live.vector(99, side="target")) and live.vector(7, side="source").any()
        with pytest.raises(UnknownNameError, match="no node is called 7 on the target side"):
            live.vector(7, side="target")
    for line in ("=,,7,2\n", "+,,,\n"):
        (tmp_path / "day.csv").write_text(line)
        check_refused(run("live", "apply", folder, tmp_path / "day.csv"), "empty")
    works("live", "check", folder)
    works("live", "export", folder, "-o", tmp_path / "out")
    assert len(graphrefine.load(tmp_path / "out").recommend(1000, 3)) == 3
