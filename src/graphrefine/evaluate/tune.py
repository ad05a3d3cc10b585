"""The search: the default first, then stage by stage, round by round, until nothing is gained or time is up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.evaluate.tune_candidates import stages
from graphrefine.evaluate.tune_clock import Clock, seconds_of
from graphrefine.evaluate.tune_judges import Judge, LabelJudge, Penalty, Train, label_judge, link_judge
from graphrefine.evaluate.tune_results import Trial, Tuning, changes
from graphrefine.evaluate.tune_trials import Bench
from graphrefine.graph.graph import Graph
from graphrefine.linalg.small import one_blas_thread
from graphrefine.methods.registry import find
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import as_labels
from graphrefine.refine.method_settings import check_integer, check_number
from graphrefine.refine.refine import Settings, settings
from graphrefine.system.threads import usable_threads

Scores = tuple[float, ...]


def tune(
    graph: Any,
    labels: Any = None,
    *,
    task: Literal["labels", "links"] | None = None,
    budget: float | str = 60,
    train: Train = None,
    split_seed: int = 0,
    C: Penalty = 1.0,
    dims: Sequence[int] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Watcher | None = None,
) -> Tuning:
    """Find good settings of REFINE for a graph, by trying them.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes, undirected. (Source and target vectors have no settings to search.)
    labels : path, Labels, or array-like, optional
        See `graphrefine.evaluate.as_labels`. Settings are judged by Micro F1 in cross-validation.
    task : {"labels", "links"}, optional
        By default labels if there are any, else links: a tenth of the edges is held out, and settings are judged by how
        well the vectors of the rest tell them from pairs without an edge.
    budget : float or str
        Seconds, or text like "60s" or "2min"; reading a file is not counted.
    train : float or collection of node names, optional
        The training nodes, whose labels alone are looked at: names, or the part of the nodes that
        `graphrefine.evaluate.evaluate_labels` trains with in the first split of this ratio and seed `split_seed`. By
        default all that have labels.
    split_seed : int
        Of that split.
    C : float or "cv"
        Of the logistic regression, for all trials alike; "cv": of the usual ones the best for the default settings.
    dims : sequence of int, optional
        Lengths of the vectors to try, the first being that of the default; 128 alone if not given.
    seed : int
        Of the vectors, the folds and the held-out edges.
    threads : int, optional
        All that the process may run on if not given. The scores do not depend on it.
    progress : Watcher, optional
        Told of the stages of the search, with a step for each trial.

    Returns
    -------
    Tuning
        The best settings, their score beside the default's, and the trail. With one seed the trail is the same; only
        where it ends depends on how much fits into the budget.

    Examples
    --------
    >>> cliques = [(i, j) for i in range(40) for j in range(i) if i // 10 == j // 10 or i == j + 1]
    >>> found = tune(cliques, labels=[i // 10 for i in range(40)], dims=[4])
    >>> found.trail[0].name, found.score >= found.default_score
    ('default', True)
    """
    from graphrefine.readers.read import read

    allowed = seconds_of(budget)
    for name, value in (("seed", seed), ("split_seed", split_seed)):
        check_integer(name, value, least=0)
    found = read(graph)
    if found.directed or found.sources is not None:
        raise InputError(
            f"{found.source} was read as {'directed' if found.directed else 'bipartite'}, and the source and target "
            "vectors of such graphs have no settings to choose between; read it as undirected, or embed it as it is"
        )
    threads = usable_threads(threads)
    lengths = [min(Settings().dim, found.nodes)] if dims is None else list(dims)
    if not lengths or len(set(lengths)) < len(lengths):
        raise InputError(f"dims={dims!r} must be different numbers, like 64, 128")
    for length in lengths:
        find("refine").check(found, settings(dim=length, seed=seed))
    clock = Clock(allowed)
    judge = _judge(found, labels, task, train=train, split_seed=split_seed, C=C, seed=seed)
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        search = _Search(judge, clock, pool, Bench(judge.graph, threads=threads), Stages(progress))
        search.begin(settings(dim=lengths[0], seed=seed))
        complete = search.go_on(lengths)
    return Tuning(
        best=search.leader.settings,
        score=search.leader.score,
        default_score=search.trail[0].score,
        trail=tuple(search.trail),
        complete=complete,
        measure=judge.measure,
        protocol=search.judge.protocol,
        budget=allowed,
        seconds=clock.spent,
    )


def _judge(
    graph: Graph, labels: Any, task: str | None, *, train: Train, split_seed: int, C: Penalty, seed: int
) -> Judge:
    if task not in (None, "labels", "links"):
        raise InputError(f'task={task!r} is not known; the tasks are "labels" and "links"')
    if (task or ("links" if labels is None else "labels")) == "labels":
        if labels is None:
            raise InputError("task='labels' needs labels; give them, or tune by links")
        if C != "cv":
            check_number("C", C, above=0)
        return label_judge(graph, as_labels(labels), train=train, split_seed=split_seed, C=C, seed=seed)
    if labels is not None:
        raise InputError("task='links' looks at no labels, and labels are given; leave one of the two out")
    if train is not None:
        raise InputError(f"train={train!r} is about labels, and there are none; leave it out, or give labels")
    return link_judge(graph, seed=seed)


class _Search:
    """What has been tried, and what leads."""

    def __init__(self, judge: Judge, clock: Clock, pool: ThreadPoolExecutor, bench: Bench, told: Stages) -> None:
        self.judge, self.clock, self.pool, self.bench, self.told = judge, clock, pool, bench, told
        self.trail: list[Trial] = []
        self.leader: Trial

    def begin(self, default: Settings) -> None:
        """Try the default; it leads until something is better."""
        with self.told.stage("default"):
            start = perf_counter()
            vectors = self.bench.vectors(default)
            if isinstance(self.judge, LabelJudge):
                self.judge = self.judge.with_penalty(vectors)
            scores, _ = self._judged(vectors)
        took = perf_counter() - start
        if self.clock.spent > self.clock.budget:
            raise InputError(
                f"budget={self.clock.budget:g}s is too small: one trial takes {took:.2g} s on "
                f"{self.judge.graph.source}; give at least {_rounded(10 * took)}s, for a few trials"
            )
        self.clock.learn("range", took)
        self.leader = Trial(default, {}, scores, stopped=False, leads=True, seconds=took)
        self.trail.append(self.leader)

    def go_on(self, dims: Sequence[int]) -> bool:
        """Try all else, again as long as it helps; whether that came to an end before the budget did."""
        plan, tried = stages(self.judge.graph, dims), {self.leader.settings}
        gained = True
        while gained:
            before = self.leader
            for stage in plan:
                with self.told.stage(stage.name, steps=len(stage.changes)):
                    for chosen in stage.settings(self.leader.settings):
                        self.told.advance()
                        if chosen in tried:
                            continue
                        if not self.clock.allows(self.bench.kind(chosen)):
                            return False
                        tried.add(chosen)
                        self._try(chosen)
            gained = self.leader is not before
        return True

    def _try(self, chosen: Settings) -> None:
        start, kind = perf_counter(), self.bench.kind(chosen)
        scores, stopped = self._judged(self.bench.vectors(chosen), self.leader.scores)
        leads = not stopped and clearly_better(scores, self.leader.scores, self.judge.least(self.leader.score))
        took = perf_counter() - start
        self.clock.learn(kind, took)
        default = self.trail[0].settings
        trial = Trial(chosen, changes(chosen, default), scores, stopped=stopped, leads=leads, seconds=took)
        self.trail.append(trial)
        if leads:
            self.leader = trial

    def _judged(self, vectors: NDArray[np.float32], best: Scores = ()) -> tuple[Scores, bool]:
        """The scores of vectors, rung by rung, and whether they were given up before the last."""
        known, scores = self.judge.known(vectors), list[float]()
        for place, rung in enumerate(self.judge.rungs):
            scores += self.pool.map(partial(self.judge.score, known), rung)
            last = place == len(self.judge.rungs) - 1
            if best and not last and self._hopeless(scores, best[: len(scores)]):
                return tuple(scores), True
        return tuple(scores), False

    def _hopeless(self, scores: Sequence[float], best: Scores) -> bool:
        leading = float(np.mean(best))
        return leading - float(np.mean(scores)) > self.judge.noise(leading) / math.sqrt(len(scores))


def clearly_better(scores: Sequence[float], best: Sequence[float], least: float = 0.0) -> bool:
    """Whether scores on the same splits are higher by more than the standard error of the differences.

    Examples
    --------
    >>> clearly_better([51, 52, 51], [50, 50, 50]), clearly_better([58, 46, 50], [50, 50, 50])
    (True, False)
    """
    gains = np.subtract(scores, best)
    error = float(gains.std(ddof=1)) / math.sqrt(len(gains))
    return float(gains.mean()) > max(error, least)


def _rounded(seconds: float) -> str:
    return f"{np.ceil(seconds):.0f}" if seconds >= 1 else f"{seconds:.1g}"
