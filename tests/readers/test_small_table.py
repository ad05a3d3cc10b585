from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine import read
from graphrefine.errors import FormatError
from graphrefine.readers.small_table import read_records, read_table
from graphrefine.readers.source import Source
from strategies import PATIENT


def table(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "node,note\n7,a b\n8,c\n"),
        ("t.csv", "node;note\r\n7;a b\r\n8;c"),
        ("t.tsv", "node\tnote\n7\ta b\n8\tc\n"),
        ("t.txt", '# about nodes\n\n"node" , note\n 7, "a b"\n% done\n8, c\n'),
        ("t", "\ufeffnode,note\n7,a b\n8,c\n"),
    ],
)
def test_text_of_any_layout_gives_the_same_columns(tmp_path: Path, name: str, text: str) -> None:
    expected = {"node": ["7", "8"], "note": ["a b", "c"]}
    assert read_table(table(tmp_path, name, text)).columns == expected
    assert read_table(table(tmp_path, f"{name}.gz", gzip.compress(text.encode()))).columns == expected


def test_columns_of_blanks_and_of_foreign_bytes(tmp_path: Path) -> None:
    assert read_table(table(tmp_path, "t.txt", "node  size\na \t 1\n")).columns == {"node": ["a"], "size": ["1"]}
    assert read_table(table(tmp_path, "t.csv", b"node,x\nJos\xe9,1\n")).columns["node"] == ["José"]


def test_a_quoted_field_may_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    text = 'node,note\na,"one, ""two""\nand, three"\nb,5" long\nc,"open\nd,plain\n'
    people = read_table(table(tmp_path, "t.csv", text))
    assert people.columns["node"] == ["a", "b", "c", "d"]
    assert people.columns["note"] == ['one, "two"\nand, three', '5" long', '"open', "plain"]
    assert people.lines == [2, 4, 5, 6]
    assert str(people.error("is odd", record=1)) == f"{tmp_path / 't.csv'}, line 4: is odd"


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0", exclude_categories=["Cs"]), min_size=1)


@PATIENT
@given(names=st.lists(NAMES.filter(lambda name: name.strip() == name and name[0] not in "#%"), min_size=2, unique=True))
def test_names_meet_those_of_a_graph(tmp_path: Path, names: list[str]) -> None:
    """A name that an edge list and a table quote alike is one name."""
    cells = ['"' + name.replace('"', '""') + '"' for name in names]
    graph = read(table(tmp_path, "g.csv", "\n".join(f"{cells[0]},{cell}" for cell in cells[1:])), header=False)
    records = list(read_records(Source(table(tmp_path, "t.csv", "\n".join(f"{cell},1" for cell in cells)))))
    assert {fields[0] for _, fields in records} == set(map(str, graph.names.tolist()))


def test_comments_can_be_names(tmp_path: Path) -> None:
    path = table(tmp_path, "t.csv", "node,x\n#1,2\n")
    assert read_table(path).columns == {"node": [], "x": []}
    assert read_table(path, comments="").columns == {"node": ["#1"], "x": ["2"]}


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_parquet_and_arrow_as_strings(tmp_path: Path, name: str) -> None:
    pa: Any = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    columns = {"id": [1, 2], "x": [0.1, None], "near": [[1], [2]], "on": [True, False]}
    if name.endswith("parquet"):
        pa.parquet.write_table(pa.table(columns), tmp_path / name)
    else:
        with pa.ipc.new_file(tmp_path / name, pa.table(columns).schema) as sink:
            sink.write_table(pa.table(columns))
    people = read_table(tmp_path / name)
    assert people.columns == {"id": ["1", "2"], "x": ["0.1", ""], "on": ["True", "False"]}
    assert people.node_column == "id"
    (tmp_path / name).write_bytes(b"PAR1 or ARROW1, but broken")
    with pytest.raises(FormatError, match=rf"{name}: this is not a readable"):
        read_table(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.csv", "", r"t\.csv: the file is empty; a header is expected"),
        ("t.csv", "# nothing\n", r"t\.csv: the file is empty; a header is expected"),
        ("t.csv", "node,x\na,1\n\nb\n", r"t\.csv, line 4: one column where the header has 2"),
        ("t.csv", "node,x\na,1,2\n", r"t\.csv, line 2: 3 columns where the header has 2"),
        ("t.csv", "x,x\na,1\n", r"t\.csv, line 1: two columns have one name"),
        ("t.csv", b"a\0b", r"t\.csv: this is not a text file"),
        ("t.csv.xz", b"a,b", r"t\.csv\.xz: the name says \.xz"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, name: str, content: str | bytes, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read_table(table(tmp_path, name, content))
