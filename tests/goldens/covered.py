"""The covered rows: vectors that have one hash for every processor, and for every way in which they are made.

A row is a graph and settings. Its hash, which ``vectors.json`` has under the version of the arithmetic, is the same
with every instruction set, and in every way of `WAYS` that the row lists: in memory, by one thread or four, by the
command line, with tall matrices on disk, on a Dask cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import graphrefine
from goldens import graphs
from goldens.hashes import embed_by_command, hash_embedding, list_options
from graphrefine.engine import layout
from graphrefine.kernels import PAD
from graphrefine.methods.registry import find_method
from graphrefine.pipeline.embed_run import EmbedRun

METHODS = (
    *("refine", "rbqr", "prone", "netmf", "netsmf", "grarep", "hope", "arope", "randne", "fastrp"),
    *("deepwalk", "node2vec", "line", "pte", "harp", "mile", "louvainne"),
)
SHORT: dict[str, dict[str, Any]] = {  # of the methods that train: settings for a run of a moment
    "refine": {"quality": "fast"},  # the tiers have rows of their own
    "netmf": {"rank": 256},  # the exact sum has a row of its own
    "netsmf": {"rounds": 20},
    "deepwalk": {"walks": 3, "length": 12, "window": 4},
    "node2vec": {"walks": 3, "length": 12, "window": 4, "p": 0.5, "q": 2.0},
    "line": {"samples": 0.02},  # millions
    "pte": {"samples": 0.02},
    "harp": {"base_settings": "walks=2,length=8,window=3", "coarsest": 30},
    "mile": {"base": "netmf", "base_settings": "rank=256", "levels": 1, "steps": 20},
}
DIRECTED = ("refine", "rbqr", "hope", "deepwalk", "node2vec", "line", "pte")
TIERS: dict[str, dict[str, Any]] = {
    "default": {}, "paper": {"preset": "paper"}, "fast": {"quality": "fast"}, "best": {"quality": "best"}
}  # fmt: skip
GENERATED: dict[str, Callable[[], Any]] = {
    "ring": graphs.ring, "blocks": graphs.blocks, "weighted": graphs.weighted, "isolated": graphs.isolated
}  # fmt: skip
FILTERS: tuple[str | tuple[float, ...], ...] = ("none", "taylor", "heat", "markov", "pagerank", (0.0, -1.0, -2.0, 1.0))
VARIANTS: dict[str, dict[str, Any]] = {
    "float32": {"bfloat16": False, "quality": "fast"},
    "one-sided": {"two_sided": False},
    "no-log-weights": {"log_weights": False},
    "block-8-power-2": {"block": 8, "power": 2},
    "negative-5-exponent-1": {"negative": 5.0, "exponent": 1.0},
    "automatic-dim": {"dim": "auto", "quality": "fast"},
}
BUDGET = ("--memory", "130MB")  # too little for the vectors of `graphs.large` in memory
BLOCK_BYTES = 1 << 16  # of a block of rows on disk and on Dask, so that small graphs have several
THREADS = ("1 thread", "4 threads")
WORKERS = 2


@dataclass(frozen=True)
class Row:
    """Vectors that have one hash: a graph, settings, and the ways to them beside that in memory."""

    name: str
    graph: Callable[[], Any]
    settings: dict[str, Any]
    ways: tuple[str, ...] = ()
    slow_ways: tuple[str, ...] = ()  # further ones, which take seconds
    slow: bool = False  # whether they all do

    def hash(self, way: str = "memory") -> str:
        """Return the hash of the vectors by compiled kernels; LookupError where the graph is not here."""
        return hash_embedding(WAYS[way](self.graph, **self.settings))

    def list_ways(self) -> dict[str, bool]:
        """Return all ways by name, with whether they are slow.

        >>> Row("ring", graphs.ring, {"dim": 4}, ways=("disk",), slow_ways=("dask",)).list_ways()
        {'memory': False, 'disk': False, 'dask': True}
        """
        quick, slow = dict.fromkeys(("memory", *self.ways), self.slow), dict.fromkeys(self.slow_ways, True)
        return {**quick, **slow}


# Ways to the same vectors: functions of a function that gives the graph, and of settings


def embed(graph: Callable[[], Any], **settings: Any) -> Any:
    """Return the vectors in memory."""
    return graphrefine.embed(graph(), **settings)


def embed_on_disk(graph: Callable[[], Any], **settings: Any) -> Any:
    """Return the vectors with tall matrices on disk: in panels of few columns, and in several blocks of rows."""
    # A budget alone cannot ask for it, as a small graph fits into any.
    make_plan = EmbedRun.make_plan

    def plan_files(run: Any, **options: Any) -> Any:
        run.plan = replace(make_plan(run, **options), mode="columns", panel=PAD)
        return run.plan

    with patch.object(layout, "LEAST_BYTES", BLOCK_BYTES), patch.object(EmbedRun, "make_plan", plan_files):
        return graphrefine.embed(graph(), **settings)


def embed_on_dask(graph: Callable[[], Any], **settings: Any) -> Any:
    """Return the vectors by a Dask cluster of the run's own."""
    with patch.object(layout, "LEAST_BYTES", BLOCK_BYTES):
        return graphrefine.embed(graph(), executor="dask", workers=WORKERS, **settings)


def embed_by_line(graph: Callable[[], list[Any]], **settings: Any) -> Any:
    """Return the vectors by the command line, in memory."""
    return embed_by_command(graph, *list_options(settings), mode="memory")


def embed_in_budget(graph: Callable[[], list[Any]], *, store: bool, **settings: Any) -> Any:
    """Return the vectors by the command line within `BUDGET`, the graph in memory or, after ``ingest``, on disk."""
    mode = "streamed" if store else "columns"
    return embed_by_command(graph, *list_options(settings), *BUDGET, mode=mode, store=store)


WAYS: dict[str, Callable[..., Any]] = {
    "memory": embed,
    "1 thread": partial(embed, threads=1),
    "2 threads": partial(embed, threads=2),
    "4 threads": partial(embed, threads=4),
    "command": embed_by_line,
    "disk": embed_on_disk,
    "columns": partial(embed_in_budget, store=False),
    "streamed": partial(embed_in_budget, store=True),
    "dask": embed_on_dask,
}


# The rows


def is_covered(method: str) -> bool:
    """Return whether the vectors of a method have the same bits on every processor.

    >>> is_covered("refine"), is_covered("netmf")
    (True, False)
    """
    return find_method(method).processor_dependence is None


def real(name: str) -> Callable[[], Any]:
    """Return a real graph, read when it is needed."""
    return partial(graphs.real, name)


def list_rows() -> Iterator[Row]:
    """List all rows."""
    for method in filter(is_covered, METHODS):
        yield from list_method_rows(method)
    for tier, settings in TIERS.items():
        yield from list_tier_rows(tier, settings)
    for filter_ in FILTERS:
        name = filter_ if isinstance(filter_, str) else ",".join(f"{value:g}" for value in filter_)
        ways = (*THREADS, "disk")
        yield Row(f"filter/{name}", graphs.weighted, {"dim": 24, "filter": filter_}, ways)
    for name, settings in VARIANTS.items():
        yield Row(f"setting/{name}", graphs.weighted, {"dim": 24, **settings}, (*THREADS, "disk"))
    sided: dict[str, Any] = {"dim": 24, "bipartite": True}
    yield Row("bipartite/default", graphs.bipartite, sided, THREADS, ("command",))
    yield Row("bipartite/fast", graphs.bipartite, {**sided, **TIERS["fast"]}, THREADS, ("command",))
    featured = {"dim": 24, "features": graphs.features(300)}
    yield Row("features/isolated", graphs.isolated, {**featured, **TIERS["fast"]}, THREADS)
    yield Row("features/default", graphs.isolated, featured, THREADS)
    wide = {"dim": 256, **TIERS["fast"]}
    yield Row("fast/large", graphs.large, wide, ("1 thread", "columns", "streamed", "dask"), slow=True)
    yield Row("default/large", graphs.large, {"dim": 32}, ("1 thread", "disk", "dask"), slow=True)
    for method in ("deepwalk", "line"):  # with their own settings
        yield Row(f"own/{method}", graphs.weighted, {"dim": 32, "method": method}, slow=True)


def list_method_rows(method: str) -> Iterator[Row]:
    """List the rows of a method: a graph of every kind."""
    settings = {"method": method, **SHORT.get(method, {})}
    ways = (*THREADS, "disk") if method in ("refine", "rbqr") else THREADS
    yield Row(f"method/{method}/blocks", graphs.blocks, {"dim": 32, "seed": 3, **settings}, ways)
    yield Row(f"method/{method}/weighted", graphs.weighted, {"dim": 20, **settings}, ways)
    yield Row(f"method/{method}/isolated", graphs.isolated, {"dim": 17, **settings}, ways)
    yield Row(f"method/{method}/ppi", real("ppi"), {"dim": 64, **settings}, ways, slow=True)
    if method in DIRECTED:
        ways = ways if method == "rbqr" else THREADS  # the two sides of REFINE are made in memory
        yield Row(f"directed/{method}", graphs.directed, {"dim": 32, "directed": True, **settings}, ways)


def list_tier_rows(tier: str, settings: dict[str, Any]) -> Iterator[Row]:
    """List the rows of a quality of REFINE, or of the paper's own settings."""
    ways: tuple[str, ...] = (*THREADS, "disk")
    slow_ways = {"ring": ("command",), "blocks": ("command", "dask"), "weighted": ("command",)}
    for name, graph in GENERATED.items():
        quick = (*ways, "dask") if name == "weighted" and tier in ("default", "fast") else ways
        yield Row(f"{tier}/{name}", graph, {"dim": 24, **settings}, quick, slow_ways.get(name, ()))
    for name in graphs.REAL:
        slow = tier in ("paper", "best")
        yield Row(f"{tier}/{name}", real(name), settings, slow_ways=(*ways, "dask"), slow=slow)
    if tier != "best":
        ways = ways if tier == "paper" else THREADS
        yield Row(f"directed/{tier}", graphs.directed, {"dim": 24, "directed": True, **settings}, ways)


ROWS = {row.name: row for row in list_rows()}
