"""Maps of vectors: every node a point in the plane, near those that are like it.

``pca`` is the plane in which the vectors differ most: quick, and true to large distances alone. ``clusters`` is a
layout of the family of t-SNE and UMAP: it keeps neighbors together, and so shows groups; the distance between groups
says less.
"""

from __future__ import annotations

from graphrefine.display.maps.layout import METHODS, layout, resolve_method
from graphrefine.display.maps.layout_cache import CachedLayout, find_layout, obtain_layout
from graphrefine.display.maps.map import SUFFIXES, Map, check_map_output, map_of

__all__ = [
    "METHODS",
    "SUFFIXES",
    "CachedLayout",
    "Map",
    "check_map_output",
    "find_layout",
    "layout",
    "map_of",
    "obtain_layout",
    "resolve_method",
]
