from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from graph_views import dense

from graphrefine.errors import FormatError
from graphrefine.readers.arrow import parquet_batches, read_arrow_table
from graphrefine.readers.read import read
from graphrefine.tables.source import Source
from graphs import check, data_folder

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")


def test_columns_of_a_file(tmp_path: Path) -> None:
    table = pa.table({"a": [3, 1, None], "b": pa.array([1, 20, 7], type=pa.int16())})
    pa.parquet.write_table(table, tmp_path / "a.pq", row_group_size=2)
    graph = read(tmp_path / "a.pq")
    assert graph.names.tolist() == [1, 3, 7, 20]
    assert (graph.edges, graph.isolated, graph.report["missing"]) == (2, 1, 1)
    table = pa.table({"weight": [2.0], "target": ["b"], "note": ["-"], "source": pa.array(["a"]).dictionary_encode()})
    pa.parquet.write_table(table, tmp_path / "a.pq")
    graph = read(tmp_path / "a.pq", directed=True)
    assert (dense(graph), graph.report["ignored_columns"]) == ([[0, 2], [0, 0]], ["note"])
    assert dense(read(tmp_path / "a.pq", directed=True, weights=False, source="target", target=3)) == [[0, 0], [1, 0]]
    pa.parquet.write_table(pa.table({"source": [1, 2], "target": ["1", "x"]}), tmp_path / "a.pq")
    graph = read(tmp_path / "a.pq")
    assert graph.names.tolist() == ["1", "2", "x"] and "1 and '1' are one node" in graph.reading


def test_a_parquet_file_without_row_groups_is_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pa.parquet.ParquetWriter(path, pa.schema({"source": pa.int64(), "target": pa.int64()})).close()
    assert pa.parquet.ParquetFile(path).metadata.num_row_groups == 0
    with pytest.raises(FormatError, match="there is no edge in the graph"):
        read(path)
    assert read_arrow_table(Source(path)).column_names == ["source", "target"]
    assert list(parquet_batches(pa.parquet.ParquetFile(path), batch_size=7)) == []


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


def test_metis_with_weights_of_nodes_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "a.graph"
    path.write_text("% a comment\n4 2 001\n2 5 3 2\n1 5\n%\n1 2\n\n")
    assert read(path).names.tolist() == [1, 2, 3, 4] and read(path, weights=False).weights is None
    path.write_text("3 2 110 2\n9 7 7 2\n9 7 7 1 3\n9 7 7 2")  # sizes and weights of the nodes come first
    assert dense(read(path)) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_other_variables_and_compressed_matrices(tmp_path: Path) -> None:
    matrix = np.array([[0, 2.0, 0], [0, 0, 1], [0, 0, 0]])
    scipy.io.savemat(tmp_path / "a.mat", {"group": np.eye(2), "other": matrix}, do_compression=True)
    scipy.io.mmwrite(tmp_path / "a.mtx", sp.csr_array(matrix))
    (tmp_path / "a.mtx.gz").write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    assert dense(read(tmp_path / "a.mat", variable="other", directed=True)) == matrix.tolist()
    assert dense(read(tmp_path / "a.mtx.gz", directed=True)) == matrix.tolist()
    assert dense(read(tmp_path / "a.mtx.gz", directed=True, weights=False)) == (matrix > 0).astype(float).tolist()
