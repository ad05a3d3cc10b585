"""F1, clusters and time of the tiers of quality, beside other methods, and beside the vectors of an earlier version.

    python benchmarks/tiers.py [--graphs ppi,...] [--methods fast,default,best,prone,...] [--seeds 3] [--threads N]
        [--against METHOD] [--vectors FOLDER] [--chosen] [--time-only] [--save]

Unit rows, labeled nodes, 1, 10 and 50 % of them for training (50, 10 and 10 splits, the same for every method), C = 1
and with ``--chosen`` also C chosen by cross-validation on the training part. ``--against`` prints the paired difference
from one of the methods with two standard errors over all splits and seeds, and marks what is below it by more than 0.2
and by more than that. ``--vectors`` keeps the vectors of slow methods (GRAPH-METHOD-SEED.npy) and takes them from there
if they are: any other name of a method is looked for there, such as that of an earlier version. ``--time-only`` times
the tiers in turns and prints the ratios to ``fast``. Then, for every graph, how far the default is from the best of all
methods that were run. ``--save`` writes docs/results/tiers.json, or with ``--time-only`` tiers-time.json.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

import graphrefine
import results
from common import data, graph, interleaved, machine
from graphrefine.evaluate import evaluate_labels, read_labels
from graphrefine.graph.graph import Graph

Scores = NDArray[np.float64]  # (splits,): Micro F1
Cells = dict[tuple[str, float], Scores]  # of (C, ratio)

TIERS = ("fast", "default", "best")
GRAPHS = (
    *("planetoid-pubmed", "coauthor-cs", "lastfm-asia", "amazon-photo", "ppi", "wikipedia-pos", "blogcatalog"),
    *("flickr-8k-subset", "youtube-77k-groups"),
)
SPLITS = {0.01: 50, 0.1: 10, 0.5: 10}


def vectors(read: Graph, name: str, method: str, seed: int, given: argparse.Namespace) -> NDArray[np.float32]:
    if method in TIERS:
        return graphrefine.embed(read, quality=method, seed=seed, threads=given.threads).vectors
    kept = given.vectors / f"{name}-{method}-{seed}.npy" if given.vectors else None
    if kept is not None and kept.exists():
        rows: NDArray[np.float32] = np.load(kept)
        return rows
    rows = graphrefine.embed(read, method=method, seed=seed, threads=given.threads).vectors
    if kept is not None:
        np.save(kept, rows)
    return rows


def score(name: str, rows: NDArray[np.float32], given: argparse.Namespace) -> Cells:
    labels, cells = read_labels(data(f"{name}.mat")), {}
    for title, C in (("C = 1", 1.0), ("C chosen", "cv"))[: 1 + given.chosen]:
        for ratio, repeats in SPLITS.items():
            options = {"ratios": (ratio,), "repeats": repeats, "C": C, "threads": given.threads}
            scores = evaluate_labels(rows, labels, **options)
            cells[title, ratio] = np.array(scores.ratios[0].values["micro_f1"])
    return cells


def difference(ours: Scores, theirs: Scores) -> str:
    """The mean of a paired difference and two standard errors; marked where it is a loss."""
    paired = ours - theirs
    mean, error = float(paired.mean()), float(2 * paired.std() / np.sqrt(len(paired)))
    return f"{mean:+6.2f} ±{error:.2f}{' BELOW' if mean < -max(0.2, error) else ''}"


def measure_f1(given: argparse.Namespace) -> None:
    methods, rows = given.methods.split(","), list[list[str]]()
    for name in given.graphs.split(","):
        read, table = graph(name), dict[str, Cells]()
        print(f"\n{name}: {read.nodes:,} nodes, Micro F1 at {', '.join(f'{ratio:.0%}' for ratio in SPLITS)}")
        for method in methods:
            start, each = perf_counter(), list[Cells]()
            for seed in range(given.seeds):
                each.append(score(name, vectors(read, name, method, seed, given), given))
            table[method] = {key: np.concatenate([cells[key] for cells in each]) for key in each[0]}
            for title in dict.fromkeys(title for title, _ in table[method]):
                cells = [table[method][title, ratio] for ratio in SPLITS]
                line = "  ".join(f"{cell.mean():5.2f}" for cell in cells)
                if given.against in table and method != given.against:
                    beside = [table[given.against][title, ratio] for ratio in SPLITS]
                    line += "   " + "  ".join(map(difference, cells, beside))
                print(f"  {method:12} {title:9} {line}   ({perf_counter() - start:.0f} s in all)", flush=True)
        if "default" in table:
            regret(table)
        means = [[table[method]["C = 1", ratio].mean() for ratio in SPLITS] for method in methods]
        rows.append([results.title(name), *(", ".join(f"{mean:.2f}" for mean in each) for each in means)])
    if given.save:
        results.save("tiers", f1=results.Table(["graph", *methods], rows))


def regret(table: dict[str, Cells]) -> None:
    """How far the default is from the best of all methods, `best` aside."""
    for (title, ratio), ours in table["default"].items():
        others = {method: cells[title, ratio].mean() for method, cells in table.items() if method != "best"}
        leader = max(others, key=others.__getitem__)
        print(f"  default at {ratio:4.0%}, {title}: {others[leader] - ours.mean():.2f} below {leader}")


def measure_time(given: argparse.Namespace) -> None:
    tiers, rows = [method for method in given.methods.split(",") if method in TIERS], list[list[str]]()
    for name in given.graphs.split(","):
        read = graph(name)

        def run(quality: str, read: Graph = read) -> object:
            return graphrefine.embed(read, quality=quality, threads=given.threads)

        contenders = {quality: lambda quality=quality: run(quality) for quality in tiers}
        contenders["paper"] = lambda read=read: graphrefine.embed(read, preset="paper", threads=given.threads)
        best = {each: min(runs) for each, runs in interleaved(contenders, rounds=given.rounds).items()}
        ratios = ", ".join(f"{each} {seconds:.3f} s ({seconds / best['fast']:.1f}x)" for each, seconds in best.items())
        print(f"{name:20} {ratios}; default {best['default'] / best['paper']:.1f}x the paper's", flush=True)
        cells = (f"{best[tier]:.3f} ({best[tier] / best['fast']:.1f}x)" for tier in tiers)
        rows.append([results.title(name), *cells])
    if given.save:
        results.save("tiers-time", seconds=results.Table(["graph", *tiers], rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--methods", default="fast,default")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", default="fast")
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--chosen", action="store_true")
    parser.add_argument("--time-only", action="store_true", help="no F1; for graphs without labels too")
    parser.add_argument("--save", action="store_true", help="write docs/results/tiers.json or tiers-time.json")
    given = parser.parse_args()
    print(f"{machine()}, {given.threads} threads")
    (measure_time if given.time_only else measure_f1)(given)


if __name__ == "__main__":
    main()
