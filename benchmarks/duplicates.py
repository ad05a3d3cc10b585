"""Recall of planted twins by `graphrefine.find_duplicates`, and what it names beyond them.

    python benchmarks/duplicates.py [--graphs blogcatalog,...] [--twins 500] [--change 0.15] [--sample 8]

A twin is a copy of a node of at least three edges, 15 percent of which lead to other nodes, drawn at random. Bar: 95 of
100 twins are named. "cosine" is the answer without the graph, by the usual bound of 0.98.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter
from typing import Any

import numpy as np

import graphrefine
from common import graph, machine
from graphrefine import Graph, find_duplicates
from graphrefine.display.table import Table

BAR, LEAST = 0.95, 3


def plant(whole: Graph, count: int, change: float, seed: int = 0) -> tuple[Graph, set[frozenset[int]]]:
    """The graph with twins of some nodes, and the pairs."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(whole.nodes), whole.out_counts)
    once = rows < whole.indices
    first, second = [rows[once]], [whole.indices[once].astype(np.int64)]
    nodes = rng.choice(np.flatnonzero(whole.out_counts >= LEAST), count, replace=False)
    for number, node in enumerate(nodes.tolist()):
        near = whole.indices[whole.indptr[node] : whole.indptr[node + 1]]
        changes = round(change * len(near))
        others = np.setdiff1d(rng.choice(whole.nodes, changes + 50, replace=False), [*near, node])
        ends = np.concatenate([rng.permutation(near)[changes:], rng.permutation(others)[:changes]])
        first.append(np.full(len(ends), whole.nodes + number))
        second.append(ends)
    pairs = {frozenset((int(node), whole.nodes + number)) for number, node in enumerate(nodes)}
    return Graph.from_edges(np.concatenate(first), np.concatenate(second)), pairs


def pairs_of(table: Table) -> list[frozenset[Any]]:
    return [frozenset(pair) for pair in zip(table["node"].tolist(), table["other"].tolist(), strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="blogcatalog,coauthor-cs,lastfm-asia,ppi")
    parser.add_argument("--twins", type=int, default=500)
    parser.add_argument("--change", type=float, default=0.15)
    parser.add_argument("--sample", type=int, default=8)
    options = parser.parse_args()
    print(machine())
    passed = True
    for name in options.graphs.split(","):
        whole, planted = plant(graph(name), options.twins, options.change)
        embedding = graphrefine.embed(whole)
        start = perf_counter()
        table = find_duplicates(embedding, whole)
        seconds = perf_counter() - start
        pairs, by_cosine = pairs_of(table), set(pairs_of(find_duplicates(embedding)))
        recall = len(planted & set(pairs)) / len(planted)
        passed &= recall >= BAR
        beyond = np.flatnonzero([pair not in planted for pair in pairs])
        print(f"\n{name}: {whole.nodes:,} nodes, {whole.edges:,} edges; {seconds:.1f} s")
        print(f"  recall {recall:.3f}, bar {BAR:g}: {'reached' if recall >= BAR else 'MISSED'}; {len(beyond):,} beyond")
        alone = len(planted & by_cosine) / len(planted)
        print(f"  by the cosine alone: recall {alone:.3f}; {len(by_cosine - planted):,} beyond")
        sample = np.sort(np.random.default_rng(0).permutation(beyond)[: options.sample])
        print(f"  a sample of those beyond:\n{table[sample]}", flush=True)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
