"""REFINE and RBQR as methods: the paper itself, `graphrefine.refine.refine`; and REFINE where edges have two sides.

On directed and on bipartite graphs REFINE gives source and target vectors, `graphrefine.refine.directed` and
`graphrefine.refine.bipartite`. With ``two_sided=False``, as ``preset="paper"`` has it, and with ``filter="none"``, as
RBQR has it, it is the paper's there too: one vector for each node.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from graphrefine.errors import InputError
from graphrefine.methods.contract import Floats, Method, Resources, Shape, engine_memory
from graphrefine.refine import bipartite, directed
from graphrefine.refine.high_quality import bytes_held, high_order
from graphrefine.refine.refine import refine
from graphrefine.refine.settings import PAPER, PRESETS, RefineSettings
from graphrefine.refine.svd import oversampled

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

WITH_SIDES = ("dim", "power", "two_sided", "bfloat16", "seed")  # the settings that source and target vectors have


@dataclass(frozen=True)
class RBQRSettings(RefineSettings):
    """REFINE's settings with the defaults of Algorithm 1 alone; see `graphrefine.refine.settings.RefineSettings`."""

    power: int = PAPER["power"]
    two_sided: bool = PAPER["two_sided"]
    spectrum: float = PAPER["spectrum"]
    filter: str | tuple[float, ...] = "none"


def fit(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    """The vectors by REFINE, or by RBQR where there is no filter."""
    if settings.quality == "high":
        return _of_high_quality(graph, settings, resources)
    if two_sides(graph, settings):
        return _with_sides(graph, settings, resources)
    engine = resources.engine(graph, columns=settings.dim, bfloat16=settings.bfloat16)
    return refine(engine, graph, settings, resources.stages, threads=resources.threads)


def _of_high_quality(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    if graph.directed or graph.sources is not None:
        kind = "directed" if graph.directed else "bipartite"
        raise InputError(
            f"quality='high' is for undirected graphs of one set of nodes, and {graph.source} was read as {kind}; "
            "leave quality out"
        )
    return high_order(graph, settings, resources.stages, threads=resources.threads)


def sided(settings: RefineSettings) -> bool:
    """Whether vectors of graphs with two sides are sources' and targets'."""
    return settings.two_sided and settings.filter != "none"


def two_sides(graph: Graph, settings: RefineSettings) -> bool:
    """Whether the vectors of this graph are sources' and targets'."""
    return (graph.directed or graph.sources is not None) and sided(settings)


def arcs_and_columns(graph: Graph, dim: int) -> tuple[Graph, int]:
    """Where edges have two sides: the arcs from sources to targets, and how wide an engine for them must be."""
    if graph.sources is None:
        return graph, directed.columns(dim, graph.nodes)
    return bipartite.one_way(graph), oversampled(dim, graph.nodes)


def rounds(settings: RefineSettings) -> int:
    """How many rounds of two products each make at least as many as ``power`` asks for."""
    return (settings.power + 1) // 2


def _with_sides(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    _check_used(graph, settings)
    sources = graph.sources
    with resources.stages.stage("order"):
        arcs, width = arcs_and_columns(graph, settings.dim)
        engine = resources.engine(arcs, columns=width, bfloat16=settings.bfloat16)
    how = {"dim": settings.dim, "rounds": rounds(settings), "seed": settings.seed, "threads": resources.threads}
    if sources is None:
        return directed.directed_vectors(engine, arcs, resources.stages, **how)
    return bipartite.bipartite_vectors(engine, arcs, resources.stages, sources=sources, **how)


def _check_used(graph: Graph, settings: RefineSettings) -> None:
    """Raise InputError for a setting that would have no effect."""
    usual = RefineSettings()
    for name in (field.name for field in fields(settings)):
        if name not in WITH_SIDES and getattr(settings, name) != getattr(usual, name):
            raise InputError(
                f"{name}={getattr(settings, name)!r} has no effect on the source and target vectors of "
                f"{graph.source}; leave it out, or say two_sided=False for one vector for each node, by the paper"
            )


def memory(shape: Shape, settings: RefineSettings) -> int:
    """Two tall matrices, the sketch, and the graph once more in another order; for two sides or high quality more."""
    if settings.quality == "high":
        return engine_memory(shape, columns=settings.dim, matrices=0) + bytes_held(shape.nodes, settings.dim)
    if not ((shape.directed or shape.bipartite) and sided(settings)):
        return engine_memory(shape, columns=settings.dim, matrices=2)
    width = oversampled(settings.dim if shape.bipartite else -(-settings.dim // 2), shape.nodes)
    return engine_memory(shape, columns=width, matrices=4) + shape.nodes * settings.dim * 4


def on_disk(graph: Graph, settings: RefineSettings) -> str | None:
    """Why the vectors cannot be made with tall matrices on disk; None where they can."""
    if settings.quality == "high":
        return "quality='high' works in memory"
    if two_sides(graph, settings):
        return "source and target vectors are made in memory"
    return None


REFINE_METHOD = Method(
    name="refine",
    reference="Zhu and Koniusz, CIKM 2021",
    summary="random range finder of the log-proximity matrix, and a filter that reaches near and far",
    cost="(q + 1 + K) m k + n k^2",
    settings=RefineSettings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    directed=True,
    sided=sided,
    features=True,
    presets=PRESETS,
    on_disk=on_disk,
)
RBQR_METHOD = Method(
    name="rbqr",
    reference="Zhu and Koniusz, CIKM 2021",
    summary="REFINE without its filter: Algorithm 1 alone",
    cost="(q + 1) m k + n k^2",
    settings=RBQRSettings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    directed=True,
    fixed={"filter": "none"},
    presets={"default": {}, "paper": {"log_weights": False}},
    on_disk=on_disk,
)
