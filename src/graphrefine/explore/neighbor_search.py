"""Nearest neighbours in the embedding that is served: by each score, of one label, or not linked yet."""

from __future__ import annotations

from math import isfinite
from typing import Any, Literal

import numpy as np

from graphrefine.embedding.embedding import Embedding
from graphrefine.explore.background import Watch
from graphrefine.explore.labels import NodeLabels
from graphrefine.explore.matched_graph import MatchedGraph
from graphrefine.explore.search_batcher import Hits, SearchBatcher, SearchOptions
from graphrefine.search import Search

QUICK = 100  # neighbours that an index finds in less than a millisecond

Score = Literal["cosine", "dot", "link"]


class NeighborSearch:
    """Searches by each score, exact until there is an index."""

    def __init__(self, embedding: Embedding, labels: NodeLabels | None, graph: MatchedGraph | None) -> None:
        self._embedding, self._labels, self._graph = embedding, labels, graph
        self._searches: dict[str, Search] = {}
        self.batcher = SearchBatcher(self._nearest, self._is_quick)

    def by(self, score: Score) -> Search:
        """The search by a score."""
        if score not in self._searches:
            self._searches[score] = Search(self._embedding, score, index=False)
        return self._searches[score]

    def kind(self, score: str) -> Literal["exact", "index"]:
        """The kind of the search by a score."""
        search = self._searches.get(score)
        return "exact" if search is None or search.index is None else "index"

    def make_index(self, watch: Watch) -> None:
        """Search by an index from now on: by the cosine, as most do."""
        self._searches["cosine"] = Search(self._embedding, "cosine", index=True, watcher=watch)

    def _is_quick(self, options: SearchOptions) -> bool:
        """Whether the index alone will answer."""
        is_plain = options.label is None and not options.unlinked
        return options.k <= QUICK and is_plain and self.kind(options.score) == "index"

    def _nearest(self, options: SearchOptions, queries: list[Any]) -> list[Hits]:
        """Search, in the thread of the batcher."""
        among = None if options.label is None or self._labels is None else self._labels.mask(options.label)
        without = [self._graph.neighbors(row) for row in queries] if options.unlinked and self._graph else None
        points: dict[str, Any] = (
            {"rows": np.array(queries, np.int64)} if options.by_row else {"vectors": np.array(queries)}
        )
        nearest = self.by(options.score).nearest(**points, k=options.k, among=among, without=without)
        return [_hits(*each) for each in zip(nearest.rows, nearest.scores, strict=True)]


def _hits(rows: Any, scores: Any) -> Hits:
    places = np.flatnonzero(rows >= 0)
    return Hits(rows[places].tolist(), [finite(each) for each in scores[places].tolist()])


def finite(number: float) -> Any:
    """A number for JSON: None if it is not finite."""
    return number if isfinite(number) else None
