"""The kernel that searches: the rows of the highest scores for each of some queries, compiled or its twin.

``score(i, j) = (query_i . row_j) * scale_j + added_j``

Scores are the same to the bit for any number of threads, any number of queries and any place of a row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.kernels import kernels, twin_nearest

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class Nearest(NamedTuple):
    """What was found, the highest score first, of equal ones the earlier row; -1 where there are no more."""

    rows: Ints  # (q, keep)
    scores: Floats  # (q, keep), -inf where the row is -1


class LeftOut(NamedTuple):
    """Rows that each query must not find: query i those from ``bounds[i]`` to before ``bounds[i + 1]``, ascending."""

    bounds: Ints  # (q + 1,)
    rows: Ints  # (bounds[-1],)

    @classmethod
    def of(cls, lists: list[Ints]) -> LeftOut:
        """From one array of rows for each query, in any order.

        Examples
        --------
        >>> LeftOut.of([np.array([5, 2]), np.array([], np.int64)]).rows.tolist()
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
    left_out: LeftOut | None = None,
    threads: int = 1,
) -> Nearest:
    """The ``keep`` rows of the highest scores for each query.

    Parameters
    ----------
    queries : (q, k)
        What to search for.
    rows : (n, k)
        In memory or mapped; read once, in order, however many queries there are.
    keep
        How many.
    scale, added : (n,), optional
        See above; a row whose ``added`` is -inf is never found, nor is one whose score is NaN.
    left_out
        What must not be found.
    threads
        How many may work.

    Examples
    --------
    >>> rows = np.array([[1, 0], [0, 1], [2, 0]], np.float32)
    >>> found = nearest(np.array([[1, 0]], np.float32), rows, 2)
    >>> found.rows.tolist(), found.scores.tolist()
    ([[2, 0]], [[2.0, 1.0]])
    """
    found = Nearest(np.empty((len(queries), keep), np.int64), np.empty((len(queries), keep), np.float32))
    bounds, without = (None, None) if left_out is None else left_out
    search: Any = twin_nearest.nearest
    if kernels().name == "native":
        from graphrefine.kernels import _native

        search = _native.nearest
    search(queries, rows, *found, scale=scale, added=added, bounds=bounds, left_out=without, threads=threads)
    return found
