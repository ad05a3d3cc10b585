"""Maps of vectors: every node a point in the plane, near those that are like it.

``pca`` is the plane in which the vectors differ most: quick, and true to large distances alone. ``clusters`` is a
layout of the family of t-SNE and UMAP: it keeps neighbors together, and so shows groups; the distance between groups
says less.
"""

from __future__ import annotations

from graphrefine.display.maps.layout import find_layout, obtain_layout
from graphrefine.display.maps.map import Map, check_map_output, make_map

__all__ = ["Map", "check_map_output", "find_layout", "make_map", "obtain_layout"]
