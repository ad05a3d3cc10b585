"""Recall@20 and time of REFINE's bipartite vectors beside ALS of `implicit` (pip install implicit).

    python benchmarks/bipartite.py [--graphs taste,genres,...] [--dim 64] [--threads 1]

A fifth of each user's items is held out; recall@20 is the part of them among the 20 that score highest and were not in
the training part, in the mean over users. ALS runs with each of `SETTINGS`; its best recall is what counts, with the
time of that one run. Bars, on a generated or derived graph: recall at least that of ALS, in a tenth of its time.

``taste`` and ``genres`` are generated; others are derived from real graphs, each edge of which gets a user's end and an
item's end at random (flickr, wikipedia, youtube and more), or are real: users and groups (groups), packages and
what they need (npm). The settings in `graphrefine.refine.bipartite` were chosen on generated graphs, taste and
genres among them, and on groups, blogcatalog, ppi, photo and coauthors; nothing was chosen on the others.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import TypeVar

import numpy as np
import scipy.io
import scipy.sparse as sp
from numpy.typing import NDArray

import graphrefine
from common import data, machine

SETTINGS = ((0.01, 1.0), (10.0, 10.0), (30.0, 40.0), (100.0, 40.0), (100.0, 100.0))  # regularization, alpha
TOP = 20
Made = TypeVar("Made")


def taste(users: int = 12_000, items: int = 5_000, factors: int = 25, seed: int = 11) -> sp.csr_array:
    """Users take what suits their taste (a product of latent factors), popular items more often."""
    rng = np.random.default_rng(seed)
    tastes, traits = rng.normal(size=(users, factors)), rng.normal(size=(items, factors)) / np.sqrt(factors)
    popularity = -0.9 * np.log(rng.permutation(items) + 1.0)
    counts = np.clip((rng.pareto(1.5, users) + 0.5) * 10, 5, items // 5).astype(int)
    taken = []
    for user, count in enumerate(counts):
        liking = 1.6 * traits @ tastes[user] + popularity + rng.gumbel(size=items)
        taken.append(np.argpartition(-liking, count)[:count])
    return _matrix(np.repeat(np.arange(users), counts), np.concatenate(taken), (users, items))


def genres(users: int = 20_000, items: int = 6_000, groups: int = 80, seed: int = 12) -> sp.csr_array:
    """Users take items of one to four genres each, popular items more often."""
    rng = np.random.default_rng(seed)
    counts = np.clip((rng.pareto(1.5, users) + 0.5) * 8, 5, 300).astype(int)
    user = np.repeat(np.arange(users), counts)
    own = rng.integers(0, groups, (users, 4))[user, rng.integers(0, rng.integers(1, 5, users)[user])]
    group = np.where(rng.random(len(user)) < 0.15, rng.integers(0, groups, len(user)), own)
    item = (items // groups * rng.random(len(user)) ** 3).astype(int) * groups + group
    return _matrix(user, item, (users, items))


def oriented(name: str) -> sp.csr_array:
    """An undirected graph with a user's end and an item's end to each edge."""
    edges = sp.triu(scipy.io.loadmat(data(f"{name}.mat"))["network"], 1).tocoo()
    first = np.random.default_rng(0).random(edges.nnz) < 0.5
    ends = np.where(first, edges.row, edges.col), np.where(first, edges.col, edges.row)
    return _trimmed(_matrix(*ends, edges.shape))


def groups() -> sp.csr_array:
    """Users of Flickr and their groups."""
    return _trimmed(sp.csr_array(scipy.io.loadmat(data("flickr-8k-subset.mat"))["group"], dtype=np.float32), least=3)


def npm() -> sp.csr_array:
    """Packages and what they depend on."""
    graph = graphrefine.read(data("npm-dependencies.tsv.gz"), bipartite=True)
    sources = graph.sources or 0
    return _trimmed(sp.csr_array(graph.to_scipy()[:sources, sources:]))


GRAPHS: dict[str, Callable[[], sp.csr_array]] = {
    "taste": taste,
    "genres": genres,
    "flickr": lambda: oriented("flickr-8k-subset"),
    "wikipedia": lambda: oriented("wikipedia-pos"),
    "youtube": lambda: oriented("youtube-77k-groups"),
    "coauthors": lambda: oriented("coauthor-cs"),
    "groups": groups,
    "npm": npm,
    "blogcatalog": lambda: oriented("blogcatalog"),
    "ppi": lambda: oriented("ppi"),
    "photo": lambda: oriented("amazon-photo"),
}


def _matrix(rows: NDArray[np.integer], columns: NDArray[np.integer], shape: tuple[int, int]) -> sp.csr_array:
    matrix = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def _trimmed(matrix: sp.csr_array, *, least: int = 5) -> sp.csr_array:
    """Without users of few items and items of one user."""
    for _ in range(5):
        matrix = matrix[np.diff(matrix.indptr) >= least]
        matrix = matrix[:, np.diff(matrix.tocsc().indptr) >= 2].tocsr()
    return _matrix(*matrix.nonzero(), matrix.shape)


def split(matrix: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """A fifth of each user's items apart."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((np.random.default_rng(0).random(matrix.nnz), rows))  # in random order within a user
    place = np.arange(matrix.nnz) - matrix.indptr[rows]
    held = np.zeros(matrix.nnz, np.bool_)
    held[order] = place < np.round(0.2 * np.diff(matrix.indptr))[rows]
    parts = (_matrix(rows[part], matrix.indices[part], matrix.shape) for part in (~held, held))
    return next(parts), next(parts)


def recall(source: NDArray[np.float32], target: NDArray[np.float32], train: sp.csr_array, test: sp.csr_array) -> float:
    """Recall@20, a block of users at a time."""
    found = []
    for start in range(0, train.shape[0], 1000):
        known, wanted = (part[start : start + 1000] for part in (train, test))
        scores = source[start : start + 1000] @ target.T
        scores[known.nonzero()] = -np.inf
        top = np.argpartition(-scores, TOP, axis=1)[:, :TOP]
        hits = np.take_along_axis(wanted.toarray() > 0, top, axis=1).sum(axis=1)
        counts = np.diff(wanted.indptr)
        found.append(hits[counts > 0] / np.minimum(counts[counts > 0], TOP))
    return float(np.concatenate(found).mean())


def timed(run: Callable[[], Made]) -> tuple[Made, float]:
    """What it makes, and the least seconds of three runs."""
    times = []
    for _ in range(3):
        start = perf_counter()
        made = run()
        times.append(perf_counter() - start)
    return made, min(times)


def als(train: sp.csr_array, test: sp.csr_array, dim: int, threads: int) -> tuple[float, float]:
    """The best recall of ALS, and the seconds of that run."""
    from implicit.als import AlternatingLeastSquares

    best, quickest, matrix = 0.0, None, sp.csr_matrix(train)
    for regularization, alpha in SETTINGS:
        model = AlternatingLeastSquares(
            factors=dim, regularization=regularization, alpha=alpha, num_threads=threads, random_state=0
        )
        model.fit(matrix, show_progress=False)
        reached = recall(model.user_factors, model.item_factors, train, test)
        print(f"    ALS, regularization {regularization:g}, alpha {alpha:g}: {reached:.4f}", flush=True)
        if reached > best:
            best, quickest = reached, model
    assert quickest is not None
    return best, timed(partial(quickest.fit, matrix, show_progress=False))[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="taste,genres,groups,flickr,wikipedia,youtube,npm,coauthors")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    warnings.simplefilter("ignore")  # implicit's advice about BLAS threads
    print(machine())
    reached = []
    for name in given.graphs.split(","):
        train, test = split(GRAPHS[name]())
        users, items = train.shape
        print(f"\n{name}: {users:,} users, {items:,} items, {train.nnz:,} taken and {test.nnz:,} held out")
        popular = np.asarray(train.sum(axis=0), np.float32)[:, None]
        print(f"    popularity: {recall(np.ones((users, 1), np.float32), popular, train, test):.4f}")
        graph = graphrefine.read(train, bipartite=True)
        embed = partial(graphrefine.embed, graph, dim=given.dim, threads=given.threads)
        embedding, seconds = timed(embed)
        ours = recall(np.asarray(embedding.source), np.asarray(embedding.target), train, test)
        print(f"    REFINE: {ours:.4f}   {seconds:.2f} s", flush=True)
        theirs, their_seconds = als(train, test, given.dim, given.threads)
        both = ours >= theirs and seconds <= their_seconds / 10
        reached.append(both)
        print(f"  recall@20 {ours:.4f} against {theirs:.4f}, {their_seconds / seconds:.1f} times as fast: "
              f"{'bars reached' if both else 'MISSED'}")  # fmt: skip
    print(f"\nbars reached on {sum(reached)} of {len(reached)} graphs")
    sys.exit(not any(reached))


if __name__ == "__main__":
    main()
