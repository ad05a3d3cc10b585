"""Embedding: the vectors of a graph's nodes, their names, the recipe that made them, and what they are for.

Saved and loaded in any format of ``graphrefine.embedding.formats``, chosen by the suffix.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.embedding import align, scores
from graphrefine.embedding.fold_in import FoldIn, turn_fold_map
from graphrefine.embedding.formats import READ_ERRORS
from graphrefine.embedding.formats.addresses import is_address
from graphrefine.embedding.formats.parts import Parts
from graphrefine.embedding.learn import learn_state
from graphrefine.embedding.new_nodes import read_new_nodes
from graphrefine.embedding.notebook import embedding_html
from graphrefine.embedding.recommend import recommend
from graphrefine.embedding.storage import input_format, load_parts, save_parts, unreadable
from graphrefine.errors import InputError
from graphrefine.graph.node_ids import as_names
from graphrefine.search.neighbors import neighbors
from graphrefine.vectors.checks import as_vectors, check_finite, has_finite_sum
from graphrefine.vectors.companions import stamp_file
from graphrefine.vectors.lookup import is_name, quote_name
from graphrefine.vectors.source_target import SIDES, Side
from graphrefine.vectors.state import State
from graphrefine.vectors.table import VectorTable

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.maps.map import Map
    from graphrefine.progress import Watcher


class Embedding(VectorTable):
    """Vectors with the names of their nodes and the recipe that made them.

    Parameters
    ----------
    names : sequence or array of n integers or n strings, or None
        The node of each row; None means 0, 1, ..., n - 1.
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
        Weight of the degrees in `score`, learned from the graph; see `graphrefine.embedding.degree_weight`. 0.1 if
        not given.

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
        return embedding_html(self)

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
        state = learn_state(graph, self.vectors, seed=seed)
        return type(self).from_parts(Parts(self.names, self.vectors, self.recipe, state=state))

    @property
    def score_name(self) -> str:
        """Name of the score that `score` gives, as in `graphrefine evaluate links`."""
        if self.sides.kind is not None:
            return "dot"
        return "cosine" if self.degrees is None else "cosine-degree"

    @cached_property
    def _pair_score(self) -> scores.PairScore:
        if self.sides.kind is not None:
            return scores.PairScore(self.source, second=scores.PairScore(self.target))
        if self.degrees is None:
            return scores.cosine(self.vectors)
        if self.state.degree_weight is None:
            self._warn_unlearned(f"score gives degrees the usual weight, {self.degree_weight}", stacklevel=5)
        return scores.cosine_degree(self.vectors, self.degrees, self.degree_weight)

    def _warn_unlearned(self, consequence: str, *, stacklevel: int) -> None:
        """Tell, of vectors that graphrefine made, that a graph was there to learn from, and was not used."""
        if "method" in self.recipe:
            warnings.warn(
                f"nothing was learned from the graph, so {consequence}; embed with learn=True, or call learn(graph)",
                stacklevel=stacklevel,
            )

    def score(self, u: Any, v: Any = None) -> Any:
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
        sides: tuple[Side | None, Side | None] = SIDES if self.sides.kind else (None, None)
        first = self.lookup.rows([u] if is_name(u) else u, sides[0])
        if v is None:
            rows = self._pair_score.against(first, slice(None))
            return rows[0] if is_name(u) else rows
        second = self.lookup.rows([v] if is_name(v) else v, sides[1])
        if len(first) != len(second) and not (is_name(u) or is_name(v)):
            raise InputError(f"{len(first)} nodes cannot be paired with {len(second)}; give as many, or one name")
        pair_scores = self._pair_score.of_pairs(scores.Pairs(*np.broadcast_arrays(first, second)))
        return float(pair_scores[0]) if is_name(u) and is_name(v) else pair_scores

    recommend = recommend
    neighbors = neighbors

    def fold_in(self, edges: Any) -> Embedding:
        """Vectors for new nodes from their edges alone, in milliseconds; formula: `graphrefine.embedding.fold_in`.

        Parameters
        ----------
        edges
            Pairs (new node, known node) or triples with a weight, in anything that `graphrefine.read` takes: a list,
            an array, a table, a file. New nodes may also be neighbours of each other. An edge that is listed again
            adds its weight.

        Returns
        -------
        Embedding
            Of the new nodes alone. A node without known neighbours has a zero vector, with a warning. Where nothing
            was learned from the graph (`fold_map` is None), the vector is the mean of the neighbours' vectors, with a
            warning if graphrefine made them.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.fold_in([("eve", "ada"), ("eve", "bob")])["eve"].round(3).tolist()
        [0.7070000171661377, 0.7070000171661377]
        """
        if self.recipe.get("directed") or self.sides.kind:
            kind = "bipartite" if self.sides.kind == "rows" else "directed"
            raise InputError(
                f"the vectors are of a {kind} graph; fold_in knows undirected edges of one set of nodes: embed it anew "
                "instead"
            )
        nodes = read_new_nodes(edges, self.lookup)
        if self.fold_map is None:
            self._warn_unlearned("vectors of new nodes are the mean of their neighbours'", stacklevel=3)
        vectors = FoldIn(self.vectors, self.degrees, self.fold_map).fold(nodes.old_links, nodes.new_links)
        nodes.warn_of_zeros(vectors)
        recipe = {"method": "fold-in", "learnt": self.fold_map is not None, "into": self.recipe}
        counts = np.diff(nodes.old_links.indptr) + np.diff(nodes.new_links.indptr)
        return type(self)(nodes.names, vectors, recipe, degrees=counts)

    def extended(self, new: Embedding) -> Embedding:
        """The rows of another embedding below its own, such as those of `fold_in`.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.extended(people.fold_in([("eve", "ada")]))
        Embedding(3 nodes x 2, names 'ada' ... 'eve')
        """
        align.check_alike(self, new)
        names = (
            np.concatenate([self.names, new.names])
            if self.names.dtype == new.names.dtype
            else as_names([*self.names.tolist(), *new.names.tolist()], len(self) + len(new))
        )
        state = self.state.extended(new.state)
        vectors = np.concatenate([self.vectors, new.vectors])
        whole = type(self).from_parts(Parts(names, vectors, self.recipe, state=state))
        whole.lookup.check_distinct()
        return whole

    def align_to(self, old: Embedding) -> Embedding:
        """The same vectors, rotated onto older ones as well as can be (orthogonal Procrustes on the shared nodes).

        Scores and distances among the vectors stay as they are; those to the old vectors become meaningful.

        Parameters
        ----------
        old : Embedding
            With vectors of the same length, and some of the same nodes.

        Returns
        -------
        Embedding
            Its ``recipe["aligned"]`` has the drift: the number of ``shared`` nodes, and the mean distance of their
            unit rows ``before`` and ``after`` the rotation. Zero vectors do not count.

        Examples
        --------
        >>> from graphrefine import Embedding
        >>> old = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> turned = Embedding(["ada", "bob", "cy"], [[0, 1], [-1, 0], [0, 1]])
        >>> {name: round(value, 3) for name, value in turned.align_to(old).recipe["aligned"].items()}
        {'shared': 2, 'before': 1.414, 'after': 0.0}
        """
        rotation, drift = align.align_tables(self, old)
        if drift.shared < self.dim:
            warnings.warn(
                f"{drift.shared:,} shared nodes with vectors do not settle a rotation of {self.dim} numbers: the nodes "
                "that are not shared may still be turned against the old ones",
                stacklevel=2,
            )
        fold_map = None if self.fold_map is None else turn_fold_map(self.fold_map, rotation)
        state = replace(self.state, fold_map=fold_map)
        vectors = align.rotate(align.rotatable(self), rotation).reshape(self.vectors.shape)
        recipe = {**self.recipe, "aligned": drift._asdict()}
        return type(self).from_parts(Parts(self.names, vectors, recipe, state=state))

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
            Wait until the disk has it, so that it also survives a power cut. A killed process never
            leaves a part of an output, either way.
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

        Returns
        -------
        Embedding
        """
        place, stamp = Path(path), stamp_file(Path(path))  # before the read: a newer file would not match
        parts = load_parts(path, format=format, table=table)
        try:
            embedding = cls.from_parts(parts)
        except READ_ERRORS as error:
            raise unreadable(path, input_format(path, format), error) from error
        if not is_address(path):
            embedding.path, embedding.file_stamp = place, stamp
        return embedding


def load(path: str | os.PathLike[str], *, format: str | None = None, table: str | None = None) -> Embedding:
    """Read an embedding; the same as ``Embedding.load``."""
    return Embedding.load(path, format=format, table=table)
