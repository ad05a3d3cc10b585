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
data frame, index and columns alike    its nodes, by name, whatever the order of the columns
data frame, another labeled index     new nodes, named by the index; the columns are nodes, by name
matrix, frame without labeled rows    without names: column i is fitted node i
=====================================  ==============================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.state import EmbeddingData
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import list_some, quote_name
from graphrefine.graph.node_ids import Names, name_array
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.pipeline.feature_table import read_features
from graphrefine.pipeline.memory_plan import choose_dimension
from graphrefine.readers.frames import is_counted, match_labels
from graphrefine.refine.settings import refine_settings
from graphrefine.sklearn._shared import add_index, edge_digits, settle_seed
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
        """Return vectors, comparable with the fitted ones, of another snapshot of the graph or of new nodes.

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
        """Check a matrix as scikit-learn does: finite numbers, not negative, and the columns as in `fit`."""
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
        """Check a matrix whose columns have names, and with them an order."""
        return check_array(source.matrix, estimator=self, **_CHECKS)

    def _graph_of(self, source: LabeledMatrix) -> tuple[Graph, Names]:
        """Return the graph to fit and the names of its nodes; rows of a matrix are 0 to n - 1 to the method."""
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
        """Return whether rows of a matrix without names are the fitted nodes; InputError where that is not clear."""
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
        """Make a snapshot whose known nodes have the names, and so the random rows, that they had in `fit`."""
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
        """Embed a snapshot, and rotate it onto the fitted vectors; the fitted graph has the fitted vectors."""
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
        """Fold new nodes in; ``columns`` are fitted rows, or n + i for the new node i."""
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
    """Read an input in one of its forms; entries are not checked yet.

    Examples
    --------
    >>> read_matrix([[0, 1], [1, 0]]).rows
    >>> read_matrix(Graph.from_edges(["ann"], ["bob"])).rows.tolist()
    ['ann', 'bob']
    """
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
    X = _keep_names(X)
    if hasattr(X, "iloc") and hasattr(X, "columns") and not is_counted(X.index):
        return _read_frame(X)
    return LabeledMatrix(X)


def _keep_names(X: Any) -> Any:
    """Turn a frame of polars into one of pandas: scikit-learn before 1.9 sees no names of its columns."""
    if type(X).__module__.partition(".")[0] != "polars" or not hasattr(X, "columns") or find_spec("pandas") is None:
        return X
    from pandas import DataFrame

    return DataFrame(X.to_numpy(), columns=list(X.columns))


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


def check_nodes(source: LabeledMatrix) -> None:
    """Refuse a data frame to fit whose rows are labeled, but not by the names of its columns."""
    if source.rows is not None and source.columns is not None and not source.square:
        raise InputError(
            f"the rows of the data frame are {list_some(source.rows.tolist())}, and its columns "
            f"{list_some(source.columns.tolist())}: an adjacency matrix has the same nodes in both; "
            "X.to_numpy() leaves the labels out"
        )


def check_direction(source: LabeledMatrix, directed: bool, *, by: str) -> None:
    """Refuse a graph that says another direction than is wanted ``by`` someone."""
    if source.directed is None or source.directed == directed:
        return
    kinds = {True: "directed", False: "undirected"}
    raise InputError(f"the graph is {kinds[source.directed]}, and {by} {kinds[directed]}; make both the same")


def check_shared_edges(graph: Graph, new: NDArray[np.bool_]) -> None:
    """Refuse a graph of new nodes and their edges alone as a snapshot; ``new`` is its mask of nodes not fitted."""
    if not new.any() or graph.edges == 0:
        return
    of_new = np.repeat(new, graph.out_counts) | new[graph.indices]
    if of_new.all():
        raise InputError(
            f"every edge of the graph leads to one of {int(new.sum()):,} new nodes, so it is no snapshot of the fitted "
            "graph; model_.fold_in(edges) gives vectors for new nodes alone, and so does a matrix with a row for each "
            "new and a column for each fitted node"
        )


def find_positions(names: Names, lookup: Any) -> NDArray[np.int64]:
    """Find the fitted row of each node of a snapshot, -1 for a new one; InputError if all are new."""
    rows = np.fromiter((-1 if (row := lookup.find(name)) is None else row for name in names), np.int64, len(names))
    if not (rows >= 0).any():
        raise InputError(
            f"no node is in both graphs, so their vectors cannot be compared; the names begin with "
            f"{quote_name(names[0])} here and {quote_name(lookup.names[0])} in the fitted graph"
        )
    return rows


def number_columns(source: LabeledMatrix, lookup: Any) -> NDArray[np.int64]:
    """Assign numbers to columns of a frame of new nodes: fitted rows, or n + i for new node i.  # (columns,)."""
    rows, columns = (np.zeros(0) if names is None else names for names in (source.rows, source.columns))
    known = [name for name in rows.tolist() if lookup.find(name) is not None]
    if known:
        raise InputError(
            f"{len(known):,} of the {len(rows):,} rows are fitted nodes, such as {quote_name(known[0])}, but the "
            "columns are not the nodes of the rows: for another snapshot, index and columns must have the same "
            "names; for new nodes, the index must have new names only"
        )
    new = {name: len(lookup.names) + at for at, name in enumerate(rows.tolist())}
    places = [new.get(name) if (row := lookup.find(name)) is None else row for name in columns.tolist()]
    missing = [name for name, place in zip(columns.tolist(), places, strict=True) if place is None]
    if missing:
        raise InputError(
            f"column {quote_name(missing[0])} is neither a fitted node nor a row{lookup.hint(missing[0])}; "
            f"{len(missing):,} of {len(places):,} columns are not: leave them out"
        )
    return np.array(places, np.int64)


def fold_rows(
    model: Embedding, matrix: Any, columns: NDArray[np.int64], *, labels: list[str], threads: int | None
) -> NDArray[np.float32]:
    """Fold in new nodes by the weights (m, columns) of their edges.  # (m, dim).

    ``columns`` are rows of the model, or n + i for the new node i; ``labels`` name the new nodes in messages.

    Examples
    --------
    >>> people = Embedding(["ada", "bob"], [[1, 0], [0, 1]])
    >>> fold_rows(people, [[0, 2]], np.array([0, 1]), labels=["eve"], threads=1).tolist()
    [[0.0, 1.0]]
    """
    n, entries = len(model), coo_array(matrix)
    ends = columns[entries.col]
    used = np.unique(ends[ends < n])
    edges = Graph.from_edges(
        entries.row + len(used),
        np.where(ends < n, np.searchsorted(used, ends), ends - n + len(used)),
        entries.data,
        names=[*used.tolist(), *labels],
        directed=True,
        threads=threads,
    )
    by_position = Embedding.from_data(EmbeddingData(np.arange(n), model.vectors, model.recipe, state=model.state))
    return by_position.fold_in(edges).vectors


def place_features(features: Any, graph: Graph, names: Names) -> Any:
    """Prepare features for `graphrefine.pipeline.feature_table` where users know the nodes by other names.

    Rows without names are those of the graph, in its order. The names of the others are the users' names.
    """
    if features is None or graph.names is names:
        return features
    if hasattr(features, "iloc") and hasattr(features, "index") and is_counted(features.index):
        return graph.names, features.to_numpy()
    if isinstance(features, np.ndarray | list) or hasattr(features, "tocsr"):
        return graph.names, features
    return graph.names, read_features(features, replace(graph, names=names)).matrix
