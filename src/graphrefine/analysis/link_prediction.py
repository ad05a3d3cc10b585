r"""Missing edges: the pairs of nodes without an edge that most likely have one.

What makes an edge likely differs from graph to graph, so it is learned from the graph itself: a tenth of its edges is
held out, the features of pairs are computed from the rest, and a logistic regression learns which pairs were edges.
Then the candidates of the whole graph are ranked.

**Features.** With A the adjacency matrix without weights, from sources to targets, and S the same without directions:

=======================  ==============================================================================================
degree product           :math:`d_u d_v`, out of u and into v
common neighbors        :math:`S S`
Adamic-Adar              :math:`S \,\mathrm{diag}(1 / \ln d)\, S`
resource allocation      :math:`S \,\mathrm{diag}(1 / d)\, S`
two steps                :math:`A \,\mathrm{diag}(d^{-1/2})\, A`, of directed graphs
three steps              :math:`A \,\mathrm{diag}(d_{in}^{-1/2})\, A^T \,\mathrm{diag}(d_{out}^{-1/2})\, A`: v is
                         what nodes like u have; strong where edges join nodes that differ, as in trade
low rank a, r            :math:`D_{out}^a U_r \Sigma_r V_r^T D_{in}^a`, where :math:`U \Sigma V^T` are the
                         singular triplets of :math:`D_{out}^{-a} A D_{in}^{-a}`: A without the other triplets
=======================  ==============================================================================================

They are computed for all pairs of some nodes (rows, in the order of their degrees) with all nodes (columns), in blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import expit

from graphrefine.display.table import Table
from graphrefine.embedding.scores import Pairs
from graphrefine.engine.local import LocalEngine
from graphrefine.errors import InputError
from graphrefine.evaluate.held_out_edges import find_entries, hold_out
from graphrefine.evaluate.logistic import Classifiers, fit_logistic
from graphrefine.graph.graph import Graph
from graphrefine.linalg.operators import Operator
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.options import list_options
from graphrefine.readers.read import read
from graphrefine.refine.svd import oversampled, randomized_svd
from graphrefine.system.checks import check_integer
from graphrefine.system.threads import map_tasks, one_blas_thread, usable_threads

HELD_OUT = 0.1  # part of the edges to learn from
FEWEST_EDGES = 30
ENOUGH = 1_000  # held-out edges to learn from; of a small graph several draws together
MOST_DRAWS = 10
MOST_OTHERS = 40_000  # candidates without an edge that teach; more change little
FEWEST_FOR_PRODUCTS = 300  # held-out edges among candidates, for a model with squares and products
PER_FEATURE = 20_000  # candidates
PENALTY = 0.1  # C of the regression
TOLERANCE = 0.01

CELLS = 1 << 21  # of one feature of a block
WORK = 6e10  # entries visited for the rows that are searched: a minute or two on two cores
WIDTH = 100  # entries that a column of a dense row counts for
RANKS = {0.3: (16, 32, 128), 0.5: (16, 128)}  # exponent of the degrees -> numbers of triplets
ITERATIONS = 3
DENSE = 1000  # nodes of a graph whose matrix is decomposed as it is, to the last triplet
SMALLEST = {  # added before a logarithm, for pairs that have nothing of a feature
    "degree product": 1.0,
    "common neighbors": 0.1,
    "Adamic-Adar": 0.03,
    "resource allocation": 1e-3,
    "two steps": 1e-3,
    "three steps": 1e-2,
}
SMALLEST_RANK = 3e-3
BASELINES = ("degree product", "common neighbors", "Adamic-Adar", "resource allocation")

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


@list_options
def predict_links(
    graph: Any,
    *,
    top: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
    **reading: Any,
) -> Table:
    """Find the pairs without an edge that most likely have one.

    Parameters
    ----------
    graph : Graph, or anything that `graphrefine.read` takes
        Of a directed graph the arcs from ``source`` to ``target``, of a bipartite one the edges from side to side.
        Weights count by their sums at each node.
    top : int
        Number of pairs.
    seed : int
        Seed of the held-out edges, and of the singular triplets.
    threads : int, optional
        By default all processors. The answer does not depend on it.
    watcher : Watcher, optional
        Watcher of the stages "triplets" and "search", once to learn and once to predict.
    reading
        Options of `graphrefine.read`, such as ``directed``, ``weights`` or ``header``.

    Returns
    -------
    Table
        Columns ``source``, ``target``, ``score``, ``common_neighbors``, the highest score first. The score is the
        probability that the model gives: that such a pair is an edge when a tenth of the edges is hidden. In
        ``stats["held_out"]``: the part of hidden edges among the first pairs, by this score and by plain ones.

    Notes
    -----
    Beyond some ten thousand nodes not all pairs are searched, but those of the nodes with the most edges (in a directed
    graph, the most arcs out of them) with all others: ``stats["searched_nodes"]``. Pairs with high scores are there.

    Examples
    --------
    Three cliques of ten nodes, each without one of its edges: these are what is missing.

    >>> gone = [(0, 1), (10, 11), (20, 21)]
    >>> pairs = [(i, j) for j in range(30) for i in range(j) if i // 10 == j // 10 and (i, j) not in gone]
    >>> answer = predict_links(pairs, top=3)
    >>> sorted(zip(answer["source"].tolist(), answer["target"].tolist()))
    [(0, 1), (10, 11), (20, 21)]
    """
    check_integer("top", top, least=1)
    check_integer("seed", seed, least=0)
    whole = read(graph, threads=threads, **reading)
    if whole.edges < FEWEST_EDGES:
        problem = f"{whole.source} has {whole.edges:,} edges; {FEWEST_EDGES} are needed to learn what makes one likely"
        raise InputError(problem)
    work: dict[str, Any] = {"threads": usable_threads(threads), "stages": Stages(watcher)}
    rows = search_rows(whole)

    def find(graph: Graph) -> tuple[PairFeatures, Candidates]:
        features = PairFeatures(graph, seed=seed, **work)
        most = max(PER_FEATURE, 5 * top)
        return features, collect_candidates(features, search_rows(graph), count=most, **work)

    lesson = _learn(whole, find, seed)
    features, candidates = find(whole)
    scores = lesson.model.score(features.describe(candidates))
    first = np.lexsort((candidates.second, candidates.first, -scores))[:top]
    stats = {
        "graph": whole.source,
        "reading": whole.reading,
        "nodes": whole.nodes,
        "edges": whole.edges,
        "directed": whole.directed,
        "bipartite": whole.sources is not None,
        "top": top,
        "seed": seed,
        "searched_nodes": len(rows),
        "nodes_with_edges": int((whole.out_counts[: whole.sources] > 0).sum()),
        "candidates": len(scores),
        "held_out": _judge(lesson, features.names, top),
    }
    return Table(_columns(whole, features, candidates, scores, first), stats)


@dataclass(frozen=True)
class _Model:
    """A logistic regression on standardized columns, with their squares and products or without."""

    mean: Doubles
    scale: Doubles
    products: bool
    classifiers: Classifiers

    @classmethod
    def fit(cls, columns: Doubles, edges: NDArray[np.bool_]) -> _Model:
        mean, scale = columns.mean(axis=0), columns.std(axis=0)
        scale = np.where(scale > 1e-9, scale, 1.0)
        products = int(edges.sum()) >= FEWEST_FOR_PRODUCTS
        others = np.flatnonzero(~edges)
        step = max(1, -(-len(others) // MOST_OTHERS))
        rows = np.concatenate([np.flatnonzero(edges), others[::step]])
        design = _expand((columns[rows] - mean) / scale, products)
        classifiers = fit_logistic(design, edges[rows, None], C=PENALTY, tol=TOLERANCE)
        # Only every step-th of the others was fitted: the odds of an edge are `step` times smaller among all.
        shift = np.log(step)
        return cls(mean, scale, products, replace(classifiers, intercepts=classifiers.intercepts - shift))

    def score(self, columns: Doubles) -> Doubles:
        """Return probabilities of edges."""
        design = _expand((columns - self.mean) / self.scale, self.products)
        return np.asarray(expit(self.classifiers.decision(design)[:, 0]))


def _expand(columns: Doubles, products: bool) -> Doubles:
    """Return columns, and their squares and products."""
    # Columns are logarithms of features: with products, the score can be any product of powers, and a little more.
    columns = np.clip(columns, -10, 10)
    if not products:
        return columns
    pairs = [columns[:, [first]] * columns[:, first:] for first in range(columns.shape[1])]
    return np.concatenate([columns, *pairs], axis=1)


class _Lesson(NamedTuple):
    """Candidates of graphs with some edges held out, and what was learned of them."""

    model: _Model
    values: list[NDArray[np.float32]]  # features, one array a draw
    edges: list[NDArray[np.bool_]]
    scores: list[Doubles]  # of each candidate by the model of the other half
    held_out: int


def _learn(graph: Graph, find: Callable[[Graph], tuple[PairFeatures, Candidates]], seed: int) -> _Lesson:
    draws = int(np.clip(-(-ENOUGH // max(round(HELD_OUT * graph.edges), 1)), 1, MOST_DRAWS))
    columns, values, edges, held_out = list[Doubles](), list[NDArray[np.float32]](), list[NDArray[np.bool_]](), 0
    for draw in range(draws):
        rest, hidden = hold_out(graph, HELD_OUT, repeat=draw, seed=seed)[:2]
        features, candidates = find(rest)
        columns.append(features.describe(candidates))
        values.append(candidates.values)
        edges.append(find_entries(graph, Pairs(candidates.first, candidates.second)) >= 0)
        held_out += len(hidden.first)
    every, marks = np.concatenate(columns), np.concatenate(edges)
    if not marks.any() or marks.all():
        raise InputError(
            f"{graph.source}: none of the {held_out:,} edges held out to learn from is a candidate, or all candidates "
            "are edges; a graph with more edges is needed"
        )
    with one_blas_thread():
        model = _Model.fit(every, marks)
        # Half of the candidates rank the other half, so that no pair is ranked by a model that has seen it.
        half = np.random.default_rng((seed, len(marks))).random(len(marks)) < 0.5
        scores = np.empty(len(marks))
        for part in (half, ~half):
            other = _Model.fit(every[~part], marks[~part]) if marks[~part].any() else model
            scores[part] = other.score(every[part])
    ends = np.cumsum([len(each) for each in edges])[:-1]
    return _Lesson(model, values, edges, np.split(scores, ends), held_out // draws)


def _judge(lesson: _Lesson, names: list[str], top: int) -> dict[str, Any]:
    """Measure the part of held-out edges among the first ``top`` pairs, by the model and by plain scores."""
    # A lower bound: some of the other pairs may well be missing edges.
    precision = {"score": _precision(lesson.scores, lesson.edges, top)}
    for name in BASELINES:
        if name in names:
            column = names.index(name)
            precision[name] = _precision([values[:, column] for values in lesson.values], lesson.edges, top)
    return {"part": HELD_OUT, "edges": lesson.held_out, "draws": len(lesson.edges), "top": top, "precision": precision}


def _precision(scores: list[Any], edges: list[NDArray[np.bool_]], top: int) -> float:
    """Return the mean over the draws; pairs that are not there count as wrong."""
    firsts = (np.argsort(-each, kind="stable")[:top] for each in scores)
    return float(np.mean([marks[first].sum() / top for first, marks in zip(firsts, edges, strict=True)]))


def _columns(
    graph: Graph, features: PairFeatures, candidates: Candidates, scores: Doubles, rows: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    first, second = candidates.first[rows], candidates.second[rows]
    if not graph.directed and graph.sources is None:
        first, second = np.minimum(first, second), np.maximum(first, second)
    columns = {"source": graph.names_of(first), "target": graph.names_of(second), "score": scores[rows]}
    if "common neighbors" in features.names:
        column = features.names.index("common neighbors")
        columns["common_neighbors"] = candidates.values[rows, column].astype(np.int64)
    return columns


def describe_links(table: Table) -> list[str]:
    """Describe an answer of `predict_links`, in lines."""
    stats, held = table.stats, table.stats["held_out"]
    plain = dict(held["precision"])
    own = plain.pop("score")
    others = ", ".join(f"{name} {value:.1%}" for name, value in plain.items())
    lines = [
        f"with {held['edges']:,} edges ({held['part']:.0%}) hidden, {own:.1%} of the first {held['top']:,} pairs were "
        f"hidden edges; by plain scores: {others}"
    ]
    searched, all_nodes = stats["searched_nodes"], stats["nodes_with_edges"]
    if searched < all_nodes:
        lines.append(f"note: of {all_nodes:,} nodes, the {searched:,} with the most edges were paired with all others")
    return lines


class Candidates(NamedTuple):
    """Pairs, and their features."""

    first: Rows  # (m,)
    second: Rows  # (m,)
    values: Floats  # (m, features)


def search_rows(graph: Graph) -> Rows:
    """Return rows whose pairs are searched, by descending degree: all with edges, or as many as the work allows."""
    counts = graph.out_counts if graph.sources is None else graph.out_counts[: graph.sources]
    order = np.argsort(-counts, kind="stable")
    most = int(WORK / (graph.entries + WIDTH * graph.nodes))
    return order[counts[order] > 0][: max(most, 1)]


def collect_candidates(features: PairFeatures, rows: Rows, *, count: int, threads: int, stages: Stages) -> Candidates:
    """Collect the ``count`` highest positive values of each feature among the pairs of ``rows``, each pair once."""
    graph = features.graph
    rank = np.full(graph.nodes, len(rows))  # position of a node among the rows, or after all of them
    rank[rows] = np.arange(len(rows))
    size = max(1, min(CELLS // graph.nodes, 256))
    pool = _Pool(len(features.names), count)

    def search(start: int) -> tuple[Rows, Floats]:
        block = rows[start : start + size]
        arrays = features.block(block)
        free = _could_be_edges(graph, block, rank).ravel()
        flat = [array.ravel() for array in arrays]
        cells = np.unique(np.concatenate([pool.select(values, free, index) for index, values in enumerate(flat)]))
        keys = block[cells // graph.nodes] * graph.nodes + cells % graph.nodes
        return keys, np.stack([values[cells] for values in flat], axis=1)

    starts = range(0, len(rows), size)
    with stages.stage("search", steps=len(starts)):
        # In groups, so that few results wait for the pool: each holds the features of a whole block of rows.
        for at in range(0, len(starts), 4 * threads):
            for keys, values in map_tasks(starts[at : at + 4 * threads], search, threads):
                pool.add(keys, values)
                stages.advance()
    pool.shrink()
    order = np.argsort(pool.keys, kind="stable")
    keys, values = pool.keys[order], pool.values[order]
    return Candidates(keys // graph.nodes, keys % graph.nodes, values)


def _could_be_edges(graph: Graph, block: Rows, rank: Rows) -> NDArray[np.bool_]:
    """Mark pairs of these rows that are no edges and may be one; each undirected pair in one row alone."""
    if graph.directed or graph.sources is not None:
        free = np.ones((len(block), graph.nodes), np.bool_)
        free[:, : graph.sources or 0] = False
    else:
        free = rank > rank[block][:, None]
    for index, row in enumerate(block.tolist()):
        free[index, graph.indices[graph.indptr[row] : graph.indptr[row + 1]]] = False
        free[index, row] = False
    return free


# Values below the smallest of the highest so far are passed over, so that memory is bounded; of equal values the pair
# with the smaller key counts first, so that the candidates do not depend on the threads.
class _Pool:
    """The pairs with the highest values of each feature, so far."""

    def __init__(self, features: int, count: int) -> None:
        self.keys, self.values = np.empty(0, np.int64), np.empty((0, features), np.float32)
        self._parts: list[tuple[Rows, Floats]] = []
        self._waiting = 0
        self._count = count
        self._least = np.zeros(features, np.float32)  # values below are not among the highest

    def select(self, values: Floats, free: NDArray[np.bool_], feature: int) -> Rows:
        """Return cells of a block that may be among the highest: at most ``count``, the first of equals."""
        cells = np.flatnonzero(free & (values >= self._least[feature]) & (values > 0))
        if len(cells) <= self._count:
            return cells
        among = values[cells]
        edge = np.partition(among, len(among) - self._count)[len(among) - self._count]
        level = np.flatnonzero(among == edge)[: self._count - int((among > edge).sum())]
        return np.concatenate([cells[among > edge], cells[level]])

    def add(self, keys: Rows, values: Floats) -> None:
        """Take pairs in."""
        self._parts.append((keys, values))
        self._waiting += len(keys)
        if self._waiting > 4 * self._count or not self.keys.size:
            self.shrink()

    def shrink(self) -> None:
        """Leave out the pairs that are not among the highest of any feature."""
        keys = np.concatenate([self.keys, *(keys for keys, _ in self._parts)])
        values = np.concatenate([self.values, *(values for _, values in self._parts)])
        stays = np.zeros(len(keys), np.bool_)
        for feature in range(values.shape[1]):
            column = values[:, feature]
            above = np.flatnonzero(column >= self._least[feature])
            highest = above[np.lexsort((keys[above], -column[above]))[: self._count]]
            stays[highest[column[highest] > 0]] = True
            if len(highest) == self._count:
                self._least[feature] = max(column[highest[-1]], 0)
        self.keys, self.values, self._parts, self._waiting = keys[stays], values[stays], [], 0


class PairFeatures:
    """The features of a graph's pairs, ready to be computed for rows of nodes."""

    def __init__(self, graph: Graph, *, seed: int, threads: int, stages: Stages) -> None:
        self.graph = graph
        plain = replace(graph, weights=None, report={})
        self._A = plain.to_scipy()
        self._AT = plain.transposed().to_scipy()
        self._S: sp.csr_array = (self._A + self._AT).tocsr() if graph.directed else self._A
        self._S.data[:] = 1  # arcs in both directions are one neighbor
        self.out, self.into = (_counts(matrix) for matrix in (self._A, self._AT))
        degree = _counts(self._S)
        with np.errstate(divide="ignore"):
            adamic = np.where(degree > 1, 1 / np.log(degree), 1 / np.log(1.5))
        weights = {"common neighbors": degree**0, "Adamic-Adar": adamic, "resource allocation": 1 / degree}
        self._shared = {} if graph.sources is not None else {  # two steps do not cross from side to side
            name: _scale_rows(self._S, weight) for name, weight in weights.items()
        }  # fmt: skip
        self._steps = _scale_rows(self._A, degree**-0.5) if graph.directed else None
        self._back = _scale_rows(self._AT, self.into**-0.5)
        self._forth = _scale_rows(self._A, self.out**-0.5).T.tocsr()
        self._sides = {a: _low_rank(plain, a, (self.out, self.into), max(ranks), seed, threads, stages)
                       for a, ranks in RANKS.items()}  # fmt: skip
        self.names = [
            "degree product",
            *self._shared,
            *(["two steps"] if graph.directed else []),
            "three steps",
            *(f"low rank {a:g}, {rank}" for a, ranks in RANKS.items() for rank in ranks),
        ]

    def block(self, rows: Rows) -> list[Floats]:
        """Return every feature of these rows with all columns.  # (rows, n) each."""
        own, around = self._A[rows], self._S[rows]
        features = [np.multiply.outer(self.out[rows], self.into)]
        features += [(around @ matrix).toarray() for matrix in self._shared.values()]
        if self._steps is not None:
            features.append((own @ self._steps).toarray())
        features.append(np.ascontiguousarray((self._forth @ (own @ self._back).toarray().T).T))
        for a, ranks in RANKS.items():
            left, right = self._sides[a]
            total, before = np.zeros((len(rows), len(right)), np.float32), 0
            for rank in ranks:
                total = total + left[rows, before:rank] @ right[:, before:rank].T
                before = rank
                features.append(total)
        return features

    def describe(self, candidates: Candidates) -> NDArray[np.float64]:
        """Make the columns of a model: logarithms of the features, and facts of both ends.  # (m, columns)."""
        first, second, values = candidates
        low = [SMALLEST.get(name, SMALLEST_RANK) for name in self.names]
        columns = [np.log(np.maximum(values[:, index], 0) + least) for index, least in enumerate(low)]
        if self.graph.weighted:
            sums, arrivals = self.graph.degrees(), self.graph.transposed().degrees()
            columns.append(np.log1p(sums[first]) + np.log1p(arrivals[second]))
        if self.graph.directed:
            out, into = (np.log1p(np.diff(matrix.indptr).astype(np.float32)) for matrix in (self._A, self._AT))
            columns += [np.log(self.out[first]), into[first], out[second]]
            back = np.asarray(self._A[second, first]).ravel()
            columns.append(back.astype(np.float64))
        return np.column_stack(columns).astype(np.float64)


def _counts(matrix: sp.csr_array) -> Floats:
    """Count entries of each row, at least 1, so that powers are finite: a row without entries stays zero."""
    counts: Floats = np.maximum(np.diff(matrix.indptr), 1).astype(np.float32)
    return counts


def _scale_rows(matrix: sp.csr_array, scale: NDArray[np.floating]) -> sp.csr_array:
    data = matrix.data * np.repeat(scale.astype(np.float32), np.diff(matrix.indptr))
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)


@one_blas_thread()
def _low_rank(
    graph: Graph, exponent: float, counts: tuple[Floats, Floats], rank: int, seed: int, threads: int, stages: Stages
) -> tuple[Floats, Floats]:
    """Return two tall matrices whose product is the part of A that the leading triplets hold.  # (n, rank) each."""
    rank = min(rank, graph.nodes)
    scales = [count**-exponent for count in counts]
    operator = Operator(graph, edge="weight", row_scale=scales[0], column_scale=scales[1])
    if graph.nodes <= DENSE:
        U, values, V = np.linalg.svd(operator.to_scipy().toarray().astype(np.float64))
        roots = np.sqrt(values[:rank])
        left, right = ((side * roots).astype(np.float32) for side in (U[:, :rank], V[:rank].T))
        return left / scales[0][:, None], right / scales[1][:, None]
    engine = LocalEngine(graph, columns=oversampled(rank, graph.nodes), threads=threads)
    with stages.stage("triplets", steps=2 * ITERATIONS + 2):
        triplets = randomized_svd(engine, operator, seed=seed, iterations=ITERATIONS, advance=stages.advance)
    left = engine.collect(triplets.basis, triplets.left(power=0.5, columns=rank))
    right = engine.collect(triplets.target, triplets.right(power=0.5, columns=rank))
    for side, scale in ((left, scales[0]), (right, scales[1])):
        side /= scale[:, None]
    return left, right
