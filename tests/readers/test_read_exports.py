"""Files as other programs write them: Excel, MovieLens, KONECT, joined tables; read as meant, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from corpus import describe
from graphrefine import ingest, read
from graphrefine.errors import FormatError, InputError

PATH = {("a", "b"): 1.0, ("b", "c"): 1.0}


def write(folder: Path, text: str | bytes, suffix: str = ".csv") -> Path:
    path = folder / f"edges{suffix}"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


HALF: dict[Any, float] = {("a", "b"): 1.5, ("b", "c"): 2.0}
COMMAS: dict[Any, float] = {(1, 2): 1.5, (2, 3): 2.25}

# text, suffix, options, edges
READ: dict[str, tuple[str, str, dict[str, Any], dict[Any, float]]] = {
    **{f"Excel, {line!r}": (f"\ufeff{line}\nsource;target;weight\na;b;1,5\nb;c;2\n", ".csv", {}, HALF)
       for line in ("sep=;", '"sep=;"', "SEP=;", "sep=;\r")},
    "Excel, of every record": ("sep=,\na;x,b;y\nb;y,c;z\n", ".txt", {}, {("a;x", "b;y"): 1, ("b;y", "c;z"): 1}),
    "decimal commas": ("source;target;weight\n1;2;1,5\n2;3;2,25\n", ".csv", {}, COMMAS),
    "decimal commas, tabs": ("1\t2\t1,5\n2\t3\t2,25\n", ".csv", {}, COMMAS),
    "decimal commas, a sign": ("Von;Nach;weight\n1;2;+1,5\n2;3;2,25\n", ".csv", {}, COMMAS),
    "decimal commas, no header": ("1;2;1,5\n2;3;2,25\n", ".csv", {"delimiter": ";"}, COMMAS),
    "decimal commas, no end": ("source;target;weight\na;b;1,5\n;;2\nb;;3\n", ".csv", {}, {("a", "b"): 1.5}),
    **{f"empty cells first, {lines!r}": (lines + text, ".csv", {}, PATH)
       for text, every in {"source,target\na,b\nb,c\n": (",\n,\n", ",,,\n", " , \n\n"),
                           "source;target\na;b\nb;c\n": (";\n",)}.items() for lines in every},
    "MovieLens": ("1::7::5::978300760\n1::8::3::978302109\n", ".dat", {"source": 0, "target": 1, "weights": 2},
                  {(1, 7): 5, (1, 8): 3}),
    "MovieLens, times": ("1::7::5::978300760\n1::8::3::978302109\n", ".dat",
                         {"source": 0, "target": 1, "time": 3, "since": 978302000}, {(1, 8): 3}),
    "pairs of colons": ("a::b\nb::c\n::b\n", ".txt", {"delimiter": "::"}, PATH),
    "pairs of colons, quotes": ('"a::x"::b::1\nb::"c"::2\n', ".dat", {"delimiter": "::"},
                                {("a::x", "b"): 1, ("b", "c"): 2}),
    "names with colons": ("std::a std::b\nstd::b std::c\n", ".txt", {},
                          {("std::a", "std::b"): 1, ("std::b", "std::c"): 1}),
    "KONECT, arcs": ("% asym posweighted\n% 2 3 3\n1 2 3 1082040961\n2 1 1 1082155839\n", ".txt", {},
                     {(1, 2): 3, (2, 1): 1}),
    "KONECT, edges": ("% sym unweighted\n1 2\n2 3\n", ".txt", {}, {(1, 2): 1, (2, 3): 1}),
    "another suffix": ("0 1\n1 2\n", ".graph", {"format": "text"}, {(0, 1): 1, (1, 2): 1}),
    "no matrix": ("customer,product,number,price\nann,1,2,3.5\nann,2,1,4\n", ".csv", {"bipartite": False},
                  {("1", "ann"): 1, ("2", "ann"): 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_read_as_it_is_meant(tmp_path: Path, name: str) -> None:
    text, suffix, options, expected = READ[name]
    path = write(tmp_path, text, suffix)
    graph = read(path, **options)
    assert describe(graph).edges == expected
    stored = ingest(path, tmp_path / "graph.grf", **options)
    assert describe(stored).edges == describe(graph).edges and stored.directed == graph.directed


@pytest.mark.parametrize("records", ["a,b\nb,c\n", "1,2\n2,3\n" * 10_000])
def test_header_that_stands_again_in_joined_files(tmp_path: Path, records: str) -> None:
    path = write(tmp_path, f"source,target\n{records}source,target\n{records}")
    for take in (read, lambda path: ingest(path, tmp_path / "graph.grf")):
        with pytest.raises(InputError, match="occur again below"):
            take(path)
    assert ("source", "target") in describe(read(path, header=False)).edges


def test_encodings_by_their_marks_or_with_advice(tmp_path: Path) -> None:
    text = "source,target\na,b\nb,c\n"
    for encoding in ("utf-32", "utf-16"):
        assert describe(read(write(tmp_path, text.encode(encoding)))).edges == PATH
    for encoding in ("utf-16-le", "utf-16-be"):
        path = write(tmp_path, text.encode(encoding))
        with pytest.raises(FormatError, match=f"encoding='{encoding}'"):
            read(path)
        assert describe(read(path, encoding=encoding)).edges == PATH


@pytest.mark.parametrize("corner", ["", "user"])
def test_matrix_of_two_sets_of_nodes(tmp_path: Path, corner: str) -> None:
    path = write(tmp_path, f"{corner},x,y,z\nann,1,0,2\nbob,0,1,\ncy,0,3,0\n")
    for take in (read, lambda path: ingest(path, tmp_path / "graph.grf")):
        with pytest.raises(InputError, match=r"names each row once.*bipartite=True"):
            take(path)
    graph = read(path, bipartite=True)
    assert graph.names.tolist() == ["ann", "bob", "cy", "x", "y", "z"]
    assert describe(graph).edges == {("ann", "x"): 1.0, ("ann", "z"): 2.0, ("bob", "y"): 1.0, ("cy", "y"): 3.0}
    with pytest.raises(FormatError, match=rf"{path.name}: this is an adjacency matrix.* write it as \.mtx or \.npz"):
        ingest(path, tmp_path / "graph.grf", bipartite=True)
    square = read(write(tmp_path, ",a,b,c\na,0,1,0\nb,1,0,1\nc,0,1,0\n"), bipartite=True)
    assert square.names.tolist() == ["a", "b", "c"] * 2


def test_archives_must_be_unpacked(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "edges.zip", "w") as archive:
        archive.writestr("edges.csv", "a,b\n")
    with pytest.raises(FormatError, match="this is a zip archive: unpack it"):
        read(tmp_path / "edges.zip")
