"""NMI of communities with the labels of nodes: `graphrefine.find_communities` beside Louvain's method.

    python benchmarks/communities.py [--graphs lastfm-asia,...]

Graphs whose nodes have one label each. "random" are groups of the same sizes, drawn at random: the control.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import graphrefine
from common import data, graph, machine
from graphrefine import find_communities
from graphrefine.display.maps.points import assign_classes
from graphrefine.evaluate import read_labels
from graphrefine.methods.coarsening import communities


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="lastfm-asia,amazon-photo,coauthor-cs,planetoid-pubmed")
    options = parser.parse_args()
    print(machine())
    print(f"\n{'NMI (number of groups)':22} classes   with graph  without graph       Louvain  random")
    for name in options.graphs.split(","):
        whole, labels = graph(name), read_labels(data(f"{name}.mat"))
        embedding = graphrefine.embed(whole)
        classes = assign_classes(labels, embedding.names)
        there = classes.codes >= 0
        groups = {
            "graph": find_communities(embedding, whole)["community"],
            "vectors": find_communities(embedding)["community"],
            "louvain": communities(whole.to_scipy(), np.zeros(whole.nodes, np.int64)),
        }
        groups["random"] = np.random.default_rng(0).permutation(groups["graph"])
        cells = [
            f"{normalized_mutual_info_score(classes.codes[there], each[there]):.3f} ({len(np.unique(each)):3})"
            for each in groups.values()
        ]
        print(f"{name:22} {len(classes.names):7}  {'   '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
