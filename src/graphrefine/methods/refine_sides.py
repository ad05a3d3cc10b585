"""REFINE where edges have two sides: the fit of directed and bipartite graphs, and its memory."""

from __future__ import annotations

from dataclasses import fields
from functools import partial

from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels import PAD
from graphrefine.methods.contract import Floats, Resources, Shape, engine_memory
from graphrefine.refine import bipartite, directed, directed_far_view
from graphrefine.refine.settings import RefineSettings
from graphrefine.refine.svd import oversampled

WITH_SIDES = ("dim", "power", "two_sided", "bfloat16", "seed")  # the settings that source and target vectors have


def arcs_and_columns(graph: Graph, dim: int) -> tuple[Graph, int]:
    """Return the arcs from sources to targets, where edges have two sides, and the width of an engine for them."""
    if graph.sources is None:
        return graph, directed.columns(dim, graph.nodes)
    return bipartite.one_way(graph), oversampled(dim, graph.nodes)


def rounds(settings: RefineSettings) -> int:
    """Return how many rounds of two products each make at least as many as ``power`` asks for."""
    return (settings.power + 1) // 2


def fit_with_sides(graph: Graph, settings: RefineSettings, resources: Resources) -> Floats:
    """Return the source and target vectors of a directed or bipartite graph."""
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


def memory_with_sides(shape: Shape, settings: RefineSettings) -> int:
    """Return four tall matrices of the engine, and the vectors; beyond 'fast' what is held of the far view of arcs.

    For the least squares of bipartite graphs three more of the vectors, and the edges again.
    """
    width = oversampled(settings.dim if shape.bipartite else -(-settings.dim // 2), shape.nodes)
    held = engine_memory(shape, columns=width, matrices=4) + shape.nodes * settings.dim * 4
    if settings.quality == "fast":
        return held
    if shape.bipartite:
        return held + 3 * shape.nodes * -(-settings.dim // PAD) * PAD * 4 + 16 * shape.entries
    return held + directed_far_view.bytes_held(shape.nodes, settings.dim)
