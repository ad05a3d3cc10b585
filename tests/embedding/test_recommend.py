"""What a recommendation leaves out: names, a graph, a table or pairs of source and target, a mapping."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pandas
import polars
import pytest
import scipy.sparse as sp

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.readers.read import read

SHOP = Embedding(
    ["ann", "bob", "cake", "jam", "tea"],
    [[1.0, 0.0], [0.0, 1.0], [3.0, 1.0], [2.0, 2.0], [1.0, 3.0]],
    {"sides": "rows", "sources": 2},
)
PAIRS = [("ann", "cake"), ("bob", "tea"), ("ann", "unheard of"), ("eve", "jam")]
COLUMNS = {"user": [user for user, _ in PAIRS], "item": [item for _, item in PAIRS]}


def targets(user: str, exclude: Any) -> list[Any]:
    return [name for name, _ in SHOP.recommend(user, exclude=exclude)]


@pytest.mark.parametrize(
    "exclude",
    [
        read(PAIRS, bipartite=True),
        PAIRS,
        tuple(PAIRS),
        {*PAIRS},
        [(*pair, 2.0) for pair in PAIRS],
        np.array(PAIRS),
        pandas.DataFrame(COLUMNS),
        polars.DataFrame(COLUMNS),
        polars.LazyFrame(COLUMNS),
        COLUMNS,
        {"ann": ["cake", "unheard of"], "bob": {"tea"}, "eve": ["jam"]},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_source_has_already_is_left_out(exclude: Any) -> None:
    assert targets("ann", exclude) == ["jam", "tea"]
    assert targets("bob", exclude) == ["jam", "cake"]


@pytest.mark.parametrize(
    "exclude",
    [["cake"], ("cake",), {"cake"}, iter(["cake"]), np.array(["cake"]), pandas.Series(["cake"]), {"cake": 1}.keys()],
    ids=lambda value: type(value).__name__,
)
def test_names_are_left_out_for_any_source(exclude: Any) -> None:
    assert targets("ann", exclude) == ["jam", "tea"]
    for nothing in ((), {}, {"ann": ["cake"]}):
        assert targets("bob", nothing) == ["tea", "jam", "cake"]


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ("cake", r"exclude='cake': give a list of targets, the graph or the table of pairs"),
        (7, "exclude=7: give a list of targets"),
        ({"cake": ["ann"]}, "no key of the mapping, such as 'cake', is a source; sources are such as 'ann'"),
        ({"ann": "cake"}, "'ann' has 'cake'; a list of targets is expected"),
        (read([(1, 2)], bipartite=True), "none of its 2 nodes is in the embedding"),
        (read([(1, 2)]), "none of its 2 nodes is in the embedding"),
        (sp.eye_array(4), "none of its 8 nodes is in the embedding"),
    ],
)
def test_what_says_nothing_about_targets_is_refused(exclude: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        targets("ann", exclude)


def test_neighbors_of_one_set_of_nodes() -> None:
    people = Embedding(["ada", "bob", "cy", "dan"], [[1.0, 0.0], [0.9, 0.1], [0.8, 0.2], [0.0, 1.0]])
    friends = networkx.Graph([("ada", "bob")])
    assert [name for name, _ in people.recommend("ada", exclude=friends)] == ["cy", "dan"]
    assert [name for name, _ in people.recommend("bob", exclude=friends)] == ["cy", "dan"]
    one_way = Embedding(["ada", "bob", "cy"], [[1, 1], [1, 2], [1, 3]], {"sides": "columns", "directed": True})
    assert [name for name, _ in one_way.recommend("ada", exclude=[("ada", "cy")])] == ["bob"]
    assert [name for name, _ in one_way.recommend("cy", exclude=[("ada", "cy")])] == ["bob", "ada"]


@pytest.mark.parametrize("exclude", [[(1, 1)], [((0, 0), (1, 1))]])
def test_nodes_that_are_tuples_are_names_not_pairs(exclude: Any) -> None:
    grid = Embedding([(0, 0), (0, 1), (1, 1)], [[1, 0], [1, 1], [2, 0]])
    assert [name for name, _ in grid.recommend((0, 0), exclude=exclude)] == [(0, 1)]


def test_several_sources_at_once() -> None:
    both = SHOP.recommend(["bob", "ann"], 2, exclude=PAIRS)
    assert both == [SHOP.recommend("bob", 2, exclude=PAIRS), SHOP.recommend("ann", 2, exclude=PAIRS)]
    assert both.table().to_dict() == {
        "source": ["bob", "bob", "ann", "ann"],
        "target": ["jam", "cake", "jam", "tea"],
        "rank": [1, 2, 1, 2],
        "score": [2.0, 1.0, 2.0, 1.0],
    }
    assert SHOP.recommend("ann", 1) == [("cake", 3.0)] and SHOP.recommend("ann", 1)[0].node == "cake"
    for exclude in (["jam"], {"ann": ["cake"], "bob": ["tea", "jam"]}, COLUMNS):
        users = ["ann", "bob"]
        assert SHOP.recommend(users, exclude=exclude) == [SHOP.recommend(user, exclude=exclude) for user in users]
    with pytest.warns(ArgumentWarning, match="1 of 2, such as 'eve'") as caught:
        lists = SHOP.recommend(["eve", "bob"], unknown="skip")
    assert lists == [[], SHOP.recommend("bob")] and caught[0].filename == __file__
    with pytest.raises(KeyError, match="no node is called 'tea' on the source side"):
        SHOP.recommend(["ann", "tea"])
    assert SHOP.recommend([]) == [] and len(SHOP.recommend([]).table()) == 0
