"""Valid calls of compiled kernels with small random arrays: what `fuzz.targets.kernels` spoils."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Call = tuple[str, list[Any], dict[str, Any]]  # name, arguments, keywords
Array = NDArray[Any]
PAD = 32


def make_rows(rng: Generator) -> tuple[int, Array, Array]:
    """Nodes, and CSR rows in which every node has a neighbor."""
    nodes = int(rng.integers(1, 40))
    counts = rng.integers(1, min(nodes, 6) + 1, nodes)
    indices = [np.sort(rng.choice(nodes, count, replace=False)) for count in counts]
    return nodes, np.concatenate([[0], np.cumsum(counts)]), np.concatenate(indices).astype(np.int32)


def floats(rng: Generator, *shape: int) -> Array:
    """Numbers about zero, in float32."""
    return rng.standard_normal(shape, np.float32)


def maybe(rng: Generator, array: Array) -> Array | None:
    """The array, or None."""
    return array if rng.random() < 0.5 else None


def sums_of(rng: Generator, indices: Array) -> Array | None:
    """Sums of weights, or none."""
    return maybe(rng, np.concatenate([[0.0], np.cumsum(rng.random(len(indices)))]))


def threads(rng: Generator) -> int:
    """One, most often, as starting others takes longer than the work; or a few."""
    return 1 if rng.random() < 0.8 else int(rng.integers(2, 5))


def edges(rng: Generator, nodes: int, most: int = 60) -> tuple[Array, Array]:
    """Ends of edges."""
    count = int(rng.integers(0, most))
    return rng.integers(0, nodes, count, dtype=np.int32), rng.integers(0, nodes, count, dtype=np.int32)


def call_text(rng: Generator) -> Call:
    """A text of random words, and its parsers."""
    words = [b"1", b"22", b"-3", b"a", b'"x y"', b"0.5", b"2024-01-31", b"\n", b",", b" ", b"\t", b"#", b"\r", b'"']
    text = b"".join(words[each] for each in rng.integers(0, len(words), int(rng.integers(0, 80))))
    data = np.frombuffer(text, np.uint8)
    marks = (str(rng.choice([",", " ", "\t"])), str(rng.choice(['"', ""])), str(rng.choice(["", "#"])), "")
    columns = (0, 1, int(rng.integers(-1, 3)), int(rng.integers(-1, 4)), 4)
    kind = int(rng.integers(0, 4))
    if kind == 0:
        return "whole_records", [data, marks], {}
    if kind == 3:
        return "number_strings", [data, np.sort(rng.integers(0, len(data) + 1, int(rng.integers(1, 9))))], {}
    options = {"dates": bool(rng.integers(2)), "threads": threads(rng)}
    if kind == 1:
        return "parse_strings", [data, columns, marks], options
    return "parse_integers", [data, columns, marks], {**options, "wide": bool(rng.integers(2))}


def call_edges(rng: Generator) -> Call:
    """Ids and edges to rows."""
    nodes = int(rng.integers(1, 40))
    source, target = edges(rng, nodes)
    weights = maybe(rng, rng.random(len(source), np.float32))
    kind, many = int(rng.integers(0, 7)), threads(rng)
    if kind == 0:
        scale = 2 ** int(rng.integers(0, 50))
        return "number_ids", [source.astype(np.int64) * scale, target.astype(np.int64) * scale], {"threads": many}
    if kind == 1:
        options = {"weights": weights, "directed": bool(rng.integers(2)), "threads": many}
        return "build_rows", [nodes, source, target], options
    if kind == 2:
        nodes, indptr, indices = make_rows(rng)
        return "inspect_rows", [indptr, indices, maybe(rng, rng.random(len(indices), np.float32))], {}
    if kind == 3:
        bits, pages = np.zeros(16, np.uint64), np.zeros(1, np.int64)
        return "mark_ids", [bits, pages, 0, source.astype(str(rng.choice(["int32", "int64"])))], {}
    if kind == 4:
        return "rank_ids", [np.zeros(16, np.uint64), np.zeros(17, np.int32), 0, source], {"threads": many}
    if kind == 5:
        bounds = np.array([0, nodes // 2, nodes], np.int32)
        options = {"weights": weights, "bounds": bounds, "both": bool(rng.integers(2)), "threads": many}
        return "deal_arcs", [source, target], options
    weighted = bool(rng.integers(2))
    parts = [source, target * 2] + ([np.zeros(len(source), np.int32)] if weighted else [])
    records = np.stack(parts, axis=1).astype(np.uint32).ravel()
    return "merge_arcs", [nodes, 0, records], {"weighted": weighted, "threads": many}


def call_order(rng: Generator) -> Call:
    """Orders of rows, their sums and parts, signs."""
    nodes, indptr, indices = make_rows(rng)
    values = maybe(rng, floats(rng, len(indices)))
    order = rng.permutation(nodes).astype(np.int32)
    calls: list[Call] = [
        ("reorder", [indptr, indices, values], {}),
        ("permute", [indptr, indices, values, order, np.argsort(order).astype(np.int32)], {"threads": threads(rng)}),
        ("row_sums", [indptr, indices, values, rng.random(nodes)], {"threads": threads(rng)}),
        ("split_rows", [indptr, indices, np.array([0, nodes // 2], np.int32)], {}),
        ("signs", [3, 0], {"rows": nodes, "words": 2, "order": maybe(rng, order)}),
    ]
    return calls[int(rng.integers(0, 5))]


def call_walks(rng: Generator) -> Call:
    """Walks, edges, pairs and skip-gram."""
    nodes, indptr, indices = make_rows(rng)
    rows = [indptr, indices, sums_of(rng, indices)]
    out = np.empty((int(rng.integers(0, 20)), int(rng.integers(0, 12))), np.int32)
    starts = rng.integers(0, nodes, len(out), dtype=np.int32)
    kind, many = int(rng.integers(0, 4)), threads(rng)
    if kind == 0:
        bias = {"p": float(rng.choice([0.1, 1, 7])), "q": float(rng.choice([0.1, 1, 7]))}
        return "random_walks", [*rows, starts, out], {"seed": 1, "round": 0, **bias, "threads": many}
    if kind == 1:
        return "random_edges", [*rows, np.empty((9, 2), np.int32)], {"seed": 1, "first": 0, "threads": many}
    if kind == 2:
        counts = rng.integers(0, 90, nodes)
        return "walk_pairs", [*rows, 0, counts], {"length": int(rng.integers(0, 9)), "seed": 1, "threads": many}
    noise, walks = rng.integers(0, nodes, 8, dtype=np.int32), rng.integers(-1, nodes, (9, 7), dtype=np.int32)
    tables = floats(rng, nodes, PAD), floats(rng, nodes, PAD)
    model = {"window": 3, "negatives": 2, "both": bool(rng.integers(2)), "parts": int(rng.choice([1, 2, 8]))}
    training = {"first": 0, "rate": 0.02, "last_rate": 0.01, "threads": many}
    return "SkipGram", [noise, *tables, walks], {**model, "seed": 1, **training}


def call_plane(rng: Generator) -> Call:
    """Points in the plane, and lists of the best."""
    nodes, indptr, indices = make_rows(rng)
    points, side = floats(rng, nodes, 2), int(rng.integers(2, 9))
    frame = {"left": -2.0, "bottom": -2.0, "inverse": 1.5, "threads": threads(rng)}
    queries, candidates = (rng.integers(0, nodes, int(rng.integers(0, 9)), dtype=np.int32) for _ in range(2))
    best, rows = np.full((nodes, 3), -2, np.float32), np.full((nodes, 3), -1, np.int32)
    step = {"momentum": 0.5, "rate": 1.0, "farthest": 1.0, "threads": 1}
    field, pull = floats(rng, side, side, 2), rng.random(len(indices), np.float32)
    out = np.empty((nodes, 2), np.float32)
    calls: list[Call] = [
        ("spread", [points], {**frame, "out": np.zeros((side, side), np.int64)}),
        ("forces", [indptr, indices, pull, points, field], {**frame, "attraction": 1.0, "out": out}),
        ("move", [floats(rng, nodes, 2), floats(rng, nodes, 2), floats(rng, nodes, 2), points], step),
        ("keep_best", [floats(rng, len(queries), len(candidates)), queries, candidates, best, rows], {}),
    ]
    return calls[int(rng.integers(0, 4))]


def call_search(rng: Generator) -> Call:
    """Nearest rows, ranks, and rows of least squares."""
    nodes, indptr, indices = make_rows(rng)
    columns, count, keep = (int(rng.integers(1, 9)) for _ in range(3))
    queries, rows = floats(rng, count, columns), floats(rng, nodes, columns)
    found = np.empty((count, keep), np.int64), np.empty((count, keep), np.float32)
    left = {"bounds": np.arange(count + 1), "left_out": rng.integers(0, nodes, count)} if rng.random() < 0.5 else {}
    scale = {"scale": maybe(rng, floats(rng, nodes)), "added": maybe(rng, floats(rng, nodes))}
    options = {"bounds": None, "left_out": None, **left, **scale, "threads": threads(rng)}
    which = rng.integers(0, count, 5)
    tables = np.zeros((nodes, PAD), np.float32), floats(rng, nodes, PAD)
    terms = {"missing": np.ones(nodes), "totals": np.ones(nodes), "diagonal": np.ones((2, PAD)), "steps": 3}
    weights = rng.random(len(indices), np.float32)
    calls: list[Call] = [
        ("nearest", [queries, rows, *found], options),
        ("rank_scores", [queries, which, floats(rng, 5), np.empty(5)], {}),
        ("solve_rows", [indptr, indices, weights, *tables], {**terms, "hub": 3, "threads": threads(rng)}),
    ]
    return calls[int(rng.integers(0, 3))]


def call_exact(rng: Generator) -> Call:
    """Elementary functions, products and factors."""
    k, n, many = int(rng.integers(0, 20)), int(rng.integers(0, 40)), threads(rng)
    square = rng.standard_normal((k, k))
    single = floats(rng, n, k)
    name = str(rng.choice(["log", "log1p", "exp", "expm1", "power"]))
    wide = rng.standard_normal((k, k + n))
    calls: list[Call] = [
        ("evaluate", [name, rng.standard_normal(n), np.empty(n)], {"exponent": float(rng.normal()), "threads": many}),
        ("log_at_least", [floats(rng, n), 1e-3], {"threads": many}),
        ("multiply", [square, wide, np.empty((k, k + n))], {"threads": many}),
        ("multiply_tall", [single, floats(rng, k, k), np.empty((n, k), np.float32)], {"threads": many}),
        ("gram_matrix", [single, np.empty((k, k))], {"threads": many}),
        ("dot_rows", [single, floats(rng, n, k), np.empty(n)], {"threads": many}),
        ("factor_cholesky", [square @ square.T], {}),
        ("solve_triangular", [np.tril(square), wide.copy()], {"transposed": bool(rng.integers(2))}),
        ("reflect", [wide], {}),
        ("find_eigenpairs", [square + square.T, np.empty(k), np.empty((k, k))], {}),
    ]
    return calls[int(rng.integers(0, 10))]


def call_tall(rng: Generator) -> Call:
    """Products and rotations of tall matrices."""
    nodes, indptr, indices = make_rows(rng)
    columns = PAD * int(rng.integers(1, 3))
    x = [
        floats(rng, nodes, columns),
        rng.integers(0, 60_000, (nodes, columns), dtype=np.uint16),
        rng.integers(0, 2**32, (nodes, columns // 32), dtype=np.uint32),
    ][int(rng.integers(0, 3))]
    out = np.empty((nodes, columns), np.float32)
    common = {"shift": maybe(rng, floats(rng, columns)), "unit": bool(rng.integers(2)), "threads": threads(rng)}
    common |= {"gram": maybe(rng, np.zeros((2, columns, columns))), "out": maybe(rng, out)}
    order = rng.permutation(nodes).astype(np.int32)
    if rng.random() < 0.4:
        options = {**common, "sums": maybe(rng, np.zeros((2, columns))), "weights": maybe(rng, floats(rng, nodes))}
        rotation = maybe(rng, floats(rng, columns, columns))
        return "rotate", [x, rotation], {**options, "places": maybe(rng, order), "triangular": bool(rng.integers(2))}
    own = {"columns": nodes, "value": maybe(rng, floats(rng, len(indices))), "loop": float(rng.integers(2))}
    own |= {"row_scale": maybe(rng, floats(rng, nodes)), "column_shift": maybe(rng, floats(rng, nodes))}
    own |= {"diagonal": 0, "first_column": 0, "constant": 1.0}
    if rng.random() < 0.3:
        own |= {"starts": indptr[:-1].copy(), "stops": indptr[1:].copy()}
    turned = {"rotation": floats(rng, columns, columns), "after": floats(rng, columns)} if rng.random() < 0.3 else {}
    more = {"plus": maybe(rng, floats(rng, nodes, columns)), "rows": maybe(rng, order), "order": maybe(rng, order)}
    return "Product", [indptr, indices, x], {**own, **common, **more, **turned}


def call_live(rng: Generator) -> Call:
    """A graph that changes: a ring, some nodes more, and changes of edges."""
    nodes, count, more = int(rng.integers(3, 30)), int(rng.integers(0, 20)), int(rng.integers(0, 3))
    known = int(rng.integers(1, nodes + 1))
    both = np.stack([(np.arange(nodes) - 1) % nodes, (np.arange(nodes) + 1) % nodes], axis=1)
    rows = [2 * np.arange(nodes + 1), np.sort(both, axis=1).astype(np.int32).ravel(), None]
    parts = {"basis": floats(rng, known, PAD), "shifts": floats(rng, known), "mean": np.zeros(PAD)}
    numbers = {"keep": 0.5, "loop": 1.0, "tolerance": 0.1, "rounding": 1e-5, "spread": 0.1, "publish": 0.1}
    source = rng.integers(0, nodes + more, count, dtype=np.int32)
    target = ((source + rng.integers(1, nodes + more, count)) % (nodes + more)).astype(np.int32)
    changes = [rng.integers(0, 3, count, dtype=np.uint8), source, target, rng.random(count, np.float32) + 1]
    which = rng.integers(0, nodes, 4, dtype=np.int32)
    asked = [which, np.empty((4, PAD), np.float32), np.empty(4)]
    return "LiveGraph", [*rows, more, *changes, *asked], {**parts, "rotation": np.eye(PAD), **numbers}


CALLS: dict[str, Callable[[Generator], Call]] = {
    "text": call_text,
    "edges": call_edges,
    "order": call_order,
    "walks": call_walks,
    "plane": call_plane,
    "search": call_search,
    "exact": call_exact,
    "tall": call_tall,
    "live": call_live,
}
