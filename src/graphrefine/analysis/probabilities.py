r"""Probabilities of classes from decision values, and the labels that a node is given.

A classifier that was fitted to some nodes is too sure of others, or not sure enough. So its decision values s of nodes
that it has not seen decide two numbers, the same for all classes, by the smallest log loss, with one more node counted
as wrong so that a few right ones do not make it sure:

* one label a node: :math:`p_c = e^{a s_c} / \sum_j e^{a s_j}`;
* several: :math:`p_c = 1 / (1 + e^{-a s_c - b})`, each class for itself.

With one label, a node is given the most likely class. With several, it is given every class whose probability is at
least a threshold, and in any case the most likely one; the threshold has the highest Micro F1 on the same nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit, log_softmax, softmax

from graphrefine.evaluate.metrics import METRICS, Bool, ClassCounts, top_classes

Floats = NDArray[np.floating[Any]]
STEEPEST = 100.0  # largest scale a: where classes are told apart without an error, no scale is large enough
ENTRIES = 2_000_000  # decision values that decide, at most


@dataclass(frozen=True)
class Rule:
    """From decision values to probabilities and labels.

    Attributes
    ----------
    several : bool
        Whether a node may have several labels.
    scale, shift : float
        a and b.
    threshold : float
        Least probability of a label beside the most likely one; 1 and more where a node has one label.

    Examples
    --------
    >>> rule = Rule(several=False, scale=1.0)
    >>> rule.probabilities(np.log([[3.0, 1.0]])).tolist(), rule.choose(np.array([[0.75, 0.25]])).tolist()
    ([[0.75, 0.25]], [[True, False]])
    """

    several: bool
    scale: float = 1.0
    shift: float = 0.0
    threshold: float = 2.0

    @classmethod
    def learn(cls, decisions: Floats, truth: Bool, *, several: bool) -> Rule:
        """The rule for decision values (m, classes) of nodes whose labels were hidden from the classifiers."""
        step = max(1, decisions.size // ENTRIES)
        values, truth = np.asarray(decisions[::step], np.float64), truth[::step]
        if not several:
            return cls(several, scale=_learn_scale(values, truth))
        scale, shift = _learn_line(values, truth)
        probabilities = expit(scale * values + shift)
        return cls(several, scale, shift, _learn_threshold(probabilities, truth))

    def probabilities(self, decisions: Floats) -> NDArray[np.float64]:
        """Probabilities of the classes.  # (m, classes)."""
        scores = self.scale * decisions.astype(np.float64)
        return np.asarray(expit(scores + self.shift) if self.several else softmax(scores, axis=1))

    def choose(self, probabilities: Floats) -> Bool:
        """Which labels each node is given.  # (m, classes)."""
        counts = np.maximum((probabilities >= self.threshold).sum(axis=1), 1)
        return top_classes(np.asarray(probabilities, np.float64), counts)

    def describe(self) -> str:
        """The rule, in words."""
        if not self.several:
            return "the most likely label"
        return f"every label of probability {self.threshold:.3g} or more, at least the most likely one"


def _learn_scale(decisions: NDArray[np.float64], truth: Bool) -> float:
    """The scale a of the smallest log loss of one label a node."""
    doubt = 1 / (len(truth) + 2)  # as if one more node had been wrong: a few right ones do not make a classifier sure

    def loss(log_scale: float) -> float:
        logs = log_softmax(np.exp(log_scale) * decisions, axis=1)
        return -float((1 - doubt) * logs[truth].mean() + doubt * logs[~truth].mean())

    best = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(STEEPEST)), method="bounded")
    return float(np.exp(best.x))


def _learn_line(decisions: NDArray[np.float64], truth: Bool) -> tuple[float, float]:
    """The scale and the shift of the smallest log loss, with each class for itself."""
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
    """The threshold of the highest Micro F1, where the most likely label is given in any case.

    Examples
    --------
    Both nodes have their second label too, of probability 0.4 and 0.3; the third class is right for none:

    >>> truth = np.array([[True, True, False], [True, True, False]])
    >>> round(_learn_threshold(np.array([[0.9, 0.4, 0.1], [0.8, 0.3, 0.2]]), truth), 3)
    0.25
    """
    first = top_classes(probabilities, np.ones(len(probabilities)))
    others = np.where(first, -1.0, probabilities).ravel()
    order = np.argsort(-others, kind="stable")[: others.size - len(first)]
    hits = np.cumsum(np.concatenate([[(first & truth).sum()], truth.ravel()[order]]))
    quality = hits / (len(first) + np.arange(len(hits)) + truth.sum())
    count = int(np.argmax(quality))  # of labels beside the most likely ones
    values = others[order]
    if count == 0:
        return 2.0
    return float((values[count - 1] + (values[count] if count < len(values) else 0.0)) / 2)


def judge(rule: Rule, decisions: Floats, truth: Bool) -> tuple[ClassCounts, dict[str, NDArray[np.float64]]]:
    """Counts of each class, and for each node its log loss and whether its labels are exactly right."""
    probabilities = rule.probabilities(decisions)
    labels = rule.choose(probabilities)
    counts = ClassCounts(*((each).sum(axis=0) for each in (labels & truth, labels, truth)))
    tiny = np.finfo(np.float64).tiny
    if rule.several:
        right = np.where(truth, probabilities, 1 - probabilities)
        loss = -np.log(np.maximum(right, tiny)).mean(axis=1)
    else:
        loss = -np.log(np.maximum(probabilities[truth], tiny))
    return counts, {"accuracy": (labels == truth).all(axis=1).astype(np.float64), "log_loss": loss}


def cross_judge(decisions: Floats, truth: Bool, fold: NDArray[np.int64], *, several: bool) -> dict[str, float]:
    """Figures of held-out decision values, each fold by the rule that the other folds decide."""
    parts = []
    for number in range(int(fold.max()) + 1):
        rule = Rule.learn(decisions[fold != number], truth[fold != number], several=several)
        parts.append(judge(rule, decisions[fold == number], truth[fold == number]))
    counts = ClassCounts(*(np.sum(each, axis=0) for each in zip(*(part[0] for part in parts), strict=True)))
    scores = {name: metric.measure(counts) for name, metric in METRICS.items()}
    nodes = {name: float(np.concatenate([part[1][name] for part in parts]).mean()) for name in parts[0][1]}
    return {**scores, **nodes}
