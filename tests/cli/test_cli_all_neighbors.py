"""``graphrefine neighbors --all``: every node in one table, and recommendations for every user."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from cli_runs import works
from graphrefine import Embedding
from graphrefine.search.neighbors import all_neighbors


def read_rows(path: Path) -> list[dict[str, Any]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_blocks_make_the_same_table_as_one(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(0).standard_normal((50, 4))
    Embedding([f"node {i}" for i in range(50)], vectors).save(tmp_path / "e")
    works("neighbors", tmp_path / "e", "--all", "-k", "3", "-o", tmp_path / f"one.{suffix}")
    defaults = all_neighbors.__kwdefaults__
    assert defaults is not None and defaults["batch"] > 50
    monkeypatch.setitem(defaults, "batch", 7)
    out = works("neighbors", tmp_path / "e", "--all", "-k", "3", "-o", tmp_path / f"many.{suffix}", "--json")
    assert out.figures["rows"] == 150 and out.figures["nodes"] == 50 and out.figures["search"] == "exact"
    if suffix in ("parquet", "arrow"):
        import pyarrow.feather as feather
        import pyarrow.parquet as parquet

        read = parquet.read_table if suffix == "parquet" else feather.read_table
        one, many = (read(tmp_path / f"{name}.{suffix}").combine_chunks() for name in ("one", "many"))
        assert one.equals(many) and one.num_rows == 150
    else:
        assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"many.{suffix}").read_bytes()


def test_recommendations_for_every_user_are_those_of_recommend(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pairs = sorted({(f"user {u}", f"item {i}") for u, i in rng.integers(0, 25, (200, 2)).tolist()})
    (tmp_path / "bought.csv").write_text("\n".join(",".join(pair) for pair in pairs) + "\n")
    shop = graphrefine.embed(pairs, dim=6, bipartite=True)
    shop.save(tmp_path / "shop")
    works("neighbors", tmp_path / "shop", "--all", "--score", "link", "--side", "source",
          "--exclude-linked", tmp_path / "bought.csv", "-k", "5", "-o", tmp_path / "r.csv")  # fmt: skip
    rows = read_rows(tmp_path / "r.csv")
    graph = graphrefine.read(pairs, bipartite=True)
    assert {row["node"] for row in rows} == set(shop.source_names.tolist())
    for user in shop.source_names.tolist():
        expected = shop.recommend(user, 5, exclude=graph)
        mine = [row for row in rows if row["node"] == user]
        assert [row["neighbor"] for row in mine] == [item for item, _ in expected]
        np.testing.assert_allclose([float(row["score"]) for row in mine], [score for _, score in expected], rtol=1e-5)


def test_a_table_of_named_nodes(tmp_path: Path) -> None:
    Embedding(["a", "b", "c"], np.array([[1, 0], [1, 0.1], [0, 1]])).save(tmp_path / "e")
    works("neighbors", tmp_path / "e", "a", "c", "-k", "1", "-o", tmp_path / "n.csv")
    assert [(row["node"], row["neighbor"]) for row in read_rows(tmp_path / "n.csv")] == [("a", "b"), ("c", "b")]
