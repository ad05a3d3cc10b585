from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphrefine import read
from graphrefine.errors import AmbiguousTable, FormatError, InputError
from graphrefine.readers.labels import Labels, align, as_labels, is_missing, read_labels, texts_of_classes
from strategies import PATIENT

MEMBERSHIP = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
RECORDS = [("ann", "red"), ("ann", "blue"), ("bob", "red"), ("cleo", "green"), ("ann", "red")]
PAIRS = {("ann", "red"), ("ann", "blue"), ("bob", "red"), ("cleo", "green")}


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def pairs(labels: Labels) -> set[tuple[Any, str]]:
    """The (node, label) pairs that `labels` holds."""
    entries = labels.indicator.tocoo()
    names = labels.names.tolist()
    return {(names[row], labels.classes[column]) for row, column in zip(entries.row, entries.col, strict=True)}


def test_mat_group_sparse_and_dense(tmp_path: Path) -> None:
    for number, group in enumerate([sp.csc_matrix(MEMBERSHIP), MEMBERSHIP.astype(float)]):
        path = tmp_path / f"{number}.mat"
        scipy.io.savemat(path, {"group": group, "network": np.eye(4)})
        labels = read_labels(path)
        assert np.array_equal(labels.indicator.toarray(), MEMBERSHIP)
        assert labels.names.tolist() == [0, 1, 2, 3]
        assert labels.by_row
        assert labels.classes == ("0", "1", "2")


@pytest.mark.parametrize(
    ("name", "delimiter"),
    [("t.csv", ","), ("t.csv", ";"), ("t.tsv", "\t"), ("t.txt", " "), ("t", "\t"), ("t.txt", ", ")],
)
@pytest.mark.parametrize("header", ["", "node{}label\n", "# who{}what\n\n% and so on\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_tables(tmp_path: Path, name: str, delimiter: str, header: str, end: str) -> None:
    text = header.format(delimiter) + "\n".join(delimiter.join(record) for record in RECORDS)
    labels = read_labels(write(tmp_path, name, text.replace("\n", end)))
    assert pairs(labels) == PAIRS
    assert labels.classes == ("blue", "green", "red")
    assert not labels.by_row


def test_integer_nodes_and_labels_sort_as_numbers(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "t.txt", "10 2\n9 10\n10 1\n"))
    assert labels.names.dtype == np.int64
    assert labels.names.tolist() == [9, 10]
    assert labels.classes == ("1", "2", "10")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"007 spy\n7 number\n", {("007", "spy"), ("7", "number")}),
        (b"1 a\n9223372036854775808 b", {("1", "a"), ("9223372036854775808", "b")}),
        (b'\xef\xbb\xbf"Smith, Ann",red\nJos\xe9 B,dark blue\n', {("Smith, Ann", "red"), ("Jos\xe9 B", "dark blue")}),
        (b"sep=;\nann;r\nbob;b\n", {("ann", "r"), ("bob", "b")}),
        ("ann,r\nbob,b\n".encode("utf-16"), {("ann", "r"), ("bob", "b")}),
    ],
)
def test_names_and_encodings(tmp_path: Path, content: bytes, expected: set[tuple[str, str]]) -> None:
    labels = read_labels(write(tmp_path, "t.csv" if b" " not in content[:8] else "t.txt", content), header=False)
    assert pairs(labels) == expected


def names(*values: Any) -> Any:
    array = np.empty(len(values), dtype=object if isinstance(values[0], str) else np.int64)
    array[:] = values
    return array


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("title,area\n1,x\n2,y\n", True),  # numbers below
        ("title,area\nfoo,1\nbar,2\n", True),
        ("title,area\nn1,x\nn2,y\n", True),  # digits in all names below
        (",area\nfoo,x\nbar,y\n", True),  # as pandas writes an index
        ("title,class\nfoo,x\nbar,y\n", True),  # a usual word
        ("foo,x\nbar,x\n", False),  # a label that comes again
        ("foo,x\nbar,y\nfoo,z\n", False),  # a node that comes again
        ("7,x\nbar,y\n", False),  # columns are not called 7
        ("foo,x\n", False),
        ("title,area\nfoo,x\nbar,y\n", None),
        ("x1,a\n2,b\n3,c\n", None),
        ("0,1\nfoo,x\nbar,y\n", None),  # as pandas numbers columns
        ("node,x\nbar,x\n", None),  # a word against a value that comes again
    ],
)
def test_what_the_rows_say_of_a_header(tmp_path: Path, text: str, header: bool | None) -> None:
    path = write(tmp_path, "t.csv", text)
    if header is None:
        with pytest.raises(AmbiguousTable, match=r"t\.csv, line 1: ") as caught:
            read_labels(path)
        assert caught.value.argument == "header"
    else:
        labels = read_labels(path)
        assert pairs(labels) == pairs(read_labels(path, header=header))
        assert len(labels.names) + labels.repeated == len({line.split(",")[0] for line in text.split()[header:]})


@pytest.mark.parametrize(
    ("text", "known", "rows"),
    [
        ("wer,gruppe\na,x\nb,y\n", ("a", "b", "c"), 2),
        ("wer,gruppe\na,x\nb,y\n", ("a", "b", "wer"), 3),
        ("wer,gruppe\na,x\nb,y\n", ("a", "c"), None),  # one stranger below: neither reading fits
        ("node,label\na,x\nb,y\n", ("a", "b"), 2),
        ("node,label\na,x\nb,y\n", ("a", "b", "node"), None),
    ],
)
def test_the_names_of_the_nodes_decide_on_a_header(
    tmp_path: Path, text: str, known: tuple[str, ...], rows: int | None
) -> None:
    path = write(tmp_path, "t.csv", text)
    if rows is None:
        with pytest.raises(AmbiguousTable):
            read_labels(path, names=names(*known))
        return
    records = [line.split(",") for line in text.split()[3 - rows :]]
    for labels in (as_labels(path, names=names(*known)), read_labels(path, header=rows == 2)):
        assert pairs(labels) == {(node, label) for node, label in records}


WIDE = "id,name,year,label\n1,ann,7,x\n2,bob,8,y\n"
TURNED = "0 1\n0 2\n1 3\n"


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("label,node\nx,a\ny,b\n", {}, {("a", "x"), ("b", "y")}),
        ("year,label,id\n1999,x,a\n2001,y,b\n", {}, {("a", "x"), ("b", "y")}),
        ("x,a\nx,b\ny,c\n", {}, {("x", "a"), ("x", "b"), ("y", "c")}),
        ("x,a\nx,b\ny,c\n", {"names": names("a", "b", "c")}, {("a", "x"), ("b", "x"), ("c", "y")}),
        (WIDE, {"names": names("ann", "bob")}, {("ann", "x"), ("bob", "y")}),
        (WIDE, {"names": names(1, 2)}, {(1, "x"), (2, "y")}),
        (WIDE, {"node_column": "name", "label_column": "year"}, {("ann", "7"), ("bob", "8")}),
        (WIDE, {"node_column": 0, "label_column": "2"}, {(1, "7"), (2, "8")}),
        (WIDE, {"label_column": "area"}, "label_column"),
        (WIDE, {"label_column": "id", "node_column": "id"}, "label_column"),
        (WIDE, {}, "node_column"),  # id or name
        ("id,year,area\n1,7,x\n2,8,y\n", {}, "label_column"),
        ("id,number,label\n1,30,x\n2,31,y\n3,32,x\n", {"names": names(1, 30, 31, 32)}, "node_column"),
        ("1 0\n2 0\n3 1\n", {"names": np.arange(4)}, {(1, "0"), (2, "0"), (3, "1")}),  # the first of two
        (TURNED, {"names": np.arange(4)}, "node_column"),  # unless the second has more of the names
        (TURNED, {"names": np.arange(4), "node_column": 1}, {(1, "0"), (2, "0"), (3, "1")}),
        (TURNED.replace("0 1\n", "0 1\n0 4\n0 5\n"), {"names": np.arange(1, 6)}, {
            (1, "0"), (2, "0"), (4, "0"), (5, "0"), (3, "1"),
        }),
    ],
)  # fmt: skip
def test_which_columns_hold_nodes_and_labels(tmp_path: Path, text: str, options: Any, expected: Any) -> None:
    path = write(tmp_path, "t.txt" if " " in text else "t.csv", text)
    if isinstance(expected, str):
        with pytest.raises(FormatError) as caught:
            read_labels(path, **options)
        assert caught.value.argument == expected
    else:
        assert pairs(read_labels(path, **options)) == expected


def test_names_and_labels_keep_line_ends_marks_and_delimiters(tmp_path: Path) -> None:
    text = '# about\nnode,label\n#ai,"x, y"\n%b,"two\nlines"\n"#ai",z\n'
    labels = read_labels(write(tmp_path, "t.csv", text))
    assert pairs(labels) == {("#ai", "x, y"), ("#ai", "z"), ("%b", "two\nlines")}
    assert labels.manner == "1 line of comments, header, nodes 'node', labels 'label'"
    hidden = write(tmp_path, "h.csv", "#ai,x\nbob,y\ncy,y\n")
    assert pairs(read_labels(hidden)) == {("bob", "y"), ("cy", "y")}
    with pytest.raises(FormatError, match=r"a comment line begins with '#ai'"):
        read_labels(hidden, names=names("#ai", "bob", "cy"))


def test_empty_labels_and_repeated_records_are_counted(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "t.csv", "node,label\na,x\nb,\nc,nan\na,x\na,y\nzed,y\n"))
    assert pairs(labels) == {("a", "x"), ("a", "y"), ("zed", "y")}
    assert (labels.unlabeled, labels.repeated) == (2, 1)
    assert labels.describe(names("a", "b", "c")) == (
        f"{tmp_path / 't.csv'}, header, nodes 'node', labels 'label' (2 classes), 1 of 3 nodes labeled, 1 node with "
        "several labels, 1 labeled node unknown, 2 entries without a label, 1 entry repeated"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.json", '{"ann": ["red", "blue"], "bob": "red", "cleo": "green", "dan": null}'),
        ("t.json", '[{"node": "ann", "label": ["red", "blue"]}, {"node": "bob", "label": "red"},'
                   ' {"node": "cleo", "label": "green"}]'),
        ("t.jsonl", '{"id": "ann", "x": ["red", "blue"]}\n\n{"x": "red", "id": "bob"}\n{"id": "cleo", "x": "green"}\n'),
    ],
)  # fmt: skip
def test_json(tmp_path: Path, name: str, content: str) -> None:
    assert pairs(read_labels(write(tmp_path, name, content))) == PAIRS
    assert pairs(read_labels(write(tmp_path, f"{name}.gz", gzip.compress(content.encode())))) == PAIRS


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6) | st.text(
    "a\"'\r\n ,;|#%", max_size=6
)
TABLES = st.lists(st.tuples(CELLS, CELLS), min_size=1)


@PATIENT
@given(rows=TABLES.filter(lambda rows: all(node.strip() for node, _ in rows)))
def test_tables_that_the_csv_module_writes(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    """Awkward names, quotes, delimiters, line ends: the same mapping."""
    if not any(label.strip() and label not in ("nan", "NaN", "<NA>") for _, label in rows):
        return
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("node", "label"), *rows])
    kept = [row for row in rows if not is_missing(row[1])]
    expected = set(zip([node for node, _ in kept], texts_of_classes(label for _, label in kept), strict=True))
    assert {(str(node), label) for node, label in pairs(read_labels(tmp_path / "t.csv", header=True))} == expected


@pytest.mark.parametrize("name", ["nan", "NaN", "<NA>"])
def test_nodes_are_called_as_in_edge_lists(tmp_path: Path, name: str) -> None:
    """Also as pandas writes a missing value: npm has a package called nan."""
    graph = read(write(tmp_path, "edges.csv", f"source,target\n{name},ann\nann,bob\n"))
    path = write(tmp_path, "t.csv", f"node,community\n{name},1\nann,1\nbob,nan\n")
    for labels in (read_labels(path), read_labels(path, names=graph.names), as_labels({name: 1, "ann": 1})):
        assert pairs(labels) == {(name, "1"), ("ann", "1")}
        assert len(align(labels, graph.names, unlabeled="drop").order) == 2


@pytest.mark.parametrize(
    ("unlabeled", "order", "rows"),
    [("drop", "abd", [[1, 0], [0, 1], [1, 0]]), ("keep", "abcd", [[1, 0], [0, 1], [0, 0], [1, 0]])],
)
def test_labels_align_by_name(tmp_path: Path, unlabeled: Any, order: str, rows: list[list[int]]) -> None:
    labels, nodes = read_labels(write(tmp_path, "t.csv", "d,x\nb,y\na,x\nnobody,y\n")), names("c", "b", "a", "d")
    aligned = align(labels, nodes, unlabeled=unlabeled)
    assert "".join(nodes[aligned.order]) == order and aligned.missing == 1
    assert aligned.indicator.toarray().astype(int).tolist() == rows


def test_labels_that_do_not_fit_the_nodes(tmp_path: Path) -> None:
    table = read_labels(write(tmp_path, "t.csv", "n1,x\nn2,y\n"), header=False)
    scipy.io.savemat(tmp_path / "x.mat", {"group": MEMBERSHIP})
    matrix = read_labels(tmp_path / "x.mat")
    for labels, nodes, fact in (
        (table, np.arange(5), r"none of the 2 nodes of .*t\.csv .* 'n1', 'n2', .* 0, 1, 2, \.\.\.;"),
        (matrix, np.arange(5), "labels for 4 rows and the embedding has 5 nodes"),
        (matrix, names("a", "b", "c", "d"), "labels for 4 rows in order"),
        (matrix, names(1, 2, 3, 4), "labels for 4 rows in order"),
    ):
        with pytest.raises(InputError, match=fact):
            align(labels, nodes, unlabeled="drop")


@pytest.mark.parametrize(
    ("name", "content", "fact"),
    [
        ("x.mat", b"not a mat file, though longer than its header of 128 bytes " * 9, "not a readable file of labels"),
        ("x.mat", b"", r"x\.mat: the file is empty"),
        ("x.mat", {"network": np.eye(2)}, "no variable 'group'"),
        ("x.mat", {"group": np.array([[1, -1], [0, 1]])}, "values such as -1"),
        ("x.mat", {"group": np.array([[1, np.nan], [0, 1]])}, "values such as nan"),
        ("x.csv", "a\nb\n", "line 1: one column"),
        ("x.txt", "# note\na x\nb\n", "line 3: one column"),
        ("x.csv", "a,x\nb,x,y\n", "line 2: 3 columns"),
        ("x.csv", "a,x,y\nb,x,y\n", "line 1: 3 columns"),
        ("x.csv", "sep=;\nnode;label\nann;r\nbob\n", "line 4: one column"),
        ("x.csv", "a,x\n,x\n", "line 2: an empty node"),
        ("x.csv", "node,label\na,\nb,\n", "no entry has a label"),
        ("x.csv", "node,label\n", "no entry has a label"),
        ("x.csv", "node,label,label\na,x,y\n", "line 1: 3 columns"),
        ("x.json", '{"a": "x", "a": "y"}', "duplicate key 'a'"),
        ("x.json", "[1, 2]", "a mapping from nodes to labels is expected"),
        ("x.jsonl", '{"node": 1, "label": 2}\n{"label": 1}\n', "an empty node"),
        ("x.npy", b"\x93NUMPY but broken", "not a readable file of labels"),
        ("x.csv", "", "empty"),
        ("x.csv", "# only a comment\n", "nothing but comments"),
        ("x.csv", "<!doctype html>\n<p>404, not found</p>\n", "this is a web page"),
        ("x.csv", b"PAR1\0\0\0", "looks like a binary file"),
        ("x.csv.gz", gzip.compress(b"a,x\n" * 9000, mtime=0)[:-9], "damaged or cut short"),
        ("gone.csv", None, "no such file"),
        ("gone.mat", None, "no such file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: Any, fact: str) -> None:
    if isinstance(content, dict):
        scipy.io.savemat(tmp_path / name, content)
    elif content is not None:
        write(tmp_path, name, content)
    with pytest.raises(FormatError, match=fact) as caught:
        read_labels(tmp_path / name)
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["x.json", "x.npy", "x.mat", "x.jsonl", "x.parquet"])
@pytest.mark.parametrize("options", [{"header": True}, {"node_column": 0}, {"label_column": 0}])
def test_options_of_tables_are_refused_for_other_files(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    if name in ("x.jsonl", "x.parquet") and "header" not in options:
        return  # their columns have names
    path = write(tmp_path, name, '{"ann": "red"}')
    frame = pd.DataFrame({"node": ["ann", "bob"], "label": ["red", "blue"]})
    match name:
        case "x.npy":
            np.save(path, np.eye(3))
        case "x.mat":
            scipy.io.savemat(path, {"group": np.eye(3)})
        case "x.jsonl":
            frame.to_json(path, orient="records", lines=True)
        case "x.parquet":
            frame.to_parquet(path)
    assert len(read_labels(path).names) > 0
    with pytest.raises(FormatError) as caught:
        read_labels(path, **options)
    assert caught.value.argument == next(iter(options))


@pytest.mark.parametrize(
    ("labels", "fact"),
    [
        (np.zeros((2, 2, 2)), r"the shape is \(2, 2, 2\)"),
        (np.zeros((0, 3)), r"the shape is \(0, 3\)"),
        ([None, float("nan"), ""], "no entry has a label"),
        (np.array([["a", "b", "c"]]), "values such as 'a'"),
        (np.array([[0, 0.5, 1]]), r"values such as 0\.5"),
        ({"a", "b"}, "not set"),
        (7, "not int"),
        ([["a", "x"], ["b", "y"]], "two ways"),
        (["a", ["x", "y"]], "two ways"),
        ((["a", "b"], ["x"]), "2 nodes and 1 labels"),
        ({7: "x", "7": "y"}, "both written '7'"),
        ({None: "x"}, "an empty node"),
        ({"a": [["x"]]}, "a label is a text, a number or a truth value"),
    ],
)
def test_arrays_that_are_no_labels(labels: Any, fact: str) -> None:
    with pytest.raises(InputError, match=fact) as caught:
        as_labels(labels)
    assert caught.value.argument == "labels"


PEOPLE = np.array(["ann", "bob", "cy", "dan"], object)


def classes_of(labels: Any, names: Any) -> dict[str, str]:
    """Return the class of each labeled node."""
    given = as_labels(labels, names=names)
    aligned = align(given, names, unlabeled="drop")
    classes = np.array(given.classes)[aligned.indicator.toarray().argmax(axis=1)]
    return dict(zip(map(str, names[aligned.order]), classes.tolist(), strict=True))


@pytest.mark.parametrize("title", ["", "Unnamed: 0"])
def test_rows_that_are_counted_in_a_file(tmp_path: Path, title: str) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(f"{title},label\n0,r\n1,b\n2,r\n3,b\n")
    for names in (PEOPLE, np.arange(1, 5), np.arange(5)):
        with pytest.raises(FormatError, match=r"only counts the rows.*node_column=0"):
            classes_of(path, names)
    assert classes_of(path, np.arange(4)) == {"0": "r", "1": "b", "2": "r", "3": "b"}
    numbered = as_labels(path, names=np.arange(5), node_column=0)
    assert numbered.names.tolist() == [0, 1, 2, 3]


def test_classes_in_columns_of_a_frame_whose_rows_are_counted() -> None:
    frame = pd.DataFrame({"r": [1, 0, 1, 0], "b": [0, 1, 0, 1]})
    for names in (PEOPLE, np.arange(1, 5)):
        with pytest.raises(InputError, match=r"only counts the rows.*to_numpy\(\)"):
            classes_of(frame, names)
    assert classes_of(frame, np.array([3, 2, 1, 0]))["3"] == "b"  # by name
    assert classes_of(frame.to_numpy(), PEOPLE)["dan"] == "1"
    series = pd.Series(["r", "b", "r", "b"])
    with pytest.raises(InputError, match=r"to_dict\(\)"):
        classes_of(series, np.arange(5))
    assert classes_of(series.to_dict(), np.arange(5)) == {"0": "r", "1": "b", "2": "r", "3": "b"}


@pytest.mark.parametrize("word", ["NA", "NULL", "None", "null", "N/A", "#N/A", "\\N"])
def test_classes_written_like_no_value_are_told(word: str, tmp_path: Path) -> None:
    """They stay classes, as NA may be Namibia."""
    (tmp_path / "labels.csv").write_text(f"node,label\na,{word}\nb,x\nc,{word}\nd,\n")
    wanted = f"2 nodes of the class {word!r} (if that means no label, leave the field empty)"
    known = names("a", "b", "c", "d")
    frame = pd.DataFrame({"node": ["a", "b", "c", "d"], "label": [word, "x", word, None]})
    for labels in (read_labels(tmp_path / "labels.csv"), as_labels(frame), as_labels(frame.set_index("node")["label"])):
        assert set(labels.classes) == {word, "x"}
        assert wanted in labels.describe(known) and "1 entry without a label" in labels.describe(known)
