"""Maps of vectors: every node a point in the plane, near those that are like it.

``pca`` is the plane in which the vectors differ most: quick, and true to large distances alone. ``clusters`` is a
layout of the family of t-SNE and UMAP: it keeps neighbours together, and so shows what groups there are; how far
groups lie from each other says less.
"""

from __future__ import annotations

from graphrefine.maps.layout import METHODS, choose, layout
from graphrefine.maps.layout_cache import Kept, find_layout, kept_layout
from graphrefine.maps.map import SUFFIXES, Map, check_map_output, map_of

__all__ = [
    "METHODS",
    "SUFFIXES",
    "Kept",
    "Map",
    "check_map_output",
    "choose",
    "find_layout",
    "kept_layout",
    "layout",
    "map_of",
]
