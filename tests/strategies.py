"""Hypothesis strategies for graphs, as lists of edges."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
"""For every property test: a busy machine is no failure, and one tmp_path may serve all examples."""

Edge = tuple[str, str, float]

WEIGHTS = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 1e-3, 1e6, 0.1, 1 / 3])
INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.integers(0, 12) | st.integers(-5, 2**33)
WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=5)


@st.composite
def edge_lists(draw: st.DrawFn, *, ids: st.SearchStrategy[str] | None = None, weighted: bool = True) -> list[Edge]:
    """Edges between a few nodes, so that duplicates, both directions and self-loops are frequent.

    There is always one edge that is no self-loop. Ids are written as text; weights are floats, or all 1.
    """
    spelled = ids if ids is not None else st.one_of(INTEGERS.map(str), WORDS.filter(_plain))
    nodes = draw(st.lists(spelled, min_size=2, max_size=8, unique=True))
    node = st.sampled_from(nodes)
    weight = WEIGHTS if weighted and draw(st.booleans()) else st.just(1.0)
    edges = draw(st.lists(st.tuples(node, node, weight), max_size=30))
    return [*edges, (nodes[0], nodes[1], draw(weight))]


def _plain(word: str) -> bool:
    """Whether a name survives every text format as it is: no comment, no quote, no delimiter, no header."""
    return word[0] not in '#%"' and not set(word) & set(',;"') and word.lower() not in ("u", "v")
