"""Roles of columns: which two are the ends of edges, and which table has two readings; one table of cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import graphrefine
from graphrefine.errors import AmbiguousTable, FormatError, InputError

RATINGS = "userId,movieId,rating\n1,2,4.5\n2,3,3.0\n3,1,5.0\n1,3,2.5\n"
HYPERNYMS = "".join(
    f"{head:08d}\t{('_hypernym', '_has_part')[head % 2]}\t{tail:08d}\n"
    for head, tail in [(260881, 260622), (1332730, 3122748), (260622, 260881), (3122748, 1332730), (5, 260881), (6, 5)]
)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "argument", "fact"),
    [
        ("ratings.csv", RATINGS, "bipartite", "'userId' and 'movieId'"),
        ("train.tsv", HYPERNYMS, "source", "column 1 holds 2 different texts"),
        ("train.tsv", "a\trelation\tb\n" + HYPERNYMS, "source", "'relation' holds 2 different texts"),
        ("e.txt", "a b,c d\nd e,a b\n", "delimiter", "delimiter=','"),
        ("e.csv", "one,two\nthree,four\n", "header", "header=True"),
        ("e.csv", "a,b,c,d\n1,2,3,4\n1,2,3,4\n1,2,3,5\n1,2,3,4\n", "source", "4 x 4"),
    ],
)
def test_a_table_with_two_readings_names_both(tmp_path: Path, name: str, text: str, argument: str, fact: str) -> None:
    path = written(tmp_path, name, text)
    with pytest.raises(AmbiguousTable) as caught:
        graphrefine.read(path)
    error = caught.value
    assert isinstance(error, FormatError) and error.argument == argument and fact in str(error)
    assert all(reading in str(error) for reading in error.readings)


def test_each_reading_of_ratings(tmp_path: Path) -> None:
    path = written(tmp_path, "ratings.csv", RATINGS)
    two, one = graphrefine.read(path, bipartite=True), graphrefine.read(path, bipartite=False)
    assert (two.nodes, two.sources, one.nodes, one.sources) == (6, 3, 3, None)
    frame = pd.read_csv(path)
    with pytest.raises(AmbiguousTable) as caught:
        graphrefine.read(frame)
    assert caught.value.argument == "bipartite"
    assert graphrefine.read(frame, bipartite=True).sources == 3
    with pytest.raises(InputError):
        graphrefine.ingest(path, tmp_path / "ratings.grf")
    assert graphrefine.ingest(path, tmp_path / "ratings.grf", bipartite=False).nodes == 3


@pytest.mark.parametrize(
    "header", ["source,target", "u,v", "user,friend", "follower,followee", "id1,id2", "user_id,other_user", "a,b"]
)
def test_ends_of_one_kind_overlap_without_a_question(tmp_path: Path, header: str) -> None:
    assert graphrefine.read(written(tmp_path, "e.csv", f"{header}\n1,2\n2,3\n3,1\n")).nodes == 3


def test_two_kinds_that_do_not_overlap_are_read(tmp_path: Path) -> None:
    assert graphrefine.read(written(tmp_path, "e.csv", "userId,movieId\n1,10\n2,20\n2,10\n")).nodes == 4
    assert graphrefine.read(written(tmp_path, "e.csv", "user,movie\nu1,m1\nu2,m1\n")).nodes == 3


def test_chosen_ends_of_a_knowledge_graph(tmp_path: Path) -> None:
    path = written(tmp_path, "train.tsv", HYPERNYMS)
    graph = graphrefine.read(path, source=0, target=2)
    assert "00260881" in graph.names.tolist() and "_hypernym" not in graph.names.tolist()
    genres = written(tmp_path, "likes.txt", "1 rock 5\n2 rock 4\n3 pop 5\n4 pop 5\n5 jazz 4\n1 jazz 5\n")
    assert graphrefine.read(genres).weights is not None  # ratings are no ids


def test_long_integers_are_ids_beside_row_numbers(tmp_path: Path) -> None:
    rows = "".join(f"{at},{10**12 + at % 3},{10**12 + (at + 1) % 3}\n" for at in range(9))
    assert graphrefine.read(written(tmp_path, "e.csv", f"index,x,y\n{rows}")).nodes == 3


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("nodes.txt", "ann\nNew York\n", ["New York", "ann"]),
        ("nodes.csv", "name,age\nann,5\nzoe,7\n", ["ann", "zoe"]),
        ("nodes.csv", "age;node\n5;ann\n7;zoe\n", ["ann", "zoe"]),
        ("nodes.tsv", "id\nann\nzoe\n", ["ann", "zoe"]),
        ("nodes.csv", "New York\nann\n", ["New York", "ann"]),
    ],
)
def test_nodes_of_a_table(tmp_path: Path, name: str, text: str, names: list[str]) -> None:
    graph = graphrefine.read([("ann", "bob")], nodes=written(tmp_path, name, text))
    assert set(graph.names.tolist()) == {"bob", *names, "ann"}


def test_a_table_of_nodes_without_a_column_of_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="node, id or name"):
        graphrefine.read([("ann", "bob")], nodes=written(tmp_path, "nodes.csv", "who,age\nann,5\n"))


@pytest.mark.parametrize("options", [{}, {"weights": "weight"}])
def test_a_negative_weight_names_what_can_be_done(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"line 3: .*weights=False.*absolute") as caught:
        graphrefine.read(written(tmp_path, "e.csv", "source,target,weight\na,b,1\nb,c,-2\n"), **options)
    assert caught.value.argument == "weights"
