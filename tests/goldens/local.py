"""The rows of one kind of processor: results that BLAS, LAPACK or the libraries of NumPy and SciPy have a part in.

Other methods, and what is learned from vectors or computed from them. A row
has a hash for each kind of processor in ``vectors.json``. All of it goes through the public surface
(``graphrefine.embed``, the methods of an `Embedding`, ``python -m graphrefine``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import graphrefine
from goldens import graphs
from goldens.covered import DIRECTED, GENERATED, METHODS, SHORT, is_covered, real
from goldens.hashes import hash_embedding, hash_of, run_command

FAST: dict[str, Any] = {"quality": "fast"}  # REFINE alone


class Row(NamedTuple):
    """A result: its name, what gives its hash, and whether it takes seconds rather than a moment."""

    name: str
    hash: Callable[[], str]  # LookupError where its graph is not here
    slow: bool = False


# What rows compute


def hash_vectors(graph: Callable[[], Any], **settings: Any) -> str:
    """Return the hash of ``graphrefine.embed``."""
    return hash_embedding(graphrefine.embed(graph(), **settings))


def hash_learned(graph: Callable[[], Any], **settings: Any) -> str:
    """Return the hash of what was learned, and of what follows from it: new nodes and scores of pairs."""
    embedding = graphrefine.embed(graph(), learn=True, **settings)
    known = embedding.names[:12].tolist()
    new = "new" if isinstance(known[0], str) else 10**6
    edges = [(new, name) for name in known[:3]] + [(new * 2, name) for name in known[4:]] + [(new, new * 2)]
    folded = embedding.fold_in(edges)
    scores = embedding.score(known[:6], known[6:])
    weight = float(embedding.degree_weight).hex()
    return hash_of([*folded.names, weight], embedding.fold_map, folded.vectors, scores)


def hash_fold_mean(graph: Callable[[], Any], **settings: Any) -> str:
    """Return the hash of new nodes where no map was learned: means of neighbors."""
    whole = graphrefine.embed(graph(), **settings)
    bare = graphrefine.Embedding(whole.names, whole.vectors)
    known = bare.names[:5].tolist()
    return hash_embedding(bare.fold_in([("new" if isinstance(known[0], str) else 10**6, name) for name in known]))


def hash_aligned(graph: Callable[[], Any], **settings: Any) -> str:
    """Return the hash of vectors that are rotated onto those of another seed, and of the drift."""
    old, new = (graphrefine.embed(graph(), seed=seed, **settings) for seed in (0, 1))
    aligned = new.align_to(old)
    drift = {name: float(value).hex() for name, value in aligned.recipe["aligned"].items()}
    return hash_of([*aligned.names, json.dumps(drift, sort_keys=True)], aligned.vectors)


def hash_neighbors(graph: Callable[[], Any], score: str, **settings: Any) -> str:
    """Return the hash of the nearest nodes and their scores."""
    embedding: Any = graphrefine.embed(graph(), learn=True, **settings)
    lists = embedding.neighbors(embedding.names[:20].tolist(), k=8, score=score)
    return hash_of([(near.node, float(near.score).hex()) for nearest in lists for near in nearest])


def hash_recommended(graph: Callable[[], Any], **settings: Any) -> str:
    """Return the hash of the best targets of some sources, and their scores."""
    embedding = graphrefine.embed(graph(), **settings)
    lists = [embedding.recommend(source, 9) for source in embedding.source_names[:20].tolist()]
    return hash_of([(name, float(value).hex()) for best in lists for name, value in best])


def hash_map(graph: Callable[[], Any], map_method: str, **settings: Any) -> str:
    """Return the hash of the table that ``graphrefine map`` writes."""
    import pyarrow.parquet as pq

    with TemporaryDirectory() as folder:
        graphrefine.embed(graph(), **settings).save(Path(folder) / "vectors.npz")
        run_command("map", Path(folder) / "vectors.npz", "-o", Path(folder) / "map.parquet", "--method", map_method)
        table = pq.read_table(Path(folder) / "map.parquet").to_pydict()
    names, *columns = table.values()
    return hash_of([*table, *names], *(column for column in columns if isinstance(column[0], float)))


# The rows


def row(name: str, compute: Callable[..., str], *arguments: Any, slow: bool = False, **settings: Any) -> Row:
    """Return a row under its name in ``vectors.json``."""
    return Row(f"native/{name}", partial(compute, *arguments, **settings), slow)


def list_rows() -> Iterator[Row]:
    """List all rows."""
    for method in METHODS:
        if not is_covered(method):
            yield from method_rows(method)
    yield row("setting/netmf-exact", hash_vectors, graphs.weighted, dim=20, method="netmf")
    yield row("setting/randne-standardize", hash_vectors, graphs.weighted, dim=20, method="randne", standardize=True)
    yield row("bipartite/recommend", hash_recommended, graphs.bipartite, dim=24, bipartite=True, **FAST)
    for name, graph in GENERATED.items():
        yield row(f"learn/{name}", hash_learned, graph, dim=24, **FAST)
    yield row("learn/deepwalk", hash_learned, graphs.blocks, dim=16, method="deepwalk", **SHORT["deepwalk"])
    yield row("fold-mean/blocks", hash_fold_mean, graphs.blocks, dim=24, **FAST)
    yield row("align/weighted", hash_aligned, graphs.weighted, dim=24, **FAST)
    for score in ("cosine", "dot", "link"):
        yield row(f"neighbors/{score}", hash_neighbors, graphs.isolated, score, dim=24, **FAST)
    for method in ("clusters", "pca"):
        yield row(f"map/{method}/blocks", hash_map, graphs.blocks, method, dim=24, **FAST, slow=method == "pca")
    for name in graphs.REAL:
        yield row(f"learn/{name}", hash_learned, real(name), dim=64, **FAST, slow=True)
    yield row("neighbors/lastfm-asia", hash_neighbors, real("lastfm-asia"), "cosine", **FAST, slow=True)
    yield row("map/lastfm-asia", hash_map, real("lastfm-asia"), "clusters", **FAST, slow=True)
    for method in ("harp", "mile"):  # with their own settings
        yield row(f"own/{method}", hash_vectors, graphs.weighted, dim=32, method=method, slow=True)


def method_rows(method: str) -> Iterator[Row]:
    """List the rows of a method that is not covered."""
    short = {"method": method, **SHORT.get(method, {})}
    yield row(f"method/{method}/blocks", hash_vectors, graphs.blocks, dim=32, seed=3, **short)
    yield row(f"method/{method}/weighted", hash_vectors, graphs.weighted, dim=20, **short)
    yield row(f"method/{method}/isolated", hash_vectors, graphs.isolated, dim=17, **short)
    yield row(f"method/{method}/ppi", hash_vectors, real("ppi"), dim=64, **short, slow=True)
    if method in DIRECTED:
        yield row(f"directed/{method}", hash_vectors, graphs.directed, dim=32, directed=True, **short)


ROWS = {row.name: row for row in list_rows()}
