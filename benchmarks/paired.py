"""F1 and neighbors of this version beside those of another one: the same graphs, seeds and splits for both.

    python benchmarks/paired.py --before PYTHON [--graphs ppi,...] [--tiers paper,fast,default] [--seeds 10]
        [--splits 3] [--tolerance 0.2] [--neighbors ppi,...] [--threads 1]

``--before`` is the Python of an environment in which the other version is installed. Each version makes its vectors in
a process of its own; one judge, that of this version, scores both: Micro and Macro F1 at 10 and 50 % training, unit
rows, C = 1, with splits that differ between seeds. A cell is the mean over seeds of the paired difference, after minus
before, with one standard error over the seeds; it is MISSED if it is further from 0 than the tolerance. The command
fails if a cell is. For the graphs of ``--neighbors``: the mean share of a node's 10 nearest nodes by cosine that both
versions have, and as a control, that two seeds of the version before have.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from common import data, graph, machine
from graphrefine.evaluate import Labels, evaluate_labels, read_labels

Vectors = NDArray[np.float32]  # (n, k)

# Cheap graphs first: what is known early is printed early.
GRAPHS = (
    *("ppi", "lastfm-asia", "wikipedia-pos", "amazon-photo", "planetoid-pubmed", "coauthor-cs", "blogcatalog"),
    *("flickr-8k-subset", "youtube-77k-groups"),
)
RATIOS = (0.1, 0.5)
METRICS = ("micro_f1", "macro_f1")
CELLS = tuple((metric, ratio) for ratio in RATIOS for metric in METRICS)

# Vectors of one graph by the version that runs this: a folder, a graph, the tiers, the number of seeds, threads.
WORKER = """
import sys
import numpy, graphrefine
folder, path, tiers, seeds, threads = sys.argv[1:]
graph = graphrefine.read(path)
for tier in tiers.split(","):
    option = {"preset": tier} if tier == "paper" else {"quality": tier}
    for seed in range(int(seeds)):
        made = graphrefine.embed(graph, seed=seed, threads=int(threads), **option)
        numpy.save(f"{folder}/{tier}-{seed}.npy", made.vectors)
"""


def make_vectors(python: str, folder: Path, name: str, given: argparse.Namespace) -> None:
    """Vectors of a graph by one version, as files TIER-SEED.npy of a folder."""
    folder.mkdir()
    numbers = str(given.seeds), str(given.threads)
    subprocess.run([python, "-c", WORKER, folder, data(f"{name}.mat"), given.tiers, *numbers], check=True)


def load(folder: Path, tier: str, seed: int) -> Vectors:
    rows: Vectors = np.load(folder / f"{tier}-{seed}.npy")
    return rows


def score(rows: Vectors, labels: Labels, seed: int, given: argparse.Namespace) -> list[float]:
    """F1 of each of the cells, a mean over splits."""
    scores = evaluate_labels(rows, labels, ratios=RATIOS, repeats=given.splits, C=1.0, seed=seed, threads=given.threads)
    values = {each.ratio: each.values for each in scores.ratios}
    return [float(np.mean(values[ratio][metric])) for metric, ratio in CELLS]


def compare_f1(before: Path, after: Path, name: str, given: argparse.Namespace) -> Iterator[float]:
    """Print a line for each tier; the paired mean differences."""
    labels = read_labels(data(f"{name}.mat"))
    for tier in given.tiers.split(","):
        start, scores = perf_counter(), []
        for seed in range(given.seeds):
            scores.append([score(load(folder, tier, seed), labels, seed, given) for folder in (before, after)])
        table = np.array(scores)  # (seeds, 2, cells)
        paired = table[:, 1] - table[:, 0]
        means, errors = paired.mean(axis=0), paired.std(axis=0, ddof=1) / np.sqrt(given.seeds)
        cells = (
            f"{was:6.2f} {mean:+6.3f} ±{error:.3f} {'within' if abs(mean) <= given.tolerance else 'MISSED'}"
            for was, mean, error in zip(table[:, 0].mean(axis=0), means, errors, strict=True)
        )
        print(f"{name:20} {tier:8} {'   '.join(cells)}   ({perf_counter() - start:.0f} s)", flush=True)
        yield from means.tolist()


def find_nearest(rows: Vectors, nodes: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """The k nearest nodes by cosine of each of some nodes, itself not one of them."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    near = []
    for some in np.array_split(nodes, max(1, len(nodes) // 200)):
        cosines = unit[some] @ unit.T
        cosines[np.arange(len(some)), some] = -np.inf
        near.append(np.argpartition(cosines, -k, axis=1)[:, -k:])
    return np.concatenate(near)


def share(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """The mean share of the nearest nodes that are the same in two tables."""
    return float((one[:, :, None] == other[:, None, :]).any(axis=2).mean())


def compare_neighbors(before: Path, after: Path, name: str, given: argparse.Namespace) -> None:
    """Print the share of neighbors that stay, tier by tier, over a sample of nodes with edges."""
    nodes = np.flatnonzero(graph(name).out_counts)
    nodes = np.random.default_rng(0).choice(nodes, min(2000, len(nodes)), replace=False)
    for tier in given.tiers.split(","):
        was, now = ([find_nearest(load(f, tier, seed), nodes, 10) for seed in (0, 1)] for f in (before, after))
        print(
            f"{name:20} {tier:8} kept, of seeds 0 and 1: {share(was[0], now[0]):.4f}, {share(was[1], now[1]):.4f};"
            f" control, another seed: {share(was[0], was[1]):.4f} before, {share(now[0], now[1]):.4f} after",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, help="the Python of the other version")
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--tiers", default="paper,fast,default")
    parser.add_argument("--seeds", type=int, default=10, help="two or more")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--tolerance", type=float, default=0.2)
    parser.add_argument("--neighbors", default="ppi,blogcatalog,coauthor-cs")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    print(f"{machine()}, {given.threads} threads; {given.seeds} seeds, {given.splits} splits")
    for title, python in (("before", given.before), ("after", sys.executable)):
        place = subprocess.check_output([python, "-c", "import graphrefine; print(graphrefine.__file__)"], text=True)
        print(f"{title}: {place.strip()}")
    print("before, after - before, standard error: " + ", ".join(f"{m} at {ratio:.0%}" for m, ratio in CELLS))
    differences = list[float]()
    for name in given.graphs.split(","):
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder) / "before", Path(folder) / "after"
            make_vectors(given.before, before, name, given)
            make_vectors(sys.executable, after, name, given)
            differences += compare_f1(before, after, name, given)
            if name in given.neighbors.split(","):
                compare_neighbors(before, after, name, given)
    furthest = max(map(abs, differences))
    missed = sum(abs(each) > given.tolerance for each in differences)
    print(f"{len(differences)} cells: the furthest is {furthest:.3f} from 0; {missed} MISSED {given.tolerance}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
