"""Embedding: the vectors of a graph's nodes, their names, and the recipe that made them."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, KeysView, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from graphrefine.embedding.fingerprint import Fingerprint, fingerprint_of
from graphrefine.embedding.formats import explain_damage, format_place, is_address
from graphrefine.embedding.formats.io import load_data, names_as_text, write_embedding
from graphrefine.embedding.learn import learn_state
from graphrefine.embedding.state import DEGREE_WEIGHT, EmbeddingData, State, as_recipe
from graphrefine.errors import InputError, require
from graphrefine.graph.lookup import Lookup, Name, Side, Sides, Unknown, quote_name
from graphrefine.graph.node_ids import as_names
from graphrefine.kernels.numerics import warn_of_numerics
from graphrefine.search.companions import stamp_file
from graphrefine.search.vectors import Stamp, as_vectors, check_finite
from graphrefine.system.threads import one_blas_thread

if TYPE_CHECKING:
    from graphrefine.display.maps.map import Map
    from graphrefine.display.table import Table
    from graphrefine.embedding.scores import PairScore
    from graphrefine.graph.graph import Graph
    from graphrefine.progress import Watcher
    from graphrefine.readers.options import ReadKeywords
    from graphrefine.search.rankings import Neighbor, Ranking, Rankings, Recommendation

OneName = str | int | np.integer[Any]
Score = Literal["cosine", "dot", "link"]
_ROWS_COMPARED = 1 << 14  # at a time: a comparison of all makes an array of as many truth values


class SearchKeywords(TypedDict, total=False):
    """The keywords of `Embedding.neighbors` that lists of nodes and vectors share."""

    score: Score
    index: bool | None
    candidates: Any
    labels: Any
    label: str | None
    exclude_linked: Any
    side: Side | None
    unknown: Unknown
    threads: int | None


class Embedding:
    """Vectors with the names of their nodes and the recipe that made them.

    Parameters
    ----------
    names : sequence or array of n integers, n strings or n hashable objects, or None
        The node of each row; None means 0, 1, ..., n - 1. Files hold other objects than integers as their text.
    vectors : array of shape (n, k)
        Stored as float32, not copied if it is that already. NaN and infinite numbers are refused, except
        in files that are memory-mapped: those are not read just to check them.
    recipe : dict, optional
        Settings, seed and version that made the vectors: anything that JSON can hold.
    degrees : array of n numbers, optional
        Number of neighbors of each node, for `score`.
    fold_map : array of shape (6k, k), optional
        Regression for `fold_in`, learned from the graph; see `graphrefine.embedding.fold_in`.
    degree_weight : float, optional
        Weight of the degrees in `score`, learned from the graph (`graphrefine.embedding.learn`); else 0.1.

    Attributes
    ----------
    names : ndarray of n int64, or of n str or other ids (dtype object)
    vectors : ndarray of float32, (n, k), in memory or mapped from a file (then read-only)
    recipe : dict
    state : State, degrees and all that was learned from the graph
    sides : Sides, rows or columns of source and target vectors
    path : Path or None, the file that the vectors were loaded from; an index or a map is stored next to it
    file_stamp : dict or None, size and time of that file when it was opened
    is_bare : bool, whether that file has names and numbers alone, so that nothing says what their graph was

    Examples
    --------
    >>> embedding = Embedding(["ada", "bob"], [[1, 0], [0.6, 0.8]], {"seed": 0})
    >>> embedding
    Embedding(2 nodes x 2, names 'ada' ... 'bob')
    >>> embedding["bob"]
    array([0.6, 0.8], dtype=float32)
    >>> "eve" in embedding, embedding.index("bob"), len(embedding), embedding.dim
    (False, 1, 2, 2)
    """

    path: Path | None = None
    file_stamp: Stamp | None = None
    is_bare: bool = False

    def __init__(
        self,
        names: Any,
        vectors: ArrayLike,
        recipe: dict[str, Any] | None = None,
        *,
        degrees: ArrayLike | None = None,
        fold_map: NDArray[np.float32] | None = None,
        degree_weight: float | None = None,
    ) -> None:
        counts = None if degrees is None else np.asarray(degrees)
        state = State(counts, fold_map, degree_weight)
        self._fill(EmbeddingData(names, as_vectors(vectors), recipe or {}, state=state))

    def _fill(self, data: EmbeddingData) -> None:
        self.vectors = data.vectors
        self.recipe = as_recipe(data.recipe)
        self.state = data.state.checked(*data.vectors.shape, sides=self.recipe.get("sides"), mapped=data.mapped)
        self.sides = Sides.from_recipe(self.recipe, data.vectors.shape)
        self.names = as_names(data.names, len(data.vectors))
        if not data.mapped:
            check_finite(self.vectors, self.names)

    @classmethod
    def from_data(cls, data: EmbeddingData) -> Embedding:
        """Return the embedding of names, vectors, recipe and state, as a file format reads them."""
        embedding = cls.__new__(cls)
        embedding._fill(data)
        return embedding

    @property
    def data(self) -> EmbeddingData:
        """Names, vectors, recipe and state, as a file format writes them."""
        return EmbeddingData(self.names, self.vectors, self.recipe, state=self.state)

    def __repr__(self) -> str:
        ends = f", names {quote_name(self.names[0])} ... {quote_name(self.names[-1])}" if len(self) else ""
        return f"Embedding({len(self)} nodes x {self.dim}{ends})"

    def _repr_html_(self) -> str:
        """Return the embedding in a notebook; see `graphrefine.embedding.notebook`."""
        from graphrefine.embedding.notebook import embedding_html

        return embedding_html(self)

    @cached_property
    def lookup(self) -> Lookup:
        """Rows by the names of their nodes."""
        return Lookup(self.names, self.sides)

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, key: Any) -> NDArray[np.float32]:
        """Return the vector of a node, or those of several; for keys see `graphrefine.graph.lookup.Lookup.select`.

        Examples
        --------
        >>> people = Embedding(["ann", "bob", "cy"], [[1, 2], [3, 4], [5, 6]])
        >>> people["bob"].tolist(), people[["cy", "ann"]].tolist()
        ([3.0, 4.0], [[5.0, 6.0], [1.0, 2.0]])
        """
        vectors: NDArray[np.float32] = self.vectors[self.lookup.select(key)]
        return vectors

    def __contains__(self, name: object) -> bool:
        return bool(self.lookup.on_sides(name))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names.tolist())

    def get(self, name: Name, default: Any = None, *, side: Side | None = None) -> Any:
        """Return the vector of a node, or the default if no node is called so.

        Examples
        --------
        >>> people = Embedding(["ann", "bob"], [[1, 2], [3, 4]])
        >>> people.get("bob").tolist(), people.get("eve"), people.get("eve", 0)
        ([3.0, 4.0], None, 0)
        """
        if not isinstance(name, Hashable):
            raise InputError(f"get({name!r}): one name is expected; embedding[[...]] gives the vectors of several")
        row = self.lookup.find(name, side)
        first = 0 if side is None else self.sides.first(side)
        return default if row is None else self.vectors[row + first]

    def keys(self) -> KeysView[Any]:
        """Return the names, as a dict has them."""
        return KeysView(cast("Mapping[Any, Any]", self))

    def values(self) -> NDArray[np.float32]:
        """Return the vectors, in the order of the names: `vectors` itself.  # (n, k)."""
        return self.vectors

    def items(self) -> Iterator[tuple[Any, NDArray[np.float32]]]:
        """Return pairs of name and vector, in the order of the rows.

        Examples
        --------
        >>> [(name, vector.tolist()) for name, vector in Embedding(["ann", "bob"], [[1], [2]]).items()]
        [('ann', [1.0]), ('bob', [2.0])]
        """
        return zip(self.names.tolist(), self.vectors, strict=True)

    def to_dict(self) -> dict[Any, NDArray[np.float32]]:
        """Return the vectors by name, as views; InputError where both sides of a bipartite graph have a name.

        Examples
        --------
        >>> Embedding(["ann"], [[1, 2]]).to_dict()
        {'ann': array([1., 2.], dtype=float32)}
        """
        vectors = dict(self.items())
        if len(vectors) < len(self):
            for name in self:
                self.index(name)  # raises the error of a name on both sides
        return vectors

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of nodes and of numbers in a vector."""
        return len(self), self.dim

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the vectors for NumPy: themselves, unless another type or a copy is asked for."""
        if copy is False and dtype is not None and np.dtype(dtype) != self.vectors.dtype:
            raise InputError(f"the vectors are float32: as {np.dtype(dtype)} they need a copy", argument="copy")
        return np.array(self.vectors, dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        """Return the vectors by DLPack, for torch, JAX, CuPy and others; they share the memory."""
        return self.vectors.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[Any, int]:
        """Return the processor."""
        return self.vectors.__dlpack_device__()

    def __eq__(self, other: object) -> bool:
        """Return whether names, vectors, recipe and state are the same, rows in the same order."""
        if not isinstance(other, Embedding):
            return NotImplemented
        same = self.shape == other.shape and self.recipe == other.recipe and self.names.dtype == other.names.dtype
        if self is other or not same or not np.array_equal(self.names, other.names) or self.state != other.state:
            return self is other
        blocks = (slice(start, start + _ROWS_COMPARED) for start in range(0, len(self), _ROWS_COMPARED))
        return all(np.array_equal(self.vectors[rows], other.vectors[rows]) for rows in blocks)

    __hash__ = None  # type: ignore[assignment]  # equal by content, which can change

    def __getstate__(self) -> dict[str, Any]:
        """Return all but caches, for pickles and copies."""
        kept = ("names", "vectors", "recipe", "state", "sides", "path", "file_stamp", "is_bare")
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def index(self, name: Name, *, side: Side | None = None) -> int:
        """Return the row of a node in `vectors`; or, where a side is named, in `source` or `target`.

        Examples
        --------
        >>> users_and_items = Embedding([1, 2, 1], [[1], [2], [3]], {"sides": "rows", "sources": 2})
        >>> users_and_items.index(2), users_and_items.index(1, side="target")
        (1, 0)
        """
        return self.lookup.row(name, side)

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    @property
    def degrees(self) -> NDArray[np.float32] | None:
        """Number of neighbors of each node, for `score`; None if not known.  # (n,)."""
        return self.state.degrees

    @property
    def fold_map(self) -> NDArray[np.float32] | None:
        """Regression that `fold_in` uses, learned from the graph; None if nothing was learned.  # (6k, k)."""
        return self.state.fold_map

    @property
    def degree_weight(self) -> float:
        """Weight of the degrees in `score`: learned from the graph, or 0.1."""
        return DEGREE_WEIGHT if self.state.degree_weight is None else self.state.degree_weight

    @property
    def source(self) -> NDArray[np.float32]:
        """Vectors of nodes as sources: a view of half of the columns, or of the first rows of a bipartite graph.

        Where edges have no direction, source and target are both `vectors`. The score of an edge from u to v is
        ``source[u] @ target[v]``.
        """
        return self.sides.vectors(self.vectors, "source")

    @property
    def target(self) -> NDArray[np.float32]:
        """Vectors of nodes as targets; see `source`."""
        return self.sides.vectors(self.vectors, "target")

    @property
    def source_names(self) -> NDArray[Any]:
        """The node of each row of `source`."""
        return self.sides.names(self.names, "source")

    @property
    def target_names(self) -> NDArray[Any]:
        """The node of each row of `target`."""
        return self.sides.names(self.names, "target")

    @property
    def score_name(self) -> str:
        """Name of the score that `score` gives, as in `graphrefine evaluate links`."""
        if self.sides.kind is not None:
            return "dot"
        return "cosine" if self.degrees is None else "cosine-degree"

    @overload
    def score(self, u: OneName, v: OneName, *, unknown: Unknown = "error") -> float: ...  # type: ignore[overload-overlap]

    @overload
    def score(self, u: tuple[Any, ...], v: Any = None, *, unknown: Unknown = "error") -> Any: ...

    @overload
    def score(
        self, u: OneName | Iterable[Any], v: OneName | Iterable[Any] | None = None, *, unknown: Unknown = "error"
    ) -> NDArray[np.float32]: ...

    def score(self, u: Any, v: Any = None, *, unknown: Unknown = "error") -> Any:
        """Return the likelihood of edges between nodes; for nodes that are alike, take the cosine.

        ``cos(x_u, x_v) + w (ln d_u + ln d_v)`` with w the `degree_weight`; the cosine alone where `degrees` is None;
        ``source_u . target_v`` of directed and bipartite graphs. `score_name` says which.

        Parameters
        ----------
        u : name, or sequence of names
            One end, or one of each pair.
        v : name, or sequence of as many names, optional
            One name against several is scored with each of them. None means every node.
        unknown : "error" or "skip"
            Names that no node has: an error, or NaN and a warning.

        Returns
        -------
        float or ndarray of float32
            A number for two names; (m,) for m pairs; (n,) for a name and every node; (m, n) for m names and every node.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]], degrees=[1, 2, 1])
        >>> round(people.score("ada", "bob"), 3)  # 0.6 + 0.1 ln 2
        0.669
        """
        from graphrefine.embedding.scores import score_nodes

        return score_nodes(self, self._pair_score, u, v, unknown=unknown)

    @cached_property
    def _pair_score(self) -> PairScore:
        from graphrefine.embedding.scores import score_of

        return score_of(self)

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
        """Return the k targets with the highest ``source . target``, and their scores, the highest first.

        Parameters
        ----------
        nodes : name, or sequence of names
            Sources: users, if the graph was bipartite; any nodes otherwise.
        k : int
            Number of targets; fewer where there are no more.
        exclude : names of targets, Graph, table or pairs (source, target), or mapping of sources to targets
            Targets to leave out: those named, or the ones that a source has there. A node is never its own target.
        unknown : "error" or "skip"
            Names that no source has: an error, or an empty list and a warning.

        Returns
        -------
        list of Recommendation(node, score)
            For several nodes, a list of such lists. Both have `table`, `to_pandas`, `to_polars` and `to_arrow`.

        Examples
        --------
        >>> two = Embedding(["ann", "tea", "cake"], [[1, 2], [1, 0], [1, 1]], {"sides": "rows", "sources": 1})
        >>> two.recommend("ann") == [("cake", 3.0), ("tea", 1.0)], two.recommend("ann", exclude=["cake"])
        (True, [Recommendation(node='tea', score=1.0)])
        """
        from graphrefine.embedding.recommend import recommend

        return recommend(self, nodes, k, exclude=exclude, unknown=unknown)

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
        candidates: Any = None,
        labels: Any = None,
        label: str | None = None,
        exclude_linked: Any = None,
        side: Side | None = None,
        unknown: Unknown = "error",
        threads: int | None = None,
    ) -> Any:
        """Return the k nodes nearest to a node, the nearest first, itself left out.

        Parameters
        ----------
        nodes : name, or sequence of names
            Whose neighbors; or give ``vectors``.
        k : int
            Number of neighbors; fewer where there are no more.
        vectors : array of shape (dim,) or (q, dim)
            Find the nodes near these instead.
        score : "cosine", "dot" or "link"
            "cosine": nodes that are alike, of any degree; a zero vector has no neighbors. "dot": the inner product, for
            vectors whose length has a meaning. "link": nodes that are likely to be linked, by `score`.
        index : bool
            Whether to search by an index rather than exactly (extra ``ann``), stored next to the file of the
            embedding. If not given: beyond a million nodes.
        candidates : names
            Find only these nodes.
        labels, label
            Find only nodes that have that label; ``labels`` is what `graphrefine evaluate labels` takes.
        exclude_linked : Graph, or what `graphrefine.read` takes
            Leave out the neighbors that a node has in this graph.
        side : "source" or "target"
            For a name on both sides of a bipartite graph. Its neighbors by the cosine are of the same side, by "link"
            of the other.
        unknown : "error" or "skip"
            Names that no node has: an error, or an empty list and a warning.
        threads : int
            Number of threads, one for each core if not given. The answer does not depend on it.

        Returns
        -------
        list of Neighbor(node, score)
            For several nodes or vectors, a list of such lists. Both have `table`, `to_pandas` and the like.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]])
        >>> [(near.node, round(near.score, 1)) for near in people.neighbors("bob")]
        [('cy', 0.8), ('ada', 0.6)]
        """
        from graphrefine.search.neighbors import find_neighbors
        from graphrefine.search.searcher import Search

        search = Search(self, score, index=index, threads=threads)
        return find_neighbors(
            search, nodes, vectors=vectors, k=k, candidates=candidates, labels=labels, label=label,
            exclude_linked=exclude_linked, side=side, unknown=unknown,
        )  # fmt: skip

    def all_neighbors(
        self,
        k: int = 10,
        *,
        score: Score = "cosine",
        index: bool | None = None,
        candidates: Any = None,
        labels: Any = None,
        label: str | None = None,
        exclude_linked: Any = None,
        threads: int | None = None,
        watcher: Watcher | None = None,
    ) -> Table:
        """Return the k nearest nodes of every node as one table; the options are those of `neighbors`.

        `graphrefine.search.neighbors.all_neighbors` is the same in blocks, for more nodes than a table can hold.

        Examples
        --------
        >>> Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]]).all_neighbors(1)
        node  neighbor  rank  score
        ada   bob          1    0.6
        bob   cy           1    0.8
        cy    bob          1    0.8
        """
        from graphrefine.search.neighbors import all_neighbors, join_tables

        return join_tables(all_neighbors(
            self, k, score=score, index=index, candidates=candidates, labels=labels, label=label,
            exclude_linked=exclude_linked, threads=threads, watcher=watcher,
        ))  # fmt: skip

    @one_blas_thread()  # as in a run
    def learn(self, graph: Graph, *, seed: int = 0) -> Embedding:
        """Return the same vectors with a fold map and a degree weight, learned from the graph that they were made from.

        ``graphrefine.embed(..., learn=True)`` does so as the last stage of a run.

        Examples
        --------
        >>> import graphrefine
        >>> ring = graphrefine.read([(i, (i + 1) % 8) for i in range(8)])
        >>> graphrefine.embed(ring, dim=2).learn(ring).fold_map.shape
        (12, 2)
        """
        degrees = graph.neighbor_counts().astype(np.float32)
        state = learn_state(graph, self.vectors, degrees, seed=seed, sides=self.sides)
        return type(self).from_data(self.data._replace(state=state))

    @property
    def fingerprint(self) -> Fingerprint:
        """Digits of graph, settings, numerics, names, vectors and state, computed now; ``str`` is one name for all.

        Examples
        --------
        >>> str(Embedding(["ada", "bob"], [[1, 0], [0.6, 0.8]], {"seed": 0}).fingerprint)
        'grf1:604e8fbac8eb65265c1c799457817985'
        """
        return fingerprint_of(self.data)

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame that shares the memory: names as its index, axes as columns ``v0``, ``v1`` ..."""
        require("pandas", "to_pandas()")
        import pandas as pd

        index = pd.Index(self.names, name="node", tupleize_cols=False)
        return pd.DataFrame(self.vectors, index=index, columns=[f"v{axis}" for axis in range(self.dim)], copy=False)

    def to_polars(self) -> Any:
        """Return a polars DataFrame: columns ``node`` and ``vector``, and ``degree`` where it is known."""
        require("polars", "to_polars()")
        import polars as pl

        return pl.DataFrame(self._as_arrow())

    def to_arrow(self) -> Any:
        """Return a pyarrow Table with the columns of `to_polars`, recipe and state in its schema, as in parquet files.

        ``pyarrow.table(embedding)`` is the same, and DuckDB finds it under the name of the variable.

        Examples
        --------
        >>> Embedding(["ada"], [[1, 0]]).to_arrow().to_pylist()
        [{'node': 'ada', 'vector': [1.0, 0.0]}]
        """
        return self._as_arrow()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the table of `to_arrow` by the Arrow PyCapsule interface: what pyarrow, polars and DuckDB take."""
        return self._as_arrow().__arrow_c_stream__(requested_schema)

    def _as_arrow(self) -> Any:
        require("pyarrow", "to_arrow()", "io")
        from graphrefine.embedding.formats.arrow_files import arrow_table

        return arrow_table(names_as_text(self.data, "an Arrow table", stacklevel=4))

    def subset(self, nodes: Any) -> Embedding:
        """Return the embedding of some nodes, in the order given, with what stays true of recipe and state.

        ``nodes`` is what ``embedding[nodes]`` takes. The fold map goes with the degrees of all nodes and is left out.
        Of a bipartite graph, sources stay above targets.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]], degrees=[1, 2, 3])
        >>> some = people.subset(["cy", "ada"])
        >>> some, some.degrees.tolist()
        (Embedding(2 nodes x 2, names 'cy' ... 'ada'), [3.0, 1.0])
        """
        from graphrefine.embedding.derive import take_subset

        return type(self).from_data(take_subset(self, nodes))

    @classmethod
    def concat(cls, embeddings: Iterable[Embedding]) -> Embedding:
        """Return the rows of several embeddings, one below the other; a name that two of them have is refused.

        Where the recipes differ, a warning says that the vectors need not be comparable, and the recipe is what all
        share.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]])
        >>> Embedding.concat([people.subset(["cy"]), people.subset(["ada", "bob"])])
        Embedding(3 nodes x 2, names 'cy' ... 'bob')
        """
        from graphrefine.embedding.derive import concatenate

        listed = list(embeddings)
        for each in listed:
            check_embedding(each, "embeddings")
        return cls.from_data(concatenate(listed))

    def truncated(self, dim: int) -> Embedding:
        """Return the first ``dim`` axes, rows of length 1 again: shorter vectors without another run.

        The axes of REFINE and of ProNE are principal, so the first say most: in the default tier within 0.7 Micro F1 of
        a run with that ``dim``. Vectors without such axes are refused. What was learned on all axes is left out;
        `learn` learns it again.

        Examples
        --------
        >>> import graphrefine
        >>> graphrefine.embed([(i, (i + 1) % 8) for i in range(8)], dim=4).truncated(2).shape
        (8, 2)
        """
        from graphrefine.embedding.derive import truncate

        return type(self).from_data(truncate(self, dim))

    def fold_in(self, edges: Any, *, unknown: Unknown = "error", **reading: Unpack[ReadKeywords]) -> Embedding:
        """Return vectors for new nodes from their edges alone; formula: `graphrefine.embedding.fold_in`.

        Parameters
        ----------
        edges
            Pairs (new node, known node) or triples with a weight, in anything that `graphrefine.read` takes, with its
            options. New nodes may also be neighbors of each other. Of directed and bipartite graphs: pairs (source,
            target), of which one is new.
        unknown : "error" or "skip"
            Edges to nodes that are neither known nor new: an error, or left out with a warning.

        Returns
        -------
        Embedding
            Of the new nodes alone. A node without known neighbors has a zero vector. Where nothing was learned from the
            graph (`fold_map` is None), a vector is the mean of the neighbors' vectors. Both with a warning.

        Examples
        --------
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.fold_in([("eve", "ada"), ("eve", "bob")])["eve"].round(3).tolist()
        [0.7070000171661377, 0.7070000171661377]
        """
        from graphrefine.embedding.new_nodes import fold_new_nodes

        return type(self).from_data(fold_new_nodes(self, edges, unknown=unknown, **reading))

    def extended(self, new: Embedding) -> Embedding:
        """Append the rows of another embedding, such as those of `fold_in`; like `concat`, with its warning.

        Examples
        --------
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.extended(people.fold_in([("eve", "ada")]))
        Embedding(3 nodes x 2, names 'ada' ... 'eve')
        """
        from graphrefine.embedding.derive import concatenate

        check_embedding(new, "new")
        whole = type(self).from_data(concatenate([self, new]))
        whole.lookup.check_distinct()
        return whole

    def align_to(self, old: Embedding) -> Embedding:
        """Rotate the vectors onto older ones as well as can be (orthogonal Procrustes on the shared nodes).

        Scores and distances among the vectors stay as they are. ``recipe["aligned"]`` of the result has the number of
        ``shared`` nodes and the mean distance of their unit rows ``before`` and ``after``; zero vectors do not count.

        Parameters
        ----------
        old : Embedding
            With vectors of the same length, and some of the same nodes.

        Examples
        --------
        >>> old = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> turned = Embedding(["ada", "bob", "cy"], [[0, 1], [-1, 0], [0, 1]])
        >>> {name: round(value, 3) for name, value in turned.align_to(old).recipe["aligned"].items()}
        {'shared': 2, 'before': 1.414, 'after': 0.0}
        """
        from graphrefine.embedding.derive import align_vectors

        check_embedding(old, "old")
        return type(self).from_data(align_vectors(self, old))

    def map(
        self,
        labels: Any = None,
        method: str = "auto",
        *,
        seed: int = 0,
        title: str | None = None,
        threads: int | None = None,
        watcher: Watcher | None = None,
    ) -> Map:
        """Lay the nodes out in the plane, near those that are like them; a notebook shows the picture.

        ``labels`` (a path, an array or `Labels`) color it; ``method`` is "auto", "clusters" or "pca", see
        `graphrefine.display.maps.layout`. The same seed gives the same map. A layout of an embedding in a file is kept
        next to it, in NAME.map.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [2, 0], [3, 0]]).map(method="pca")
        >>> people, people.coordinates.tolist()
        (Map(3 nodes by pca), [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
        """
        from graphrefine.display.maps import make_map

        return make_map(self, labels, method=method, seed=seed, title=title, threads=threads, watcher=watcher)

    def save(
        self, path: str | os.PathLike[str], *, format: str | None = None, durable: bool | None = None, **options: Any
    ) -> None:
        """Write the embedding, replacing what is there in one step or, if anything fails, not at all.

        Parameters
        ----------
        path : path
            The suffix names the format (see ``graphrefine.embedding.formats``); none means the native folder. Or the
            address of a PostgreSQL server with pgvector, ``postgresql://user@host/database``.
        format : str, optional
            Name of the format, for any suffix.
        durable : bool, optional
            Wait until the disk has it, so that it survives a power cut. Commands do; in Python the default is no.
        options
            Of pgvector: ``table``, its name; ``index``, whether to make an HNSW index; ``replace``, whether to replace
            a table that graphrefine did not write. Of word2vec: ``blank_names``, "refuse" (the default), or "replace"
            blanks in names by underscores, with a warning.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "people.safetensors"
        >>> Embedding(["ada", "bob"], [[1, 0], [0, 1]]).save(path)
        >>> load(path)
        Embedding(2 nodes x 2, names 'ada' ... 'bob')
        """
        write_embedding(self.data, path, format=format, durable=durable, **options)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        table: str | None = None,
        verify: bool | None = None,
    ) -> Embedding:
        """Read an embedding.

        Parameters
        ----------
        path : path
            A file whose suffix names the format, or a native folder of any name. Folders and npy, arrow and
            safetensors files are memory-mapped. Or the address of a PostgreSQL server.
        format : str, optional
            Name of the format, for any suffix.
        table : str, optional
            Of a server: the table, ``embedding`` if not given.
        verify : bool, optional
            Whether to verify the fingerprint that was stored; FormatError if a bit differs. If not given, yes, but for
            mapped files of more than a gigabyte.

        Warns
        -----
        ArgumentWarning
            If the recipe states another numerics version.
        """
        # Before the read: if the file is replaced meanwhile, its stamp does not match, and an index or a map of these
        # vectors is checked by their content rather than taken for current.
        stamp = stamp_file(Path(path))
        data = load_data(path, format=format, table=table, verify=verify)
        with explain_damage(path, format):
            embedding = cls.from_data(data)
        if not is_address(path):
            embedding.path, embedding.file_stamp = Path(path), stamp
            embedding.is_bare = not data.recipe and data.fingerprint is None and not data.state.arrays()
        warn_of_numerics(embedding.recipe, source=format_place(path), stacklevel=2)
        return embedding


load = Embedding.load


def check_embedding(value: Any, argument: str) -> None:
    """Refuse what is no embedding, such as the path of one."""
    if isinstance(value, Embedding):
        return
    hint = f"; graphrefine.load({str(value)!r}) reads one" if isinstance(value, str | os.PathLike) else ""
    raise InputError(f"{argument}: an Embedding is expected, not {type(value).__name__}{hint}", argument=argument)
