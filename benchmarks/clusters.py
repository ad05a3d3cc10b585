"""NMI and adjusted Rand index of k-means clusters against labels: the tiers, ProNE and DeepWalk.

    python benchmarks/clusters.py [--graphs lastfm-asia,...] [--methods default,best,prone,deepwalk] [--seeds 3]
        [--vectors FOLDER]

Unit rows of nodes with one label, as many clusters as classes, the best of 10 starts (`evaluate_clusters`). Means over
seeds of the vectors, and their standard deviation; the seeds of DeepWalk, which takes minutes, are set apart by
``--slow-seeds`` (1). With ``--vectors`` its vectors are kept (GRAPH-METHOD-SEED.npy) and taken from there if they are,
as `regret.py` does, and all seeds that are there count. Then, for each tier, how far it is from DeepWalk, and whether
that is less than the two standard deviations together. The line before is that of random unit vectors.
"""

from __future__ import annotations

import argparse
from math import hypot
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import graphrefine
from common import data, graph, machine
from graphrefine.evaluate import evaluate_clusters, read_labels
from graphrefine.graph.graph import Graph

SETTINGS: dict[str, dict[str, str]] = {
    "fast": {"quality": "fast"},
    "default": {},
    "best": {"quality": "best"},
    "prone": {"method": "prone"},
    "deepwalk": {"method": "deepwalk"},
}
SLOW = ("deepwalk",)
TIERS = ("fast", "default", "best")


def embed(whole: Graph, name: str, method: str, seed: int, folder: Path | None) -> NDArray[np.float32]:
    """Vectors by a tier or a method; those of a slow one from the folder, if they are there."""
    kept = folder / f"{name}-{method}-{seed}.npy" if folder and method in SLOW else None
    if kept is not None and kept.exists():
        rows: NDArray[np.float32] = np.load(kept)
        return rows
    rows = graphrefine.embed(whole, seed=seed, **SETTINGS[method]).vectors  # type: ignore[arg-type]
    if kept is not None:
        np.save(kept, rows)
    return rows


def list_seeds(name: str, method: str, given: argparse.Namespace) -> list[int]:
    """Seeds of a method: the first few, and of a slow one those whose vectors are kept."""
    if method not in SLOW:
        return list(range(given.seeds))
    files = {seed: given.vectors / f"{name}-{method}-{seed}.npy" for seed in range(given.seeds) if given.vectors}
    return sorted({*range(given.slow_seeds), *(seed for seed, file in files.items() if file.exists())})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default="lastfm-asia,coauthor-cs,planetoid-pubmed,amazon-photo")
    parser.add_argument("--methods", default=",".join(SETTINGS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--slow-seeds", type=int, default=1)
    parser.add_argument("--vectors", type=Path)
    given = parser.parse_args()
    print(machine())
    print(f"\n{'graph':18}{'vectors':10}{'seeds':>6}{'NMI':>18}{'ARI':>18}{'seconds':>9}")
    for name in given.graphs.split(","):
        whole, labels = graph(name), read_labels(data(f"{name}.mat"))
        nmis = dict[str, list[float]]()
        for method in given.methods.split(","):
            scores, start = [], perf_counter()
            for seed in list_seeds(name, method, given):
                scores.append(evaluate_clusters(embed(whole, name, method, seed, given.vectors), labels))
            seconds = (perf_counter() - start) / len(scores)
            nmis[method] = [each.nmi for each in scores]
            nmi, ari = (spread([getattr(each, figure) for each in scores]) for figure in ("nmi", "ari"))
            print(f"{name:18}{method:10}{len(scores):>6}{nmi:>18}{ari:>18}{seconds:>9.1f}", flush=True)
        control = f"{scores[-1].control_nmi:.4f}", f"{scores[-1].control_ari:.4f}"
        print(f"{name:18}{'random':10}{1:>6}{control[0]:>18}{control[1]:>18}", flush=True)
        for tier in TIERS:
            if tier in nmis and "deepwalk" in nmis:
                print(f"{name:18}{tier:10}{distance(nmis[tier], nmis['deepwalk'])}", flush=True)


def distance(ours: list[float], theirs: list[float]) -> str:
    """How far the mean of ours is from theirs, and the verdict: above, below, or within two standard deviations."""
    gap = float(np.mean(ours) - np.mean(theirs))
    noise = 2 * hypot(*(float(np.std(each, ddof=1)) for each in (ours, theirs) if len(each) > 1))
    word = "above DeepWalk" if gap >= 0 else "within two deviations" if -gap <= noise else "BELOW"
    return f"{gap:+.4f} from DeepWalk (two deviations: {noise:.4f}): {word}"


def spread(values: list[float]) -> str:
    """The mean, and the standard deviation where there are several."""
    return f"{np.mean(values):.4f}" + (f" ± {np.std(values, ddof=1):.4f}" if len(values) > 1 else "")


if __name__ == "__main__":
    main()
