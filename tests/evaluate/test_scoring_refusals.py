"""What cannot be scored: the argument to blame where one call decides, and a fact."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphrefine import Embedding, Graph
from graphrefine.errors import InputError
from graphrefine.evaluate import (
    evaluate_clusters,
    evaluate_labels,
    evaluate_links,
    evaluate_reconstruction,
    random_control,
)
from graphs import random_graph

PLAIN, ARCS = random_graph(60), random_graph(50, directed=True)
PARTS, ROWS, THREE = np.arange(480) % 4, random_control(480, 8), ["a", "b", "a"]
BROKEN = np.where(np.arange(480)[:, None] == 17, np.nan, ROWS)


def links(graph: Any = PLAIN, **options: Any) -> object:
    return evaluate_links(graph, **options)


def edges(graph: Any = PLAIN, vectors: Any = None, **options: Any) -> object:
    return evaluate_reconstruction(graph, random_control(60, 4) if vectors is None else vectors, **options)


REFUSED: list[tuple[Callable[[], object], str]] = [
    *((lambda each=each: evaluate_labels(ROWS, PARTS, ratios=each), "ratios") for each in ([], [0.5, 1.0], [0.5, 0.5])),
    (lambda: evaluate_labels(ROWS, PARTS, ratios=[0.5, 0.004], C="cv"), "ratios"),
    (lambda: evaluate_labels(ROWS, PARTS, C=[1.0, float("nan")]), "C"),
    (lambda: evaluate_labels(ROWS, PARTS, repeats=0), "repeats"),
    (lambda: evaluate_labels(ROWS, PARTS, seed=-1), "seed"),
    (lambda: evaluate_labels(ROWS, PARTS, threads=0), "threads"),
    (lambda: evaluate_labels(ROWS, PARTS, unlabeled="ignore"), "unlabeled"),  # type: ignore[arg-type]
    (lambda: evaluate_labels(ROWS[:, 0], PARTS), "1-d"),
    (lambda: evaluate_labels(ROWS[1:], PARTS), "479"),
    (lambda: evaluate_labels(BROKEN, PARTS), "node 17"),
    (lambda: evaluate_labels(ROWS, np.zeros((480, 2))), "0 "),
    (lambda: links(held_out=0.0), "held_out=0.0"),
    (lambda: links(corruptions=0), "corruptions=0"),
    (lambda: links(scores=["cosin"]), "'cosine'"),
    (lambda: links(method="nonesuch"), "'nonesuch'"),
    (lambda: links(dim=1000), "dim=1000"),
    (lambda: links(ARCS, dim=7), "6 or 8"),
    (lambda: links(windows=3), "'windows'"),
    (lambda: links(method=lambda g: np.zeros((3, 2))), r"\(3, 2\)"),
    (lambda: links(method=lambda g: np.full((g.nodes, 2), np.nan)), "finite"),
    (lambda: links(method=random_control, dim=3), "dim=3"),
    (lambda: links(turned=0.5), "turned=0.5"),
    (lambda: links(ARCS, scores=["spectral"]), "'spectral'"),
    (lambda: links([(i, j) for i in range(8) for j in range(i)], dim=2), "0 pairs"),
    (lambda: links([(0, 1)], dim=1), "held_out=0.3"),
    (lambda: edges(top=[0]), "top=0"),
    (lambda: edges(top=[5, 9999]), "top=5, 9999"),
    (lambda: edges(sample=61), "sample=61"),
    (lambda: edges(seed=-1), "seed=-1"),
    (lambda: edges(vectors=np.zeros((5, 2))), r"\(5, 2\)"),
    (lambda: edges(vectors=np.full((60, 2), np.nan)), "node 0"),
    (lambda: edges(vectors=Embedding([*range(59), 77], np.zeros((60, 2)))), "59"),
    (lambda: edges(random_graph(60, directed=True)), "directed"),
    (lambda: edges(Graph.from_edges([0], [0], names=list(range(60)))), "no edges"),
    (lambda: evaluate_clusters(np.eye(3), THREE, starts=0), "starts=0"),
    (lambda: evaluate_clusters(np.eye(3), ["a", "a", "a"]), "of 1"),
    (lambda: evaluate_clusters(np.eye(3), np.ones((3, 2))), "of 0"),
    (lambda: evaluate_clusters(np.eye(3), np.zeros((3, 2))), "0 labeled nodes"),
    (lambda: evaluate_clusters(np.eye(3), ["a", "b"]), "2 rows"),
    (lambda: evaluate_clusters(np.diag([1, np.inf, 1]), THREE), "node 1"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "fact"), REFUSED)
def test_what_cannot_be_scored_is_refused(call: Callable[[], object], fact: str) -> None:
    with pytest.raises(InputError) as refused:
        call()
    assert fact == refused.value.argument or re.search(fact, str(refused.value)), refused.value
