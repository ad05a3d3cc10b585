r"""Labels of the nodes that have none, predicted from the vectors by logistic regression, with probabilities.

Rows have length 1, and each class has one classifier against the rest (`evaluate.logistic`, liblinear's optimum). The
labeled nodes are dealt into folds; each fold is predicted by classifiers that the others trained. These held-out
decision values s decide how decision values become probabilities and labels, and are judged.

**Probabilities.** Two numbers, the same for all classes, have the smallest log loss:

* one label a node: :math:`p_c = e^{a s_c} / \sum_j e^{a s_j}`;
* several: :math:`p_c = 1 / (1 + e^{-a s_c - b})`, each class for itself.

With one label, a node is given the most likely class. With several, it is given every class whose probability is at
least a threshold, and in any case the most likely one; the threshold has the highest Micro F1 on the same nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, softmax

from graphrefine.display.table import Table
from graphrefine.errors import InputError
from graphrefine.evaluate.classification import NamedVectors, parse_penalties, split_names
from graphrefine.evaluate.judges import choose_penalty
from graphrefine.evaluate.logistic import Classifiers, fit_logistic
from graphrefine.evaluate.metrics import METRICS, Bool, ClassCounts, top_classes
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import Labels, align, as_labels
from graphrefine.search.vectors import check_finite
from graphrefine.system.checks import check_choice, check_integer
from graphrefine.system.threads import map_tasks, one_blas_thread, usable_threads

BLOCK = 8192  # rows whose probabilities are in memory at a time
MOST_NODES = 20_000  # labeled ones that choose C
FOLDS = 5

Rows = NDArray[np.int64]
Float32 = NDArray[np.float32]
Floats = NDArray[np.floating[Any]]
STEEPEST = 100.0  # largest scale a: where classes are separated without an error, no scale is large enough
ENTRIES = 2_000_000  # decision values that decide, at most


def predict_labels(
    embedding: NamedVectors | NDArray[Any],
    labels: Any,
    *,
    nodes: Literal["unlabeled", "all"] = "unlabeled",
    top: int | None = None,
    C: float | Sequence[float] | Literal["cv"] = "cv",
    folds: int = FOLDS,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> Table:
    """Predict the labels of the nodes that have none, with probabilities.

    Parameters
    ----------
    embedding : Embedding, or ndarray (n, k)
        The rows of an array are the nodes 0 to n-1. A node whose vector is zero, as that of a node without edges is,
        neither trains nor gets a label, and is counted in ``stats["without_vectors"]``.
    labels
        Anything that `graphrefine.evaluate.as_labels` takes: a file, a mapping, a table, a list, a matrix, a pair
        (graph, attribute). If any node has several labels, any node may be given several.
    nodes : {"unlabeled", "all"}
        "all": the labeled ones too, each by classifiers that have not seen its labels.
    top : int, optional
        Number of the most likely labels of each node to list, with a column ``given``; the number of classes for all
        probabilities. By default the labels that a node is given.
    C : float, sequence of float, or "cv"
        Weight of the data against the penalty. Of several, or "cv" for a usual range, the one of the highest F1 in
        cross-validation within the labeled nodes.
    folds : int
        Parts of the labeled nodes, each predicted by classifiers of the others.
    seed : int
        Seed of the folds.
    threads : int, optional
        Folds at a time; by default all processors. The answer does not depend on it.
    watcher : Watcher, optional
        Watcher of the stages "choose C", "folds" and "predict".

    Returns
    -------
    Table
        Columns ``node``, ``label`` and ``probability``, in the order of the embedding, the most likely label of a node
        first; with ``nodes="all"`` also ``labeled`` (the node has labels) and ``known`` (this label is one of them).
        In ``stats``: the counts, the rule, and the scores of held-out nodes, of the vectors and of a control that knows
        how frequent each label is and nothing else.

    Examples
    --------
    The sign of the first coordinate is the label of eight nodes, so it tells those of the last two:

    >>> vectors = np.array([[1, 0], [-1, 0], [2, 1], [-2, 1], [3, 1], [-3, 1], [4, 0], [-4, 0], [5, 1], [-5, 1]])
    >>> answer = predict_labels(vectors, ["+", "-"] * 4 + [None, None], folds=4)
    >>> answer["node"].tolist(), answer["label"].tolist(), answer.stats["held_out"]["accuracy"]
    ([8, 9], ['+', '-'], 1.0)
    """
    penalties = parse_penalties(C)
    vectors, names = split_names(embedding)
    labels = as_labels(labels, names=names)
    check_choice("nodes", nodes, ["unlabeled", "all"])
    if top is not None:
        check_integer("top", top, least=1)
    check_integer("folds", folds, least=2)
    check_integer("seed", seed, least=0)
    task = _make_task(vectors, names, labels, folds=folds, seed=seed)
    rows = _find_rows(task, nodes, labels)
    stages = Stages(watcher)
    with one_blas_thread():
        with stages.stage("choose C"):
            m = len(task.labeled)
            some: Any = slice(None)
            if m > MOST_NODES:
                some = np.sort(np.random.default_rng((seed, MOST_NODES)).choice(m, MOST_NODES, replace=False))
            penalty = choose_penalty(task.training[some], task.targets[some], penalties, (seed,))
        decisions = _predict_folds(task, penalty, threads=threads, stages=stages)
        several = bool((task.targets.sum(axis=1) > 1).any())
        rule = Rule.learn(decisions, task.targets, several=several)
        with stages.stage("predict", steps=-(-len(rows) // BLOCK) + 1):
            classifiers = fit_logistic(task.training, task.targets, C=penalty)
            stages.advance()
            answer = _predict(task, rows, classifiers, rule, decisions, top, stages)
    columns = _columns(answer, names, labels, task, nodes, top)
    stats = {
        "nodes": len(names),
        "labeled": len(task.labeled),
        "predicted": len(rows),
        "without_vectors": task.zeros,
        "missing_nodes": task.missing,
        "classes": len(task.classes),
        "several": several,
        "rule": rule.describe(),
        "threshold": rule.threshold if several else None,
        "scale": rule.scale,
        "shift": rule.shift,
        "C": penalty,
        "folds": folds,
        "seed": seed,
        "held_out": cross_judge(decisions, task.targets, task.fold, several=several),
        "control": cross_judge(_frequencies(task), task.targets, task.fold, several=several),
        "labels": labels.source,
        "labels_reading": labels.describe(names),
    }
    return Table(columns, stats)


class _Task(NamedTuple):
    """Labeled and unlabeled rows of an embedding."""

    vectors: NDArray[Any]  # (n, k)
    labeled: Rows  # (m,): with a vector and a label, in the order of their names
    unlabeled: Rows  # with a vector and without a label, ascending
    training: Float32  # (m, k): unit rows of the labeled ones
    targets: Bool  # (m, classes)
    number: Rows  # (n,): of each row among the labeled ones; -1 for the others
    classes: NDArray[Any]  # positions of the columns among the classes of the labels
    fold: Rows  # (m,)
    zeros: int  # nodes without a vector
    missing: int  # labeled nodes that the embedding does not have


class _Answer(NamedTuple):
    """A label of a node in each row."""

    row: Rows  # of the embedding
    column: Rows  # of the targets
    probability: NDArray[np.float64]
    given: Bool


def _make_task(vectors: NDArray[Any], names: NDArray[Any], labels: Labels, *, folds: int, seed: int) -> _Task:
    check_finite(vectors, names)
    order, indicator, missing = align(labels, names, unlabeled="keep")
    nonzero: Bool = np.asarray(vectors.any(axis=1))
    has_label: Bool = np.asarray(np.diff(indicator.indptr) > 0)
    kept = np.flatnonzero(has_label & nonzero[order])
    counts = np.asarray(indicator[kept].sum(axis=0)).ravel()
    classes = np.flatnonzero(counts)
    if len(kept) and len(classes) < 2:
        raise InputError(
            f"{labels.source}: all {len(kept):,} labeled nodes that have a vector have the one label "
            f'{labels.classes[classes[0]]!r}; give labels of two classes or more, such as "yes" and "no"',
            argument="labels",
        )
    if len(kept) < folds:
        raise InputError(
            f"{labels.source}: {len(kept):,} labeled nodes have a vector, too few for folds={folds}; label more, or "
            "give fewer folds",
            argument="labels",
        )
    targets = indicator[kept][:, classes].toarray()
    unlabeled = np.sort(order[~has_label & nonzero[order]])
    number = np.full(len(names), -1)
    number[order[kept]] = np.arange(len(kept))
    return _Task(
        vectors, order[kept], unlabeled, unit_rows(vectors[order[kept]]), targets, number, classes,
        _deal(targets, folds, seed), int(len(names) - nonzero.sum()), missing,
    )  # fmt: skip


def _deal(targets: Bool, folds: int, seed: int) -> Rows:
    """Deal nodes into folds: those of a class, by their rarest one, are spread evenly."""
    # At random a rare class may lie in one fold alone, whose nodes would then be predicted without a positive example.
    counts = targets.sum(axis=0)
    rarest = np.where(targets, counts, len(targets) + 1).argmin(axis=1)
    order = np.lexsort((np.random.default_rng((seed, folds)).random(len(targets)), rarest))
    fold = np.empty(len(targets), np.int64)
    fold[order] = np.arange(len(targets)) % folds
    return fold


def _find_rows(task: _Task, nodes: str, labels: Labels) -> Rows:
    """Return the rows to predict, ascending."""
    if nodes == "all":
        return np.sort(np.concatenate([task.labeled, task.unlabeled]))
    if not len(task.unlabeled):
        raise InputError(
            f"{labels.source}: every node that has a vector has a label, so there is none to predict; nodes='all' "
            "predicts each labeled node by the others",
            argument="labels",
        )
    return task.unlabeled


def _predict_folds(task: _Task, penalty: float, *, threads: int | None, stages: Stages) -> Float32:
    """Return decision values of each labeled node by classifiers that have not seen it.  # (m, classes)."""
    folds = int(task.fold.max()) + 1
    decisions = np.empty(task.targets.shape, np.float32)

    def predict(number: int) -> None:
        test = task.fold == number
        classifiers = fit_logistic(task.training[~test], task.targets[~test], C=penalty)
        decisions[test] = _decide(classifiers, task.training[test], int((~test).sum()))

    with stages.stage("folds", steps=folds):
        for _ in map_tasks(range(folds), predict, usable_threads(threads)):
            stages.advance()
    return decisions


def _decide(classifiers: Classifiers, rows: Float32, training: int) -> NDArray[np.float64]:
    """Return decision values; a class of none or of all training nodes has the odds of half a node more."""
    # Its classifier has an infinite intercept, and a probability of exactly 0 would make the log loss infinite.
    bounds, intercepts = np.log(2 * training + 1), classifiers.intercepts
    finite = np.where(np.isfinite(intercepts), intercepts, np.sign(intercepts) * bounds)
    return Classifiers(classifiers.weights, finite).decision(rows)


def _frequencies(task: _Task) -> NDArray[np.float64]:
    """Return decision values of the control: log odds of classes among the other folds.  # (m, classes)."""
    decisions = np.empty(task.targets.shape)
    for number in range(int(task.fold.max()) + 1):
        train = task.fold != number
        share = (task.targets[train].sum(axis=0) + 0.5) / (train.sum() + 1)
        decisions[~train] = np.log(share / (1 - share))
    return decisions


def _predict(
    task: _Task,
    rows: Rows,
    classifiers: Classifiers,
    rule: Rule,
    decisions: Float32,
    top: int | None,
    stages: Stages,
) -> _Answer:
    """Predict the labels of rows in blocks; of a labeled node by its held-out decision values."""
    parts = []
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        values = _decide(classifiers, unit_rows(task.vectors[block]), len(task.labeled))
        held_out = task.number[block] >= 0
        values[held_out] = decisions[task.number[block[held_out]]]
        parts.append(_list_labels(block, rule.probabilities(values), rule, top))
        stages.advance()
    return _Answer(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _list_labels(block: Rows, probabilities: NDArray[np.float64], rule: Rule, top: int | None) -> _Answer:
    given = rule.choose(probabilities)
    ranking = np.argsort(-probabilities, axis=1, kind="stable")
    counts = given.sum(axis=1) if top is None else np.full(len(block), min(top, probabilities.shape[1]))
    row, rank = np.nonzero(np.arange(probabilities.shape[1]) < counts[:, None])
    column = ranking[row, rank]
    return _Answer(block[row], column, probabilities[row, column], given[row, column])


def _columns(
    answer: _Answer, names: NDArray[Any], labels: Labels, task: _Task, nodes: str, top: int | None
) -> dict[str, NDArray[Any]]:
    classes = np.array([labels.classes[column] for column in task.classes], object)
    columns: dict[str, NDArray[Any]] = {
        "node": names[answer.row],
        "label": classes[answer.column],
        "probability": answer.probability,
    }
    if top is not None:
        columns["given"] = answer.given
    if nodes == "all":
        number = task.number[answer.row]
        columns["labeled"] = number >= 0
        columns["known"] = columns["labeled"] & task.targets[number, answer.column]
    return columns


def describe_prediction(table: Table) -> list[str]:
    """Describe an answer of `predict_labels`, in lines."""
    stats = table.stats
    held, control = stats["held_out"], stats["control"]
    exact = "exactly right" if stats["several"] else "right"
    lines = [
        f"{stats['predicted']:,} nodes predicted from {stats['labeled']:,} labeled ones, {stats['classes']:,} "
        f"classes, C = {stats['C']:g}; a node is given {stats['rule']}",
        f"on held-out labeled nodes ({stats['folds']} folds): Micro F1 {held['micro_f1']:.2f}, Macro F1 "
        f"{held['macro_f1']:.2f}, {held['accuracy']:.1%} {exact}, log loss {held['log_loss']:.3f}; by the frequencies "
        f"of labels alone {control['micro_f1']:.2f}, {control['macro_f1']:.2f}, {control['accuracy']:.1%}, "
        f"{control['log_loss']:.3f}",
    ]
    if stats["without_vectors"]:
        lines.append(f"note: {stats['without_vectors']:,} nodes have no vector (all zeros), and get no label")
    return lines


@dataclass(frozen=True)
class Rule:
    """From decision values to probabilities and labels.

    Examples
    --------
    >>> rule = Rule(several=False, scale=1.0)
    >>> rule.probabilities(np.log([[3.0, 1.0]])).tolist(), rule.choose(np.array([[0.75, 0.25]])).tolist()
    ([[0.75, 0.25]], [[True, False]])
    """

    several: bool  # whether a node may have several labels
    scale: float = 1.0  # a
    shift: float = 0.0  # b
    threshold: float = 2.0  # least probability of a second label; above 1 where a node has one label

    @classmethod
    def learn(cls, decisions: Floats, truth: Bool, *, several: bool) -> Rule:
        """Learn the rule from decision values (m, classes) of nodes whose labels were hidden from the classifiers."""
        # A classifier is surer of the nodes that it was fitted to than of others: by their values the scale would be
        # too large.
        step = max(1, decisions.size // ENTRIES)
        values, truth = np.asarray(decisions[::step], np.float64), truth[::step]
        if not several:
            return cls(several, scale=_learn_scale(values, truth))
        scale, shift = _learn_line(values, truth)
        probabilities = expit(scale * values + shift)
        return cls(several, scale, shift, _learn_threshold(probabilities, truth))

    def probabilities(self, decisions: Floats) -> NDArray[np.float64]:
        """Return probabilities of the classes.  # (m, classes)."""
        scores = self.scale * decisions.astype(np.float64)
        return np.asarray(expit(scores + self.shift) if self.several else softmax(scores, axis=1))

    def choose(self, probabilities: Floats) -> Bool:
        """Return which labels each node is given.  # (m, classes)."""
        counts = np.maximum((probabilities >= self.threshold).sum(axis=1), 1)
        return top_classes(np.asarray(probabilities, np.float64), counts)

    def describe(self) -> str:
        """Describe the rule."""
        if not self.several:
            return "the most likely label"
        return f"every label of probability {self.threshold:.3g} or more, at least the most likely one"


def _learn_scale(decisions: NDArray[np.float64], truth: Bool) -> float:
    """Find the scale a of the smallest log loss of one label a node."""
    doubt = 1 / (len(truth) + 2)  # as if one more node had been wrong: a few right ones do not make a classifier sure

    def loss(log_scale: float) -> float:
        logs = log_softmax(np.exp(log_scale) * decisions, axis=1)
        return -float((1 - doubt) * logs[truth].mean() + doubt * logs[~truth].mean())

    best = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(STEEPEST)), method="bounded")
    return float(np.exp(best.x))


def _learn_line(decisions: NDArray[np.float64], truth: Bool) -> tuple[float, float]:
    """Find the scale and the shift of the smallest log loss, with each class for itself."""
    scores, positive = decisions.ravel(), truth.ravel()
    count = int(positive.sum())
    # As if one more of each kind had been wrong (Platt): a few right ones do not make a classifier sure.
    marks = np.where(positive, (count + 1) / (count + 2), 1 / (len(positive) - count + 2))

    def loss(line: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        values = line[0] * scores + line[1]
        error = expit(values) - marks
        slope = np.array([(error * scores).mean(), error.mean()])
        return float((np.logaddexp(0, values) - marks * values).mean()), slope

    best = minimize(loss, np.array([1.0, 0.0]), jac=True, bounds=[(1e-3, STEEPEST), (-50.0, 50.0)], method="L-BFGS-B")
    return float(best.x[0]), float(best.x[1])


def _learn_threshold(probabilities: NDArray[np.float64], truth: Bool) -> float:
    """Find the threshold of the highest Micro F1, where the most likely label is given in any case."""
    first = top_classes(probabilities, np.ones(len(probabilities)))
    others = np.where(first, -1.0, probabilities).ravel()
    order = np.argsort(-others, kind="stable")[: others.size - len(first)]
    hits = np.cumsum(np.concatenate([[(first & truth).sum()], truth.ravel()[order]]))
    quality = hits / (len(first) + np.arange(len(hits)) + truth.sum())
    count = int(np.argmax(quality))  # of labels after the most likely ones
    values = others[order]
    if count == 0:
        return 2.0
    return float((values[count - 1] + (values[count] if count < len(values) else 0.0)) / 2)


def judge(rule: Rule, decisions: Floats, truth: Bool) -> tuple[ClassCounts, Bool, NDArray[np.float64]]:
    """Count hits of each class; return also whether each node's labels are exactly right, and its log loss."""
    probabilities = rule.probabilities(decisions)
    labels = rule.choose(probabilities)
    counts = ClassCounts(*(each.sum(axis=0) for each in (labels & truth, labels, truth)))
    right = np.where(truth, probabilities, 1 - probabilities) if rule.several else probabilities[truth][:, None]
    loss = -np.log(np.maximum(right, np.finfo(np.float64).tiny)).mean(axis=1)
    return counts, (labels == truth).all(axis=1), loss


def cross_judge(decisions: Floats, truth: Bool, fold: NDArray[np.int64], *, several: bool) -> dict[str, float]:
    """Measure held-out decision values, each fold by the rule that the other folds decide."""
    # The rule that the answer uses is learned from all folds. By it the scores would be of nodes whose labels chose the
    # scale and the threshold, and would look better than those of new nodes.
    parts = []
    for number in range(int(fold.max()) + 1):
        rule = Rule.learn(decisions[fold != number], truth[fold != number], several=several)
        parts.append(judge(rule, decisions[fold == number], truth[fold == number]))
    counts, exact, losses = zip(*parts, strict=True)
    whole = ClassCounts(*np.sum(counts, axis=0))
    scores = {name: metric.measure(whole) for name, metric in METRICS.items()}
    means = (float(np.concatenate(each).mean()) for each in (exact, losses))
    return {**scores, **dict(zip(("accuracy", "log_loss"), means, strict=True))}
