"""Fold maps of directed and bipartite graphs: new sources from the targets of their arcs, new targets from the sources.

As `graphrefine.embedding.fold_in` does for one set of nodes, with f and the mean made of the vectors at the other ends:

``source = e^(a + b l) unit(mean + f W)``

for a source of arcs to known targets, and likewise for a target. The length of a vector counts here, as scores are
inner products; a and b are the regression of its logarithm on l. A node of a directed graph that has no arcs on one
side has there the vector of known nodes without such arcs. W, (a, b) and that vector are what known nodes teach: a map
of 6h + 2 rows for each side, h the numbers of a side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.embedding.fold_in import (
    ROUNDS,
    Links,
    Neighbors,
    Scale,
    features,
    learn_map,
    mean_lengths,
    sample,
    turn_fold_map,
)
from graphrefine.graph.lookup import SIDES, Side, Sides
from graphrefine.linalg import unit_rows
from graphrefine.system.threads import one_blas_thread

if TYPE_CHECKING:
    from graphrefine.graph.graph import Graph

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]


class SideMap(NamedTuple):
    """What known nodes teach of one side."""

    W: Floats  # (6h, h)
    length: Floats  # (2,): a and b
    empty: Floats  # (h,): the vector of a node without arcs on this side

    def pack(self) -> Floats:
        """Return the map as one array.  # (6h + 2, h)."""
        row = np.zeros(self.W.shape[1], np.float32)
        row[:2] = self.length[: len(row)]  # of a side of one number, b is 0
        return np.concatenate([self.W, row[None], self.empty[None]])


def split_maps(fold_map: Floats) -> dict[Side, SideMap]:
    """Return the maps of both sides, from the array that the state holds."""
    parts = np.split(np.asarray(fold_map), 2)
    lengths = [np.append(part[-2], np.float32(0))[:2] for part in parts]
    return {
        side: SideMap(part[:-2], length, part[-1]) for side, part, length in zip(SIDES, parts, lengths, strict=True)
    }


def turn_side_maps(fold_map: Floats, R: NDArray[np.float64]) -> Floats:
    """Return the maps of vectors whose sides were multiplied by a rotation R."""
    turned = [
        SideMap(turn_fold_map(each.W, R), each.length, (each.empty @ R).astype(np.float32)).pack()
        for each in split_maps(fold_map).values()
    ]
    return np.concatenate(turned)


def learn_side_maps(graph: Graph, vectors: Floats, sides: Sides, degrees: NDArray[Any], *, seed: int) -> Floats:
    """Return the maps of both sides, from samples of the nodes of a directed or bipartite graph.  # (12h + 4, h)."""
    maps = []
    for side, other, arcs in ((*SIDES, graph), (*SIDES[::-1], graph.transposed())):
        rows, near = sides.rows(len(vectors), side), sides.rows(len(vectors), other)
        counts = arcs.out_counts[rows]
        own, scale = sides.vectors(vectors, side), Scale.of(degrees[rows])
        nodes, links = sample(arcs, seed=seed, rows=rows)
        links = links._replace(indices=links.indices - near.start)
        own_rows = nodes - rows.start
        logs = scale.standardized(counts[own_rows])
        W = learn_map(Neighbors(sides.vectors(vectors, other)), degrees[near], unit_rows(own[own_rows]), logs, links)
        none = (counts == 0) & own.any(axis=1)
        empty = np.median(own[none], axis=0).astype(np.float32) if none.any() else np.zeros(own.shape[1], np.float32)
        maps.append(SideMap(W, _fit_lengths(own[own_rows], logs), empty).pack())
    return np.concatenate(maps)


def _fit_lengths(own: Floats, logs: Floats) -> Floats:
    """Return a and b of ``ln |x| = a + b l``, by least squares over vectors that are not zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", own, own, dtype=np.float64))
    there = lengths > 0
    if not there.any():
        return np.zeros(2, np.float32)
    terms = np.stack([np.ones(int(there.sum())), logs[there]], axis=1)
    fit: NDArray[np.float64] = np.linalg.lstsq(terms, np.log(lengths[there]), rcond=None)[0]
    return fit.astype(np.float32)


def fold_sides(
    vectors: Floats, sides: Sides, degrees: NDArray[Any] | None, fold_map: Floats | None, new: dict[Side, Links]
) -> dict[Side, Floats]:
    """Return the vectors of new nodes, each side by itself; zero for a node of which nothing is known on that side.

    ``new`` are the links of each side to the other: its known rows first, and new nodes after them.
    """
    maps = {} if fold_map is None else split_maps(fold_map)
    known_degrees = np.zeros(len(vectors)) if degrees is None else degrees
    width = vectors.shape[1] // (2 if sides.kind == "columns" else 1)
    counts_of = {side: np.diff(links.indptr) for side, links in new.items()}
    known_of = {side: len(sides.vectors(vectors, SIDES[1 - SIDES.index(side)])) for side in SIDES}
    folded: dict[Side, Floats] = {
        side: np.zeros((len(counts), width), np.float32) for side, counts in counts_of.items()
    }

    def fold_side(side: Side) -> Floats:
        other = SIDES[1 - SIDES.index(side)]
        known, near, counts = known_of[side], sides.rows(len(vectors), other), counts_of[side]
        if not len(counts):
            return folded[side]
        links, used = new[side].without_others(known + len(folded[other]))
        old, fresh = used[used < known], used[used >= known] - known
        rows = np.concatenate([sides.vectors(vectors, other)[old], folded[other][fresh]])
        fresh_degrees = np.zeros(len(fresh)) if degrees is None else counts_of[other][fresh]
        kinds = Scale.of(known_degrees[near]).classes(np.concatenate([known_degrees[near][old], fresh_degrees]))
        logs = Scale.of(known_degrees[sides.rows(len(vectors), side)]).standardized(counts)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None].astype(np.float32)
        learned = maps.get(side)
        with one_blas_thread():
            mean, f = features(links, unit_rows(rows), kinds, logs)
            direction = unit_rows(mean if learned is None else mean + f @ learned.W)
        if learned is None:
            return (direction * mean_lengths(links, lengths)).astype(np.float32)
        out: Floats = (direction * np.exp(learned.length[0] + learned.length[1] * logs)[:, None]).astype(np.float32)
        if sides.kind == "columns":
            out[counts == 0] = learned.empty
        return out

    between = any((links.indices >= known_of[side]).any() for side, links in new.items())
    for _ in range(1 + ROUNDS * between):
        folded = {side: fold_side(side) for side in SIDES}
    return folded
