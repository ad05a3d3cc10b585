"""Kernels of tall matrices have the bits of their oracle, for any number of threads; and the stub of all kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphrefine.graph.graph import Graph
from graphrefine.kernels import native, to_bfloat16, to_float32
from graphs import graphs
from oracles import bits

SEEDS = st.integers(0, 2**31)
THREADS = st.integers(1, 4)


def make_tall(n: int, columns: int, kind: str, seed: int = 0) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    if kind == "signs":
        return bits.signs(seed, 0, rows=n, words=columns // 32)
    x = rng.standard_normal((n, columns), dtype=np.float32)
    return to_bfloat16(x) if kind == "half" else x


def arguments(graph: Graph, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    given: dict[str, Any] = {"columns": graph.nodes, "constant": 0.25, "value": graph.weights}
    for name in ("row_shift", "column_shift", "row_scale", "column_scale"):
        given[name] = rng.uniform(0.5, 2.0, graph.nodes).astype(np.float32) if rng.random() < 0.6 else None
    given["loop"] = 1.5 if rng.random() < 0.5 else 0.0
    return given


def check_bits(compute: Callable[[Any], tuple[NDArray[Any], ...]]) -> None:
    """Compute by the kernels and by their oracle: all arrays must be the same."""
    for ours, theirs in zip(compute(native), compute(bits), strict=True):
        assert np.array_equal(ours, theirs)


@settings(deadline=None, max_examples=40)
@given(
    graph=graphs(most=60),
    kind=st.sampled_from(["single", "half", "signs"]),
    columns=st.sampled_from([32, 64, 96, 128, 160]),
    to_half=st.booleans(),
    unit=st.booleans(),
    threads=THREADS,
    seed=SEEDS,
)
def test_product_has_the_bits_of_the_oracle(
    graph: Graph, kind: str, columns: int, to_half: bool, unit: bool, threads: int, seed: int
) -> None:
    given = arguments(graph, seed)
    x = make_tall(graph.nodes, columns, kind, seed)
    plus = make_tall(graph.nodes, columns, "half" if to_half else "single", seed + 1)

    def compute(which: Any) -> tuple[NDArray[Any], ...]:
        out = np.full((graph.nodes, columns), 7, np.uint16 if to_half else np.float32)
        gram = np.zeros((2, columns, columns))
        product = which.Product(graph.indptr, graph.indices, **given)
        product.apply(x, out=out, scale=0.5, plus=plus, plus_scale=-2.0, unit=unit, gram=gram, threads=threads)
        return out, gram

    check_bits(compute)


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 600), st.sampled_from([32, 96]), st.booleans(), st.booleans(), THREADS)
def test_rotation_has_the_bits_of_the_oracle(n: int, columns: int, triangular: bool, unit: bool, threads: int) -> None:
    x = make_tall(n, columns, "single", n)
    rotation = np.random.default_rng(n).standard_normal((columns, columns)).astype(np.float32)
    rotation = np.triu(rotation) if triangular else rotation
    places = np.random.default_rng(n).permutation(n).astype(np.int32)
    options = {"triangular": triangular, "places": places, "unit": unit, "threads": threads}

    def compute(which: Any) -> tuple[NDArray[Any], ...]:
        out, gram = np.empty((n, columns - 5), np.float32), np.zeros((2, columns, columns))
        which.rotate(x, rotation, out=out, gram=gram, **options)
        return out, gram

    check_bits(compute)


@settings(deadline=None, max_examples=20)
@given(graphs(most=60), st.booleans(), THREADS, SEEDS)
def test_some_rows_of_a_product_rotated_have_the_bits_of_the_oracle(
    graph: Graph, unit: bool, threads: int, seed: int
) -> None:
    rng, arrays = np.random.default_rng(seed), arguments(graph, seed)
    x, plus = (make_tall(graph.nodes, 64, "half", seed + more) for more in (0, 1))
    count = int(rng.integers(1, graph.nodes + 1))
    rows, order = (rng.permutation(n)[:count].astype(np.int32) for n in (graph.nodes, count))
    turn, after = rng.standard_normal((64, 64)).astype(np.float32), rng.standard_normal(64).astype(np.float32)
    options = {"plus": plus, "plus_scale": 0.5, "unit": unit, "rows": rows, "order": order, "threads": threads}

    def compute(which: Any) -> tuple[NDArray[Any], ...]:
        outs = np.empty((count, 64), np.float32), np.empty((count, 60), np.float32)
        product = which.Product(graph.indptr, graph.indices, **arrays)
        product.apply(x, out=outs[0], **options)
        product.apply(x, out=outs[1], rotation=turn, after=after, **options)
        return outs

    check_bits(compute)


def test_rounding_to_bfloat16_is_the_same_to_the_bit() -> None:
    random_bits = np.random.default_rng(0).integers(0, 2**32, (999, 32), dtype=np.uint32)
    x = random_bits.view(np.float32)
    x[~np.isfinite(x)] = 1.0
    x[np.abs(x) > 1e38] = 1.0
    out = np.empty(x.shape, np.uint16)
    native.rotate(x, None, out=out)
    assert np.array_equal(out, to_bfloat16(x))
    assert np.all(np.abs(to_float32(out) - x) <= np.abs(x) * 2.0**-8 + 1e-38)


@given(graphs(most=80), THREADS)
@settings(deadline=None, max_examples=30)
def test_reordered_rows_are_those_of_their_nodes(graph: Graph, threads: int) -> None:
    pattern = (graph.indptr, graph.indices, graph.weights)
    order, places, *ours = native.reorder(*pattern)
    assert sorted(order.tolist()) == list(range(graph.nodes)) == places[order].tolist()
    for one, two in zip(ours, native.permute(*pattern, order, places, threads=threads), strict=True):
        assert one is two is None or np.array_equal(one, two)
    for i, row in enumerate(order.tolist()):  # the entries of a row stay in their order
        entries, new = slice(*graph.indptr[row : row + 2].tolist()), slice(*ours[0][i : i + 2].tolist())
        near = graph.indices[entries]
        assert np.array_equal(order[ours[1][new]], near)
        assert ours[3][i] == np.count_nonzero(near < row)
        assert graph.weights is None or np.array_equal(ours[2][new], graph.weights[entries])
    scale = np.random.default_rng(0).random(graph.nodes)
    sums = native.row_sums(*pattern, scale, threads=threads)
    assert np.allclose(sums, graph.to_scipy().astype(np.float64) @ scale, rtol=1e-12)


@given(st.integers(0, 2**64 - 1), st.integers(0, 10**9), st.integers(1, 50), st.integers(1, 8))
def test_signs_are_the_same_to_the_bit(seed: int, start: int, rows: int, words: int) -> None:
    ours = native.signs(seed, start, rows=rows, words=words)
    assert np.array_equal(ours, bits.signs(seed, start, rows=rows, words=words))
    assert np.array_equal(ours[1:], native.signs(seed, start + 1, rows=rows - 1, words=words))


def test_signs_are_balanced_and_independent_of_each_other() -> None:
    signs = to_float32(native.signs(3, 0, rows=20_000, words=4))
    assert abs(signs.mean()) < 0.002
    correlation = signs.T @ signs / len(signs) - np.eye(128)
    assert np.abs(correlation).max() < 0.04  # 5.6 standard deviations
    other = to_float32(native.signs(4, 0, rows=20_000, words=4))
    assert np.abs((signs * other).mean(axis=0)).max() < 0.04


def test_the_stub_is_fresh() -> None:
    import graphrefine.kernels

    stubgen = pytest.importorskip("nanobind.stubgen")
    stub = Path(graphrefine.kernels.__file__).with_name("_native.pyi")
    generator = stubgen.StubGen(native)
    generator.put(native)
    command = f"python -m nanobind.stubgen -m graphrefine.kernels._native -o {stub}"
    assert ast.dump(ast.parse(generator.get())) == ast.dump(ast.parse(stub.read_text())), f"run: {command}"
