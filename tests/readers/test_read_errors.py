"""Bad input fails with one message that names the file, the line where there is one, and the way out."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from graphrefine.errors import FormatError, InputError
from graphrefine.readers.read import read


def refused(path: Path, problem: str, **options: Any) -> None:
    """Reading fails, and the message is the file followed by the problem."""
    with pytest.raises(FormatError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path)), message
    assert re.search(problem, message.removeprefix(str(path))), message
    assert caught.value.__cause__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("edges.txt", "", "^: the file is empty"),
        ("edges.txt", "\n\n  \n", "only blank lines or comments"),
        ("edges.txt", "# nothing\n% here\n", "only blank lines or comments"),
        ("edges.txt", "source,target\n", "no edge"),
        ("edges.txt", "1 1\n2 2\n", "no edge in the graph but 2 self-loops"),
        ("edges.txt", "1\t2\n3\n", "^, line 2: there is 1 column .*where 2 are needed: '3'"),
        ("edges.txt", "lonely\n", "^, line 1: an edge needs two columns, and there is 1"),
        ("edges.txt", "# x\n1 2\n\n3\n", "^, line 4: there is 1 column"),
        ("edges.txt", "1 2\n#3 4\n", "^, line 2: the line begins as a comment does.*comments='#'.*comments=''"),
        ("graph.csv", "1,2\n# 3,4\n", "^, line 2: the line begins as a comment does.*comments='#'.*comments=''"),
        ("edges.txt", "1 2\nNew York Boston\n", "^, line 2: there are 3 columns .*where the first record has 2"),
        ("edges.txt", "1 2 0.5\n2 3 x\n", "^, line 2: weight 'x' is not a number"),
        ("edges.txt", "1 2 3 4\n1 2 3 4\n", "^, line 1: there are 4 columns without names"),
        ("graph.csv", "", "^: the file is empty"),
        ("graph.csv", "\n \n", "^: there is no edge in the file"),
        ("graph.csv", "# nothing\n% at all\n", "^: there is no edge in the file.*comments"),
        ("graph.csv", "source,target\n", "no edge"),
        ("graph.csv", "a,a\nb,b\n", "^: there is no edge in the graph.*2 self-loops"),
        ("graph.csv", "a\nb\n", "^, line 1: .*two columns, and there is 1"),
        ("graph.csv", "a,b\nc\n", "^, line 2: there is 1 column.*where 2 are needed"),
        ("graph.csv", "# x\na,b\nc,d\n\ne\n", "^, line 5: there is 1 column"),
        ("graph.csv", "a,b,1\nc,d,many\n", "^, line 2: weight 'many' is not a number.*weights=False"),
        ("graph.csv", "1,2,many\n2,3,1\n3,4,2\n", "^, line 1: weight 'many' is not a number"),
        ("graph.csv", "a,b,1\nc,d,-2\n", "^, line 2: weight '-2' is negative.*must be positive"),
        ("graph.csv", "a,b,1\nc,d,nan\n", "^, line 2: weight 'nan' is not a finite"),
        ("graph.csv", "a,b,NaN\nc,d,1\n", "^, line 1: weight 'NaN' is not a finite"),
        ("graph.csv", "a,b,1\nc,d,inf\n", "^, line 2: weight 'inf' is not a finite"),
        ("graph.csv", "a,b,1\nc,d,-Infinity\n", "^, line 2: weight '-Infinity' is negative"),
        ("graph.csv", "a,b,1\nc,d,1e40\n", "^, line 2: weight '1e40' is not a finite float32"),
        ("graph.csv", "u,v,weight\na,b,1\nc,d,\n", "^, line 3: weight '' is not a number"),
        ("graph.csv", "a,b,c,d\na,b,c,d\n", "^, line 1: there are 4 columns.*pass .*source=, target= and weights="),
    ],
)
def test_bad_text(tmp_path: Path, name: str, text: str, problem: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    refused(path, problem)


@pytest.mark.parametrize(
    ("weight", "problem"),
    [
        ("x", "weight 'x' is not a number"),
        ("", "weight '' is not a number"),
        ("-1", "weight '-1' is negative"),
        ("-inf", "weight '-inf' is negative"),
        ("nan", "weight 'nan' is not a finite"),
        ("inf", "weight 'inf' is not a finite"),
        ("1e39", "weight '1e39' is not a finite float32"),
        ("1e999", "weight '1e999' is not a finite float32"),
        ("1,5", "there are 4 columns"),
    ],
)
@pytest.mark.parametrize("name", ["1", "one"])
def test_bad_weights_name_their_line(tmp_path: Path, weight: str, problem: str, name: str) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"source,target,weight\n{name},2,1\n# note\n2,3,{weight}\n3,4,-7\n")
    refused(path, f"^, line 4: {problem}", comments="#")


def test_bad_weights_beyond_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("".join(f"{i} {i + 1} 2\n" for i in range(30_000)) + "1 2 zero\n")
    refused(path, "^, line 30001: weight 'zero' is not a number", threads=2)


@pytest.mark.parametrize("weight", ["many", "-1", "nan", "inf"])
def test_a_bad_weight_far_into_the_file(tmp_path: Path, weight: str) -> None:
    path = tmp_path / "graph.txt"
    path.write_text("".join(f"{i} {i + 1} 0.5\n" for i in range(5000)) + f"7 9 {weight}\n")
    refused(path, f"^, line 5001: weight '{weight}'")


def test_missing_files_and_folders(tmp_path: Path) -> None:
    refused(tmp_path / "none.txt", "there is no such file")
    refused(tmp_path / "none.mat", "there is no such file")
    refused(tmp_path, "this is a folder")


def test_unknown_suffixes_and_formats(tmp_path: Path) -> None:
    path = tmp_path / "edges.doc"
    path.write_text("1 2\n")
    refused(path, r"the suffix '.doc' is not known; known are .txt .*\.csv .*\.parquet .*format=\"text\"")
    with pytest.raises(InputError, match="format='doc' is not known; the formats are text, csv"):
        read(path, format="doc")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"weights": "cost"}, "there is no column 'cost'; the columns are 'a', 'b'"),
        ({"source": 9}, "there is no column 9; positions go from 0 to 1"),
        ({"source": 1, "target": 1}, "source and target are the same column"),
        ({"weights": "a"}, "the weights cannot be column 'a': that is an end"),
    ],
)
def test_unknown_columns(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("a,b\n1,2\n2,3\n")
    refused(path, f"^, line 1: {problem}", **options)


def test_options_that_make_no_sense(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("1,2\n")
    refused(path, "delimiter='x' must be one character", delimiter="x")
    refused(path, "quote='ab' must be one character", quote="ab")
    refused(path, "there is no encoding 'klingon'", encoding="klingon")
    path.write_bytes(b"1,2\n\xff,3\n")
    refused(path, "^, line 2: the text is not utf-8", encoding="utf-8")
    with pytest.raises(InputError, match="variable= does not apply to a csv file; it takes"):
        read(path, variable="x")
    refused(tmp_path / "none", "there is no such file", nodes=3)
    with pytest.raises(FormatError, match=r"nodes\.txt: there is no such file"):
        read(path, nodes=tmp_path / "nodes.txt")


def test_binary_files_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "edges.txt"
    path.write_bytes(bytes(range(256)))
    refused(path, "looks like a binary file")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_damaged_and_mislabeled_compression(tmp_path: Path, suffix: str) -> None:
    data = "".join(f"{i} {i * 7919 % 1000}\n" for i in range(5000)).encode()
    if suffix == ".zst":
        packed = pytest.importorskip("pyarrow").compress(data, codec="zstd", asbytes=True)
    else:
        pack: Any = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[suffix]
        packed = pack.compress(data)
    path = tmp_path / f"edges.txt{suffix}"
    for size in (len(packed) // 2, len(packed) - 3):
        path.write_bytes(packed[:size])
        refused(path, f"the {suffix[1:]} data is damaged or cut short")
    path.write_bytes(data)
    refused(path, f"the name says {suffix}, but the content is something else")
    path.write_bytes(b"")
    refused(path, "the file is empty")


def test_truncated_gzip(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f"{i} {i + 1}\n" for i in range(1000)).encode())
    path = tmp_path / "graph.txt.gz"
    for end in (len(whole) // 2, len(whole) - 1, 5):
        path.write_bytes(whole[:end])
        refused(path, "^: the gz data is damaged")


def test_a_name_that_promises_gzip(tmp_path: Path) -> None:
    path = tmp_path / "graph.csv.gz"
    path.write_text("a,b\n")
    refused(path, "^: the name says .gz, but the content")


def test_mat_without_the_variable_lists_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    for compressed in (True, False):
        scipy.io.savemat(path, {"group": np.eye(2), "A": np.eye(2)}, do_compression=compressed)
        refused(path, "there is no variable 'network'; the variables are 'group', 'A'; pass variable=")
        refused(path, "there is no variable 'B'", variable="B")
    scipy.io.savemat(path, {"network": "text"})
    refused(path, "the variable 'network' is not a matrix of numbers")


@pytest.mark.parametrize(
    ("name", "matrix", "problem", "options"),
    [
        ("a", np.ones((2, 3)), "must be square, not 2 x 3", {}),
        ("a", np.array([[0, 1j], [1, 0]]), "must hold real numbers, not complex", {}),
        ("a", np.array([[0, -1.0], [1, 0]]), "weight -1.0 is not allowed", {}),
        ("a", np.array([[0, np.inf], [1, 0]]), "weight inf is not allowed", {}),
        ("a", np.eye(3), "no edge in the graph but 3 self-loops", {}),
        ("graph", np.eye(3, 4, k=1), "must be square, not 3 x 4", {}),
        ("graph", np.diag([1, -1.0], k=1), "weight -1.0 is not allowed.*not negative", {}),
        ("graph", np.diag([1, np.nan], k=1), "weight nan is not allowed.*finite", {}),
        ("graph", np.zeros((3, 3)), "there is no edge", {}),
        ("graph", np.eye(3, k=1), "a matrix holds its own weights.*weights=False", {"weights": "w"}),
    ],
)
@pytest.mark.parametrize("suffix", [".mat", ".mtx", ".npz"])
def test_bad_matrices(
    tmp_path: Path, suffix: str, name: str, matrix: Any, problem: str, options: dict[str, Any]
) -> None:
    path = save_matrix(tmp_path / f"{name}{suffix}", matrix)
    refused(path, f"^(, line [0-9]+)?: .*{problem}", **options)


def save_matrix(path: Path, matrix: Any) -> Path:
    sparse = sp.csc_array(matrix)
    if path.suffix == ".mat":
        scipy.io.savemat(path, {"network": sparse}, do_compression=True)
    elif path.suffix == ".mtx":
        scipy.io.mmwrite(path, sparse)
    else:
        sp.save_npz(path, sparse)
    return path


@pytest.mark.parametrize("suffix", ["mat", "mtx", "npz", "parquet", "arrow", "graphml", "metis"])
def test_damaged_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"graph.{suffix}"
    path.write_bytes(b"this is something else\n" * 20)
    refused(path, "")


def test_pickles_in_npz_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    sp.save_npz(path, sp.csr_array(np.array([[0, 1.0], [1, 0]])))
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    pickled = io.BytesIO()
    np.save(pickled, np.array([print, None], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**members, "data.npy": pickled.getvalue()}.items():
            archive.writestr(name, content)
    refused(path, "Object arrays cannot be loaded")


def test_damaged_tables(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")

    table = pa.table({"u": [1, 2, 3], "v": [2, 3, 4], "weight": [1.0, -2.0, 1.0]})
    path = tmp_path / "a.parquet"
    pa.parquet.write_table(table, path)
    refused(path, "record 2: weight -2.0")
    refused(path, "there is no column 'x'; the columns are 'u', 'v', 'weight'", source="x")
    pa.parquet.write_table(pa.table({"u": [1, 2]}), path)
    refused(path, "an edge needs two columns, and there is 1")
    pa.parquet.write_table(pa.table({"u": [True], "v": [False]}), path)
    refused(path, "ids must be integers or strings, not bool")
    path.write_bytes(path.read_bytes()[:-20])
    refused(path, "not a readable parquet file")
    path = tmp_path / "a.arrow"
    path.write_bytes(b"ARROW1 but broken")
    refused(path, "not a readable Arrow file")


def test_text_is_offered_for_text_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.doc"
    path.write_bytes(b"\xd0\xcf\x11\xe0\0\0\0")
    refused(path, "the suffix '.doc' is not known;.*the content is not text")
