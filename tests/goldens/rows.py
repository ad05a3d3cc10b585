"""The rows of the table of vectors: what is computed, on which graph, with compiled kernels and with their twins.

A row gives a hash: sha256 of names and float32 bytes. All of it goes through the public surface (``graphrefine.embed``,
the methods of an `Embedding`, ``python -m graphrefine``) and the few lines of ``adapter.py``.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import graphrefine
from goldens import adapter, graphs

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
KERNELS = ("native", "twin")
FAST, TYPED = {"quality": "fast"}, ("--quality", "fast")  # REFINE alone


@dataclass(frozen=True)
class Row:
    """A row of the table: its name, what gives its hash, and whether it takes seconds rather than a moment."""

    name: str
    compute: Callable[[], str]
    kernel: str
    slow: bool = False

    def hash(self) -> str:
        """The hash, computed with the kernels of this row; LookupError where its graph is not here."""
        with environment(GRAPHREFINE_KERNEL="native" if self.kernel == "native" else "scipy"):
            return self.compute()


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Environment variables for the time of a block."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def hash_of(names: Iterable[Any], *arrays: Any) -> str:
    """The hash of names, kept apart by their type, and of arrays as float32 with their shapes.

    >>> hash_of([1], [[1.0]]) == hash_of(["1"], [[1.0]])
    False
    """
    digest = hashlib.sha256()
    plain = [name.item() if isinstance(name, np.generic) else name for name in names]
    digest.update(json.dumps(plain, ensure_ascii=False).encode())
    for array in arrays:
        values = np.ascontiguousarray(array, dtype="<f4")
        digest.update(repr(values.shape).encode())
        digest.update(values.tobytes())
    return digest.hexdigest()


def hash_embedding(embedding: Any) -> str:
    """The hash of the names and vectors of an embedding."""
    return hash_of(embedding.names, embedding.vectors)


def run_command(*arguments: str | Path) -> dict[str, Any]:
    """Run ``python -m graphrefine ... --json``, and give the object that it prints."""
    command = [sys.executable, "-m", "graphrefine", *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr}")
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


# What rows compute


def embed_hash(graph: Callable[[], Any], **settings: Any) -> Callable[[], str]:
    """The hash of ``graphrefine.embed``."""
    return lambda: hash_embedding(graphrefine.embed(graph(), **settings))


def threads_hash(graph: Callable[[], Any], **settings: Any) -> Callable[[], str]:
    """The hash of ``graphrefine.embed`` by one thread; by two it must be the same."""

    def compute() -> str:
        one, two = (hash_embedding(graphrefine.embed(graph(), threads=count, **settings)) for count in (1, 2))
        return one if one == two else f"one thread: {one}, two threads: {two}"

    return compute


def learn_hash(graph: Callable[[], Any], **settings: Any) -> Callable[[], str]:
    """The hash of what was learned, and of what follows from it: new nodes and scores of pairs."""

    def compute() -> str:
        embedding = adapter.embed_and_learn(graph(), **settings)
        known = embedding.names[:12].tolist()
        new = "new" if isinstance(known[0], str) else 10**6
        edges = [(new, name) for name in known[:3]] + [(new * 2, name) for name in known[4:]] + [(new, new * 2)]
        folded = embedding.fold_in(edges)
        scores = embedding.score(known[:6], known[6:])
        weight = float(embedding.degree_weight).hex()
        return hash_of([*folded.names, weight], embedding.fold_map, folded.vectors, scores)

    return compute


def fold_mean_hash(graph: Callable[[], Any], **settings: Any) -> Callable[[], str]:
    """The hash of new nodes where no map was learned: means of neighbors."""

    def compute() -> str:
        whole = graphrefine.embed(graph(), **settings)
        bare = graphrefine.Embedding(whole.names, whole.vectors)
        known = bare.names[:5].tolist()
        return hash_embedding(bare.fold_in([("new" if isinstance(known[0], str) else 10**6, name) for name in known]))

    return compute


def align_hash(graph: Callable[[], Any], **settings: Any) -> Callable[[], str]:
    """The hash of vectors that are rotated onto those of another seed, and of the drift."""

    def compute() -> str:
        old, new = (graphrefine.embed(graph(), seed=seed, **settings) for seed in (0, 1))
        aligned = new.align_to(old)
        drift = {name: float(value).hex() for name, value in aligned.recipe["aligned"].items()}
        return hash_of([*aligned.names, json.dumps(drift, sort_keys=True)], aligned.vectors)

    return compute


def neighbors_hash(graph: Callable[[], Any], score: str, **settings: Any) -> Callable[[], str]:
    """The hash of the nearest nodes and their scores."""

    def compute() -> str:
        embedding = adapter.embed_and_learn(graph(), **settings)
        lists = embedding.neighbors(embedding.names[:20].tolist(), k=8, score=score)
        return hash_of([(near.node, float(near.score).hex()) for nearest in lists for near in nearest])

    return compute


def recommend_hash(graph: Callable[[], Any], **settings: Any) -> Callable[[], str]:
    """The hash of the best targets of some sources, and their scores."""

    def compute() -> str:
        embedding = graphrefine.embed(graph(), **settings)
        lists = [embedding.recommend(source, 9) for source in embedding.source_names[:20].tolist()]
        return hash_of([(name, float(value).hex()) for best in lists for name, value in best])

    return compute


def map_hash(graph: Callable[[], Any], method: str, **settings: Any) -> Callable[[], str]:
    """The hash of the table that ``graphrefine map`` writes."""

    def compute() -> str:
        import pyarrow.parquet as pq

        with TemporaryDirectory() as folder:
            graphrefine.embed(graph(), **settings).save(Path(folder) / "vectors.npz")
            run_command("map", Path(folder) / "vectors.npz", "-o", Path(folder) / "map.parquet", "--method", method)
            table = pq.read_table(Path(folder) / "map.parquet").to_pydict()
        names, *columns = table.values()
        return hash_of([*table, *names], *(column for column in columns if isinstance(column[0], float)))

    return compute


def command_hash(graph: Callable[[], list[Any]], *options: str, mode: str | None = None, store: bool = False) -> Any:
    """The hash of ``graphrefine embed FILE``, after ``ingest`` if asked; ``mode`` is the plan that it must follow."""

    def compute() -> str:
        with TemporaryDirectory() as folder:
            path = graphs.write_edges(Path(folder) / "edges.tsv", graph())
            if store:
                run_command("ingest", path, "-o", Path(folder) / "edges.grf")
                path = Path(folder) / "edges.grf"
            figures = run_command("embed", path, "-o", Path(folder) / "out.npz", *options)
            followed = figures.get("plan", {}).get("mode")
            if mode is not None and followed != mode:
                raise RuntimeError(f"the plan was {followed!r}, not {mode!r}: {figures.get('plan')}")
            return hash_embedding(graphrefine.load(Path(folder) / "out.npz"))

    return compute


# The table


def real(name: str) -> Callable[[], Any]:
    """A real graph, read when it is needed."""
    return lambda: graphs.real(name)


def settings_of(method: str, kernel: str) -> dict[str, Any]:
    """The settings for a short run; twins that train on samples have a tenth of them."""
    if kernel == "twin" and "samples" in SHORT.get(method, {}):
        return {"samples": SHORT[method]["samples"] / 10}
    return SHORT.get(method, {})


def small_blocks() -> Any:
    """A block model small enough for the twins of methods that train."""
    return graphs.blocks(90, seed=9)


def rows_of(kernel: str) -> Iterator[Row]:
    """The rows that are computed with one kind of kernels."""
    native = kernel == "native"
    blocks = graphs.blocks if native else small_blocks
    dim = 32 if native else 16
    generated: dict[str, Callable[[], Any]] = {
        "ring": graphs.ring, "blocks": graphs.blocks, "weighted": graphs.weighted, "isolated": graphs.isolated
    }  # fmt: skip

    def row(name: str, compute: Callable[[], str], slow: bool = False) -> Row:
        return Row(f"{kernel}/{name}", compute, kernel, slow)

    for method in METHODS:
        short = settings_of(method, kernel)
        yield row(f"method/{method}/blocks", embed_hash(blocks, dim=dim, method=method, seed=3, **short))
        if native:
            yield row(f"method/{method}/weighted", embed_hash(graphs.weighted, dim=20, method=method, **short))
            yield row(f"method/{method}/isolated", embed_hash(graphs.isolated, dim=17, method=method, **short))
            yield row(f"method/{method}/ppi", embed_hash(real("ppi"), dim=64, method=method, **short), slow=True)
    for method in DIRECTED:
        short = settings_of(method, kernel)
        arcs = graphs.directed if native else lambda: graphs.directed(80)
        yield row(f"directed/{method}", embed_hash(arcs, dim=dim, method=method, directed=True, **short))
    for name, graph in generated.items():
        yield row(f"default/{name}", embed_hash(graph, dim=24))
        yield row(f"paper/{name}", embed_hash(graph, dim=24, preset="paper"))
        yield row(f"fast/{name}", embed_hash(graph, dim=24, quality="fast"))
        yield row(f"best/{name}", embed_hash(graph, dim=24, quality="best"))
    for name in graphs.REAL:
        yield row(f"default/{name}", embed_hash(real(name)), slow=not native)
        yield row(f"fast/{name}", embed_hash(real(name), quality="fast"), slow=not native)
        yield row(f"paper/{name}", embed_hash(real(name), preset="paper"), slow=True)
        if native:
            yield row(f"threads/{name}", threads_hash(real(name), dim=64, **FAST), slow=True)
            yield row(f"best/{name}", embed_hash(real(name), quality="best"), slow=True)
    for filter in ("none", "taylor", "heat", "markov", "pagerank", "0,-1,-2,1"):
        given = [float(value) for value in filter.split(",")] if "," in filter else filter
        yield row(f"filter/{filter}", embed_hash(graphs.weighted, dim=24, filter=given))
    variants: dict[str, dict[str, Any]] = {
        "float32": {"bfloat16": False, **FAST},
        "one-sided": {"two_sided": False},
        "no-log-weights": {"log_weights": False},
        "block-8-power-2": {"block": 8, "power": 2},
        "negative-5-exponent-1": {"negative": 5.0, "exponent": 1.0},
    }
    for name, settings in variants.items():
        yield row(f"setting/{name}", embed_hash(graphs.weighted, dim=24, **settings))
    yield row("setting/netmf-exact", embed_hash(graphs.weighted, dim=20, method="netmf"))
    yield row("setting/randne-standardize", embed_hash(graphs.weighted, dim=20, method="randne", standardize=True))
    arcs_one_way: dict[str, dict[str, Any]] = {"default": {}, "fast": FAST, "paper": {"preset": "paper"}}
    for name, settings in arcs_one_way.items():
        yield row(f"directed/{name}", embed_hash(graphs.directed, dim=24, directed=True, **settings))
    sided = {"dim": 24, "bipartite": True}
    yield row("bipartite/default", embed_hash(graphs.bipartite, **sided))
    yield row("bipartite/fast", embed_hash(graphs.bipartite, **sided, **FAST))
    yield row("bipartite/recommend", recommend_hash(graphs.bipartite, **sided, **FAST))
    featured = {"dim": 24, "features": graphs.features(300)}
    yield row("features/isolated", embed_hash(graphs.isolated, **featured, **FAST))
    yield row("features/default", embed_hash(graphs.isolated, **featured))
    if native:
        yield row("threads/blocks", threads_hash(graphs.blocks, dim=32, **FAST))
        yield row("threads/default", threads_hash(graphs.blocks, dim=32))
        yield row("threads/deepwalk", threads_hash(graphs.blocks, dim=16, method="deepwalk", **SHORT["deepwalk"]))
    for name, graph in generated.items():
        yield row(f"learn/{name}", learn_hash(graph, dim=24, **FAST))
    yield row("learn/deepwalk", learn_hash(blocks, dim=16, method="deepwalk", **SHORT["deepwalk"]))
    yield row("fold-mean/blocks", fold_mean_hash(graphs.blocks, dim=24, **FAST))
    yield row("align/weighted", align_hash(graphs.weighted, dim=24, **FAST))
    for score in ("cosine", "dot", "link"):
        yield row(f"neighbors/{score}", neighbors_hash(graphs.isolated, score, dim=24, **FAST))
    for method in ("clusters", "pca"):
        slow = not native or method == "pca"
        yield row(f"map/{method}/blocks", map_hash(graphs.blocks, method, dim=24, **FAST), slow=slow)
    yield row("command/blocks", command_hash(graphs.blocks, "--dim", "24", *TYPED), slow=not native)
    yield row("command/bipartite", command_hash(graphs.bipartite, "--dim", "24", "--bipartite", *TYPED), slow=True)
    cluster = ("--executor", "dask", "--workers", "2", "--memory", "4GB")
    yield row("dask/weighted", command_hash(graphs.weighted, "--dim", "24", *TYPED, *cluster), slow=not native)
    if native:
        disk = ("--dim", "256", *TYPED, "--memory", "130MB")
        yield row("disk/columns", command_hash(graphs.large, *disk, mode="columns"), slow=True)
        yield row("disk/streamed", command_hash(graphs.large, *disk, mode="streamed", store=True), slow=True)
        yield row("dask/large", command_hash(graphs.large, "--dim", "40", *TYPED, *cluster), slow=True)
        for name in graphs.REAL:
            yield row(f"learn/{name}", learn_hash(real(name), dim=64, **FAST), slow=True)
        yield row("neighbors/lastfm-asia", neighbors_hash(real("lastfm-asia"), "cosine", **FAST), slow=True)
        yield row("map/lastfm-asia", map_hash(real("lastfm-asia"), "clusters", **FAST), slow=True)
        for method in ("deepwalk", "line", "harp", "mile"):  # with their own settings
            yield row(f"own/{method}", embed_hash(graphs.weighted, dim=32, method=method), slow=True)


ROWS = {row.name: row for kernel in KERNELS for row in rows_of(kernel)}
