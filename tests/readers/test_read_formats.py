from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from graph_views import dense
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import FormatError
from graphrefine.readers.arrow import parquet_batches, read_arrow_table
from graphrefine.readers.read import read
from graphrefine.tables.source import Source
from graphs import check, data_folder
from strategies import PATIENT, WORDS, Edge, edge_lists

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.feather")
pytest.importorskip("pyarrow.parquet")


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


def test_ids_of_two_types_in_a_file_are_one_kind(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"source": [1, 2], "target": ["1", "x"]}), tmp_path / "a.parquet")
    graph = read(tmp_path / "a.parquet")
    assert graph.names.tolist() == ["1", "2", "x"] and "1 and '1' are one node" in graph.reading
