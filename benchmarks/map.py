"""Maps: how long a layout takes, how many neighbors it finds and keeps, beside PCA, openTSNE and UMAP.

    python benchmarks/map.py [--only time|quality] [--sizes 10000,100000,1000000] [--threads 2] [--peers]
        [--save]

time: vectors of 128 numbers in as many groups as a hundredth of the points, drawn at random, laid out by `clusters`;
seconds of the clock and of the processor by stage, and the recall@10 of the neighbors, on 300 points by exact search.
Bar: a million points in at most 120 s of the clock, on two cores that do nothing else.

quality: real graphs, embedded with the default settings. "kept": of the 10 nearest by cosine, the part that is among
the 10 nearest on the map; "label": the part of points whose class most of their 10 nearest on the map share. Settings
of the layout were chosen while looking at digits, blogcatalog, lastfm-asia and coauthor-cs, and not at the others.
--peers: openTSNE and umap-learn with their default settings, if they are installed (minutes).
--save: writes docs/results/map-time.json, of the time.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

import graphrefine
import results
from common import data, graph, machine
from graphrefine.datasets.digits import digits_graph
from graphrefine.display.maps.layout import compute_layout
from graphrefine.display.maps.nearest import Neighbors
from graphrefine.display.maps.points import assign_classes
from graphrefine.evaluate import read_labels
from graphrefine.linalg import unit_rows
from graphrefine.progress import Stages

GRAPHS = "digits,blogcatalog,lastfm-asia,coauthor-cs,ppi,wikipedia-pos,amazon-photo,planetoid-pubmed"
DIM, ASKED, K, BAR = 128, 300, 10, 120.0


def drawn(n: int, seed: int = 0) -> NDArray[np.float32]:
    """Vectors about centers that are themselves about fewer, of groups that differ in size."""
    rng = np.random.default_rng(seed)
    groups = max(n // 100, 10)
    above = rng.standard_normal((max(groups // 50, 5), DIM), np.float32)
    centers = above[rng.integers(len(above), size=groups)] + rng.standard_normal((groups, DIM), np.float32)
    label = np.sort((groups * rng.random(n) ** 1.5).astype(np.int64))
    vectors = rng.standard_normal((n, DIM), np.float32)
    for start in range(0, n, 1 << 16):
        vectors[start : start + (1 << 16)] += centers[label[start : start + (1 << 16)]]
    return vectors


def recall(vectors: NDArray[np.float32], near: Neighbors) -> float:
    """The part of the true ten nearest that were found, on some points."""
    rng = np.random.default_rng(1)
    asked = rng.choice(len(vectors), min(ASKED, len(vectors)), replace=False)
    scores = vectors[asked] @ vectors.T
    scores /= np.linalg.norm(vectors[asked], axis=1)[:, None]
    scores /= np.linalg.norm(vectors, axis=1)
    scores[np.arange(len(asked)), asked] = -2
    least = np.partition(scores, -K, axis=1)[:, -K]
    return float((near.cosines[asked, :K] >= least[:, None] - 1e-6).mean())


def times(sizes: list[int], threads: int, *, save: bool) -> bool:
    print(f"\n{'points':>10}  clock s  cpu s  recall@10  stages, s of the clock")
    passed, rows = True, list[list[str]]()
    for n in sizes:
        vectors, stages = drawn(n), Stages()
        start, spent = perf_counter(), process_time()
        _, found = compute_layout(vectors, "clusters", seed=0, threads=threads, stages=stages)
        clock, cpu = perf_counter() - start, process_time() - spent
        assert found is not None
        parts = ", ".join(f"{name} {each:.1f}" for name, each in stages.seconds.items())
        rows.append([f"{n:,}", f"{clock:.1f}", f"{cpu:.1f}", f"{recall(vectors, found[0]):.3f}"])
        line = "{:>10} {:>8} {:>6} {:>10}  {}".format(*rows[-1], parts)
        if n >= 1_000_000:
            passed &= clock <= BAR
            line += f"   bar {BAR:g} s: {'reached' if clock <= BAR else 'MISSED'}"
        print(line, flush=True)
    if save:
        columns = ["points", "seconds", "seconds of the processor", "recall@10 of the neighbors"]
        results.save("map-time", seconds=results.Table(columns, rows))
    return passed


def known(name: str) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Vectors that are not zero, and their classes."""
    found, labels = digits_graph() if name == "digits" else (graph(name), read_labels(data(f"{name}.mat")))
    vectors = graphrefine.embed(found, dim=min(DIM, found.nodes)).vectors
    there = vectors.any(axis=1)
    return vectors[there], assign_classes(labels, np.arange(found.nodes)).codes[there]


def kept_and_told(vectors: NDArray[np.float32], codes: NDArray[np.int32], places: NDArray[Any]) -> tuple[float, float]:
    asked = np.random.default_rng(1).choice(len(vectors), min(3000, len(vectors)), replace=False)
    unit = unit_rows(vectors)
    scores = unit[asked] @ unit.T
    scores[np.arange(len(asked)), asked] = -2
    true = np.argpartition(-scores, K, axis=1)[:, :K].tolist()
    near: NDArray[Any] = np.asarray(cKDTree(places).query(places[asked], k=K + 1)[1])
    shown = [
        [other for other in row if other != own][:K] for own, row in zip(asked.tolist(), near.tolist(), strict=True)
    ]
    kept = float(np.mean([len({*a} & {*b}) / K for a, b in zip(true, shown, strict=True)]))
    told = []
    for own, row in zip(asked.tolist(), shown, strict=True):
        there = codes[row][codes[row] >= 0]
        if codes[own] >= 0:
            told.append(len(there) > 0 and np.bincount(there).argmax() == codes[own])
    return kept, float(np.mean(told))


def quality(names: list[str], threads: int, peers: bool) -> bool:
    makers: dict[str, Any] = {
        "pca": lambda x: compute_layout(x, "pca", seed=0, threads=threads, stages=Stages())[0],
        "clusters": lambda x: compute_layout(x, "clusters", seed=0, threads=threads, stages=Stages())[0],
    }
    if peers and importlib.util.find_spec("openTSNE"):
        makers["openTSNE"] = lambda x: _open_tsne(x, threads)
    if peers and importlib.util.find_spec("umap"):
        makers["UMAP"] = _umap
    print(f"\n{'':18} {'':9} kept@10  label  clock s")
    passed = True
    for name in names:
        vectors, codes = known(name)
        scores = {}
        for maker, make in makers.items():
            start = perf_counter()
            places = make(vectors)
            clock = perf_counter() - start
            scores[maker] = kept_and_told(vectors, codes, places)
            print(f"{name:18} {maker:9} {scores[maker][0]:7.3f} {scores[maker][1]:6.3f} {clock:8.1f}", flush=True)
        passed &= scores["clusters"][0] > 2 * scores["pca"][0]
    print(f"bar, on each: clusters keeps more than twice as many as pca: {'reached' if passed else 'MISSED'}")
    return passed


def _open_tsne(vectors: NDArray[np.float32], threads: int) -> NDArray[Any]:
    import openTSNE

    return np.asarray(openTSNE.TSNE(metric="cosine", random_state=0, n_jobs=threads).fit(vectors))


def _umap(vectors: NDArray[np.float32]) -> NDArray[Any]:
    import umap

    return np.asarray(umap.UMAP(metric="cosine", random_state=0, n_jobs=1).fit_transform(vectors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["time", "quality"])
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--save", action="store_true", help="write docs/results/map-time.json, of the time")
    given = parser.parse_args()
    print(f"{machine()}, {given.threads} threads")
    passed = True
    if given.only != "quality":
        passed &= times([int(size) for size in given.sizes.split(",")], given.threads, save=given.save)
    if given.only != "time":
        passed &= quality(given.graphs.split(","), given.threads, given.peers)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
