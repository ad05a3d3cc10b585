"""Embedding: the vectors of a graph's nodes, their names, the recipe that made them, and what they are for."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.embedding.formats import READ_ERRORS, input_format, is_address, load_parts, save_parts, unreadable
from graphrefine.embedding.learn import learn_state
from graphrefine.graph.lookup import Name, Side, Unknown, quote_name
from graphrefine.system.threads import one_blas_thread
from graphrefine.vectors.state import State
from graphrefine.vectors.table import Parts, VectorTable, as_vectors, check_finite, has_finite_sum

if TYPE_CHECKING:
    from graphrefine.embedding.scores import PairScore
    from graphrefine.graph.graph import Graph
    from graphrefine.maps.map import Map
    from graphrefine.progress import Watcher
    from graphrefine.readers.options import ReadKeywords


class Embedding(VectorTable):
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
        Number of neighbours of each node, for `score`.
    fold_map : array of shape (6k, k), optional
        Regression for `fold_in`, learned from the graph; see `graphrefine.embedding.fold_in`.
    degree_weight : float, optional
        Weight of the degrees in `score`, learned from the graph (`graphrefine.embedding.degree_weight`); else 0.1.

    Its attributes are those of `graphrefine.vectors.table.VectorTable`: names, vectors, recipe, state, path.

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
        self._fill(Parts(names, as_vectors(vectors), recipe or {}, state=State(counts, fold_map, degree_weight)))

    def _fill(self, parts: Parts) -> None:
        finite = parts.mapped or has_finite_sum(parts.vectors)
        super().__init__(parts.names, parts.vectors, parts.recipe, parts.state, mapped=parts.mapped)
        if not finite:
            check_finite(self.vectors, self.names)

    @classmethod
    def from_parts(cls, parts: Parts) -> Embedding:
        """An embedding of names, vectors, recipe and state, as a file format gives them."""
        embedding = cls.__new__(cls)
        embedding._fill(parts)
        return embedding

    def __repr__(self) -> str:
        ends = f", names {quote_name(self.names[0])} ... {quote_name(self.names[-1])}" if len(self) else ""
        return f"Embedding({len(self)} nodes x {self.dim}{ends})"

    def _repr_html_(self) -> str:
        """The embedding in a notebook; see `graphrefine.embedding.notebook`."""
        from graphrefine.embedding.notebook import embedding_html

        return embedding_html(self)

    @one_blas_thread()  # as in a run
    def learn(self, graph: Graph, *, seed: int = 0) -> Embedding:
        """The same vectors with a fold map and a degree weight, learned from the graph that they were made from.

        ``graphrefine.embed(..., learn=True)`` and ``graphrefine embed`` do so as the last stage of a run.

        Examples
        --------
        >>> import graphrefine
        >>> ring = graphrefine.read([(i, (i + 1) % 8) for i in range(8)])
        >>> graphrefine.embed(ring, dim=2).learn(ring).fold_map.shape
        (12, 2)
        """
        degrees = graph.neighbour_counts().astype(np.float32)
        state = learn_state(graph, self.vectors, degrees, seed=seed)
        return type(self).from_parts(Parts(self.names, self.vectors, self.recipe, state=state))

    @cached_property
    def _pair_score(self) -> PairScore:
        from graphrefine.embedding.scores import score_of

        return score_of(self)

    def score(self, u: Any, v: Any = None, *, unknown: Unknown = "error") -> Any:
        """Likelihood of edges between nodes: the higher, the likelier.

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
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]], degrees=[1, 2, 1])
        >>> round(people.score("ada", "bob"), 3)  # 0.6 + 0.1 ln 2
        0.669
        >>> people.score("ada", ["bob", "cy"]).round(3).tolist()
        [0.6690000295639038, 0.0]
        >>> people.score("ada").shape
        (3,)
        """
        from graphrefine.embedding.scores import score_nodes

        return score_nodes(self, self._pair_score, u, v, unknown=unknown)

    def recommend(
        self, source: Name, n: int = 20, *, exclude: Any = (), unknown: Unknown = "error"
    ) -> list[tuple[Any, float]]:
        """The n targets with the highest ``source . target``, and their scores, the highest first.

        Parameters
        ----------
        source : name
            A user, if the graph was bipartite; any node otherwise.
        n : int
            Number of targets; fewer where there are no more.
        exclude : names of targets, Graph, table or pairs (source, target), or mapping of sources to targets
            Targets to leave out: those named, or the ones that the source has there. A node is never recommended to
            itself.
        unknown : "error" or "skip"
            A source that no node has: an error, or no recommendations, with a warning.

        Examples
        --------
        >>> two = Embedding(["ann", "tea", "cake"], [[1, 2], [1, 0], [1, 1]], {"sides": "rows", "sources": 1})
        >>> two.recommend("ann"), two.recommend("ann", exclude=["cake"])
        ([('cake', 3.0), ('tea', 1.0)], [('tea', 1.0)])
        """
        from graphrefine.embedding.recommend import recommend

        return recommend(self, source, n, exclude=exclude, unknown=unknown)

    def neighbors(
        self,
        nodes: Any = None,
        k: int = 10,
        *,
        vectors: ArrayLike | None = None,
        score: Literal["cosine", "dot", "link"] = "cosine",
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
            Whose neighbours; or give ``vectors``.
        k : int
            Number of neighbours; fewer, if there are no more.
        vectors : array of shape (dim,) or (q, dim)
            Find the nodes near these instead.
        score : "cosine", "dot" or "link"
            Measure of nearness; "link" is what `score` gives. A node with a zero vector has no neighbours by the
            cosine.
        index : bool
            Whether to search by an index rather than exactly (extra ``ann``): made if it is missing, stored beside the
            file that the embedding was loaded from. If not given: beyond a million nodes.
        among : names
            Find only these nodes.
        labels, label
            Find only nodes that have that label; ``labels`` is what `graphrefine evaluate labels` takes.
        unlinked : Graph, or what `graphrefine.read` takes
            Leave out the neighbours that a node has in this graph: near, but not linked yet.
        side : "source" or "target"
            Where a name stands on both sides of a bipartite graph. Its neighbours by the cosine are of the same side,
            by "link" of the other.
        unknown : "error" or "skip"
            Names that no node has: an error, or an empty list in their place, with a warning.
        threads : int
            One for each core if not given; the answer does not depend on it.

        Returns
        -------
        list of Neighbor(node, score)
            Or, for several nodes or vectors, a list of such lists.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]])
        >>> [(near.node, round(near.score, 1)) for near in people.neighbors("bob")]
        [('cy', 0.8), ('ada', 0.6)]
        >>> people.neighbors(vectors=[0, 2], k=1)
        [Neighbor(node='cy', score=1.0)]
        """
        from graphrefine.search.neighbors import find_neighbors

        limits: dict[str, Any] = {"among": among, "labels": labels, "label": label, "unlinked": unlinked}
        limits |= {"side": side, "unknown": unknown, "threads": threads}
        return find_neighbors(self, nodes, k, vectors=vectors, score=score, index=index, **limits)

    def fold_in(self, edges: Any, *, unknown: Unknown = "error", **reading: Unpack[ReadKeywords]) -> Embedding:
        """Vectors for new nodes from their edges alone, in milliseconds; formula: `graphrefine.embedding.fold_in`.

        Parameters
        ----------
        edges
            Pairs (new node, known node) or triples with a weight, in anything that `graphrefine.read` takes, with its
            options. New nodes may also be neighbours of each other. An edge that is listed again adds its weight.
        unknown : "error" or "skip"
            Edges to nodes that are neither known nor new: an error, or left out, with a warning.

        Returns
        -------
        Embedding
            Of the new nodes alone. A node without known neighbours has a zero vector, with a warning. Where nothing
            was learned from the graph (`fold_map` is None), the vector is the mean of the neighbours' vectors, with a
            warning if graphrefine made them.

        Examples
        --------
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.fold_in([("eve", "ada"), ("eve", "bob")])["eve"].round(3).tolist()
        [0.7070000171661377, 0.7070000171661377]
        """
        from graphrefine.embedding.new_nodes import fold_new_nodes

        return type(self).from_parts(fold_new_nodes(self, edges, unknown=unknown, **reading))

    def extended(self, new: Embedding) -> Embedding:
        """The rows of another embedding below its own, such as those of `fold_in`.

        Examples
        --------
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.extended(people.fold_in([("eve", "ada")]))
        Embedding(3 nodes x 2, names 'ada' ... 'eve')
        """
        from graphrefine.embedding.align import join_rows

        whole = type(self).from_parts(join_rows(self, new))
        whole.lookup.check_distinct()
        return whole

    def align_to(self, old: Embedding) -> Embedding:
        """The same vectors, rotated onto older ones as well as can be (orthogonal Procrustes on the shared nodes).

        Scores and distances among the vectors stay as they are; those to the old vectors become meaningful.

        Parameters
        ----------
        old : Embedding
            With vectors of the same length, and some of the same nodes.

        The ``recipe["aligned"]`` of the result has the drift: the number of ``shared`` nodes, and the mean distance of
        their unit rows ``before`` and ``after`` the rotation. Zero vectors do not count.

        Examples
        --------
        >>> old = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> turned = Embedding(["ada", "bob", "cy"], [[0, 1], [-1, 0], [0, 1]])
        >>> {name: round(value, 3) for name, value in turned.align_to(old).recipe["aligned"].items()}
        {'shared': 2, 'before': 1.414, 'after': 0.0}
        """
        from graphrefine.embedding.align import align_vectors

        return type(self).from_parts(align_vectors(self, old))

    def map(
        self,
        labels: Any = None,
        method: str = "auto",
        *,
        seed: int = 0,
        title: str | None = None,
        threads: int | None = None,
        watch: Watcher | None = None,
    ) -> Map:
        """Place the nodes in the plane, near those that are like them; a notebook shows the picture.

        ``labels`` (a path, an array or `Labels`) colour it; ``method`` is "auto", "clusters" or "pca", see
        `graphrefine.maps.layout`. The same seed gives the same map, for any number of threads. A layout of an
        embedding in a file is kept beside it, in NAME.map.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [2, 0], [3, 0]]).map(method="pca")
        >>> people, people.coordinates.tolist()
        (Map(3 nodes by pca), [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
        """
        from graphrefine.maps import map_of

        return map_of(self, labels, method=method, seed=seed, title=title, threads=threads, watch=watch)

    def save(
        self, path: str | os.PathLike[str], *, format: str | None = None, durable: bool = False, **options: Any
    ) -> None:
        """Write the embedding, replacing what is there in one step or, if anything fails, not at all.

        Parameters
        ----------
        path : path
            The suffix names the format (see ``graphrefine.embedding.formats``); none means the native folder. Or the
            address of a PostgreSQL server with pgvector, ``postgresql://user@host/database``.
        format : str, optional
            The format, whatever the suffix.
        durable : bool
            Wait until the disk has it, so that it also survives a power cut.
        options
            Of pgvector: ``table``, its name; ``index``, whether to make an HNSW index for cosines; ``replace``,
            whether the table may take the place of one that graphrefine did not write.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "people.safetensors"
        >>> Embedding(["ada", "bob"], [[1, 0], [0, 1]]).save(path)
        >>> load(path)
        Embedding(2 nodes x 2, names 'ada' ... 'bob')
        """
        parts = Parts(self.names, self.vectors, self.recipe, state=self.state)
        save_parts(parts, path, format=format, durable=durable, **options)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, format: str | None = None, table: str | None = None) -> Embedding:
        """Read an embedding.

        Parameters
        ----------
        path : path
            A file whose suffix names the format, or a native folder of any name. Folders and npy, arrow and
            safetensors files are memory-mapped: loading takes no time, and no memory until it is used. Or the
            address of a PostgreSQL server, ``postgresql://user@host/database``.
        format : str, optional
            The format, whatever the suffix.
        table : str, optional
            Of a server: the table; the only one that graphrefine wrote there, if not given.
        """
        from graphrefine.vectors.companions import stamp_file

        place, stamp = Path(path), stamp_file(Path(path))  # before the read: a newer file would not match
        parts = load_parts(path, format=format, table=table)
        try:
            embedding = cls.from_parts(parts)
        except READ_ERRORS as error:
            raise unreadable(path, input_format(path, format), error) from error
        if not is_address(path):
            embedding.path, embedding.file_stamp = place, stamp
        return embedding


load = Embedding.load
