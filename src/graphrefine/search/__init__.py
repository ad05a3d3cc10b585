"""The nodes nearest to a node: exact, or by an index.

`Search` answers for rows and vectors of one embedding, again and again; `neighbors` for names, once. Modules:

==============  =============================================================================================
measures.py     what is near: a score as an inner product, and which rows are compared with which
searcher.py     `Search`: exact, in blocks, by the kernel; or by an index
index.py        the index: kept beside the embedding and mapped, its recall measured
graphs.py       usearch's graph of near neighbours
asking.py       from names, labels and graphs to rows, and back
==============  =============================================================================================
"""

from __future__ import annotations

from graphrefine.search.index import INDEX_BEYOND
from graphrefine.search.neighbors import Neighbor, neighbors
from graphrefine.search.scores import SCORES
from graphrefine.search.searcher import Found, Search

__all__ = ["INDEX_BEYOND", "SCORES", "Found", "Neighbor", "Search", "neighbors"]
