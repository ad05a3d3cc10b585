"""REFINE where edges have two sides, and REFINE joined with other views: the fits and their memory."""

from __future__ import annotations

from dataclasses import fields
from functools import partial

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.methods.contract import DiskNeed, Floats, Resources, Shape, engine_memory
from graphrefine.refine import bipartite, directed, directed_far_view
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.svd import oversampled
from graphrefine.refine.views import (
    TIERS,
    bytes_at_work,
    bytes_held,
    bytes_joined,
    bytes_stored,
    joint_views,
    walk_columns,
)

AT_WORK = 6000  # rows that are held beside their products with all regions, by all threads
WITH_SIDES = ("dim", "power", "two_sided", "bfloat16", "seed")  # the settings that source and target vectors have


def fit_joint_views(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    """The vectors of the tiers beyond 'fast' on an undirected graph of one set of nodes."""
    tier = TIERS[str(settings.quality)]
    shop = resources.workshop(graph, bfloat16=settings.bfloat16)
    return joint_views(graph, settings, tier, resources.stages, threads=resources.threads, workshop=shop)


def joint_views_memory(shape: Shape, settings: RefineSettings) -> int:
    """The engine with two tall matrices and what is held of the views, or all views while they are joined."""
    tier, columns = TIERS[str(settings.quality)], walk_columns(shape.nodes, settings.dim)
    held = bytes_held(shape.nodes, shape.entries, settings.dim, tier)
    work = min(shape.nodes, AT_WORK) * min(tier.regions(shape.nodes, shape.entries, 1.0), shape.nodes) * 4
    joined = bytes_joined(shape.nodes, settings.dim, tier)
    return max(engine_memory(shape, columns=columns, matrices=2) + held, joined) + work


def joint_views_on_disk(shape: Shape, settings: RefineSettings, threads: int) -> DiskNeed:
    """What the views need where they are files."""
    tier, columns = TIERS[str(settings.quality)], walk_columns(shape.nodes, settings.dim)
    held = bytes_at_work(shape.nodes, shape.entries, settings.dim, tier, threads=threads)
    return DiskNeed(columns, held, bytes_stored(shape.nodes, shape.entries, settings.dim, tier), precise=True)


def arcs_and_columns(graph: Graph, dim: int) -> tuple[Graph, int]:
    """Where edges have two sides: the arcs from sources to targets, and how wide an engine for them must be."""
    if graph.sources is None:
        return graph, directed.columns(dim, graph.nodes)
    return bipartite.one_way(graph), oversampled(dim, graph.nodes)


def rounds(settings: RefineSettings) -> int:
    """How many rounds of two products each make at least as many as ``power`` asks for."""
    return (settings.power + 1) // 2


def fit_with_sides(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    """Source and target vectors of a directed or bipartite graph."""
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
                f"{graph.source}; leave it out, or say two_sided=False for one vector for each node, by the paper",
                argument=name,
                mentions=["two_sided"],
            )


def memory_with_sides(shape: Shape, settings: RefineSettings) -> int:
    """Four tall matrices of the engine, and the vectors; beyond 'fast' what is held of the far view of arcs.

    For the least squares of bipartite graphs three more of the vectors, and the edges again.
    """
    width = oversampled(settings.dim if shape.bipartite else -(-settings.dim // 2), shape.nodes)
    held = engine_memory(shape, columns=width, matrices=4) + shape.nodes * settings.dim * 4
    if settings.quality == "fast":
        return held
    if shape.bipartite:
        return held + 3 * shape.nodes * settings.dim * 4 + 16 * shape.entries
    return held + directed_far_view.bytes_held(shape.nodes, settings.dim)
