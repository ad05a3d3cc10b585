"""F1 of live vectors: fresh, beside the tiers of `embed`; and after a tenth of the edges came, also refreshed.

    python benchmarks/live/labels_f1.py [--graphs ppi,...] [--seeds 3] [--share 0.1] [--size 1000] [--threads 2]
        [--save]

Micro F1 in percent at 10 and 50 % of the labeled nodes, unit rows, C = 1, the same ten splits for all. "followed"
began without a share of the edges, drawn uniformly, which then came in groups; its bars are the paired difference from
fresh live vectors of the whole graph. Refreshes by itself are off.
``--save`` writes docs/results/live-f1.json.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import graphrefine
import graphrefine.live
from graphrefine.evaluate import evaluate_labels, read_labels
from graphrefine.graph.graph import Graph
from workload import apply, at_least, data, drop_edges, graph, machine, results

GRAPHS = "ppi,lastfm-asia,blogcatalog,wikipedia-pos,planetoid-pubmed"
RATIOS, REPEATS = (0.1, 0.5), 10
TIERS = ("fast", "default")
FRESH, BEFORE, AFTER = "live, fresh", "live, followed", "live, refreshed"
BARS = {BEFORE: -1.0, AFTER: -0.5}  # points of Micro F1, against fresh

Rows = NDArray[np.float32]
Scores = NDArray[np.float64]  # (ratios, splits)


def score(name: str, rows: Rows, threads: int) -> Scores:
    labels = read_labels(data(f"{name}.mat"))
    scores = evaluate_labels(rows, labels, ratios=RATIOS, repeats=REPEATS, C=1.0, threads=threads)
    return np.array([each.values["micro_f1"] for each in scores.ratios])


def contenders(whole: Graph, seed: int, options: argparse.Namespace) -> dict[str, Rows]:
    """Vectors of the whole graph, by all ways."""
    rows = {tier: graphrefine.embed(whole, quality=tier, seed=seed, threads=options.threads).vectors for tier in TIERS}
    made = {"seed": seed, "threads": options.threads, "tolerance": options.tolerance}
    with tempfile.TemporaryDirectory() as place:
        with graphrefine.live.create(whole, Path(place) / "fresh.live", **made) as live:
            rows[FRESH] = live.snapshot().vectors
        first, changes = drop_edges(whole, options.share, seed=seed)
        with graphrefine.live.create(first, Path(place) / "followed.live", **made) as live:
            live.auto_refresh = False
            apply(live, changes, size=options.size)
            rows[BEFORE] = live.snapshot().vectors
            live.refresh()
            rows[AFTER] = live.snapshot().vectors
    return rows


def measure(name: str, options: argparse.Namespace) -> tuple[bool, dict[str, Scores]]:
    """F1 on one graph; whether the bars were reached, and the means by way."""
    whole, table = graph(name), dict[str, list[Scores]]()
    print(f"\n{name}: {whole.nodes:,} nodes, {whole.edges:,} edges, Micro F1 at 10 %, 50 %")
    for seed in range(options.seeds):
        for way, rows in contenders(whole, seed, options).items():
            table.setdefault(way, []).append(score(name, rows, options.threads))
    means = {way: np.concatenate(scores, axis=1).mean(axis=1) for way, scores in table.items()}
    for way, mean in means.items():
        beside = "" if way == FRESH else "   against fresh: " + "  ".join(f"{x:+.2f}" for x in mean - means[FRESH])
        print(f"  {way:18} " + "  ".join(f"{each:5.2f}" for each in mean) + beside, flush=True)
    worst = {way: float((means[way] - means[FRESH]).min()) for way in BARS}
    reached = [at_least(f"{way}: the worse difference", worst[way], bar) for way, bar in BARS.items()]
    return all(reached), means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--share", type=float, default=0.1, help="of the edges, which come later")
    parser.add_argument("--size", type=int, default=1000, help="changes of a group")
    parser.add_argument("--tolerance", type=float, default=0.1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--save", action="store_true", help="write docs/results/live-f1.json")
    options = parser.parse_args()
    print(f"{machine()}, {options.threads} threads")
    found = {name: measure(name, options) for name in options.graphs.split(",")}
    if options.save:
        ways = (*TIERS, FRESH, BEFORE, AFTER)
        rows = [
            [results.title(name), *(", ".join(f"{value:.2f}" for value in means[way]) for way in ways)]
            for name, (_, means) in found.items()
        ]
        results.save("live-f1", f1=results.Table(["graph", *ways], rows))
    sys.exit(0 if all(reached for reached, _ in found.values()) else 1)


if __name__ == "__main__":
    main()
