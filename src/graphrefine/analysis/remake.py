"""The recipe of an embedding run again on a graph: whether this machine makes the same vectors, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.fingerprint import GRAPH, digest_graph
from graphrefine.embedding.formats import format_place
from graphrefine.errors import InputError
from graphrefine.graph.graph import Graph
from graphrefine.kernels.numerics import NUMERICS_VERSION, compare_bits, version_of
from graphrefine.methods.registry import METHODS, find_method, make_settings
from graphrefine.pipeline.embed_run import EmbedRun, Request
from graphrefine.pipeline.settings import RunSettings
from graphrefine.progress import Watcher
from graphrefine.readers.read import read

BLOCK = 1 << 14  # rows compared at a time


def remake(
    embedding: Embedding,
    graph: Any,
    *,
    reading: Mapping[str, Any] | None = None,
    features: Any = None,
    threads: int | None = None,
    watcher: Watcher | None,
) -> tuple[str | None, dict[str, Any]]:
    """Why a graph gives other vectors here than an embedding has, None where it gives the same; and figures of it."""
    recipe = embedding.recipe
    _check_origin(embedding, features)
    options = {name: value for name, value in (reading or {}).items() if value is not None}
    if isinstance(graph, Graph):
        whole = read(graph, **options) if options else graph
    else:
        whole = read(graph, **(options | _direction(embedding, options)), threads=threads)
    figures: dict[str, Any] = {"reading": whole.reading, "same_graph": None, "same_vectors": False}
    if GRAPH in recipe:
        figures["same_graph"] = digest_graph(whole) == recipe[GRAPH]
        if not figures["same_graph"]:
            return f"the graph is not the one that the vectors were made from{_tell_reading(recipe, whole)}", figures
    version = version_of(recipe)
    if version is not None and version != NUMERICS_VERSION:
        ours = f"this graphrefine has version {NUMERICS_VERSION}"
        return f"the vectors are of numerics version {version!r}, and {ours}", figures
    again = _run(recipe, whole, features=features, threads=threads, watcher=watcher)
    figures |= _compare(embedding, again)
    if figures["same_vectors"]:
        return None, figures
    reason = compare_bits(recipe, again.recipe)
    why = f"; there and here: {reason}" if reason else "; nothing in the recipes tells why"
    if again.names.shape != embedding.names.shape or not np.array_equal(again.names, embedding.names):
        return f"the graph has other nodes than the embedding{why}", figures
    count, most = figures["differing_nodes"], figures["largest_difference"]
    return f"{count:,} of {len(again):,} vectors have other bits here, by {most:.2g} at most{why}", figures


def _tell_reading(recipe: dict[str, Any], graph: Graph) -> str:
    """Whether another reading can be why the graph is another one."""
    then, now = recipe.get("reading"), graph.reading
    if then is None:
        return f"; now {now}"
    if then == now:
        return ": it is read as it was then, and its nodes or edges are others"
    return f", or it was read otherwise: then {then}; now {now}"


def _check_origin(embedding: Embedding, features: Any) -> None:
    """Refuse vectors that a graph alone does not make again."""
    recipe, place = embedding.recipe, "" if embedding.path is None else f"{format_place(embedding.path)}: "
    way_out = "check the embedding that they come from"
    if recipe.get("method") not in METHODS:
        problem = "how the vectors were made is not recorded, or no method of graphrefine made them; leave graph= out"
    elif "aligned" in recipe:
        problem = f"the vectors were rotated onto others (align_to); {way_out} with graph=, and this one with against="
        raise InputError(f"{place}{problem}", argument="graph")
    elif "truncated" in recipe:
        problem = f"the vectors are the first axes of others (truncated); {way_out}"
    elif "features" in recipe and features is None:
        raise InputError(f"{place}the vectors were made with features; give them as features=", argument="features")
    else:
        return
    raise InputError(f"{place}{problem}", argument="graph")


def _direction(embedding: Embedding, options: Mapping[str, Any]) -> dict[str, Any]:
    """The direction of the recipe, where options do not say one."""
    if options.get("directed") is not None or options.get("bipartite"):
        return {}
    kind = embedding.sides.kind
    return {"bipartite": True} if kind == "rows" else {"directed": bool(embedding.recipe.get("directed"))}


def _run(
    recipe: dict[str, Any], graph: Graph, *, features: Any, threads: int | None, watcher: Watcher | None
) -> Embedding:
    method = find_method(recipe["method"])
    names = {each.name for each in fields(method.settings)}
    settings = {name: _frozen(value) for name, value in recipe.items() if name in names}
    run = RunSettings(threads=threads, learn=False)
    request = Request(graph, make_settings(method.name, **settings), method=method, features=features, run=run)
    with EmbedRun(request) as again:
        again.read(watcher)
        again.make_plan()
        return again.embed()


def _frozen(value: Any) -> Any:
    """A setting as it was before JSON made a list of it."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _compare(one: Embedding, other: Embedding) -> dict[str, Any]:
    if one.shape != other.shape or not np.array_equal(one.names, other.names):
        return {"same_vectors": False, "differing_nodes": None, "largest_difference": None}
    count, most = 0, 0.0
    for start in range(0, len(one), BLOCK):
        here, there = (np.ascontiguousarray(each.vectors[start : start + BLOCK]) for each in (one, other))
        differs = (here.view(np.uint32) != there.view(np.uint32)).any(axis=1)
        count += int(differs.sum())
        most = max(most, float(np.abs(here[differs] - there[differs]).max(initial=0.0)))
    return {"same_vectors": count == 0, "differing_nodes": count, "largest_difference": most}
