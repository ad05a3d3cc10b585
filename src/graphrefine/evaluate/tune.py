"""`tune`: a search for settings of REFINE, stage by stage, until nothing is gained or the budget is spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from time import perf_counter
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.evaluate.judges import (
    Judge,
    LabelJudge,
    LinkJudge,
    Penalty,
    TrainingNodes,
    make_label_judge,
    make_link_judge,
)
from graphrefine.evaluate.tune_results import Trial, Tuning, find_changes
from graphrefine.evaluate.tune_trials import Clock, TrialVectors, parse_seconds, plan_stages
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import find_method
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import as_labels
from graphrefine.readers.options import GraphKeywords, list_options
from graphrefine.readers.read import read
from graphrefine.refine.settings import RefineSettings, refine_settings
from graphrefine.system.checks import check_choice, check_integer, check_number
from graphrefine.system.threads import one_blas_thread, thread_pool, usable_threads

Scores = tuple[float, ...]


@list_options
def tune(
    graph: Any,
    labels: Any = None,
    *,
    task: Literal["labels", "links"] | None = None,
    budget: float | str = 60,
    train: TrainingNodes = None,
    split_seed: int = 0,
    C: Penalty = 1.0,
    dims: Sequence[int] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Watcher | None = None,
    **reading: Unpack[GraphKeywords],
) -> Tuning:
    """Search for good settings of REFINE for a graph, by trials.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes, undirected. (Source and target vectors have no settings to search.)
    labels : optional
        Anything that `graphrefine.evaluate.as_labels` takes, or the name of an attribute of the graph's nodes. Settings
        are judged by Micro F1 in cross-validation.
    task : {"labels", "links"}, optional
        By default labels if there are any, else links: a tenth of the edges is held out, and settings are judged by the
        AUC of these edges against pairs without an edge, by the vectors of the rest.
    budget : float or str
        Seconds, or text like "60s" or "2min"; reading a file is not counted.
    train : float or collection of node names, optional
        The training nodes, the only ones whose labels are read: names, or the part of the nodes that
        `graphrefine.evaluate.evaluate_labels` trains with in the first split of this ratio and seed `split_seed`. By
        default all nodes with labels.
    split_seed : int
        Seed of that split.
    C : float or "cv"
        Weight of the data in the logistic regression, for all trials alike; "cv": the best for the default settings.
    dims : sequence of int, optional
        Lengths of the vectors to try, the first being that of the default; 128 alone if not given.
    seed : int
        Seed of the vectors, the folds and the held-out edges.
    threads : int, optional
        All processors of the process if not given. The scores do not depend on it.
    progress : Watcher, optional
        Watcher of the stages of the search, with a step for each trial.
    reading
        Options of `graphrefine.read`, such as ``weights`` or ``header``.

    Returns
    -------
    Tuning
        The best settings, their score beside the default's, and the trail. With one seed the trail is the same; only
        its end depends on the time that the budget allows.

    Examples
    --------
    >>> cliques = [(i, j) for i in range(40) for j in range(i) if i // 10 == j // 10 or i == j + 1]
    >>> tuning = tune(cliques, labels=[i // 10 for i in range(40)], dims=[4])
    >>> tuning.trail[0].name, tuning.score >= tuning.default_score
    ('default', True)
    """
    budget = parse_seconds(budget)
    seed, split_seed = (check_integer(*each, least=0) for each in (("seed", seed), ("split_seed", split_seed)))
    graph = read(graph, threads=threads, **reading)
    if graph.directed or graph.sources is not None:
        raise InputError(
            f"{graph.source} was read as {'directed' if graph.directed else 'bipartite'}, and the source and target "
            "vectors of such graphs have no settings to choose between; read it with directed=False, or embed it as it "
            "is",
            argument="directed",
        )
    threads = usable_threads(threads)
    lengths = (
        [min(RefineSettings().dim, graph.nodes)]
        if dims is None
        else [check_integer("dims", dim, least=1) for dim in dims]
    )
    if not lengths or len(set(lengths)) < len(lengths):
        raise InputError(f"dims={dims!r} must be different numbers, like 64, 128", argument="dims")
    for length in lengths:
        find_method("refine").check(graph, refine_settings(dim=length, seed=seed))
    clock = Clock(budget)
    judge = _make_judge(graph, labels, task, train=train, split_seed=split_seed, C=C, seed=seed)
    vectors = TrialVectors(judge.graph if isinstance(judge, LinkJudge) else graph, threads=threads)
    with one_blas_thread(), thread_pool(threads) as pool:
        search = _Search(judge, clock, pool, vectors, Stages(progress))
        search.begin(refine_settings(dim=lengths[0], seed=seed))
        complete = search.go_on(lengths)
    return Tuning(
        best=search.leader.settings,
        score=search.leader.score,
        default_score=search.trail[0].score,
        trail=tuple(search.trail),
        complete=complete,
        measure=judge.measure,
        protocol=search.judge.protocol,
        budget=budget,
        seconds=clock.spent,
    )


def _make_judge(
    graph: Graph, labels: Any, task: str | None, *, train: TrainingNodes, split_seed: int, C: Penalty, seed: int
) -> Judge:
    check_choice("task", task, [None, "labels", "links"])
    if (task or ("links" if labels is None else "labels")) == "labels":
        if labels is None:
            raise InputError("task='labels' needs labels; give them, or tune by links", argument="task")
        if C != "cv":
            check_number("C", C, above=0)
        node_labels = as_labels(labels, names=graph.names, graph=graph)
        return make_label_judge(graph, node_labels, train=train, split_seed=split_seed, C=C, seed=seed)
    if labels is not None:
        raise InputError(
            "task='links' looks at no labels, and labels are given; leave one of the two out", argument="task"
        )
    if train is not None:
        raise InputError(
            f"train={train!r} is about labels, and there are none; leave it out, or give labels", argument="train"
        )
    return make_link_judge(graph, seed=seed)


class _Search:
    """The trials so far, and the leader among them."""

    def __init__(self, judge: Judge, clock: Clock, pool: Executor, vectors: TrialVectors, progress: Stages) -> None:
        self.judge, self.clock, self.pool, self.vectors, self.progress = judge, clock, pool, vectors, progress
        self.trail: list[Trial] = []
        self.leader: Trial

    def begin(self, default: RefineSettings) -> None:
        """Try the default; it leads until a trial is better."""
        with self.progress.stage("default"):
            start = perf_counter()
            vectors = self.vectors.make(default)
            if isinstance(self.judge, LabelJudge):
                self.judge = self.judge.fix_penalty(vectors)
            scores, _ = self._score(vectors)
        seconds = perf_counter() - start
        if self.clock.spent > self.clock.budget:
            raise InputError(
                f"budget={self.clock.budget:g}s is too small: one trial takes {seconds:.2g} s on "
                f"{self.vectors.graph.source}; give at least {_round(10 * seconds)}s, for a few trials",
                argument="budget",
            )
        self.clock.record("range", seconds)
        self.leader = Trial(default, {}, scores, stopped=False, leads=True, seconds=seconds)
        self.trail.append(self.leader)

    def go_on(self, dims: Sequence[int]) -> bool:
        """Try all candidates, again as long as there are gains; False if the budget ended first."""
        plan, tried = plan_stages(self.vectors.graph, dims), {self.leader.settings}
        gained = True
        while gained:
            before = self.leader
            for stage in plan:
                with self.progress.stage(stage.name, steps=len(stage.changes)):
                    for candidate in stage.settings(self.leader.settings):
                        self.progress.advance()
                        if candidate in tried:
                            continue
                        if not self.clock.allows(self.vectors.kind(candidate)):
                            return False
                        tried.add(candidate)
                        self._try(candidate)
            gained = self.leader is not before
        return True

    def _try(self, settings: RefineSettings) -> None:
        start, kind = perf_counter(), self.vectors.kind(settings)
        scores, stopped = self._score(self.vectors.make(settings), self.leader.scores)
        leads = not stopped and is_clearly_better(scores, self.leader.scores, self.judge.least_gain(self.leader.score))
        seconds = perf_counter() - start
        self.clock.record(kind, seconds)
        default = self.trail[0].settings
        trial = Trial(settings, find_changes(settings, default), scores, stopped=stopped, leads=leads, seconds=seconds)
        self.trail.append(trial)
        if leads:
            self.leader = trial

    def _score(self, vectors: NDArray[np.float32], best: Scores = ()) -> tuple[Scores, bool]:
        """The scores of vectors, round by round; True if they were given up before the last round."""
        prepared: Any = self.judge.prepare(vectors)
        scores: list[float] = []
        for place, splits in enumerate(self.judge.rounds):
            scores += self.pool.map(partial(self.judge.score, prepared), splits)
            last = place == len(self.judge.rounds) - 1
            if best and not last and self._is_hopeless(scores, best[: len(scores)]):
                return tuple(scores), True
        return tuple(scores), False

    def _is_hopeless(self, scores: Sequence[float], best: Scores) -> bool:
        leading = float(np.mean(best))
        return leading - float(np.mean(scores)) > self.judge.noise(leading) / math.sqrt(len(scores))


def is_clearly_better(scores: Sequence[float], best: Sequence[float], least: float = 0.0) -> bool:
    """True if scores on the same splits are higher by more than the standard error of the differences.

    Examples
    --------
    >>> is_clearly_better([51, 52, 51], [50, 50, 50]), is_clearly_better([58, 46, 50], [50, 50, 50])
    (True, False)
    """
    gains = np.subtract(scores, best)
    error = float(gains.std(ddof=1)) / math.sqrt(len(gains))
    return float(gains.mean()) > max(error, least)


def _round(seconds: float) -> str:
    return f"{np.ceil(seconds):.0f}" if seconds >= 1 else f"{seconds:.1g}"
