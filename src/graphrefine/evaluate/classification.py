"""Node classification: labels of nodes, predicted from their vectors by a linear classifier, as in the paper.

Rows are scaled to length 1. A random part of the nodes trains one logistic regression for each class; each other node
has m labels and is given the m classes of highest score (`metrics`). This is repeated over random splits, which
depend on the seed, the ratio, the repeat and the names of the nodes alone: two embeddings of one graph are judged on
identical splits (`judges.LabelJudge`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from os import PathLike
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.embedding import check_embedding
from graphrefine.errors import InputError
from graphrefine.evaluate.judges import PENALTIES, PENALTY_FOLDS, LabelJudge, check_ratio, make_split
from graphrefine.evaluate.metrics import METRICS
from graphrefine.evaluate.results import LabelScores, RatioScores
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import align, as_labels
from graphrefine.search.vectors import check_finite
from graphrefine.system.checks import check_choice, check_integer
from graphrefine.system.threads import map_tasks, usable_threads

RATIOS = (0.1, 0.3, 0.5, 0.7, 0.9)
REPEATS = 10  # splits of a ratio
# Up to this ratio so few nodes train that scores differ more between splits: more of them make the mean as certain.
FEW = 0.05
FEW_REPEATS = 50


class NamedVectors(Protocol):
    """The part of an embedding that is evaluated."""

    @property
    def names(self) -> NDArray[Any]:
        """Names of the nodes, one for each row."""

    @property
    def vectors(self) -> NDArray[Any]:
        """Vectors of the nodes, as rows."""


def evaluate_labels(
    embedding: NamedVectors | NDArray[Any],
    labels: Any,
    *,
    ratios: Sequence[float] = RATIOS,
    repeats: int | None = None,
    C: float | Sequence[float] | Literal["cv"] = 1.0,
    seed: int = 0,
    unlabeled: Literal["drop", "keep"] = "drop",
    threads: int | None = None,
    watcher: Watcher | None = None,
) -> LabelScores:
    """Measure the F1 of labels that a linear classifier predicts from the vectors of an embedding.

    Parameters
    ----------
    embedding : Embedding, or ndarray (n, k)
        The rows of an array are the nodes 0 to n-1.
    labels
        Anything that `as_labels` takes: a file, a mapping, a table, a list, a pair (graph, attribute). Nodes that the
        embedding does not have are counted and left out, as are classes without a node in it.
    ratios : sequence of float
        Parts of the nodes that train, each above 0 and below 1.
    repeats : int, optional
        Splits for each ratio; if not given 10, and 50 at ratios up to 0.05, where scores differ more between splits.
    C : float, sequence of float, or "cv"
        Weight of the data against the penalty. A sequence, or "cv" for a usual one: the value of the highest mean of
        Micro and Macro F1 in 3-fold cross-validation within the training nodes of each split.
    seed : int
        Seed of the splits.
    unlabeled : {"drop", "keep"}
        "drop": nodes without labels are left out before splitting.
    threads : int, optional
        Splits at a time; the number of processors if not given. The scores do not depend on it.
    watcher : Watcher, optional
        Watcher of the stage "classify", with a step for each split.

    Notes
    -----
    A class without a training node is predicted last, a class of all training nodes first. So Macro F1 stays low where
    there are fewer training nodes than classes.

    Examples
    --------
    The sign of the first coordinate is the label, so half of the nodes tell that of the others:

    >>> vectors = np.array([[1, 0], [-1, 0], [2, 1], [-2, 1], [3, 1], [-3, 1], [4, 0], [-4, 0]])
    >>> scores = evaluate_labels(vectors, ["+", "-"] * 4, ratios=[0.5], repeats=2)
    >>> scores.ratios[0].micro_mean, scores.ratios[0].std("macro_f1")
    (100.0, 0.0)
    """
    penalties = parse_penalties(C)
    _check(ratios, repeats, seed, unlabeled)
    counts = [choose_repeats(ratio) if repeats is None else repeats for ratio in ratios]
    vectors, names = split_names(embedding)
    labels = as_labels(labels, names=names)
    # The paper samples from the labeled nodes ("drop"); its authors' code splits all nodes ("keep"): those without
    # labels are then negative examples of every class in training, and are given no label in testing.
    order, indicator, missing = align(labels, names, unlabeled=unlabeled)
    classes = np.flatnonzero(indicator.sum(axis=0))
    if unlabeled == "keep" and not len(classes):
        raise InputError(f"{labels.source}: no node of the embedding has a label; give labels of its nodes")
    for ratio in ratios:
        # The choice of C deals the training nodes into folds, and none may be empty.
        check_ratio(len(order), ratio, argument="ratios", least=PENALTY_FOLDS if len(penalties) > 1 else 1)
    splits = [
        partial(make_split, len(order), ratio, repeat=repeat, seed=seed)
        for ratio, count in zip(ratios, counts, strict=True)
        for repeat in range(count)
    ]
    judge = LabelJudge(order, indicator[:, classes], splits, penalties)
    rows = vectors[order]
    check_finite(rows, names[order])
    stages, stats = Stages(watcher), list[tuple[dict[str, float], float]]()
    # Each task has one BLAS thread, so that their number changes no bit. Closed at once on Ctrl-C: what is still in the
    # queue is not worked through.
    tasks = map_tasks(range(len(splits)), partial(judge.stats, unit_rows(rows)), usable_threads(threads))
    with stages.stage("classify", steps=len(splits)), closing(tasks):
        for each in tasks:
            stats.append(each)
            stages.advance()
    left, scores = iter(stats), list[RatioScores]()
    for ratio, count in zip(ratios, counts, strict=True):
        measured, C_of_splits = zip(*islice(left, count), strict=True)
        values = {name: tuple(each[name] for each in measured) for name in METRICS}
        train = round(ratio * len(rows))
        scores.append(RatioScores(ratio, train, len(rows) - train, values, C=C_of_splits))
    return LabelScores(
        ratios=tuple(scores),
        nodes=len(rows),
        classes=len(classes),
        unlabeled=unlabeled,
        unlabeled_nodes=len(names) - int((np.diff(judge.indicator.indptr) > 0).sum()),
        missing_nodes=missing,
        empty_classes=len(labels.classes) - len(classes),
        repeats=counts[0] if len(set(counts)) == 1 else tuple(counts),
        C=penalties[0] if len(penalties) == 1 else penalties,
        seed=seed,
        source=labels.source,
        reading=labels.describe(names),
    )


def choose_repeats(ratio: float) -> int:
    """Return the number of splits for a ratio: more where few nodes train."""
    return FEW_REPEATS if ratio <= FEW else REPEATS


def random_control(n: int, dim: int, seed: int = 0) -> NDArray[np.float32]:
    """Draw random unit rows, which know nothing of a graph: the scores that an embedding must beat.

    Examples
    --------
    >>> control = random_control(1000, 16)
    >>> control.shape, bool(abs(control.mean()) < 0.01)
    ((1000, 16), True)
    """
    return unit_rows(np.random.default_rng(seed).standard_normal((n, dim), dtype=np.float32))


def parse_penalties(C: float | Sequence[float] | Literal["cv"]) -> tuple[float, ...]:
    """Parse the values of C to choose from, in ascending order."""
    if isinstance(C, str) and C == "cv":
        return PENALTIES
    penalties = () if isinstance(C, str) else tuple(sorted(float(value) for value in np.atleast_1d(C)))
    if not penalties or not all(0 < value < np.inf for value in penalties):
        raise InputError(f'C={C!r}: a positive number, a sequence of them, or "cv" is expected', argument="C")
    return penalties


def _check(ratios: Sequence[float], repeats: int | None, seed: int, unlabeled: str) -> None:
    if not len(ratios) or not all(0 < ratio < 1 for ratio in ratios) or len(set(ratios)) < len(ratios):
        listed = ", ".join(f"{ratio:g}" for ratio in ratios)
        raise InputError(
            f"ratios={listed}: different numbers above 0 and below 1 are expected, like 0.1, 0.5", argument="ratios"
        )
    if repeats is not None:
        check_integer("repeats", repeats, least=1)
    check_integer("seed", seed, least=0)
    check_choice("unlabeled", unlabeled, ["drop", "keep"])


def split_names(embedding: NamedVectors | NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return vectors and names of an embedding, or of an array, whose rows are the nodes 0 to n-1."""
    if isinstance(embedding, np.ndarray):
        vectors, names = embedding, np.arange(len(embedding))
    else:
        if isinstance(embedding, str | PathLike):
            check_embedding(embedding, "embedding")
        vectors, names = embedding.vectors, embedding.names
    if vectors.ndim != 2 or vectors.dtype.kind not in "biuf":
        raise InputError(f"vectors: a matrix of numbers is expected, not {vectors.ndim}-d {vectors.dtype}")
    return vectors, names
