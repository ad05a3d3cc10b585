"""ScoredTable: a table of vectors that can be asked for scores of edges, neighbors and recommendations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.embedding.table import VectorTable
from graphrefine.graph.lookup import Side, Unknown

if TYPE_CHECKING:
    from graphrefine.display.table import Table
    from graphrefine.embedding.answers import Answers
    from graphrefine.progress import Watcher
    from graphrefine.search.rankings import Neighbor, Ranking, Rankings, Recommendation

OneName = str | int | np.integer[Any]
Score = Literal["cosine", "dot", "link"]


class SearchKeywords(TypedDict, total=False):
    """The keywords of `ScoredTable.neighbors`, beside nodes, k and vectors."""

    score: Score
    index: bool | None
    among: Any
    labels: Any
    label: str | None
    unlinked: Any
    side: Side | None
    unknown: Unknown
    threads: int | None


class ScoredTable(VectorTable):
    """Vectors with names that can be scored; `graphrefine.Embedding` is one.

    One name has one answer; several, in a list, an array or a column of a table, have a list of answers in their
    order. In every method ``unknown`` is what happens to names that no node has.
    """

    @cached_property
    def _answers(self) -> Answers:
        from graphrefine.embedding.answers import Answers

        return Answers(self)

    @overload
    def score(self, u: OneName, v: OneName, *, unknown: Unknown = "error") -> float: ...  # type: ignore[overload-overlap]

    @overload
    def score(self, u: tuple[Any, ...], v: Any = None, *, unknown: Unknown = "error") -> Any: ...

    @overload
    def score(
        self, u: OneName | Iterable[Any], v: OneName | Iterable[Any] | None = None, *, unknown: Unknown = "error"
    ) -> NDArray[np.float32]: ...

    def score(self, u: Any, v: Any = None, *, unknown: Unknown = "error") -> Any:
        """Likelihood of edges between nodes: the higher, the likelier; for nodes that are alike, take the cosine.

        ``cos(x_u, x_v) + w (ln d_u + ln d_v)`` with w the `degree_weight`; the cosine alone where `degrees` is None;
        ``source_u . target_v`` of directed and bipartite graphs, with u among the sources and v among the targets.
        `score_name` tells which.

        Parameters
        ----------
        u : name, or sequence of names
            One end, or one of each pair.
        v : name, or sequence of as many names, optional
            One name against several is scored with each of them. None means every node.
        unknown : "error" or "skip"
            Names that no node has: an error, or NaN in their place, with a warning.

        Returns
        -------
        float
            For two names.
        ndarray of float32
            (m,) for m pairs; (n,) for a name and every node, in the order of the rows; (m, n) for m names and every
            node.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]], degrees=[1, 2, 1])
        >>> round(people.score("ada", "bob"), 3)  # 0.6 + 0.1 ln 2
        0.669
        >>> people.score("ada", ["bob", "cy"]).round(3).tolist()
        [0.6690000295639038, 0.0]
        >>> people.score("ada").shape
        (3,)
        """
        return self._answers.score(u, v, unknown=unknown)

    @overload
    def recommend(
        self, nodes: OneName, k: int = 10, *, exclude: Any = (), unknown: Unknown = "error"
    ) -> Ranking[Recommendation]: ...

    @overload
    def recommend(
        self, nodes: tuple[Any, ...], k: int = 10, *, exclude: Any = (), unknown: Unknown = "error"
    ) -> Any: ...

    @overload
    def recommend(
        self, nodes: Iterable[Any], k: int = 10, *, exclude: Any = (), unknown: Unknown = "error"
    ) -> Rankings[Recommendation]: ...

    def recommend(self, nodes: Any, k: int = 10, *, exclude: Any = (), unknown: Unknown = "error") -> Any:
        """The k targets with the highest ``source . target``, and their scores, the highest first.

        Parameters
        ----------
        nodes : name, or sequence of names
            Sources: users, if the graph was bipartite; any nodes otherwise.
        k : int
            Number of targets; fewer where there are no more.
        exclude : names of targets, Graph, table or pairs (source, target), or mapping of sources to targets
            Targets to leave out: those named, or the ones that a source has there. A node is never recommended to
            itself.
        unknown : "error" or "skip"
            Names that no source has: an error, or an empty list in their place, with a warning.

        Returns
        -------
        list of Recommendation(node, score)
            Or, for several nodes, a list of such lists. Both have `table`, `to_pandas`, `to_polars` and `to_arrow`.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> two = Embedding(["ann", "tea", "cake"], [[1, 2], [1, 0], [1, 1]], {"sides": "rows", "sources": 1})
        >>> two.recommend("ann") == [("cake", 3.0), ("tea", 1.0)], two.recommend("ann", exclude=["cake"])
        (True, [Recommendation(node='tea', score=1.0)])
        >>> two.recommend(["ann"]).table()
        source  target  rank  score
        ann     cake       1      3
        ann     tea        2      1
        """
        return self._answers.recommend(nodes, k, exclude=exclude, unknown=unknown)

    @overload
    def neighbors(self, nodes: OneName, k: int = 10, **options: Unpack[SearchKeywords]) -> Ranking[Neighbor]: ...

    @overload
    def neighbors(self, nodes: tuple[Any, ...], k: int = 10, **options: Unpack[SearchKeywords]) -> Any: ...

    @overload
    def neighbors(self, nodes: Iterable[Any], k: int = 10, **options: Unpack[SearchKeywords]) -> Rankings[Neighbor]: ...

    @overload
    def neighbors(
        self, nodes: None = None, k: int = 10, *, vectors: ArrayLike, **options: Unpack[SearchKeywords]
    ) -> Any: ...

    def neighbors(
        self,
        nodes: Any = None,
        k: int = 10,
        *,
        vectors: ArrayLike | None = None,
        score: Score = "cosine",
        index: bool | None = None,
        among: Any = None,
        labels: Any = None,
        label: str | None = None,
        unlinked: Any = None,
        side: Side | None = None,
        unknown: Unknown = "error",
        threads: int | None = None,
    ) -> Any:
        """The k nodes nearest to a node, the nearest first, itself left out.

        Parameters
        ----------
        nodes : name, or sequence of names
            Whose neighbors; or give ``vectors``.
        k : int
            Number of neighbors; fewer, if there are no more.
        vectors : array of shape (dim,) or (q, dim)
            Find the nodes near these instead.
        score : "cosine", "dot" or "link"
            Measure of nearness. "cosine": nodes that are alike, whatever their degree; one with a zero vector has
            no neighbors. "dot": the inner product, for vectors whose length has a meaning; of unit vectors, as
            REFINE's are, the cosine. "link": what `score` gives, nodes that are likely to be linked, hubs first.
        index : bool
            Whether to search by an index rather than exactly (extra ``ann``): made if it is missing, stored beside the
            file that the embedding was loaded from. If not given: beyond a million nodes.
        among : names
            Find only these nodes.
        labels, label
            Find only nodes that have that label; ``labels`` is what `graphrefine evaluate labels` takes.
        unlinked : Graph, or what `graphrefine.read` takes
            Leave out the neighbors that a node has in this graph: near, but not linked yet.
        side : "source" or "target"
            Where a name stands on both sides of a bipartite graph. Its neighbors by the cosine are of the same side,
            by "link" of the other.
        unknown : "error" or "skip"
            Names that no node has: an error, or an empty list in their place, with a warning.
        threads : int
            One for each core if not given; the answer does not depend on it.

        Returns
        -------
        list of Neighbor(node, score)
            Or, for several nodes or vectors, a list of such lists. Both have `table`, `to_pandas`, `to_polars` and
            `to_arrow`.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]])
        >>> [(near.node, round(near.score, 1)) for near in people.neighbors("bob")]
        [('cy', 0.8), ('ada', 0.6)]
        >>> people.neighbors(vectors=[0, 2], k=1)
        [Neighbor(node='cy', score=1.0)]
        >>> people.neighbors(["ada", "cy"], k=1).table()
        node  neighbor  rank  score
        ada   bob          1    0.6
        cy    bob          1    0.8
        """
        limits: dict[str, Any] = {"among": among, "labels": labels, "label": label, "unlinked": unlinked}
        limits |= {"side": side, "unknown": unknown, "threads": threads}
        return self._answers.neighbors(nodes, k, vectors=vectors, score=score, index=index, **limits)

    def all_neighbors(
        self,
        k: int = 10,
        *,
        score: Score = "cosine",
        index: bool | None = None,
        among: Any = None,
        labels: Any = None,
        label: str | None = None,
        unlinked: Any = None,
        threads: int | None = None,
        watch: Watcher | None = None,
    ) -> Table:
        """The k nearest nodes of every node as one table; the options are those of `neighbors`.

        `graphrefine.search.all_neighbors.all_neighbors` is the same in blocks, for more nodes than a table can hold.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]]).all_neighbors(1)
        node  neighbor  rank  score
        ada   bob          1    0.6
        bob   cy           1    0.8
        cy    bob          1    0.8
        """
        limits: dict[str, Any] = {"among": among, "labels": labels, "label": label, "unlinked": unlinked}
        return self._answers.all_neighbors(k, score=score, index=index, threads=threads, watch=watch, **limits)
