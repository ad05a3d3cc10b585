"""Embedding: the vectors of a graph's nodes, their names, the recipe that made them, and what they are for."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.embedding.fingerprint import Fingerprint, fingerprint_of
from graphrefine.embedding.formats import (
    READ_ERRORS,
    format_place,
    input_format,
    is_address,
    unreadable,
)
from graphrefine.embedding.formats.stored_parts import load_parts, save_parts
from graphrefine.embedding.learn import learn_state
from graphrefine.embedding.scored_table import ScoredTable
from graphrefine.embedding.state import State
from graphrefine.embedding.table import Parts, as_vectors, check_finite, has_finite_sum
from graphrefine.graph.lookup import Unknown, quote_name
from graphrefine.kernels.numerics import warn_of_numerics
from graphrefine.system.threads import one_blas_thread

if TYPE_CHECKING:
    from graphrefine.display.maps.map import Map
    from graphrefine.embedding.frames import Frames
    from graphrefine.graph.graph import Graph
    from graphrefine.progress import Watcher
    from graphrefine.readers.options import ReadKeywords


class Embedding(ScoredTable):
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

    Its attributes are those of `graphrefine.embedding.table.VectorTable`: names, vectors, recipe, state, path.

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
        degrees = graph.neighbor_counts().astype(np.float32)
        state = learn_state(graph, self.vectors, degrees, seed=seed, sides=self.sides)
        return type(self).from_parts(Parts(self.names, self.vectors, self.recipe, state=state))

    @property
    def fingerprint(self) -> Fingerprint:
        """Digits of graph, settings, numerics, names, vectors and state, computed now; ``str`` is one name for all.

        Examples
        --------
        >>> str(Embedding(["ada", "bob"], [[1, 0], [0.6, 0.8]], {"seed": 0}).fingerprint)
        'grf1:604e8fbac8eb65265c1c799457817985'
        """
        return fingerprint_of(Parts(self.names, self.vectors, self.recipe, state=self.state))

    def to_pandas(self) -> Any:
        """A pandas DataFrame: the names are its index, each axis a column ``v0``, ``v1`` ...; it shares the memory.

        ``pandas.DataFrame(embedding)`` is the same without names.
        """
        return self._frames.pandas()

    def to_polars(self) -> Any:
        """A polars DataFrame: columns ``node`` and ``vector``, and ``degree`` where it is known."""
        return self._frames.polars()

    def to_arrow(self) -> Any:
        """A pyarrow Table with the columns of `to_polars`, recipe and state in its schema, as in our parquet files.

        ``pyarrow.table(embedding)`` is the same, and DuckDB finds it under the name of the variable.

        Examples
        --------
        >>> Embedding(["ada", "bob"], [[1, 0], [0, 1]]).to_arrow().to_pylist()
        [{'node': 'ada', 'vector': [1.0, 0.0]}, {'node': 'bob', 'vector': [0.0, 1.0]}]
        """
        return self._frames.arrow()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table of `to_arrow` by the Arrow PyCapsule interface: what pyarrow, polars and DuckDB take."""
        return self._frames.arrow_stream(requested_schema)

    @property
    def _frames(self) -> Frames:
        from graphrefine.embedding.frames import Frames

        return Frames(self)

    def subset(self, nodes: Any) -> Embedding:
        """The embedding of some nodes, in the order given, with the recipe and all of the state that is still true.

        The fold map is not: it goes with the degrees of all nodes. ``nodes`` is what stands in ``embedding[nodes]``:
        a list of names, a slice, a mask, an array of rows. Of a bipartite graph, sources stay above targets.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]], degrees=[1, 2, 3])
        >>> some = people.subset(["cy", "ada"])
        >>> some, some.degrees.tolist()
        (Embedding(2 nodes x 2, names 'cy' ... 'ada'), [3.0, 1.0])
        """
        return type(self).from_parts(_derive().take_subset(self, nodes))

    @classmethod
    def concat(cls, embeddings: Iterable[Embedding]) -> Embedding:
        """The rows of several embeddings, one below the other; names that two of them have are refused.

        Where the recipes differ, a warning says that the vectors need not be comparable, and the recipe is what all
        share.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [0.6, 0.8], [0, 1]])
        >>> Embedding.concat([people.subset(["cy"]), people.subset(["ada", "bob"])])
        Embedding(3 nodes x 2, names 'cy' ... 'bob')
        """
        return cls.from_parts(_derive().concatenate(list(embeddings)))

    def truncated(self, dim: int) -> Embedding:
        """The first ``dim`` axes, rows of length 1 again: shorter vectors without another run.

        The axes of REFINE and of ProNE are principal: the first say most. In the default tier of REFINE they are as
        good as a run with that ``dim``, within 0.7 Micro F1. Other vectors are refused, with the way out:
        those of directed and bipartite graphs, by other methods, of unknown origin, and turned by `align_to`. What was
        learned on all axes (fold map, degree weight) is left behind; `learn` learns it anew.

        Examples
        --------
        >>> import graphrefine
        >>> ring = graphrefine.embed([(i, (i + 1) % 8) for i in range(8)], dim=4)
        >>> ring.truncated(2).shape, ring.truncated(2).recipe["truncated"]
        ((8, 2), 2)
        """
        return type(self).from_parts(_derive().truncate(self, dim))

    def fold_in(self, edges: Any, *, unknown: Unknown = "error", **reading: Unpack[ReadKeywords]) -> Embedding:
        """Vectors for new nodes from their edges alone, in milliseconds; formula: `graphrefine.embedding.fold_in`.

        Parameters
        ----------
        edges
            Pairs (new node, known node) or triples with a weight, in anything that `graphrefine.read` takes, with its
            options. New nodes may also be neighbors of each other. An edge that is listed again adds its weight. Of
            directed and bipartite graphs: pairs (source, target), of which one is new.
        unknown : "error" or "skip"
            Edges to nodes that are neither known nor new: an error, or left out, with a warning.

        Returns
        -------
        Embedding
            Of the new nodes alone. A node without known neighbors has a zero vector, with a warning. Where nothing
            was learned from the graph (`fold_map` is None), the vector is the mean of the neighbors' vectors, with a
            warning if graphrefine made them.

        Examples
        --------
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.fold_in([("eve", "ada"), ("eve", "bob")])["eve"].round(3).tolist()
        [0.7070000171661377, 0.7070000171661377]
        """
        return type(self).from_parts(_derive().fold_new_nodes(self, edges, unknown=unknown, **reading))

    def extended(self, new: Embedding) -> Embedding:
        """The rows of another embedding below its own, such as those of `fold_in`; like `concat`, with its warning.

        Examples
        --------
        >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
        >>> people.extended(people.fold_in([("eve", "ada")]))
        Embedding(3 nodes x 2, names 'ada' ... 'eve')
        """
        whole = type(self).from_parts(_derive().concatenate([self, new]))
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
        return type(self).from_parts(_derive().align_vectors(self, old))

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

        ``labels`` (a path, an array or `Labels`) color it; ``method`` is "auto", "clusters" or "pca", see
        `graphrefine.display.maps.layout`. The same seed gives the same map, for any number of threads. A layout of an
        embedding in a file is kept beside it, in NAME.map.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [2, 0], [3, 0]]).map(method="pca")
        >>> people, people.coordinates.tolist()
        (Map(3 nodes by pca), [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
        """
        from graphrefine.display.maps import map_of

        return map_of(self, labels, method=method, seed=seed, title=title, threads=threads, watch=watch)

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
            The format, whatever the suffix.
        durable : bool, optional
            Wait until the disk has it, so that it also survives a power cut. Commands do; in Python the default is no.
        options
            Of pgvector: ``table``, its name; ``index``, whether to make an HNSW index for cosines; ``replace``,
            whether the table may take the place of one that graphrefine did not write. Of word2vec: ``blank_names``,
            "refuse" (the default), or "replace" blanks in names by underscores, with a warning that counts them.

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
            safetensors files are memory-mapped: they take no memory until they are used. Or the address of a
            PostgreSQL server, ``postgresql://user@host/database``.
        format : str, optional
            The format, whatever the suffix.
        table : str, optional
            Of a server: the table; the only one that graphrefine wrote there, if not given.
        verify : bool, optional
            Whether the file is held to the checksum that it was written with, where it has one; FormatError if a bit
            differs. If not given, yes, but for mapped files of more than a gigabyte; `graphrefine check` reads all.

        Warns
        -----
        ArgumentWarning
            The recipe states another numerics version. The vectors are used as they are.
        """
        from graphrefine.system.companions import stamp_file

        place, stamp = Path(path), stamp_file(Path(path))  # before the read: a newer file would not match
        parts = load_parts(path, format=format, table=table, verify=verify)
        try:
            embedding = cls.from_parts(parts)
        except READ_ERRORS as error:
            raise unreadable(path, input_format(path, format), error) from error
        if not is_address(path):
            embedding.path, embedding.file_stamp = place, stamp
            embedding.is_bare = not parts.recipe and not parts.marks.texts() and not parts.state.arrays()
        warn_of_numerics(embedding.recipe, source=format_place(path), stacklevel=2)
        return embedding


def _derive() -> ModuleType:
    """The module that makes embeddings of embeddings, loaded with the first of them."""
    from graphrefine.embedding import derive

    return derive


load = Embedding.load
