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

NODES = 700


def taken(*, weighted: bool) -> Graph:
    """Return users and the items that they took, some by most of them."""
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, NODES, 6 * NODES), (90 * rng.random(6 * NODES) ** 2).astype(int)
    weights = rng.uniform(0.1, 9, len(user)) if weighted else np.ones(len(user))
    once = sorted({(int(u), int(i)): float(w) for u, i, w in zip(user, item, weights, strict=True)}.items())
    edges = [(f"u{u}", f"i{i}", w) if weighted else (f"u{u}", f"i{i}") for (u, i), w in once]
    return graphrefine.read(edges, bipartite=True)


def features(*, sparse: bool) -> NDArray[np.float64]:
    """Return numbers of nodes, 60 columns; most of them zero if ``sparse``."""
    rng = np.random.default_rng(1)
    numbers = rng.uniform(0.5, 2, (NODES, 60)) + np.arange(NODES)[:, None] % 7 * rng.uniform(0, 1, 60)
    return np.where(rng.random((NODES, 60)) < 0.2, numbers, 0.0) if sparse else numbers


def vectors_of(graph: Graph, *, threads: int, dim: Any = 24, **options: Any) -> NDArray[np.float32]:
    return graphrefine.embed(graph, dim=dim, threads=threads, **options).vectors


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
    plain, heavy = random_graph(NODES), random_graph(NODES, weighted=True, isolated=3)
    arcs, heavy_arcs = (random_graph(NODES, directed=True, weighted=weighted, seed=2) for weighted in (False, True))
    walks = {"walks": 2, "length": 10}
    return {
        "fast": partial(vectors_of, plain, quality="fast"),
        "default": partial(vectors_of, heavy),
        "directed": partial(vectors_of, arcs),
        "directed, weighted": partial(vectors_of, heavy_arcs),
        "directed, fast": partial(vectors_of, heavy_arcs, quality="fast"),
        "bipartite": partial(vectors_of, taken(weighted=False)),
        "bipartite, weighted": partial(vectors_of, taken(weighted=True)),
        "bipartite, fast": partial(vectors_of, taken(weighted=True), quality="fast"),
        "features": partial(vectors_of, heavy, features=features(sparse=False)),
        "sparse features": partial(vectors_of, plain, features=features(sparse=True)),
        "directed features": partial(vectors_of, heavy_arcs, two_sided=False, features=features(sparse=True)),
        "automatic dimension": partial(vectors_of, heavy, dim="auto", quality="fast"),
        "deepwalk": partial(vectors_of, plain, method="deepwalk", **walks),
        "node2vec": partial(vectors_of, heavy, dim=40, method="node2vec", **walks),
        "line": partial(vectors_of, heavy_arcs, method="line", samples=0.02),
        "hubs": hubs,
        "tall matrices": tall_matrices,
        "exact algebra": exact_algebra,
        "live": live,
        "pte": partial(vectors_of, plain, method="pte", samples=0.02),
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
