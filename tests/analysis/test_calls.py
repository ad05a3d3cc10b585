"""What all questions have in common: the commands answer as the library does, in tables, and mistakes are named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_runs import check_refused, ring_of_cliques, run, works
from graphrefine import (
    Embedding,
    check,
    find_communities,
    find_duplicates,
    load,
    measure_drift,
    predict_labels,
    predict_links,
    split_edges,
)
from graphrefine.display.table import Table
from graphrefine.errors import InputError

NODES = 80
CALLS: list[tuple[str, Callable[[], Table], str]] = [  # a command, the same by the library, and what stderr tells
    ("predict labels e labels.csv", lambda: predict_labels(load("e"), "labels.csv"), "60 of 80 nodes labeled"),
    ("predict links g.csv --top 20", lambda: predict_links("g.csv", top=20), "first 20 pairs were hidden edges"),
    ("duplicates e --graph g.csv --min-degree 1", lambda: find_duplicates(load("e"), "g.csv", min_degree=1), "pairs"),
    ("communities e --count 3", lambda: find_communities(load("e"), count=3), "cohesion"),
    ("drift e other -k 3 --all", lambda: measure_drift(load("e"), load("other"), k=3, sample=None), "1 lost, 2 new"),
]
WRONG = [
    ("predict labels e labels.csv --top 0", "--top 0"),
    ("predict labels e labels.csv -o x.xlsx", ".xlsx"),
    ("predict links g.csv --top 0", "--top 0"),
    ("duplicates e --above 2", "--above 2.0"),
    ("communities e --count few", "'auto'"),
    ("drift e none", "none"),
    ("drift e other -k 0", "-k 0"),
    ("split g.csv -o parts --test 1.5", "--test 1.5"),
    ("split g.csv -o g.csv", "g.csv"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight cliques with vectors, other vectors of nearly the same nodes, and the clique of most nodes."""
    place, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    vectors = np.eye(8)[np.arange(NODES) // 10] + 0.2 * rng.standard_normal((NODES, 8))
    Embedding([f"n{i}" for i in range(NODES)], vectors).save(place / "e")
    Embedding([f"n{i}" for i in range(1, NODES + 2)], rng.standard_normal((NODES + 1, 8))).save(place / "other")
    (place / "g.csv").write_text("".join(f"n{u},n{v}\n" for u, v in ring_of_cliques(8, 10).tolist()))
    labels = [f"n{i},c{i // 10}\n" for i in range(NODES) if i % 4]
    (place / "labels.csv").write_text("node,label\n" + "".join(labels))
    return place


@pytest.mark.parametrize(("command", "ask", "told"), CALLS, ids=[command.partition(" e ")[0] for command, *_ in CALLS])
def test_commands_give_the_tables_of_the_library(
    command: str, ask: Callable[[], Table], told: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    words, expected = command.split(), ask()
    done = works(*words, "-o", tmp_path / "t.csv")
    assert done.out == f"{tmp_path / 't.csv'}: {len(expected)} rows\n" and told in done.err, done.err
    expected.save(tmp_path / "expected.csv")
    assert (tmp_path / "t.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()
    figures = works(*words, "--json").figures
    assert figures["rows"] == json.loads(json.dumps(expected.records())) and len(expected) > 3
    assert "rows" not in works(*words, "--json", "-o", tmp_path / "t.parquet").figures


@pytest.mark.parametrize(("command", "fact"), WRONG)
def test_commands_name_mistakes(command: str, fact: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    check_refused(run(*command.split()), fact)


PAIR = Embedding(["a", "b"], [[1, 0], [0, 1]])
ROWS = np.random.default_rng(0).standard_normal((60, 4))
SOME = {node: "ab"[node % 2] for node in range(40)}
RING = [(i, (i + 1) % 10) for i in range(10)]
COMPLETE = [(i, j) for i in range(12) for j in range(i)]
# Four nodes, all of them linked to one another; two more without edges: no pair of ends is free.
CLIQUE: dict[str, Any] = {"nodes": 6, "negatives_by": "degree", "test": 0.3, "validation": 0}
REFUSED: list[tuple[Callable[[], object], str, str]] = [  # a call, the argument to blame if there is one, and a fact
    (lambda: predict_labels(ROWS, dict.fromkeys(range(40), "x")), "", "'x'"),
    (lambda: predict_labels(ROWS, [*"ab" * 30]), "", "nodes='all'"),
    (lambda: predict_labels(ROWS, {0: "a", 1: "b", 2: "a"}), "", "folds=5"),
    (lambda: predict_labels(ROWS, {"ann": "a", "bob": "b"}), "", "none of the 2 nodes"),
    (lambda: predict_labels(np.where(np.arange(60)[:, None] == 3, np.nan, ROWS), SOME), "", "node 3"),
    (lambda: predict_labels(ROWS, SOME, nodes="both"), "nodes", "both"),  # type: ignore[arg-type]
    (lambda: predict_labels(ROWS, SOME, top=0), "top", "0"),
    (lambda: predict_labels(ROWS, SOME, folds=1), "folds", "1"),
    (lambda: predict_labels(ROWS, SOME, seed=-1), "seed", "-1"),
    (lambda: predict_labels(ROWS, SOME, C=-1.0), "C", "-1"),
    (lambda: predict_links([(0, 1), (1, 2), (2, 3)]), "", "3 edges"),
    (lambda: predict_links(COMPLETE), "", "0 pairs"),
    (lambda: predict_links(RING, top=0), "", "top=0"),
    (lambda: predict_links(RING, seed=-1), "", "seed=-1"),
    (lambda: find_duplicates(PAIR, above=0), "", "above=0"),
    (lambda: find_duplicates(PAIR, above=1.5), "", "above=1.5"),
    (lambda: find_duplicates(PAIR, overlap=0.5), "", "overlap=0.5"),
    (lambda: find_duplicates(PAIR, min_degree=3), "", "min_degree=3: .* no degrees"),
    (lambda: find_duplicates(PAIR, min_degree=-1), "", "min_degree=-1"),
    (lambda: find_duplicates(PAIR, [("x", "y")]), "", "none of its 2 nodes"),
    *((lambda count=count: find_communities(PAIR, count=count), "", "count=") for count in (0, 3, 2.5)),
    (lambda: find_communities(PAIR, [("x", "y")]), "", "none of its 2 nodes"),
    (lambda: measure_drift(PAIR, Embedding(["a"], [[1, 0, 0]])), "", "of 3 and of 2 numbers"),
    (lambda: measure_drift(PAIR, Embedding(["c"], [[1, 0]])), "", "no node is in both"),
    (lambda: measure_drift(PAIR, Embedding(["a", "b"], np.eye(2), {"sides": "columns"})), "", "source and target"),
    (lambda: measure_drift(PAIR, PAIR, k=0), "", "k=0"),
    (lambda: measure_drift(PAIR, PAIR, sample=0), "", "sample=0"),
    (lambda: split_edges(RING, test=1.0), "test", ""),
    (lambda: split_edges(RING, test=0.6, validation=0.5), "test", ""),
    (lambda: split_edges(RING, test=0, validation=0), "test", ""),
    (lambda: split_edges(RING, test=0.01, validation=0), "test", ""),
    (lambda: split_edges(RING, test=0.3, connected=True), "connected", ""),
    (lambda: split_edges(RING, negatives=-1), "negatives", ""),
    (lambda: split_edges(RING, negatives=9, validation=0), "negatives", ""),
    (lambda: split_edges(RING, negatives_by="hard"), "negatives_by", ""),  # type: ignore[arg-type]
    (lambda: split_edges([(i, j) for i in range(4) for j in range(i)], **CLIQUE), "negatives_by", ""),
    (lambda: split_edges(RING, seed=-1), "seed", ""),
    (lambda: check(PAIR, k=3), "against", ""),
    (lambda: check(PAIR, sample=None), "against", ""),
    (lambda: check(PAIR, seed=1), "against", ""),
    (lambda: check(PAIR, max_drift=0.1), "max_drift", ""),
    (lambda: check(PAIR, against="x"), "against", ""),
    (lambda: check(PAIR, against="x", max_drift=3), "max_drift", ""),
    (lambda: check(PAIR, against="x", min_neighbors=-1), "min_neighbors", ""),
    (lambda: check(PAIR, features="nosuch.csv"), "graph", ""),
    (lambda: check(PAIR, reading={"directed": False}), "graph", ""),
    (lambda: check(PAIR, expect="grf1:abc"), "expect", ""),
]


@pytest.mark.parametrize(("call", "argument", "fact"), REFUSED)
def test_functions_name_mistakes(call: Callable[[], object], argument: str, fact: str) -> None:
    with pytest.raises(InputError, match=fact or None) as refused:
        call()
    assert argument in ("", refused.value.argument)
