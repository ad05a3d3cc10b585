"""Small graphs of every kind embedded, and the hashes of their vectors: a program that tests run in several ways.

    python tests/variants.py THREADS

prints one line of JSON: the instruction set, and a hash of each case.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

import graphrefine
from graphrefine.graph.graph import Graph
from graphrefine.kernels import exact, native, to_bfloat16, to_float32
from graphs import random_graph
from oracles.live import apply_group, random_history, snapshot

NODES, ISOLATED = 700, 7  # of most cases; without edges
KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "fast": {"quality": "fast"},
    "best": {"quality": "best"},
    "directed": {"directed": True},
    "directed, fast": {"directed": True, "quality": "fast"},
    "bipartite": {"bipartite": True},
    "bipartite, fast": {"bipartite": True, "quality": "fast"},
    "features": {"features": True},
}


def make_graph(kind: str, *, nodes: int, orders: float = 0.5, unit: float = 1.0, weighted: bool = True) -> Graph:
    """Return a graph with weights over so many orders of magnitude, and nodes without edges at its end."""
    rng = np.random.default_rng(1)
    if kind.startswith("bipartite"):
        user, item = rng.integers(0, nodes // 2, 4 * nodes), (nodes // 3 * rng.random(4 * nodes) ** 2).astype(int)
        matrix = np.zeros((nodes // 2 + ISOLATED, nodes // 3), np.float32)
        matrix[user, item] = unit * 10.0 ** rng.uniform(-orders, orders, 4 * nodes) if weighted else 1
        return graphrefine.read(matrix, bipartite=True)
    plain = random_graph(nodes, directed=kind.startswith("directed"), isolated=ISOLATED, seed=1)
    if not weighted:
        return plain
    rows = np.repeat(np.arange(nodes), plain.out_counts)
    once = np.ones(len(rows), bool) if plain.directed else rows < plain.indices
    weights = unit * 10.0 ** rng.uniform(-orders, orders, len(rows))
    ends = rows[once], plain.indices[once]
    return Graph.from_edges(*ends, weights[once], names=np.arange(nodes), directed=plain.directed)


def make_features(nodes: int, *, sparse: bool = False) -> NDArray[np.float64]:
    """Return numbers of nodes, 40 columns; zeros for the nodes without edges, and most others if ``sparse``."""
    rng = np.random.default_rng(2)
    numbers = rng.random((nodes, 40)) + np.arange(nodes)[:, None] % 5
    numbers[-ISOLATED:] = 0
    return np.where(rng.random(numbers.shape) < 0.2, numbers, 0.0) if sparse else numbers


def embed_kind(kind: str, graph: Graph, **options: Any) -> NDArray[np.float32]:
    """Return the vectors of a graph that `make_graph` made for a kind."""
    chosen = {name: value for name, value in KINDS[kind].items() if name == "quality"}
    if kind == "features":
        chosen["features"] = make_features(graph.nodes)
    return graphrefine.embed(graph, **{"dim": 24, "seed": 0, **chosen, **options}).vectors


def hubs(*, threads: int) -> NDArray[np.float32]:
    """Rows of least squares that are solved directly."""
    rng = np.random.default_rng(3)
    z, solution = rng.standard_normal((300, 64), np.float32), np.zeros((40, 64), np.float32)
    ends, nodes = np.arange(41) * 200, rng.integers(0, 300, 8000).astype(np.int32)
    numbers = {"missing": rng.random(40), "totals": rng.random(40), "diagonal": rng.random((2, 64))}
    solve = native.solve_rows
    solve(ends, nodes, rng.random(8000, np.float32), solution, z, **numbers, steps=3, hub=9, threads=threads)
    return solution


def tall_matrices(*, threads: int) -> NDArray[np.uint8]:
    """Bytes of products, rotations, Gram matrices and sums; of zeros, an infinity and denormals too."""
    rng, graph, found = np.random.default_rng(0), random_graph(700, degree=9, weighted=True), list[NDArray[Any]]()
    x = (rng.standard_normal((700, 160)) * 10.0 ** rng.integers(-6, 6, (700, 1))).astype(np.float32)
    x[5], x[6, 3], x[7] = 0, np.inf, x[7] * np.float32(1e-42)
    for columns in (32, 96, 160):
        single = np.ascontiguousarray(x[:, :columns])
        shift = x[:, 0] + np.float32(3) if columns > 64 else None
        arrays = {"value": graph.weights, "column_shift": shift, "row_scale": x[:, 1].copy()}
        product = native.Product(graph.indptr, graph.indices, columns=700, constant=2.3, loop=0.7, **arrays)
        for y in (single, to_bfloat16(single), native.signs(1, 0, rows=700, words=columns // 32)):
            for kind in (np.float32, np.uint16):
                out, gram = np.empty((700, columns), kind), np.zeros((2, columns, columns))
                more = {"unit": columns == 96, "gram": gram, "threads": threads}
                product.apply(y, out=out, scale=0.3, plus=single, plus_scale=-2.1, **more)
                found += [to_float32(out), gram]
        single[6, 3] = 1
        turn = np.triu(rng.standard_normal((columns, columns))).astype(np.float32)
        sums, some = np.zeros((2, columns)), rng.permutation(700)[:300].astype(np.int32)
        turned = np.empty((300, columns), np.float32)
        product.apply(single, out=turned, rows=some, rotation=turn, after=x[1, :columns].copy(), threads=threads)
        shift = x[0, :columns].copy()
        native.rotate(single, turn, triangular=True, out=single, shift=shift, unit=True, sums=sums, threads=threads)
        found += [turned, single, sums]
    numbers = [np.where(np.isnan(each), 0, each) for each in found]  # the sign of NaN is the processor's
    return np.frombuffer(b"".join(each.tobytes() for each in numbers), np.uint8)


def exact_algebra(*, threads: int) -> NDArray[np.uint8]:
    """Bytes of functions, products, factors and eigenpairs."""
    rng = np.random.default_rng(0)
    a, x = rng.standard_normal((211, 150)), rng.uniform(-700, 700, 3001)
    low = exact.matmul(a[:, :30], a[:30])
    wide = exact.matmul_tall(a, a.T, threads=threads), exact.gram(a, threads=threads), exact.matmul(a, a.T)
    functions = [exact.log(a * a, threads=threads), exact.exp(x), exact.expm1(x), exact.log1p(x * x)]
    powers = [exact.power(exact.exp(x / 4), p) for p in (0.75, -0.4, 3.0)]
    factors = [*exact.eigh(wide[2]), exact.qr(a), exact.qr(low), exact.solve(wide[1], a.T), exact.cholesky(wide[1])]
    parts = [*wide, *functions, *powers, exact.row_dots(a, a, threads=threads), *factors]
    return np.frombuffer(b"".join(np.ascontiguousarray(part).tobytes() for part in parts), np.uint8)


def live(*, threads: int) -> NDArray[np.float32]:
    """Targets, states and numbers of live vectors, after ten groups of changes."""
    history = random_history(nodes=NODES, groups=10, seed=4, weighted=True)
    graph = history.start()
    for group in history.groups:
        apply_group(graph, group)
        graph.settle()
        graph.commit()
    now = snapshot(graph)
    high = now.numbers.astype(np.float32)
    return np.concatenate([now.targets, now.states, high, (now.numbers - high).astype(np.float32)], axis=1)


def cases() -> dict[str, Callable[..., NDArray[Any]]]:
    """What is computed, by name: functions of ``threads``."""
    graphs = {kind: make_graph(kind, nodes=NODES) for kind in KINDS}
    bare = {kind: make_graph(kind, nodes=NODES, weighted=False) for kind in ("fast", "directed", "bipartite")}
    plain, heavy, arcs = bare["fast"], graphs["default"], graphs["directed"]
    sparse, walks = make_features(NODES, sparse=True), {"walks": 2, "length": 10}
    return {
        **{kind: partial(embed_kind, kind, graph) for kind, graph in graphs.items()},
        **{f"{kind}, unweighted": partial(embed_kind, kind, graph) for kind, graph in bare.items()},
        "sparse features": partial(embed_kind, "default", plain, features=sparse),
        "directed features": partial(embed_kind, "directed", arcs, two_sided=False, features=sparse),
        "automatic dimension": partial(embed_kind, "fast", heavy, dim="auto"),
        "deepwalk": partial(embed_kind, "default", plain, method="deepwalk", **walks),
        "node2vec": partial(embed_kind, "default", heavy, dim=40, method="node2vec", **walks),
        "line": partial(embed_kind, "default", arcs, method="line", samples=0.02),
        "pte": partial(embed_kind, "default", plain, method="pte", samples=0.02),
        "hubs": hubs,
        "tall matrices": tall_matrices,
        "exact algebra": exact_algebra,
        "live": live,
    }


def controls() -> dict[str, NDArray[Any]]:
    """What is not the same everywhere: logarithms of NumPy and products of BLAS."""
    numbers = np.random.default_rng(0).uniform(0.1, 9, (300, 300))
    return {"logarithms": np.log(numbers), "powers": numbers**0.3, "products": numbers @ numbers}


def main() -> None:
    """Print the hashes."""
    hashes = {}
    for name, compute in cases().items():
        vectors = compute(threads=int(sys.argv[1]))
        assert np.isfinite(vectors).all() and vectors.any()
        hashes[name] = sha256(np.ascontiguousarray(vectors).tobytes()).hexdigest()
    others = {name: sha256(numbers.tobytes()).hexdigest() for name, numbers in controls().items()}
    print(json.dumps({"simd": native.simd(), "hashes": hashes, "controls": others}))


if __name__ == "__main__":
    main()
