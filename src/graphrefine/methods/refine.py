"""REFINE and RBQR as methods: the paper itself, `graphrefine.refine.refine`; and REFINE where edges have two sides.

On directed and on bipartite graphs REFINE gives source and target vectors, `graphrefine.refine.directed` and
`graphrefine.refine.bipartite`. With ``two_sided=False``, as ``preset="paper"`` has it, and with ``filter="none"``, as
RBQR has it, it is the paper's there too: one vector for each node.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD
from graphrefine.methods.contract import DiskNeed, Floats, Method, Resources, Shape, engine_memory
from graphrefine.refine.refine import refine
from graphrefine.refine.settings import PAPER, PRESETS, RefineSettings
from graphrefine.refine.svd import oversampled

WITH_SIDES = ("dim", "power", "two_sided", "bfloat16", "seed")  # the settings that source and target vectors have
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
    # Modules of sides and views are loaded where they are needed: the start of REFINE alone does without them.
    if two_sides(graph, settings):
        return _fit_with_sides(graph, settings, resources)
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


def arcs_and_columns(graph: Graph, dim: int) -> tuple[Graph, int]:
    """Return the arcs from sources to targets, where edges have two sides, and the width of an engine for them."""
    from graphrefine.refine import bipartite, directed

    if graph.sources is None:
        return graph, directed.columns(dim, graph.nodes)
    return bipartite.one_way(graph), oversampled(dim, graph.nodes)


def rounds(settings: RefineSettings) -> int:
    """Return how many rounds of two products each make at least as many as ``power`` asks for."""
    return (settings.power + 1) // 2


def _fit_with_sides(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    """Return the source and target vectors of a directed or bipartite graph."""
    from graphrefine.refine import bipartite, directed

    _check_used(graph, settings)
    sources = graph.sources
    with resources.stages.stage("order"):
        arcs, width = arcs_and_columns(graph, settings.dim)
    engine_of = partial(resources.engine, columns=width, bfloat16=settings.bfloat16)
    options = {"dim": settings.dim, "rounds": rounds(settings), "seed": settings.seed, "threads": resources.threads}
    if sources is None:
        far = settings.quality != "fast"
        return directed.directed_vectors(engine_of(arcs), arcs, resources.stages, far=far, **options)
    if settings.quality == "fast" or not len(arcs.indices):
        return bipartite.bipartite_vectors(engine_of(arcs), arcs, resources.stages, sources=sources, **options)
    return bipartite.weighted_vectors(engine_of, arcs, resources.stages, sources=sources, **options)


def _check_used(graph: Graph, settings: RefineSettings) -> None:
    """Raise InputError for a setting that would have no effect."""
    if settings.quality == "best":
        kind = "directed" if graph.directed else "bipartite"
        raise InputError(
            f"quality='best' is for undirected graphs of one set of nodes, and {graph.source} was read as {kind}; "
            "leave quality out",
            argument="quality",
        )
    usual = RefineSettings(quality=settings.quality)
    for name in (field.name for field in fields(settings)):
        if name not in WITH_SIDES and getattr(settings, name) != getattr(usual, name):
            raise InputError(
                f"{name}={getattr(settings, name)!r} has no effect on the source and target vectors of "
                f"{graph.source}; leave it out, or pass two_sided=False for one vector for each node, by the paper",
                argument=name,
            )


def memory(shape: Shape, settings: RefineSettings) -> int:
    """Return two tall matrices, three to filter without bfloat16, and the engine; for two sides or views more."""
    if (shape.directed or shape.bipartite) and sided(settings):
        return _memory_with_sides(shape, settings)
    if settings.quality != "fast":
        return _joint_views_memory(shape, settings)
    matrices = 2 if settings.bfloat16 or settings.filter == "none" else 3
    return engine_memory(shape, columns=settings.dim, matrices=matrices)


def _memory_with_sides(shape: Shape, settings: RefineSettings) -> int:
    """Return four tall matrices of the engine, and the vectors; beyond 'fast' what is held of the far view of arcs.

    For the least squares of bipartite graphs three more of the vectors, and the edges again.
    """
    width = oversampled(settings.dim if shape.bipartite else -(-settings.dim // 2), shape.nodes)
    held = engine_memory(shape, columns=width, matrices=4) + shape.nodes * settings.dim * 4
    if settings.quality == "fast":
        return held
    if shape.bipartite:
        return held + 3 * shape.nodes * -(-settings.dim // PAD) * PAD * 4 + 16 * shape.entries
    from graphrefine.refine.directed_far_view import bytes_held

    return held + bytes_held(shape.nodes, settings.dim)


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
