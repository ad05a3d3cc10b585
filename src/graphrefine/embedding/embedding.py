"""Embedding: the vectors of a graph's nodes, their names, and the recipe that made them.

Saved and loaded in any format of ``graphrefine.embedding.formats``, chosen by the suffix.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphrefine.embedding.formats import READ_ERRORS, Format, choose
from graphrefine.embedding.formats.addresses import shown_place
from graphrefine.embedding.formats.folder import check_replaceable
from graphrefine.embedding.formats.parts import Parts
from graphrefine.embedding.recommend import best, excluded
from graphrefine.embedding.uses import FoldMap, Uses, Weight
from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.graph.node_names import Names, as_names
from graphrefine.search.neighbors import neighbors
from graphrefine.system.files import check_writable, replacing, replacing_folder
from graphrefine.vectors import companions as beside
from graphrefine.vectors.checks import as_degrees, as_recipe, as_vectors, check_finite
from graphrefine.vectors.lookup import Lookup, Name, shown
from graphrefine.vectors.source_target import Side

if TYPE_CHECKING:
    from graphrefine.maps import Map
    from graphrefine.progress import Watcher


class Embedding(Uses):
    """Vectors with the names of their nodes and the recipe that made them.

    Parameters
    ----------
    names : sequence or array of n integers or n strings, or None
        The node of each row; None means 0, 1, ..., n - 1.
    vectors : array of shape (n, k)
        Stored as float32, not copied if it is that already. NaN and infinite numbers are refused, except
        in files that are memory-mapped: those are not read just to check them.
    recipe : dict, optional
        How the vectors were made (settings, seed, version): anything that JSON can hold.
    degrees : array of n numbers, optional
        How many neighbours each node has, for `score`.
    fold_map : array of shape (6k, k), or a function that gives it, optional
        What `fold_in` has learnt from the graph; see `graphrefine.embedding.fold_in`.
    degree_weight : float, or a function that gives it, optional
        How much degrees count in `score`; see `graphrefine.embedding.degree_weight`. 0.1 if not given.

    Attributes
    ----------
    names : ndarray of n int64, or of n str (dtype object)
    vectors : ndarray of float32, (n, k), in memory or mapped from a file (then read-only)
    recipe : dict
    degrees : ndarray of float32, (n,), or None
        Methods of graphrefine fill it in; files of formats that cannot hold it come back without.
    path : Path or None
        Where it was loaded from; what belongs to its vectors, such as an index, is kept beside that.

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
    seen: beside.Stamp | None = None

    def __init__(
        self,
        names: Any,
        vectors: ArrayLike,
        recipe: dict[str, Any] | None = None,
        *,
        degrees: ArrayLike | None = None,
        fold_map: FoldMap | None = None,
        degree_weight: Weight | None = None,
    ) -> None:
        known = None if degrees is None else np.asarray(degrees)
        self._take(Parts(names, as_vectors(vectors), recipe or {}, degrees=known))
        self._weight = degree_weight
        self._fold_map = fold_map if fold_map is None or callable(fold_map) else self._checked_map(fold_map)

    def _take(self, parts: Parts) -> None:
        self.vectors = parts.vectors
        self.names = as_names(parts.names, len(parts.vectors))
        self.recipe = as_recipe(parts.recipe)
        self.degrees = None if parts.degrees is None else as_degrees(parts.degrees, len(self), mapped=parts.mapped)
        self._fold_map = None if parts.fold_map is None else self._checked_map(parts.fold_map)
        self._weight = parts.degree_weight
        self.lookup = Lookup(self.names, self.sides)
        if not parts.mapped:
            check_finite(self.vectors, self.names)

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        ends = f", names {shown(self.names[0])} ... {shown(self.names[-1])}" if len(self) else ""
        return f"Embedding({len(self)} nodes x {self.dim}{ends})"

    def _repr_html_(self) -> str:
        """The embedding in a notebook; see `graphrefine.embedding.notebook`."""
        from graphrefine.embedding.notebook import embedding_html

        return embedding_html(self)

    def index(self, name: Name, *, side: Side | None = None) -> int:
        """Give the row of a node in `vectors`; or, where a side is said, in `source` or `target`.

        Examples
        --------
        >>> Embedding([10, 20], [[1], [2]]).index(20)
        1
        >>> users_and_items = Embedding([1, 2, 1], [[1], [2], [3]], {"sides": "rows", "sources": 2})
        >>> users_and_items.index(2), users_and_items.index(1, side="target")
        (1, 0)
        """
        return self.lookup.row(name, side)

    def recommend(self, source: Name, n: int = 20, *, exclude: Any = ()) -> list[tuple[int | str, float]]:
        """Give the n targets with the highest ``source . target``, and their scores, the highest first.

        Parameters
        ----------
        source : name
            A user, if the graph was bipartite; any node otherwise.
        n : int
            How many; fewer where there are no more.
        exclude : Graph, or names of targets
            What is not to be recommended: names, or the neighbours that the source has in a graph. A node is never
            recommended to itself.

        Examples
        --------
        >>> two = Embedding(["ann", "tea", "cake"], [[1, 2], [1, 0], [1, 1]], {"sides": "rows", "sources": 1})
        >>> two.recommend("ann"), two.recommend("ann", exclude=["cake"])
        ([('cake', 3.0), ('tea', 1.0)], [('tea', 1.0)])
        """
        if not isinstance(n, int) or n < 1:
            raise InputError(f"n={n!r}: a positive number of recommendations is expected")
        row = self.index(source, side="source")
        found = [self.lookup.find(name, "target") for name in excluded(exclude, source)]
        without = [at for at in found if at is not None] + ([] if self.sides.kind == "rows" else [row])
        scores = self.target @ self.source[row]
        chosen = best(scores, n, without=np.array(without, np.int64))
        return list(zip(self.target_names[chosen].tolist(), scores[chosen].tolist(), strict=True))

    neighbors = neighbors

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

        Parameters
        ----------
        labels : path, array or Labels, optional
            What to colour by: as for `graphrefine.evaluate.evaluate_labels`.
        method : {"auto", "clusters", "pca"}
            See `graphrefine.maps.layout`. A layout of an embedding in a file is kept beside it, in NAME.map.
        seed, threads
            The same seed gives the same map, for any number of threads.
        title : str, optional
            Of the picture.
        watch : Watcher, optional
            Is told about the stages.

        Returns
        -------
        Map
            With ``coordinates``, and ``save("map.png")``, also svg, html and parquet.

        Examples
        --------
        >>> people = Embedding(["ada", "bob", "cy"], [[1, 0], [2, 0], [3, 0]]).map(method="pca")
        >>> people, people.coordinates.tolist()
        (Map(3 nodes by pca), [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
        """
        from graphrefine.maps import map_of

        return map_of(self, labels, method=method, seed=seed, title=title, threads=threads, watch=watch)

    def __getitem__(self, name: Name) -> NDArray[np.float32]:
        """Give the vector of a node, by its name (not its row)."""
        vector: NDArray[np.float32] = self.vectors[self.index(name)]
        return vector

    def __contains__(self, name: object) -> bool:
        return bool(self.lookup.on_sides(name))

    def __iter__(self) -> Iterator[int | str]:
        return iter(self.names.tolist())

    def save(
        self, path: str | os.PathLike[str], *, format: str | None = None, durable: bool = False, **options: Any
    ) -> None:
        """Write the embedding, replacing what is there in one step or, if anything fails, not at all.

        Parameters
        ----------
        path : path
            The suffix says the format (see ``graphrefine.embedding.formats``); none means the native folder. Or the
            address of a PostgreSQL server with pgvector, ``postgresql://user@host/database``.
        format : str, optional
            The format, whatever the suffix.
        durable : bool
            Wait until the disk has it, so that it also survives a power cut. A killed process never
            leaves a part of an output, either way.
        options
            Of pgvector, in a file or a server: ``table``, its name; ``index``, whether to make an HNSW index for
            cosines; ``replace``, whether the table may take the place of one that graphrefine did not write.

        Examples
        --------
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "people.safetensors"
        >>> Embedding(["ada", "bob"], [[1, 0], [0, 1]]).save(path)
        >>> load(path)
        Embedding(2 nodes x 2, names 'ada' ... 'bob')
        """
        chosen = choose(path, format)
        options = chosen.options(path, options)
        _check_names(path, chosen, self.names)
        parts = Parts(self.names, self.vectors, self.recipe)
        if chosen.degrees and self.degrees is not None:
            parts = parts._replace(degrees=self.degrees, degree_weight=self.degree_weight)
        if chosen.maps:
            parts = parts._replace(fold_map=self.fold_map)
        if chosen.server:
            return chosen.write(os.fspath(path), parts, **options)
        try:
            with (
                replacing_folder(path, replaceable=check_replaceable, durable=durable)
                if chosen.folder
                else replacing(path, durable=durable)
            ) as hidden:
                chosen.write(hidden, parts, **options)
        except OSError as error:
            if isinstance(error, OutputError):
                raise
            raise OutputError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
        return None

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, format: str | None = None, table: str | None = None) -> Embedding:
        """Read an embedding.

        Parameters
        ----------
        path : path
            A file whose suffix says the format, or a native folder of any name. Folders and npy, arrow and
            safetensors files are memory-mapped: loading takes no time, and no memory until it is used. Or the
            address of a PostgreSQL server, ``postgresql://user@host/database``.
        format : str, optional
            The format, whatever the suffix.
        table : str, optional
            Of a server: which table; the only one that graphrefine wrote there, if not given.

        Returns
        -------
        Embedding
        """
        place, chosen = Path(path), format_of(path, format)
        embedding = cls.__new__(cls)
        if chosen.server:
            embedding._take(chosen.read(os.fspath(path), table=table))
            return embedding
        if table is not None:
            raise InputError(f"table={table!r}: only a server has tables, and {os.fspath(path)} is a file")
        if place.is_file() if chosen.folder else place.is_dir():
            kind = "file" if chosen.folder else "folder"
            raise FormatError(place, f"is a {kind}, so it cannot be read as {chosen.name}")
        try:
            embedding.path, embedding.seen = place, beside.seen(place)  # before: a newer file would not match
            embedding._take(chosen.read(place))
        except FormatError:
            raise
        except READ_ERRORS as error:
            problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise FormatError(place, f"cannot be read as {chosen.name}: {problem}") from error
        return embedding


def format_of(path: str | os.PathLike[str], format: str | None) -> Format:
    """Choose the format to read: a folder is the native format, whatever its name."""
    return choose(path, "folder" if format is None and Path(path).is_dir() else format)


def load(path: str | os.PathLike[str], *, format: str | None = None, table: str | None = None) -> Embedding:
    """Read an embedding; the same as ``Embedding.load``."""
    return Embedding.load(path, format=format, table=table)


def check_output(
    path: str | os.PathLike[str], *, format: str | None = None, names: Names | None = None, values: int = 0
) -> None:
    """Find out before the work whether an embedding could be saved at ``path``.

    Parameters
    ----------
    path : path
        Its suffix must be known, its package installed, its folder there and writable; what stands there
        already must be something to be replaced.
    format : str, optional
        The format, whatever the suffix.
    names : array, optional
        The names to be stored, if known by now: not every format can hold every name.
    values : int
        How many numbers will be stored (nodes times dim), if known by now: the disk must have room for them.
    """
    chosen = choose(path, format)
    if chosen.server:
        raise OutputError(
            f"{shown_place(path)}: is a server; make a file first, then: graphrefine convert FILE postgresql://..."
        )
    chosen.check_package()
    if names is not None:
        _check_names(path, chosen, names)
    size = values * chosen.bytes_per_value
    check_writable(path, folder=chosen.folder, size=size, replaceable=check_replaceable)


def _check_names(path: str | os.PathLike[str], chosen: Format, names: Names) -> None:
    try:
        chosen.check_names(names)
    except InputError as error:
        raise InputError(f"{shown_place(path)}: {error}") from None
