"""What node features are worth: Micro F1 of the structure, of the features, of both, and with features of no use.

    python benchmarks/features.py [--no-debian] [--save]

Block models with words are generated, the digits are scikit-learn's (a graph of 6 nearest neighbors, and the pixels).
Where there is apt-cache, Debian's packages are the third kind: dependencies, the section of a package as its label, the
words of its short description as its features.

Features alone are shown as they are, as T^2 smooths them, and as they are joined (related to the graph, smoothed by the
structure's filter). Bars: both sides above the structure, and above features alone, smoothed or not;
features of other nodes (rows shuffled) lose less than 1 point.
``--save`` writes docs/results/features.json.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import graphrefine
import results
from common import machine
from graphrefine.engine.local import LocalEngine
from graphrefine.evaluate import evaluate_labels
from graphrefine.graph.graph import Graph
from graphrefine.linalg import unit_rows
from graphrefine.linalg.operators import transition
from graphrefine.refine.features import feature_vectors, leading, prepare
from graphrefine.system.threads import one_blas_thread

DIM = 128


class Case(NamedTuple):
    """A graph with features and labels, and the share of the nodes that a classifier is trained on."""

    name: str
    graph: Graph
    features: Any  # (n, f)
    labels: Any
    ratio: float


def blocks(mixing: float, told: float, ratio: float, *, nodes: int = 4000, seed: int = 0) -> Case:
    """Ten classes, degree 8; ``mixing`` of the edges and 1 - ``told`` of 20 words of 500 do not depend on the class."""
    rng = np.random.default_rng(seed)
    classes = np.sort(rng.integers(0, 10, nodes))
    start, size = np.searchsorted(classes, np.arange(10)), np.bincount(classes, minlength=10)
    first, second = rng.integers(0, nodes, (2, 4 * nodes))
    own = start[classes[first]] + (rng.random(4 * nodes) * size[classes[first]]).astype(int)
    second = np.where(rng.random(4 * nodes) < mixing, second, own)
    share = 1 / np.arange(1, 501) ** 0.8
    row, word = np.repeat(np.arange(nodes), 20), rng.choice(500, 20 * nodes, p=share / share.sum())
    topical = rng.random(20 * nodes) < told
    topics = rng.permutation(500).reshape(10, 50)
    word[topical] = topics[classes[row[topical]], rng.integers(0, 50, topical.sum())]
    words = sp.coo_array((np.ones(len(row)), (row, word)), shape=(nodes, 500)).tocsr()
    graph = Graph.from_matrix(sp.coo_array((np.ones(4 * nodes), (first, second)), shape=(nodes, nodes)))
    return Case(
        f"block model, {mixing:.0%} of the edges and {1 - told:.0%} of the words at random",
        graph,
        words,
        classes,
        ratio,
    )


def digits(ratio: float) -> Case:
    from sklearn.datasets import load_digits
    from sklearn.neighbors import kneighbors_graph

    pixels, classes = load_digits(return_X_y=True)
    near = kneighbors_graph(pixels, 6)
    return Case("digits", Graph.from_matrix(near.maximum(near.T)), pixels, classes, ratio)


def debian(ratio: float) -> Case:
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    packages: dict[str, dict[str, str]] = {}
    for paragraph in listed.split("\n\n"):
        pairs = (line.split(":", 1) for line in paragraph.split("\n") if line[:1].strip() and ":" in line)
        fields = {key: value.strip() for key, value in pairs}
        if "Package" in fields:
            packages.setdefault(fields["Package"], fields)
    row = {name: at for at, name in enumerate(sorted(packages))}
    edges, words = [], []
    for name, fields in packages.items():
        needed = ",".join(fields.get(kind, "") for kind in ("Depends", "Recommends", "Pre-Depends"))
        for other in re.findall(r"[a-z0-9][a-z0-9.+-]+(?=[\s,|:(]|$)", re.sub(r"\([^)]*\)", "", needed)):
            if other in row and other != name:
                edges.append((row[name], row[other]))
        found = set(re.findall(r"[a-z][a-z0-9+#]+", fields.get("Description", "").lower()))
        words += [(row[name], word) for word in found]
    sections = {name: fields.get("Section", "").split("/")[-1] for name, fields in packages.items()}
    large = sorted(section for section, count in Counter(sections.values()).items() if count >= 100)
    labels = sp.lil_array((len(row), len(large)), dtype=bool)
    for name, section in sections.items():
        if section in large:
            labels[row[name], large.index(section)] = True
    vocabulary = {word: at for at, word in enumerate(sorted({word for _, word in words}))}
    places = (np.array([at for at, _ in words]), np.array([vocabulary[word] for _, word in words]))
    matrix = sp.coo_array((np.ones(len(words), np.float32), places), shape=(len(row), len(vocabulary))).tocsr()
    ends = np.array(edges).T
    graph = Graph.from_matrix(sp.coo_array((np.ones(len(edges)), (ends[0], ends[1])), shape=(len(row), len(row))))
    return Case("Debian packages", graph, matrix, labels.tocsr(), ratio)


def cases(*, with_debian: bool) -> Iterator[Case]:
    yield blocks(0.5, 0.3, 0.05)
    yield blocks(0.5, 0.3, 0.5)
    yield blocks(0.6, 0.1, 0.05)
    yield blocks(0.8, 0.3, 0.05)
    yield blocks(0.3, 0.2, 0.05)
    yield blocks(0.4, 0.15, 0.1, nodes=10_000, seed=7)
    yield blocks(0.7, 0.2, 0.1, nodes=10_000, seed=8)
    yield blocks(0.25, 0.05, 0.1, nodes=10_000, seed=9)
    yield digits(0.02)
    yield digits(0.1)
    if with_debian and shutil.which("apt-cache"):
        yield debian(0.1)


def micro(vectors: NDArray[Any], case: Case) -> float:
    return evaluate_labels(vectors, case.labels, ratios=(case.ratio,), repeats=5).ratios[0].micro_mean


def columns(case: Case) -> dict[str, float]:
    """The scores of a case."""
    B = prepare(case.features)
    raw = B.times(leading(B, DIM, seed=0), 0, case.graph.nodes)
    step = transition(case.graph).to_scipy()
    shuffled = case.features[np.random.default_rng(1).permutation(case.graph.nodes)]
    engine = lambda width: LocalEngine(case.graph, columns=width)
    vectors = {
        "structure": graphrefine.embed(case.graph, DIM).vectors,
        "raw": raw,
        "smoothed": step @ (step @ unit_rows(raw)),
        "side": one_blas_thread()(feature_vectors)(engine, case.graph, case.features, dim=DIM, seed=0)[0],
        "both": graphrefine.embed(case.graph, DIM, features=case.features).vectors,
        "shuffled": graphrefine.embed(case.graph, DIM, features=shuffled).vectors,
    }
    return {name: micro(found, case) for name, found in vectors.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-debian", action="store_true")
    parser.add_argument("--save", action="store_true", help="write docs/results/features.json")
    given = parser.parse_args()
    print(f"# {machine()}\n")
    titles = ["structure", "features", "features smoothed by T^2", "features as joined", "both", "features shuffled"]
    print(f"| graph | training | {' | '.join(titles)} |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    missed, rows = list[str](), list[list[str]]()
    for case in cases(with_debian=not given.no_debian):
        found = columns(case)
        rows.append([case.name, f"{case.ratio:.0%}", *(f"{value:.2f}" for value in found.values())])
        print(f"| {' | '.join(rows[-1])} |", flush=True)
        if found["both"] <= max(found[side] for side in ("structure", "raw", "smoothed")):
            missed.append(f"{case.name}, {case.ratio:.0%}: both sides are below one of them")
        if found["shuffled"] < found["structure"] - 1:
            missed.append(f"{case.name}, {case.ratio:.0%}: shuffled features lose more than a point")
    print("\nbars: all reached" if not missed else "\nMISSED: " + "; ".join(missed))
    if given.save:
        results.save("features", f1=results.Table(["graph", "training", *titles], rows))


if __name__ == "__main__":
    main()
