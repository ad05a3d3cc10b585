"""Source and target: which part of an embedding is which side, kept by every format that keeps the recipe."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphrefine.embedding.embedding import Embedding
from graphrefine.errors import InputError

NUMBERS = np.arange(20, dtype=np.float32).reshape(5, 4)


def test_without_sides_both_are_the_vectors() -> None:
    """One vector for each node is its source and its target."""
    embedding = Embedding(None, NUMBERS)
    assert np.shares_memory(embedding.source, embedding.vectors)
    assert np.array_equal(embedding.source, NUMBERS) and np.array_equal(embedding.target, NUMBERS)
    assert embedding.source_names.tolist() == embedding.target_names.tolist() == [0, 1, 2, 3, 4]


def test_columns() -> None:
    """Half of the columns are sources, the others targets, and neither is a copy."""
    embedding = Embedding("abcde", NUMBERS, {"sides": "columns"})
    assert np.array_equal(embedding.source, NUMBERS[:, :2]) and np.array_equal(embedding.target, NUMBERS[:, 2:])
    assert np.shares_memory(embedding.source, embedding.vectors)
    assert embedding.index("b") == embedding.index("b", side="source") == embedding.index("b", side="target") == 1


def test_rows() -> None:
    """The first rows are one set of nodes, the others another, and a name may stand in both."""
    embedding = Embedding([1, 7, 9, 7, 8], NUMBERS, {"sides": "rows", "sources": 3})
    assert np.array_equal(embedding.source, NUMBERS[:3]) and np.array_equal(embedding.target, NUMBERS[3:])
    assert np.shares_memory(embedding.target, embedding.vectors)
    assert embedding.source_names.tolist() == [1, 7, 9] and embedding.target_names.tolist() == [7, 8]
    assert embedding.index(9) == 2 and embedding.index(8) == 4
    assert embedding.index(7, side="source") == 1 and embedding.index(7, side="target") == 0
    assert 7 in embedding and 5 not in embedding
    with pytest.raises(InputError, match=r'7 is a name on both sides; pass side="source"'):
        embedding.index(7)
    with pytest.raises(InputError, match="on the target side; the first is 7"):
        embedding.index(1, side="target")
    with pytest.raises(InputError, match="side='left' is not known; it can be 'source', 'target'"):
        embedding.index(7, side="left")  # type: ignore[arg-type]


@pytest.mark.parametrize("sources", [0, 5])
def test_an_empty_side(sources: int) -> None:
    """One of the two sets may be empty."""
    embedding = Embedding(None, NUMBERS, {"sides": "rows", "sources": sources})
    assert len(embedding.source) == sources and len(embedding.target) == 5 - sources
    assert embedding.index(3) == 3
    with pytest.raises(InputError, match="there is no node there"):
        embedding.index(3, side="target" if sources else "source")


@pytest.mark.parametrize(
    "recipe",
    [{"sides": "diagonal"}, {"sides": "rows"}, {"sides": "rows", "sources": 6}, {"sides": "rows", "sources": True}],
)
def test_a_recipe_that_does_not_fit(recipe: dict[str, Any]) -> None:
    """A recipe written by hand is checked when a side is asked for."""
    with pytest.raises(InputError, match=r"the recipe says sides=.* does not fit 5 vectors of 4 numbers"):
        _ = Embedding(None, NUMBERS, recipe).source


def test_halves_of_an_odd_number() -> None:
    """There is no half of three columns."""
    with pytest.raises(InputError, match="'columns' where dim is even"):
        _ = Embedding(None, NUMBERS[:, :3], {"sides": "columns"}).target
