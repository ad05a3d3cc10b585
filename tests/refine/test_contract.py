"""What holds for the vectors of every kind of graph and every tier: threads, seeds, units of weights, empty rows."""

from __future__ import annotations

import numpy as np
import pytest

from variants import KINDS, embed_kind, make_graph

NODES = 5000  # more than one block of rows in every kernel
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_threads_change_no_bit_and_seeds_do(kind: str) -> None:
    graph = make_graph(kind, nodes=NODES)
    first = embed_kind(kind, graph, threads=1)
    assert np.isfinite(first).all()
    assert np.array_equal(~first.any(axis=1), graph.without_edges())
    for threads in (2, 4):
        assert np.array_equal(embed_kind(kind, graph, threads=threads), first)
    assert not np.allclose(embed_kind(kind, graph, seed=1), first, atol=1e-3)


@each_kind
@pytest.mark.parametrize("orders", [0.5, 6.0, 15.0])
def test_weights_of_any_size_whose_unit_does_not_matter(kind: str, orders: float) -> None:
    one, other = (
        embed_kind(kind, make_graph(kind, orders=orders, unit=unit, nodes=400), bfloat16=False)
        for unit in (1.0, 1024.0)
    )
    assert np.isfinite(one).all() and one.any(axis=1).sum() > 0.9 * len(one)
    similar = one @ one.T
    assert np.abs(similar - other @ other.T).max() < 0.05 * np.abs(similar).max()
