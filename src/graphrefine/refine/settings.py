"""Settings of REFINE: the one list, with defaults, help texts and presets.

The signatures of `graphrefine.embed` and `graphrefine.REFINE`, the options of the command line with the defaults in
``--help``, and the table in the documentation are made from `RefineSettings` or held to it by tests. A new default is
one line here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphrefine.errors import InputError
from graphrefine.refine.method_settings import MethodSettings, build_settings, check_integer, check_number, setting

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph
    from graphrefine.refine.filters import Theta

QUALITIES = ("default", "high")


@dataclass(frozen=True)
class RefineSettings(MethodSettings):
    """All that makes the vectors of REFINE, apart from the graph; each field has its help text beside it."""

    quality: str = setting(
        "default",
        "'high' for better vectors at many times the time: eigenvectors and the logarithm of longer walks beside "
        "REFINE's own.",
        metavar="NAME",
    )
    block: int = setting(
        16,
        "Columns that Algorithm 1 orthonormalises at a time (b): for memory and speed, not quality.",
        metavar="B",
    )
    power: int = setting(5, "Products with the proximity matrix M before the basis is taken (q).", metavar="Q")
    negative: float = setting(1.0, "Weight of negative samples (lambda, Eqs. 2-4).", metavar="LAMBDA")
    exponent: float = setting(0.75, "Exponent of the context distribution (Eqs. 2-4).", metavar="A")
    log_weights: bool = setting(
        True, "ln(weight) as part of M, as Eqs. 3-4 have it; the authors' code cancels it.", flag="no-log-weights"
    )
    two_sided: bool = setting(
        True,
        "Products alternate between M and its transpose, which finds the singular subspace of Theorem 1.",
        flag="one-sided",
    )
    spectrum: float = setting(
        0.5,
        "Exponent of M's singular values in R, from 0 to 1: 1 is R as Algorithm 1 gives it, less brings weaker "
        "directions forward.",
        metavar="X",
    )
    filter: str | tuple[float, ...] = setting(
        "reach",
        "Smoothing over the graph (Eq. 7): reach, taylor (the authors'), heat, markov, pagerank, none, or its "
        "coefficients, as in 0,-1,-2,1.",
        metavar="NAME",
    )
    order: int | None = setting(None, "Order of the filter (K).", default="the filter's own", metavar="K")
    scale: float | None = setting(
        None,
        "Parameter of the filter: reach's weight of the far steps, heat's time, pagerank's restart, markov's share "
        "of the node itself.",
        default="the filter's own",
        metavar="X",
    )
    loop: float | None = setting(
        None, "Weight of the self-loop in the filter's T.", default="the smallest weight of an edge", metavar="X"
    )
    centre: bool = setting(
        True, "Rows freed of their mean before they are made unit, after the filter and at the end.", flag="no-centre"
    )
    axes: float = setting(
        0.4, "Exponent of the singular values of the filtered matrix in the vectors, from 0 to 1.", metavar="X"
    )
    bfloat16: bool = setting(
        True,
        "Products gather from bfloat16: twice as fast, with a relative rounding of 0.4% in the gathered numbers.",
        flag="no-bfloat16",
    )

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
        self.coefficients()

    def theta(self, graph: Graph) -> Theta | None:
        """The coefficients of the filter on this graph; None for no filter."""
        return self.coefficients(degree=graph.mean_count)

    def coefficients(self, **graph: float) -> Theta | None:
        """The coefficients of the filter, on a graph of this mean ``degree`` if given; None for no filter."""
        from graphrefine.refine.filters import coefficients  # NumPy: too slow for the help of the command line

        return coefficients(self.filter, order=self.order, scale=self.scale, **graph)


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
    # As the authors' code has it: ln A_ij cancels in M, so weights count through the degrees alone.
    "paper": {**PAPER, "log_weights": False},
}


def refine_settings(preset: str | None = None, **options: Any) -> RefineSettings:
    """The settings of a preset, with those options that are not None in place of its own.

    Examples
    --------
    >>> refine_settings("paper", power=2).log_weights, refine_settings("paper", power=2).power
    (False, 2)
    """
    return build_settings(RefineSettings, options, presets=PRESETS, preset=preset, of="REFINE")
