"""How fast neighbors are found: exact search beside faiss's, and an index of web-google with its recall.

python benchmarks/neighbors.py [--only exact|index] [--rounds 5] [--threads 2] [--save]     (pip install faiss-cpu)

Exact: the ten nearest of 1,000 nodes among 100,000 of dim 128, by faiss's flat index and by ours in turns. Index:
web-google embedded, its index made, and 1,000 nodes searched by both ways; `strict` counts a neighbor only if it is
the very node that exact search gives, of which many are equally near; recall counts those as found.
``--save`` writes docs/results/neighbors.json, of the index.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import graphrefine
import results
from common import graph, interleaved, machine, show
from graphrefine.search.searcher import Search

BAR_EXACT = 1 / 1.5  # of faiss's speed
BAR_RECALL = 0.95


def exact(rounds: int, threads: int) -> bool:
    import faiss

    vectors = np.random.default_rng(0).standard_normal((100_000, 128), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    faiss.omp_set_num_threads(threads)
    flat = faiss.IndexFlatIP(128)
    flat.add(vectors)
    search = Search(graphrefine.Embedding(None, vectors), threads=threads)
    rows = np.random.default_rng(1).choice(100_000, 1000, replace=False)
    found: dict[str, Any] = {}

    def by_faiss() -> None:
        found["faiss"] = flat.search(vectors[rows], 11)[1]

    def by_us() -> None:
        found["ours"] = search.nearest(rows=rows, k=10).rows

    seconds = interleaved({"faiss IndexFlatIP": by_faiss, "graphrefine": by_us}, rounds=rounds + 1)
    same = np.mean(found["faiss"][:, 1:] == found["ours"])
    title = f"exact, 10 nearest of 1,000 among 100,000 x 128, {threads} threads (the same nodes: {same:.2%})"
    return show(title, seconds, against="faiss IndexFlatIP", bars={"graphrefine": BAR_EXACT})


def index(threads: int, *, save: bool) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        graphrefine.embed(graph("web-google"), threads=threads).save(Path(folder) / "web-google")
        embedding = graphrefine.load(Path(folder) / "web-google")
        start = perf_counter()
        search = Search(embedding, index=True, threads=threads)
        made = perf_counter() - start
        start = perf_counter()
        Search(embedding, index=True, threads=threads)
        opened = perf_counter() - start
        rows = np.random.default_rng(1).choice(len(embedding), 1000, replace=False)
        wanted = Search(embedding, index=False, threads=threads).nearest(rows=rows)
        one_by_one = []
        found = np.empty_like(wanted.rows)
        scores = np.empty_like(wanted.scores)
        for at, row in enumerate(rows):
            start = perf_counter()
            near = search.nearest(rows=[row])
            one_by_one.append(perf_counter() - start)
            found[at], scores[at] = near.rows[0], near.scores[0]
        size = (
            sum(file.stat().st_size for file in search.index.path.iterdir())
            if search.index and search.index.path
            else 0
        )
    there = (wanted.rows >= 0).sum()
    recall = ((scores >= wanted.scores.min(axis=1, keepdims=True)) & (found >= 0)).sum() / there
    strict = sum(len(np.intersect1d(ours, theirs)) for ours, theirs in zip(found, wanted.rows, strict=True)) / there
    milliseconds = np.percentile(np.array(one_by_one) * 1e3, [50, 99])
    print(f"\nindex of web-google: {len(embedding):,} nodes x {embedding.dim}, {size / 1e6:.0f} MB")
    print(f"  made in {made:.1f} s with {threads} threads, opened again in {opened:.2f} s")
    print(f"  a node's 10 nearest in {milliseconds[0]:.2f} ms (median), {milliseconds[1]:.2f} ms (99%)")
    print(
        f"  recall@10 {recall:.4f} (strict {strict:.4f}; when it was made {search.recall:.4f})   bar {BAR_RECALL}:",
        end=" ",
    )
    print("reached" if recall >= BAR_RECALL else "MISSED")
    if save:
        columns = ["nodes", "index", "made in", "median of a search", "99% of the searches", "recall@10"]
        times = (f"{each:.2f} ms" for each in milliseconds)
        row = [f"{len(embedding):,}", f"{size / 1e6:.0f} MB", f"{made:.1f} s", *times, f"{recall:.4f}"]
        results.save("neighbors", search=results.Table(columns, [row]))
    return bool(recall >= BAR_RECALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["exact", "index"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save", action="store_true", help="write docs/results/neighbors.json, of the index")
    options = parser.parse_args()
    print(machine())
    passed = [exact(options.rounds, options.threads)] if options.only != "index" else []
    passed += [index(options.threads, save=options.save)] if options.only != "exact" else []
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()
