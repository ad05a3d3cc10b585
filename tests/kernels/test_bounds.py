"""Compiled kernels refuse what would lead out of their arrays: indices out of range, wrong lengths, NaN.

Those of live vectors are in `test_live_cases`. `fuzz/targets/kernels.py` tries many more, under sanitizers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphrefine.kernels import native

PATH = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)  # rows of 0 - 1 - 2
WIDE = np.array([0, 1, 3, 4]), np.array([1, 0, 3, 1], np.int32)  # one column is beyond the last
BELOW = np.array([0, 1, 3, 4]), np.array([1, 0, -1, 1], np.int32)
BENT = np.array([0, 3, 1, 4]), PATH[1]  # a row that ends before it begins
SHORT = np.array([0, 1, 3, 5]), PATH[1]
WRONG = [WIDE, BELOW, BENT, SHORT]
RowsKernel = Callable[[Any, Any], Any]


def walk(indptr: Any, indices: Any, *, p: float = 1.0, starts: Any = (0, 1, 2)) -> Any:
    out = np.empty((3, 40), np.int32)
    nodes = np.array(starts, np.int32)
    native.random_walks(indptr, indices, None, nodes, out, seed=0, round=0, p=p, q=1.0, threads=2)
    return out


def solve(indptr: Any, indices: Any) -> Any:
    solution, weights = np.zeros((3, 32), np.float32), np.ones(4, np.float32)
    numbers = {"weights": weights, "solution": solution, "missing": np.ones(3), "totals": np.ones(3), "hub": 1}
    return squares(indptr=indptr, indices=indices, others=np.ones((3, 32), np.float32), **numbers)


def force(indptr: Any, indices: Any) -> Any:
    points, out = np.zeros((3, 2), np.float32), np.empty((3, 2), np.float32)
    field = np.zeros((4, 4, 2), np.float32)
    origin = {"left": 0.0, "bottom": 0.0, "inverse": 1.0}
    weights = np.ones(4, np.float32)
    native.forces(indptr, indices, weights, points, field, **origin, attraction=1.0, out=out, threads=2)
    return out


def draw_edges(indptr: Any, indices: Any, *, sums: Any = None) -> Any:
    out = np.empty((200, 2), np.int32)
    native.random_edges(indptr, indices, sums, out, seed=0, first=0, threads=2)
    return out


KERNELS: dict[str, RowsKernel] = {
    "reorder": lambda *rows: native.reorder(*rows, None),
    "permute": lambda *rows: native.permute(*rows, None, *np.array([[2, 0, 1], [1, 2, 0]], np.int32), threads=2),
    "row_sums": lambda *rows: native.row_sums(*rows, None, np.ones(3), threads=2),
    "Product": lambda *rows: native.Product(*rows, columns=3),
    "random_walks": walk,
    "random_edges": draw_edges,
    "walk_pairs": lambda *rows: native.walk_pairs(*rows, None, 0, np.full(3, 90), length=9, seed=0, threads=2),
    "solve_rows": solve,
    "forces": force,
}


@pytest.mark.parametrize("name", KERNELS)
def test_rows_that_lead_out_of_the_graph_are_refused(name: str) -> None:
    KERNELS[name](*PATH)
    for rows in WRONG:
        with pytest.raises(ValueError, match=r"`ind(ices|ptr)` must"):
            KERNELS[name](*rows)
        assert native.inspect_rows(*rows, None) == -1 < native.inspect_rows(*PATH, None)


ONE, TWO, REST = np.zeros(1, np.int32), np.array([0, 1], np.int32), {"threads": 1}
NANS = np.full(2, np.nan, np.float32)
TEXT = np.frombuffer(b"a b\n", np.uint8)
DEAD_END = np.array([0, 1, 1]), np.ones(1, np.int32)  # the only step from 0 leads to 1, which has no neighbors
SQUARES: dict[str, Any] = {
    "indptr": np.array([0, 1]),
    "indices": np.zeros(1, np.int32),
    "weights": np.ones(1, np.float32),
    "solution": np.zeros((1, 32), np.float32),
    "others": np.ones((50, 32), np.float32),
    "missing": np.ones(1),
    "totals": np.ones(1),
    "diagonal": np.ones((2, 32)),
    "steps": 3,
    "hub": 9,
}


def build(source: Any = TWO, target: Any = TWO, nodes: int = 2, weights: Any = None) -> Any:
    return native.build_rows(nodes, source, target, weights=weights, directed=True, threads=1)


def deal(source: Any, bounds: Any) -> Any:
    return native.deal_arcs(source, source, weights=None, bounds=np.array(bounds, np.int32), both=True, threads=1)


def merge(records: Any, first: int = 0, *, weighted: bool = False) -> Any:
    return native.merge_arcs(2, first, np.array(records, np.uint32), weighted=weighted, threads=1)


def mark(lowest: int, place: int) -> Any:
    return native.mark_ids(np.zeros(16, np.uint64), np.zeros(1, np.int64), lowest, np.array([place]))


def pairs(rows: Any, walks: Any, length: int) -> Any:
    return native.walk_pairs(*rows, None, 0, np.array(walks), length=length, seed=0, threads=1)


def skip_gram(noise: Any = (0, 0), window: int = 2, parts: int = 2) -> Any:
    return native.SkipGram(np.array(noise, np.int32), window=window, negatives=1, both=True, seed=0, parts=parts)


def train(noise: int, walks: Any, shape: tuple[int, int] = (3, 32), other: tuple[int, int] | None = None) -> Any:
    tables = np.zeros(shape, np.float32), np.zeros(other or shape, np.float32)
    rates = {"first": 0, "rate": 0.1, "last_rate": 0.1, "threads": 1}
    return skip_gram([noise, noise]).train(*tables, np.array([walks], np.int32), **rates)


def product(**changes: Any) -> Any:
    return native.Product(**{"indptr": np.array([0, 1]), "indices": ONE, "columns": 2, **changes})


def squares(**changes: Any) -> Any:
    return native.solve_rows(**{**SQUARES, **REST, **changes})


def spread_nan() -> Any:
    points, grid = np.array([[np.nan, 0]], np.float32), np.zeros((4, 4), np.int64)
    return native.spread(points, left=0.0, bottom=0.0, inverse=1.0, threads=1, out=grid)


def parse(columns: Any, marks: Any) -> Any:
    return native.parse_strings(TEXT, columns, marks, dates=False, threads=1)


REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("`points` must be finite", spread_nan),
    ("must be below `nodes`", lambda: build(target=TWO + 1)),
    ("equally long", lambda: build(target=ONE)),
    ("`nodes` must be", lambda: build(nodes=2**62)),
    ("`weights` must be numbers", lambda: build(weights=NANS)),
    ("of these rows", lambda: merge([3, 2], 1)),
    ("must be whole", lambda: merge([1, 2, 0, 1], weighted=True)),
    ("in the range", lambda: mark(0, 1024)),
    ("in the range", lambda: native.rank_ids(np.zeros(1, "u8"), np.zeros(2, "i4"), 0, np.array([64]), threads=1)),
    ("`source` must be rows", lambda: deal(TWO + 9, [0, 1])),
    ("`bounds` must not decrease", lambda: deal(ONE, [0, 5, 2])),
    ("every row once", lambda: native.permute(*PATH, None, *np.array([[1, 1, 1], [0, 1, 2]], np.int32))),
    ("`starts` must be nodes", lambda: walk(*PATH, starts=(0, 1, 3))),
    ("a row for each start", lambda: walk(*PATH, starts=(0, 1))),
    ("`p` and `q` must be positive", lambda: walk(*PATH, p=float("nan"))),
    ("must not differ", lambda: walk(*PATH, p=1e20)),
    ("one number more", lambda: draw_edges(*PATH, sums=np.zeros(3))),
    ("without neighbors", lambda: pairs(DEAD_END, [1, 0], length=2)),
    ("more steps of walks", lambda: pairs(PATH, [2**40] * 3, length=0)),
    ("`offsets` must not", lambda: native.number_strings(np.zeros(3, np.uint8), np.array([0, 2, 4]))),
    ("five columns and four marks", lambda: parse((), ())),
    ("must be from 0", lambda: parse((-1, 1, -1, -1, 2), (" ", "", "", ""))),
    ("too many columns", lambda: native.Product(*PATH, columns=2**31, first_column=2**62)),
    ("row_scale", lambda: product(row_scale=np.ones(3, np.float32))),
    ("column_shift", lambda: product(column_shift=np.ones(3, np.float32))),
    ("power of two", lambda: skip_gram(parts=3)),
    ("at most 64", lambda: skip_gram(parts=128)),
    ("must be from 1", lambda: skip_gram(window=0)),
    ("`noise` must be", lambda: skip_gram([0, 0, 0])),
    ("`noise` must be", lambda: skip_gram([-1, -1])),
    ("`noise` must be nodes", lambda: train(3, [0, 1])),
    ("`walks` must be nodes", lambda: train(2, [1, 3])),
    ("multiple of 32", lambda: train(2, [0, 1], (3, 33))),
    ("one shape", lambda: train(2, [0, 1], other=(4, 32))),
    ("weights", lambda: squares(weights=np.ones(2, np.float32))),
    ("multiple of 32", lambda: squares(solution=np.zeros((1, 16), np.float32))),
    ("missing", lambda: squares(missing=np.ones(2))),
    ("totals", lambda: squares(totals=np.ones(2))),
    ("diagonal", lambda: squares(diagonal=np.ones((1, 32)))),
    ("rows", lambda: native.rank_scores(np.ones((2, 3), "f4"), np.array([2]), np.ones(1, "f4"), np.ones(1))),
]


@pytest.mark.parametrize(("message", "call"), REFUSED)
def test_what_does_not_fit_is_refused(message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_beyond_all_memory_are_an_error() -> None:
    with pytest.raises(MemoryError):
        native.signs(0, 0, rows=2**31, words=2**29)


def test_quotes_in_a_long_line_take_linear_time() -> None:
    """Each quote was once looked up from the beginning of its line: 4e9 steps for these."""
    text = b'"a",' * 100_000 + b'"a"\n1,2\n'
    assert native.whole_records(np.frombuffer(text, np.uint8), (",", '"', "#", "")) == len(text)
