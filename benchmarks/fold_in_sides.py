"""Recall@20 of users that were hidden and folded in, beside that of the same users embedded with the whole graph.

    python benchmarks/fold_in_sides.py [--graphs groups,flickr,...] [--dim 64]

A fifth of each user's items is held out, as in ``bipartite.py``. A tenth of the users is hidden, the rest embedded, and
the hidden users are folded in by the items that were not held out. "mean" is the fold-in without what was learnt;
"popular" recommends the items of most users to all, "other" gives each hidden user the vector of another: the controls.
"cosine" is that of folded vectors and the vectors of the same nodes of the rest, folded in again, in the median.
``npm-arcs`` is the graph of packages as a directed one: nodes are hidden with the arcs out of them and into them.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import graphrefine
from bipartite import GRAPHS, recall, split
from common import data, machine
from graphrefine import Embedding
from graphrefine.linalg import unit_rows

MOST = 2000  # hidden users that are tried


def pairs(matrix: sp.csr_array, *, directed: bool) -> list[tuple[Any, Any]]:
    rows, columns = matrix.nonzero()
    first = "" if directed else "user "
    return list(zip([f"{first}{row}" for row in rows], [str(column) for column in columns], strict=True))


def embed(edges: list[tuple[Any, Any]], dim: int, *, directed: bool) -> Embedding:
    kind: dict[str, Any] = {"directed": True} if directed else {"bipartite": True}
    return graphrefine.embed(edges, dim=dim, learn=True, **kind)


def rows(embedding: Embedding, side: str, names: list[str]) -> NDArray[np.float32]:
    """Vectors of one side by name; zeros for a node that is not there."""
    vectors = embedding.source if side == "source" else embedding.target
    places = [embedding.lookup.find(name, side) for name in names]  # type: ignore[arg-type]
    empty = np.zeros(vectors.shape[1], np.float32)
    return np.array([empty if place is None else vectors[place] for place in places])


def measure(name: str, dim: int) -> dict[str, float]:
    directed = name.endswith("-arcs")
    matrix = _arcs() if directed else GRAPHS[name]()
    train, test = split(matrix)
    users = [str(row) if directed else f"user {row}" for row in range(matrix.shape[0])]
    items = [str(column) for column in range(matrix.shape[1])]
    hidden = np.zeros(matrix.shape[0], np.bool_)
    hidden[np.random.default_rng(0).choice(len(hidden), len(hidden) // 10, replace=False)] = True
    left = sp.csr_array(sp.diags_array((~hidden).astype(np.float32)) @ train)
    if directed:
        left = sp.csr_array(left @ sp.diags_array((~hidden).astype(np.float32)))
    left.eliminate_zeros()
    whole = embed(pairs(train, directed=directed), dim, directed=directed)
    rest = embed(pairs(left, directed=directed), dim, directed=directed)
    arcs = pairs(sp.csr_array(train - left), directed=directed)
    plain = Embedding(rest.names, rest.vectors, rest.recipe, degrees=rest.degrees)
    folded, mean = (each.fold_in(arcs, unknown="skip") for each in (rest, plain))
    tried = np.flatnonzero(hidden & (np.diff(test.indptr) > 0))[:MOST]
    known, wanted = sp.csr_array(train[tried]), sp.csr_array(test[tried])
    names = [users[row] for row in tried]
    targets = rows(rest.extended(folded) if directed else rest, "target", items)
    popular = np.asarray(left.sum(axis=0), np.float32).reshape(-1, 1)
    sources = rows(folded, "source", names)
    figures = {
        "whole": recall(rows(whole, "source", names), rows(whole, "target", items), known, wanted),
        "folded": recall(sources, targets, known, wanted),
        "mean": recall(rows(mean, "source", names), targets, known, wanted),
        "popular": recall(np.ones((len(names), 1), np.float32), popular, known, wanted),
        "other": recall(sources[::-1].copy(), targets, known, wanted),
    }
    return {**figures, "cosine": _again(rest, left, users, directed=directed), "users": len(names)}


def _again(rest: Embedding, left: sp.csr_array, users: list[str], *, directed: bool) -> float:
    """The median cosine of known sources and the same, folded in once more under another name."""
    some = np.flatnonzero(np.diff(left.indptr))[:1000]
    edges = [
        (f"new {row}", str(column)) for row in some for column in left.indices[left.indptr[row] : left.indptr[row + 1]]
    ]
    again = unit_rows(rows(rest.fold_in(edges), "source", [f"new {row}" for row in some]))
    return float(np.median(np.einsum("ij,ij->i", again, unit_rows(rows(rest, "source", [users[row] for row in some])))))


def _arcs() -> sp.csr_array:
    graph = graphrefine.read(data("npm-dependencies.tsv.gz"), directed=True)
    return sp.csr_array(graph.to_scipy())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default="groups,flickr,wikipedia,genres,npm,npm-arcs")
    parser.add_argument("--dim", type=int, default=64)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    print(machine())
    print(f"\n{'recall@20 of hidden users':26} whole  folded    mean popular   other  cosine  users")
    for name in options.graphs.split(","):
        figures = measure(name, options.dim)
        values = "  ".join(f"{figures[key]:6.4f}" for key in ("whole", "folded", "mean", "popular", "other", "cosine"))
        print(f"{name:26}{values}  {figures['users']}", flush=True)


if __name__ == "__main__":
    main()
