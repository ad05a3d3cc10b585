"""Tables in memory: pandas, polars, DuckDB, Arrow and records as edge lists, and frames that are adjacency matrices."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from typing import Any

import duckdb
import networkx
import numpy as np
import pandas
import polars
import pyarrow
import pytest
from graph_views import Stream, dense, entries_of
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import InputError
from graphrefine.readers.read import read
from graphs import check
from strategies import PATIENT

Columns = dict[str, list[Any]]


def record_array(columns: Columns) -> Any:
    kinds = [(name, "O" if isinstance(values[0], str) else type(values[0])) for name, values in columns.items()]
    return np.array(list(zip(*columns.values(), strict=True)), dtype=kinds)


DUCK = duckdb.connect()  # older DuckDBs close a connection that nobody holds, whatever came from it


def duck(columns: Columns) -> Any:
    return DUCK.from_arrow(pyarrow.table(columns))


PRODUCERS: dict[str, Callable[[Columns], Any]] = {
    "pandas": pandas.DataFrame,
    "pandas objects": lambda columns: pandas.DataFrame(columns, dtype=object),
    "pandas Arrow": lambda columns: pandas.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas nullable": lambda columns: pandas.DataFrame(columns).convert_dtypes(),
    "pandas index": lambda columns: pandas.DataFrame(columns).set_index("source"),
    "polars": polars.DataFrame,
    "polars lazy": polars.LazyFrame,
    "Arrow table": pyarrow.table,
    "Arrow batch": pyarrow.record_batch,
    "Arrow reader": lambda columns: pyarrow.table(columns).to_reader(max_chunksize=3),
    "DuckDB": duck,
    "records": record_array,
    "pairs": lambda columns: list(zip(*columns.values(), strict=True)),
}


@st.composite
def tables(draw: st.DrawFn) -> Columns:
    """Columns of edges between a few nodes: integers, words, or one column of each."""
    integers, words = st.integers(-(2**62), 2**62), st.text("abcdxyzé", min_size=1, max_size=4)
    kinds = draw(st.sampled_from([(integers, integers), (words, words), (integers, words)]))
    node_lists = [draw(st.lists(kind, min_size=2, max_size=6, unique=True)) for kind in kinds]
    if kinds[0] is kinds[1]:
        node_lists[1] = node_lists[0]
    count = draw(st.integers(1, 20))
    source, target = (draw(st.lists(st.sampled_from(nodes), min_size=count, max_size=count)) for nodes in node_lists)
    weights = draw(st.lists(st.sampled_from([0.25, 1.0, 2.0, 3.5]), min_size=count, max_size=count))
    return {
        "source": [*source, node_lists[0][0]],
        "target": [*target, node_lists[1][1]],
        "weight": [*weights, 1.0],
    }


@PATIENT
@given(tables(), st.sampled_from([{}, {"directed": True}, {"bipartite": True}, {"weights": False}]))
def test_one_table_is_one_graph_whoever_hands_it_over(columns: Columns, options: dict[str, Any]) -> None:
    expected = read(PRODUCERS["pairs"](columns), **options)
    check(expected)
    for name, produce in PRODUCERS.items():
        graph = read(produce(columns), **options)
        assert graph.names.tolist() == expected.names.tolist(), name
        assert list(map(type, graph.names.tolist())) == list(map(type, expected.names.tolist())), name
        assert graph.indptr.tolist() == expected.indptr.tolist(), name
        assert graph.indices.tolist() == expected.indices.tolist(), name
        assert dense(graph) == dense(expected), name
        assert graph.weighted == expected.weighted, name


def test_adbc_results_are_tables() -> None:
    dbapi: Any = import_module("adbc_driver_manager.dbapi")
    driver: Any = import_module("adbc_driver_duckdb")
    # DuckDB says where its driver is since 1.4.1: in its own library, as before.
    path = driver.driver_path() if hasattr(driver, "driver_path") else import_module("duckdb.duckdb").__file__
    connecting = dbapi.connect(driver=path, entrypoint="duckdb_adbc_init")
    with connecting as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 'ann' AS source, 'bob' AS target, 2.5::DOUBLE AS weight")
        graph = read(cursor.fetch_arrow())
    assert (graph.names.tolist(), dense(graph)) == (["ann", "bob"], [[0, 2.5], [2.5, 0]])


def test_anything_that_hands_out_an_arrow_stream_is_a_table() -> None:
    graph = read(Stream(pyarrow.table({"size": [1, 2], "source": ["a", "b"], "target": ["b", "c"]})))
    assert dense(graph) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.reading.startswith("a graph_views Stream; edges 'source' - 'target', undirected; no weights")
    assert graph.report["ignored_columns"] == ["size"]
    with pytest.raises(InputError, match="is no table of columns"):
        read(Stream(pyarrow.chunked_array([[1, 2]])))


def test_text_of_every_type() -> None:
    words = polars.DataFrame({"u": ["x", "y", None], "v": ["y", "z", "x"]})
    tables: list[Any] = [words.cast(polars.Categorical), words.cast(polars.Enum(["z", "y", "x"]))]
    tables.append(words.to_pandas().astype("category"))
    codes = pyarrow.dictionary(pyarrow.int8(), pyarrow.string())
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), codes):
        tables.append(pyarrow.table({name: pyarrow.array(words[name].to_list()).cast(kind) for name in words.columns}))
    for table in tables:
        graph = read(table)
        assert (graph.names.tolist(), graph.report["missing"]) == (["x", "y", "z"], 1)
        assert dense(graph) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    numbers = pandas.DataFrame({"u": pandas.Categorical([10, 2]), "v": pandas.Categorical([2, 3])})
    assert read(numbers).names.tolist() == [2, 3, 10]


def test_weights_of_every_type() -> None:
    ends = {"u": [1, 2], "v": [2, 3]}
    for weights in (
        pyarrow.array([Decimal("1.5"), Decimal("2.5")]),
        pyarrow.array([1.5, 2.5], pyarrow.float32()),
        pyarrow.array([1.5, 2.5]).dictionary_encode(),
    ):
        assert dense(read(pyarrow.table({**ends, "weight": weights}))) == [[0, 1.5, 0], [1.5, 0, 2.5], [0, 2.5, 0]]
    with pytest.raises(InputError, match="record 2: the weight is missing"):
        read(pyarrow.table({**ends, "weight": [1.0, None]}))
    for frame in (pandas.DataFrame, polars.DataFrame):
        with pytest.raises(InputError, match="'weight' holds dates"):
            read(frame({**ends, "weight": np.array(["2024-01-01", "2024-01-02"], "datetime64[us]")}))


def test_ids_that_may_be_one_node_or_two_are_refused() -> None:
    columns = {"source": [1, 2], "target": ["1", "x"]}
    for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
        with pytest.raises(InputError, match=r"the ids 1 and '1' are both written '1': they may be one node or two"):
            read(make(columns))
        assert read(make(columns), bipartite=True).names.tolist() == [1, 2, "1", "x"]


def test_columns_without_names_are_read_as_those_of_an_array() -> None:
    rows = [(1, 2, 0.5), (2, 3, 0.75), (3, 4, 1.5), (4, 5, 2.5)]
    expected = dense(read(np.array(rows)))
    assert dense(read(pandas.DataFrame(rows))) == expected
    assert dense(read(polars.DataFrame(rows, orient="row"))) == expected
    assert dense(read(DUCK.sql(f"FROM (VALUES {', '.join(map(str, rows))})"))) == expected
    assert read(pandas.DataFrame(rows), weights=False).weights is None
    with pytest.raises(InputError, match="4 columns without names"):
        read(pandas.DataFrame([(*row, 1) for row in rows[:3]]))


def test_ends_in_the_index_of_pandas_are_found() -> None:
    frame = pandas.DataFrame({"a": ["x", "x", "y"], "b": ["y", "y", "z"], "size": [1.0, 2.0, 3.0]})
    counts = frame.groupby(["a", "b"]).size()
    assert dense(read(counts)) == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert dense(read(frame.set_index(["a", "b"]), weights="size")) == [[0, 3, 0], [3, 0, 3], [0, 3, 0]]
    assert dense(read(frame.set_index("b"), source="a", target="b"))[0] == [0, 2, 0]
    usual = pandas.DataFrame({"source": ["x"], "target": ["y"]}, index=pandas.Index([7], name="row"))
    assert read(usual).report["ignored_columns"] == ["row"]
    assert read(pandas.Series([(1, 2), (2, 3)])).names.tolist() == [1, 2, 3]


NOVEL = networkx.les_miserables_graph()


def test_adjacency_frames_are_matrices_with_names() -> None:
    expected, frame = entries_of(read(NOVEL)), networkx.to_pandas_adjacency(NOVEL)
    for labeled in (
        frame,
        frame[frame.columns[::-1]],
        frame.astype(pandas.SparseDtype("float64", 0)),
        frame.reset_index(),
        polars.from_pandas(frame.reset_index()),
        pyarrow.Table.from_pandas(frame.reset_index(), preserve_index=False),
        DUCK.from_arrow(pyarrow.Table.from_pandas(frame.reset_index(), preserve_index=False)),
    ):
        graph = read(labeled)
        check(graph)
        assert (graph.nodes, graph.edges) == (77, 254)
        assert entries_of(graph) == expected
        assert graph.names.tolist() == list(NOVEL)  # in the order of the rows
    assert read(frame).reading.startswith("a matrix in a pandas data frame; undirected; weights (1 to 31)")


def test_direction_and_empty_cells_of_an_adjacency_frame() -> None:
    frame = pandas.DataFrame([[np.nan, 2.0], [np.nan, np.nan]], index=["b", "a"], columns=["b", "a"])
    graph = read(frame, directed=True)
    assert (graph.names.tolist(), dense(graph)) == (["b", "a"], [[0, 2], [0, 0]])
    assert "empty cells are no edges: 3" in graph.reading
    numbers = pandas.DataFrame([[0, 3], [3, 0]], index=[20, 10], columns=["20", "10"])
    assert read(numbers).names.tolist() == [20, 10]
    assert read(pandas.DataFrame(np.ones((5, 5)) - np.eye(5))).edges == 10  # labeled 0 to 4 on both sides
    assert read(frame, bipartite=True).names.tolist() == ["b", "a", "b", "a"]


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame(np.arange(25).reshape(5, 5), columns=list("abcde")),
        pandas.DataFrame(np.arange(9).reshape(3, 3)),
        pandas.DataFrame({"a": [1, 2], "b": [2, 3]}),
        polars.DataFrame({"a": [1, 2], "b": [2, 3]}),
        pyarrow.table({"a": [1, 2], "b": [2, 3]}),
    ],
)
def test_square_frames_of_numbers_without_labels_are_refused_with_both_readings(frame: Any) -> None:
    with pytest.raises(
        InputError, match=r"can be read in two ways: source= and target= .* Graph\.from_matrix"
    ) as caught:
        read(frame)
    assert caught.value.argument == "source"
    assert read(frame, source=0, target=1).edges == len(frame)


def test_pandas_and_polars_are_read_without_pyarrow() -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
import importlib.util
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "pyarrow" else find(name, *rest)
import pandas, polars
from graphrefine import read
columns = {"source": ["a", "b"], "target": ["b", "c"], "weight": [1.0, 2.0]}
print(read(pandas.DataFrame(columns)).weights.tolist(), read(polars.DataFrame(columns)).names.tolist())
print(read(pandas.DataFrame({"u": pandas.array([1, None], dtype="Int64"), "v": [2, 3]})).names.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[1.0, 1.0, 2.0, 2.0] ['a', 'b', 'c']", "[1, 2, 3]"], done.stderr


def test_frames_of_two_sides_are_not_taken_for_one() -> None:
    sales = pandas.DataFrame({"user": ["u", "u", "v"], "item": ["x", "y", "z"], "n": [1, 2, 3]})
    pivot = sales.pivot(index="user", columns="item", values="n")
    with pytest.raises(InputError, match="can be read in two ways: bipartite=True reads it as a matrix"):
        read(pivot)
    graph = read(pivot, bipartite=True)
    assert (graph.names.tolist(), graph.sources) == (["u", "v", "x", "y", "z"], 2)
    assert entries_of(graph) == entries_of(read(sales, weights="n", bipartite=True))
    table = pandas.DataFrame({"user": [0, 1, 2, 1], "item": [0, 1, 1, 2]})
    counts = pandas.crosstab(table["user"], table["item"])
    with pytest.raises(InputError, match="rows of the data frame are called 'user' and its columns 'item'"):
        read(counts)
    graph = read(counts, bipartite=True)
    assert (graph.names.tolist(), graph.sources, graph.edges) == ([0, 1, 2, 0, 1, 2], 3, 4)
    assert read(counts.rename_axis(index="node", columns="node")).nodes == 3
