"""NodeVectors: a scikit-learn transformer from a column of node names to the vectors of these nodes in a graph."""

from __future__ import annotations

import os
import warnings
from copy import deepcopy
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.formats import is_saved_embedding
from graphrefine.errors import ArgumentWarning, InputError, KeywordError, suggest
from graphrefine.graph.lookup import SIDES, list_some, quote_name
from graphrefine.methods.registry import METHODS, find_method
from graphrefine.pipeline.embed import embed
from graphrefine.readers.options import OPTION_NAMES
from graphrefine.sklearn.embedding_cache import CACHE, embed_once
from graphrefine.sklearn.name_column import read_names
from graphrefine.sklearn.output_frames import add_index
from graphrefine.sklearn.seeds import settle_seed
from graphrefine.system.checks import check_choice


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
        """All parameters, those of the method among them."""
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
        """A clone that shares the graph; scikit-learn's own would copy it for each fold."""
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
        """The vectors of the nodes that X names.  # (n, dim)."""
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
        """The vectors of the side."""
        if self.side is None:
            return self.model_.vectors
        check_choice("side", self.side, SIDES)
        if self.model_.sides.kind is None:
            raise InputError(
                f"side={self.side!r} is for directed and bipartite graphs, and this graph has one side", argument="side"
            )
        return self.model_.sides.vectors(self.model_.vectors, self.side)

    def _find_rows(self, names: list[Any], *, fitting: bool = False) -> NDArray[np.int64]:
        """The row of each name, -1 where it is unknown."""
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
