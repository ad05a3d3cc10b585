"""REFINE and RBQR as methods: the paper itself, `graphrefine.refine`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphrefine.methods.contract import Floats, Method, Run, Shape, engine_memory
from graphrefine.refine import PAPER, PRESETS, Settings, refine

if TYPE_CHECKING:
    from graphrefine.graph import Graph


@dataclass(frozen=True)
class PlainSettings(Settings):
    """REFINE's settings with the defaults of Algorithm 1 alone; see `graphrefine.refine.Settings`."""

    power: int = PAPER["power"]
    two_sided: bool = PAPER["two_sided"]
    spectrum: float = PAPER["spectrum"]
    filter: str | tuple[float, ...] = "none"


def fit(graph: Graph, chosen: Settings, run: Run) -> Floats:
    """The vectors by REFINE, or by RBQR where there is no filter."""
    with run.stages.stage("proximity"):
        engine = run.engine(graph, columns=chosen.dim, bfloat16=chosen.bfloat16)
    return refine(engine, graph, chosen, run.stages, threads=run.threads)


def memory(shape: Shape, chosen: Settings) -> int:
    """Two tall matrices, the sketch, and the graph once more in another order."""
    return engine_memory(shape, columns=chosen.dim, matrices=2)


REFINE = Method(
    name="refine",
    reference="Zhu and Koniusz, CIKM 2021",
    summary="random range finder of the log-proximity matrix, and a filter that reaches near and far",
    cost="(q + 1 + K) m k + n k^2",
    settings=Settings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    directed=True,
    presets=PRESETS,
)
RBQR = Method(
    name="rbqr",
    reference="Zhu and Koniusz, CIKM 2021",
    summary="REFINE without its filter: Algorithm 1 alone",
    cost="(q + 1) m k + n k^2",
    settings=PlainSettings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    directed=True,
    fixed={"filter": "none"},
    presets={"default": {}, "paper": {"log_weights": False}},
)
