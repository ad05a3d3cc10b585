"""REFINE as a scikit-learn estimator: a graph as its adjacency matrix in, vectors out; other snapshots, new nodes.

`transform` gives vectors that can be compared with the fitted ones. Another snapshot of the graph is embedded with the
fitted settings, its known nodes drawn the same random rows as then, and rotated onto the fitted vectors by the nodes
that both have (`graphrefine.embedding.derive`). New nodes are folded in by their edges to fitted nodes
(`graphrefine.embedding.fold_in`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.state import EmbeddingData
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.node_ids import Names, name_array
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.pipeline.memory_plan import choose_dimension
from graphrefine.refine.settings import refine_settings
from graphrefine.sklearn.adjacency_input import (
    LabeledMatrix,
    check_direction,
    check_nodes,
    check_shared_edges,
    edge_digits,
    find_positions,
    number_columns,
    read_matrix,
)
from graphrefine.sklearn.new_rows import fold_rows, place_features
from graphrefine.sklearn.output_frames import add_index
from graphrefine.sklearn.seeds import settle_seed
from graphrefine.system.checks import check_choice
from graphrefine.system.threads import usable_threads

_CHECKS: dict[str, Any] = {
    "accept_sparse": ("csr", "csc", "coo"),
    "dtype": (np.float64, np.float32),
    "ensure_non_negative": True,
}
_NO_SETTINGS = ("preset", "directed", "rows", "seed", "random_state", "rng", "threads")


class REFINE(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Node vectors of a graph given by its adjacency matrix.

    `fit` takes a matrix (n, n), sparse or dense, a data frame with the same names in its index and its columns, a
    NetworkX graph or a `graphrefine.Graph`. `transform` takes another snapshot of the graph, or new nodes by their
    edges to fitted nodes; its vectors can be compared with the fitted ones.

    Parameters
    ----------
    dim : int or "auto", default=128
        Length of the vectors; at most the number of nodes. "auto" chooses it from the spectrum of the graph at each
        fit, see `graphrefine.embed`.
    preset : {"default", "paper"}, default=None
        Where the options that are None come from.
    block, power, negative, exponent, log_weights, two_sided, spectrum : default=None
    filter, order, scale, loop, center, axes, quality, bfloat16 : default=None
        See `graphrefine.refine.settings.RefineSettings`.
    directed : bool, default=None
        Whether entry (i, j) is an arc from i to j. Otherwise the larger of (i, j) and (j, i) counts. None: as a
        NetworkX graph says itself, and False for a matrix.
    rows : {"nodes", "new"}, default=None
        Rows of a matrix without names in `transform`: the fitted nodes in their order ("nodes", another snapshot), or
        new nodes by their edges to the fitted ones ("new"). None: another number of rows than n are new nodes; n rows
        are the fitted nodes if the matrix is symmetric or the fitted one, and refused otherwise.
    seed : int, default=None
        Seed of the random sketch; None is 0, so that every fit gives the same vectors.
    random_state, rng : int, numpy.random.Generator or RandomState, default=None
        The same under the names of scikit-learn and of SPEC 7; one of the three only. An int is the seed itself; a
        generator draws one at each fit.
    threads : int, default=None
        All that the process may run on. The vectors do not depend on it.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, dim)
        One unit row for each node; zero for a node without edges or features.
    model_ : Embedding
        The same vectors with the names of the nodes, for `graphrefine.Embedding.neighbors`, ``score``, ``save`` ...
    seed_ : int
        The seed of these vectors.
    n_features_in_ : int
        Number of nodes.
    feature_names_in_ : ndarray of shape (n_nodes,)
        Names of the columns, if X was a data frame whose columns are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> ring = np.roll(np.eye(6), 1, axis=1)
    >>> estimator = REFINE(dim=2).fit(ring)
    >>> estimator.embedding_.shape
    (6, 2)
    >>> new = np.array([[1, 0, 1, 0, 0, 0]])  # a node with edges to nodes 0 and 2
    >>> estimator.transform(new).shape
    (1, 2)
    """

    # A pipeline routes features by the request of `fit` alone.
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"features": UNUSED}

    def __init__(
        self,
        dim: int | str = 128,
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
        center: bool | None = None,
        axes: float | None = None,
        quality: str | None = None,
        bfloat16: bool | None = None,
        directed: bool | None = None,
        rows: str | None = None,
        seed: int | None = None,
        random_state: Any = None,
        rng: Any = None,
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
        self.center = center
        self.axes = axes
        self.quality = quality
        self.bfloat16 = bfloat16
        self.directed = directed
        self.rows = rows
        self.seed = seed
        self.random_state = random_state
        self.rng = rng
        self.threads = threads

    def fit(self, X: Any, y: None = None, features: Any = None) -> REFINE:
        """Embed the graph with this adjacency matrix (n, n), sparse or dense, entries at least 0.

        A NetworkX graph stands for its adjacency matrix, whose rows are ``list(X.nodes)``, in this order.
        ``features`` (n, f), sparse or dense, are what is known of the nodes beside the edges; with names (a mapping, a
        data frame with an index of names ...) they are joined by name.
        """
        seed = settle_seed(seed=self.seed, random_state=self.random_state, rng=self.rng) or 0
        options = {name: value for name, value in self.get_params().items() if name not in _NO_SETTINGS}
        if automatic := isinstance(self.dim, str) and self.dim == "auto":
            options["dim"] = None
        settings = refine_settings(self.preset, **options, seed=seed)
        self._check_rows()
        source = read_matrix(X)
        check_nodes(source)
        graph, names = self._graph_of(source)
        table, dimension = place_features(features, graph, names), None
        if automatic:
            dimension = choose_dimension(graph, threads=usable_threads(self.threads))
            settings = replace(settings, dim=dimension.dim)
        embedding, _ = embed_graph(graph, settings, features=table, threads=self.threads, learn=True)
        if dimension is not None:
            embedding.recipe["auto_dim"] = dimension.figures()
        self.seed_, self._settings, self._has_features = settings.seed, settings, features is not None
        self._directed, self._by_name, self._fingerprint = graph.directed, isinstance(X, Graph), edge_digits(graph)
        self.model_ = Embedding.from_data(
            EmbeddingData(names, embedding.vectors, embedding.recipe, state=embedding.state)
        )
        self.embedding_ = self.model_.vectors
        self._n_features_out = settings.dim
        return self

    def fit_transform(self, X: Any, y: None = None, features: Any = None) -> NDArray[np.float32]:
        """Fit, and return the vectors (n, dim): a copy, so that a step that works in place leaves the fitted ones."""
        vectors = self.fit(X, features=features).embedding_.copy()
        return add_index(self, vectors, _index_of(X, self.model_.names))  # type: ignore[no-any-return]

    def transform(self, X: Any, features: Any = None) -> NDArray[np.float32]:
        """Vectors, comparable with the fitted ones, of another snapshot of the graph or of new nodes.

        Parameters
        ----------
        X
            A snapshot: a NetworkX graph, a `graphrefine.Graph`, or a data frame with the same names in its index and
            its columns, some of which are fitted nodes; or a matrix (n, n) of the fitted nodes in their order. The
            fitted graph itself has the fitted vectors.
            New nodes: a matrix (m, n) with a row for each new node and a column for each fitted node, in their order;
            or a data frame with new names in its index and names of fitted and new nodes in its columns.
        features
            For a snapshot, where `fit` had features: those of its nodes.

        Returns
        -------
        ndarray of shape (rows of X, dim)
        """
        check_is_fitted(self)
        self._check_rows()
        source = read_matrix(X)
        if source.rows is not None and source.square:
            check_direction(source, self._directed, by="the fitted one was")
            matrix = source.matrix if isinstance(source.matrix, Graph) else self._check_labeled(source)
            vectors = self._embed_snapshot(matrix, source.rows, features)
            return add_index(self, vectors, _index_of(X, source.rows))  # type: ignore[no-any-return]
        if source.rows is not None:
            columns = number_columns(source, self.model_.lookup)
            labels = [f"new node {name!r}" for name in source.rows.tolist()]
            return self._fold_in(self._check_labeled(source), columns, labels, features)
        matrix = self._check_entries(source.matrix, reset=False)
        if self._are_nodes(matrix):
            return self._embed_snapshot(matrix, self.model_.names, features)
        labels = [f"new node in row {at}" for at in range(matrix.shape[0])]
        return self._fold_in(matrix, np.arange(len(self.model_)), labels, features)

    def _check_rows(self) -> None:
        check_choice("rows", self.rows, [None, "nodes", "new"])

    def _check_entries(self, matrix: Any, *, reset: bool) -> Any:
        """The matrix as scikit-learn checks it: finite numbers, not negative, and the columns as in `fit`."""
        shape: tuple[int, ...] = getattr(matrix, "shape", ())
        n = 0 if reset else len(self.model_)
        if not reset and self.rows != "new" and len(shape) == 2 and shape[0] == shape[1] != n:
            raise InputError(
                f"a matrix of {shape[0]} x {shape[1]} without names cannot be matched with the {n} fitted nodes: X has "
                f"{shape[1]} features, but REFINE is expecting {n} features as input; a NetworkX graph, and a data "
                "frame with names in its index and columns, is matched by names"
            )
        return validate_data(self, matrix, reset=reset, ensure_min_samples=2 if reset else 1, **_CHECKS)

    def _check_labeled(self, source: LabeledMatrix) -> Any:
        """The same for a matrix whose columns have names, and with them an order of their own."""
        return check_array(source.matrix, estimator=self, **_CHECKS)

    def _graph_of(self, source: LabeledMatrix) -> tuple[Graph, Names]:
        """The graph to fit, and the names of its nodes; the rows of a matrix are 0 to n - 1 to the method."""
        if isinstance(source.matrix, Graph):
            if self.directed is not None:
                check_direction(source, self.directed, by="directed= says")
            self.n_features_in_ = source.matrix.nodes
            if hasattr(self, "feature_names_in_"):  # of an earlier fit
                del self.feature_names_in_
            return source.matrix, source.matrix.names
        directed = source.directed if self.directed is None else self.directed
        matrix = self._check_entries(source.matrix, reset=True)
        graph = Graph.from_matrix(matrix, directed=bool(directed), threads=self.threads)
        if source.rows is not None:
            return graph, source.rows
        return graph, name_array(self.feature_names_in_) if hasattr(self, "feature_names_in_") else graph.names

    def _are_nodes(self, matrix: Any) -> bool:
        """Whether the rows of a matrix without names are the fitted nodes; InputError where that is not clear."""
        n, m = len(self.model_), matrix.shape[0]
        if self.rows == "nodes" and m != n:
            raise InputError(f"rows='nodes', and X has {m} rows for {n} fitted nodes", argument="rows")
        if m != n or self.rows is not None:
            return self.rows == "nodes"
        if _is_symmetric(matrix) or self._is_fitted_graph(self._snapshot_graph(matrix, self.model_.names)):
            return True
        raise InputError(
            f"a matrix of {n} x {n} without names can be read in two ways: rows='nodes' reads its rows as the {n} "
            "fitted nodes (another snapshot), rows='new' as new nodes, by their edges to the fitted ones; "
            "set_params(rows=...) says which",
            argument="rows",
        )

    def _is_fitted_graph(self, graph: Graph) -> bool:
        return edge_digits(graph) == self._fingerprint

    def _snapshot_graph(self, matrix: Any, names: Names) -> Graph:
        """A snapshot whose known nodes have the names, and with them the random rows, that they had in `fit`."""
        rows = find_positions(names, self.model_.lookup)
        new = rows < 0
        rows[new] = len(self.model_) + np.arange(new.sum())
        if isinstance(matrix, Graph):
            graph = matrix if self._by_name or matrix.stored else replace(matrix, names=rows)
        else:
            ids = names.tolist() if self._by_name else rows.tolist()
            graph = Graph.from_matrix(matrix, directed=self._directed, names=ids, threads=self.threads)
        check_shared_edges(graph, new)
        return graph

    def _embed_snapshot(self, matrix: Any, names: Names, features: Any) -> NDArray[np.float32]:
        """The vectors of a snapshot, rotated onto the fitted ones; the fitted ones if it is the fitted graph."""
        graph = self._snapshot_graph(matrix, names)
        if features is None and self.model_.names.tolist() == names.tolist() and self._is_fitted_graph(graph):
            return self.embedding_.copy()
        if self._has_features != (features is not None):
            had, has = ("with", "without") if self._has_features else ("without", "with")
            raise InputError(
                f"the graph was fitted {had} features, and this snapshot comes {has}: their vectors cannot be compared",
                argument="features",
            )
        table = place_features(features, graph, names)
        embedding, _ = embed_graph(graph, self._settings, features=table, threads=self.threads)
        moved = Embedding.from_data(embedding.data._replace(names=names))
        return moved.align_to(self.model_).vectors

    def _fold_in(
        self, matrix: Any, columns: NDArray[np.int64], labels: list[str], features: Any
    ) -> NDArray[np.float32]:
        """The vectors of new nodes; ``columns`` are fitted rows, or n + i for the new node i."""
        if features is not None:
            problem = "features= cannot be used with new nodes, which are known by their edges alone"
            raise InputError(problem, argument="features")
        return fold_rows(self.model_, matrix, columns, labels=labels, threads=self.threads)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True  # X is n x n, about pairs of nodes; then m x n, new nodes by fitted ones
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []  # vectors are float32
        return tags


def _is_symmetric(matrix: Any) -> bool:
    entries = csr_array(matrix)
    difference = entries - entries.T
    return not np.any(difference.data)


def _index_of(X: Any, names: Names) -> Names | None:
    """The index of the vectors, where scikit-learn does not see one: of graphs, the names of their nodes."""
    return None if hasattr(X, "shape") or isinstance(X, list) else names
