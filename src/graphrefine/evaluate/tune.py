"""`tune`: a search for settings of REFINE, stage by stage, until nothing is gained or the budget is spent.

**Candidates.** The default comes first; all others are REFINE alone (``quality="fast"``), whose settings are searched.
A stage is a list of changes to the leading settings; the best of a stage leads in the next. Filters share the range of
M, and the extent of smoothing differs most from graph to graph: they come first. Then centering and the axes, which
share it too, then M itself. The length of the vectors is searched only on request: longer is nearly always better, and
the choice is one of cost.

**Vectors.** The range of M, most of the work, depends on some of the settings only (`RANGE`): trials that differ in the
filter or in a later step smooth the same range again. They also share the graph as the engine orders it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from os import PathLike
from time import perf_counter
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.table import Table, table_of
from graphrefine.embedding.embedding import Embedding
from graphrefine.engine.engine import Engine
from graphrefine.engine.local import LocalTall
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
from graphrefine.evaluate.results import Result
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import Resources
from graphrefine.methods.registry import find_method
from graphrefine.pipeline.embed_run import embed_graph
from graphrefine.pipeline.settings import write_config
from graphrefine.progress import Stages, Watcher
from graphrefine.readers.labels import as_labels
from graphrefine.readers.options import GraphKeywords, list_options
from graphrefine.readers.read import read
from graphrefine.refine.filters import FAR, MOST
from graphrefine.refine.refine import find_range, smooth
from graphrefine.refine.settings import RefineSettings, refine_settings
from graphrefine.system import as_plain
from graphrefine.system.checks import check_integer, check_number
from graphrefine.system.threads import map_tasks, one_blas_thread, usable_threads

# Settings that an engine is made for, and those that the range of M depends on: trials that agree in them share it. A
# setting that is missing here would give trials the vectors of an earlier one.
ENGINE = ("dim", "bfloat16")
RANGE = (*ENGINE, "seed", "block", "power", "negative", "exponent", "log_weights", "two_sided", "spectrum")
UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}  # seconds

Changes = dict[str, Any]
Scores = tuple[float, ...]


@dataclass(frozen=True)
class Trial:
    """Settings that were tried, in a `Tuning`."""

    settings: RefineSettings
    changes: dict[str, Any]  # settings that differ from the default
    scores: tuple[float, ...]  # one for each split; fewer for a trial that was given up
    stopped: bool  # given up as hopeless before the last splits
    leads: bool  # clearly better than all before it
    seconds: float  # to make the vectors and to judge them

    @property
    def score(self) -> float:
        """Mean over the splits."""
        return float(np.mean(self.scores))

    @property
    def name(self) -> str:
        """Changes as text."""
        return " ".join(f"{name}={_text(value)}" for name, value in self.changes.items()) or "default"


@dataclass(frozen=True)
class Tuning(Result):
    """Result of `graphrefine.tune`: the best settings, and the trail that led there.

    Attributes
    ----------
    best : RefineSettings
        The best settings, for `embed`; `save` writes them for ``graphrefine embed --config``.
    score, default_score : float
        Scores of the best settings and of the default, in the `measure`; both on the training part.
    trail : tuple of Trial
        All trials in their order; the first is the default.
    complete : bool
        True if the search ended by itself, False if the budget ended it.
    measure, protocol : str
        Name of the score, and the way it is measured.
    budget, seconds : float
        Time allowed and time spent.
    """

    best: RefineSettings
    score: float
    default_score: float
    trail: tuple[Trial, ...]
    complete: bool
    measure: str
    protocol: str
    budget: float
    seconds: float
    title: ClassVar[str] = "Settings tried"
    left_columns: ClassVar[tuple[str, ...]] = ("settings", "")

    @property
    def changes(self) -> dict[str, Any]:
        """Best settings that differ from the default."""
        return find_changes(self.best, self.trail[0].settings)

    def embed(self, graph: Graph, *, threads: int | None = None) -> Embedding:
        """Embed a graph by the best settings."""
        return embed_graph(graph, self.best, threads=threads)[0]

    def save(self, path: str | PathLike[str]) -> None:
        """Write the best settings, for ``graphrefine embed --config``."""
        write_config(path, "refine", self.best)

    def table(self) -> Table:
        """Return a row for each trial: settings, score, gain over the default on the same splits, time, outcome."""
        rows = [
            {"trial": number, "settings": trial.name, "score": trial.score, "gain": self._gain(trial),
             "splits": len(trial.scores), "seconds": trial.seconds, "outcome": self._outcome(trial)}
            for number, trial in enumerate(self.trail, 1)
        ]  # fmt: skip
        return table_of(rows, {"measure": self.measure, "score": self.score, "default_score": self.default_score})

    def text_rows(self) -> list[tuple[str, ...]]:
        """Return the trail as rows of text, the column titles first."""
        rows: list[tuple[str, ...]] = [("trial", "settings", self.measure, "gain", "splits", "time", "")]
        digits = 2 if self.default_score > 1 else 4
        for number, trial in enumerate(self.trail, 1):
            score = "" if trial.stopped else f"{trial.score:.{digits}f}"  # a mean of fewer splits is no match
            gain = f"{self._gain(trial):+.{digits}f}" if trial.changes else ""
            cells = (str(number), trial.name, score, gain, str(len(trial.scores)))
            rows.append((*cells, f"{trial.seconds:.2f} s", self._outcome(trial)))
        return rows

    def notes(self) -> list[str]:
        """Return lines that explain the table in a notebook."""
        digits = 2 if self.default_score > 1 else 4
        best = next(trial.name for trial in self.trail if trial.settings == self.best)
        scores = f"{self.score:.{digits}f} by {best}; {self.default_score:.{digits}f} by the default"
        return [f"{self.measure}: {scores}", self.protocol]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, for JSON."""
        trail = [
            {"changes": trial.changes, "score": trial.score, "scores": list(trial.scores),
             "stopped": trial.stopped, "leads": trial.leads, "seconds": trial.seconds}
            for trial in self.trail
        ]  # fmt: skip
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("best", "trail")}
        return {"best": asdict(self.best), "changes": self.changes, **plain, "trail": trail}

    def _gain(self, trial: Trial) -> float:
        return trial.score - float(np.mean(self.trail[0].scores[: len(trial.scores)]))

    def _outcome(self, trial: Trial) -> str:
        return "best" if trial.settings == self.best else "given up" if trial.stopped else ""


def find_changes(settings: RefineSettings, default: RefineSettings) -> dict[str, Any]:
    """Return the settings that differ from a default."""
    before = asdict(default)
    return {name: value for name, value in asdict(settings).items() if value != before[name]}


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return ",".join(f"{part:g}" for part in value) if isinstance(value, tuple) else str(value)


@list_options
def tune(
    graph: Any,
    labels: Any = None,
    *,
    budget: float | str = 60,
    train: TrainingNodes = None,
    split_seed: int = 0,
    C: Penalty = 1.0,
    dims: Sequence[int] | None = None,
    seed: int = 0,
    threads: int | None = None,
    watcher: Watcher | None = None,
    **reading: Unpack[GraphKeywords],
) -> Tuning:
    """Search for good settings of REFINE for a graph, by trials.

    Parameters
    ----------
    graph
        Anything that `graphrefine.read` takes, undirected. (Source and target vectors have no settings to search.)
    labels : optional
        Anything that `graphrefine.evaluate.as_labels` takes, or the name of an attribute of the graph's nodes. Settings
        are judged by Micro F1 in cross-validation. Without labels a tenth of the edges is held out, and settings are
        judged by the AUC of these edges against pairs without an edge, by the vectors of the rest.
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
    watcher : Watcher, optional
        Watcher of the stages of the search, with a step for each trial.
    reading
        Options of `graphrefine.read`, such as ``weights`` or ``header``.

    Returns
    -------
    Tuning
        The best settings, their score and that of the default, and the trail. With one seed the trail is the same;
        only its end depends on the time that the budget allows.

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
            f"{graph.source} was read as {'directed' if graph.directed else 'bipartite'}: source and target vectors "
            "have no settings to choose between; read it with directed=False",
            argument="directed",
        )
    threads = usable_threads(threads)
    wanted = [min(RefineSettings().dim, graph.nodes)] if dims is None else dims
    lengths = [check_integer("dims", dim, least=1) for dim in wanted]
    if not lengths or len(set(lengths)) < len(lengths):
        raise InputError(f"dims={dims!r} must be different numbers, like 64, 128", argument="dims")
    for length in lengths:
        find_method("refine").check(graph, refine_settings(dim=length, seed=seed))
    start = perf_counter()
    judge: Judge
    if labels is None:
        if train is not None:
            raise InputError(f"train={train!r} is about labels, and no labels are given", argument="train")
        judge = make_link_judge(graph, seed=seed)
    else:
        if C != "cv":
            check_number("C", C, above=0)
        node_labels = as_labels(labels, names=graph.names, graph=graph)
        judge = make_label_judge(graph, node_labels, train=train, split_seed=split_seed, C=C, seed=seed)
    vectors = TrialVectors(judge.graph if isinstance(judge, LinkJudge) else graph, threads=threads)
    with one_blas_thread():
        search = _Search(judge, vectors, deadline=start + budget, threads=threads, progress=Stages(watcher))
        search.begin(refine_settings(dim=lengths[0], seed=seed), budget)
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
        seconds=perf_counter() - start,
    )


class _Search:
    """The trials so far, and the leader among them."""

    def __init__(self, judge: Judge, vectors: TrialVectors, *, deadline: float, threads: int, progress: Stages) -> None:
        self.judge, self.vectors, self.deadline = judge, vectors, deadline
        self.threads, self.progress = threads, progress
        self.trail: list[Trial] = []
        self.leader: Trial

    def has_time(self) -> bool:
        """Return whether another trial fits into the budget."""
        # By the longest trial so far. The default joins several views and takes the longest by far, so it counts only
        # until there is another trial: all others are of one view.
        longest = max(trial.seconds for trial in self.trail[1:] or self.trail)
        return perf_counter() + longest <= self.deadline

    def begin(self, default: RefineSettings, budget: float) -> None:
        """Try the default; it leads until a trial is better."""
        with self.progress.stage("default"):
            start = perf_counter()
            vectors = self.vectors.make(default)
            if isinstance(self.judge, LabelJudge):
                self.judge = self.judge.fix_penalty(vectors)
            scores, _ = self._score(vectors)
        seconds = perf_counter() - start
        if perf_counter() > self.deadline:
            raise InputError(
                f"budget={budget:g}s is too small: one trial takes {seconds:.2g} s on {self.vectors.graph.source}",
                argument="budget",
            )
        self.leader = Trial(default, {}, scores, stopped=False, leads=True, seconds=seconds)
        self.trail.append(self.leader)

    def go_on(self, dims: Sequence[int]) -> bool:
        """Try all candidates, again as long as there are gains; False if the budget ended first."""
        plan, tried = plan_stages(self.vectors.graph, dims), {self.leader.settings}
        gained = True
        while gained:
            before = self.leader
            for name, stage in plan.items():
                # All changes of a stage start from the settings that led when it began, so that their scores compare
                # with one another, whichever of them leads on the way.
                leading = self.leader.settings
                with self.progress.stage(name, steps=len(stage)):
                    for changes in stage:
                        candidate = replace(leading, **changes)
                        self.progress.advance()
                        if candidate in tried:
                            continue
                        if not self.has_time():
                            return False
                        tried.add(candidate)
                        self._try(candidate)
            gained = self.leader is not before
        return True

    def _try(self, settings: RefineSettings) -> None:
        start = perf_counter()
        scores, stopped = self._score(self.vectors.make(settings), self.leader.scores)
        leads = not stopped and is_clearly_better(scores, self.leader.scores, self.judge.least_gain(self.leader.score))
        seconds = perf_counter() - start
        default = self.trail[0].settings
        trial = Trial(settings, find_changes(settings, default), scores, stopped=stopped, leads=leads, seconds=seconds)
        self.trail.append(trial)
        if leads:
            self.leader = trial

    def _score(self, vectors: NDArray[np.float32], best: Scores = ()) -> tuple[Scores, bool]:
        """Score vectors, round by round; True if they were given up before the last round."""
        prepared: Any = self.judge.prepare(vectors)
        scores: list[float] = []
        *first, last = self.judge.rounds
        for splits in first:
            scores += map_tasks(splits, partial(self.judge.score, prepared), self.threads)
            # One standard error behind on the same splits: such a trial hardly ever leads in the end, and most trials
            # end here, after one split of five.
            leading = float(np.mean(best[: len(scores)])) if best else 0.0
            if leading - float(np.mean(scores)) > self.judge.noise(leading) / math.sqrt(len(scores)):
                return tuple(scores), True
        scores += map_tasks(last, partial(self.judge.score, prepared), self.threads)
        return tuple(scores), False


def is_clearly_better(scores: Sequence[float], best: Sequence[float], least: float = 0.0) -> bool:
    """Return True if scores on the same splits are higher by more than the standard error of the differences."""
    gains = np.subtract(scores, best)
    error = float(gains.std(ddof=1)) / math.sqrt(len(gains))
    return float(gains.mean()) > max(error, least)


def plan_stages(graph: Graph, dims: Sequence[int]) -> dict[str, list[Changes]]:
    """Plan the stages of the search on a graph: by name, the changes of which at most one is adopted."""
    values: dict[str, Sequence[Any]] = {
        "center": (False,),
        "axes": (0.2, 0.35, 0.5, 0.75),
        "spectrum": (0.25, 0.75, 1.0),
        "negative": (1.0, 5.0, 10.0),
        "exponent": (0.75, 1.0),
    }
    if graph.weighted:
        values["log_weights"] = (True, False)
    plan: dict[str, list[Changes]] = {"quality": [{}], "filter": list_filters(graph)}
    plan |= {name: [{name: value} for value in some] for name, some in values.items()}
    plan = {name: [{"quality": "fast", **changes} for changes in stage] for name, stage in plan.items()}
    # The length comes last, and keeps the quality that leads: vectors of all lengths may join several views.
    return plan | ({"dim": [{"dim": dim} for dim in dims]} if len(dims) > 1 else {})


def list_filters(graph: Graph) -> list[Changes]:
    """List filters: near and far together with other far steps and weights; near alone; the usual kernels."""
    # The far steps that "reach" takes by itself on a graph of this mean degree; a quarter and four times as many.
    usual = FAR * (graph.nodes - graph.isolated) / max(graph.entries, 1)
    less, more = (float(f"{min(times * usual, MOST['reach']):.3g}") for times in (0.25, 4))
    filters: list[tuple[str | tuple[float, ...], int | None, float | None]] = [
        ("reach", 15, None),
        ("reach", 5, None),
        ("reach", None, more),
        ("reach", None, less),
        ("reach", 15, more),
        ("reach", 15, less),
        ("reach", 5, more),
        ("reach", 25, more),
        ("reach", 3, None),
        ((0.0, 1.0), None, None),
        ((0.0, 1.0, 1.0), None, None),
        ("heat", 12, 4.0),
        ("heat", 20, 8.0),
        ("taylor", None, None),
    ]
    return [{"filter": name, "order": order, "scale": scale} for name, order, scale in filters]


class TrialVectors:
    """Vectors of a graph by any settings, to the bit those of `graphrefine.embed`."""

    def __init__(self, graph: Graph, *, threads: int) -> None:
        self.graph, self.threads = graph, threads
        self._engine: Engine[LocalTall] | None = None
        self._engine_key: tuple[object, ...] = ()
        self._range: LocalTall | None = None
        self._range_key: tuple[object, ...] = ()

    def make(self, settings: RefineSettings) -> NDArray[np.float32]:
        """Make vectors by these settings.  # (n, k)."""
        run = Resources(self.threads, Stages())
        if settings.quality == "fast":
            vectors = self._smooth_range(settings, run)
        else:
            vectors = find_method("refine").fit(self.graph, settings, run)
        vectors[self.graph.without_edges()] = 0.0
        return vectors

    def _smooth_range(self, settings: RefineSettings, run: Resources) -> NDArray[np.float32]:
        """Make vectors by REFINE alone, of the range of M that is kept where it is that of these settings."""
        engine_key = tuple(getattr(settings, name) for name in ENGINE)
        if self._engine is None or engine_key != self._engine_key:
            self._range, self._range_key, self._engine_key = None, (), engine_key
            self._engine = run.engine(self.graph, columns=settings.dim, bfloat16=settings.bfloat16)
        # Without a filter the range is stored in another precision.
        range_key = (*(getattr(settings, name) for name in RANGE), settings.filter == "none")
        if self._range is None or range_key != self._range_key:
            self._range = None  # its memory is used for the new one
            self._range = find_range(self._engine, self.graph, settings, run.stages, threads=self.threads)
            self._range_key = range_key
        return smooth(self._engine, self.graph, settings, self._range, run.stages, keep=True)


def parse_seconds(budget: Any) -> float:
    """Parse seconds from a number, or from a number with a unit: s, m, min or h."""
    budget = as_plain(budget)
    if not isinstance(budget, str):
        check_number("budget", budget, above=0)
        return float(budget)
    written = re.fullmatch(r"(\d*\.?\d+)\s*(s|m|min|h|)", budget.strip().lower())
    seconds = float(written[1]) * UNITS[written[2]] if written else 0.0
    if seconds <= 0:
        raise InputError(f"budget={budget!r} is not a time above 0, as in 60s, 2min or 1.5h", argument="budget")
    return seconds
