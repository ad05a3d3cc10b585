"""F1 of nodes that were hidden and folded in, beside that of the same nodes embedded with the whole graph.

    python benchmarks/fold_in.py [--splits 5] [--graphs ppi,...] [--quality default] [--save]

A random 5% of the nodes are hidden, the rest is embedded (default settings, seed 0), and the hidden nodes are folded in
by all of their edges. A classifier (C = 1, unit rows) learns from the labeled nodes that stayed and is tested on the
hidden ones. Bar: at most 2.0 Micro F1 below the whole graph's embedding, in the mean of all splits. "mean" is what the
neighbors' mean gives, without what was learnt; "alone" is what is left when hidden nodes do not tell of each other.
``--save`` writes docs/results/fold-in.json.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphrefine
import results
from common import data, graph, machine
from graphrefine import Embedding, Graph
from graphrefine.evaluate import read_labels
from graphrefine.evaluate.logistic import fit_logistic
from graphrefine.evaluate.metrics import measure_labels
from graphrefine.linalg import unit_rows
from graphrefine.readers.labels import align

GRAPHS = (
    "ppi,wikipedia-pos,blogcatalog,coauthor-cs,planetoid-pubmed,lastfm-asia,amazon-photo,flickr-8k-subset,"
    "youtube-77k-groups"
)
HIDDEN, BAR = 0.05, 2.0


def embed(graph: Graph, quality: str) -> Embedding:
    return graphrefine.embed(graph, dim=128, quality=quality, learn=True)


def edges_from(whole: Graph, nodes: NDArray[Any], *, to: NDArray[np.bool_]) -> Graph:
    """The arcs from some nodes to others, as a file (new, known, weight) would list them."""
    rows = np.repeat(np.arange(whole.nodes), whole.out_counts)
    kept = np.isin(rows, nodes) & to[whole.indices]
    weights = None if whole.weights is None else whole.weights[kept]
    return Graph.from_edges(whole.names[rows[kept]], whole.names[whole.indices[kept]], weights, directed=True)


def stayed(whole: Graph, hidden: NDArray[np.bool_]) -> Graph:
    """The graph without the hidden nodes; names stay."""
    rest = whole.to_scipy()[~hidden][:, ~hidden]
    return Graph.from_matrix(rest, names=whole.names[~hidden].tolist())


def vectors_of(embedding: Embedding, names: NDArray[Any]) -> NDArray[np.float32]:
    """Unit rows of these nodes; zeros for a node without edges."""
    rows = [embedding[name] if name in embedding else np.zeros(embedding.dim, np.float32) for name in names.tolist()]
    return unit_rows(np.array(rows))


def split(whole: Graph, labels: Any, full: Embedding, number: int, quality: str) -> dict[str, float]:
    rng = np.random.default_rng(number)
    hidden = np.zeros(whole.nodes, np.bool_)
    hidden[rng.choice(whole.nodes, round(HIDDEN * whole.nodes), replace=False)] = True
    order, indicator, _ = align(labels, whole.names, unlabeled="drop")
    test = hidden[order]
    rest = embed(stayed(whole, hidden), quality)
    plain = Embedding(rest.names, rest.vectors)
    everyone = np.ones(whole.nodes, np.bool_)
    known = ~hidden & (whole.out_counts > 0)
    edges = {
        kind: edges_from(whole, np.flatnonzero(hidden), to=to) for kind, to in (("all", everyone), ("alone", known))
    }
    start = perf_counter()
    folded = {"folded": rest.fold_in(edges["all"])}
    seconds = perf_counter() - start
    folded |= {"alone": rest.fold_in(edges["alone"]), "mean": plain.fold_in(edges["all"])}
    target = indicator[~test].toarray()
    tell = partial(measure_labels, truth=indicator[test])
    before = fit_logistic(vectors_of(full, whole.names[order[~test]]), target, C=1.0)
    after = fit_logistic(vectors_of(rest, whole.names[order[~test]]), target, C=1.0)
    nodes = whole.names[order[test]]
    f1 = {"whole": tell(before, vectors_of(full, nodes))["micro_f1"]}
    f1 |= {kind: tell(after, vectors_of(each, nodes))["micro_f1"] for kind, each in folded.items()}
    return {**f1, "ms": 1000 * seconds, "nodes": len(folded["folded"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--quality", default="default")
    parser.add_argument("--graphs", default=GRAPHS)
    parser.add_argument("--save", action="store_true", help="write docs/results/fold-in.json")
    given = parser.parse_args()
    print(machine())
    print(f"\n{'Micro F1 of hidden nodes':26} whole  folded   loss  (std)   alone    mean   nodes folded in ms")
    warnings.simplefilter("ignore", UserWarning)  # hidden nodes whose neighbors are hidden too
    passed, rows = True, list[list[str]]()
    for name in given.graphs.split(","):
        whole, labels = graph(name), read_labels(data(f"{name}.mat"))
        full = embed(whole, given.quality)
        runs = [split(whole, labels, full, number, given.quality) for number in range(given.splits)]
        mean = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        losses = [run["whole"] - run["folded"] for run in runs]
        passed &= (reached := bool(np.mean(losses) <= BAR))
        spread = np.std(losses) / np.sqrt(len(losses))
        print(
            f"{name:26}{mean['whole']:6.2f}  {mean['folded']:6.2f}  {np.mean(losses):5.2f}  ±{spread:4.2f}  "
            f"{mean['alone']:6.2f}  {mean['mean']:6.2f}   {mean['nodes']:5.0f} in {mean['ms']:.0f}   "
            f"bar {BAR:g}: {'reached' if reached else 'MISSED'}",
            flush=True,
        )
        rows.append([results.title(name), *(f"{mean[kind]:.2f}" for kind in ("whole", "folded", "mean"))])
    if given.save:
        columns = ["graph", "in a run on the whole graph", "folded in", "mean of the neighbors"]
        results.save("fold-in", f1=results.Table(columns, rows))
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
