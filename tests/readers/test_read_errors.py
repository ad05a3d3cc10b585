"""Bad input fails with one message that names the file, the line where there is one, and what can be done."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp

from graphrefine.errors import FormatError
from graphrefine.readers.read import read


def refused(path: Path, problem: str, **options: Any) -> None:
    """Reading fails, and the message is the file followed by the problem."""
    with pytest.raises(FormatError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path)), message
    assert re.search(problem, message.removeprefix(str(path))), message
    assert caught.value.__cause__ is None or caught.value.__suppress_context__


LONG = "".join(f"{i} {i + 1} 2\n" for i in range(30_000))


@pytest.mark.parametrize(
    ("name", "text", "options", "problem"),
    [
        ("e.txt", "", {}, "^: the file is empty"),
        ("e.txt", "\n\n  \n", {}, "only blank lines or comments"),
        ("e.csv", "# nothing\n% at all\n", {}, "^: there is no edge in the file.*comments"),
        ("e.csv", "source,target\n", {}, "no edge"),
        ("e.csv", "a,a\nb,b\n", {}, "^: there is no edge in the graph.*2 self-loops"),
        ("e.txt", "1\t2\n3\n", {}, "^, line 2: there is 1 column .*where 2 are needed: '3'"),
        ("e.txt", "lonely\n", {}, "^, line 1: an edge needs two columns, and there is 1"),
        ("e.csv", "# x\na,b\nc,d\n\ne\n", {}, "^, line 5: there is 1 column"),
        ("e.csv", "1,2\n# 3,4\n", {}, "^, line 2: the line begins as a comment does.*comments='#'.*comments=''"),
        ("e.txt", "1 2\nNew York Boston\n", {}, "^, line 2: there are 3 columns .*where the first record has 2"),
        ("e.csv", "a,b,c,d\na,b,c,d\n", {}, "^, line 1: there are 4 columns.*pass .*source=, target= and weights="),
        ("e.csv", "1,2,many\n2,3,1\n3,4,2\n", {}, "^, line 1: weight 'many' is not a number"),
        ("e.csv", "a,b,NaN\nc,d,1\n", {}, "^, line 1: weight 'NaN' is not a finite"),
        ("e.txt", LONG + "1 2 zero\n", {"threads": 2}, "^, line 30001: weight 'zero' is not a number"),
        ("e.csv", "a,b\n1,2\n2,3\n", {"weights": "cost"}, "^, line 1: there is no column 'cost'; the columns are"),
        ("e.csv", "a,b\n1,2\n2,3\n", {"source": 9}, "^, line 1: there is no column 9; positions go from 0 to 1"),
        ("e.csv", "a,b\n1,2\n2,3\n", {"source": 1, "target": 1}, "source and target are the same column"),
        ("e.csv", "a,b\n1,2\n2,3\n", {"weights": "a"}, "the weights cannot be column 'a'"),
        ("e.csv", "1,2\n", {"delimiter": "x"}, "delimiter='x' must be one character"),
        ("e.csv", "1,2\n", {"quote": "ab"}, "quote='ab' must be one character"),
        ("e.csv", "1,2\n", {"encoding": "klingon"}, "there is no encoding 'klingon'"),
        ("e.csv", b"1,2\n\xff,3\n", {"encoding": "utf-8"}, "^, line 2: the text is not utf-8"),
        ("e.txt", bytes(range(256)), {}, "looks like a binary file"),
        ("e.doc", "1 2\n", {}, r"the suffix '.doc' is not known; known are .txt .*\.csv .*\.parquet .*format=\"text\""),
        ("none.txt", None, {"nodes": 3}, "there is no such file"),
        ("none.mat", None, {}, "there is no such file"),
        (".", None, {}, "this is a folder"),
        *(
            (f"e.{suffix}", "this is something else\n" * 20, {}, "")
            for suffix in ("mat", "mtx", "npz", "parquet", "arrow", "graphml", "metis")
        ),
        ("e.arrow", b"ARROW1 but broken", {}, "not a readable arrow file"),
    ],
    ids=lambda value: str(value)[-40:],
)  # fmt: skip
def test_bad_files(tmp_path: Path, name: str, text: str | bytes | None, options: dict[str, Any], problem: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    refused(path, problem, **options)


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


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_damaged_and_mislabeled_compression(tmp_path: Path, suffix: str) -> None:
    data = "".join(f"{i} {i * 7919 % 1000}\n" for i in range(5000)).encode()
    if suffix == ".zst":
        packed = pa.compress(data, codec="zstd", asbytes=True)
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


def test_mat_without_the_variable_lists_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    for compressed in (True, False):
        scipy.io.savemat(path, {"group": np.eye(2), "A": np.eye(2)}, do_compression=compressed)
        refused(path, "there is no variable 'network'; the variables are 'group', 'A'; pass variable=")
        refused(path, "there is no variable 'B'", variable="B")
    scipy.io.savemat(path, {"network": "text"})
    refused(path, "the variable 'network' is not a matrix of numbers")


@pytest.mark.parametrize(
    ("matrix", "problem", "options"),
    [
        (np.ones((2, 3)), "must be square, not 2 x 3", {}),
        (np.array([[0, 1j], [1, 0]]), "must hold real numbers, not complex", {}),
        (np.array([[0, -1.0], [1, 0]]), "weight -1.0 is not allowed", {}),
        (np.array([[0, np.inf], [1, 0]]), "weight inf is not allowed", {}),
        (np.diag([1, np.nan], k=1), "weight nan is not allowed.*finite", {}),
        (np.eye(3), "no edge in the graph but 3 self-loops", {}),
        (np.zeros((3, 3)), "there is no edge", {}),
        (np.eye(3, k=1), "a matrix holds its own weights.*weights=False", {"weights": "w"}),
    ],
)
@pytest.mark.parametrize("suffix", [".mat", ".mtx", ".npz"])
def test_bad_matrices(tmp_path: Path, suffix: str, matrix: Any, problem: str, options: dict[str, Any]) -> None:
    path, sparse = tmp_path / f"a{suffix}", sp.csc_array(matrix)
    if suffix == ".mat":
        scipy.io.savemat(path, {"network": sparse}, do_compression=True)
    elif suffix == ".mtx":
        scipy.io.mmwrite(path, sparse)
    else:
        sp.save_npz(path, sparse)
    refused(path, f"^(, line [0-9]+)?: .*{problem}", **options)


@pytest.mark.parametrize(
    ("columns", "options", "problem"),
    [
        ({"u": [1, 2, 3], "v": [2, 3, 4], "weight": [1.0, -2.0, 1.0]}, {}, "record 2: weight -2.0"),
        ({"u": [1, 2], "v": [2, 3]}, {"source": "x"}, "there is no column 'x'; the columns are 'u', 'v'"),
        ({"u": [1, 2]}, {}, "an edge needs two columns, and there is 1"),
        ({"u": [True], "v": [False]}, {}, "ids must be integers or strings, not bool"),
    ],
)
def test_bad_tables(tmp_path: Path, columns: dict[str, Any], options: dict[str, Any], problem: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(columns), path)
    refused(path, problem, **options)
    path.write_bytes(path.read_bytes()[:-20])
    refused(path, "not a readable parquet file")
