"""Columns to color by: a category or a number for each row, in the form in which the page takes it.

Further columns come from a table with a node in each record: csv, tsv or parquet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import isfinite
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.display.maps.points import Classes
from graphrefine.errors import FormatError
from graphrefine.graph.graph import Graph
from graphrefine.graph.lookup import list_some
from graphrefine.graph.node_ids import Names
from graphrefine.readers.labels import align, as_labels
from graphrefine.readers.small_table import read_table

MAX_CATEGORIES = 1000  # with their own code, "other" included
# Largest number over median, beyond which colors go by the logarithm: nearly all nodes would have the color of the
# smallest number.
_LOG_RATIO = 100.0


@dataclass(frozen=True, eq=False)
class CategoryColumn:
    """A category for each row."""

    classes: Classes

    kind = "category"

    @cached_property
    def _code_classes(self) -> Classes:
        """The categories that have their own code; the last is all others, if there are more."""
        return self.classes.most_frequent(MAX_CATEGORIES)

    def raw(self) -> memoryview:
        """Return the code of each row as bytes: a position among the categories, or 65535."""
        return as_bytes(self._code_classes.codes, "<u2")

    def value(self, row: int) -> str | None:
        """Return the category of a row."""
        code = int(self.classes.codes[row])
        return None if code < 0 else self.classes.names[code]

    def describe(self) -> dict[str, Any]:
        """Return what the page needs to color by it."""
        pairs = zip(self._code_classes.names, self._code_classes.counts.tolist(), strict=True)
        categories: list[dict[str, Any]] = [{"name": name, "count": count} for name, count in pairs]
        if len(categories) < len(self.classes.names):
            categories[-1]["other"] = True
        return {"categories": categories}


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A number for each row; NaN for none."""

    numbers: NDArray[np.float32]  # (n,)
    log: bool = False  # whether colors go by its logarithm

    kind = "number"

    @cached_property
    def _range(self) -> tuple[float | None, float | None]:
        finite = self.numbers[np.isfinite(self.numbers)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (None, None)

    def raw(self) -> memoryview:
        """Return the numbers as bytes."""
        return as_bytes(self.numbers, "<f4")

    def value(self, row: int) -> float | int | None:
        """Return the number of a row."""
        return as_number(self.numbers[row])

    def describe(self) -> dict[str, Any]:
        """Return what the page needs to color by it."""
        least, most = self._range
        return {"min": least, "max": most, "log": self.log}


def as_bytes(array: NDArray[Any], kind: str) -> memoryview:
    """Return the bytes of an array, as numbers of a kind: not copied if they are that already."""
    flat = np.ascontiguousarray(array, dtype=kind).reshape(-1)
    return flat.view(np.uint8).data


def as_number(value: Any) -> float | int | None:
    """Return a number for JSON: a whole one as an integer, None if it is not finite."""
    number = float(value)
    if not isfinite(number):
        return None
    return int(number) if number.is_integer() else number


Column = CategoryColumn | NumberColumn


class NodeLabels:
    """The labels of each row, those of most nodes first."""

    def __init__(self, labels: Any, names: NDArray[Any], graph: Graph | None = None) -> None:
        table = as_labels(labels, names=names, graph=graph)
        aligned = align(table, names, unlabeled="keep")
        self.listed, self.missing = len(table.names), aligned.missing  # labeled nodes, and those not in the embedding
        counts = np.asarray(aligned.indicator.sum(axis=0)).ravel()
        ranked = np.argsort(-counts, kind="stable")
        ranked = ranked[counts[ranked] > 0]
        self.classes = [table.classes[each] for each in ranked.tolist()]
        self.indicator = aligned.indicator[np.argsort(aligned.order)][:, ranked].tocsr()  # (n, classes)
        self.indicator.sort_indices()
        self.labeled = int(np.count_nonzero(np.diff(self.indicator.indptr)))
        self._codes = {name: code for code, name in enumerate(self.classes)}
        self.mask = lru_cache(maxsize=8)(self._mask)

    def at(self, row: int) -> list[str]:
        """Return the labels of a row."""
        start, stop = self.indicator.indptr[row : row + 2]
        return [self.classes[code] for code in self.indicator.indices[start:stop].tolist()]

    def __contains__(self, label: str) -> bool:
        return label in self._codes

    def _mask(self, label: str) -> NDArray[np.bool_]:
        """Return whether each row has a label.  # (n,)."""
        mask: NDArray[np.bool_] = self.indicator[:, [self._codes[label]]].toarray().ravel()
        return mask

    def column(self) -> CategoryColumn:
        """Return a column with the most frequent label of each row."""
        first = np.full(self.indicator.shape[0], -1, np.int32)
        labeled = np.diff(self.indicator.indptr) > 0
        first[labeled] = self.indicator.indices[self.indicator.indptr[:-1][labeled]]
        return CategoryColumn(Classes.rank(first, self.classes))


def read_columns(path: str | PathLike[str], names: Names) -> tuple[dict[str, Column], int]:
    """Return the columns of a table for the rows of an embedding, and the number of rows that it has values of.

    The nodes are in the column called node, id, name or the like, or else in the first.
    """
    source = read_table(path, comments="")
    table = source.columns
    if len(table) < 2:
        raise FormatError(path, "a column of nodes and at least one more are expected, with a header")
    key = source.node_column
    rows = {str(name): row for row, name in enumerate(names.tolist())}
    row_of = np.fromiter((rows.get(str(name), -1) for name in table[key]), np.int64, len(table[key]))
    listed = np.unique(row_of[row_of >= 0])
    if not len(listed):
        raise FormatError(
            path,
            f"none of the {len(row_of)} nodes in column {key!r} is in the embedding: the table has "
            f"{list_some(list(table[key]))}, the embedding has {list_some(names[:4].tolist())}",
        )
    columns = {name: _column(values, row_of, len(names)) for name, values in table.items() if name != key}
    return columns, len(listed)


def _column(values: Sequence[Any], row_of: NDArray[np.int64], count: int) -> Column:
    """Return numbers where every value is one, or is missing; categories otherwise."""
    is_listed = row_of >= 0
    numbers = _numbers(values)
    if numbers is not None:
        column = np.full(count, np.nan, np.float32)
        column[row_of[is_listed]] = numbers[is_listed]
        return NumberColumn(column, log=_is_skewed(column[np.isfinite(column)]))
    texts = np.array(["" if value is None else str(value) for value in values], object)
    kinds, codes = np.unique(texts, return_inverse=True)
    positions = np.full(count, -1, np.int64)
    positions[row_of[is_listed]] = np.where(texts == "", -1, codes.reshape(-1))[is_listed]
    return CategoryColumn(Classes.rank(positions, [str(kind) for kind in kinds.tolist()]))


def _is_skewed(numbers: NDArray[np.float32]) -> bool:
    if not len(numbers) or numbers.min() < 0:
        return False
    return float(numbers.max()) > _LOG_RATIO * max(float(np.median(numbers)), 1.0)


def _numbers(values: Sequence[Any]) -> NDArray[np.float32] | None:
    if any(isinstance(value, bool) for value in values):
        return None
    try:
        with np.errstate(over="ignore"):
            return np.array([np.nan if value in ("", None) else float(value) for value in values], np.float32)
    except (TypeError, ValueError):
        return None
