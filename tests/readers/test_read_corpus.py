"""Files and objects as people have them: read as they are meant, or refused with the way out; never misread."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import corpus_text
import corpus_tools
import graphrefine
from corpus import Case, Meant, Refused, find_difference, meant
from graphrefine.errors import InputError
from graphrefine.evaluate import evaluate_labels
from graphrefine.graph.graph import Graph
from graphs import check

CASES = (*corpus_text.CASES, *corpus_tools.CASES)


def _read(case: Case, folder: Path) -> Graph | InputError:
    try:
        return graphrefine.read(case.make(folder), **case.options)
    except InputError as error:
        return error


def _disagree(outcome: Graph | InputError, expected: Meant | Refused) -> str:
    """Why an outcome is not the expected one; empty if it is."""
    if isinstance(expected, Refused):
        if isinstance(outcome, Graph):
            return f"it was read: {outcome.reading}, names {outcome.names.tolist()}"
        lacking = [word for word in expected.words if word not in str(outcome)]
        return f"{lacking} not in the refusal: {outcome}" if lacking else ""
    if isinstance(outcome, InputError):
        return f"it was refused: {outcome}"
    check(outcome)
    return find_difference(outcome, expected)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_graph_is_read_as_it_is_meant(case: Case, tmp_path: Path) -> None:
    outcome = _read(case, tmp_path)
    options = case.expected if isinstance(case.expected, tuple) else (case.expected,)
    problems = [_disagree(outcome, expected) for expected in options]
    assert "" in problems, "\n".join(problems)


def test_the_corpus_tells_graphs_apart(tmp_path: Path) -> None:
    graph = graphrefine.read([("a", "b", 2.0), ("b", "c", 1.0)])
    assert not find_difference(graph, meant([("b", "a", 2), ("c", "b")]))
    for other in (
        meant([("a", "b"), ("b", "c")]),
        meant([("a", "b", 2), ("b", "d")]),
        meant([("a", "b", 2), ("b", "c")], directed=True),
        meant([("a", "b", 2), ("b", "c")], alone=("d",)),
        meant([("a", "b", 2), ("b", "c")], told=("a word that nobody says",)),
        meant([("a", "b", 2), ("b", "c")], records=3),
    ):
        assert find_difference(graph, other)
    assert _disagree(graph, Refused(()))
    assert _disagree(InputError("no"), Refused(("yes",))) and not _disagree(InputError("no"), Refused(("no",)))


@pytest.mark.parametrize("step", [1, 10])
def test_labels_of_frames_and_series_go_by_their_index(step: int) -> None:
    """Labels of a frame or a series belong to the nodes that its index names, whatever the order of the rows."""
    import pandas as pd

    rng = np.random.default_rng(0)
    names = np.arange(60) * step
    groups = np.repeat([0, 1, 2], 20)
    vectors = rng.standard_normal((60, 8)).astype(np.float32) * 0.1
    vectors[np.arange(60), groups] += 3
    embedding = graphrefine.Embedding(names, vectors)
    series = pd.Series(groups, index=names).sample(frac=1, random_state=1)
    frame = pd.DataFrame({"node": names, "label": groups}).sample(frac=1, random_state=2)
    for labels in (series, frame):
        scores = evaluate_labels(embedding, labels, ratios=[0.5], repeats=2)
        assert scores.ratios[0].micro_mean > 95
