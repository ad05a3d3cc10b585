"""Measures of the quality of the embedding, each with the value that chance would have.

They are taken in the background, on samples: the same ones each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.learn import auc
from graphrefine.embedding.scores import Pairs
from graphrefine.errors import InputError
from graphrefine.evaluate.classification import evaluate_labels
from graphrefine.evaluate.held_out_edges import find_entries
from graphrefine.explore.background import Task, Watch
from graphrefine.explore.columns import NodeLabels
from graphrefine.explore.matched_graph import MatchedGraph
from graphrefine.explore.neighbor_search import NeighborSearch
from graphrefine.readers.labels import Labels

NEIGHBORS = 10  # of each node
SAMPLE = 1000  # nodes with their neighbors
CLASSIFIED = 20_000  # labeled nodes
PAIRS = 20_000  # edges, and pairs without one

Rows = NDArray[np.int64]


def make_quality_tasks(
    embedding: Embedding, labels: NodeLabels | None, graph: MatchedGraph | None, search: NeighborSearch
) -> list[Task]:
    """Return a task for each measure that labels and graph allow."""
    tasks = []
    if labels is not None:
        tasks.append(Task("neighbors that share a label", lambda watch: measure_sharing(labels, search)))
        tasks.append(Task("Micro-F1 of labels", lambda watch: measure_labels(embedding, labels, watch)))
    if graph is not None:
        tasks.append(Task("AUC of edges", lambda watch: measure_edges(embedding, graph)))
    return tasks


def measure_sharing(labels: NodeLabels, search: NeighborSearch) -> dict[str, Any]:
    """Return the share of the nearest labeled neighbors with a label of the node; and of any labeled nodes."""
    draw = np.random.default_rng(0)
    labeled = np.flatnonzero(np.diff(labels.indicator.indptr))
    if len(labeled) < 2:
        raise InputError("fewer than two nodes have labels")
    sample = np.sort(draw.choice(labeled, min(SAMPLE, len(labeled)), replace=False))
    mask = np.zeros(labels.indicator.shape[0], bool)
    mask[labeled] = True
    near = search.by("cosine").nearest(rows=sample, k=NEIGHBORS, candidates=mask).rows  # (sample, NEIGHBORS)
    is_node = near >= 0
    share = _agreement(labels, np.repeat(sample, near.shape[1])[is_node.ravel()], near[is_node])
    others = draw.choice(labeled, (len(sample), NEIGHBORS))
    is_other = others != sample[:, None]
    chance = _agreement(labels, np.repeat(sample, NEIGHBORS)[is_other.ravel()], others[is_other])
    note = f"of the {NEIGHBORS} nearest labeled nodes, for {len(sample):,} nodes; {chance:.3f} by chance"
    return {"value": share, "note": note}


def _agreement(labels: NodeLabels, first: Rows, second: Rows) -> float:
    """Return the share of pairs whose two nodes have a label in common."""
    if not len(first):
        return 0.0
    both = labels.indicator[first].multiply(labels.indicator[second])
    return float((np.asarray(both.sum(axis=1)).ravel() > 0).mean())


def measure_labels(embedding: Embedding, labels: NodeLabels, watch: Watch) -> dict[str, Any]:
    """Return Micro-F1 of one half of the labeled nodes, learned from the other: `graphrefine evaluate labels`."""
    labeled = np.flatnonzero(np.diff(labels.indicator.indptr))
    rows = np.sort(np.random.default_rng(0).choice(labeled, min(CLASSIFIED, len(labeled)), replace=False))
    indicator = labels.indicator[rows]
    sample = Labels(np.arange(len(rows)), indicator, tuple(labels.classes), by_row=True, source="labels")
    vectors = np.ascontiguousarray(embedding.vectors[rows])
    scores = evaluate_labels(vectors, sample, ratios=[0.5], repeats=1, threads=1, watcher=watch)
    counts = np.asarray(indicator.sum(axis=0)).ravel()
    commonest = counts.max() / max(counts.sum(), 1)
    note = f"of half of {len(rows):,} labeled nodes, by the other half; {commonest:.3f} for the commonest label alone"
    return {"value": scores.ratios[0].micro_mean / 100, "note": note}


def measure_edges(embedding: Embedding, matched: MatchedGraph) -> dict[str, Any]:
    """Return the AUC by which `score` separates edges of the graph from pairs without one."""
    graph, draw = matched.graph, np.random.default_rng(0)
    if not len(graph.indices):
        raise InputError("the graph has no edge")
    entries = np.sort(draw.choice(len(graph.indices), min(PAIRS, len(graph.indices)), replace=False))
    first = np.searchsorted(graph.indptr, entries, side="right") - 1
    second = graph.indices[entries].astype(np.int64)
    split = graph.nodes if graph.sources is None else graph.sources
    if not graph.directed:  # listed both ways; of bipartite graphs, sources come first
        ends = np.sort(np.stack([first, second], axis=1), axis=1)
        first, second = np.unique(ends, axis=0).T
    u = draw.integers(0, split, len(first))
    v = draw.integers(split % graph.nodes, graph.nodes, len(first))
    is_apart = (u != v) & (find_entries(graph, Pairs(u, v)) < 0)
    positives = _score_pairs(embedding, matched.row[first], matched.row[second])
    negatives = _score_pairs(embedding, matched.row[u[is_apart]], matched.row[v[is_apart]])
    if not len(positives) or not len(negatives):
        raise InputError("there are no two nodes with an edge, or none without")
    note = (
        f"{len(positives):,} edges against {len(negatives):,} random pairs without one, by the score "
        f"{embedding.score_name}; the embedding has seen these edges: this is how well it keeps them, not how well it "
        "predicts; 0.5 by chance"
    )
    return {"value": auc(positives, negatives), "note": note}


def _score_pairs(embedding: Embedding, first: Rows, second: Rows) -> NDArray[np.float32]:
    in_embedding = (first >= 0) & (second >= 0)
    u, v = (embedding.names[rows[in_embedding]].tolist() for rows in (first, second))
    scores: NDArray[np.float32] = embedding.score(u, v)
    return scores
