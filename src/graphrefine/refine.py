"""REFINE from graph to vectors: the settings, and the stages in the order of the paper.

``M`` (Eqs. 2-4, `operators.proximity`) -> ``C, R`` (Algorithm 1, `rangefinder.range_finder`) -> unit rows ->
``R*`` (Eq. 7, `filters.diffuse`) -> ``U S^1/2`` of R*, unit rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.engine import Engine, T
from graphrefine.filters import coefficients, diffuse, principal_rotation
from graphrefine.operators import proximity, transition
from graphrefine.progress import Stages
from graphrefine.rangefinder import range_finder
from graphrefine.settings import MethodSettings, check_integer, check_number, choose

if TYPE_CHECKING:
    from graphrefine.graph import Graph


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
        Whether the products alternate between M and M^T; by default only on directed graphs, where M^q can vanish.
    filter, order, scale
        Eq. 7: a name in `graphrefine.filters.FILTERS`, ``"none"`` (RBQR) or the coefficients; its K; its parameter.
    bfloat16
        Whether products gather from bfloat16: twice as fast, with a relative rounding of 0.4% in what is gathered.
    seed
        Of the random sketch.
    """

    block: int = 16
    power: int = 3
    negative: float = 1.0
    exponent: float = 0.75
    log_weights: bool = True
    two_sided: bool | None = None
    filter: str | tuple[float, ...] = "taylor"
    order: int | None = None
    scale: float | None = None
    bfloat16: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("block", "power"):
            check_integer(name, getattr(self, name), least=1)
        check_number("negative", self.negative, above=0)
        check_number("exponent", self.exponent)
        if not isinstance(self.filter, str):
            object.__setattr__(self, "filter", tuple(float(c) for c in self.filter))
        coefficients(self.filter, order=self.order, scale=self.scale)


PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    # What the authors' code computes: ln A_ij cancels in M, so weights count through the degrees alone.
    "paper": {"log_weights": False, "two_sided": False},
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
    theta = coefficients(chosen.filter, order=chosen.order, scale=chosen.scale)
    two_sided = graph.directed if chosen.two_sided is None else chosen.two_sided
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
            two_sided=two_sided,
            unit=True,
            precise=theta is None,
            advance=stages.advance,
        ).target
    with stages.stage("filter", steps=len(theta or ()) or 1):
        if theta is None:
            return engine.collect(R)
        F = diffuse(engine, transition(graph), R, theta, advance=stages.advance)
        del R
        return engine.collect(F, principal_rotation(engine.gram(F)), unit=True)
