"""Handwritten digits of scikit-learn: a real graph that every installation has."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph

NEIGHBORS = 10


def digits_graph() -> tuple[Graph, NDArray[np.int64]]:
    """Return 1,797 images of digits, each joined to the ten that look most like it; and the digit of each.

    Examples
    --------
    >>> graph, digit = digits_graph()
    >>> graph.nodes, digit[:4].tolist()
    (1797, [0, 1, 2, 3])
    """
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    digits = load_digits()
    return Graph.from_matrix(kneighbors_graph(digits.data, NEIGHBORS)), digits.target
