"""Points of a map: nodes in the plane with their names and classes, for pictures, pages and tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.maps.classes import Classes

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class MapPoints:
    """Nodes in the plane.

    Attributes
    ----------
    names : ndarray of n int64 or str
    coordinates : ndarray of float32, (n, 2), within [-1, 1]
    classes : Classes or None
        The class of each node.
    degrees : ndarray of float32, (n,), or None
    method : str
        Of the layout: "clusters" or "pca".
    title : str
    vectors : ndarray of float32, (n, k), or None
        The vectors of the map; for the neighbors in a parquet file.
    """

    names: NDArray[Any]
    coordinates: Floats
    classes: Classes | None = None
    degrees: Floats | None = None
    method: str = "clusters"
    title: str = ""
    vectors: Floats | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.coordinates)
