"""Every form of labels says the same: one graph, one embedding, one score to the last digit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp
from graph_views import Stream, Tensor

from graphrefine import Embedding, embed, read
from graphrefine.errors import FormatError, InputError
from graphrefine.evaluate import as_labels, evaluate_labels, read_labels
from graphrefine.evaluate.compare import compare
from graphrefine.evaluate.tune import tune
from graphrefine.graph.graph import Graph
from graphrefine.search.neighbors import labeled_rows

PROTOCOL: dict[str, Any] = {"ratios": [0.3, 0.6], "repeats": 3}
NODES = 60


class Case(NamedTuple):
    """An embedding and the label of each of its rows, in order."""

    graph: Graph
    embedding: Embedding
    labels: list[Any]

    @property
    def nodes(self) -> list[Any]:
        names: list[Any] = self.embedding.names.tolist()
        return names

    def shuffled(self) -> list[tuple[Any, Any]]:
        """Nodes with labels, in an order that is not that of the rows."""
        pairs = list(zip(self.nodes, self.labels, strict=True))
        return [pairs[at] for at in np.random.default_rng(1).permutation(len(pairs))]

    def score(self, labels: Any) -> Any:
        return evaluate_labels(self.embedding, labels, **PROTOCOL)


def make_case(names: list[Any], kinds: list[Any]) -> Case:
    """A graph of three groups; an embedding whose rows are in no order; labels that are mostly the groups."""
    draw = np.random.default_rng(0)
    group = draw.integers(0, 3, NODES)
    ends = [(u, v) for u in range(NODES) for v in range(u) if draw.random() < (0.3 if group[u] == group[v] else 0.08)]
    graph = read([(names[u], names[v]) for u, v in ends])
    vectors = embed(graph, dim=8)
    order = draw.permutation(len(vectors))
    place = {name: at for at, name in enumerate(names)}
    embedding = Embedding(vectors.names[order], vectors.vectors[order])
    return Case(graph, embedding, [kinds[group[place[name]]] for name in embedding.names.tolist()])


@pytest.fixture(scope="module", params=["texts", "integers"])
def case(request: pytest.FixtureRequest) -> Case:
    if request.param == "texts":
        return make_case([f"{'#' * (i % 7 == 0)}node, {i}" for i in range(NODES)], ["b", "a", "c"])
    return make_case((7 * np.arange(NODES) + 3).tolist(), [2, 10, 1])  # 3, 10, 17 ...: some are labels too


def in_memory(case: Case) -> dict[str, Any]:
    """The same labels in every form, by name in another order than the rows', where they have names."""
    pairs = case.shuffled()
    nodes, labels = ([pair[at] for pair in pairs] for at in (0, 1))
    classes = sorted(set(case.labels))
    matrix = np.array([[label == each for each in classes] for label in case.labels])
    series = pd.Series(labels, index=nodes)
    frame = pd.DataFrame({"node": nodes, "label": labels})
    reversed_frame = frame[["label", "node"]]
    shuffled_matrix = pd.DataFrame(matrix, columns=classes, index=case.nodes).loc[nodes]
    return {
        "mapping": dict(pairs),
        "mapping to lists": {node: [label] for node, label in pairs},
        "mapping to sets": {node: {label} for node, label in pairs},
        "mapping to some of both": {node: label if at % 2 else (label,) for at, (node, label) in enumerate(pairs)},
        "mapping with NumPy values": {np.array([node])[0]: np.array([label])[0] for node, label in pairs},
        "pandas Series": series,
        "categorical Series": series.astype("category"),
        "Series of strings": series.astype(str),
        "table": frame,
        "table, turned": reversed_frame,
        "table in words of its own": frame.rename(columns={"node": "who", "label": "team"}),
        "table in words of its own, turned": reversed_frame.rename(columns={"node": "who", "label": "class"}),
        "table, filtered": pd.concat([frame, frame]).reset_index(drop=True)[NODES:],
        "table with index": frame.set_index("node"),
        "table with index and more columns": frame.assign(year=1999).set_index("node"),
        "table with more columns": frame.assign(year=1999),
        "indicator with index": shuffled_matrix,
        "indicator with index, 0 and 1": shuffled_matrix.astype(int),
        "polars table": pl.DataFrame({"node": nodes, "label": labels}),
        "polars table in words of its own": pl.DataFrame({"who": nodes, "team": labels}),
        "polars table, categorical": pl.DataFrame({"node": nodes, "label": labels}).with_columns(
            pl.col("label").cast(pl.String).cast(pl.Categorical)
        ),
        "polars table of lists": pl.DataFrame({"node": nodes, "label": [[label] for label in labels]}),
        "polars Series": pl.Series(case.labels),
        "polars indicator": pl.DataFrame({str(each): column for each, column in zip(classes, matrix.T, strict=True)}),
        "arrow table": pa.table({"node": nodes, "label": labels}),
        "arrow table with dictionary": pa.table({"node": nodes, "label": pa.array(labels).dictionary_encode()}),
        "arrow record batch": pa.record_batch({"node": nodes, "label": labels}),
        "arrow stream": Stream(pa.table({"node": nodes, "label": labels})),
        "arrow array": pa.array(case.labels),
        "arrow chunked array": pa.chunked_array([case.labels[:9], case.labels[9:]]),
        "list": case.labels,
        "tuple": tuple(case.labels),
        "array": np.array(case.labels),
        "array of objects": np.array(case.labels, dtype=object),
        "column": np.array(case.labels).reshape(-1, 1),
        "pandas Categorical": pd.Categorical(case.labels),
        "pair": (nodes, labels),
        "pair of arrays": (np.array(nodes), np.array(labels)),
        "tensor": Tensor(case.labels),
        "attribute": (with_attribute(case, "team"), "team"),
    }  # fmt: skip


def with_attribute(case: Case, name: str) -> Graph:
    label = dict(zip(case.nodes, case.labels, strict=True))
    values = np.array([label[node] for node in case.graph.names.tolist()], dtype=object)
    rows = case.graph.indptr, case.graph.indices, case.graph.weights
    return Graph(*rows, case.graph.names, attributes={name: values})


def test_every_form_in_memory_has_the_same_score(case: Case) -> None:
    expected = case.score(dict(zip(case.nodes, case.labels, strict=True)))
    assert 50 < expected.ratios[1].micro_mean < 100
    assert expected.unlabeled_nodes == expected.missing_nodes == 0
    scores = {form: case.score(labels) for form, labels in in_memory(case).items()}
    assert {form: score.ratios for form, score in scores.items()} == dict.fromkeys(scores, expected.ratios)
    assert {form for form, score in scores.items() if score != expected and score.source == "memory"} == set()


def test_the_score_notices_labels_of_other_nodes(case: Case) -> None:
    """The control: the labels of `shuffled` in the order of the rows are as good as random."""
    expected = case.score(case.labels)
    assert case.score([label for _, label in case.shuffled()]).ratios[1].micro_mean < expected.ratios[1].micro_mean - 10


WRITERS: dict[str, Callable[[Path, list[Any], list[Any]], None]] = {
    "t.csv": lambda path, nodes, labels: _frame(nodes, labels).to_csv(path, index=False),
    "index.csv": lambda path, nodes, labels: pd.Series(labels, index=nodes, name="team").to_csv(path),
    "bare.csv": lambda path, nodes, labels: _frame(nodes, labels).to_csv(path, index=False, header=False),
    "words.csv": lambda path, nodes, labels: _frame(nodes, labels, "wer", "was").to_csv(path, index=False),
    "turned.csv": lambda path, nodes, labels: _frame(nodes, labels)[["label", "node"]].to_csv(path, index=False),
    "bare_turned.csv": lambda path, nodes, labels: _frame([f"k{label}" for label in labels], nodes)
    .to_csv(path, index=False, header=False),
    "semicolons.csv": lambda path, nodes, labels: _frame(nodes, labels).to_csv(path, index=False, sep=";", quoting=1),
    "t.tsv": lambda path, nodes, labels: _frame(nodes, labels).to_csv(path, index=False, sep="\t"),
    "t.txt": lambda path, nodes, labels: _frame(nodes, labels).to_csv(path, index=False, sep="\t"),
    "t.parquet": lambda path, nodes, labels: _frame(nodes, labels).to_parquet(path),
    "t.arrow": lambda path, nodes, labels: pa.feather.write_feather(_frame(nodes, labels), path),
    "lists.parquet": lambda path, nodes, labels: pa.parquet.write_table(
        pa.table({"node": nodes, "label": [[label] for label in labels]}), path
    ),
    "t.json": lambda path, nodes, labels: _write(path, json.dumps(dict(zip(nodes, labels, strict=True)))),
    "t.jsonl": lambda path, nodes, labels: _write(path, _frame(nodes, labels).to_json(orient="records", lines=True)),
    "t.csv.gz": lambda path, nodes, labels: _frame(nodes, labels).to_csv(path, index=False),
}  # fmt: skip


def _frame(nodes: list[Any], labels: list[Any], *titles: str) -> pd.DataFrame:
    return pd.DataFrame(dict(zip(titles or ("node", "label"), (nodes, labels), strict=True)))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", WRITERS)
def test_every_file_has_the_same_score(case: Case, tmp_path: Path, name: str) -> None:
    pairs = case.shuffled()
    WRITERS[name](tmp_path / name, [node for node, _ in pairs], [label for _, label in pairs])
    expected = case.score(case.labels)
    if name == "bare_turned.csv":
        expected = case.score([f"k{label}" for label in case.labels])
    for labels in (tmp_path / name, str(tmp_path / name), read_labels(tmp_path / name)):
        assert case.score(labels).ratios == expected.ratios
    assert f"{name}, " in case.score(tmp_path / name).reading


def test_rows_have_the_same_score(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((NODES, 4))
    labels = np.arange(NODES) % 3
    rows = np.eye(3)[labels]
    scipy.io.savemat(tmp_path / "t.mat", {"y": labels, "group": sp.csc_array(rows)})
    np.save(tmp_path / "t.npy", labels)
    np.save(tmp_path / "eye.npy", rows)
    files = [
        tmp_path / "t.npy",
        tmp_path / "t.mat",
        tmp_path / "eye.npy",
        read_labels(tmp_path / "t.mat", variable="y"),
    ]
    expected = evaluate_labels(vectors, labels, **PROTOCOL)
    for form in (*files, rows, rows.astype(bool), sp.csr_matrix(rows)):
        assert evaluate_labels(vectors, form, **PROTOCOL).ratios == expected.ratios


def test_several_labels_in_rows_and_in_lists(case: Case) -> None:
    extra = [(node, "extra") for node in case.nodes[::3]]
    pairs = [*case.shuffled(), *extra]
    nodes, labels = [node for node, _ in pairs], [str(label) for _, label in pairs]
    by_node: dict[Any, set[str]] = {}
    for node, label in zip(nodes, labels, strict=True):
        by_node.setdefault(node, set()).add(label)
    expected = case.score(by_node)
    assert expected.classes == 4
    assert f"{len(extra)} nodes with several labels" in expected.reading
    lists = [sorted(several) for several in by_node.values()]
    for form in (
        pd.DataFrame({"node": nodes, "label": labels}),
        pd.Series(labels, index=nodes),
        pd.Series(lists, index=list(by_node)),
        pl.DataFrame({"node": list(by_node), "label": lists}),
        pa.table({"node": list(by_node), "label": lists}),
        (nodes, labels),
        (list(by_node), lists),
    ):
        assert case.score(form) == expected


def test_missing_labels_are_no_class(case: Case) -> None:
    labels: list[Any] = [None if at % 5 == 0 else str(label) for at, label in enumerate(case.labels)]
    kept = {node: label for node, label in zip(case.nodes, labels, strict=True) if label is not None}
    expected = case.score(kept)
    assert (expected.classes, expected.unlabeled_nodes) == (3, 12)
    floats, empty, words = (
        [nothing if label is None else label for label in labels] for nothing in (np.nan, "", "nan")
    )
    for form in (
        labels,
        floats,
        empty,
        words,
        np.array(labels, dtype=object),
        dict(zip(case.nodes, floats, strict=True)),
        *(pd.Series(labels, index=case.nodes, dtype=dtype) for dtype in (None, "string", "category")),
        pl.Series(labels),
        pa.array(labels),
        np.ma.masked_array(empty, [label is None for label in labels]),
    ):
        scores = case.score(form)
        assert scores.ratios == expected.ratios
        assert "12 entries without a label" in scores.reading


def test_a_table_of_integers_is_no_indicator() -> None:
    """Read as a matrix, this table scored 100."""
    case = make_case(list(range(NODES)), [0, 1, 2])
    expected = case.score(dict(zip(case.nodes, case.labels, strict=True)))
    frame = pd.DataFrame(case.shuffled(), columns=["node", "label"])
    assert case.score(frame) == expected
    assert case.score(frame.rename(columns={"node": "who", "label": "team"})) == expected
    with pytest.raises(InputError, match=r"shape \(60, 2\) may hold pairs"):
        case.score(frame.to_numpy())
    assert case.score(tuple(frame.to_numpy().T)) == expected


def test_labels_in_another_order_of_numbers_are_refused() -> None:
    embedding = Embedding([2, 0, 1, 3], np.eye(4, dtype=np.float32))
    with pytest.raises(InputError, match=r"2, 0, 1, \.\.\.: row i may be node i"):
        evaluate_labels(embedding, ["a", "b", "a", "b"])
    series = pd.Series(["a", "b", "a", "b"])  # its index are the nodes
    assert labeled_rows(embedding, series, "b").tolist() == [False, False, True, True]


def test_an_index_that_only_counts_rows_is_refused_where_nodes_are_not_numbered(case: Case) -> None:
    message = r"the index only counts the rows, 0 to 59, and nodes are called .* labels\.to_numpy\(\)"
    for form in (pd.Series(case.labels), pd.DataFrame({"label": case.labels})):
        with pytest.raises(InputError, match=message):
            case.score(form)
    one_by_one = Embedding(np.arange(1, 35), np.random.default_rng(0).standard_normal((34, 3)))
    with pytest.raises(InputError, match="only counts the rows"):
        evaluate_labels(one_by_one, pd.Series(["a", "b"] * 17))
    some = Embedding([0, 2, 3], np.eye(3, dtype=np.float32))
    assert labeled_rows(some, pd.Series(["a", "b", "a", "c"]), "a").tolist() == [True, True, False]


def test_a_mapping_from_labels_to_nodes_is_refused() -> None:
    for mapping, names in (({"red": ["ann"], "blue": ["bob"]}, ["ann", "bob"]), ({0: [1, 2], 1: [0, 3]}, [0, 1, 2, 3])):
        with pytest.raises(InputError, match=r"the values of the mapping .* are names of nodes, .* pass a pair"):
            as_labels(mapping, names=np.array(names, object))
    several = {0: [1], 1: [0, 1], 2: [0], 3: [1]}
    assert as_labels(several, names=np.arange(4)).indicator.toarray().astype(int).tolist() == [
        [0, 1],
        [1, 1],
        [1, 0],
        [0, 1],
    ]


def test_an_index_and_a_column_that_both_name_nodes_are_refused() -> None:
    frame = pd.DataFrame({"who": [3, 1, 2], "team": ["a", "b", "a"]}, index=[1, 2, 3])
    with pytest.raises(InputError, match="'who', by the index"):
        as_labels(frame, names=np.arange(4))
    labels = as_labels(frame, names=np.arange(4), node_column="who")
    classes = labels.indicator.toarray().argmax(axis=1).tolist()
    assert dict(zip(labels.names.tolist(), classes, strict=True)) == {1: 1, 2: 0, 3: 0}


@pytest.mark.parametrize("titles", [["node", "label", "label"], ["node", "x", "y"], ["who"], []])
def test_tables_without_one_column_of_labels_are_refused(titles: list[str]) -> None:
    with pytest.raises(InputError):
        as_labels(pd.DataFrame([["a", "x", "y"][: len(titles)]], columns=titles), node_column=0)


def test_attributes_of_a_graph(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = with_attribute(case, "team")
    mapping = dict(zip(case.nodes, case.labels, strict=True))
    by_name, by_mapping = (tune(graph, labels=labels, budget=30, dims=[4]) for labels in ("team", mapping))
    assert by_name.default_score == by_mapping.default_score
    options: dict[str, Any] = {"methods": ["refine"], "dims": [4], "repeats": 2}
    one, two = (compare(graph, labels=labels, **options).rows[0].quality for labels in ("team", mapping))
    assert one == two
    with pytest.raises(InputError, match="no attribute 'club'"):
        case.score((graph, "club"))
    with pytest.raises(FormatError, match=r"club: there is no such file, nor such an attribute"):
        tune(graph, labels="club")
    with pytest.raises(InputError, match="node_column="):
        as_labels({"a": "x"}, node_column="who")
    monkeypatch.chdir(tmp_path)
    Path("team").write_text("node,label\n")
    with pytest.raises(InputError, match=r"labels='team' is an attribute .* and a file too; .* '\./team' for the file"):
        tune(graph, labels="team")
