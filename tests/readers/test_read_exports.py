"""Files as other programs write them: Excel, MovieLens, KONECT, joined tables; read as meant, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import polars as pl
import pytest

from graphrefine import Graph, ingest, read
from graphrefine.errors import FormatError, InputError

PATH = {("a", "b"), ("b", "c")}


def write(folder: Path, text: str | bytes, suffix: str = ".csv") -> Path:
    path = folder / f"edges{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def edges(graph: Graph) -> dict[tuple[object, object], float]:
    """Edges and their weights, each undirected one once."""
    matrix = graph.to_scipy().tocoo()
    names = graph.names.tolist()
    return {
        (names[row], names[column]): float(weight)
        for row, column, weight in zip(matrix.row, matrix.col, matrix.data, strict=True)
        if graph.directed or row < column
    }


@pytest.mark.parametrize("line", ["sep=;", '"sep=;"', "SEP=;", "sep=;\r"])
def test_line_of_excel_names_the_delimiter(tmp_path: Path, line: str) -> None:
    graph = read(write(tmp_path, f"\ufeff{line}\nsource;target;weight\na;b;1,5\nb;c;2\n"))
    assert edges(graph) == {("a", "b"): 1.5, ("b", "c"): 2.0}


def test_delimiter_of_excel_is_that_of_every_record(tmp_path: Path) -> None:
    graph = read(write(tmp_path, "sep=,\na;x,b;y\nb;y,c;z\n", ".txt"))
    assert edges(graph).keys() == {("a;x", "b;y"), ("b;y", "c;z")}


@pytest.mark.parametrize(
    "text",
    [
        "source;target;weight\n1;2;1,5\n2;3;2,25\n",
        "1\t2\t1,5\n2\t3\t2,25\n",
        "Von;Nach;weight\n1;2;+1,5\n2;3;2,25\n",
    ],
)
def test_weights_with_decimal_commas(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    graph = read(path)
    assert edges(graph) == {(1, 2): 1.5, (2, 3): 2.25}
    assert "weights with decimal commas" in graph.reading
    stored = ingest(path, tmp_path / "graph.grf")
    assert stored.to_scipy().toarray().tolist() == graph.to_scipy().toarray().tolist()
    assert stored.reading.startswith(graph.reading.partition(" (1.5")[0])


def test_decimal_commas_without_a_header_once_the_delimiter_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "1;2;1,5\n2;3;2,25\n")
    with pytest.raises(FormatError, match="delimiter=';'"):
        read(path)
    assert edges(read(path, delimiter=";")) == {(1, 2): 1.5, (2, 3): 2.25}


@pytest.mark.parametrize("weight", ["1.234", "1.234,5", "2.5", "kg", "", "1,2,3"])
def test_weights_that_may_be_something_else_beside_decimal_commas(tmp_path: Path, weight: str) -> None:
    early = f"source;target;weight\na;b;1,5\nb;c;{weight}\n"
    late = "source;target;weight\n" + "a;b;1,5\n" * 6000 + f"b;c;{weight}\n"
    for text in (early, late):
        with pytest.raises(FormatError, match="weight"):
            read(write(tmp_path, text))


def test_decimal_commas_of_records_without_an_end(tmp_path: Path) -> None:
    graph = read(write(tmp_path, "source;target;weight\na;b;1,5\n;;2\nb;;3\n"))
    assert edges(graph) == {("a", "b"): 1.5}
    assert graph.report["missing"] == 2


@pytest.mark.parametrize("lines", [",\n,\n", ",,,\n", " , \n\n", ";\n"])
def test_rows_of_empty_cells_before_the_header(tmp_path: Path, lines: str) -> None:
    delimiter = ";" if ";" in lines else ","
    text = lines + "source,target\na,b\nb,c\n".replace(",", delimiter)
    graph = read(write(tmp_path, text))
    assert edges(graph).keys() == PATH
    assert graph.report["comments"] == 0


def test_title_above_a_table_is_not_taken_for_its_header(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="if it is a title, take it away"):
        read(write(tmp_path, "Friends in 2024,,\nsource,target,weight\na,b,1\nb,c,2\n"))


@pytest.mark.parametrize("records", ["a,b\nb,c\n", "1,2\n2,3\n", "a,b\nb,c\n" * 10_000, "1,2\n2,3\n" * 10_000])
def test_header_that_stands_again_in_joined_files(tmp_path: Path, records: str) -> None:
    path = write(tmp_path, f"source,target\n{records}source,target\n{records}")
    with pytest.raises(FormatError, match="occur again below"):
        read(path)
    with pytest.raises(InputError, match="occur again below"):
        ingest(path, tmp_path / "graph.grf")
    assert ("source", "target") in edges(read(path, header=False))


def test_nodes_called_as_the_columns_are(tmp_path: Path) -> None:
    graph = read(write(tmp_path, "source,target\n" + "a,b\n" * 9000 + "target,source\nsource,a\n"))
    assert ("source", "target") in edges(graph)


def test_numbers_of_nodes_and_edges_in_the_first_line(tmp_path: Path) -> None:
    path = write(tmp_path, "5 6\n0 1\n1 2\n2 3\n3 4\n4 0\n1 3\n", ".txt")
    with pytest.raises(FormatError, match="numbers of nodes and of edges"):
        read(path)
    assert read(path, header=True).edges == 6
    assert (5, 6) in edges(read(path, header=False))


@pytest.mark.parametrize("text", ["5 6\n0 1\n1 2\n2 3\n3 4\n4 0\n", "1 6\n0 1\n1 2\n2 3\n3 4\n4 0\n1 3\n"])
def test_first_edges_that_count_nothing(tmp_path: Path, text: str) -> None:
    assert read(write(tmp_path, text, ".txt")).edges == text.count("\n")


def test_movielens(tmp_path: Path) -> None:
    path = write(tmp_path, "1::1193::5::978300760\n1::661::3::978302109\n2::1193::4::978300275\n", ".dat")
    with pytest.raises(FormatError, match="there are 4 columns without names"):
        read(path)
    options: dict[str, Any] = {"source": 0, "target": 1, "weights": 2, "bipartite": True}
    graph = read(path, **options)
    assert graph.names.tolist() == [1, 2, 661, 1193]
    assert edges(graph) == {(1, 661): 3.0, (1, 1193): 5.0, (2, 1193): 4.0}
    stored = ingest(path, tmp_path / "graph.grf", **options)
    assert stored.to_scipy().toarray().tolist() == graph.to_scipy().toarray().tolist()
    assert "split by '::'" in graph.reading
    timed = read(path, source=0, target=1, time=3, since=978300700)
    assert edges(timed).keys() == {(1, 661), (1, 1193)}


def test_pairs_of_colons_are_a_delimiter_if_they_are_said(tmp_path: Path) -> None:
    path = write(tmp_path, "a::b\nb::c\n::b\n", ".txt")
    with pytest.raises(FormatError, match="two columns"):  # they may be names, as fe80::1 is
        read(path)
    graph = read(path, delimiter="::")
    assert edges(graph).keys() == PATH
    assert graph.report["missing"] == 1


@pytest.mark.parametrize("text", ["a::b::1\nb:x::c::2\n", "a::b::1\nb:::c::2\n", 'a::b::1\n"b:x"::c::2\n'])
def test_a_colon_alone_beside_pairs_of_colons(tmp_path: Path, text: str) -> None:
    with pytest.raises(FormatError, match="a colon stands alone"):
        read(write(tmp_path, text, ".dat"))


def test_quotes_and_errors_beside_pairs_of_colons(tmp_path: Path) -> None:
    graph = read(write(tmp_path, '"a::x"::b::1\nb::"c"::2\n', ".dat"), delimiter="::")
    assert edges(graph) == {("a::x", "b"): 1.0, ("b", "c"): 2.0}
    with pytest.raises(FormatError, match=r"4 columns"):
        read(write(tmp_path, "1::2::3\n1::2::3::4\n", ".dat"))


@pytest.mark.parametrize("text", ["std::a std::b\nstd::b std::c\n", "::1,fe80::1\nfe80::1,fe80::2\n"])
def test_names_with_pairs_of_colons(tmp_path: Path, text: str) -> None:
    assert all("::" in str(name) for name in read(write(tmp_path, text, ".txt")).names)


def test_konect_declares_the_direction(tmp_path: Path) -> None:
    (tmp_path / "out.friends").write_text("% asym posweighted\n% 2 3 3\n1 2 3 1082040961\n2 3 1 1082155839\n")
    graph = read(tmp_path / "out.friends")
    assert graph.directed
    assert edges(graph) == {(1, 2): 3.0, (2, 3): 1.0}
    assert "directed, as the graph says" in graph.reading
    assert ingest(tmp_path / "out.friends", tmp_path / "graph.grf").directed
    assert not read(tmp_path / "out.friends", directed=False).directed
    (tmp_path / "out.club").write_text("% sym unweighted\n1 2\n2 3\n")
    assert not read(tmp_path / "out.club").directed


def test_konect_declares_two_sets_of_nodes(tmp_path: Path) -> None:
    path = write(tmp_path, "% bip unweighted\n1 1\n1 2\n2 1\n", ".txt")
    with pytest.raises(FormatError, match="bipartite=True"):
        read(path)
    with pytest.raises(FormatError, match="bipartite=True"):
        ingest(path, tmp_path / "graph.grf")
    assert read(path, bipartite=True).edges == 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("<!DOCTYPE html>\n<html><body>404, not found</body></html>\n", "this is a web page"),
        ("  <HTML>,</HTML>\n", "this is a web page"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7\nsize 12345\n", "a pointer of Git LFS"),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, text: str, problem: str) -> None:
    for suffix in (".csv", ".txt"):
        with pytest.raises(FormatError, match=problem):
            read(write(tmp_path, text, suffix))


def test_encodings_by_their_marks_or_with_advice(tmp_path: Path) -> None:
    text = "source,target\na,b\nb,c\n"
    for encoding in ("utf-32", "utf-16"):
        assert edges(read(write(tmp_path, text.encode(encoding)))).keys() == PATH
    for encoding in ("utf-16-le", "utf-16-be"):
        path = write(tmp_path, text.encode(encoding))
        with pytest.raises(FormatError, match=f"say encoding='{encoding}'"):
            read(path)
        assert edges(read(path, encoding=encoding)).keys() == PATH


def test_text_that_is_not_utf8_is_told(tmp_path: Path) -> None:
    path = write(tmp_path, "source,target\nЖитиж,Здвиж\n".encode("cp1251"))
    assert "not UTF-8, read as Latin-1" in read(path).reading
    assert "not UTF-8, read as Latin-1" in ingest(path, tmp_path / "graph.grf").reading
    graph = read(path, encoding="cp1251")
    assert edges(graph).keys() == {("Житиж", "Здвиж")}
    assert "Latin-1" not in graph.reading


RATINGS = "{corner},x,y,z\nann,1,0,2\nbob,0,1,\ncy,0,3,0\n"


@pytest.mark.parametrize("corner", ["", "user"])
def test_matrix_of_two_sets_of_nodes(tmp_path: Path, corner: str) -> None:
    path = write(tmp_path, RATINGS.format(corner=corner))
    for take in (read, lambda path: ingest(path, tmp_path / "graph.grf")):
        with pytest.raises(InputError, match=r"names each row once.*bipartite=True"):
            take(path)
    graph = read(path, bipartite=True)
    assert graph.names.tolist() == ["ann", "bob", "cy", "x", "y", "z"]
    assert edges(graph) == {("ann", "x"): 1.0, ("ann", "z"): 2.0, ("bob", "y"): 1.0, ("cy", "y"): 3.0}
    with pytest.raises(FormatError, match=rf"{path.name}: this is an adjacency matrix.* write it as \.mtx or \.npz"):
        ingest(path, tmp_path / "graph.grf", bipartite=True)


def test_matrix_of_two_sets_in_other_tables(tmp_path: Path) -> None:
    table = pl.DataFrame({"user": ["ann", "bob", "cy"], "x": [1, 0, 0], "y": [0, 1, 3], "z": [2, 0, 0]})
    table.write_parquet(tmp_path / "ratings.parquet")
    for graph in (table, tmp_path / "ratings.parquet"):
        with pytest.raises(InputError, match="names each row once"):
            read(graph)
    assert read(table.to_pandas().set_index("user"), bipartite=True).edges == 4


def test_square_matrix_as_two_sets_keeps_the_names_of_its_columns(tmp_path: Path) -> None:
    graph = read(write(tmp_path, ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n"), bipartite=True)
    assert graph.names.tolist() == ["a", "b", "c"] * 2


@pytest.mark.parametrize("rows", ["ann,1,2,3.5\nann,2,1,4\nbob,1,2,3.5\n", "1,1,2,3.5\n2,2,1,4\n3,1,2,3.5\n"])
def test_edges_with_numbers_are_no_matrix(tmp_path: Path, rows: str) -> None:
    graph = read(write(tmp_path, f"customer,product,number,price\n{rows}"), bipartite=False)
    assert graph.report["columns"] == ["customer", "product"]


def test_archives_and_lists_under_other_names(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "edges.zip", "w") as archive:
        archive.writestr("edges.csv", "a,b\n")
    with pytest.raises(FormatError, match="this is a zip archive: unpack it"):
        read(tmp_path / "edges.zip")
    path = write(tmp_path, "0 1\n1 2\n2 0\n", ".graph")
    with pytest.raises(FormatError, match='format="text"'):
        read(path)
    assert read(path, format="text").edges == 3
