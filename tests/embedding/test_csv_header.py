"""Headers of csv files of others: which column holds the names, which the vectors, and what is told or refused."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from graphrefine import Embedding, load
from graphrefine.errors import ArgumentWarning, FormatError

VECTORS = np.array([[0.5, -2.0], [0.25, 3.0], [1.5, 0.125]], np.float32)
ANN = ["ann", "bob, b", 'the "c"']


def write(path: Path, text: str) -> Path:
    path.write_text(text, newline="")
    return path


def load_silently(path: Path) -> Embedding:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load(path)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node,v0,v1\n7,0.5,-2\n3,0.25,3\n9,1.5,0.125\n", [7, 3, 9]),
        ("\ufeffnode,v0,v1\r\n7,0.5,-2\r\n3,0.25,3\r\n9,1.5,0.125\r\n", [7, 3, 9]),
        ("v0,v1,node\n0.5,-2,7\n0.25,3,3\n1.5,0.125,9\n", [7, 3, 9]),
        ('dim_0,Name,dim_1\n0.5,ann,-2\n0.25,"bob, b",3\n1.5,"the ""c""",0.125\n', ANN),
        ("id;0;1\n7;0.5;-2\n3;0.25;3\n9;1.5;0.125\n", [7, 3, 9]),
        ("node,1,2\n7,0.5,-2\n3,0.25,3\n9,1.5,0.125\n", [7, 3, 9]),
        ('node\tv0\tv1\nann\t0.5\t-2\n"bob, b"\t0.25\t3\nthe "c"\t1.5\t0.125\n'.replace('the "c"', '"the ""c"""'), ANN),
        ("node|x|y\n7|0.5|-2\n3|0.25|3\n9|1.5|0.125\n", [7, 3, 9]),
        ('"node","v0","v1"\n"ann","0.5","-2"\n"bob, b","0.25","3"\n"the ""c""","1.5","0.125"\n', ANN),
        ('"","v0","v1"\n"ann",0.5,-2\n"bob, b",0.25,3\n"the ""c""",1.5,0.125\n', ANN),
        (",0,1\n7,0.5,-2\n3,0.25,3\n9,1.5,0.125\n", [7, 3, 9]),
        ("user,v0,v1\n7,0.5,-2\n3,0.25,3\n9,1.5,0.125\n", [7, 3, 9]),
        ("word,x,y\nann,0.5,-2\nbob,0.25,3\neve,1.5,0.125\n", ["ann", "bob", "eve"]),
    ],
)
def test_a_plain_header_is_read_without_a_word(text: str, names: list[object], tmp_path: Path) -> None:
    embedding = load_silently(write(tmp_path / "x.csv", text))
    assert embedding.names.tolist() == names
    assert embedding.vectors.tobytes() == VECTORS.tobytes()


@pytest.mark.parametrize(
    ("text", "names", "fact"),
    [
        (",node,v0,v1\n0,7,0.5,-2\n1,3,0.25,3\n2,9,1.5,0.125\n", [7, 3, 9], "'node'; left out: its column 1"),
        ("Unnamed: 0,id,x,y\n0,7,0.5,-2\n1,3,0.25,3\n2,9,1.5,0.125\n", [7, 3, 9], "left out: .*'Unnamed: 0'"),
        ("node,v0,v1,a,b\n7,0.5,-2,8,red\n3,0.25,3,8,\n9,1.5,0.125,8,red\n", [7, 3, 9], "left out: .*'a', 'b'"),
        ("v0,v1\n0.5,-2\n0.25,3\n1.5,0.125\n", [0, 1, 2], "numbered from 0"),
        ("V1,V2,V3\nann,0.5,-2\nbob,0.25,3\neve,1.5,0.125\n", ["ann", "bob", "eve"], "first column, 'V1'"),
        ("user,x,y\n7,0.5,-2\n3,0.25,3\n9,1.5,0.125\n", [7, 3, 9], "first column, 'user'"),
        ("x,node,id,y\n0.5,7,1,-2\n0.25,3,2,3\n1.5,9,3,0.125\n", [7, 3, 9], "'node'; left out: its column 'id'"),
    ],
)
def test_a_header_that_is_not_plain_is_noted(text: str, names: list[object], fact: str, tmp_path: Path) -> None:
    with pytest.warns(ArgumentWarning, match=fact) as caught:
        embedding = load(write(tmp_path / "x.csv", text))
    assert len(caught) == 1 and caught[0].filename == __file__
    assert embedding.names.tolist() == names
    assert embedding.vectors.tobytes() == VECTORS.tobytes()


def test_columns_of_two_series_and_very_many(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "node,v0,v1,a,b,c\nann,1,2,3,4,5\n")
    with pytest.warns(ArgumentWarning, match="'v0', 'v1', 'a', 'b', 'c' are all taken for coordinates"):
        assert load(path).vectors.tolist() == [[1, 2, 3, 4, 5]]
    path = tmp_path / "wide.csv"
    path.write_text("node," + ",".join(f"f{at}" for at in range(70_000)) + "\na,1\n")
    with pytest.raises(FormatError, match=r"line 1: its header has more than 65,536 columns"):
        load(path)
    path.write_text("node," + ",".join(f"v{at}" for at in range(70_000)) + "\na" + ",1" * 70_000 + "\n")
    assert load(path).dim == 70_000  # as graphrefine writes it


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("source,target,weight\na,1,2\nb,2,3\n", "line 1: its columns 'source', 'target' are those of a list of edges"),
        ("node,neighbor,score\n1,2,0.5\n2,1,0.5\n", "line 1: its columns 'node', 'neighbor' are those of a list"),
        ("node1,node2\n1,2\n2,3\n", "line 1: its columns 'node1', 'node2' are those of a list of edges"),
        ("v1,v2\n1,2\n1,3\n", "its numbers are names of nodes, as in a list of edges"),
        ("a,b,c\n1,2,3\n2,1,3\n", "its numbers are names of nodes, as in a list of edges"),
        ("x,y,z\n0.5,1,2\n0.25,1,2\n", "no column is called node.* the first, 'x', has numbers that may be names"),
        ("V1,V2,V3,V4\n7,0.5,1,1\n9,0.25,1,1\n", "no column is called node.*'V1', has numbers that may be names"),
        ("id,name,x\n1,ann,2\n", "line 1: has several columns that could name the nodes, 'id', 'name'; call one"),
        ("node,v0,v0\na,1,2\n", "line 1: two columns have one name, 'v0'; rename one"),
        ("names of nodes\nann\nbob\n", "line 1: has no column of numbers, only 'names of nodes'"),
        ("0,1,2\n0.5,1,2\n", "line 1: holds numbers where the header"),
        ("node,v0\na,1_0\nb,2\n", "line 2: '1_0' is not a number, in its column 'v0'"),
        ("node,v0,v1\na,1,\n", "line 2: '' is not a number, in its column 'v1'"),
        ("node;v0;v1\na;0,5;1\n", "line 2: '0,5' is not a number, in its column 'v0'; write decimals with a point"),
        ('v0,node\n1,"a\nb"\n2,c\n3,d,4\n', "line 5: 3 fields where its header has 2"),
        ('v0,node\n1,a\n2,"b', "line 3: .*cut short"),
        ("v0,node\n1,a\n2,b", "line 3: .*cut short"),
        ('"node,v0\na,1\n', "line 1: is not a whole header"),
    ],
)
def test_what_cannot_be_understood_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=rf"x\.csv.*{problem}"):
        load_silently(write(tmp_path / "x.csv", text))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node,a,b\n2,0,0\n1,1,1\n", [2, 1]),  # numbers that are names too, where the header names the nodes
        ("id,x,y\n1,0.5,1\n2,1,2\n", [1, 2]),
        ("id,x\n1,10\n2,20\n", [1, 2]),
        ("id,x,y,z\n1,2,1,1\n2,1,1,1\n", [1, 2]),
        ('x,node\n1,"7"\n2,"3"\n', ["7", "3"]),  # quotes make strings, wherever the column is
        ('note,v0,node\n"1,2",1,7\n"3",2,3\n', [7, 3]),
    ],
)
def test_names_and_numbers_are_told_apart(text: str, names: list[object], tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a column is left out
        assert load(write(tmp_path / "x.csv", text)).names.tolist() == names
