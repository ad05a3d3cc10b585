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


CITIES = "city,person,friend\nparis,ann,bob\nrome,bob,cleo\noslo,cleo,ann\n"
COUNTED = ",0,1,2,3\n" + "".join(f"{at},{5 + at},{6 + at},1,{2 + at % 2}\n" for at in range(5))
SQUARE = "a,b,c,d\n1,2,3,4\n1,2,3,4\n1,2,3,5\n1,2,3,4\n"


@pytest.mark.parametrize(
    ("name", "text", "argument", "fact", "options"),
    [
        ("ratings.csv", RATINGS, "bipartite", "'userId' and 'movieId'", [{"bipartite": True}, {"bipartite": False}]),
        ("train.tsv", HYPERNYMS, "source", "column 1 holds 2 different texts", [{"source": 0, "target": 2}]),
        ("train.tsv", "a\trelation\tb\n" + HYPERNYMS, "source", "'relation' holds 2", [{"source": "a", "target": "b"}]),
        ("e.txt", "a b,c d\nd e,a b\n", "delimiter", "delimiter=','", [{"delimiter": ",", "header": False}]),
        ("e.csv", "one,two\nthree,four\n", "header", "header=True", [{"header": True}, {"header": False}]),
        ("e.csv", SQUARE, "source", "4 x 4", [{"source": "a", "target": "b"}]),
        ("e.csv", CITIES, "source", "'friend'", [{"source": "person", "target": "friend"}, {"source": 0, "target": 1}]),
        ("e.csv", COUNTED, "source", "5 columns without names", [{"source": 1, "target": 2}]),
    ],
)
def test_a_table_with_two_readings_names_both(
    tmp_path: Path, name: str, text: str, argument: str, fact: str, options: list[dict[str, Any]]
) -> None:
    path = written(tmp_path, name, text)
    with pytest.raises(AmbiguousTable) as caught:
        read(path)
    error = caught.value
    assert isinstance(error, FormatError) and error.argument == argument and fact in str(error)
    assert all(reading in str(error) for reading in error.readings)
    graphs = [read(path, **each) for each in options]
    assert len({(graph.nodes, graph.edges) for graph in graphs}) == len(options)


COUNTING = "".join(f"{100 + 7 * i},p{i},p{(i + 1) % 9},{964982703 + i},4\n" for i in range(9))
LONG = "".join(f"{at},{10**12 + at % 3},{10**12 + (at + 1) % 3}\n" for at in range(9))


@pytest.mark.parametrize(
    ("text", "columns", "nodes"),
    [
        *((f"{header}\n1,2\n2,3\n3,1\n", header.split(","), 3)
          for header in ("source,target", "u,v", "user,friend", "follower,followee", "user_id,other_user", "a,b")),
        ("userId,movieId\n1,10\n2,20\n2,10\n", ["userId", "movieId"], 4),  # two kinds that do not overlap
        ("user,movie\nu1,m1\nu2,m1\n", ["user", "movie"], 3),
        (f"index,x,y\n{LONG}", ["x", "y"], 3),  # long integers look like times
        (f"id,person,friend,when,rating\n{COUNTING}", ["person", "friend"], 9),
        ("index,a,b\n0,x,y\n1,y,z\n", ["a", "b"], 3),
        ("1,rock,5\n2,rock,4\n3,pop,5\n4,pop,5\n5,jazz,4\n1,jazz,5\n", [0, 1], 8),  # ratings, not ids
    ],
)  # fmt: skip
def test_ends_are_found(tmp_path: Path, text: str, columns: list[str | int], nodes: int) -> None:
    graph = read(written(tmp_path, "e.csv", text))
    assert (graph.report["columns"], graph.nodes) == (columns, nodes)


@pytest.mark.parametrize(
    ("name", "text", "names"),
    [
        ("nodes.txt", "ann\nNew York\n", {"New York"}),
        ("nodes.csv", "name,age\nann,5\nzoe,7\n", {"zoe"}),
        ("nodes.csv", "age;node\n5;ann\n7;zoe\n", {"zoe"}),
        ("nodes.csv", "New York\nann\n", {"New York"}),
        ("nodes.csv", "who,age\nann,5\n", None),
    ],
)
def test_nodes_of_a_table(tmp_path: Path, name: str, text: str, names: set[str] | None) -> None:
    path = written(tmp_path, name, text)
    if names is None:
        with pytest.raises(InputError, match="node, id or name"):
            read([("ann", "bob")], nodes=path)
    else:
        assert set(read([("ann", "bob")], nodes=path).names.tolist()) == {"ann", "bob"} | names


@pytest.mark.parametrize("kind", ["times", "dates", "row numbers", "milliseconds"])
@pytest.mark.parametrize("named", [False, True])
def test_times_and_row_numbers_are_no_weights(tmp_path: Path, kind: str, named: bool) -> None:
    values: dict[str, list[Any]] = {
        "times": [1082040961 + 999 * i for i in range(9)],
        "dates": [f"2024-01-{i + 1:02}" for i in range(9)],
        "row numbers": list(range(1, 10)),
        "milliseconds": [1700000000123 + i for i in range(9)],
    }
    lines = "".join(f"{i % 4},{(i + 3) % 5},{value}\n" for i, value in enumerate(values[kind]))
    path = written(tmp_path, "edges.csv", ("source,target,weight\n" if named else "") + lines)
    label: str | int = "weight" if named else 2
    with pytest.raises(AmbiguousTable, match=kind.replace("milliseconds", "times")) as caught:
        read(path)
    numeric = {f"weights={label!r}"} if kind != "dates" else set()  # a date cannot be a weight, whatever is said
    assert caught.value.readings.keys() == {f"time={label!r}", "weights=False", *numeric}
    assert read(path, weights=False).weights is None
    if numeric:
        weights = read(path, weights=label).weights
        assert weights is not None and weights.max() >= values[kind][8]


def test_each_reading_of_ratings(tmp_path: Path) -> None:
    path = written(tmp_path, "ratings.csv", RATINGS)
    two, one = read(path, bipartite=True), read(path, bipartite=False)
    assert (two.nodes, two.sources, one.nodes, one.sources) == (6, 3, 3, None)
    frame = pd.read_csv(path)
    with pytest.raises(AmbiguousTable) as caught:
        read(frame)
    assert caught.value.argument == "bipartite"
    assert read(frame, bipartite=True).sources == 3
    assert ingest(path, tmp_path / "ratings.grf", bipartite=False).nodes == 3


@pytest.mark.parametrize("options", [{}, {"weights": "weight"}])
def test_a_negative_weight_names_what_can_be_done(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(FormatError, match=r"line 3: .*weights=False.*absolute") as caught:
        read(written(tmp_path, "e.csv", "source,target,weight\na,b,1\nb,c,-2\n"), **options)
    assert caught.value.argument == "weights"


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
