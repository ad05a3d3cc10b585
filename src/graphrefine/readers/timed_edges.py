"""Edges of a table with a column of times, or without one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.graph.node_ids import Numbered
from graphrefine.readers.formats import EdgeTable
from graphrefine.readers.layout import EdgeColumns
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.times import times_of, use_times


def edges_with_times(
    numbered: Numbered,
    weights: NDArray[np.float32] | None,
    edge_columns: EdgeColumns,
    times: NDArray[Any] | None,
    options: ReadOptions,
) -> EdgeTable:
    """The edges of a table, those that count by the column of their times, if there is one."""
    report, dialect = edge_columns.report, edge_columns.dialect
    directed = None
    if dialect is not None:
        directed = dialect.find_whole_direction(options, edge_columns.sample, rows=len(numbered[0]))
    if times is not None:
        values, dates = times_of(times)
        numbered, weights = use_times(numbered, weights, values, options, report, dates=dates)
    if dialect is not None:
        dialect.check_spaces(numbered, options)
    return EdgeTable(numbered, weights, report, directed=directed)
