"""Search: the rows with the highest scores for each query.

``score(i, j) = (query_i . row_j) * scale_j + added_j``

Scores are the same to the bit for any number of threads, any number of queries and any position of a row.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import native

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class NearestRows(NamedTuple):
    """Nearest rows, the highest score first, of equal ones the earlier row; -1 after the last."""

    rows: Ints  # (q, keep)
    scores: Floats  # (q, keep), -inf where the row is -1


class ExcludedRows(NamedTuple):
    """Rows that are no answer to a query: for i those from ``bounds[i]`` to before ``bounds[i + 1]``, ascending."""

    bounds: Ints  # (q + 1,)
    rows: Ints  # (bounds[-1],)

    @classmethod
    def from_lists(cls, lists: list[Ints]) -> ExcludedRows:
        """Return them from one array of rows for each query, in any order.

        Examples
        --------
        >>> ExcludedRows.from_lists([np.array([5, 2]), np.array([], np.int64)]).rows.tolist()
        [2, 5]
        """
        bounds = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
        rows = [np.sort(each) for each in lists]
        return cls(bounds, np.concatenate(rows).astype(np.int64) if rows else np.empty(0, np.int64))


def nearest(
    queries: Floats,
    rows: Floats,
    keep: int,
    *,
    scale: Floats | None = None,
    added: Floats | None = None,
    excluded_rows: ExcludedRows | None = None,
    threads: int = 1,
) -> NearestRows:
    """Return the ``keep`` rows of the highest scores for each query.

    Parameters
    ----------
    queries : (q, k)
        Vectors to search for.
    rows : (n, k)
        Vectors to search in, in memory or mapped; read once, in order, for any number of queries.
    keep
        Number of rows for each query.
    scale, added : (n,), optional
        See above; a row whose ``added`` is -inf is in no answer, nor is one whose score is NaN.
    excluded_rows
        Rows that are no answer.
    threads
        Number of threads.

    Examples
    --------
    >>> rows = np.array([[1, 0], [0, 1], [2, 0]], np.float32)
    >>> best = nearest(np.array([[1, 0]], np.float32), rows, 2)
    >>> best.rows.tolist(), best.scores.tolist()
    ([[2, 0]], [[2.0, 1.0]])
    """
    shape = (len(queries), keep)
    nearest_rows = NearestRows(np.empty(shape, np.int64), np.empty(shape, np.float32))
    bounds, without = (None, None) if excluded_rows is None else excluded_rows
    native.nearest(
        queries, rows, *nearest_rows, scale=scale, added=added, bounds=bounds, left_out=without, threads=threads
    )
    return nearest_rows
