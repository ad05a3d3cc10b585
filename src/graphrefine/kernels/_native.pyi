from typing import Any

import numpy as np
from numpy.typing import NDArray

_Parsed = tuple[int, int, NDArray[Any], NDArray[Any], NDArray[np.float32] | None, bytes, int]
_Tally = tuple[int, int, int, int, int]

simd: str

class Product:
    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        *,
        columns: int,
        value: NDArray[np.float32] | None = None,
        row_shift: NDArray[np.float32] | None = None,
        column_shift: NDArray[np.float32] | None = None,
        row_scale: NDArray[np.float32] | None = None,
        column_scale: NDArray[np.float32] | None = None,
        constant: float = 0.0,
        loop: float = 0.0,
        diagonal: int = 0,
        first_column: int = 0,
        starts: NDArray[np.int64] | None = None,
        stops: NDArray[np.int64] | None = None,
    ) -> None: ...
    def apply(
        self,
        x: NDArray[Any],
        *,
        out: NDArray[Any] | None,
        scale: float = 1.0,
        plus: NDArray[Any] | None = None,
        plus_scale: float = 0.0,
        onto: NDArray[np.float32] | None = None,
        shift: NDArray[np.float32] | None = None,
        unit: bool = False,
        gram: NDArray[np.float64] | None = None,
        threads: int = 1,
    ) -> None: ...

def rotate(
    x: NDArray[Any],
    rotation: NDArray[np.float32] | None,
    *,
    triangular: bool = False,
    out: NDArray[Any] | None,
    places: NDArray[np.int32] | None = None,
    shift: NDArray[np.float32] | None = None,
    unit: bool = False,
    gram: NDArray[np.float64] | None = None,
    sums: NDArray[np.float64] | None = None,
    weights: NDArray[np.float32] | None = None,
    threads: int = 1,
) -> None: ...
def breadth_first(indptr: NDArray[np.int64], indices: NDArray[np.int32], order: NDArray[np.int32]) -> None: ...
def permute(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float32] | None,
    order: NDArray[np.int32],
    new_indptr: NDArray[np.int64],
    new_indices: NDArray[np.int32],
    new_values: NDArray[np.float32] | None,
    threads: int,
) -> None: ...
def signs(seed: int, start: int, rows: NDArray[np.int32] | None, out: NDArray[np.uint32]) -> None: ...
def row_sums(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[np.float32] | None,
    scale: NDArray[np.float64],
    sums: NDArray[np.float64],
    threads: int,
) -> None: ...
def split_rows(
    indptr: NDArray[np.int64], indices: NDArray[np.int32], firsts: NDArray[np.int32], cuts: NDArray[np.int64]
) -> None: ...
def parse_integers(
    text: NDArray[np.uint8],
    columns: tuple[int, int, int, int],
    *,
    delimiter: str,
    comments: str,
    wide: bool,
    threads: int,
) -> _Parsed: ...
def parse_strings(
    text: NDArray[np.uint8],
    columns: tuple[int, int, int, int],
    *,
    delimiter: str,
    comments: str,
    threads: int,
) -> _Parsed: ...
def number_ids(
    source: NDArray[Any], target: NDArray[Any], *, threads: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]: ...
def build_rows(
    nodes: int,
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    *,
    weights: NDArray[np.float32] | None,
    directed: bool,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None, _Tally]: ...
def merge_arcs(
    rows: int, first: int, records: NDArray[np.uint32], *, weighted: bool, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None, int, int]: ...
def mark_ids(bits: NDArray[np.uint64], pages: NDArray[np.int64], lowest: int, ids: NDArray[Any]) -> None: ...
def rank_ids(
    bits: NDArray[np.uint64], before: NDArray[np.int32], lowest: int, ids: NDArray[Any], *, threads: int
) -> NDArray[np.int32]: ...
def deal_arcs(
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    *,
    weights: NDArray[np.float32] | None,
    bounds: NDArray[np.int32],
    both: bool,
    threads: int,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]: ...
def inspect_rows(indptr: NDArray[np.int64], indices: NDArray[np.int32], weights: NDArray[np.float32] | None) -> int: ...
def random_walks(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    sums: NDArray[np.float64] | None,
    starts: NDArray[np.int32],
    out: NDArray[np.int32],
    *,
    seed: int,
    round: int,
    p: float,
    q: float,
    threads: int,
) -> None: ...
def walk_pairs(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    sums: NDArray[np.float64] | None,
    first: int,
    walks: NDArray[np.int64],
    *,
    length: int,
    seed: int,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]: ...
def random_edges(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    sums: NDArray[np.float64] | None,
    out: NDArray[np.int32],
    *,
    seed: int,
    first: int,
    threads: int,
) -> None: ...

class SkipGram:
    def __init__(
        self, noise: NDArray[np.int32], *, window: int, negatives: int, both: bool, seed: int, parts: int
    ) -> None: ...
    def train(
        self,
        centers: NDArray[np.float32],
        contexts: NDArray[np.float32],
        walks: NDArray[np.int32],
        *,
        first: int,
        rate: float,
        last_rate: float,
        threads: int,
    ) -> None: ...

def nearest(
    queries: NDArray[np.float32],
    rows: NDArray[np.float32],
    found: NDArray[np.int64],
    scores: NDArray[np.float32],
    *,
    scale: NDArray[np.float32] | None,
    added: NDArray[np.float32] | None,
    bounds: NDArray[np.int64] | None,
    left_out: NDArray[np.int64] | None,
    threads: int,
) -> None: ...
