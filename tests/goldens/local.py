"""The rows of one kind of processor: results that BLAS, LAPACK or the libraries of NumPy and SciPy have a part in.

Other methods, and what is learned from vectors or computed from them. A row
has a hash for each kind of processor in ``vectors.json``. All of it goes through the public surface
(``graphrefine.embed``, the methods of an `Embedding`, ``python -m graphrefine``) and the few lines of ``adapter.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import graphrefine
from goldens import adapter, graphs
from goldens.covered import DIRECTED, GENERATED, METHODS, SHORT, real
from goldens.hashes import hash_embedding, hash_of, run_command

FAST = {"quality": "fast"}  # REFINE alone


@dataclass(frozen=True)
class Row:
    """A result: its name, what gives its hash, and whether it takes seconds rather than a moment."""

    name: str
    compute: Callable[[], str]
    slow: bool = False

    def hash(self) -> str:
        """Return the hash; LookupError where its graph is not here."""
        return self.compute()


# What rows compute


def embed_hash(graph: Callable[[], Any], **settings: Any) -> Callable[[], str]:
    """The hash of ``graphrefine.embed``."""
    return lambda: hash_embedding(graphrefine.embed(graph(), **settings))


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


# The rows


def row(name: str, compute: Callable[[], str], slow: bool = False) -> Row:
    """Return a row under its name in ``vectors.json``."""
    return Row(f"native/{name}", compute, slow)


def list_rows() -> Iterator[Row]:
    """List all rows."""
    for method in METHODS:
        if not adapter.is_covered(method):
            yield from method_rows(method)
    yield row("setting/netmf-exact", embed_hash(graphs.weighted, dim=20, method="netmf"))
    yield row("setting/randne-standardize", embed_hash(graphs.weighted, dim=20, method="randne", standardize=True))
    yield row("bipartite/recommend", recommend_hash(graphs.bipartite, dim=24, bipartite=True, **FAST))
    for name, graph in GENERATED.items():
        yield row(f"learn/{name}", learn_hash(graph, dim=24, **FAST))
    yield row("learn/deepwalk", learn_hash(graphs.blocks, dim=16, method="deepwalk", **SHORT["deepwalk"]))
    yield row("fold-mean/blocks", fold_mean_hash(graphs.blocks, dim=24, **FAST))
    yield row("align/weighted", align_hash(graphs.weighted, dim=24, **FAST))
    for score in ("cosine", "dot", "link"):
        yield row(f"neighbors/{score}", neighbors_hash(graphs.isolated, score, dim=24, **FAST))
    for method in ("clusters", "pca"):
        yield row(f"map/{method}/blocks", map_hash(graphs.blocks, method, dim=24, **FAST), slow=method == "pca")
    for name in graphs.REAL:
        yield row(f"learn/{name}", learn_hash(real(name), dim=64, **FAST), slow=True)
    yield row("neighbors/lastfm-asia", neighbors_hash(real("lastfm-asia"), "cosine", **FAST), slow=True)
    yield row("map/lastfm-asia", map_hash(real("lastfm-asia"), "clusters", **FAST), slow=True)
    for method in ("harp", "mile"):  # with their own settings
        yield row(f"own/{method}", embed_hash(graphs.weighted, dim=32, method=method), slow=True)


def method_rows(method: str) -> Iterator[Row]:
    """List the rows of a method that is not covered."""
    short = {"method": method, **SHORT.get(method, {})}
    yield row(f"method/{method}/blocks", embed_hash(graphs.blocks, dim=32, seed=3, **short))
    yield row(f"method/{method}/weighted", embed_hash(graphs.weighted, dim=20, **short))
    yield row(f"method/{method}/isolated", embed_hash(graphs.isolated, dim=17, **short))
    yield row(f"method/{method}/ppi", embed_hash(real("ppi"), dim=64, **short), slow=True)
    if method in DIRECTED:
        yield row(f"directed/{method}", embed_hash(graphs.directed, dim=32, directed=True, **short))


ROWS = {row.name: row for row in list_rows()}
