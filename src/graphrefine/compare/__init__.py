"""Which method is best on a graph, and what each costs: `compare`.

>>> import graphrefine.compare
>>> ring = [(i, (i + step) % 20) for i in range(20) for step in (1, 2)]
>>> sides = ["left"] * 10 + ["right"] * 10
>>> done = graphrefine.compare.compare(ring, labels=sides, methods=["refine"], dims=[4])
>>> [row.name for row in done.rows]
['refine, dim 4', 'random vectors']
"""

from __future__ import annotations

from graphrefine.compare.rows import Comparison, Row
from graphrefine.compare.run import compare

__all__ = ["Comparison", "Row", "compare"]
