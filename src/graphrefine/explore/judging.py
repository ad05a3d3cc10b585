"""Figures that say how good what is shown is, each beside what chance would give.

They are worked out in the background, from samples: the same ones each time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.scores import auc
from graphrefine.errors import InputError
from graphrefine.explore.making import Task, Watch

if TYPE_CHECKING:
    from graphrefine.explore.labelling import NodeLabels
    from graphrefine.explore.shown import Shown

NEAR = 10  # neighbours of a node that are looked at
ASKED = 1000  # nodes whose neighbours are looked at
CLASSIFIED = 20_000  # labelled nodes
PAIRS = 20_000  # edges, and pairs without one

Rows = NDArray[np.int64]


def make_scores(shown: Shown) -> list[Task]:
    """The figures that can be had of what is shown."""
    found = []
    if shown.labels is not None:
        found.append(Task("neighbours that share a label", lambda watch: sharing(shown)))
        found.append(Task("Micro-F1 of labels", lambda watch: classified(shown, watch)))
    if shown.linked is not None:
        found.append(Task("AUC of edges", lambda watch: separated(shown)))
    return found


def _figure(value: float, note: str) -> dict[str, Any]:
    return {"value": value, "note": note}


def sharing(shown: Shown) -> dict[str, Any]:
    """Which part of the nearest labelled neighbours has a label of the node's, and which of any labelled nodes has."""
    labels: Any = shown.labels
    draw = np.random.default_rng(0)
    labelled = np.flatnonzero(np.diff(labels.indicator.indptr))
    if len(labelled) < 2:
        raise InputError("fewer than two nodes have labels")
    asked = np.sort(draw.choice(labelled, min(ASKED, len(labelled)), replace=False))
    mask = np.zeros(len(shown.embedding), bool)
    mask[labelled] = True
    near = shown.search("cosine").nearest(rows=asked, k=NEAR, among=mask).rows  # (asked, NEAR)
    found = near >= 0
    share = _agreement(labels, np.repeat(asked, near.shape[1])[found.ravel()], near[found])
    others = draw.choice(labelled, (len(asked), NEAR))
    apart = others != asked[:, None]
    chance = _agreement(labels, np.repeat(asked, NEAR)[apart.ravel()], others[apart])
    note = f"of the {NEAR} nearest labelled nodes, for {len(asked):,} nodes; {chance:.3f} by chance"
    return _figure(share, note)


def _agreement(labels: NodeLabels, first: Rows, second: Rows) -> float:
    """In which part of pairs the two nodes share a label."""
    if not len(first):
        return 0.0
    both = labels.indicator[first].multiply(labels.indicator[second])
    return float((np.asarray(both.sum(axis=1)).ravel() > 0).mean())


def classified(shown: Shown, watch: Watch) -> dict[str, Any]:
    """Micro-F1 of labels told by half of the labelled nodes, for the other half: `graphrefine evaluate labels`."""
    from graphrefine.evaluate.classification import evaluate_labels
    from graphrefine.readers.labels import Labels

    labels: Any = shown.labels
    labelled = np.flatnonzero(np.diff(labels.indicator.indptr))
    some = np.sort(np.random.default_rng(0).choice(labelled, min(CLASSIFIED, len(labelled)), replace=False))
    indicator = labels.indicator[some]
    known = Labels(np.arange(len(some)), indicator, tuple(labels.classes), by_row=True, source="labels")
    vectors = np.ascontiguousarray(shown.embedding.vectors[some])
    scores = evaluate_labels(vectors, known, ratios=[0.5], repeats=1, threads=1, progress=watch)
    counts = np.asarray(indicator.sum(axis=0)).ravel()
    commonest = counts.max() / max(counts.sum(), 1)
    note = f"half of {len(some):,} labelled nodes tell the other half; {commonest:.3f} for the commonest label alone"
    return _figure(scores.ratios[0].micro_mean / 100, note)


def separated(shown: Shown) -> dict[str, Any]:
    """How well `score` tells edges of the graph from pairs without one."""
    linked, embedding = shown.linked, shown.embedding
    assert linked is not None
    graph, draw = linked.graph, np.random.default_rng(0)
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
    apart = np.array([not _has(graph, *pair) for pair in zip(u.tolist(), v.tolist(), strict=True)], bool)
    true = _pair_scores(shown, linked.row[first], linked.row[second])
    false = _pair_scores(shown, linked.row[u[apart]], linked.row[v[apart]])
    if not len(true) or not len(false):
        raise InputError("there are no two nodes with an edge, or none without")
    note = (
        f"{len(true):,} edges against {len(false):,} random pairs without one, by the score {embedding.score_name}; "
        "the embedding has seen these edges: this is how well it keeps them, not how well it predicts; 0.5 by chance"
    )
    return _figure(auc(true, false), note)


def _has(graph: Any, u: int, v: int) -> bool:
    """Whether there is an edge, or the two are one node."""
    row = graph.indices[graph.indptr[u] : graph.indptr[u + 1]]
    at = int(np.searchsorted(row, v))
    return u == v or (at < len(row) and int(row[at]) == v)


def _pair_scores(shown: Shown, first: Rows, second: Rows) -> NDArray[np.float32]:
    known = (first >= 0) & (second >= 0)
    names = shown.embedding.names
    found: NDArray[np.float32] = shown.embedding.score(names[first[known]].tolist(), names[second[known]].tolist())
    return found
