"""Judges: tasks with known answers, by which vectors are scored.

A judge exists before any vectors do, so that all vectors are scored on the same splits:

* `LabelJudge`: labels of nodes. A part of the nodes trains a classifier, which predicts the labels of the others.
* `LinkJudge`: pairs of nodes with an edge and pairs without one, which a score must separate.

Both have a `measure`; `rounds`, the splits that are scored together, after each of which vectors may be given up;
`prepare`, for the part of the vectors that is scored; `score`, on a split; `noise`, the standard deviation of that by
chance alone; and `least_gain`, the smallest gain that counts. `tune` makes its own: `make_label_judge` and
`make_link_judge`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.embedding.learn import auc
from graphrefine.embedding.scores import Floats, Pairs, PairScore
from graphrefine.errors import InputError
from graphrefine.evaluate.held_out_edges import find_entries, hold_out
from graphrefine.evaluate.logistic import Classifiers, fit_logistic
from graphrefine.evaluate.metrics import Bool, Indicator, average_precision, measure_labels
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.readers.labels import Labels, align

PENALTIES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # candidates for C
PENALTY_FOLDS = 3  # of the training nodes, for the choice of C
FOLDS = 5  # of `make_label_judge` and `make_link_judge`

# Limits of a search, which fits classifiers for dozens of trials: time is in proportion to training nodes and classes.
# The most frequent classes decide Micro F1, and decision values within 0.1 of the optimum give the same choice.
MOST_NODES = 20_000  # with labels
MOST_TRAINING = 4_000  # of a classifier
MOST_CLASSES = 50
FEWEST_NODES = 20
TOLERANCE = 0.1

# Smaller gains are noise: of dozens of trials, some are better by chance, and the best of them would win.
LEAST_GAIN = 0.25  # part of the noise
LEAST_LINK_GAIN = 0.02  # part of the distance of an AUC from 1

HELD_OUT = 0.1
MOST_PAIRS = 50_000
ROUNDS = 2  # of drawing pairs of the ends of held-out edges

Rows = NDArray[np.int64]
TrainingNodes = float | Collection[Any] | None
Penalty = float | Literal["cv"]


class Split(NamedTuple):
    """Training rows and test rows."""

    train: Rows
    test: Rows
    key: tuple[int, ...] = ()  # seed of the draw, and of draws within the training rows


def check_ratio(n: int, ratio: float, *, argument: str, least: int = 1) -> None:
    """Raise InputError where a ratio of n rows leaves fewer than ``least`` to train with, or none to test with."""
    size = round(ratio * n)
    if not least <= size < n:
        raise InputError(
            f"{argument}={ratio:g} of {n} nodes leaves {size} to train and {n - size} to test with; at least {least} "
            "and 1 are needed",
            argument=argument,
        )


def make_split(n: int, ratio: float, *, repeat: int, seed: int) -> Split:
    """Divide n rows at random into training rows and test rows."""
    size = round(ratio * n)
    key = (seed, round(ratio * 1e6), repeat)
    shuffled = np.random.default_rng(key).permutation(n)
    return Split(shuffled[:size], shuffled[size:], key)


@dataclass(frozen=True)
class LabelJudge:
    """Node classification: labels of nodes, and splits of these nodes."""

    rows: Rows  # (m,): of the nodes, among the vectors
    indicator: Indicator  # (m, classes)
    splits: Sequence[Callable[[], Split]]  # drawn when they are needed
    penalties: tuple[float, ...] = (1.0,)  # several: the best by cross-validation within the training nodes
    tolerance: float = 1e-4
    measure: ClassVar[str] = "Micro F1"
    rounds: ClassVar[tuple[tuple[int, ...], ...]] = ((0,), (1, 2), (3, 4))

    @property
    def protocol(self) -> str:
        """The task, in a sentence."""
        return (
            f"{len(self.splits)}-fold cross-validation within {len(self.rows)} training nodes, "
            f"{self.indicator.shape[1]} classes, C = {self.penalties[0]:g}"
        )

    def prepare(self, vectors: Floats) -> Floats:
        """Return the vectors of the nodes that are judged, scaled to length 1."""
        return unit_rows(vectors[self.rows])

    def score(self, rows: Floats, split: int) -> float:
        """Return Micro F1 on a split, of rows that `prepare` made."""
        return self.stats(rows, split)[0]["micro_f1"]

    def stats(self, rows: Floats, split: int) -> tuple[dict[str, float], float]:
        """Return all `metrics.METRICS` on a split, of rows that `prepare` made; and the C."""
        train, test, key = self.splits[split]()
        training = rows[train], self.indicator[train].toarray()
        C = choose_penalty(*training, self.penalties, key)
        classifiers = fit_logistic(*training, C=C, tol=self.tolerance)
        return measure_labels(classifiers, rows[test], self.indicator[test]), C

    def fix_penalty(self, vectors: Floats) -> LabelJudge:
        """Return this judge with one C for all vectors: the best for these, on the first two splits."""
        if len(self.penalties) == 1:
            return self
        judges, rows = [replace(self, penalties=(C,)) for C in self.penalties], self.prepare(vectors)
        return judges[int(np.argmax([sum(judge.score(rows, split) for split in (0, 1)) for judge in judges]))]

    def noise(self, score: float) -> float:
        """Return the standard deviation of the score on one split, as if its labels were drawn one by one."""
        share = min(max(score / 100, 0.05), 0.95)
        return 100 * math.sqrt(share * (1 - share) * len(self.splits) / self.indicator.nnz)

    def least_gain(self, score: float) -> float:
        """Return the gain that counts: a part of the noise, because two settings err mostly on the same nodes."""
        return LEAST_GAIN * self.noise(score) / math.sqrt(len(self.splits))


def choose_penalty(rows: Floats, targets: Bool, penalties: tuple[float, ...], key: tuple[int, ...]) -> float:
    """Choose the C of the best mean F1 on held-out parts of the training nodes; the smallest of equals."""
    if len(penalties) == 1:
        return penalties[0]
    if len(rows) < PENALTY_FOLDS:
        raise InputError(f"C: {len(rows)} training nodes are too few to choose C with; give one number")
    # The folds are of the training nodes alone: a C that saw test nodes, or its own held-out fold, would be too large,
    # as the loosest fit predicts best what it was fitted to.
    fold = np.random.default_rng((*key, PENALTY_FOLDS)).permutation(len(rows)) % PENALTY_FOLDS
    quality = np.zeros(len(penalties))
    for held_out in range(PENALTY_FOLDS):
        test = fold == held_out
        classifiers: Classifiers | None = None
        for index, C in enumerate(penalties):
            classifiers = fit_logistic(rows[~test], targets[~test], C=C, start=classifiers)
            stats = measure_labels(classifiers, rows[test], sp.csr_array(targets[test]))
            quality[index] += stats["micro_f1"] + stats["macro_f1"]
    return penalties[int(np.argmax(quality))]


@dataclass(frozen=True)
class LinkJudge:
    """Pairs of nodes with an edge and pairs without one, dealt out to some splits."""

    graph: Graph  # the graph to embed: without the edges, if they are held out
    edges: Pairs
    others: Pairs
    splits: int = 1
    measure: ClassVar[str] = "AUC"

    @property
    def rounds(self) -> tuple[tuple[int, ...], ...]:
        """Splits that are scored together: all."""
        return (tuple(range(self.splits)),)

    @property
    def protocol(self) -> str:
        """The task, in a sentence."""
        return (
            f"{len(self.edges.first)} held-out edges against {len(self.others.first)} other pairs of their ends, by "
            f"the cosine of vectors made from {self.graph.edges} edges"
        )

    def prepare(self, vectors: Floats) -> PairScore:
        """Return the cosine of vectors."""
        return PairScore(unit_rows(vectors))

    def score(self, pair_score: PairScore, split: int) -> float:
        """Return AUC of a score on one split."""
        parts = (Pairs(*(side[split :: self.splits] for side in pairs)) for pairs in (self.edges, self.others))
        return auc(*map(pair_score.of_pairs, parts))

    def stats(self, score_pairs: Callable[[Pairs], Floats]) -> dict[str, float]:
        """Return AUC and average precision of a function that scores pairs, on all of them."""
        true, false = score_pairs(self.edges), score_pairs(self.others)
        return {"auc": auc(true, false), "ap": average_precision(true, false)}

    def noise(self, score: float) -> float:
        """Return the standard deviation of the score on one split, as if its edges were drawn one by one."""
        return math.sqrt(score * (1 - score) * self.splits / len(self.edges.first))

    def least_gain(self, score: float) -> float:
        """Return the gain that counts: a part of the distance to 1, and more if few edges are held out."""
        return max(LEAST_LINK_GAIN * (1 - score), LEAST_GAIN * self.noise(score) / math.sqrt(self.splits))


Judge = LabelJudge | LinkJudge


def make_label_judge(
    graph: Graph, labels: Labels, *, train: TrainingNodes, split_seed: int, C: Penalty, seed: int
) -> LabelJudge:
    """Make a judge by cross-validation within the training nodes; labels of other nodes are never seen."""
    order, indicator, _ = align(labels, graph.names, unlabeled="drop")
    part = _training_part(order, graph, labels, train, split_seed)
    rng = np.random.default_rng((seed, FOLDS))
    if len(part) > MOST_NODES:
        part = np.sort(rng.choice(part, MOST_NODES, replace=False))
    # From here on the labels of other nodes are out of reach, and so are classes that only they have: the frequency of
    # classes is counted among the training nodes.
    rows, indicator = order[part], indicator[part]
    counts = np.asarray(indicator.sum(axis=0)).ravel()
    frequent = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    indicator = indicator[:, np.sort(frequent[counts[frequent] > 0])]
    labeled = np.diff(indicator.indptr) > 0
    rows, indicator = rows[labeled], indicator[labeled]
    if len(rows) < FEWEST_NODES:
        raise InputError(
            f"{labels.source}: {len(rows)} training nodes are too few to choose settings by; "
            f"give at least {FEWEST_NODES}, or tune by links"
        )
    if indicator.shape[1] < 2:
        raise InputError(f"{labels.source}: the training nodes all have one label: there is nothing to tell apart")
    fold = rng.permutation(len(rows)) % FOLDS
    splits = [partial(Split, _thin(np.flatnonzero(fold != n)), np.flatnonzero(fold == n)) for n in range(FOLDS)]
    return LabelJudge(rows, indicator, splits, PENALTIES if C == "cv" else (float(C),), TOLERANCE)


def _thin(rows: Rows) -> Rows:
    """Return at most `MOST_TRAINING` rows, evenly spread."""
    if len(rows) <= MOST_TRAINING:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MOST_TRAINING).astype(np.int64)]


def _training_part(order: Rows, graph: Graph, labels: Labels, train: TrainingNodes, split_seed: int) -> Rows:
    """Find the training nodes among the labeled nodes, which are in the order of their names."""
    if train is None:
        return np.arange(len(order))
    if isinstance(train, int | float):
        if not 0 < train < 1:
            raise InputError(
                f"train={train!r} must be a part above 0 and below 1, or the names of the training nodes",
                argument="train",
            )
        check_ratio(len(order), train, argument="train")
        return np.sort(make_split(len(order), train, repeat=0, seed=split_seed).train)
    training = set(map(str, np.asarray(train).tolist() if isinstance(train, np.ndarray) else train))
    names = list(map(str, graph.names[order].tolist()))
    unlabeled = sorted(training.difference(names))
    if unlabeled:
        raise InputError(f"train: node {unlabeled[0]!r} has no label in {labels.source}, or is not in the graph")
    return np.flatnonzero([name in training for name in names])


def make_link_judge(graph: Graph, *, seed: int) -> LinkJudge:
    """Make a judge of a tenth of the edges, held out, against pairs of the same ends that are no edges.

    Pairs drawn at random would mostly be of nodes with few edges, and settings would win that let degrees show in the
    vectors. Ends of held-out edges that are paired again at random have the same degrees.
    """
    held = hold_out(graph, HELD_OUT, repeat=0, seed=seed)
    edges = Pairs(*(side[:MOST_PAIRS] for side in held.edges))
    rng = np.random.default_rng((seed, FOLDS))
    first, second = np.where(rng.random(len(edges.first)) < 0.5, edges, edges[::-1])
    others = [Pairs(first, rng.permutation(second)) for _ in range(ROUNDS)]
    pairs = Pairs(*np.concatenate(others, axis=1))
    free = (pairs.first != pairs.second) & (find_entries(graph, pairs) < 0)  # no edge of the whole graph
    if min(len(edges.first), int(free.sum())) < FOLDS:
        raise InputError(
            f"{graph.source} has {graph.edges} edges, too few to hold some out and choose settings by them, or nearly "
            "all pairs are edges; give labels"
        )
    return LinkJudge(held.rest, edges, Pairs(pairs.first[free], pairs.second[free]), FOLDS)
