"""REFINE and RBQR as methods: the paper itself, `graphrefine.refine.refine`; and REFINE where edges have two sides.

On directed and on bipartite graphs REFINE gives source and target vectors, `graphrefine.refine.directed` and
`graphrefine.refine.bipartite`. With ``two_sided=False``, as ``preset="paper"`` has it, and with ``filter="none"``, as
RBQR has it, it is the paper's there too: one vector for each node.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import DiskNeed, Floats, Method, Resources, Shape, engine_memory
from graphrefine.refine.refine import refine
from graphrefine.refine.settings import PAPER, PRESETS, RefineSettings

AT_WORK = 6000  # rows whose products with all regions of a view are held at a time, by all threads


@dataclass(frozen=True)
class RBQRSettings(RefineSettings):
    """REFINE's settings with the defaults of Algorithm 1 alone; see `graphrefine.refine.settings.RefineSettings`."""

    power: int = PAPER["power"]
    two_sided: bool = PAPER["two_sided"]
    spectrum: float = PAPER["spectrum"]
    filter: str | tuple[float, ...] = "none"


def fit(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    """Return the vectors by REFINE, or by RBQR where there is no filter."""
    # Sides and views are separate modules, loaded where they are needed: the start of REFINE alone does without them.
    if two_sides(graph, settings):
        from graphrefine.methods import refine_sides

        return refine_sides.fit_with_sides(graph, settings, resources)
    if settings.quality != "fast":
        from graphrefine.refine.views import TIERS, joint_views

        tier, cache = TIERS[str(settings.quality)], resources.stage_cache(graph, bfloat16=settings.bfloat16)
        return joint_views(graph, settings, tier, resources.stages, threads=resources.threads, stage_cache=cache)
    engine = resources.engine(graph, columns=settings.dim, bfloat16=settings.bfloat16)
    return refine(engine, graph, settings, resources.stages, threads=resources.threads)


def sided(settings: RefineSettings) -> bool:
    """Return whether vectors of graphs with two sides are sources' and targets'."""
    return settings.two_sided and settings.filter != "none"


def two_sides(graph: Graph, settings: RefineSettings) -> bool:
    """Return whether the vectors of this graph are sources' and targets'."""
    return (graph.directed or graph.sources is not None) and sided(settings)


def memory(shape: Shape, settings: RefineSettings) -> int:
    """Return two tall matrices, three to filter without bfloat16, and the engine; for two sides or views more."""
    if (shape.directed or shape.bipartite) and sided(settings):
        from graphrefine.methods import refine_sides

        return refine_sides.memory_with_sides(shape, settings)
    if settings.quality != "fast":
        return _joint_views_memory(shape, settings)
    matrices = 2 if settings.bfloat16 or settings.filter == "none" else 3
    return engine_memory(shape, columns=settings.dim, matrices=matrices)


def _joint_views_memory(shape: Shape, settings: RefineSettings) -> int:
    """Return the engine with two tall matrices and what is held of the views, or all views while they are joined."""
    from graphrefine.refine.views import TIERS, bytes_held, bytes_joined, walk_columns

    tier, columns = TIERS[str(settings.quality)], walk_columns(shape.nodes, settings.dim)
    held = bytes_held(shape.nodes, shape.entries, settings.dim, tier)
    work = min(shape.nodes, AT_WORK) * min(tier.regions(shape.nodes, shape.entries, 1.0), shape.nodes) * 4
    joined = bytes_joined(shape.nodes, settings.dim, tier)
    return max(engine_memory(shape, columns=columns, matrices=2) + held, joined) + work


def on_disk(graph: Graph, settings: RefineSettings) -> str | None:
    """Explain why the vectors cannot be made with tall matrices on disk; None where they can."""
    return "source and target vectors are made in memory" if two_sides(graph, settings) else None


def disk_need(shape: Shape, settings: RefineSettings, threads: int) -> DiskNeed:
    """Return what the vectors need with tall matrices on disk."""
    if settings.quality == "fast":
        return DiskNeed(settings.dim)
    from graphrefine.refine.views import TIERS, bytes_at_work, bytes_stored, walk_columns

    sizes = (shape.nodes, shape.entries, settings.dim, TIERS[str(settings.quality)])
    columns = walk_columns(shape.nodes, settings.dim)
    return DiskNeed(columns, bytes_at_work(*sizes, threads=threads), bytes_stored(*sizes), precise=True)


REFINE_METHOD = Method(
    name="refine",
    reference="Zhu and Koniusz, CIKM 2021",
    summary="random range finder of the log-proximity matrix, and a filter that reaches near and far",
    cost="(q + 1 + K) m k + n k^2",
    settings=RefineSettings,
    fit=fit,
    memory=memory,
    bound="two matrices n x k",
    processor_dependence=None,
    directed=True,
    sided=sided,
    principal=True,
    features=True,
    presets=PRESETS,
    on_disk=on_disk,
    disk_need=disk_need,
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
    processor_dependence=None,
    directed=True,
    fixed={"filter": "none"},
    presets={"default": {}, "paper": {"log_weights": False}},
    on_disk=on_disk,
    disk_need=disk_need,
)
