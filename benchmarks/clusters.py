"""NMI and adjusted Rand index of k-means clusters against labels: the default, `quality="high"`, ProNE and DeepWalk.

    python benchmarks/clusters.py [--graphs lastfm-asia,...] [--methods default,high,prone,deepwalk] [--seeds 3]

Unit rows of nodes with one label, as many clusters as classes, the best of 10 starts (`evaluate_clusters`). Means over
seeds of the vectors, and their standard deviation; the seeds of DeepWalk, which takes minutes, are set apart by
``--slow-seeds`` (1). The last line of each graph is that of random unit vectors.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

import graphrefine
from common import data, graph, machine
from graphrefine.evaluate import evaluate_clusters, read_labels

SETTINGS: dict[str, dict[str, str]] = {
    "fast": {"quality": "fast"},
    "default": {},
    "best": {"quality": "best"},
    "prone": {"method": "prone"},
    "deepwalk": {"method": "deepwalk"},
}
SLOW = ("deepwalk",)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default="lastfm-asia,coauthor-cs,planetoid-pubmed,amazon-photo")
    parser.add_argument("--methods", default=",".join(SETTINGS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--slow-seeds", type=int, default=1)
    given = parser.parse_args()
    print(machine())
    print(f"\n{'graph':18}{'vectors':10}{'seeds':>6}{'NMI':>18}{'ARI':>18}{'seconds':>9}")
    for name in given.graphs.split(","):
        whole, labels = graph(name), read_labels(data(f"{name}.mat"))
        for method in given.methods.split(","):
            scores, start = [], perf_counter()
            for seed in range(given.slow_seeds if method in SLOW else given.seeds):
                embedding = graphrefine.embed(whole, seed=seed, **SETTINGS[method])  # type: ignore[arg-type]
                scores.append(evaluate_clusters(embedding, labels))
            seconds = (perf_counter() - start) / len(scores)
            nmi, ari = (spread([getattr(each, figure) for each in scores]) for figure in ("nmi", "ari"))
            print(f"{name:18}{method:10}{len(scores):>6}{nmi:>18}{ari:>18}{seconds:>9.1f}", flush=True)
        control = f"{scores[-1].control_nmi:.4f}", f"{scores[-1].control_ari:.4f}"
        print(f"{name:18}{'random':10}{1:>6}{control[0]:>18}{control[1]:>18}", flush=True)


def spread(values: list[float]) -> str:
    """The mean, and the standard deviation where there are several."""
    return f"{np.mean(values):.4f}" + (f" ± {np.std(values, ddof=1):.4f}" if len(values) > 1 else "")


if __name__ == "__main__":
    main()
