"""The nodes nearest to a node: exact, or by an index.

For others: `Search` answers for rows and vectors of one embedding, again and again; `neighbors` for names, once;
`SCORES` are the kinds of likeness, and beyond `INDEX_BEYOND` nodes an index is made.
"""

from __future__ import annotations

from graphrefine.kernels.nearest import NearestRows
from graphrefine.search.index import INDEX_BEYOND
from graphrefine.search.neighbors import Neighbor, find_neighbors
from graphrefine.search.scores import SCORES
from graphrefine.search.searcher import Search

__all__ = ["INDEX_BEYOND", "SCORES", "NearestRows", "Neighbor", "Search", "find_neighbors"]
