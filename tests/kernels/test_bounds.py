"""Compiled kernels refuse what would lead out of their arrays: indices out of range, wrong lengths, NaN.

`fuzz/targets/kernels.py` tries many more, under sanitizers.
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
    solution, others = np.zeros((3, 32), np.float32), np.ones((3, 32), np.float32)
    numbers = {"missing": np.ones(3), "totals": np.ones(3), "diagonal": np.ones((2, 32))}
    weights = np.ones(4, np.float32)
    native.solve_rows(indptr, indices, weights, solution, others, **numbers, steps=2, hub=1, threads=2)
    return solution


def force(indptr: Any, indices: Any) -> Any:
    points, out = np.zeros((3, 2), np.float32), np.empty((3, 2), np.float32)
    field = np.zeros((4, 4, 2), np.float32)
    origin = {"left": 0.0, "bottom": 0.0, "inverse": 1.0}
    weights = np.ones(4, np.float32)
    native.forces(indptr, indices, weights, points, field, **origin, attraction=1.0, out=out, threads=2)
    return out


def draw_edges(indptr: Any, indices: Any) -> Any:
    out = np.empty((200, 2), np.int32)
    native.random_edges(indptr, indices, None, out, seed=0, first=0, threads=2)
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


def test_inspection_says_so_instead() -> None:
    assert native.inspect_rows(*PATH, None) == 7
    assert [native.inspect_rows(*rows, None) for rows in WRONG] == [-1] * len(WRONG)


def points(*numbers: float) -> Any:
    return np.array(numbers, np.float32).reshape(-1, 2)


ONE, TWO = np.zeros(1, np.int32), np.array([0, 1], np.int32)
GRID: dict[str, Any] = {"left": 0.0, "bottom": 0.0, "inverse": 1.0, "threads": 1}
REFUSED: list[tuple[str, Callable[[], Any]]] = [
    ("`points` must be finite", lambda: native.spread(points(np.nan, 0), **GRID, out=np.zeros((4, 4), np.int64))),
    ("must be below `nodes`", lambda: native.build_rows(2, TWO, TWO + 1, weights=None, directed=True, threads=1)),
    ("equally long", lambda: native.build_rows(2, TWO, ONE, weights=None, directed=True, threads=1)),
    ("`nodes` must be", lambda: native.build_rows(2**62, TWO, TWO, weights=None, directed=True, threads=1)),
    (
        "`weights` must be numbers",
        lambda: native.build_rows(2, TWO, TWO, weights=np.full(2, np.nan, np.float32), directed=True, threads=1),
    ),
    ("equally long", lambda: native.number_ids(TWO, ONE, threads=1)),
    ("of these rows", lambda: native.merge_arcs(2, 1, np.array([3, 2], np.uint32), weighted=False, threads=1)),
    ("must be whole", lambda: native.merge_arcs(2, 0, np.array([1, 2, 0, 1], np.uint32), weighted=True, threads=1)),
    ("in the range", lambda: native.mark_ids(np.zeros(16, np.uint64), np.zeros(1, np.int64), 0, np.array([1024]))),
    ("in the range", lambda: native.mark_ids(np.zeros(16, np.uint64), np.zeros(1, np.int64), 9, np.array([8]))),
    (
        "in the range",
        lambda: native.rank_ids(np.zeros(1, np.uint64), np.zeros(2, np.int32), 0, np.array([64]), threads=1),
    ),
    (
        "`source` must be rows",
        lambda: native.deal_arcs(TWO + 9, TWO, weights=None, bounds=TWO, both=True, threads=1),
    ),
    (
        "`bounds` must not decrease",
        lambda: native.deal_arcs(ONE, ONE, weights=None, bounds=np.array([0, 5, 2], np.int32), both=True, threads=1),
    ),
    ("every row once", lambda: native.permute(*PATH, None, *np.array([[1, 1, 1], [0, 1, 2]], np.int32))),
    ("`starts` must be nodes", lambda: walk(*PATH, starts=(0, 1, 3))),
    ("`p` and `q` must be positive", lambda: walk(*PATH, p=float("nan"))),
    ("must not differ", lambda: walk(*PATH, p=1e20)),
    (
        "without neighbors",  # the only step from 0 leads to 1, which has none
        lambda: native.walk_pairs(
            np.array([0, 1, 1]), np.ones(1, np.int32), None, 0, np.array([1, 0]), length=2, seed=0, threads=1
        ),
    ),
    ("`offsets` must not", lambda: native.number_strings(np.zeros(3, np.uint8), np.array([0, 2, 4]))),
    ("`offsets` must not", lambda: native.number_strings(np.zeros(3, np.uint8), np.array([0, 3, 1]))),
    ("more steps of walks", lambda: native.walk_pairs(*PATH, None, 0, np.full(3, 2**40), length=0, seed=0, threads=1)),
    ("too many columns", lambda: native.Product(*PATH, columns=2**31, first_column=2**62)),
    (
        "at most 64",
        lambda: native.SkipGram(ONE, window=1, negatives=1, both=True, seed=0, parts=2**63),
    ),
    (
        "five columns and four marks",
        lambda: native.parse_integers(np.zeros(1, np.uint8), (), (), dates=False, wide=False, threads=1),
    ),
    (
        "must be from 0",
        lambda: native.parse_strings(
            np.frombuffer(b"a b\n", np.uint8), (-1, 1, -1, -1, 2), (" ", "", "", ""), dates=False, threads=1
        ),
    ),
]


@pytest.mark.parametrize(("message", "call"), REFUSED)
def test_what_does_not_fit_is_refused(message: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_beyond_all_memory_are_an_error() -> None:
    with pytest.raises(MemoryError):
        native.signs(0, 0, rows=2**31, words=2**29)


def test_rows_of_nothing_take_no_time() -> None:
    assert native.signs(0, 0, rows=2**40, words=0).shape == (2**40, 0)


@pytest.mark.parametrize("threads", [-5, 0, 2**31 - 1])
def test_any_number_of_threads_will_do(threads: int) -> None:
    expected = native.row_sums(*PATH, None, np.array([1.0, 2.0, 4.0]), threads=1)
    assert native.row_sums(*PATH, None, np.array([1.0, 2.0, 4.0]), threads=threads).tolist() == expected.tolist()


def test_quotes_in_a_long_line_take_linear_time() -> None:
    """Each quote was once looked up from the beginning of its line: 4e9 steps for these."""
    text = b'"a",' * 100_000 + b'"a"\n1,2\n'
    assert native.whole_records(np.frombuffer(text, np.uint8), (",", '"', "#", "")) == len(text)
