"""The neighbors of every node, in blocks: those that single searches give; and rankings as tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import graphrefine
from graphrefine import Embedding
from graphrefine.display.table import Table
from graphrefine.errors import InputError
from graphrefine.search.neighbors import all_neighbors, join_tables
from graphrefine.search.rankings import Neighbor, Ranking, Rankings


def people(count: int = 50, **recipe: Any) -> Embedding:
    vectors = np.random.default_rng(1).standard_normal((count, 6))
    vectors[7] = 0
    return Embedding([f"n{i}" for i in range(count)], vectors, recipe, degrees=np.arange(count) + 1.0)


class Watch:
    def __init__(self) -> None:
        self.stages: list[tuple[str, int]] = []
        self.steps = 0

    def start(self, stage: str, steps: int) -> None:
        self.stages.append((stage, steps))

    def advance(self) -> None:
        self.steps += 1


def rows_of(lists: Rankings[Neighbor]) -> list[tuple[Any, ...]]:
    named = zip(lists.questions, lists, strict=True)
    return [(node, near.node, rank, near.score) for node, each in named for rank, near in enumerate(each, 1)]


@pytest.mark.parametrize("score", ["cosine", "dot", "link"])
@pytest.mark.parametrize("batch", [1, 7, 50, 1000])
def test_blocks_are_what_single_searches_give(score: Any, batch: int) -> None:
    embedding = people()
    tables = list(all_neighbors(embedding, 3, score=score, batch=batch))
    assert len(tables) == -(-50 // batch)
    whole = join_tables(iter(tables))
    assert [tuple(row) for row in whole] == rows_of(embedding.neighbors(list(embedding), 3, score=score))
    assert ("n7" in whole["node"].tolist()) == (score != "cosine"), "a zero vector is near nothing by the cosine"


def test_limits_and_links_hold_in_every_block() -> None:
    embedding, links = people(), [("n0", "n1"), ("n3", "n4"), ("n49", "n2")]
    limits: dict[str, Any] = {"among": [f"n{i}" for i in range(5)], "unlinked": links}
    whole = join_tables(all_neighbors(embedding, 9, batch=8, **limits))
    assert [tuple(row) for row in whole] == rows_of(embedding.neighbors(list(embedding), 9, **limits))
    pairs = {frozenset(pair) for pair in zip(whole["node"].tolist(), whole["neighbor"].tolist(), strict=True)}
    assert not pairs & {frozenset(link) for link in links}


def test_a_bipartite_graph_has_sides() -> None:
    sides = people(20, sides="rows", sources=8)
    for score in ("cosine", "link"):
        whole = join_tables(all_neighbors(sides, 2, score=score, batch=3))
        assert set(zip(whole["node"].tolist(), whole["side"].tolist(), strict=True)) == {
            (f"n{i}", "source" if i < 8 else "target") for i in range(20) if score == "link" or i != 7
        }
        same = [(int(row.neighbor[1:]) < 8) == (row.side == "source") for row in whole]
        assert all(same) if score == "cosine" else not any(same)


def test_watchers_see_blocks() -> None:
    watch = Watch()
    tables = all_neighbors(people(), 2, batch=20, watch=watch)
    assert watch.stages == []
    next(tables)
    assert watch.stages == [("neighbors", 3)]
    assert len(list(tables)) == 2 and watch.steps == 3


def test_refusals_come_before_the_first_block() -> None:
    for options, problem in (
        ({"batch": 0}, "batch=0 must be at least 1"),
        ({"k": True}, "k=True must be a whole number"),
        ({"score": "cosin"}, "did you mean 'cosine'"),
        ({"among": ["nobody"]}, "no node is called 'nobody'"),
        ({"unlinked": [("x", "y")]}, "none of its 2 nodes is in the embedding"),
    ):
        with pytest.raises(InputError, match=problem):
            all_neighbors(people(), **options)


def test_an_empty_embedding_has_one_table_without_rows() -> None:
    (table,) = all_neighbors(Embedding(None, np.zeros((0, 3))), 2)
    assert len(table) == 0 and list(table.columns) == ["node", "neighbor", "rank", "score"]


def test_rankings_are_lists_and_tables() -> None:
    embedding = people()
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


def test_integer_names_stay_integers() -> None:
    ring = graphrefine.embed([(i, (i + 1) % 9) for i in range(9)], dim=4)
    (table,) = all_neighbors(ring, 2)
    assert isinstance(table, Table) and table["node"].dtype == table["neighbor"].dtype == np.int64
    assert ring.neighbors([3, np.int64(4)], 1).to_pandas()["node"].dtype == np.int64
