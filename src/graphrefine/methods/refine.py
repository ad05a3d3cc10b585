"""REFINE and RBQR as methods: the paper itself, `graphrefine.refine.refine`; and REFINE where edges have two sides.

On directed and on bipartite graphs REFINE gives source and target vectors, `graphrefine.refine.directed` and
`graphrefine.refine.bipartite`. With ``two_sided=False``, as ``preset="paper"`` has it, and with ``filter="none"``, as
RBQR has it, it is the paper's there too: one vector for each node.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from graphrefine.errors import InputError
from graphrefine.methods.contract import Floats, Method, Run, Shape, engine_memory
from graphrefine.refine import bipartite, directed
from graphrefine.refine.high_quality import bytes_held, high_order
from graphrefine.refine.refine import PAPER, PRESETS, Settings, refine
from graphrefine.refine.svd import oversampled

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

WITH_SIDES = ("dim", "power", "two_sided", "bfloat16", "seed")  # the settings that source and target vectors have


@dataclass(frozen=True)
class PlainSettings(Settings):
    """REFINE's settings with the defaults of Algorithm 1 alone; see `graphrefine.refine.refine.Settings`."""

    power: int = PAPER["power"]
    two_sided: bool = PAPER["two_sided"]
    spectrum: float = PAPER["spectrum"]
    filter: str | tuple[float, ...] = "none"


def fit(graph: Graph, chosen: Settings, run: Run) -> Floats:
    """The vectors by REFINE, or by RBQR where there is no filter."""
    if chosen.quality == "high":
        return _of_high_quality(graph, chosen, run)
    if two_sides(graph, chosen):
        return _with_sides(graph, chosen, run)
    with run.stages.stage("proximity"):
        engine = run.engine(graph, columns=chosen.dim, bfloat16=chosen.bfloat16)
    return refine(engine, graph, chosen, run.stages, threads=run.threads)


def _of_high_quality(graph: Graph, chosen: Settings, run: Run) -> Floats:
    if graph.directed or graph.sources is not None:
        kind = "directed" if graph.directed else "bipartite"
        raise InputError(
            f"quality='high' is for undirected graphs of one set of nodes, and {graph.source} was read as {kind}; "
            "leave quality out"
        )
    return high_order(graph, chosen, run.stages, threads=run.threads)


def sided(chosen: Settings) -> bool:
    """Whether vectors of graphs with two sides are sources' and targets'."""
    return chosen.two_sided and chosen.filter != "none"


def two_sides(graph: Graph, chosen: Settings) -> bool:
    """Whether the vectors of this graph are sources' and targets'."""
    return (graph.directed or graph.sources is not None) and sided(chosen)


def arcs_and_columns(graph: Graph, dim: int) -> tuple[Graph, int]:
    """Where edges have two sides: the arcs from sources to targets, and how wide an engine for them must be."""
    if graph.sources is None:
        return graph, directed.columns(dim, graph.nodes)
    return bipartite.one_way(graph), oversampled(dim, graph.nodes)


def rounds(chosen: Settings) -> int:
    """How many rounds of two products each make at least as many as ``power`` asks for."""
    return (chosen.power + 1) // 2


def _with_sides(graph: Graph, chosen: Settings, run: Run) -> Floats:
    _check_used(graph, chosen)
    sources = graph.sources
    with run.stages.stage("order"):
        arcs, width = arcs_and_columns(graph, chosen.dim)
        engine = run.engine(arcs, columns=width, bfloat16=chosen.bfloat16)
    how = {"dim": chosen.dim, "rounds": rounds(chosen), "seed": chosen.seed, "threads": run.threads}
    if sources is None:
        return directed.directed_vectors(engine, arcs, run.stages, **how)
    return bipartite.bipartite_vectors(engine, arcs, run.stages, sources=sources, **how)


def _check_used(graph: Graph, chosen: Settings) -> None:
    """Raise InputError for a setting that would have no effect."""
    usual = Settings()
    for name in (field.name for field in fields(chosen)):
        if name not in WITH_SIDES and getattr(chosen, name) != getattr(usual, name):
            raise InputError(
                f"{name}={getattr(chosen, name)!r} has no effect on the source and target vectors of "
                f"{graph.source}; leave it out, or say two_sided=False for one vector for each node, by the paper"
            )


def memory(shape: Shape, chosen: Settings) -> int:
    """Two tall matrices, the sketch, and the graph once more in another order; for two sides or high quality more."""
    if chosen.quality == "high":
        return engine_memory(shape, columns=chosen.dim, matrices=0) + bytes_held(shape.nodes, chosen.dim)
    if not ((shape.directed or shape.bipartite) and sided(chosen)):
        return engine_memory(shape, columns=chosen.dim, matrices=2)
    width = oversampled(chosen.dim if shape.bipartite else -(-chosen.dim // 2), shape.nodes)
    return engine_memory(shape, columns=width, matrices=4) + shape.nodes * chosen.dim * 4


def on_disk(graph: Graph, chosen: Settings) -> str | None:
    """Why the vectors cannot be made with tall matrices on disk; None where they can."""
    if chosen.quality == "high":
        return "quality='high' works in memory"
    if two_sides(graph, chosen):
        return "source and target vectors are made in memory"
    return None


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
    sided=sided,
    features=True,
    presets=PRESETS,
    on_disk=on_disk,
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
    on_disk=on_disk,
)
