"""AUC of held-out edges: the cosine, the degree product, and `embedding.score`, on real and generated graphs.

    python benchmarks/link_scores.py [--bars-only] [--repeats 1] [--method refine] [--filter none] [--quality fast]
        [--save]
    python benchmarks/link_scores.py --neighbors [--quality fast] [--seeds 3]

30% of the edges are held out and the rest is embedded with the default settings. Bar: the score above the degree
product on PPI, Wikipedia, BlogCatalog and web-google. Its weight of the degrees (w) is learnt from the edges that are
left. Beside it: what fixed weights would give, and for each graph the one that all others would choose for it (by the
least mean of what is lost to each one's best).

``--neighbors`` asks for nodes that are alike instead: of the ten nearest of a node, on graphs whose nodes have one
label each, the share that has the node's own, by `neighbors` with the score "cosine" (its default) and "link"; the
control is ten nodes at random. The inner product of REFINE's vectors, which are unit, is the cosine. ``--save``
writes docs/results/links.json.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphrefine
import results
from common import data, graph, machine
from graphrefine import Graph, datasets
from graphrefine.embedding.learn import auc, learn_degree_weight
from graphrefine.embedding.scores import cosine
from graphrefine.evaluate import read_labels
from graphrefine.evaluate.held_out_edges import hold_out
from graphrefine.evaluate.links import VectorMaker
from graphrefine.search.vectors import log_degrees

BARS = ("ppi", "wikipedia-pos", "blogcatalog", "web-google")
OTHERS = ("coauthor-cs", "planetoid-pubmed", "lastfm-asia", "amazon-photo", "flickr-8k-subset", "youtube-77k-groups")
ONE_LABEL = ("lastfm-asia", "amazon-photo", "coauthor-cs", "planetoid-pubmed")
WEIGHTS = (0.01, 0.02, 0.05, 0.1, 0.14, 0.2, 0.4)


def generated() -> dict[str, Graph]:
    made = {
        "dense communities": datasets.block_model(4000, 80_000, classes=20, mixing=0.3),
        "sparse communities": datasets.block_model(20_000, 60_000, classes=50, mixing=0.1, exponent=3.0),
        "even degrees": datasets.block_model(5000, 50_000, classes=30, mixing=0.2, exponent=6.0),
        "hubs": datasets.block_model(10_000, 60_000, classes=20, mixing=0.5, exponent=2.1),
    }
    return {name: each.graph for name, each in made.items()}


def measured(whole: Graph, maker: VectorMaker, repeats: int) -> dict[Any, float]:
    """AUC by the cosine, by the degrees, and by each weight of the degrees beside the cosine."""
    found: dict[Any, list[float]] = {}
    for repeat in range(repeats):
        held = hold_out(whole, 0.3, repeat=repeat, seed=0)
        plain = cosine(maker.embedding(held.rest).vectors)
        logs = log_degrees(held.rest.out_counts)
        parts = [(plain.of_pairs(pairs), logs[pairs.first] + logs[pairs.second]) for pairs in held[1:3]]
        found.setdefault("cosine", []).append(auc(*(angle for angle, _ in parts)))
        found.setdefault("degree", []).append(auc(*(degree for _, degree in parts)))
        learnt = learn_degree_weight(held.rest, plain.vectors, seed=0)
        found.setdefault("w", []).append(learnt)
        found.setdefault("score", []).append(auc(*(angle + learnt * degree for angle, degree in parts)))
        for weight in WEIGHTS:
            found.setdefault(weight, []).append(auc(*(angle + weight * degree for angle, degree in parts)))
    return {key: float(np.mean(values)) for key, values in found.items()}


def left_out(table: dict[str, dict[Any, float]]) -> dict[str, float]:
    """The weight that the other graphs choose for each."""
    lost = {name: np.array([max(row[w] for w in WEIGHTS) - row[w] for w in WEIGHTS]) for name, row in table.items()}

    def chosen(by: list[NDArray[np.float64]]) -> float:
        return WEIGHTS[int(np.mean(by, axis=0).argmin())]

    return {name: chosen([each for other, each in lost.items() if other != name]) for name in lost}


def share_labels(name: str, quality: str | None, seed: int) -> dict[str, float]:
    """Share of the ten nearest nodes that have the label of a node, by each score and at random."""
    whole, labels = graph(name), read_labels(data(f"{name}.mat"))
    label = np.asarray(labels.indicator.argmax(axis=1)).ravel()
    asked = np.random.default_rng(0).choice(np.flatnonzero(whole.out_counts), 1000, replace=False)
    embedding = graphrefine.embed(whole, quality=quality, seed=seed, learn=True)
    shares = {"random": float(np.square(np.bincount(label) / len(label)).sum())}
    for score in ("cosine", "link"):
        lists = embedding.neighbors(asked.tolist(), k=10, score=score)
        near = np.array([[each.node for each in nearest] for nearest in lists])
        shares[score] = float((label[near] == label[asked][:, None]).mean())
    return shares


def measure_neighbors(quality: str | None, seeds: int) -> None:
    print(f"\n{'label of the node':22} cosine    link  random")
    for name in ONE_LABEL:
        each = [share_labels(name, quality, seed) for seed in range(seeds)]
        cells = (np.mean([shares[score] for shares in each]) for score in ("cosine", "link", "random"))
        print(f"{name:22} " + "   ".join(f"{cell:.3f}" for cell in cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bars-only", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--method", default="refine")
    parser.add_argument("--filter", default=None)
    parser.add_argument("--quality", default=None)
    parser.add_argument("--graphs", default=None, help="names in place of those of the bars")
    parser.add_argument("--neighbors", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--save", action="store_true", help="write docs/results/links.json")
    given = parser.parse_args()
    print(machine())
    if given.neighbors:
        return measure_neighbors(given.quality, given.seeds)
    print(f"\n{'AUC, 30% held out':22} cosine  degrees  score  learnt w", *(f"  w={w:<4g}" for w in WEIGHTS))
    made = {} if given.bars_only else generated()
    names = (*BARS, *(() if given.bars_only else (*OTHERS, *made)))
    names = names if given.graphs is None else tuple(given.graphs.split(","))
    table, passed = {}, True
    for name in names:
        whole = made[name] if name in made else graph(name)
        maker = VectorMaker.from_method(
            given.method, whole, {"seed": 0, "filter": given.filter, "quality": given.quality}
        )
        row = table[name] = measured(whole, maker, given.repeats)
        line = f"{name:22} {row['cosine']:.4f}  {row['degree']:.4f}  {row['score']:.4f} {row['w']:6.3f}  "
        line += "".join(f"  {row[w]:.4f}" for w in WEIGHTS)
        if name in BARS:
            passed &= row["score"] > row["degree"]
            line += f"   bar > degrees: {'reached' if row['score'] > row['degree'] else 'MISSED'}"
        print(line, flush=True)
    if not given.bars_only and len(names) > 1:
        print("\nfixed weight chosen by all other graphs, what it gives, and what the learnt one gains:")
        for name, weight in left_out(table).items():
            gain = table[name]["score"] - table[name][weight]
            print(f"{name:22} {weight:g}  {table[name][weight]:.4f}  {gain:+.4f}")
    if given.save:
        scores = ("score", "cosine", "degree")
        rows = [[results.title(name), *(f"{table[name][key]:.4f}" for key in scores)] for name in names]
        results.save("links", auc=results.Table(["graph", "link", "cosine", "degree product"], rows))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
