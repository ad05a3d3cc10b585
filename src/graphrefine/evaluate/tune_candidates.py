"""Candidates of a search, in their order: those of least cost and most effect first.

A stage is a list of changes to the leading settings; the best of a stage leads in the next. Filters share the range of
M, and the extent of smoothing differs most from graph to graph: they come first. Then centring and the axes, which
share it too, then M itself. The length of the vectors is searched only on request: longer is nearly always better, and
the choice is one of cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from graphrefine.graph.graph import Graph
from graphrefine.refine.filters import FAR, MOST
from graphrefine.refine.settings import RefineSettings

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
    ['filter', 'centre', 'axes', 'spectrum', 'negative', 'exponent']
    """
    plan = [
        Stage("filter", list_filters(graph)),
        Stage("centre", _vary("centre", (False,))),
        Stage("axes", _vary("axes", (0.2, 0.35, 0.5, 0.75))),
        Stage("spectrum", _vary("spectrum", (0.25, 0.75, 1.0))),
        Stage("negative", _vary("negative", (1.0, 5.0, 10.0))),
        Stage("exponent", _vary("exponent", (0.75, 1.0))),
    ]
    if graph.weighted:
        plan.append(Stage("weights", _vary("log_weights", (True, False))))
    if len(dims) > 1:
        plan.append(Stage("dim", _vary("dim", dims)))
    return tuple(plan)


def list_filters(graph: Graph) -> tuple[Changes, ...]:
    """Near and far together, with other far steps and other weights of them; then near alone, and the usual kernels."""
    usual = FAR * (graph.nodes - graph.isolated) / max(len(graph.indices), 1)
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
