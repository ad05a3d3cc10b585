"""REFINE as a scikit-learn estimator: a graph as its adjacency matrix in, vectors out; other snapshots, new nodes.

`transform` returns vectors that can be compared with the fitted ones. Another snapshot of the graph is embedded with
the fitted settings, its known nodes drawn the same random rows as then, and rotated onto the fitted vectors by the
nodes that both have (`graphrefine.embedding.derive`). New nodes are folded in by their edges to fitted nodes
(`graphrefine.embedding.fold_in`).

How an input is read:

=====================================  ==============================================================================
input                                  rows
=====================================  ==============================================================================
NetworkX graph, `graphrefine.Graph`    its nodes, by name
data frame, index and columns alike    its nodes, by name, in any order of the columns
data frame, another labeled index     new nodes, named by the index; the columns are nodes, by name
matrix, frame without labeled rows    without names: column i is fitted node i
=====================================  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.fingerprint import GRAPH, digest_graph
from graphrefine.embedding.state import EmbeddingData
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import list_some, quote_name
from graphrefine.graph.node_ids import Names, name_array
from graphrefine.pipeline.embed import embed
from graphrefine.pipeline.feature_table import read_features
from graphrefine.readers.frames import is_counted, match_labels
from graphrefine.sklearn._shared import add_index, settle_seed
from graphrefine.system.checks import check_choice

_CHECKS: dict[str, Any] = {
    "accept_sparse": ("csr", "csc", "coo"),
    "dtype": (np.float64, np.float32),
    "ensure_non_negative": True,
}
_NO_SETTINGS = ("directed", "rows", "random_state", "threads")


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
    random_state : int, numpy.random.Generator or RandomState, default=None
        The same under the name of scikit-learn; one of the two only. An int is the seed itself; a generator draws one
        at each fit.
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
        self.threads = threads

    def fit(self, X: Any, y: None = None, features: Any = None) -> REFINE:
        """Embed the graph with this adjacency matrix (n, n), sparse or dense, entries at least 0.

        A NetworkX graph is read as its adjacency matrix, whose rows are ``list(X.nodes)``, in this order.
        ``features`` (n, f), sparse or dense, are what else is known of the nodes; with names (a mapping, a
        data frame with an index of names ...) they are joined by name.
        """
        options = {name: value for name, value in self.get_params().items() if name not in _NO_SETTINGS}
        options["seed"] = settle_seed(self.seed, self.random_state) or 0
        check_choice("rows", self.rows, [None, "nodes", "new"])
        source = read_matrix(X)
        if source.rows is not None and not source.square:
            raise InputError(
                f"the rows of the data frame are {list_some(source.rows.tolist())}, which are not its columns: an "
                "adjacency matrix has the same nodes in both; X.to_numpy() leaves the labels out"
            )
        graph, names = self._graph_of(source)
        table = place_features(features, graph, names)
        embedding = embed(graph, **options, features=table, threads=self.threads, learn=True)
        # `transform` embeds by these: parameters may be set after `fit`, a generator would draw another seed, and
        # "auto" might choose another dim for a snapshot, whose vectors could not be rotated onto the fitted ones.
        self.seed_, self._options, self._has_features = options["seed"], options, features is not None
        self._options["dim"] = embedding.dim
        self._directed, self._by_name, self._fingerprint = graph.directed, isinstance(X, Graph), embedding.recipe[GRAPH]
        self.model_ = Embedding.from_data(
            EmbeddingData(names, embedding.vectors, embedding.recipe, state=embedding.state)
        )
        self.embedding_ = self.model_.vectors
        self._n_features_out = embedding.dim
        return self

    def fit_transform(self, X: Any, y: None = None, features: Any = None) -> NDArray[np.float32]:
        """Fit, and return the vectors (n, dim): a copy, so that a step that works in place leaves the fitted ones."""
        vectors = self.fit(X, features=features).embedding_.copy()
        return add_index(self, vectors, _index_of(X, self.model_.names))  # type: ignore[no-any-return]

    def transform(self, X: Any, features: Any = None) -> NDArray[np.float32]:
        """Return vectors, comparable with the fitted ones, of another snapshot of the graph or of new nodes.

        Parameters
        ----------
        X
            A snapshot: a NetworkX graph, a `graphrefine.Graph`, or a data frame with the same names in its index and
            its columns, some of which are fitted nodes; or a matrix (n, n) of the fitted nodes in their order. The
            fitted graph itself has the fitted vectors.
            New nodes: a matrix (m, n) with a row for each new node and a column for each fitted node, in their order;
            or a data frame with new names in its index and names of fitted nodes in its columns.
        features
            For a snapshot, where `fit` had features: those of its nodes.

        Returns
        -------
        ndarray of shape (rows of X, dim)
        """
        check_is_fitted(self)
        check_choice("rows", self.rows, [None, "nodes", "new"])
        source = read_matrix(X)
        check_direction(source, self._directed)
        if source.rows is not None and source.square:
            is_graph = isinstance(source.matrix, Graph)
            matrix = source.matrix if is_graph else check_array(source.matrix, estimator=self, **_CHECKS)
            vectors = self._embed_snapshot(matrix, source.rows, features)
            return add_index(self, vectors, _index_of(X, source.rows))  # type: ignore[no-any-return]
        if source.rows is not None:
            columns = self._find_columns(source)
            return self._fold_in(check_array(source.matrix, estimator=self, **_CHECKS), columns, features)
        matrix = validate_data(self, source.matrix, reset=False, **_CHECKS)
        if self._are_nodes(matrix):
            return self._embed_snapshot(matrix, self.model_.names, features)
        return self._fold_in(matrix, np.arange(len(self.model_)), features)

    def _graph_of(self, source: LabeledMatrix) -> tuple[Graph, Names]:
        """Return the graph to fit and the names of its nodes; rows of a matrix are 0 to n - 1 to the method."""
        if isinstance(source.matrix, Graph):
            check_direction(source, self.directed)
            self.n_features_in_ = source.matrix.nodes
            if hasattr(self, "feature_names_in_"):  # of an earlier fit
                del self.feature_names_in_
            return source.matrix, source.matrix.names
        directed = source.directed if self.directed is None else self.directed
        matrix = validate_data(self, source.matrix, ensure_min_samples=2, **_CHECKS)
        graph = Graph.from_matrix(matrix, directed=bool(directed), threads=self.threads)
        if source.rows is not None:
            return graph, source.rows
        return graph, name_array(self.feature_names_in_) if hasattr(self, "feature_names_in_") else graph.names

    def _are_nodes(self, matrix: Any) -> bool:
        """Tell whether rows of a matrix without names are the fitted nodes; InputError where that is not clear."""
        n, m = len(self.model_), matrix.shape[0]
        if self.rows == "nodes" and m != n:
            raise InputError(f"rows='nodes', and X has {m} rows for {n} fitted nodes", argument="rows")
        if m != n or self.rows is not None:
            return self.rows == "nodes"
        # New nodes that are as many as the fitted ones, with symmetric edges in the same order, are no real input.
        entries = csr_array(matrix)
        if not (entries - entries.T).data.any():
            return True
        if digest_graph(self._snapshot_graph(matrix, self.model_.names)) == self._fingerprint:
            return True
        raise InputError(
            f"a matrix of {n} x {n} without names can be read in two ways: rows='nodes' reads its rows as the {n} "
            "fitted nodes (another snapshot), rows='new' as new nodes, by their edges to the fitted ones",
            argument="rows",
        )

    def _snapshot_graph(self, matrix: Any, names: Names) -> Graph:
        """Make a snapshot whose known nodes have the names, and so the random rows, that they had in `fit`."""
        # A node draws its random row by its name. Where `fit` knew nodes by their rows, a snapshot gets these numbers
        # for names; otherwise the sketch of every node would change, and alignment would have to undo that too.
        rows = self.model_.lookup.rows(names.tolist(), unknown="skip")
        new = rows < 0
        rows[new] = len(self.model_) + np.arange(new.sum())
        if isinstance(matrix, Graph):
            graph = matrix if self._by_name or matrix.stored else replace(matrix, names=rows)
        else:
            ids = names.tolist() if self._by_name else rows.tolist()
            graph = Graph.from_matrix(matrix, directed=self._directed, names=ids, threads=self.threads)
        return graph

    def _embed_snapshot(self, matrix: Any, names: Names, features: Any) -> NDArray[np.float32]:
        """Embed a snapshot, and rotate it onto the fitted vectors; the fitted graph has the fitted vectors."""
        graph = self._snapshot_graph(matrix, names)
        # scikit-learn asks that `fit(X).transform(X)` is `fit_transform(X)`: bit for bit, which an alignment of equal
        # vectors is not.
        same_names = self.model_.names.tolist() == names.tolist()
        if features is None and same_names and digest_graph(graph) == self._fingerprint:
            return self.embedding_.copy()
        if self._has_features != (features is not None):
            had, has = ("with", "without") if self._has_features else ("without", "with")
            raise InputError(
                f"the graph was fitted {had} features, and this snapshot comes {has}: their vectors cannot be compared",
                argument="features",
            )
        table = place_features(features, graph, names)
        embedding = embed(graph, **self._options, features=table, threads=self.threads)
        moved = Embedding.from_data(embedding.data._replace(names=names))
        return moved.align_to(self.model_).vectors

    def _find_columns(self, source: LabeledMatrix) -> NDArray[np.int64]:
        """Find the fitted rows of the columns of a frame whose index has the names of new nodes."""
        rows, columns = ([] if names is None else names.tolist() for names in (source.rows, source.columns))
        known = next((name for name in rows if self.model_.lookup.find(name) is not None), None)
        if known is not None:
            raise InputError(
                f"the row {quote_name(known)} is a fitted node, but the columns are not the nodes of the rows: for "
                "another snapshot, index and columns must have the same names; for new nodes, the index must have new "
                "names only"
            )
        found: NDArray[np.int64] = self.model_.lookup.rows(columns)
        return found

    def _fold_in(self, matrix: Any, columns: NDArray[np.int64], features: Any) -> NDArray[np.float32]:
        """Fold in new nodes by the weights (m, columns) of their edges; ``columns`` are fitted rows.  # (m, dim)."""
        if features is not None:
            raise InputError("features= cannot be used with new nodes, which have edges alone", argument="features")
        entries = coo_array(matrix)
        used, ends = np.unique(columns[entries.col], return_inverse=True)
        names = [*used.tolist(), *(f"new node in row {row}" for row in range(entries.shape[0]))]
        arcs = (entries.row + len(used), ends, entries.data)
        edges = Graph.from_edges(*arcs, names=names, directed=True, threads=self.threads)
        # Nodes go by their rows here: the names of columns and new rows may be equal where X is a matrix.
        model = self.model_
        by_row = EmbeddingData(np.arange(len(model)), model.vectors, model.recipe, state=model.state)
        return Embedding.from_data(by_row).fold_in(edges).vectors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = True  # X is n x n, about pairs of nodes; then m x n, new nodes by fitted ones
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []  # vectors are float32
        return tags


def _index_of(X: Any, names: Names) -> Names | None:
    """Return the index of the vectors where scikit-learn does not see one: the names of a graph's nodes."""
    return None if hasattr(X, "shape") or isinstance(X, list) else names


class LabeledMatrix(NamedTuple):
    """Entries with the names of their rows and columns, where they have any."""

    matrix: Any  # (m, n): sparse, dense, a data frame without labeled rows; or a Graph
    rows: Names | None = None  # (m,)
    columns: Names | None = None  # (n,); the very rows where these are the nodes
    directed: bool | None = None  # as a graph says itself

    @property
    def square(self) -> bool:
        """Whether rows and columns are the same nodes, by their names."""
        return self.rows is not None and self.rows is self.columns


def read_matrix(X: Any) -> LabeledMatrix:
    """Read an input in one of its forms; entries are not checked yet."""
    if isinstance(X, Graph):
        if X.sources is not None:
            raise InputError(
                f"{X.source} is bipartite, and REFINE takes one set of nodes; graphrefine.NodeVectors and "
                "graphrefine.embed take bipartite graphs"
            )
        return LabeledMatrix(X, X.names, X.names, X.directed)
    if hasattr(X, "is_directed") and hasattr(X, "adj"):
        from networkx import to_scipy_sparse_array

        names = name_array(X.nodes)
        return LabeledMatrix(to_scipy_sparse_array(X), names, names, bool(X.is_directed()))
    if hasattr(X, "iloc") and hasattr(X, "columns") and not is_counted(X.index):
        return _read_frame(X)
    return LabeledMatrix(X)


def _read_frame(frame: Any) -> LabeledMatrix:
    """Read a pandas frame whose rows have labels."""
    order = match_labels(frame.index.tolist(), frame.columns.tolist())
    rows = name_array(frame.index.tolist())
    if order is not None:
        return LabeledMatrix(frame.iloc[:, order], rows, rows)
    columns = name_array(frame.columns.tolist())
    for names, axis in ((rows, "index"), (columns, "columns")):
        if len(set(names.tolist())) < len(names):
            raise InputError(f"the {axis} of the data frame has a name twice; each node has one")
    return LabeledMatrix(frame, rows, columns)


def check_direction(source: LabeledMatrix, directed: bool | None) -> None:
    """Refuse a graph whose own direction is not that of `directed=` or of the fitted graph."""
    if None not in (source.directed, directed) and source.directed != directed:
        raise InputError(f"the graph has directed={source.directed}, and directed={directed} is expected")


def place_features(features: Any, graph: Graph, names: Names) -> Any:
    """Prepare features for `graphrefine.pipeline.feature_table` where users know the nodes by other names.

    Rows without names are those of the graph, in its order. The names of the others are the users' names.
    """
    # The graph of a matrix calls its nodes by their rows, also where the user's frame or NetworkX graph has names.
    if features is None or graph.names is names:
        return features
    if hasattr(features, "iloc") and hasattr(features, "index") and is_counted(features.index):
        return graph.names, features.to_numpy()
    if isinstance(features, np.ndarray | list) or hasattr(features, "tocsr"):
        return graph.names, features
    return graph.names, read_features(features, replace(graph, names=names)).matrix
