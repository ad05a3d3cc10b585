from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import FormatError
from graphrefine.graph.graph import Graph
from graphrefine.readers.arrow import parquet_batches, read_arrow_table
from graphrefine.readers.read import read
from graphrefine.tables.source import Source
from graphs import check, data_folder
from strategies import PATIENT, WORDS, Edge, edge_lists


def dense(graph: Graph) -> Any:
    check(graph)
    return graph.to_scipy().toarray().tolist()


pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.feather")
pytest.importorskip("pyarrow.parquet")


@st.composite
def matrices(draw: st.DrawFn) -> Any:
    """Square matrices with isolated rows, self-loops, and often with symmetry and with all ones."""
    nodes = draw(st.integers(2, 6))
    values = st.just(1.0) if draw(st.booleans()) else st.sampled_from([0.5, 1.0, 2.0, 7.0])
    entries = draw(st.lists(st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), values), max_size=15))
    matrix = np.zeros((nodes, nodes))
    matrix[0, 1] = draw(values)
    for i, j, value in entries:
        matrix[i, j] = value
    return np.maximum(matrix, matrix.T) if draw(st.booleans()) else matrix


def merged(matrix: Any, directed: bool) -> Any:
    hollow = matrix - np.diag(np.diag(matrix))
    return (hollow if directed else np.maximum(hollow, hollow.T)).tolist()


@PATIENT
@given(matrix=matrices(), directed=st.booleans(), layout=st.sampled_from(["csr", "csc", "coo"]))
def test_matrix_files_come_back(tmp_path: Path, matrix: Any, directed: bool, layout: str) -> None:
    sparse: Any = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}[layout](matrix)
    compressed = bool(matrix.sum() % 2)
    scipy.io.savemat(tmp_path / "a.mat", {"group": np.eye(2), "network": sparse}, do_compression=compressed)
    scipy.io.savemat(tmp_path / "b.mat", {"other": matrix})
    scipy.io.mmwrite(tmp_path / "a.mtx", sparse)
    sp.save_npz(tmp_path / "a.npz", sparse)
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    for name in ("a.mat", "a.mtx", "a.npz", "a.mtx.gz"):
        graph = read(tmp_path / name, directed=directed)
        assert dense(graph) == merged(matrix, directed), name
        assert graph.names.tolist() == list(range(len(matrix)))
        unweighted = read(tmp_path / name, directed=directed, weights=False)
        assert dense(unweighted) == merged((matrix > 0).astype(float), directed), name
    assert dense(read(tmp_path / "b.mat", directed=directed, variable="other")) == merged(matrix, directed)


def test_names_for_the_rows_of_a_matrix(tmp_path: Path) -> None:
    scipy.io.savemat(tmp_path / "a.mat", {"network": sp.csc_array(np.array([[0, 1.0], [1, 0]]))})
    assert read(tmp_path / "a.mat", nodes=["b", "a"]).names.tolist() == ["b", "a"]


def columns(edges: list[Edge]) -> dict[str, list[Any]]:
    return {
        "weight": [weight for *_, weight in edges],
        "target": [target for _, target, _ in edges],
        "note": ["-"] * len(edges),
        "source": [source for source, *_ in edges],
    }


@PATIENT
@given(edges=edge_lists(ids=WORDS), directed=st.booleans())
def test_tables_come_back(tmp_path: Path, edges: list[Edge], directed: bool) -> None:
    plain = read(edges, directed=directed)
    table = pa.table(columns(edges))
    pa.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=3)
    pa.feather.write_feather(table.set_column(3, "source", table["source"].dictionary_encode()), tmp_path / "a.feather")
    for name, writer in (("a.arrow", pa.ipc.new_file), ("b.arrow", pa.ipc.new_stream)):
        with writer(tmp_path / name, table.schema) as sink:
            sink.write_table(table, max_chunksize=2)
    for name in ("a.parquet", "a.feather", "a.arrow", "b.arrow"):
        graph = read(tmp_path / name, directed=directed)
        assert (graph.names.tolist(), graph.names.dtype) == (plain.names.tolist(), plain.names.dtype)
        assert dense(graph) == dense(plain)
        assert graph.report["ignored_columns"] == ["note"]
        assert read(tmp_path / name, weights=False, source="target", target=3).nodes == plain.nodes


def test_integer_tables_with_nulls(tmp_path: Path) -> None:
    table = pa.table({"a": [3, 1, None], "b": pa.array([1, 20, 7], type=pa.int16())})
    pa.parquet.write_table(table, tmp_path / "a.pq")
    graph = read(tmp_path / "a.pq")
    assert graph.names.tolist() == [1, 3, 7, 20]
    assert (graph.edges, graph.isolated, graph.report["missing"]) == (2, 1, 1)


def test_a_parquet_file_without_row_groups_is_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pa.parquet.ParquetWriter(path, pa.schema({"source": pa.int64(), "target": pa.int64()})).close()
    assert pa.parquet.ParquetFile(path).metadata.num_row_groups == 0
    with pytest.raises(FormatError, match="there is no edge in the graph"):
        read(path)
    assert read_arrow_table(Source(path)).column_names == ["source", "target"]
    assert list(parquet_batches(pa.parquet.ParquetFile(path), batch_size=7)) == []


def test_metis(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    path.write_text("% a comment\n4 2 001\n2 5 3 2\n1 5\n%\n1 2\n\n")
    graph = read(path)
    assert graph.names.tolist() == [1, 2, 3, 4]
    assert dense(graph) == [[0, 5, 2, 0], [5, 0, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]]
    assert read(path, weights=False).weights is None
    path.write_text("3 2 110 2\n9 7 7 2\n9 7 7 1 3\n9 7 7 2")  # sizes and weights of the nodes come first
    assert dense(read(path)) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_content_tells_where_the_name_does_not(tmp_path: Path) -> None:
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.csr_array(np.array([[0, 1.0], [1, 0]])))
    (tmp_path / "a.txt").write_bytes((tmp_path / "a.mtx").read_bytes())
    assert read(tmp_path / "a.txt").report["format"] == "mtx"
    (tmp_path / "a.strange").write_text("1 2\n")
    assert read(tmp_path / "a.strange", format="text").edges == 1


REAL = {  # nodes, edges, isolated: the table in the data's INDEX.md
    "blogcatalog.mat": (10_312, 333_983, 0),
    "ppi.mat": (3_890, 37_845, 30),
    "wikipedia-pos.mat": (4_777, 92_295, 0),
    "flickr-8k-subset.mat": (8_000, 532_135, 91),
    "coauthor-cs.mat": (18_333, 81_894, 0),
    "amazon-photo.mat": (7_650, 119_081, 115),
}


@pytest.mark.parametrize("name", sorted(REAL))
def test_real_matrices(name: str) -> None:
    graph = read(data_folder() / name)
    check(graph)
    assert (graph.nodes, graph.edges, graph.isolated) == REAL[name]
    scipys: Any = scipy.io.loadmat(data_folder() / name)["network"]
    hollow = sp.csr_array(scipys - sp.diags_array(scipys.diagonal()))
    assert abs(graph.to_scipy() - hollow.maximum(hollow.T)).max() < 1e-3
