"""What is tried, in which order: first what costs least and matters most.

A stage is a list of changes to the settings that lead; the best of a stage carries on to the next. Filters share the
range of M, and how far to smooth is what differs most from graph to graph: they come first. Then centring and the axes,
which share it too, then M itself. The length of the vectors is searched only where it is asked for: longer is nearly
always better, and the choice is one of cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from graphrefine.refine.filters import FAR, MOST
from graphrefine.refine.settings import RefineSettings

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

Changes = dict[str, Any]


class Stage(NamedTuple):
    """Changes of which one, or none, is taken."""

    name: str
    changes: tuple[Changes, ...]

    def settings(self, leader: RefineSettings) -> Iterator[RefineSettings]:
        """The settings that lead, with each of the changes."""
        return (replace(leader, **changes) for changes in self.changes)


def stages(graph: Graph, dims: Sequence[int]) -> tuple[Stage, ...]:
    """The stages for a graph.

    Examples
    --------
    >>> from graphrefine.graph.graph import Graph
    >>> [stage.name for stage in stages(Graph.from_edges([0, 1], [1, 2]), dims=[128])]
    ['filter', 'centre', 'axes', 'spectrum', 'negative', 'exponent']
    """
    listed = [
        Stage("filter", filters(graph)),
        Stage("centre", _each("centre", (False,))),
        Stage("axes", _each("axes", (0.2, 0.35, 0.5, 0.75))),
        Stage("spectrum", _each("spectrum", (0.25, 0.75, 1.0))),
        Stage("negative", _each("negative", (1.0, 5.0, 10.0))),
        Stage("exponent", _each("exponent", (0.75, 1.0))),
    ]
    if graph.weighted:
        listed.append(Stage("weights", _each("log_weights", (True, False))))
    if len(dims) > 1:
        listed.append(Stage("dim", _each("dim", dims)))
    return tuple(listed)


def filters(graph: Graph) -> tuple[Changes, ...]:
    """Near and far together with other far steps and other weights of them; then near alone, and the known kernels."""
    usual = FAR * (graph.nodes - graph.isolated) / max(len(graph.indices), 1)
    less, more = (float(f"{min(times * usual, MOST['reach']):.3g}") for times in (0.25, 4))
    given: list[tuple[str | tuple[float, ...], int | None, float | None]] = [
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
    return tuple({"filter": name, "order": order, "scale": scale} for name, order, scale in given)


def _each(name: str, values: Sequence[Any]) -> tuple[Changes, ...]:
    return tuple({name: value} for value in values)
