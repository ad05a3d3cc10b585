"""What the benchmarks of speed measure with: a record of kernel calls, and the machine's floor."""

from __future__ import annotations

import doctest
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import graphrefine
from graphrefine.graph.graph import Graph
from graphrefine.kernels import native

SCRIPTS = Path(__file__).parents[2] / "benchmarks"

sys.path.append(str(SCRIPTS))
kernel_calls = pytest.importorskip("kernel_calls", reason="the benchmarks are not here")


@pytest.mark.parametrize("name", ["kernel_calls", "machine_probe", "roofline", "per_edge"])
def test_the_examples(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried and not failed


def test_a_record_has_every_call_and_changes_no_bits() -> None:
    graph = Graph.from_edges(np.arange(40), (np.arange(40) + 1) % 40)
    plain, before = graphrefine.embed(graph, 8, quality="fast").vectors, dict(vars(native))
    with kernel_calls.recording() as calls:
        assert vars(native) != before
        recorded = graphrefine.embed(graph, 8, quality="fast").vectors
    assert np.array_equal(plain, recorded) and vars(native) == before
    product = next(call for call in calls if call.entries)
    assert (product.rows, product.entries) == (40, 80) and product.name.startswith("product, signs")
    assert all(call.seconds > 0 for call in calls) and any(call.flops for call in calls)
