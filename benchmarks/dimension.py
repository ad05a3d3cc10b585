"""The automatic dimension, held against the F1 of labels at 32, 64, 128 and 256, and what truncated vectors keep of it.

    python benchmarks/dimension.py [--graphs ppi,...] [--seeds 3] [--threads N] [--kept FILE] [--truncated]
        [--quality default] [--save]

Micro F1 (C = 1, unit rows, 10 and 50 % of the labeled nodes, 10 splits, the mean of the seeds) at each
of the four, and at the dimensions that held-out edges confirm (`graphrefine.refine.dimension`) by several bounds on the
standard errors. The regret of a bound is how far its dimension is from the best of the four, at 10 or at 50 %. Then the
bound that all other graphs would choose for each: that of the least mean regret, each 64 numbers of a vector as much
as 0.1 of regret.

``--truncated`` prints `Embedding.truncated(64)` of vectors of 128 beside a run with 64 instead; bar: within 0.5. The
control is 64 of the 128 axes at random. ``--kept`` is a file of JSON for scores that are there already.
``--save`` writes docs/results/dimension.json.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import graphrefine
import results
from common import data, graph, machine
from graphrefine.evaluate import evaluate_labels, read_labels
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import by_logarithm
from graphrefine.refine.dimension import LEAST, PROBE, SEED, STEP, cross_validated

GRAPHS = (
    *("ppi", "lastfm-asia", "wikipedia-pos", "amazon-photo", "planetoid-pubmed", "coauthor-cs", "blogcatalog"),
    *("flickr-8k-subset", "youtube-77k-groups"),
)
DIMS = (32, 64, 128, 256)
BOUNDS = (2.0, 2.5, 3.0, 4.0)
RATIOS = (0.1, 0.5)
SIZE = 0.1 / 64  # regret that one more number of a vector is worth
BAR = 0.5
Rows = NDArray[np.float32]


class Scores:
    """Micro F1 at the ratios, the mean of seeds: measured, or kept from an earlier run."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.kept = given, dict[str, list[float]]()
        if given.kept is not None and given.kept.exists():
            self.kept = json.loads(given.kept.read_text())

    def of(self, name: str, dim: int, cut: int | None = None, *, random: bool = False) -> NDArray[np.float64]:
        """The scores of vectors of a graph, cut to fewer axes if that is said."""
        whole, cells = graph(name), list[list[float]]()
        for seed in range(self.given.seeds):
            key = f"{name} {dim} {cut} {'random' if random else 'first'} {seed}"
            key = key if self.given.quality == "default" else f"{key} {self.given.quality}"
            if key not in self.kept:
                self.kept[key] = self.score(name, self.vectors(whole, dim, cut, seed, random=random))
                if self.given.kept is not None:
                    self.given.kept.write_text(json.dumps(self.kept))
            cells.append(self.kept[key])
        means: NDArray[np.float64] = np.array(cells).mean(axis=0)
        return means

    def vectors(self, whole: Graph, dim: int, cut: int | None, seed: int, *, random: bool) -> Rows:
        """The vectors: all axes, the first, or some at random."""
        embedding = graphrefine.embed(whole, dim, seed=seed, quality=self.given.quality, threads=self.given.threads)
        if cut is None:
            return embedding.vectors
        if random:
            some = np.random.default_rng(seed).choice(dim, cut, replace=False)
            return unit_rows(embedding.vectors[:, some])
        return embedding.truncated(cut).vectors

    def score(self, name: str, rows: Rows) -> list[float]:
        """Micro F1 at each ratio."""
        labels = read_labels(data(f"{name}.mat"))
        every = [
            evaluate_labels(rows, labels, ratios=(ratio,), repeats=10, C=1.0, threads=self.given.threads)
            for ratio in RATIOS
        ]
        return [float(np.mean(each.ratios[0].values["micro_f1"])) for each in every]


def dimensions(whole: Graph, threads: int) -> dict[float, int]:
    """The dimension by each bound."""
    most = min(PROBE, whole.nodes)
    scores = cross_validated(by_logarithm(whole), most, seed=SEED, threads=threads)[1]
    return {bound: min(max(-(-int((scores > bound).sum()) // STEP), 1) * STEP, most) for bound in BOUNDS}


def measure_dimensions(scores: Scores, names: list[str], threads: int) -> list[list[str]]:
    rows = list[list[str]]()
    print(f"\n{'Micro F1 at 10, 50%':20}", *(f"{dim:>13}" for dim in DIMS), " by bounds on the standard errors")
    regrets, sizes = dict[str, NDArray[np.float64]](), dict[str, NDArray[np.float64]]()
    for name in names:
        cells = {dim: scores.of(name, dim) for dim in DIMS}
        best, chosen = np.max(list(cells.values()), axis=0), dimensions(graph(name), threads)
        at = {dim: cells[dim] if dim in cells else scores.of(name, dim) for dim in chosen.values()}
        regrets[name] = np.array([float((best - at[chosen[bound]]).max()) for bound in BOUNDS])
        sizes[name] = np.array([chosen[bound] for bound in BOUNDS])
        line = "  ".join(f"{x:5.2f} {y:5.2f}" for x, y in cells.values())
        bounds = "; ".join(
            f"{bound:g}: {chosen[bound]} {at[chosen[bound]][0]:.2f} {at[chosen[bound]][1]:.2f} ({regret:.2f})"
            for bound, regret in zip(BOUNDS, regrets[name], strict=True)
        )
        print(f"{name:20}  {line}   {bounds}", flush=True)
        auto = chosen[LEAST]
        plain = [f"{x:.2f}, {y:.2f}" for x, y in (*cells.values(), at[auto])]
        rows.append([results.title(name), *plain[:-1], f"{plain[-1]} ({auto})"])
    print("\nleft out: the bound that the other graphs choose, its dimension and its regret")
    for name in names:
        others = [other for other in names if other != name] or names
        price = np.mean([regrets[other] + SIZE * sizes[other] for other in others], axis=0)
        pick = int(price.argmin())
        missed = "" if regrets[name][pick] <= BAR else "   above the bar of 0.5"
        print(f"{name:20} {BOUNDS[pick]:g}: {sizes[name][pick]:3.0f}  {regrets[name][pick]:.2f}{missed}")
    return rows


def measure_truncated(scores: Scores, names: list[str]) -> None:
    print(f"\n{'Micro F1 at 10, 50%':20} {'run at 64':>13} {'truncated(64)':>13}  difference   64 axes at random")
    for name in names:
        run, cut, control = scores.of(name, 64), scores.of(name, 128, 64), scores.of(name, 128, 64, random=True)
        missed = "reached" if (cut - run).min() >= -BAR else "MISSED"
        cells = "  ".join(f"{x:5.2f} {y:5.2f}" for x, y in (run, cut))
        print(f"{name:20}  {cells}   {cut[0] - run[0]:+.2f} {cut[1] - run[1]:+.2f}   {control[0]:.2f} {control[1]:.2f}"
              f"   bar -0.5: {missed}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(GRAPHS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--kept", type=Path)
    parser.add_argument("--quality", default="default")
    parser.add_argument("--truncated", action="store_true")
    parser.add_argument("--save", action="store_true", help="write docs/results/dimension.json")
    given = parser.parse_args()
    print(f"{machine()}, {given.threads} threads, {given.seeds} seeds, quality {given.quality}")
    scores, names = Scores(given), given.graphs.split(",")
    if given.truncated:
        measure_truncated(scores, names)
        return
    rows = measure_dimensions(scores, names, given.threads)
    if given.save:
        results.save("dimension", f1=results.Table(["graph", *map(str, DIMS), "auto"], rows))


if __name__ == "__main__":
    main()
