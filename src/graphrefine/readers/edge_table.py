"""Output of a loader: edges with numbered ends, or a matrix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.node_ids import Numbered


@dataclass(frozen=True)
class EdgeTable:
    """Edges with numbered ends; `names` in order, `weights` checked."""

    numbered: Numbered
    weights: NDArray[np.float32] | None
    report: dict[str, Any] = field(default_factory=dict)
    row_numbers: bool = False  # ids are rows, and all from 0 to the largest are nodes


@dataclass(frozen=True)
class MatrixTable:
    """A matrix, sparse or dense, square unless the graph is bipartite."""

    matrix: Any
    report: dict[str, Any] = field(default_factory=dict)
