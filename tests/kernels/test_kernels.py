"""Kernels of tall matrices equal their oracles, for any instruction set and number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.kernels import native, to_bfloat16, to_float32
from graphs import graphs, random_graph
from oracles import tall


def make_tall(n: int, columns: int, kind: str, seed: int = 0) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    if kind == "signs":
        return tall.signs(seed, 0, rows=n, words=columns // 32)
    x = rng.standard_normal((n, columns), dtype=np.float32)
    return to_bfloat16(x) if kind == "half" else x


def arguments(graph: Graph, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    given: dict[str, Any] = {"columns": graph.nodes, "constant": 0.25, "value": graph.weights}
    for name in ("row_shift", "column_shift", "row_scale", "column_scale"):
        given[name] = rng.uniform(0.5, 2.0, graph.nodes).astype(np.float32) if rng.random() < 0.6 else None
    given["loop"] = 1.5 if rng.random() < 0.5 else 0.0
    return given


@settings(deadline=None, max_examples=60)
@given(
    graphs(),
    st.sampled_from(["single", "half", "signs"]),
    st.sampled_from([32, 64, 96, 128, 160]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 4),
    st.integers(0, 2**31),
)
def test_product_equals_its_oracle(
    graph: Graph, kind: str, columns: int, to_half: bool, unit: bool, threads: int, seed: int
) -> None:
    given = arguments(graph, seed)
    x = make_tall(graph.nodes, columns, kind, seed)
    plus = make_tall(graph.nodes, columns, "half" if to_half else "single", seed + 1)
    results = []
    for which in (native, tall):
        out = np.full((graph.nodes, columns), 7, np.uint16 if to_half else np.float32)
        gram = np.zeros((2, columns, columns))
        which.Product(graph.indptr, graph.indices, **given).apply(
            x, out=out, scale=0.5, plus=plus, plus_scale=-2.0, unit=unit, gram=gram, threads=threads
        )
        results.append((to_float32(out), gram))
    (ours, our_gram), (theirs, their_gram) = results
    size = np.abs(theirs).max() + 1e-6
    # One bfloat16 may round the other way where the two sums differ in their last bits: 2^-8 of that entry.
    tolerance = np.abs(theirs) * (2**-7 if to_half else 0) + 1e-4 * size
    assert np.all(np.abs(ours - theirs) <= tolerance)
    rounding = 2**-7 if to_half else 1e-4
    assert np.abs(our_gram - their_gram).max() <= rounding * np.abs(their_gram).max() + 1e-9


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 700), st.sampled_from([32, 96, 128]), st.booleans(), st.booleans(), st.integers(1, 4))
def test_rotation_equals_its_oracle(n: int, columns: int, triangular: bool, unit: bool, threads: int) -> None:
    x = make_tall(n, columns, "single", n)
    rotation = np.random.default_rng(n).standard_normal((columns, columns)).astype(np.float32)
    if triangular:
        rotation = np.triu(rotation)
    places = np.random.default_rng(n).permutation(n).astype(np.int32)
    results = []
    for which in (native, tall):
        out = np.empty((n, columns - 5), np.float32)
        gram = np.zeros((2, columns, columns))
        which.rotate(x, rotation, triangular=triangular, out=out, places=places, unit=unit, gram=gram, threads=threads)
        results.append((out, gram))
    (ours, our_gram), (theirs, their_gram) = results
    assert np.abs(ours - theirs).max() <= 1e-5 * np.abs(theirs).max()
    assert np.abs(our_gram - their_gram).max() <= 1e-5 * np.abs(their_gram).max()


@settings(deadline=None, max_examples=30)
@given(graphs(), st.booleans(), st.integers(1, 4), st.integers(0, 2**31))
def test_some_rows_of_a_product_rotated_equal_the_oracle(graph: Graph, unit: bool, threads: int, seed: int) -> None:
    rng, arrays = np.random.default_rng(seed), arguments(graph, seed)
    x, plus = (make_tall(graph.nodes, 64, "half", seed + more) for more in (0, 1))
    count = int(rng.integers(1, graph.nodes + 1))
    rows, order = (rng.permutation(n)[:count].astype(np.int32) for n in (graph.nodes, count))
    turn, after = rng.standard_normal((64, 64)).astype(np.float32), rng.standard_normal(64).astype(np.float32)
    results = []
    for which in (native, tall):
        outs = np.empty((count, 64), np.float32), np.empty((count, 60), np.float32)
        options = {"plus": plus, "plus_scale": 0.5, "unit": unit, "rows": rows, "order": order, "threads": threads}
        product = which.Product(graph.indptr, graph.indices, **arrays)
        product.apply(x, out=outs[0], **options)
        product.apply(x, out=outs[1], rotation=turn, after=after, **options)
        results.append(outs)
    for ours, theirs in zip(*results, strict=True):
        assert np.abs(ours - theirs).max() <= 1e-4 * np.abs(theirs).max() + 1e-6


def test_rounding_to_bfloat16_is_the_same_to_the_bit() -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, (999, 32), dtype=np.uint32)
    x = bits.view(np.float32)
    x[~np.isfinite(x)] = 1.0
    x[np.abs(x) > 1e38] = 1.0
    out = np.empty(x.shape, np.uint16)
    native.rotate(x, None, out=out)
    assert np.array_equal(out, to_bfloat16(x))
    exact = np.abs(to_float32(out) - x) <= np.abs(x) * 2.0**-8 + 1e-38
    assert exact.all()


def test_rows_of_zeros_stay_zeros() -> None:
    x = np.zeros((3, 32), np.float32)
    x[1, 4] = 2.0
    out = np.empty_like(x)
    native.rotate(x, None, out=out, unit=True)
    assert out[0].tolist() == [0.0] * 32
    assert out[1, 4] == 1.0


@given(graphs(most=80), st.integers(1, 4))
@settings(deadline=None, max_examples=30)
def test_preparations_equal_the_oracles(graph: Graph, threads: int) -> None:
    pattern = (graph.indptr, graph.indices, graph.weights)
    (order, places, *ours), theirs = native.reorder(*pattern), tall.reorder(*pattern)
    assert sorted(order.tolist()) == list(range(graph.nodes)) == places[order].tolist()
    moved = native.permute(*pattern, order, places, threads=threads)
    for one, two, three in zip((order, places, *ours), theirs, (order, places, *moved), strict=True):
        if one is None or two is None or three is None:
            assert one is two is three
        else:
            assert np.array_equal(one, two) and np.array_equal(one, three)
    for i, row in enumerate(order.tolist()):  # the entries of a row stay in their order, and are those of its node
        near = graph.indices[graph.indptr[row] : graph.indptr[row + 1]]
        assert np.array_equal(order[ours[1][ours[0][i] : ours[0][i + 1]]], near)
        assert ours[3][i] == np.count_nonzero(near < row)
    scale = np.random.default_rng(0).random(graph.nodes)
    sums = native.row_sums(*pattern, scale, threads=threads)
    assert np.allclose(sums, tall.row_sums(*pattern, scale), rtol=1e-12)


def test_neighbors_are_nearer_in_breadth_first_order() -> None:
    ring = random_graph(2000, degree=2.0)
    mixed = np.random.default_rng(0).permutation(2000).astype(np.int32)
    shuffled = native.permute(ring.indptr, ring.indices, None, mixed, np.argsort(mixed).astype(np.int32))
    ordered = native.reorder(shuffled[0], shuffled[1], None)[2:]

    def distance(indptr: NDArray[np.int64], indices: NDArray[np.int32]) -> float:
        return float(np.abs(np.repeat(np.arange(2000), np.diff(indptr)) - indices).mean())

    assert distance(ordered[0], ordered[1]) < 0.8 * distance(shuffled[0], shuffled[1])


@given(st.integers(0, 2**64 - 1), st.integers(0, 10**9), st.integers(1, 50), st.integers(1, 8))
def test_signs_are_the_same_to_the_bit(seed: int, start: int, rows: int, words: int) -> None:
    ours = native.signs(seed, start, rows=rows, words=words)
    assert np.array_equal(ours, tall.signs(seed, start, rows=rows, words=words))
    assert np.array_equal(ours[1:], native.signs(seed, start + 1, rows=rows - 1, words=words))


def test_signs_are_balanced_and_independent_of_each_other() -> None:
    signs = to_float32(native.signs(3, 0, rows=20_000, words=4))
    assert abs(signs.mean()) < 0.002
    correlation = signs.T @ signs / len(signs) - np.eye(128)
    assert np.abs(correlation).max() < 0.04  # 5.6 standard deviations
    other = to_float32(native.signs(4, 0, rows=20_000, words=4))
    assert np.abs((signs * other).mean(axis=0)).max() < 0.04


EXACT = """
import hashlib, numpy as np
from graphrefine.kernels import native, to_bfloat16, to_float32
from graphs import random_graph
k, graph, digest = native, random_graph(700, degree=9, weighted=True), hashlib.sha256()
rng = np.random.default_rng(0)
x = (rng.standard_normal((700, 160)) * 10.0 ** rng.integers(-6, 6, (700, 1))).astype(np.float32)
x[5], x[6, 3], x[7] = 0, np.inf, x[7] * np.float32(1e-42)  # zeros, an infinity, denormals
for columns in (32, 64, 96, 128, 160):
    single = np.ascontiguousarray(x[:, :columns])
    for y in (single, to_bfloat16(single), k.signs(1, 0, rows=700, words=columns // 32)):
        for kind in (np.float32, np.uint16):
            out, gram = np.empty((700, columns), kind), np.zeros((2, columns, columns))
            shift = x[:, 0] + np.float32(3) if columns > 64 else None
            product = k.Product(
                graph.indptr, graph.indices, columns=700, value=graph.weights, column_shift=shift,
                row_scale=x[:, 1].copy(), constant=2.3, loop=0.7
            )
            product.apply(y, out=out, scale=0.3, plus=single, plus_scale=-2.1, unit=columns == 96, gram=gram, threads=2)
            wide = to_float32(out)
            wide[np.isnan(wide)], gram[np.isnan(gram)] = 0, 0  # whose sign is the processor's
            digest.update(wide.tobytes()), digest.update(gram.tobytes())
    single[6, 3] = 1
    turn = np.triu(rng.standard_normal((columns, columns))).astype(np.float32)
    sums, some = np.zeros((2, columns)), rng.permutation(700)[:300].astype(np.int32)
    turned = np.empty((300, columns), np.float32)
    product.apply(single, out=turned, rows=some, rotation=turn, after=x[1, :columns].copy())
    digest.update(turned.tobytes())
    k.rotate(single, turn, triangular=True, out=single, shift=x[0, :columns].copy(), unit=True, sums=sums, threads=2)
    digest.update(single.tobytes()), digest.update(sums.tobytes())
print(k.simd(), digest.hexdigest())
"""


@pytest.mark.parametrize("simd", ["baseline", "avx2"])
def test_every_instruction_set_gives_the_same_answer(simd: str) -> None:
    """To the bit, zeros, infinities and denormals too; whatever this machine has is compared with less."""
    outputs = []
    for limit in (simd, None):
        environment = {k: v for k, v in os.environ.items() if k != "GRAPHREFINE_SIMD"}
        environment["PYTHONPATH"] = str(Path(__file__).parents[1])
        if limit:
            environment["GRAPHREFINE_SIMD"] = limit
        run = subprocess.run([sys.executable, "-c", EXACT], env=environment, capture_output=True, text=True, check=True)
        outputs.append(run.stdout.split())
    assert outputs[0][0] in (simd, "baseline", "neon")  # ARM has one alone
    assert outputs[0][1] == outputs[1][1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": np.array([5], np.int32)}, "indices"),
        ({"indices": np.array([-1], np.int32)}, "indices"),
        ({"indptr": np.array([0, 2], np.int64)}, "indptr"),
        ({"row_scale": np.ones(3, np.float32)}, "row_scale"),
        ({"column_shift": np.ones(3, np.float32)}, "column_shift"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"indptr": np.array([0, 1], np.int64), "indices": np.array([0], np.int32), "columns": 2}
    with pytest.raises(ValueError, match=message):
        native.Product(**{**given, **change})
