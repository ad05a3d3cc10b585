"""Missing edges: the pairs of nodes without an edge that most likely have one.

What makes an edge likely differs from graph to graph, so it is learned from the graph itself: a tenth of its edges is
held out, the features of pairs (`answers.pair_features`) are computed from the rest, and a logistic regression tells
those pairs that were edges from other candidates (`answers.candidates`). Then the candidates of the whole graph are
ranked. The features enter as logarithms, standardized, with their squares and products: so the score can be any product
of powers, and a little more.

How good it is: half of the candidates rank the other half, on the held-out edges. The part of held-out edges among the
first pairs stands beside that of plain scores. It is a lower bound: some of the other pairs may well be missing edges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from graphrefine.analysis.candidates import Candidates, collect_candidates, search_rows
from graphrefine.analysis.pair_features import BASELINES, PairFeatures
from graphrefine.display.table import Table
from graphrefine.embedding.scores import Pairs
from graphrefine.errors import InputError
from graphrefine.evaluate.held_out_edges import find_entries, hold_out
from graphrefine.evaluate.logistic import Classifiers, fit_logistic
from graphrefine.graph.graph import Graph
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.options import list_options
from graphrefine.readers.read import read
from graphrefine.system.checks import check_integer
from graphrefine.system.memory import available_bytes, gigabytes
from graphrefine.system.threads import one_blas_thread, usable_threads

HELD_OUT = 0.1  # part of the edges to learn from
FEWEST_EDGES = 30
ENOUGH = 1_000  # held-out edges to learn from; of a small graph several draws together
MOST_DRAWS = 10
MOST_OTHERS = 40_000  # candidates without an edge that teach; more change little
FEWEST_FOR_PRODUCTS = 300  # held-out edges among candidates, for a model with squares and products
PER_FEATURE = 20_000  # candidates
PENALTY = 0.1  # C of the regression
TOLERANCE = 0.01
TALL = 2_600  # bytes of working memory for each node

Floats = NDArray[np.float64]


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
    """The pairs without an edge that most likely have one.

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
        ``figures["held_out"]``: the part of hidden edges among the first pairs, by this score and by plain ones.

    Notes
    -----
    Beyond some ten thousand nodes not all pairs are searched, but those of the nodes with the most edges (in a directed
    graph, the most arcs out of them) with all others: ``figures["searched_nodes"]``. Pairs with high scores are there.

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
    _check_size(whole)
    tools = _Tools(seed, usable_threads(threads), max(PER_FEATURE, 5 * top), Stages(watcher))
    lesson = _learn(whole, tools)
    features = PairFeatures(whole, seed=seed, threads=tools.threads, stages=tools.stages)
    rows = search_rows(whole)
    candidates = collect_candidates(features, rows, count=tools.most, threads=tools.threads, stages=tools.stages)
    scores = lesson.model.score(_describe(features, candidates))
    first = np.lexsort((candidates.second, candidates.first, -scores))[:top]
    figures = {
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
    return Table(_columns(whole, features, candidates, scores, first), figures)


class _Tools(NamedTuple):
    seed: int
    threads: int
    most: int  # candidates of each feature
    stages: Stages


@dataclass(frozen=True)
class _Model:
    """A logistic regression on standardized columns, with their squares and products or without."""

    mean: Floats
    scale: Floats
    products: bool
    classifiers: Classifiers

    @classmethod
    def fit(cls, columns: Floats, edges: NDArray[np.bool_]) -> _Model:
        mean, scale = columns.mean(axis=0), columns.std(axis=0)
        scale = np.where(scale > 1e-9, scale, 1.0)
        products = int(edges.sum()) >= FEWEST_FOR_PRODUCTS
        others = np.flatnonzero(~edges)
        step = max(1, -(-len(others) // MOST_OTHERS))
        rows = np.concatenate([np.flatnonzero(edges), others[::step]])
        design = _expand((columns[rows] - mean) / scale, products)
        classifiers = fit_logistic(design, edges[rows, None], C=PENALTY, tol=TOLERANCE)
        shift = np.log(step)  # as if each of the others stood there so many times
        return cls(mean, scale, products, replace(classifiers, intercepts=classifiers.intercepts - shift))

    def score(self, columns: Floats) -> Floats:
        """Probabilities of edges."""
        design = _expand((columns - self.mean) / self.scale, self.products)
        return np.asarray(expit(self.classifiers.decision(design)[:, 0]))


def _expand(columns: Floats, products: bool) -> Floats:
    """Columns, and their squares and products.

    Examples
    --------
    >>> _expand(np.array([[2.0, 3.0]]), True).tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    """
    columns = np.clip(columns, -10, 10)
    if not products:
        return columns
    pairs = [columns[:, [place]] * columns[:, place:] for place in range(columns.shape[1])]
    return np.concatenate([columns, *pairs], axis=1)


class _Lesson(NamedTuple):
    """Candidates of graphs with some edges held out, and what was learned of them."""

    model: _Model
    values: list[NDArray[np.float32]]  # features, one array a draw
    edges: list[NDArray[np.bool_]]
    scores: list[Floats]  # of each candidate by the model of the other half
    held_out: int


def _learn(graph: Graph, tools: _Tools) -> _Lesson:
    draws = int(np.clip(-(-ENOUGH // max(round(HELD_OUT * graph.edges), 1)), 1, MOST_DRAWS))
    columns, values, edges, held_out = list[Floats](), list[NDArray[np.float32]](), list[NDArray[np.bool_]](), 0
    for draw in range(draws):
        rest, hidden = hold_out(graph, HELD_OUT, repeat=draw, seed=tools.seed)[:2]
        features = PairFeatures(rest, seed=tools.seed, threads=tools.threads, stages=tools.stages)
        candidates = collect_candidates(
            features, search_rows(rest), count=tools.most, threads=tools.threads, stages=tools.stages
        )
        columns.append(_describe(features, candidates))
        values.append(candidates.values)
        edges.append(find_entries(graph, Pairs(candidates.first, candidates.second)) >= 0)
        held_out += len(hidden.first)
    every, marks = np.concatenate(columns), np.concatenate(edges)
    if not marks.any() or marks.all():
        raise InputError(
            f"{graph.source}: none of the {held_out:,} edges held out to learn from can be told from other pairs by "
            "the rest of the graph, or all pairs are edges; a graph with more edges is needed"
        )
    with one_blas_thread():
        model = _Model.fit(every, marks)
        half = np.random.default_rng((tools.seed, len(marks))).random(len(marks)) < 0.5
        scores = np.empty(len(marks))
        for part in (half, ~half):
            other = _Model.fit(every[~part], marks[~part]) if marks[~part].any() else model
            scores[part] = other.score(every[part])
    ends = np.cumsum([len(each) for each in edges])[:-1]
    return _Lesson(model, values, edges, np.split(scores, ends), held_out // draws)


def _describe(features: PairFeatures, candidates: Candidates) -> Floats:
    return features.describe(candidates.values, candidates.first, candidates.second)


def _judge(lesson: _Lesson, names: list[str], top: int) -> dict[str, Any]:
    """The part of held-out edges among the first ``top`` pairs, by the model and by plain scores."""
    plain = {name: names.index(name) for name in BASELINES if name in names}
    precision = {"score": _precision(lesson.scores, lesson.edges, top)}
    for name, place in plain.items():
        precision[name] = _precision([values[:, place] for values in lesson.values], lesson.edges, top)
    return {"part": HELD_OUT, "edges": lesson.held_out, "draws": len(lesson.edges), "top": top, "precision": precision}


def _precision(scores: list[Any], edges: list[NDArray[np.bool_]], top: int) -> float:
    """Mean over the draws; pairs that are not there count as wrong."""
    firsts = (np.argsort(-each, kind="stable")[:top] for each in scores)
    return float(np.mean([marks[first].sum() / top for first, marks in zip(firsts, edges, strict=True)]))


def _columns(
    graph: Graph, features: PairFeatures, candidates: Candidates, scores: Floats, rows: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    first, second = candidates.first[rows], candidates.second[rows]
    if not graph.directed and graph.sources is None:
        first, second = np.minimum(first, second), np.maximum(first, second)
    columns = {"source": graph.names_of(first), "target": graph.names_of(second), "score": scores[rows]}
    if "common neighbors" in features.names:
        place = features.names.index("common neighbors")
        columns["common_neighbors"] = candidates.values[rows, place].astype(np.int64)
    return columns


def _check_size(graph: Graph) -> None:
    if graph.edges < FEWEST_EDGES:
        raise InputError(
            f"{graph.source} has {graph.edges:,} edges; at least {FEWEST_EDGES} are needed to learn what makes an edge "
            "likely"
        )
    need, free = TALL * graph.nodes + 60 * graph.entries, available_bytes()
    if free is not None and need > free:
        raise InputError(
            f"{graph.source}: the features of {graph.nodes:,} nodes and {graph.edges:,} edges need about "
            f"{gigabytes(need)} of memory, and {gigabytes(free)} are free; predict links of a part of the graph"
        )


def describe_links(table: Table) -> list[str]:
    """What a person should know of an answer of `predict_links`, in lines."""
    figures, held = table.figures, table.figures["held_out"]
    plain = dict(held["precision"])
    own = plain.pop("score")
    beside = ", ".join(f"{name} {value:.1%}" for name, value in plain.items())
    lines = [
        f"with {held['edges']:,} edges ({held['part']:.0%}) hidden, {own:.1%} of the first {held['top']:,} pairs were "
        f"hidden edges; by plain scores: {beside}"
    ]
    searched, all_nodes = figures["searched_nodes"], figures["nodes_with_edges"]
    if searched < all_nodes:
        lines.append(f"note: of {all_nodes:,} nodes, the {searched:,} with the most edges were paired with all others")
    return lines
