"""Drift between two seeds of one graph, and after a twentieth of its edges has gone, by `graphrefine.measure_drift`.

    python benchmarks/drift.py [--graphs ppi,...] [--gone 0.05]

"control" are the same vectors, given to other nodes.
"""

from __future__ import annotations

import argparse

import numpy as np

import graphrefine
from common import graph, machine
from graphrefine import Embedding, Graph, measure_drift


def without_some(whole: Graph, share: float) -> Graph:
    """The graph without some of its edges."""
    rows = np.repeat(np.arange(whole.nodes), whole.out_counts)
    once = rows < whole.indices
    stay = np.random.default_rng(0).random(int(once.sum())) >= share
    ends = (side[once][stay] for side in (rows, whole.indices))
    return Graph.from_edges(*(whole.names[side] for side in ends))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="ppi,lastfm-asia,blogcatalog,coauthor-cs")
    parser.add_argument("--gone", type=float, default=0.05)
    options = parser.parse_args()
    print(machine())
    print(f"\n{'':14}{'':16}   mean  median     p95    kept")
    for name in options.graphs.split(","):
        whole = graph(name)
        old = graphrefine.embed(whole)
        others = {
            "two seeds": graphrefine.embed(whole, seed=1),
            "edges gone": graphrefine.embed(without_some(whole, options.gone)),
            "control": Embedding(old.names, np.random.default_rng(0).permutation(old.vectors)),
        }
        for kind, new in others.items():
            figures = measure_drift(old, new).stats
            moved = "  ".join(f"{figures['moved'][each]:6.3f}" for each in ("mean", "median", "p95"))
            print(f"{name:14}{kind:16} {moved}  {figures['kept']:6.3f}", flush=True)


if __name__ == "__main__":
    main()
