"""REFINE from graph to vectors: the settings, and the stages in the order of the paper.

``M`` (Eqs. 2-4, `operators.proximity`) -> ``C, R`` (Algorithm 1, `rangefinder.range_finder`) -> unit rows ->
``R*`` (Eq. 7, `filters.diffuse`) -> ``U S^p`` of R*, unit rows. The page "The method" in the documentation says where
the default departs from the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine.engine import Engine, T
from graphrefine.errors import InputError
from graphrefine.linalg.operators import proximity, transition
from graphrefine.progress import Stages
from graphrefine.refine.filters import (
    Theta,
    coefficients,
    collect_centred,
    diffuse,
    limit,
    principal_rotation,
    smallest_weight,
)
from graphrefine.refine.method_settings import MethodSettings, check_integer, check_number, choose
from graphrefine.refine.range_finder import range_finder

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph


QUALITIES = ("default", "high")


@dataclass(frozen=True)
class Settings(MethodSettings):
    """What makes an embedding what it is, apart from the graph.

    Parameters
    ----------
    dim
        Length k of the vectors.
    block
        Width b of the column blocks that Algorithm 1 orthonormalises. It groups the arithmetic and never changes the
        span, so the paper's ``q b >= k`` is not enforced.
    power
        Number q of products with M before the basis is taken.
    negative, exponent
        Lambda, and the exponent of the context distribution (Eqs. 2-4).
    log_weights
        Whether ln A_ij stays in M, as Eqs. 3-4 have it. The authors' code cancels it.
    two_sided
        Whether the products alternate between M and M^T, which finds the singular subspace that Theorem 1 is about.
    spectrum
        Exponent of M's singular values in R: 1 is R as Algorithm 1 gives it, less brings weaker directions forward.
    filter, order, scale
        Eq. 7: a name in `graphrefine.refine.filters.FILTERS`, ``"none"`` (RBQR) or the coefficients; its K; its
        parameter.
    loop
        Weight of the self-loop in T; by default the smallest weight of an edge, so that the unit of weights is free.
    centre
        Whether the rows are freed of their mean before they are made unit, after the filter and at the end.
    axes
        Exponent of the singular values of the filtered matrix in the vectors.
    quality
        ``"high"`` sets these vectors beside eigenvectors and the logarithm of longer walks
        (`graphrefine.refine.high_quality`): better ones, at many times the time.
    bfloat16
        Whether products gather from bfloat16: twice as fast, with a relative rounding of 0.4% in what is gathered.
    seed
        Of the random sketch.
    """

    block: int = 16
    power: int = 5
    negative: float = 1.0
    exponent: float = 0.75
    log_weights: bool = True
    two_sided: bool = True
    spectrum: float = 0.5
    filter: str | tuple[float, ...] = "reach"
    order: int | None = None
    scale: float | None = None
    loop: float | None = None
    centre: bool = True
    axes: float = 0.4
    quality: str = "default"
    bfloat16: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("block", "power"):
            check_integer(name, getattr(self, name), least=1)
        check_number("negative", self.negative, above=0)
        check_number("exponent", self.exponent)
        for name in ("spectrum", "axes"):
            check_number(name, getattr(self, name), least=0, most=1)
        if self.quality not in QUALITIES:
            raise InputError(f"quality={self.quality!r} is not known; it is 'default' or 'high'")
        if self.loop is not None:
            check_number("loop", self.loop, above=0)
        if not isinstance(self.filter, str):
            object.__setattr__(self, "filter", tuple(float(c) for c in self.filter))
        coefficients(self.filter, order=self.order, scale=self.scale)

    def theta(self, graph: Graph) -> Theta | None:
        """The coefficients of the filter on this graph; None for no filter."""
        return coefficients(self.filter, order=self.order, scale=self.scale, degree=graph.mean_count)


PAPER: dict[str, Any] = {
    "power": 3,
    "two_sided": False,
    "spectrum": 1.0,
    "filter": "taylor",
    "loop": 1.0,
    "centre": False,
    "axes": 0.5,
}
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    # What the authors' code computes: ln A_ij cancels in M, so weights count through the degrees alone.
    "paper": {**PAPER, "log_weights": False},
}


def settings(preset: str | None = None, **options: Any) -> Settings:
    """The settings of a preset, with those options that are not None in place of its own.

    Examples
    --------
    >>> settings("paper", power=2).log_weights, settings("paper", power=2).power
    (False, 2)
    """
    return choose(Settings, options, presets=PRESETS, preset=preset, of="REFINE")


def refine(
    engine: Engine[T], graph: Graph, chosen: Settings, stages: Stages, *, threads: int = 1
) -> NDArray[np.float32]:
    """The vectors (n, k) of a checked graph by checked settings: the paper, stage by stage."""
    return smooth(engine, graph, chosen, find_range(engine, graph, chosen, stages, threads=threads), stages)


def find_range(engine: Engine[T], graph: Graph, chosen: Settings, stages: Stages, *, threads: int = 1) -> T:
    """R of Algorithm 1, its rows of length 1: what comes before the filter, and most of the work."""
    plain = chosen.spectrum == 1.0
    with stages.stage("proximity"):
        M = proximity(
            graph,
            negative=chosen.negative,
            exponent=chosen.exponent,
            log_weights=chosen.log_weights,
            threads=threads,
        )
        sketch = engine.random(seed=chosen.seed)
    with stages.stage("range", steps=chosen.power + 1):
        R = range_finder(
            engine,
            M,
            sketch,
            block=chosen.block,
            power=chosen.power,
            two_sided=chosen.two_sided,
            unit=plain,
            gram=not plain,
            precise=not plain or chosen.filter == "none",
            advance=stages.advance,
        ).target
        if plain:
            return R
        rotation = principal_rotation(engine.gram(R), chosen.spectrum)
        return engine.rotate(R, rotation, unit=True, precise=chosen.filter == "none")


def smooth(
    engine: Engine[T], graph: Graph, chosen: Settings, R: T, stages: Stages, *, keep: bool = False
) -> NDArray[np.float32]:
    """The vectors from R: the filter, the mean taken away, the principal axes. ``keep`` leaves R for another filter."""
    theta = chosen.theta(graph)
    with stages.stage("filter", steps=len(theta or ()) or 1):
        if theta is None:
            return engine.collect(R)
        loop = smallest_weight(graph) if chosen.loop is None else chosen.loop
        T = transition(graph, loop=loop)
        nodes = max(graph.nodes - graph.isolated, 1)
        # Where every node is linked to every other, all rows are the mean after one step, and nothing would be left.
        centre = chosen.centre and (graph.weighted or len(graph.indices) < nodes * (nodes - 1))
        mean = sum(theta) * limit(engine, graph, R, loop=loop) if centre else None
        F = diffuse(engine, T, R, theta, shift=mean, unit=centre, keep=keep, advance=stages.advance)
        del R
        if centre:
            return collect_centred(engine, F, nodes=nodes, axes=chosen.axes)
        return engine.collect(F, principal_rotation(engine.gram(F), chosen.axes), unit=True)
