"""Answers of an embedding: scores, neighbors and recommendations, each by the module that knows it.

`graphrefine.embedding.scored_table` has what users call, with its documentation; this is loaded with the first call.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from graphrefine.display.table import Table
from graphrefine.embedding.recommend import recommend
from graphrefine.embedding.scores import PairScore, score_nodes, score_of
from graphrefine.embedding.table import VectorTable
from graphrefine.search.all_neighbors import all_neighbors, join_tables
from graphrefine.search.neighbors import find_neighbors
from graphrefine.search.rankings import Neighbor, Ranking, Rankings, Recommendation


class Answers:
    """The answers of one table of vectors, which keeps its score from call to call."""

    def __init__(self, table: VectorTable) -> None:
        self._table = table

    @cached_property
    def pair_score(self) -> PairScore:
        """The score of pairs of nodes."""
        return score_of(self._table)

    def score(self, u: Any, v: Any, **options: Any) -> Any:
        """Scores of pairs."""
        return score_nodes(self._table, self.pair_score, u, v, **options)

    def recommend(self, nodes: Any, k: int, **options: Any) -> Ranking[Recommendation] | Rankings[Recommendation]:
        """Targets for sources."""
        return recommend(self._table, nodes, k, **options)

    def neighbors(self, nodes: Any, k: int, **options: Any) -> Ranking[Neighbor] | Rankings[Neighbor]:
        """Neighbors of nodes or vectors."""
        return find_neighbors(self._table, nodes, k, **options)

    def all_neighbors(self, k: int, **options: Any) -> Table:
        """Neighbors of every node."""
        return join_tables(all_neighbors(self._table, k, **options))
