"""NodeVectors: a scikit-learn transformer from a column of node names to the vectors of these nodes in a graph."""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable
from copy import deepcopy
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.formats import is_address, is_saved_embedding
from graphrefine.errors import ArgumentWarning, InputError, KeywordError, suggest
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import SIDES, list_some, quote_name
from graphrefine.graph.node_ids import Names, as_ids, id_array
from graphrefine.kernels.numerics import numerics_entry
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.pipeline.embed import embed, warn_of_direction
from graphrefine.readers.options import OPTION_NAMES, split_reading
from graphrefine.readers.read import read
from graphrefine.sklearn._shared import add_index, edge_digits, settle_seed
from graphrefine.system.checks import check_choice
from graphrefine.system.digest import hash_parts

MOST_BYTES = 1 << 30  # of cached vectors: about 2 million nodes of 128 dimensions

Key = tuple[str, ...]
_ONE_COLUMN = "in a ColumnTransformer, name its column: (NodeVectors(graph), 'name')"


class NodeVectors(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Vectors of the nodes that a column names: a transformer for pipelines, beside text and numbers.

    The graph is a parameter; X is a column of names, (n,) or (n, 1): a list, a series, an array, a column of a data
    frame as `ColumnTransformer` hands it over. The output has a row for each name. Names may repeat.

    Labels never reach the vectors: ``y`` is ignored. The graph itself is transductive: it has the edges of all its
    nodes, so those of the rows that a cross-validation holds out are seen. Where that is not how the model will be
    used, hand over a graph without these edges, or use `graphrefine.REFINE`, which embeds the training nodes alone.

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
        Of a directed graph, the half of the vectors that stands for nodes as sources or as targets; None is both, dim
        columns. Of a bipartite graph, the side on which names stand; None where no name stands on both.
    unknown : {"error", "skip"}, default="error"
        Names that no node has, and missing ones: an error, or rows of zeros, with a warning.
    seed : int, default=None
        Seed of the method; None is 0.
    random_state, rng : int, numpy.random.Generator or RandomState, default=None
        The same under the names of scikit-learn and of SPEC 7; one of the three only.
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
        rng: Any = None,
        **settings: Any,
    ) -> None:
        self.graph = graph
        self.dim = dim
        self.method = method
        self.side = side
        self.unknown = unknown
        self.seed = seed
        self.random_state = random_state
        self.rng = rng
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
        own = {name: value for name, value in params.items() if name in self._get_param_names()}
        method = own.get("method", self.method)
        for name in params.keys() - own.keys() - self._settings.keys():
            _check_setting(name, method)
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
        self._find_rows(names, fitting=True)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the vectors of the nodes that X names.  # (n, dim)."""
        check_is_fitted(self)
        rows = self._find_rows(self._read_column(X, reset=False))
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
        seed = settle_seed(seed=self.seed, random_state=self.random_state, rng=self.rng)
        options: dict[str, Any] = {"dim": self.dim, "method": self.method, "seed": seed, **self._settings}
        options = {name: value for name, value in options.items() if value is not None}
        path = isinstance(self.graph, str | os.PathLike)
        if not isinstance(self.graph, Embedding) and not (path and is_saved_embedding(self.graph)):
            if path and os.fspath(self.graph) == "-":
                raise InputError("graph='-' can be read only once; save it to a file", argument="graph")
            return embed_once(self.graph, options)
        for name, value in options.items():
            raise InputError(
                f"{name}={value!r} cannot be set: graph= is an embedding, whose vectors are made; leave {name} out, or "
                "hand over the graph",
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

    def _find_rows(self, names: list[Any], *, fitting: bool = False) -> NDArray[np.int64]:
        """Find the row of each name, -1 where it is unknown."""
        if self.unknown == "error" and None in names:
            at = names.index(None)
            raise InputError(
                f"X has no name in row {at} ({names.count(None):,} of {len(names):,} are missing); "
                "unknown='skip' gives rows of zeros",
                argument="unknown",
            )
        rows = self.model_.lookup.rows(names, self.side, unknown=self.unknown)
        missing = [names[at] for at in np.flatnonzero(rows < 0)]
        if missing and fitting and len(missing) == len(names):
            raise InputError(
                f"no name of X is in the graph: X has {list_some(missing)}, and the graph "
                f"{list_some(self.model_.names.tolist())}"
            )
        if missing and not fitting:
            text = f"names that no node has: {len(missing):,} of {len(names):,}, such as {quote_name(missing[0])}; "
            warnings.warn(ArgumentWarning(f"{text}their rows are zero"), stacklevel=4)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self.unknown == "skip"
        tags.transformer_tags.preserves_dtype = []  # vectors are float32
        return tags


def _check_setting(name: str, method: str | None) -> None:
    """Refuse a parameter that neither `embed` nor any method has; a grid may set the method later."""
    known = {*OPTION_NAMES, *(embed.__kwdefaults__ or {})}
    if name in known or name in _fields(method or "refine"):
        return
    every = known | {field for each in METHODS for field in _fields(each)}
    if name not in every:
        raise KeywordError(f"{name!r} is no parameter of NodeVectors and no setting of a method{suggest(name, every)}")


def _fields(method: str) -> set[str]:
    return set(find_method(method).settings.__dataclass_fields__) if method in METHODS else set()


def read_names(X: Any) -> list[Any]:
    """Read the names in a column, one for each row, and None for a missing one.

    Floats that are whole are integers, as tables turn one into the other where a value is missing.

    Examples
    --------
    >>> read_names(["ann", None]), read_names(np.array([[7.0], [8.0]])), read_names([["ann"], ["bob"]])
    (['ann', None], [7, 8], ['ann', 'bob'])
    """
    if hasattr(X, "tocsr"):
        raise InputError(f"X is a sparse matrix, and a column of node names is expected; {_ONE_COLUMN}")
    if hasattr(X, "columns") and hasattr(X, "shape"):  # pandas, polars, pyarrow
        _check_width(X.shape, f": {', '.join(map(str, _headings(X)[:5]))}")
        X = X.iloc[:, 0] if hasattr(X, "iloc") else X[_headings(X)[0]]
    for method in ("to_list", "to_pylist"):  # of a series, of an array of Arrow
        if hasattr(X, method):
            X = getattr(X, method)()
    return _names_of_array(X) if isinstance(X, np.ndarray) else _names_of_list(X)


def _headings(frame: Any) -> list[Any]:
    return list(getattr(frame, "column_names", frame.columns))


def _check_width(shape: tuple[int, ...], headings: str = "") -> None:
    if shape[1] == 0:
        problem = f"X has 0 feature(s) (shape={shape}) while a minimum of 1 is required: a column of node names"
        raise InputError(problem)
    if shape[1] > 1:
        raise InputError(f"X has {shape[1]} columns{headings}, and one column of node names is expected; {_ONE_COLUMN}")


def _names_of_array(array: Any) -> list[Any]:
    if array.ndim == 0 or array.ndim > 2:
        raise InputError(f"X has the shape {array.shape}; a column of node names has (n,) or (n, 1)")
    if array.ndim == 2:
        _check_width(array.shape)
        array = array[:, 0]
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: names of nodes are integers or strings")
    if array.dtype.kind == "O":
        return _names_of_list(array.tolist())
    names: list[Any] = as_ids(array).tolist()
    return names


def _names_of_list(values: Any) -> list[Any]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"X is {values!r}, and a column of node names is expected, as in ['ann', 'bob']")
    listed = list(values)
    if listed and all(isinstance(row, list | np.ndarray) for row in listed):  # rows of one cell; a tuple may be a name
        for row in listed:
            _check_width((len(listed), len(row)))
        listed = [row[0] for row in listed]
    numeric = {type(value) for value in listed if value is not None} <= {int, float, np.float64, np.int64}
    if numeric and any(isinstance(value, float) for value in listed):
        ids = as_ids(np.array([np.nan if value is None else value for value in listed], np.float64))
    else:
        ids = id_array(listed)
    names: list[Any] = ids.tolist()
    return names


class EmbeddingCache:
    """Embeddings by key, the newest last, at most so many bytes of vectors, and always the newest one.

    `GridSearchCV` clones an estimator for every fold, and all clones find here the vectors that the first one made. A
    graph is known by its content (the object may have changed since), a file by path, size and time, both with the
    settings and the kernels. One embedding is made at a time, as it uses all cores by itself.

    Examples
    --------
    >>> cache = EmbeddingCache(most_bytes=0)  # so that it keeps only the newest
    >>> first = cache.find_or_make(("a",), lambda: Embedding(["ann"], [[1.0]]))
    >>> cache.find_or_make(("a",), lambda: Embedding(["bob"], [[1.0]])) is first
    True
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[Key, Embedding] = OrderedDict()
        self.renew_lock()

    def renew_lock(self) -> None:
        """Replace the lock: in a child process after a fork, the thread that had it does not exist."""
        self._lock = RLock()

    def find_or_make(self, key: Key | None, make: Callable[[], Embedding]) -> Embedding:
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
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=CACHE.renew_lock)


def embed_once(source: Any, options: dict[str, Any]) -> Embedding:
    """Embed a graph by options of `graphrefine.embed`, or find the embedding in the cache."""
    reading, others = split_reading(options)
    keyed = {name: value for name, value in others.items() if name not in ("threads", "watcher") and value is not None}
    settings = _digits({**numerics_entry(), **keyed})
    if isinstance(source, str | os.PathLike):
        parts = (_file_digits(source), _digits(reading), settings)
        return CACHE.find_or_make(_key(*parts), lambda: embed(source, **reading, **others))
    if hasattr(source, "__next__"):
        raise InputError(
            f"graph= is a {type(source).__name__}, which can be read only once; give list(graph)", argument="graph"
        )
    graph = read(source, **reading, threads=others.get("threads"))
    if not isinstance(source, Graph):
        warn_of_direction(graph, stacklevel=5)
    return CACHE.find_or_make(_key(_graph_digits(graph), settings), lambda: embed(graph, **others))


def _key(*digits: str | None) -> Key | None:
    """Make the key of these parts; None where one of them has no digits."""
    known = tuple(each for each in digits if each is not None)
    return known if len(known) == len(digits) else None


def _graph_digits(graph: Graph) -> str:
    """Return digits of all that a graph's vectors depend on."""
    kind = f"{edge_digits(graph)} {graph.directed} {graph.sources}"
    return hash_parts(kind.encode(), _name_bytes(graph.names))


def _name_bytes(names: Names) -> bytes:
    """Return names as bytes, 7 and "7" apart."""
    return names.tobytes() if names.dtype != object else repr(names.tolist()).encode("utf-8", "backslashreplace")


def _file_digits(path: str | os.PathLike[str]) -> str | None:
    """Return the path, sizes and times of a file, or of all files of a folder; None for what cannot be looked at."""
    if is_address(path):
        return None
    place = Path(os.fspath(path).partition("?query=")[0]).absolute()
    try:
        files = sorted(each for each in place.rglob("*") if each.is_file()) if place.is_dir() else [place]
        stamps = [(str(each), each.stat().st_size, each.stat().st_mtime_ns) for each in files]
    except OSError:
        return None
    return repr((os.fspath(path), stamps))


def _digits(values: Any) -> str | None:
    """Return text that differs for different settings; None where a value is not plain, an array or an embedding."""
    if isinstance(values, dict):
        listed = [_digits([name, values[name]]) for name in sorted(values) if values[name] is not None]
    elif isinstance(values, list | tuple):
        listed = [_digits(each) for each in values]
    elif isinstance(values, Embedding):
        return hash_parts(values.vectors, _name_bytes(values.names))
    elif isinstance(values, np.ndarray) and values.dtype.kind in "biufU":
        return f"{values.dtype} {values.shape} {hash_parts(values)}"
    elif isinstance(values, str | int | float | np.generic | os.PathLike | None):
        return f"{type(values).__name__} {values!r}"
    else:
        return None
    return None if None in listed else f"[{', '.join(map(str, listed))}]"
