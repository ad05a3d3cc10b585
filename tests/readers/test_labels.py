from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from graphrefine.errors import FormatError, InputError
from graphrefine.readers.labels import Labels, align, as_labels, read_labels

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


def test_mat_with_one_class_number_a_node(tmp_path: Path) -> None:
    path = tmp_path / "y.mat"
    scipy.io.savemat(path, {"y": np.array([5, 7, 5, 9])})
    labels = read_labels(path, variable="y")
    assert pairs(labels) == {(0, "5"), (1, "7"), (2, "5"), (3, "9")}


def test_stored_zeros_are_no_labels() -> None:
    matrix = sp.csr_matrix((np.array([1.0, 0.0]), (np.array([0, 1]), np.array([0, 0]))), shape=(2, 1))
    assert matrix.nnz == 2
    assert as_labels(matrix).indicator.nnz == 1


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


def zstd(data: bytes) -> bytes:
    packed: bytes = pytest.importorskip("pyarrow").compress(data, codec="zstd", asbytes=True)
    return packed


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress), (".zst", zstd)]
)
def test_compressed_tables(tmp_path: Path, suffix: str, pack: Any) -> None:
    text = "\n".join(",".join(record) for record in RECORDS)
    assert pairs(read_labels(write(tmp_path, "t.csv" + suffix, pack(text.encode())))) == PAIRS


def test_compressed_mat_files(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "x.mat", {"group": MEMBERSHIP})
    packed = write(tmp_path, "x.mat.gz", gzip.compress((tmp_path / "x.mat").read_bytes()))
    assert np.array_equal(read_labels(packed).indicator.toarray(), MEMBERSHIP)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_parquet_and_arrow_tables(tmp_path: Path, name: str) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("pyarrow.feather")

    nodes, labels = zip(*RECORDS, strict=True)
    table = pa.table({"near": [[1]] * len(nodes), "year": [1999] * len(nodes), "label": labels, "node": nodes})
    write_table = pa.parquet.write_table if name.endswith("parquet") else pa.feather.write_feather
    write_table(table, tmp_path / name)
    assert pairs(read_labels(tmp_path / name)) == PAIRS
    write_table(pa.table({"node": [1, None], "label": ["a", "b"]}), tmp_path / name)
    with pytest.raises(FormatError, match=rf"{name}: an empty node or label"):
        read_labels(tmp_path / name)


def test_integer_nodes_and_labels_sort_as_numbers(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "t.txt", "10 2\n9 10\n10 1\n"))
    assert labels.names.dtype == np.int64
    assert labels.names.tolist() == [9, 10]
    assert labels.classes == ("1", "2", "10")


def test_names_that_only_look_like_numbers_stay_text(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "t.txt", "007 spy\n7 number\n"))
    assert pairs(labels) == {("007", "spy"), ("7", "number")}
    labels = read_labels(write(tmp_path, "n.txt", "\n".join(["1 a", "9223372036854775808 b"])))
    assert pairs(labels) == {("1", "a"), ("9223372036854775808", "b")}


def test_quotes_spaces_bom_and_foreign_bytes(tmp_path: Path) -> None:
    content = b'\xef\xbb\xbf"Smith, Ann",red\nJos\xe9 B,dark blue\n'
    labels = read_labels(write(tmp_path, "t.csv", content))
    assert pairs(labels) == {("Smith, Ann", "red"), ("José B", "dark blue")}


def test_a_header_is_known_by_its_words_or_by_integer_nodes(tmp_path: Path) -> None:
    assert pairs(read_labels(write(tmp_path, "a.csv", "who,team\n1,x\n2,y\n"))) == {(1, "x"), (2, "y")}
    assert pairs(read_labels(write(tmp_path, "b.csv", "who,group\na,x\nb,y\n"))) == {("a", "x"), ("b", "y")}
    plain = write(tmp_path, "c.csv", "who,team\na,x\n")
    assert pairs(read_labels(plain)) == {("who", "team"), ("a", "x")}
    assert pairs(read_labels(plain, header=True)) == {("a", "x")}
    assert pairs(read_labels(write(tmp_path, "d.csv", "a,label\nb,y\n"), header=False)) == {
        ("a", "label"),
        ("b", "y"),
    }


def test_a_wider_table_is_read_by_its_header(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "year,label,id\n1999,x,a\n2001,y,b\n")
    assert pairs(read_labels(path)) == {("a", "x"), ("b", "y")}


def test_labels_align_by_name_in_an_order_of_their_own(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "t.csv", "d,x\nb,y\na,x\nnobody,y\n"))
    names = np.array(["c", "b", "a", "d"], dtype=object)
    dropped = align(labels, names, unlabelled="drop")
    assert names[dropped.order].tolist() == ["a", "b", "d"]
    assert dropped.indicator.toarray().astype(int).tolist() == [[1, 0], [0, 1], [1, 0]]
    assert dropped.missing == 1
    whole = align(labels, names, unlabelled="keep")
    assert names[whole.order].tolist() == ["a", "b", "c", "d"]
    assert whole.indicator.toarray().astype(int).tolist() == [[1, 0], [0, 1], [0, 0], [1, 0]]


def test_integer_labels_meet_text_names(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "t.csv", "7,x\n8,y\n"))
    names = np.array(["8", "007", "7"], dtype=object)
    aligned = align(labels, names, unlabelled="drop")
    assert names[aligned.order].tolist() == ["7", "8"]
    assert aligned.indicator.toarray().astype(int).tolist() == [[1, 0], [0, 1]]


def test_matrix_rows_follow_integer_names_in_any_order() -> None:
    aligned = align(as_labels(MEMBERSHIP), np.array([3, 0, 2, 1]), unlabelled="drop")
    assert aligned.order.tolist() == [1, 3, 0]
    assert np.array_equal(aligned.indicator.toarray(), MEMBERSHIP[[0, 1, 3]])


def test_no_common_name_shows_names_of_both(tmp_path: Path) -> None:
    labels = read_labels(write(tmp_path, "t.csv", "n1,x\nn2,y\n"))
    with pytest.raises(InputError, match=r"none of the 2 nodes of .*t\.csv .* 'n1', 'n2', .* 0, 1, 2, \.\.\.;"):
        align(labels, np.arange(5), unlabelled="drop")


def test_matrix_labels_need_a_row_a_node_and_numbered_nodes() -> None:
    labels = as_labels(MEMBERSHIP)
    with pytest.raises(InputError, match="labels for 4 rows and the embedding has 5 nodes"):
        align(labels, np.arange(5), unlabelled="drop")
    for names in (np.array(["a", "b", "c", "d"], dtype=object), np.array([1, 2, 3, 4])):
        with pytest.raises(InputError, match=r"rows 0 to 3 and the embedding calls its nodes .* as a table"):
            align(labels, names, unlabelled="drop")


def test_mat_without_the_variable_lists_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "x.mat"
    scipy.io.savemat(path, {"network": np.eye(2), "truth": np.eye(2)})
    with pytest.raises(
        FormatError, match=r"x\.mat: there is no variable 'group'; the variables are 'network', 'truth'"
    ):
        read_labels(path)


@pytest.mark.parametrize("group", [np.array([[1, -1], [0, 1]]), np.array([[1, np.nan], [0, 1]])])
def test_mat_with_values_that_are_no_membership(tmp_path: Path, group: Any) -> None:
    path = tmp_path / "x.mat"
    scipy.io.savemat(path, {"group": group})
    with pytest.raises(FormatError, match=r"x\.mat: variable 'group': 0 .* and 1 .* are expected, not negative"):
        read_labels(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "x.mat",
            b"not a mat file, though longer than its header of 128 bytes " * 9,
            "not a readable MATLAB file",
        ),
        ("x.mat", b"", r"x\.mat: the file is empty; a matrix 'group' is expected"),
        ("x.mat", b"MATLAB 7.3 MAT-file" + bytes(200), r"x\.mat: .* version 7\.3 .* '-v7'"),
        ("x.csv", "a\nb\n", r"x\.csv, line 1: one column \('a'\) where a node and a label are expected"),
        ("x.txt", "# note\na x\nb\n", r"x\.txt, line 3: one column where the first line has 2"),
        ("x.csv", "a,x\nb,x,y\n", r"line 2: 3 columns where the first line has 2"),
        ("x.csv", "a,x,y\nb,x,y\n", r"line 1: 3 columns where a node and a label are expected; keep two"),
        ("x.csv", "a,x\nb,\n", "line 2: an empty node or label"),
        ("x.csv", "", "empty; a node and a label are expected"),
        ("x.csv", "# only a comment\n", "empty; a node and a label are expected"),
        ("x.csv", "node,label\n", "nothing after the header"),
        ("x.csv", b"PAR1\0\0\0", "not a text file"),
        ("x.csv.gz", gzip.compress(b"a,x\n" * 9000, mtime=0)[:-9], "damaged or cut short"),
        ("x.csv.gz", b"a,x\n", "the name says .gz, but the content is something else"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_labels(write(tmp_path, name, content))


@pytest.mark.parametrize("name", ["gone.csv", "gone.mat"])
def test_a_file_that_is_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match=rf"{name}: there is no such file"):
        read_labels(tmp_path / name)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.zeros((2, 2, 2)), "one or two dimensions are expected, not 3"),
        (np.zeros((0, 3)), "a row for each node is expected"),
        (["a", None], "a number or a string is expected for each node"),
        ([1.0, float("nan")], "a label is NaN"),
        (np.array([["a", "b"]]), "not values of type"),
    ],
)
def test_arrays_that_are_no_labels(labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_labels(labels)
