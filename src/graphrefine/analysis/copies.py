"""Copies: nodes that cannot be told apart, by their vectors or by their neighbors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.analysis.neighbor_sets import NeighborSets
from graphrefine.graph.lookup import SIDES
from graphrefine.search.equal_rows import group_by, group_equal_rows
from graphrefine.search.scores import ScoreSide
from graphrefine.search.vectors import VectorTable

Rows = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Copies(NamedTuple):
    """Groups of rows that cannot be told apart, those of one row included; the first of each stands for it."""

    first: Rows  # (groups,)
    others: Rows  # the rows that are not the first of their group
    originals: Rows  # the first row of the group of each of these

    @classmethod
    def from_groups(cls, members: Rows, starts: Rows) -> Copies:
        """Groups of members, each ascending, that begin at ``starts``.

        Examples
        --------
        >>> Copies.from_groups(np.array([4, 7, 5]), np.array([0, 2, 3])).originals.tolist()
        [4]
        """
        sizes = np.diff(starts)
        first = members[starts[:-1]]
        originals = np.repeat(first, sizes)
        later = members != originals
        return cls(first, members[later], originals[later])

    @classmethod
    def join(cls, parts: list[Copies]) -> Copies:
        """The groups of several parts."""
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def group_vectors(table: VectorTable, eligible: Mask) -> Copies:
    """Eligible rows with the same vector; of a bipartite graph, of one side.

    Examples
    --------
    >>> from graphrefine import Embedding
    >>> group_vectors(Embedding(["a", "b", "c"], [[1, 0], [0, 1], [1, 0]]), np.ones(3, bool)).others.tolist()
    [2]
    """
    every = ScoreSide(table.vectors, None, np.where(eligible, np.float32(0), np.float32(-np.inf)))
    parts = []
    for side in SIDES if table.sides.kind == "rows" else SIDES[:1]:
        rows = table.sides.rows(len(table), side)
        members, starts = group_equal_rows(every.part(rows))
        parts.append(Copies.from_groups(members + rows.start, starts))
    return Copies.join(parts)


def group_neighbors(sets: NeighborSets, node: Rows, eligible: Mask) -> Copies:
    """Eligible rows with the same neighbors, or the same when each counts itself too: no row is in groups of both.

    ``node`` is the node of each row in the graph of the sets.
    """
    rows = np.flatnonzero(eligible)
    alone, whole = (hashes[node[rows]] for hashes in sets.hash_sets())
    members, starts = group_by(rows, alone)
    sizes = np.diff(starts)
    single = np.repeat(sizes == 1, sizes)
    several = np.concatenate([[0], np.cumsum(sizes[sizes > 1])]).astype(np.int64)
    rest = np.isin(rows, members[single])
    return Copies.join([
        Copies.from_groups(members[~single], several),
        Copies.from_groups(*group_by(rows[rest], whole[rest])),
    ])  # fmt: skip
