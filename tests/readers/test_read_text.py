from __future__ import annotations

import gzip
import io
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from format_writers import edges_of
from graph_views import entries_of
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.readers.read import read
from graphs import check, data_folder
from strategies import PATIENT, Edge, edge_lists


def written(tmp_path: Path, text: str | bytes, name: str = "edges.txt") -> str:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


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
        ("1\t\t2\n2\t\t3\n", {"delimiter": " "}, [1, 2, 3]),  # aligned by tabs
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


def test_blanks_and_empty_fields_are_counted(tmp_path: Path) -> None:
    graph = read(written(tmp_path, 'New York\t Boston\nsay "hi"\tNew York\n'))
    assert graph.names.tolist() == ["Boston", "New York", 'say "hi"']
    assert (graph.report["trimmed"], "names with blanks" in str(graph.reading)) == (1, True)
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
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(gzip.compress(b"a b\nb c\n"))))
    graph = read("-")
    assert entries_of(graph) == entries_of(read([("a", "b"), ("b", "c")]))
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


@PATIENT
@given(edges=edge_lists(), directed=st.booleans(), delimiter=st.sampled_from(["\t", ",", ";", " "]))
def test_the_order_of_lines_and_threads_change_nothing(
    tmp_path: Path, edges: list[Edge], directed: bool, delimiter: str
) -> None:
    expected = read(edges, directed=directed)
    counts = ("records", "self_loops", "duplicates", "reciprocal")
    for end, threads in (("\n", 1), ("\r\n", 3)):
        text = end.join(delimiter.join([u, v, repr(w)]) for u, v, w in edges) + end
        graph = read(written(tmp_path, text), directed=directed, delimiter=delimiter, header=False, threads=threads)
        check(graph)
        assert edges_of(graph) == edges_of(expected)
        assert sorted(map(str, graph.names)) == sorted(expected.names)
        assert [graph.report[name] for name in counts] == [expected.report[name] for name in counts]
        random.Random(0).shuffle(edges)


def test_a_real_table_of_dependencies() -> None:
    graph = read(data_folder() / "npm-dependencies.tsv.gz", directed=True)
    check(graph)
    assert graph.report["columns"] == ["dependent", "dependency"]
    assert (graph.report["records"], graph.report["self_loops"], graph.report["missing"]) == (926_384, 97, 1)
    assert (graph.nodes, graph.edges, graph.report["trimmed"]) == (257_051, 926_286, 26)
    assert "JQuery UI" in graph.names.tolist()
    place = graph.names.tolist().index("totoro-logger")
    assert "tinytim" in graph.names[graph.rows(place, place + 1).indices].tolist()
