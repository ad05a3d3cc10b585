from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine import read
from graphrefine.errors import FormatError
from graphrefine.readers.small_table import read_table
from graphrefine.tables.sniff import read_rows
from graphrefine.tables.source import Source
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
        ("t.txt", '# about nodes\n\n% more\n"node" , note\n 7, "a b"\n\n8, c\n'),
        ("t.csv", "node|note\n7|a b\n8|c\n"),
        ("t.csv", "node,note\r7,a b\r8,c\r"),
        ("t.tsv", 'node\tnote\n"7"\t"a b"\n"8"\tc'),
        ("t", "\ufeffnode,note\n7,a b\n8,c\n"),
    ],
)
def test_text_of_any_layout_gives_the_same_columns(tmp_path: Path, name: str, text: str) -> None:
    expected = {"node": ["7", "8"], "note": ["a b", "c"]}
    assert read_table(table(tmp_path, name, text)).columns == expected
    assert read_table(table(tmp_path, f"{name}.gz", gzip.compress(text.encode()))).columns == expected


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("t.txt", "node  size\na \t 1\n", {"node": ["a"], "size": ["1"]}),
        ("t.csv", b"node,x\nJos\xe9,1\n", {"node": ["José"], "x": ["1"]}),
        ("t.csv", "# note\nnode,x\n#1,2\n%,3\n", {"node": ["#1", "%"], "x": ["2", "3"]}),
        ("t.csv", '"#a",#b\n1,2\n', {"#a": ["1"], "#b": ["2"]}),
        ("t.csv", 'a;"b,c"\nd;"e,f"\n', {"a": ["d"], "b,c": ["e,f"]}),
        ("t.csv", "a;b\nd;e,f\n", {"a": ["d"], "b": ["e,f"]}),
        ("t.txt", "a,b\tc\nd,e\tf\n", {"a,b": ["d,e"], "c": ["f"]}),
    ],
)
def test_columns(tmp_path: Path, name: str, content: str | bytes, columns: dict[str, list[str]]) -> None:
    assert read_table(table(tmp_path, name, content)).columns == columns


def test_a_quoted_field_may_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    text = 'node,note\na,"one, ""two""\nand, three"\nb,5" long\nc," kept "\n d , plain\n'
    people = read_table(table(tmp_path, "t.csv", text))
    assert people.columns["node"] == ["a", "b", "c", "d"]
    assert people.columns["note"] == ['one, "two"\nand, three', '5" long', " kept ", "plain"]
    assert read_rows(Source(tmp_path / "t.csv")).lines == [1, 2, 4, 5, 6]


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0", exclude_categories=["Cs"]), min_size=1)


@PATIENT
@given(names=st.lists(NAMES.filter(lambda name: name.strip() == name and name[0] not in "#%"), min_size=2, unique=True))
def test_names_meet_those_of_a_graph(tmp_path: Path, names: list[str]) -> None:
    """A name that an edge list and a table quote alike is one name."""
    cells = ['"' + name.replace('"', '""') + '"' for name in names]
    graph = read(table(tmp_path, "g.csv", "\n".join(f"{cells[0]},{cell}" for cell in cells[1:])), header=False)
    rows = read_rows(Source(table(tmp_path, "t.csv", "\n".join(f"{cell},1" for cell in cells)))).rows
    assert {fields[0] for fields in rows} == set(map(str, graph.names.tolist()))


def test_no_line_is_a_comment_where_that_is_passed(tmp_path: Path) -> None:
    path = table(tmp_path, "t.csv", "# note\nnode,x\n#1,2\n%,3\n")
    with pytest.raises(FormatError, match=r"line 2: 2 columns where the header has 1"):
        read_table(path, comments="")
    assert read_table(table(tmp_path, "t.csv", "#a,#b\n1,2\n"), comments="").columns == {"#a": ["1"], "#b": ["2"]}


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6) | st.text(
    "a\"'\r\n\t ,;|#%", max_size=6
)


@PATIENT
@given(
    rows=st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1),
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_what_the_csv_module_writes_is_read_back(
    tmp_path: Path, rows: list[list[str]], delimiter: str, end: str
) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=end).writerows(rows)
    source = Source(table(tmp_path, "t.tsv" if delimiter == "\t" else "t.csv", text.getvalue()))
    assert read_rows(source).rows == rows


@PATIENT
@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1))
def test_fields_without_quotes_are_those_of_the_csv_module(tmp_path: Path, rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    kept = [row for row in csv.reader(io.StringIO(text.getvalue(), newline="")) if row != [""]]
    read = read_rows(Source(table(tmp_path, "t.csv", "node,x\n" + text.getvalue()))).rows[1:]
    if any(";" in cell for row in rows for cell in row):
        return  # a second delimiter is a case of its own
    assert [[cell.strip(" \t") for cell in row] for row in read] == [
        [cell.strip(" \t") for cell in row] for row in kept
    ]


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
        ("t.csv", 'node,x\na,"1\nb,2\n', r"t\.csv, line 2: a quote is opened and never closed"),
        ("t.csv", 'node,x\nb,2\na,"1"2\n', r"t\.csv, line 3: characters follow the quote that closes a field"),
        ("t.csv", "node,x\na,1\n\nb\n", r"t\.csv, line 4: one column where the header has 2"),
        ("t.csv", '# a\r\n\r\nnode,x\r\n"a\r\n\nb",1\r\n\r\nc,"2"\r\nd\r\n', r"t\.csv, line 9: one column"),
        ("t.csv", "node,x\na,1,2\n", r"t\.csv, line 2: 3 columns where the header has 2"),
        ("t.csv", "x,x\na,1\n", r"t\.csv, line 1: duplicate name 'x'"),
        ("t.csv", b"a\0b", r"t\.csv: this looks like"),
        ("t.csv.xz", b"a,b", r"t\.csv\.xz: the name says \.xz"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, name: str, content: str | bytes, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        read_table(table(tmp_path, name, content))
