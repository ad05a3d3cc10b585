"""Files and objects as people have them: read as they are meant, or refused with the way out; never misread."""

from __future__ import annotations

from pathlib import Path

import pytest

import corpus_text
import corpus_tools
import graphrefine
from corpus import Case, Meant, Refused, find_difference, meant
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphs import check

CASES = (*corpus_text.CASES, *corpus_tools.CASES)


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
    outcome: Graph | InputError
    try:
        outcome = graphrefine.read(case.make(tmp_path), **case.options)
    except InputError as error:
        outcome = error
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
