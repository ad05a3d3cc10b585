from __future__ import annotations

import gzip
import io
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_views import entries_of
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.graph.graph import Graph
from graphrefine.readers.read import read
from graphs import check, data_folder
from strategies import INTEGERS, PATIENT, Edge, edge_lists


def assert_same(one: Graph, other: Graph) -> None:
    check(one)
    assert one.names.dtype == other.names.dtype
    assert one.names.tolist() == other.names.tolist()
    assert entries_of(one) == entries_of(other)
    assert one.directed == other.directed


def written(tmp_path: Path, text: str | bytes, name: str = "edges.txt") -> str:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


TRIANGLE = {("a", "b"): 1, ("b", "a"): 1, ("b", "c"): 1, ("c", "b"): 1}


@pytest.mark.parametrize(
    "text",
    [
        "a b\nb c\n",
        "a\tb\nb\tc",
        "a,b\nb,c\n",
        "a;b\nb;c\n",
        "a   b\n  b \t c  \n",
        "# a comment\n% another\na b\n\n\nb c\n",
        "a b\r\nb c\r\n",
        "\ufeffa b\nb c",
        "source target\na b\nb c",
        "From_ID,To_ID\na,b\nb,c",
        '"a","b"\n"b","c"\n',
        "a, b\nb , c\n",
        "a b 1\nb c 1\n",
        "a b c\n".replace(" c", " 1") + "b c 1.0\n",
        "a,b,\nb,c,\n",
    ],
)
def test_the_same_edges_in_many_spellings(tmp_path: Path, text: str) -> None:
    graph = read(written(tmp_path, text))
    check(graph)
    assert entries_of(graph) == TRIANGLE
    assert graph.weights is None
    assert graph.names.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "options", "names"),
    [
        ("10 9\n-3 10\n100 9\n", {}, [-3, 9, 10, 100]),
        ("10 9\n-3 10\n100 x\n", {}, ["-3", "10", "100", "9", "x"]),
        ("ä z\né Z\n\U0001f600 \uffff\n", {"header": False}, ["Z", "z", "ä", "é", "\uffff", "\U0001f600"]),
        *((f"1 {odd}\n2 1\n", {"header": False}, sorted(["1", "2", odd])) for odd in
          ("007", "+7", "7.0", "-0", "9223372036854775808", "0x1")),
        *((f"1 {large}\n2 1\n", {}, sorted([1, 2, large])) for large in
          (2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63))),
        ('"10","9"\n"9","2"\n', {}, [2, 9, 10]),
        ("1\t2\n10\t\n", {}, [1, 2, 10]),
        ('"Doe, J", "say ""hi"""\nNew York,"Doe, J"\n', {}, ["Doe, J", "New York", 'say "hi"']),
        ("#a,b c,d\n#a,b e,f\n", {"delimiter": " ", "comments": ""}, ["#a,b", "c,d", "e,f"]),
        ("1\t\t2\n2\t\t3\n", {}, [1, 2, 3]),
        ("one two\nthree four\n", {"header": True}, ["four", "three"]),
        ("source target\na b\n", {"header": False}, ["a", "b", "source", "target"]),
        ("# note\n" * 20_000 + "source,target\n1,2\n2,3\n", {}, [1, 2, 3]),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_names(tmp_path: Path, text: str, options: dict[str, Any], names: list[Any]) -> None:
    graph = read(written(tmp_path, text), **options)
    assert graph.names.tolist() == names
    assert graph.names.dtype == (np.int64 if isinstance(names[0], int) else object)


def test_blanks_around_names_are_counted(tmp_path: Path) -> None:
    graph = read(written(tmp_path, 'New York\t Boston\nsay "hi"\tNew York\n'))
    assert graph.names.tolist() == ["Boston", "New York", 'say "hi"']
    assert (graph.report["trimmed"], "names with blanks" in str(graph.reading)) == (1, True)


def test_an_empty_field_names_no_node(tmp_path: Path) -> None:
    graph = read(written(tmp_path, "a\tb\nc\t\n\td\nb\ta\n"))
    assert graph.names.tolist() == ["a", "b", "c", "d"]
    assert (graph.report["records"], graph.report["missing"], graph.isolated) == (4, 2, 2)


def test_weights_come_from_the_third_column_or_from_a_named_one(tmp_path: Path) -> None:
    assert entries_of(read(written(tmp_path, "1 2 0.5\n2 3 2e1\n")))[3, 2] == 20
    named = written(tmp_path, "when,to,from,weight\n9,1,2,4\n9,2,3,5\n", "edges.csv")
    assert entries_of(read(named, directed=True)) == {(2, 1): 4, (3, 2): 5}
    assert read(named).report["ignored_columns"] == ["when"]
    assert entries_of(read(named, weights="when"))[1, 2] == 9
    assert entries_of(read(named, weights=0))[1, 2] == 9
    assert entries_of(read(named, weights="0"))[1, 2] == 9
    assert read(named, weights=False).weights is None
    other = read(named, source="when", target="to", weights=False)
    assert other.names.tolist() == [1, 2, 9]


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    latin = written(tmp_path, "Zürich Köln\nÅ Köln\n".encode("latin-1"))
    graph = read(latin)
    assert graph.names.tolist() == ["Köln", "Zürich", "Å"]
    assert graph.report["encoding"] == "latin-1"
    assert read(written(tmp_path, b"\x80 a\n")).names.tolist() == ["a", "\x80"]
    assert read(written(tmp_path, "Zürich Köln")).report["encoding"] == "utf-8"
    for encoding in ("utf-16", "cp1252"):
        path = written(tmp_path, "Zürich Köln\nÅ Köln\n".encode(encoding))
        assert read(path, encoding=encoding).names.tolist() == ["Köln", "Zürich", "Å"]
    assert read(written(tmp_path, "Zürich Köln\n".encode("utf-16"))).nodes == 2


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(gzip.compress(b"a b\nb c\n"))

    monkeypatch.setattr("sys.stdin", Stdin())
    graph = read("-")
    assert entries_of(graph) == TRIANGLE
    assert graph.source == "standard input"


def test_nodes_that_no_edge_mentions(tmp_path: Path) -> None:
    path = written(tmp_path, "3 1\n")
    assert read(path, nodes=5).names.tolist() == [0, 1, 2, 3, 4]
    assert entries_of(read(path, nodes=5)) == {(1, 3): 1, (3, 1): 1}
    assert read(path, nodes=[9, 1]).names.tolist() == [1, 3, 9]
    assert read(path, nodes=["x"]).names.tolist() == ["1", "3", "x"]
    listed = written(tmp_path, "7\n1\n\n", "nodes.txt")
    assert read(path, nodes=listed).names.tolist() == [1, 3, 7]
    assert read(path, nodes=listed).isolated == 1
    words = written(tmp_path, "b\na\n", "words.txt")
    assert read(written(tmp_path, "a c"), nodes=Path(words)).names.tolist() == ["a", "b", "c"]


def expected(edges: list[Edge], directed: bool) -> dict[tuple[str, str], float]:
    """The rules of `read`, written once more and slowly."""
    sums: dict[tuple[str, str], float] = {}
    single = {}
    for u, v, weight in sorted(edges, key=lambda edge: np.float32(edge[2])):
        if u != v:
            sums[u, v] = sums.get((u, v), 0.0) + float(np.float32(weight))
    for u, v in sums:
        single[u, v] = sums[u, v] if directed else max(sums[u, v], sums.get((v, u), 0))
        if not directed:
            single[v, u] = single[u, v]
    return {ends: float(np.float32(weight)) for ends, weight in single.items()}


@PATIENT
@given(edges=edge_lists(), directed=st.booleans(), delimiter=st.sampled_from(["\t", ",", ";", " "]))
def test_written_edges_come_back(tmp_path: Path, edges: list[Edge], directed: bool, delimiter: str) -> None:
    text = "\n".join(delimiter.join([u, v, repr(w)]) for u, v, w in edges)
    graph = read(written(tmp_path, text), directed=directed, delimiter=delimiter, header=False)
    check(graph)
    weights = {(str(u), str(v)): weight for (u, v), weight in entries_of(graph).items()}
    assert weights == expected(edges, directed)
    assert {str(name) for name in graph.names} == {end for edge in edges for end in edge[:2]}
    assert graph.report["records"] == len(edges)
    random.Random(0).shuffle(edges)
    text = "\r\n".join(delimiter.join([u, v, repr(w)]) for u, v, w in edges) + "\r\n"
    shuffled = read(written(tmp_path, text), directed=directed, delimiter=delimiter, header=False, threads=3)
    assert_same(shuffled, graph)
    counts = ("self_loops", "duplicates", "reciprocal")
    assert [shuffled.report[name] for name in counts] == [graph.report[name] for name in counts]


@PATIENT
@given(edges=edge_lists(ids=INTEGERS.map(str), weighted=False))
def test_written_integers_come_back_as_integers(tmp_path: Path, edges: list[Edge]) -> None:
    graph = read(written(tmp_path, "\n".join(f"{u} {v}" for u, v, _ in edges)), header=False)  # nor a line of counts
    assert graph.names.dtype == np.int64
    assert graph.names.tolist() == sorted({int(end) for edge in edges for end in edge[:2]})


def test_a_real_table_of_dependencies() -> None:
    graph = read(data_folder() / "npm-dependencies.tsv.gz", directed=True)
    check(graph)
    assert graph.report["columns"] == ["dependent", "dependency"]
    assert (graph.report["records"], graph.report["self_loops"], graph.report["missing"]) == (926_384, 97, 1)
    assert (graph.nodes, graph.edges, graph.report["trimmed"]) == (257_051, 926_286, 26)
    assert "JQuery UI" in graph.names.tolist()
    place = graph.names.tolist().index("totoro-logger")
    assert "tinytim" in graph.names[graph.rows(place, place + 1).indices].tolist()
