"""Trials of a search: candidates in their order, their vectors, and the time that they may take.

**Candidates.** The default comes first; all others are REFINE alone (``quality="fast"``), whose settings are searched.
Those of least cost and most effect come first. A stage is a list of changes to the leading settings;
the best of a stage leads in the next. Filters share the range of M, and the extent of smoothing differs most from graph
to graph: they come first. Then centring and the axes, which share it too, then M itself. The length of the vectors is
searched only on request: longer is nearly always better, and the choice is one of cost.

**Vectors.** The range of M, most of the work, depends on some of the settings only (`RANGE`): trials that differ in the
filter or in a later step smooth the same range again. They also share the graph as the engine orders it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine
from graphrefine.engine.local import LocalTall
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import Resources
from graphrefine.methods.registry import find_method
from graphrefine.progress import Stages
from graphrefine.refine.filters import FAR, MOST
from graphrefine.refine.refine import find_range, smooth
from graphrefine.refine.settings import RefineSettings
from graphrefine.system import as_plain

ENGINE = ("dim", "bfloat16")
RANGE = (*ENGINE, "seed", "block", "power", "negative", "exponent", "log_weights", "two_sided", "spectrum")
UNITS = {"h": 3600, "hour": 3600, "m": 60, "min": 60, "s": 1, "sec": 1, "": 1}
PART = r"(\d+(?:\.\d*)?|\.\d+)\s*(hours?|h|mins?|m|secs?|s|)"

Changes = dict[str, Any]


class Stage(NamedTuple):
    """Changes of which at most one is adopted."""

    name: str
    changes: tuple[Changes, ...]

    def settings(self, leader: RefineSettings) -> Iterator[RefineSettings]:
        """The leading settings, with each of the changes."""
        return (replace(leader, **changes) for changes in self.changes)


def plan_stages(graph: Graph, dims: Sequence[int]) -> tuple[Stage, ...]:
    """Stages of the search on a graph.

    Examples
    --------
    >>> [stage.name for stage in plan_stages(Graph.from_edges([0, 1], [1, 2]), dims=[128])]
    ['quality', 'filter', 'center', 'axes', 'spectrum', 'negative', 'exponent']
    """
    plan = [
        Stage("quality", ({},)),
        Stage("filter", list_filters(graph)),
        Stage("center", _vary("center", (False,))),
        Stage("axes", _vary("axes", (0.2, 0.35, 0.5, 0.75))),
        Stage("spectrum", _vary("spectrum", (0.25, 0.75, 1.0))),
        Stage("negative", _vary("negative", (1.0, 5.0, 10.0))),
        Stage("exponent", _vary("exponent", (0.75, 1.0))),
    ]
    if graph.weighted:
        plan.append(Stage("weights", _vary("log_weights", (True, False))))
    plan = [Stage(stage.name, tuple({"quality": "fast", **each} for each in stage.changes)) for stage in plan]
    if len(dims) > 1:
        plan.append(Stage("dim", _vary("dim", dims)))
    return tuple(plan)


def list_filters(graph: Graph) -> tuple[Changes, ...]:
    """Near and far together, with other far steps and other weights of them; then near alone, and the usual kernels."""
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
    return tuple({"filter": name, "order": order, "scale": scale} for name, order, scale in filters)


def _vary(name: str, values: Sequence[Any]) -> tuple[Changes, ...]:
    return tuple({name: value} for value in values)


class TrialVectors:
    """Vectors of a graph by any settings, to the bit those of `graphrefine.embed`.

    Examples
    --------
    >>> vectors = TrialVectors(Graph.from_edges([0, 1, 2], [1, 2, 3]), threads=1)
    >>> vectors.make(RefineSettings(dim=2)).shape
    (4, 2)
    >>> [vectors.kind(RefineSettings(dim=2, **each)) for each in ({"filter": "heat"}, {"negative": 5}, {})]
    ['range', 'range', 'views']
    """

    def __init__(self, graph: Graph, *, threads: int) -> None:
        self.graph, self.threads = graph, threads
        self._engine: Engine[LocalTall] | None = None
        self._engine_key: tuple[object, ...] = ()
        self._range: LocalTall | None = None
        self._range_key: tuple[object, ...] = ()

    def kind(self, settings: RefineSettings) -> str:
        """Work for vectors by these settings: several views, a new range, or the filter alone."""
        if settings.quality != "fast":
            return "views"
        return "filter" if _range_key(settings) == self._range_key else "range"

    def make(self, settings: RefineSettings) -> NDArray[np.float32]:
        """Vectors by these settings.  # (n, k)."""
        run = Resources(self.threads, Stages())
        if settings.quality != "fast":
            return self._clear(find_method("refine").fit(self.graph, settings, run))
        engine_key = tuple(getattr(settings, name) for name in ENGINE)
        if self._engine is None or engine_key != self._engine_key:
            self._range, self._range_key, self._engine_key = None, (), engine_key
            self._engine = run.engine(self.graph, columns=settings.dim, bfloat16=settings.bfloat16)
        if self._range is None or self.kind(settings) == "range":
            self._range = None  # its memory is used for the new one
            self._range = find_range(self._engine, self.graph, settings, run.stages, threads=self.threads)
            self._range_key = _range_key(settings)
        return self._clear(smooth(self._engine, self.graph, settings, self._range, run.stages, keep=True))

    def _clear(self, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """The vectors, those of nodes without edges zero."""
        if self.graph.isolated:
            vectors[self.graph.without_edges()] = 0.0
        return vectors


def _range_key(settings: RefineSettings) -> tuple[object, ...]:
    """All settings that a range depends on; without a filter it is stored in another precision."""
    return (*(getattr(settings, name) for name in RANGE), settings.filter == "none")


def parse_seconds(budget: Any) -> float:
    """Seconds from a number, or from text as people write it.

    Examples
    --------
    >>> parse_seconds("2min"), parse_seconds("1m30s"), parse_seconds(0.5), parse_seconds("45")
    (120.0, 90.0, 0.5, 45.0)
    """
    budget = as_plain(budget)
    if isinstance(budget, str) and re.fullmatch(rf"(\s*{PART}\s*)+", budget.lower()):
        parts = re.findall(PART, budget.lower())
        if len(parts) == 1 or all(unit for _, unit in parts):
            units = [unit.rstrip("s") if len(unit) > 1 else unit for _, unit in parts]
            seconds = sum(float(number) * UNITS[unit] for (number, _), unit in zip(parts, units, strict=True))
        else:
            seconds = math.nan
    elif isinstance(budget, bool) or not isinstance(budget, int | float):
        seconds = math.nan
    else:
        seconds = float(budget)
    if not 0 < seconds < math.inf:
        raise InputError(f"budget={budget!r} is not a time above 0, as in 60s, 2min or 1m30s", argument="budget")
    return seconds


class Clock:
    """The time since the start, beside a budget, and the longest trial of each kind.

    Examples
    --------
    >>> clock = Clock(3600)
    >>> clock.record("range", 2.0)
    >>> clock.allows("range"), Clock(1e-9).allows("range")
    (True, False)
    """

    def __init__(self, budget: float) -> None:
        self.budget, self._start = budget, perf_counter()
        self._longest: dict[str, float] = {}

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self._start

    def record(self, kind: str, seconds: float) -> None:
        """Note the time of a trial of this kind."""
        self._longest[kind] = max(seconds, self._longest.get(kind, 0.0))

    def allows(self, kind: str) -> bool:
        """True if another trial of this kind fits into the budget; a new kind may take as long as any."""
        longest = self._longest.get(kind, max(self._longest.values(), default=0.0))
        return self.spent + longest <= self.budget
