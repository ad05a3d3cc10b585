"""Roles of columns: which two are the ends of edges, and which table has two readings; one table of cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from graphrefine import ingest, read
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
        read(path)
    error = caught.value
    assert isinstance(error, FormatError) and error.argument == argument and fact in str(error)
    assert all(reading in str(error) for reading in error.readings)


def test_each_reading_of_ratings(tmp_path: Path) -> None:
    path = written(tmp_path, "ratings.csv", RATINGS)
    two, one = read(path, bipartite=True), read(path, bipartite=False)
    assert (two.nodes, two.sources, one.nodes, one.sources) == (6, 3, 3, None)
    frame = pd.read_csv(path)
    with pytest.raises(AmbiguousTable) as caught:
        read(frame)
    assert caught.value.argument == "bipartite"
    assert read(frame, bipartite=True).sources == 3
    with pytest.raises(InputError):
        ingest(path, tmp_path / "ratings.grf")
    assert ingest(path, tmp_path / "ratings.grf", bipartite=False).nodes == 3


@pytest.mark.parametrize(
    "header", ["source,target", "u,v", "user,friend", "follower,followee", "id1,id2", "user_id,other_user", "a,b"]
)
def test_ends_of_one_kind_overlap_without_a_question(tmp_path: Path, header: str) -> None:
    assert read(written(tmp_path, "e.csv", f"{header}\n1,2\n2,3\n3,1\n")).nodes == 3


def test_two_kinds_that_do_not_overlap_are_read(tmp_path: Path) -> None:
    assert read(written(tmp_path, "e.csv", "userId,movieId\n1,10\n2,20\n2,10\n")).nodes == 4
    assert read(written(tmp_path, "e.csv", "user,movie\nu1,m1\nu2,m1\n")).nodes == 3


def test_chosen_ends_of_a_knowledge_graph(tmp_path: Path) -> None:
    path = written(tmp_path, "train.tsv", HYPERNYMS)
    graph = read(path, source=0, target=2)
    assert "00260881" in graph.names.tolist() and "_hypernym" not in graph.names.tolist()
    genres = written(tmp_path, "likes.txt", "1 rock 5\n2 rock 4\n3 pop 5\n4 pop 5\n5 jazz 4\n1 jazz 5\n")
    assert read(genres).weights is not None  # ratings are no ids


def test_long_integers_are_ids_beside_row_numbers(tmp_path: Path) -> None:
    rows = "".join(f"{at},{10**12 + at % 3},{10**12 + (at + 1) % 3}\n" for at in range(9))
    assert read(written(tmp_path, "e.csv", f"index,x,y\n{rows}")).nodes == 3


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
    graph = read([("ann", "bob")], nodes=written(tmp_path, name, text))
    assert set(graph.names.tolist()) == {"bob", *names, "ann"}


def test_a_table_of_nodes_without_a_column_of_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="node, id or name"):
        read([("ann", "bob")], nodes=written(tmp_path, "nodes.csv", "who,age\nann,5\n"))


@pytest.mark.parametrize("options", [{}, {"weights": "weight"}])
def test_a_negative_weight_names_what_can_be_done(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"line 3: .*weights=False.*absolute") as caught:
        read(written(tmp_path, "e.csv", "source,target,weight\na,b,1\nb,c,-2\n"), **options)
    assert caught.value.argument == "weights"


def test_columns_are_called_by_neither_row_numbers_nor_times(tmp_path: Path) -> None:
    rows = "".join(f"{100 + 7 * i},p{i},p{(i + 1) % 9},{964982703 + i},4\n" for i in range(9))
    graph = read(written(tmp_path, "edges.csv", f"id,person,friend,when,rating\n{rows}"))
    assert graph.report["columns"] == ["person", "friend"]
    assert graph.reading.endswith("not used: 'id' (row numbers), 'when' (times), 'rating' (numbers)")
    assert read(written(tmp_path, "edges.csv", "index,a,b\n0,x,y\n1,y,z\n")).names.tolist() == [
        "x",
        "y",
        "z",
    ]


def test_ends_that_may_be_two_pairs_of_columns_are_refused(tmp_path: Path) -> None:
    text = "city,person,friend\nparis,ann,bob\nrome,bob,cleo\noslo,cleo,ann\n"
    with pytest.raises(
        FormatError, match="can be columns 'city' and 'person', the first two, or 'person' and 'friend'"
    ):
        read(written(tmp_path, "edges.csv", text))
    assert read(written(tmp_path, "edges.csv", text), source="person", target="friend").nodes == 3
    assert read(written(tmp_path, "edges.csv", text), source="city", target="person").nodes == 6


@pytest.mark.parametrize(
    ("column", "kind"), [("times", "times"), ("dates", "dates"), ("rows", "row numbers"), ("milliseconds", "times")]
)
@pytest.mark.parametrize("named", [False, True])
def test_times_and_row_numbers_are_no_weights(tmp_path: Path, column: str, kind: str, named: bool) -> None:
    values: dict[str, Any] = {
        "times": lambda i: 1082040961 + 999 * i,
        "dates": lambda i: f"2024-01-{i + 1:02}",
        "rows": lambda i: i + 1,
        "milliseconds": lambda i: 1700000000123 + i,
    }
    lines = "".join(f"{i % 4},{(i + 3) % 5},{values[column](i)}\n" for i in range(9))
    path = written(tmp_path, "edges.csv", ("source,target,weight\n" if named else "") + lines)
    label = "'weight'" if named else "2"
    way_out = "False" if column == "dates" else label  # a date cannot be a weight, whatever is said
    advice = f"pass time={label}.*weights={way_out}"
    with pytest.raises(FormatError, match=f"holds {kind}, which are hardly weights: {advice}"):
        read(path)
    assert read(path, weights=False).weights is None
    if column != "dates":
        weights = read(path, weights="weight" if named else 2).weights
        assert weights is not None and weights.max() >= values[column](8)


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    path = written(tmp_path, "edges.csv", "source,target,weight,weight\na,b,1,2\nb,c,3,4\n")
    with pytest.raises(FormatError, match=r"2 columns are called 'weight'; rename them, or pass weights= by position"):
        read(path)
    with pytest.raises(FormatError, match=r"2 columns are called 'weight'; pass weights= by position"):
        read(path, weights="weight")
    weights = read(path, weights=3).weights
    assert weights is not None and weights.tolist() == [2, 2, 4, 4]
    with pytest.raises(FormatError, match="2 columns are called 'source'"):
        read(written(tmp_path, "edges.csv", "source,target,source\na,b,c\nb,c,d\n"))
    assert read(written(tmp_path, "edges.csv", "source,target,x,x\na,b,c,d\nb,c,d,e\n")).nodes == 3  # nobody uses them
