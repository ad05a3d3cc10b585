"""How well vectors tell labels: the node classification of the paper's experiments.

Rows are scaled to length 1. A random part of the nodes trains one logistic regression a class; each other
node, which has m labels, is given the m classes of highest score. Micro F1 counts hits and misses over all
classes together; Macro F1 is the mean of the F1 of each class, 0 for a class that is never right. This is
repeated over random splits, which depend on the seed, the ratio, the repeat and the names of the nodes, and
on nothing else: two embeddings of one graph are judged on identical splits.

The paper samples from the labelled nodes; its authors' code splits all nodes, labelled or not. Here
``unlabelled="drop"`` is the former and ``"keep"`` the latter: kept nodes are negative examples of every class
where they train, and are given no label where they are tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.evaluate.label_results import LabelScores, RatioScores
from graphrefine.evaluate.logistic import Classifiers, fit_logistic
from graphrefine.linalg.small import one_blas_thread, unit_rows
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import align, as_labels
from graphrefine.system.threads import usable_threads

RATIOS = (0.1, 0.3, 0.5, 0.7, 0.9)
CANDIDATES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # of C, where cross-validation chooses
FOLDS = 3
BLOCK = 8192  # test rows scored at a time

Bool = NDArray[np.bool_]
Indices = NDArray[np.int64]
Indicator = sp.csr_array[np.bool_]


class NamedVectors(Protocol):
    """What is needed of an embedding."""

    @property
    def names(self) -> NDArray[Any]:
        """One a row."""

    @property
    def vectors(self) -> NDArray[Any]:
        """The rows."""


class Split(NamedTuple):
    """Which rows train and which are tested."""

    train: Indices
    test: Indices
    key: tuple[int, ...]  # what it was drawn with


class _Outcome(NamedTuple):
    train_nodes: int
    test_nodes: int
    micro: float
    macro: float
    C: float


def evaluate_labels(
    embedding: NamedVectors | NDArray[Any],
    labels: Any,
    *,
    ratios: Sequence[float] = RATIOS,
    repeats: int = 10,
    C: float | Sequence[float] | Literal["cv"] = 1.0,
    seed: int = 0,
    unlabelled: Literal["drop", "keep"] = "drop",
    threads: int | None = None,
    progress: Watcher | None = None,
) -> LabelScores:
    """Score an embedding by how well a linear classifier finds the labels of its nodes.

    Parameters
    ----------
    embedding : Embedding, or ndarray (n, k)
        The rows of an array are the nodes 0 to n-1.
    labels : path, Labels, or array-like
        See `read_labels` and `as_labels`. Nodes that the embedding does not have are counted and left out, as
        are classes that no node is left of.
    ratios : sequence of float
        Parts of the nodes to train with, each above 0 and below 1.
    repeats : int
        Splits for each ratio.
    C : float, sequence of float, or "cv"
        Weight of the data against the penalty. A sequence, or "cv" for a usual one: whichever has the highest
        mean of Micro and Macro F1 in 3-fold cross-validation within the training nodes of each split.
    seed : int
        Of the splits.
    unlabelled : {"drop", "keep"}
        Whether nodes without labels are left out before splitting.
    threads : int, optional
        Splits worked on at a time; as many as there are processors if not given. The scores are the same.
    progress : Watcher, optional
        Told of the stage "classify", with a step for each split.

    Notes
    -----
    A class that no training node has is predicted last, one that all of them have first.

    Examples
    --------
    The sign of the first coordinate is the label, so half of the nodes tell that of the others:

    >>> vectors = np.array([[1, 0], [-1, 0], [2, 1], [-2, 1], [3, 1], [-3, 1], [4, 0], [-4, 0]])
    >>> scores = evaluate_labels(vectors, ["+", "-"] * 4, ratios=[0.5], repeats=2)
    >>> scores.ratios[0].micro_mean, scores.ratios[0].macro_std
    (100.0, 0.0)
    """
    candidates = _candidates(C)
    _check(ratios, repeats, seed, unlabelled, threads)
    vectors, names = _named(embedding)
    found = as_labels(labels)
    order, indicator, missing = align(found, names, unlabelled=unlabelled)
    occupied = np.flatnonzero(indicator.sum(axis=0))
    indicator = indicator[:, occupied]
    rows = vectors[order]
    broken = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if broken.size:
        name = names.tolist()[order[broken[0]]]
        raise InputError(f"vectors: the row of node {name!r} has a NaN or an infinite value")
    rows = unit_rows(rows)
    splits = [(ratio, repeat) for ratio in ratios for repeat in range(repeats)]
    job = partial(_score, rows, indicator, candidates=candidates, seed=seed)
    outcomes = list(_in_parallel(job, splits, threads=threads, progress=progress))
    return LabelScores(
        ratios=tuple(_gather(ratio, outcomes[place * repeats :][:repeats]) for place, ratio in enumerate(ratios)),
        nodes=len(rows),
        classes=len(occupied),
        unlabelled=unlabelled,
        unlabelled_nodes=len(names) - int((np.diff(indicator.indptr) > 0).sum()),
        missing_nodes=missing,
        empty_classes=len(found.classes) - len(occupied),
        repeats=repeats,
        C=candidates[0] if len(candidates) == 1 else candidates,
        seed=seed,
        source=found.source,
    )


def random_control(n: int, dim: int, seed: int = 0) -> NDArray[np.float32]:
    """Random unit rows that know nothing of a graph: what an embedding must beat.

    Examples
    --------
    >>> control = random_control(1000, 16)
    >>> control.shape, bool(abs(control.mean()) < 0.01)
    ((1000, 16), True)
    """
    return unit_rows(np.random.default_rng(seed).standard_normal((n, dim), dtype=np.float32))


def _candidates(C: float | Sequence[float] | Literal["cv"]) -> tuple[float, ...]:
    if isinstance(C, str):
        if C != "cv":
            raise InputError(f'C={C!r}: a positive number, a sequence of them, or "cv" is expected')
        return CANDIDATES
    candidates = tuple(sorted(float(value) for value in np.atleast_1d(C)))
    if not candidates or not all(0 < value < np.inf for value in candidates):
        raise InputError(f'C={C!r}: a positive number, a sequence of them, or "cv" is expected')
    return candidates


def _check(ratios: Sequence[float], repeats: int, seed: int, unlabelled: str, threads: int | None) -> None:
    if not len(ratios) or not all(0 < ratio < 1 for ratio in ratios) or len(set(ratios)) < len(ratios):
        shown = ", ".join(f"{ratio:g}" for ratio in ratios)
        raise InputError(f"ratios={shown}: different numbers above 0 and below 1 are expected, like 0.1, 0.5")
    if repeats < 1:
        raise InputError(f"repeats={repeats}: at least 1 is expected")
    if seed < 0:
        raise InputError(f"seed={seed}: 0 or a positive integer is expected")
    if unlabelled not in ("drop", "keep"):
        raise InputError(f'unlabelled={unlabelled!r}: "drop" or "keep" is expected')
    if threads is not None and threads < 1:
        raise InputError(f"threads={threads}: at least 1 is expected; leave it out to use all processors")


def _named(embedding: NamedVectors | NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(embedding, np.ndarray):
        vectors, names = embedding, np.arange(len(embedding))
    else:
        vectors, names = embedding.vectors, embedding.names
    if vectors.ndim != 2 or vectors.dtype.kind not in "biuf":
        raise InputError(f"vectors: a matrix of numbers is expected, not {vectors.ndim}-d {vectors.dtype}")
    return vectors, names


def make_split(n: int, ratio: float, *, repeat: int, seed: int) -> Split:
    """Divide n rows at random: which of them train, and which are tested.

    Examples
    --------
    >>> split = make_split(4, 0.25, repeat=0, seed=0)
    >>> len(split.train), sorted([*split.train.tolist(), *split.test.tolist()])
    (1, [0, 1, 2, 3])
    """
    size = round(ratio * n)
    if not 0 < size < n:
        raise InputError(f"ratios: {ratio:g} of {n} nodes leaves none to train or none to test with")
    key = (seed, round(ratio * 1e6), repeat)
    shuffled = np.random.default_rng(key).permutation(n)
    return Split(shuffled[:size], shuffled[size:], key)


def _in_parallel(
    job: Callable[[tuple[float, int]], _Outcome],
    splits: Sequence[tuple[float, int]],
    *,
    threads: int | None,
    progress: Watcher | None,
) -> Iterator[_Outcome]:
    """Outcomes in the order of `splits`. Each has one BLAS thread, so that their number changes no bit."""
    stages = Stages(progress)
    workers = min(usable_threads(threads), len(splits))
    with (
        stages.stage("classify", steps=len(splits)),
        one_blas_thread(),
        ThreadPoolExecutor(workers) as pool,
    ):
        try:
            for outcome in pool.map(job, splits):
                yield outcome
                stages.advance()
        except BaseException:  # Ctrl-C too: do not work through the queue before saying so
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _score(
    rows: NDArray[np.float32],
    indicator: Indicator,
    which: tuple[float, int],
    *,
    candidates: tuple[float, ...],
    seed: int,
) -> _Outcome:
    ratio, repeat = which
    train, test, key = make_split(len(rows), ratio, repeat=repeat, seed=seed)
    known = rows[train], indicator[train].toarray()
    C = _choose(*known, candidates=candidates, key=key)
    micro, macro = f1_percent(fit_logistic(*known, C=C), rows[test], indicator[test])
    return _Outcome(len(train), len(test), micro, macro, C)


def _gather(ratio: float, outcomes: Sequence[_Outcome]) -> RatioScores:
    return RatioScores(
        ratio=ratio,
        train_nodes=outcomes[0].train_nodes,
        test_nodes=outcomes[0].test_nodes,
        micro=tuple(outcome.micro for outcome in outcomes),
        macro=tuple(outcome.macro for outcome in outcomes),
        C=tuple(outcome.C for outcome in outcomes),
    )


def _choose(rows: NDArray[np.float32], targets: Bool, *, candidates: tuple[float, ...], key: tuple[int, ...]) -> float:
    """The C of the best mean F1 on held-out parts of the training nodes; the smallest of equals."""
    if len(candidates) == 1:
        return candidates[0]
    if len(rows) < FOLDS:
        raise InputError(f"C: {len(rows)} training nodes are too few to choose C with; give one number")
    fold = np.random.default_rng((*key, FOLDS)).permutation(len(rows)) % FOLDS
    quality = np.zeros(len(candidates))
    for held_out in range(FOLDS):
        test = fold == held_out
        classifiers: Classifiers | None = None
        for place, C in enumerate(candidates):
            classifiers = fit_logistic(rows[~test], targets[~test], C=C, start=classifiers)
            quality[place] += sum(f1_percent(classifiers, rows[test], sp.csr_array(targets[test])))
    return candidates[int(np.argmax(quality))]


def f1_percent(classifiers: Classifiers, rows: NDArray[np.float32], truth: Indicator) -> tuple[float, float]:
    """Micro and Macro F1, in percent, of as many predictions a row as it has true labels.

    Examples
    --------
    The second row is taken for the first class: of two labels one is right, and F1 is 2/3 and 0 by class.

    >>> same = Classifiers(np.eye(2), np.zeros(2))
    >>> rows = np.array([[0.9, 0.1], [0.6, 0.4]], np.float32)
    >>> [round(f1, 1) for f1 in f1_percent(same, rows, sp.csr_array(np.eye(2, dtype=bool)))]
    [50.0, 33.3]
    """
    hits, guesses, true = np.zeros((3, truth.shape[1]), np.int64)
    for lo in range(0, len(rows), BLOCK):
        actual = truth[lo : lo + BLOCK].toarray()
        predicted = top_classes(classifiers.decision(rows[lo : lo + BLOCK]), actual.sum(axis=1))
        hits += (predicted & actual).sum(axis=0)
        guesses += predicted.sum(axis=0)
        true += actual.sum(axis=0)
    each = 2 * hits / np.maximum(guesses + true, 1)
    together = 2 * hits.sum() / max(guesses.sum() + true.sum(), 1)
    return 100 * float(together), 100 * float(each.mean())


def top_classes(scores: NDArray[np.float64], counts: NDArray[Any]) -> Bool:
    """Mark the `counts[i]` classes of highest score in each row i; the first of equals.

    Examples
    --------
    >>> top_classes(np.array([[0.1, 0.7, 0.2], [0.5, 0.5, 0.1]]), np.array([2, 1])).astype(int).tolist()
    [[0, 1, 1], [1, 0, 0]]
    """
    ranking = np.argsort(-scores, axis=1, kind="stable")
    marked = np.arange(scores.shape[1]) < counts[:, None]
    predicted = np.zeros(scores.shape, np.bool_)
    np.put_along_axis(predicted, ranking, marked, axis=1)
    return predicted
