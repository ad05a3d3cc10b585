"""NodeVectors: a scikit-learn transformer from a column of node names to the vectors of these nodes in a graph."""

from __future__ import annotations

import json
import os
import warnings
from collections import OrderedDict
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.fingerprint import digest_graph
from graphrefine.embedding.formats import is_address, is_saved_embedding
from graphrefine.errors import ArgumentWarning, InputError
from graphrefine.graph.lookup import SIDES, quote_name
from graphrefine.graph.node_ids import as_ids, object_array
from graphrefine.kernels.numerics import numerics_entry
from graphrefine.pipeline.embed import embed
from graphrefine.readers.options import split_reading
from graphrefine.readers.read import read
from graphrefine.sklearn._shared import add_index, settle_seed
from graphrefine.system.checks import check_choice
from graphrefine.system.digest import hash_parts

MOST_BYTES = 1 << 30  # of cached vectors: about 2 million nodes of 128 dimensions


class NodeVectors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Vectors of the nodes that a column names: a transformer for pipelines, next to text and numbers.

    The graph is a parameter; X is a column of names, (n,) or (n, 1): a list, a series, an array, a column of a data
    frame as `ColumnTransformer` passes it. The output has a row for each name. Names may repeat.

    Labels never reach the vectors: ``y`` is ignored. The graph itself is transductive: it has the edges of all its
    nodes, so those of the rows that a cross-validation holds out are seen. Where that is not how the model will be
    used, pass a graph without these edges, or use `graphrefine.REFINE`, which embeds the training nodes alone.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes (a file, a NetworkX graph, a table of edges ...); or vectors that are
        made already: a `graphrefine.Embedding`, or the path of a saved one. A path that ends in csv or txt is a graph.
        Clones share it.
    dim : int or "auto", default=None
        Length of the vectors; 128, or the number of nodes if that is less. "auto": see `graphrefine.embed`.
    method : str, default=None
        A name in `graphrefine.methods.registry.METHODS`; "refine" if None.
    side : {"source", "target"}, default=None
        Of a directed graph, the half of the vectors for nodes as sources or as targets; None is both, dim columns. Of
        a bipartite graph, the side that the names are on; None where no name is on both.
    unknown : {"error", "skip"}, default="error"
        Names that no node has, and missing ones: an error, or rows of zeros, with a warning.
    seed : int, default=None
        Seed of the method; None is 0.
    random_state : int, numpy.random.Generator or RandomState, default=None
        The same under the name of scikit-learn; one of the two only.
    **settings
        Further keywords of `graphrefine.embed`: settings of the method (``window`` of ``deepwalk``), of reading the
        graph (``directed``, ``weights`` ...) and of the run. They are parameters of the estimator too, for
        `GridSearchCV`.

    Attributes
    ----------
    model_ : Embedding
        The vectors of all nodes of the graph.
    n_features_in_ : int
        1.
    feature_names_in_ : ndarray of shape (1,)
        Name of the column, if X was a data frame.

    Notes
    -----
    A graph is embedded once for each setting: clones, and the folds of a cross-validation, take the vectors from a
    cache of this process (`clear_cache` empties it), and each worker process of ``n_jobs`` has its own. A graph that
    was read before (`graphrefine.read`) is not read again.

    Examples
    --------
    >>> friends = [("ann", "bob"), ("bob", "cleo"), ("cleo", "ann"), ("cleo", "dora")]
    >>> vectors = NodeVectors(friends, dim=2).fit_transform(["dora", "ann", "dora"])
    >>> vectors.shape, bool((vectors[0] == vectors[2]).all())
    ((3, 2), True)
    >>> NodeVectors(friends, dim=2).fit(["ann"]).get_feature_names_out().tolist()
    ['nodevectors0', 'nodevectors1']
    """

    def __init__(
        self,
        graph: Any,
        dim: int | str | None = None,
        *,
        method: str | None = None,
        side: Literal["source", "target"] | None = None,
        unknown: Literal["error", "skip"] = "error",
        seed: int | None = None,
        random_state: Any = None,
        **settings: Any,
    ) -> None:
        self.graph = graph
        self.dim = dim
        self.method = method
        self.side = side
        self.unknown = unknown
        self.seed = seed
        self.random_state = random_state
        for name, value in settings.items():
            setattr(self, name, value)

    @property
    def _settings(self) -> dict[str, Any]:
        """The further settings: attributes that are neither parameters with a name nor made by `fit`."""
        own = self._get_param_names()
        return {
            name: value
            for name, value in vars(self).items()
            if name not in own and not name.startswith("_") and not name.endswith("_")
        }

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, those of the method among them."""
        return {**super().get_params(deep=deep), **self._settings}

    def set_params(self, **params: Any) -> NodeVectors:
        """Set parameters; a setting of the method need not have been set before."""
        # A name that neither `embed` nor the method knows is refused by `fit`: a grid may set the method later.
        own = {name: value for name, value in params.items() if name in self._get_param_names()}
        super().set_params(**own)
        for name in params.keys() - own.keys():
            setattr(self, name, params[name])
        return self

    def __sklearn_clone__(self) -> NodeVectors:
        """Clone the estimator with the graph shared; scikit-learn's own clone would copy it for each fold."""
        params = self.get_params(deep=False)
        graph = params.pop("graph")
        copy = type(self)(graph, **{name: clone(value, safe=False) for name, value in params.items()})
        for name in ("_metadata_request", "_sklearn_output_config"):
            if hasattr(self, name):
                setattr(copy, name, deepcopy(getattr(self, name)))
        return copy

    def fit(self, X: Any, y: Any = None) -> NodeVectors:
        """Embed the graph, or find the vectors in the cache, and look for the names of X; ``y`` is ignored."""
        names = self._read_column(X, reset=True)
        self.model_ = self._make_model()
        self._n_features_out = self._vectors().shape[1]
        self.model_.lookup.rows(names, self.side, unknown=self.unknown)  # raises for names that no node has
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the vectors of the nodes that X names.  # (n, dim)."""
        check_is_fitted(self)
        names = self._read_column(X, reset=False)
        rows = self.model_.lookup.rows(names, self.side, unknown=self.unknown)
        missing = np.flatnonzero(rows < 0)
        if len(missing):
            text = f"{len(missing):,} of {len(names):,}, such as {quote_name(names[missing[0]])}; their rows are zero"
            warnings.warn(ArgumentWarning(f"names that no node has: {text}"), stacklevel=2)
        vectors = self._vectors()[rows]
        vectors[rows < 0] = 0.0
        index = X.index if hasattr(X, "iloc") and not hasattr(X, "columns") else None
        return add_index(self, vectors, index)  # type: ignore[no-any-return]

    @staticmethod
    def clear_cache() -> None:
        """Forget the vectors of all graphs and settings; fitted estimators keep theirs."""
        CACHE.clear()

    def _read_column(self, X: Any, *, reset: bool) -> list[Any]:
        names = read_names(X)
        self.n_features_in_ = 1
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
        return names

    def _make_model(self) -> Embedding:
        seed = settle_seed(self.seed, self.random_state)
        options: dict[str, Any] = {"dim": self.dim, "method": self.method, "seed": seed, **self._settings}
        options = {name: value for name, value in options.items() if value is not None}
        path = isinstance(self.graph, str | os.PathLike)
        if not isinstance(self.graph, Embedding) and not (path and is_saved_embedding(self.graph)):
            if path and os.fspath(self.graph) == "-":  # which `read` takes for standard input
                raise InputError("graph='-' can be read only once; save it to a file", argument="graph")
            return embed_once(self.graph, options)
        if options:
            name, value = next(iter(options.items()))
            raise InputError(
                f"{name}={value!r} cannot be set: graph= is an embedding; leave {name} out, or pass the graph",
                argument=name,
            )
        return load(self.graph) if path else self.graph

    def _vectors(self) -> NDArray[np.float32]:
        """Return the vectors of the side."""
        if self.side is None:
            return self.model_.vectors
        check_choice("side", self.side, SIDES)
        if self.model_.sides.kind is None:
            raise InputError(
                f"side={self.side!r} is for directed and bipartite graphs, and this graph has one side", argument="side"
            )
        return self.model_.sides.vectors(self.model_.vectors, self.side)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.unknown == "skip"
        tags.transformer_tags.preserves_dtype = []  # vectors are float32
        return tags


def read_names(X: Any) -> list[Any]:
    """Read the names in a column, one for each row, and None for a missing one.

    Floats that are whole are integers, as tables turn one into the other where a value is missing.

    Examples
    --------
    >>> read_names(["ann", None]), read_names(np.array([[7.0], [8.0]])), read_names([["ann"], ["bob"]])
    (['ann', None], [7, 8], ['ann', 'bob'])
    """
    if isinstance(X, list | tuple) and not any(isinstance(row, list | np.ndarray) for row in X):
        # NumPy would make "7" of a 7 next to a string, and two columns of the tuples that NetworkX has as nodes.
        column = object_array(X)
    else:
        column = check_array(X, dtype=None, ensure_2d=False, ensure_all_finite=False, ensure_min_samples=0)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise InputError(
            f"X has the shape {column.shape}, and a column of node names has (n,) or (n, 1), as in ['ann', 'bob']; in "
            "a ColumnTransformer, name its column: (NodeVectors(graph), 'name')"
        )
    kinds = set(map(type, column.tolist()))
    if kinds & {float, np.float64} and kinds <= {int, float, np.int64, np.float64, type(None)}:
        column = column.astype(np.float64)
    names: list[Any] = as_ids(column).tolist()
    return names


class EmbeddingCache:
    """Embeddings by key, the newest last, at most ``most_bytes`` of vectors, and always the newest one."""

    # `GridSearchCV` clones an estimator for every fold, and `Pipeline(memory=...)` keeps what it fitted by the rows of
    # the fold. Only a cache below both knows that the vectors of all folds are those of one graph.

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[str, Embedding] = OrderedDict()
        # Held while an embedding is made: one uses all cores by itself, and a second thread with the same key waits
        # for its vectors rather than making them again.
        self._lock = RLock()

    def find_or_make(self, key: str | None, make: Callable[[], Embedding]) -> Embedding:
        """Return the embedding of a key, made if it is not here; without a key it is made and not kept."""
        if key is None:
            return make()
        with self._lock:
            if key not in self._kept:
                embedding = make()
                embedding.vectors.flags.writeable = False  # several estimators share them
                self._kept[key] = embedding
                size = sum(each.vectors.nbytes for each in self._kept.values())
                while size > self.most_bytes and len(self._kept) > 1:
                    size -= self._kept.popitem(last=False)[1].vectors.nbytes
            self._kept.move_to_end(key)
            return self._kept[key]

    def clear(self) -> None:
        """Remove all embeddings."""
        with self._lock:
            self._kept.clear()


CACHE = EmbeddingCache()


def embed_once(source: Any, options: dict[str, Any]) -> Embedding:
    """Embed a graph by options of `graphrefine.embed`, or find the embedding in the cache."""
    reading, others = split_reading(options)
    keyed = {name: value for name, value in others.items() if name not in ("threads", "watcher")} | numerics_entry()
    if isinstance(source, str | os.PathLike):
        stamps = _stamp_files(source)
        key = None if stamps is None else _hash(stamps, reading, keyed)
        return CACHE.find_or_make(key, lambda: embed(source, **reading, **others))
    if hasattr(source, "__next__"):
        raise InputError(
            f"graph= is a {type(source).__name__}, which can be read only once; give list(graph)", argument="graph"
        )
    # By its content, as the object may have changed since: a NetworkX graph has no version of its edges.
    graph = read(source, **reading, threads=others.get("threads"))
    key = _hash(digest_graph(graph), repr(graph.names.tolist()), keyed)
    return CACHE.find_or_make(key, lambda: embed(graph, **others))


def _stamp_files(path: str | os.PathLike[str]) -> list[Any] | None:
    """Return the paths, sizes and times of a file or of all that is in a folder; None for an address."""
    if is_address(path):
        return None
    source = Path(path).absolute()
    files = [source, *sorted(source.rglob("*"))]
    return [os.fspath(path), *((str(each), each.stat().st_size, each.stat().st_mtime_ns) for each in files)]


def _hash(*parts: Any) -> str | None:
    """Return digits that differ for different values; None where one of them is neither plain nor an array."""
    try:
        return hash_parts(json.dumps(parts, sort_keys=True, default=_as_plain).encode())
    except TypeError:
        return None


def _as_plain(value: Any) -> Any:
    """Return what JSON can hold of a value of a setting."""
    if isinstance(value, Embedding):
        return [str(value.fingerprint), repr(value.names.tolist())]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return [str(value.dtype), value.shape, hash_parts(value)]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a {type(value).__name__} has no digits")
