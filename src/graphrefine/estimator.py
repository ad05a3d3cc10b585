"""REFINE as a scikit-learn estimator: a square adjacency matrix in, vectors out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import validate_data

from graphrefine.graph.graph import Graph
from graphrefine.refine.settings import refine_settings
from graphrefine.run.embed_run import embed_graph


class REFINE(ClassNamePrefixFeaturesOutMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn is untyped
    """Node vectors of a graph given by its adjacency matrix.

    Nodes that were not in the matrix have no vector: there is `fit` and `fit_transform`, and no ``transform``.

    Parameters
    ----------
    dim : int, default=128
        Length of the vectors; at most the number of nodes.
    preset : {"default", "paper"}, default=None
        Where the options that are None come from.
    block, power, negative, exponent, log_weights, two_sided, spectrum : default=None
    filter, order, scale, loop, centre, axes, quality, bfloat16 : default=None
        See `graphrefine.refine.settings.RefineSettings`.
    directed : bool, default=None
        Whether entry (i, j) is an arc from i to j. Otherwise the larger of (i, j) and (j, i) counts. None: as a
        NetworkX graph says itself, and False for a matrix.
    seed : int, default=0
        Of the random sketch.
    threads : int, default=None
        All that the process may run on. The vectors do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, dim)
        One unit row for each node; zero for a node without edges or features.
    n_features_in_ : int
        Number of nodes.

    Examples
    --------
    >>> import numpy as np
    >>> ring = np.roll(np.eye(6), 1, axis=1)
    >>> REFINE(dim=2).fit_transform(ring).shape
    (6, 2)
    """

    def __init__(
        self,
        dim: int = 128,
        *,
        preset: str | None = None,
        block: int | None = None,
        power: int | None = None,
        negative: float | None = None,
        exponent: float | None = None,
        log_weights: bool | None = None,
        two_sided: bool | None = None,
        spectrum: float | None = None,
        filter: str | Sequence[float] | None = None,
        order: int | None = None,
        scale: float | None = None,
        loop: float | None = None,
        centre: bool | None = None,
        axes: float | None = None,
        quality: str | None = None,
        bfloat16: bool | None = None,
        directed: bool | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim = dim
        self.preset = preset
        self.block = block
        self.power = power
        self.negative = negative
        self.exponent = exponent
        self.log_weights = log_weights
        self.two_sided = two_sided
        self.spectrum = spectrum
        self.filter = filter
        self.order = order
        self.scale = scale
        self.loop = loop
        self.centre = centre
        self.axes = axes
        self.quality = quality
        self.bfloat16 = bfloat16
        self.directed = directed
        self.seed = seed
        self.threads = threads

    def fit(self, X: Any, y: None = None, features: Any = None) -> REFINE:
        """Embed the graph with this adjacency matrix (n, n), sparse or dense, entries at least 0.

        A NetworkX graph stands for its adjacency matrix, whose rows are ``list(X.nodes)``, in this order.
        ``features`` (n, f), sparse or dense, are what is known of the nodes beside the edges.
        """
        options = {k: v for k, v in self.get_params().items() if k not in ("preset", "directed", "threads")}
        settings = refine_settings(self.preset, **options)
        directed = self.directed
        if hasattr(X, "is_directed") and hasattr(X, "adj"):
            from networkx import to_scipy_sparse_array

            directed = bool(X.is_directed()) if directed is None else directed
            X = to_scipy_sparse_array(X)
        X = validate_data(
            self,
            X,
            accept_sparse=("csr", "csc", "coo"),
            dtype=(np.float64, np.float32),
            ensure_min_samples=2,
            ensure_non_negative=True,
        )
        graph = Graph.from_matrix(X, directed=bool(directed), threads=self.threads)
        embedding, _ = embed_graph(graph, settings, features=features, threads=self.threads)
        self.embedding_ = embedding.vectors
        self._n_features_out = settings.dim
        return self

    def fit_transform(self, X: Any, y: None = None, features: Any = None) -> NDArray[np.float32]:
        """Fit, and return the vectors (n, dim)."""
        return self.fit(X, features=features).embedding_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True  # X is n x n, about pairs of nodes
        tags.input_tags.positive_only = True
        return tags
