"""Embeddings of any content, and what must come back of them from a file or a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from graphrefine import Embedding

# Of all float32, the last but one is the only one whose shortest decimal goes wrong by way of float64.
AWKWARD = np.array([0.0, -0.0, 1e-45, -1.1754942e-38, 3.4028235e38, 0.1, 1 / 3, 16777217.0], dtype=np.float32)
AWKWARD = np.append(AWKWARD, np.array([0x15AE43FD, 0x95AE43FD], dtype=np.uint32).view(np.float32))

any_text = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.integers(-(2**63), 2**63 - 1)
finite = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.sampled_from(AWKWARD.tolist())
counts = st.floats(0, 2.0**100, width=32)


@st.composite
def embeddings(draw: st.DrawFn, names: st.SearchStrategy[Any], *, least: int = 0) -> Embedding:
    """Embeddings with vectors of `least` to 5 numbers, of graphs of every kind, with state or without."""
    chosen = draw(st.lists(names, max_size=8, unique=True))
    n, k = len(chosen), draw(st.integers(least, 5))
    recipe: dict[str, Any] = {"seed": draw(st.integers(0, 9)), "note": draw(any_text)}
    recipe |= draw(
        st.sampled_from([{}, {"sides": "rows", "sources": n // 2}, {"sides": "columns"} if k % 2 == 0 else {}])
    )
    state: dict[str, Any] = {}
    if draw(st.booleans()):
        state["degrees"] = draw(hnp.arrays(np.float32, n, elements=counts))
        if "sides" not in recipe:
            state["fold_map"] = draw(st.none() | hnp.arrays(np.float32, (6 * k, k), elements=finite))
    state["degree_weight"] = draw(st.none() | st.floats(0, allow_nan=False, allow_infinity=False))
    return Embedding(chosen, draw(hnp.arrays(np.float32, (n, k), elements=finite)), recipe, **state)


def assert_same(back: Embedding, embedding: Embedding, *, with_state: bool = True) -> None:
    """Hold names and vectors to the same types and bits (-0.0 is not 0.0); without state, only these come back."""
    assert back.names.tolist() == embedding.names.tolist()
    assert back.names.dtype == embedding.names.dtype
    assert back.vectors.shape == embedding.vectors.shape
    assert back.vectors.tobytes() == embedding.vectors.tobytes()
    if with_state:
        assert back.recipe == embedding.recipe and back.state == embedding.state and back.sides == embedding.sides
    else:
        assert back.recipe == {} and not back.state.arrays()
