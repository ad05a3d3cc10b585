"""What decides between settings: labels of training nodes, or edges that were held out.

A judge splits what it knows into parts once, and scores the vectors of every trial on the same ones, so that two trials
are compared split by split. A trial is given up where the first splits leave no hope, and leads only if it is better by
more than the splits disagree.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.scores import Pairs, PairScore, auc
from graphrefine.errors import InputError
from graphrefine.evaluate.classification import CANDIDATES, Indicator, f1_percent, make_split
from graphrefine.evaluate.held_out_edges import find_entries, hold_out
from graphrefine.evaluate.logistic import fit_logistic
from graphrefine.linalg.small import unit_rows
from graphrefine.readers.labels import Labels, align

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

SPLITS = 5
MOST_NODES = 20_000  # that labels are looked at of
MOST_TAUGHT = 4_000  # that a classifier learns from: its time is that of the search on most graphs
FEWEST_NODES = 20
MOST_CLASSES = 50  # the most frequent ones: they decide Micro F1, and time is in proportion to their number
TOLERANCE = 0.1  # of decision values: moves hardly a prediction, and no choice
LEAST = 0.25  # of the noise that a gain has to exceed
LEAST_LINKS = 0.02  # of what an AUC lacks
HELD_OUT = 0.1
MOST_PAIRS = 50_000
ROUNDS = 2  # in which the ends of held-out edges are paired anew

Floats = NDArray[np.float32]
Train = float | Collection[Any] | None
Penalty = float | Literal["cv"]


class Judge(Protocol):
    """Says how good the vectors of a graph are, on one split after the other."""

    @property
    def graph(self) -> Graph:
        """What is embedded."""

    @property
    def rungs(self) -> tuple[tuple[int, ...], ...]:
        """Splits that are looked at together; after each rung a trial may be given up."""

    @property
    def measure(self) -> str:
        """What the score is."""

    @property
    def protocol(self) -> str:
        """How it is measured, in a sentence."""

    def least(self, score: float) -> float:
        """A gain over this score has to be larger, whatever the splits say."""

    def known(self, vectors: Floats) -> Any:
        """As much of the vectors as is looked at."""

    def score(self, known: Any, split: int) -> float:
        """The score on a split."""

    def noise(self, score: float) -> float:
        """How far a score on one split may be off by chance."""


@dataclass(frozen=True)
class LabelJudge:
    """Micro F1 in cross-validation within the training nodes; nothing else is known of the labels."""

    graph: Graph
    rows: NDArray[np.int64]  # (m,): those of the training nodes
    indicator: Indicator  # (m, classes): their labels, and no others
    fold: NDArray[np.int64]  # (m,): on which split each is tested
    C: Penalty
    rungs: tuple[tuple[int, ...], ...] = ((0,), (1, 2), (3, 4))
    measure: str = "Micro F1"

    @property
    def protocol(self) -> str:
        """See `Judge.protocol`."""
        return (
            f"{SPLITS}-fold cross-validation within {len(self.rows)} training nodes, "
            f"{self.indicator.shape[1]} classes, C = {self.C:g}"
        )

    def known(self, vectors: Floats) -> Floats:
        """See `Judge.known`."""
        return unit_rows(vectors[self.rows])

    def score(self, known: Floats, split: int) -> float:
        """See `Judge.score`."""
        return self._score(known, split, float(self.C))

    def noise(self, score: float) -> float:
        """See `Judge.noise`: as if the labels of a split were drawn one by one."""
        share = min(max(score / 100, 0.05), 0.95)
        return 100 * math.sqrt(share * (1 - share) * SPLITS / self.indicator.nnz)

    def least(self, score: float) -> float:
        """See `Judge.least`: two settings err mostly on the same nodes, so a part of what chance would do to one."""
        return LEAST * self.noise(score) / math.sqrt(SPLITS)

    def with_penalty(self, vectors: Floats) -> LabelJudge:
        """The same judge, its C chosen with the default's vectors where it is to be chosen."""
        if self.C != "cv":
            return self
        known = self.known(vectors)
        quality = [sum(self._score(known, split, C) for split in (0, 1)) for C in CANDIDATES]
        return replace(self, C=CANDIDATES[int(np.argmax(quality))])

    def _score(self, known: Floats, split: int, C: float) -> float:
        tested = np.flatnonzero(self.fold == split)
        taught = np.flatnonzero(self.fold != split)
        if len(taught) > MOST_TAUGHT:
            taught = taught[np.linspace(0, len(taught) - 1, MOST_TAUGHT).astype(np.int64)]
        classifiers = fit_logistic(known[taught], self.indicator[taught].toarray(), C=C, tol=TOLERANCE)
        return f1_percent(classifiers, known[tested], self.indicator[tested])[0]


def label_judge(graph: Graph, labels: Labels, *, train: Train, split_seed: int, C: Penalty, seed: int) -> LabelJudge:
    """Take the labels of the training nodes, and leave those of all others unseen."""
    order, indicator, _ = align(labels, graph.names, unlabelled="drop")
    part = _training(order, graph, labels, train, split_seed)
    rng = np.random.default_rng((seed, SPLITS))
    if len(part) > MOST_NODES:
        part = np.sort(rng.choice(part, MOST_NODES, replace=False))
    # From here on the labels of other nodes are out of reach, and so are classes that only they have.
    rows, indicator = order[part], indicator[part]
    rows, indicator = _frequent(rows, indicator)
    if len(rows) < FEWEST_NODES:
        raise InputError(
            f"{labels.source}: {len(rows)} training nodes are too few to choose settings by; "
            f"give at least {FEWEST_NODES}, or tune by links"
        )
    if indicator.shape[1] < 2:
        raise InputError(f"{labels.source}: the training nodes all have one label: there is nothing to tell apart")
    return LabelJudge(graph, rows, indicator, rng.permutation(len(rows)) % SPLITS, C)


def _frequent(rows: NDArray[np.int64], indicator: Indicator) -> tuple[NDArray[np.int64], Indicator]:
    """The most frequent classes, in their order, and the nodes that have one of them."""
    counts = np.asarray(indicator.sum(axis=0)).ravel()
    kept = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    indicator = indicator[:, np.sort(kept[counts[kept] > 0])]
    labelled = np.diff(indicator.indptr) > 0
    return rows[labelled], indicator[labelled]


def _training(
    order: NDArray[np.int64], graph: Graph, labels: Labels, train: Train, split_seed: int
) -> NDArray[np.int64]:
    """Which of the labelled nodes, in the order of their names, are training nodes."""
    if train is None:
        return np.arange(len(order))
    if isinstance(train, int | float):
        if not 0 < train < 1:
            raise InputError(f"train={train!r} must be a part above 0 and below 1, or the names of the training nodes")
        return np.sort(make_split(len(order), train, repeat=0, seed=split_seed).train)
    wanted = set(map(str, np.asarray(train).tolist() if isinstance(train, np.ndarray) else train))
    names = list(map(str, graph.names[order].tolist()))
    lost = sorted(wanted.difference(names))
    if lost:
        raise InputError(f"train: node {lost[0]!r} has no label in {labels.source}, or is not in the graph")
    return np.flatnonzero([name in wanted for name in names])


@dataclass(frozen=True)
class LinkJudge:
    """AUC of the cosine: held-out edges against pairs of the same ends that are no edges.

    Pairs drawn at random would mostly be of nodes with few edges, and settings would win that let the degree show. Ends
    paired anew have the same degrees: only what is near what counts.
    """

    graph: Graph  # what is left
    edges: Pairs
    others: Pairs
    rungs: tuple[tuple[int, ...], ...] = (tuple(range(SPLITS)),)
    measure: str = "AUC"

    @property
    def protocol(self) -> str:
        """See `Judge.protocol`."""
        return (
            f"{len(self.edges.first)} held-out edges against {len(self.others.first)} other pairs of their ends, by "
            f"the cosine of vectors made from {self.graph.edges} edges"
        )

    def known(self, vectors: Floats) -> PairScore:
        """See `Judge.known`."""
        return PairScore(unit_rows(vectors))

    def score(self, known: PairScore, split: int) -> float:
        """See `Judge.score`."""
        parts = (Pairs(*(side[split::SPLITS] for side in pairs)) for pairs in (self.edges, self.others))
        true, false = map(known.of_pairs, parts)
        return auc(true, false)

    def noise(self, score: float) -> float:
        """See `Judge.noise`."""
        return math.sqrt(score * (1 - score) * SPLITS / len(self.edges.first))

    def least(self, score: float) -> float:
        """See `Judge.least`: a part of what is left to gain, and more than that where few edges were held out."""
        return max(LEAST_LINKS * (1 - score), LEAST * self.noise(score) / math.sqrt(SPLITS))


def link_judge(graph: Graph, *, seed: int) -> LinkJudge:
    """Hold a tenth of the edges out."""
    held = hold_out(graph, HELD_OUT, repeat=0, seed=seed)
    edges = Pairs(*(side[:MOST_PAIRS] for side in held.edges))
    others = _paired_anew(graph, edges, seed=seed)
    if min(len(edges.first), len(others.first)) < SPLITS:
        raise InputError(
            f"{graph.source} has {graph.edges} edges, too few to hold some out and choose settings by them, or so many "
            "that nearly all pairs are edges; give labels"
        )
    return LinkJudge(held.rest, edges, others)


def _paired_anew(graph: Graph, edges: Pairs, *, seed: int) -> Pairs:
    """The ends of edges, each with an end of another one, where that is no edge of the whole graph."""
    rng = np.random.default_rng((seed, SPLITS))
    swapped = rng.random(len(edges.first)) < 0.5
    first, second = np.where(swapped, edges, edges[::-1])
    found: list[NDArray[np.int64]] = []
    for _ in range(ROUNDS):
        pairs = Pairs(first, rng.permutation(second))
        free = (pairs.first != pairs.second) & (find_entries(graph, pairs) < 0)
        found.append(np.stack(pairs)[:, free])
    return Pairs(*np.concatenate(found, axis=1))
