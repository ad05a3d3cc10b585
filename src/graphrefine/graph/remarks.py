"""Remarks on a graph: counts of records that reading left out or merged, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

REMARKS = {
    "self_loops": "self-loops left out",
    "duplicates": "edges listed again, their weights added (1 each where there are none)",
    "reciprocal": "edges listed in both directions, counted once",
    "zero_weights": "edges of weight 0 left out",
    "missing": "records with an empty end left out",
    "isolated": "nodes without edges, their vectors zero",
    "zero_vectors": "nodes with edges whose vectors came out zero all the same",
    "alone": "nodes without edges, their vectors from features alone",
    "bare": "nodes without features",
    "unknown": "rows of features for nodes that the graph does not have",
}


def counted(counts: Mapping[str, Any], *, edges: int) -> list[str]:
    """What was counted while reading, in words; what is as most people expect it is left out.

    Examples
    --------
    >>> counted({"records": 9, "self_loops": 2, "missing": 0, "reciprocal": 7}, edges=7)
    ['self-loops left out: 2']
    """
    symmetric = counts.get("reciprocal") == edges  # a symmetric matrix, or a list meant so
    expected = {"reciprocal"} if symmetric else set()
    return [f"{text}: {counts[name]:,}" for name, text in REMARKS.items() if counts.get(name) and name not in expected]
