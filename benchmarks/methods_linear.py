"""F1 of prone, fastrp, randne, hope and arope beside implementations that are not ours, on the same graphs and splits.

    pip install fastrp nodevectors && pip install --no-deps karateclub nxt_gem
    python benchmarks/methods_linear.py [--graphs ppi,wikipedia-pos] [--methods prone,...] [--repeats 10] [--seeds 3]
                                        [--authors FOLDER]

Micro / Macro F1 at 50 % (randne also at 80 %, where Table 4 has a figure), C = 1, means over seeds and splits, and the
seconds of the best run (one thread of ours; whatever the others start). ``--authors`` is a folder with clones of the
authors' own code: RandNE and AROPE of github.com/ZW-ZHANG. What is not installed is left out. karateclub pins old
versions of everything it has methods for, so one module is loaded without the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from common import data, graph, machine
from graphrefine.evaluate import Labels, evaluate_labels, read_labels
from graphrefine.graph.graph import Graph
from graphrefine.methods.registry import make_settings
from graphrefine.pipeline.embed_run import embed_graph

Vectors = NDArray[Any]
Peer = Callable[[Graph, int], Vectors]  # (graph, seed)
PAPER = {  # Tables 1 and 2: ProNE at 50 %
    "blogcatalog": (41.20, 24.28),
    "ppi": (24.05, 19.59),
    "wikipedia-pos": (55.63, 11.40),
}
KARATE = "karateclub.node_embedding.neighborhood"
POWERS = (1.0, 1.0, 1.0)  # of the transition matrix, for fastrp of PyPI
KARATE_POWERS = (1.0, 1e2, 1e4, 1e5)  # and for karateclub, which has none of the identity


def matrix_of(read: Graph) -> sp.csr_matrix:
    return sp.csr_matrix(read.to_scipy().astype(np.float64))


def nodevectors_prone(read: Graph, seed: int) -> Vectors:
    from nodevectors import ProNE

    np.random.seed(seed)  # noqa: NPY002  the only seed that it takes
    return np.asarray(ProNE(n_components=128, verbose=False).fit_transform(matrix_of(read)))


def pypi_fastrp(read: Graph, seed: int) -> Vectors:
    import fastrp

    walk = matrix_of(read)
    # It divides by the number of neighbors; with the mean weight of a row as 1 that is the transition matrix.
    counts, sums = np.diff(walk.indptr), np.asarray(walk.sum(axis=1)).ravel()
    walk.data *= np.repeat(counts / np.maximum(sums, 1e-300), counts)
    parts = (walk.indptr, walk.indices, walk.data, read.nodes, 128)
    return np.asarray(fastrp.fit_csr(*parts, weights=[0.0, *POWERS], seed=seed, undirected=False))


def sklearn_fastrp(read: Graph, seed: int) -> Vectors:
    """The paper's formula with scikit-learn's very sparse projection, as the authors take it."""
    from sklearn.preprocessing import normalize, scale
    from sklearn.random_projection import SparseRandomProjection

    adjacency = matrix_of(read)
    degree = np.maximum(np.asarray(adjacency.sum(axis=1)).ravel(), 1e-300)
    projection = SparseRandomProjection(n_components=128, random_state=seed).fit(adjacency).components_
    walk = normalize(adjacency, "l1")
    power = walk @ (projection @ sp.diags(degree**-0.628)).T.toarray()
    total = np.zeros_like(power)
    for weight in (1.0, 1.0, 7.81, 45.28):
        total += weight * power
        power = walk @ power
    return np.asarray(scale(total))


def karate_class(module: str, name: str) -> Any:
    """A class of karateclub, its packages put in place without what they import."""
    if "karateclub" not in sys.modules:
        found = importlib.util.find_spec("karateclub")
        if found is None or found.submodule_search_locations is None:
            raise ImportError("karateclub")
        for package in ("karateclub", "karateclub.node_embedding", KARATE):
            bare = types.ModuleType(package)
            bare.__path__ = [str(Path(found.submodule_search_locations[0], *package.split(".")[1:]))]
            sys.modules[package] = bare
    return getattr(importlib.import_module(f"{KARATE}.{module}"), name)


def karate_randne(read: Graph, seed: int) -> Vectors:
    import networkx as nx

    model = karate_class("randne", "RandNE")(dimensions=128, alphas=list(KARATE_POWERS), seed=seed)
    model._check_graph = lambda given: given
    linked = _without_isolated(read)
    model.fit(nx.from_scipy_sparse_array(matrix_of(read)[linked][:, linked]))
    vectors = np.zeros((read.nodes, 128))
    vectors[linked] = model.get_embedding()
    return vectors


def gem_hope(read: Graph, seed: int) -> Vectors:
    import networkx as nx
    from gem.embedding.hope import HOPE

    adjacency = matrix_of(read)
    radius = float(np.abs(sp.linalg.eigsh(adjacency, k=1, which="LM")[0][0]))
    return np.asarray(HOPE(d=128, beta=0.5 / radius).learn_embedding(graph=nx.from_scipy_sparse_array(adjacency)))


def authors_module(folder: str, path: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(path).stem, Path(folder) / path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def authors_randne(folder: str, read: Graph, seed: int) -> Vectors:
    from sklearn.preprocessing import normalize

    code = authors_module(folder, "RandNE/Python/RandNE.py")
    powers = code.Projection(normalize(matrix_of(read), "l1"), 3, 128, False, seed)
    return np.asarray(code.Combine(powers, [1, 1e2, 1e4, 1e5]))


def authors_arope(folder: str, read: Graph, seed: int) -> Vectors:
    code = authors_module(folder, "AROPE/python/utils.py")
    values, vectors = code.Eigen_TopL(matrix_of(read), 128)
    return np.asarray(code.Shift_Embedding(values, vectors, 3, [1, 0.1, 0.01], 128)[0])


def _without_isolated(read: Graph) -> NDArray[Any]:
    return np.flatnonzero(read.out_counts)


class Pair(NamedTuple):
    """A method of ours with settings, and what it is compared with."""

    method: str
    options: dict[str, Any]
    whose: str
    peer: Peer
    ratio: float = 0.5
    unweighted: bool = False  # whether the other does not know weights, so that both are given none

    def ours(self, read: Graph, seed: int) -> Vectors:
        """The vectors of our method."""
        chosen = make_settings(self.method, seed=seed, **self.options)
        return embed_graph(read, chosen, method=self.method, threads=1)[0].vectors


def pairs(authors: str | None) -> list[Pair]:
    plain_fastrp = {"power_weights": POWERS, "beta": 0.0, "density": 1 / 3, "standardize": False}
    karate = {"power_weights": (0.0, *KARATE_POWERS), "standardize": True}
    compared = [
        Pair("prone", {}, "nodevectors", nodevectors_prone),
        Pair("fastrp", plain_fastrp, "fastrp (PyPI)", pypi_fastrp),
        Pair("fastrp", {}, "scikit-learn's projection", sklearn_fastrp),
        Pair("randne", karate, "karateclub", karate_randne, unweighted=True),
        Pair("hope", {}, "GEM (nxt_gem)", gem_hope),
    ]
    if authors:
        randne, arope = partial(authors_randne, authors), partial(authors_arope, authors)
        compared += [Pair("randne", {}, "the authors' code", randne, ratio) for ratio in (0.5, 0.8)]
        compared.append(Pair("arope", {}, "the authors' code", arope))
    return compared


def scored(
    work: Callable[[int], Vectors], labels: Labels, *, ratio: float, repeats: int, seeds: int
) -> tuple[NDArray[np.float64], float]:
    """Micro and Macro F1 over seeds and splits, and the seconds of the best run."""
    cells, seconds = [], []
    for seed in range(seeds):
        start = perf_counter()
        vectors = work(seed)
        seconds.append(perf_counter() - start)
        at = evaluate_labels(vectors, labels, ratios=(ratio,), repeats=repeats).ratios[0]
        cells.append((at.micro_mean, at.macro_mean))
    return np.mean(cells, axis=0), min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", default="ppi,wikipedia-pos,blogcatalog")
    parser.add_argument("--methods", default="prone,fastrp,randne,hope,arope")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--authors", help="folder with clones of the authors' repositories")
    given = parser.parse_args()
    print(machine())
    print(f"{'graph':14} {'method':8} {'at':>4} {'ours':>14} {'s':>7} {'theirs':>14} {'s':>7} {'difference':>14}")
    passed = True
    for name in given.graphs.split(","):
        read, labels = graph(name), read_labels(data(f"{name}.mat"))
        for pair in pairs(given.authors):
            if pair.method in given.methods.split(","):
                score = partial(scored, labels=labels, ratio=pair.ratio, repeats=given.repeats, seeds=given.seeds)
                passed &= compare(name, read, pair, score)
    sys.exit(0 if passed else 1)


def compare(name: str, read: Graph, pair: Pair, score: Callable[..., tuple[NDArray[np.float64], float]]) -> bool:
    """Print both and their difference; whether ours is good enough."""
    start = f"{name:14} {pair.method:8} {pair.ratio:4.0%}"
    if pair.unweighted:
        read = Graph(read.indptr, read.indices, None, read.names)
    try:
        theirs, their_seconds = score(partial(pair.peer, read))
    except ImportError as error:
        print(f"{start} {pair.whose}: not installed ({error})")
        return True
    ours, our_seconds = score(partial(pair.ours, read))
    cells = f"{_f1(ours)} {our_seconds:7.2f} {_f1(theirs)} {their_seconds:7.2f} {_f1(ours - theirs)}"
    print(f"{start} {cells}  {pair.whose}", flush=True)
    passed = bool(ours[0] >= theirs[0] - 1.5)
    if pair.method == "prone" and name in PAPER:
        table = np.array(PAPER[name])
        print(f"{'':28} {'':22} {_f1(table)} {'':7} {_f1(ours - table)}  the paper's table")
        passed &= bool(np.all(ours >= table - 1.0))
    return passed


def _f1(cell: NDArray[np.float64]) -> str:
    return f"{cell[0]:6.2f} /{cell[1]:6.2f}"


if __name__ == "__main__":
    main()
