"""REFINE joined with other views of a graph: the fit of the tiers beyond "fast", and its memory."""

from __future__ import annotations

from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import DiskNeed, Floats, Resources, Shape, engine_memory
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.views import (
    TIERS,
    bytes_at_work,
    bytes_held,
    bytes_joined,
    bytes_stored,
    joint_views,
    walk_columns,
)

AT_WORK = 6000  # rows whose products with all regions are held at a time, by all threads


def fit_joint_views(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    """Return the vectors of the tiers beyond 'fast' on an undirected graph of one set of nodes."""
    tier = TIERS[str(settings.quality)]
    cache = resources.stage_cache(graph, bfloat16=settings.bfloat16)
    return joint_views(graph, settings, tier, resources.stages, threads=resources.threads, stage_cache=cache)


def joint_views_memory(shape: Shape, settings: RefineSettings) -> int:
    """Return the engine with two tall matrices and what is held of the views, or all views while they are joined."""
    tier, columns = TIERS[str(settings.quality)], walk_columns(shape.nodes, settings.dim)
    held = bytes_held(shape.nodes, shape.entries, settings.dim, tier)
    work = min(shape.nodes, AT_WORK) * min(tier.regions(shape.nodes, shape.entries, 1.0), shape.nodes) * 4
    joined = bytes_joined(shape.nodes, settings.dim, tier)
    return max(engine_memory(shape, columns=columns, matrices=2) + held, joined) + work


def joint_views_on_disk(shape: Shape, settings: RefineSettings, threads: int) -> DiskNeed:
    """Return what the views need where they are files."""
    tier, columns = TIERS[str(settings.quality)], walk_columns(shape.nodes, settings.dim)
    held = bytes_at_work(shape.nodes, shape.entries, settings.dim, tier, threads=threads)
    return DiskNeed(columns, held, bytes_stored(shape.nodes, shape.entries, settings.dim, tier), precise=True)
