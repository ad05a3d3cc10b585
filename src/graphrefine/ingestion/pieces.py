"""Pieces of an input: records as its reader gives them, and the edges among them that are stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


class PackedNames(NamedTuple):
    """Distinct names, sorted by their bytes: the bytes of all, and the offsets of each and of the end."""

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of_lines(cls, lines: bytes) -> PackedNames:
        r"""Names with a line each.

        Examples
        --------
        >>> text, offsets = PackedNames.of_lines(b"ada\nbob")
        >>> bytes(text), offsets.tolist()
        (b'adabob', [0, 3, 6])
        """
        text = np.frombuffer(lines, np.uint8)
        ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        return cls(text[text != ord("\n")], np.append(0, ends - np.arange(len(ends))))

    def take(self, places: NDArray[np.integer[Any]]) -> PackedNames:
        """The names at some places, in ascending order."""
        lengths = np.diff(self.offsets)
        mask = np.zeros(len(lengths), np.bool_)
        mask[places] = True
        return PackedNames(self.text[np.repeat(mask, lengths)], np.append(0, np.cumsum(lengths[mask])))


@dataclass(frozen=True)
class Piece:
    """Records in the order of their file."""

    source: NDArray[Any]  # (m,) ids, int32 or int64; or, with names, places of names (int32), -1 if missing
    target: NDArray[Any]  # (m,)
    weights: NDArray[np.float32] | None = None  # (m,)
    names: PackedNames | None = None
    missing: tuple[Mask | None, Mask | None] = (None, None)  # of ids: True for one that is not there
    comments: int = 0
    share: float = 1.0  # of the file that has been read


@dataclass(frozen=True)
class PieceEdges:
    """Edges of a piece between two different nodes, the nodes of its other records, and counts of these."""

    source: NDArray[Any]
    target: NDArray[Any]
    weights: NDArray[np.float32] | None
    alone: NDArray[np.int64]  # ids that only dropped records have; with names there is no need
    names: PackedNames | None
    tally: dict[str, int]
    alone_targets: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # of a bipartite graph
    first: int = -1  # of a bipartite graph: the number of names that are sources, which come first


def select_edges(piece: Piece, *, bipartite: bool = False) -> PieceEdges:
    """Drop records without an end, without a weight and from a node to itself, in this order; their nodes stay.

    In a bipartite graph the ends are never the same node. Names are then listed for each side on its own.

    Examples
    --------
    >>> edges = select_edges(Piece(np.array([1, 2, 5]), np.array([2, 2, 6]), np.array([1, 1, 0], np.float32)))
    >>> edges.source.tolist(), edges.alone.tolist(), edges.tally
    ([1], [2, 5, 6], {'records': 3, 'missing': 0, 'zero_weights': 1, 'self_loops': 1})
    """
    source, target, weights = piece.source, piece.target, piece.weights
    empty = _missing(piece)
    missing = empty[0] | empty[1]
    zero = np.zeros_like(missing) if weights is None else ~missing & (weights == 0)
    loop = ~missing & ~zero & (source == target) & (not bipartite)
    tally = {"records": len(source), "missing": int(missing.sum())}
    tally |= {"zero_weights": int(zero.sum()), "self_loops": int(loop.sum())}
    dropped = missing | zero | loop
    names, first, alone = piece.names, -1, [np.zeros(0, np.int64)] * 2
    if names is not None and bipartite:
        source, target, names, first = _by_sides(source, target, names)
    if dropped.any():
        if names is None:
            alone = [side[dropped & ~none].astype(np.int64) for side, none in zip((source, target), empty, strict=True)]
            if not bipartite:
                alone = [np.concatenate(alone), alone[0][:0]]
        source, target = source[~dropped], target[~dropped]
        weights = None if weights is None else weights[~dropped]
    lone = [np.unique(side) for side in alone]
    return PieceEdges(_narrow(source), _narrow(target), weights, lone[0], names, tally, lone[1], first)


def _by_sides(
    source: NDArray[np.int32], target: NDArray[np.int32], names: PackedNames
) -> tuple[NDArray[np.int32], NDArray[np.int32], PackedNames, int]:
    """List names once for each side on which they stand, those of sources first; and the number of these."""
    present = [np.unique(side[side >= 0]) for side in (source, target)]
    ends, names_by_side, before = [], [], 0
    for side, there in zip((source, target), present, strict=True):
        ends.append(np.where(side >= 0, before + np.searchsorted(there, side), -1).astype(np.int32))
        names_by_side.append(names.take(there))
        before += len(there)
    text = np.concatenate([each.text for each in names_by_side])
    first, second = (each.offsets for each in names_by_side)
    offsets = np.concatenate([first, second[1:] + first[-1]])
    return ends[0], ends[1], PackedNames(text, offsets), len(present[0])


def _missing(piece: Piece) -> tuple[Mask, Mask]:
    if piece.names is not None:
        return piece.source < 0, piece.target < 0
    first, second = (np.zeros(len(piece.source), np.bool_) if mask is None else mask for mask in piece.missing)
    return first, second


def _narrow(ids: NDArray[Any]) -> NDArray[Any]:
    """As int32 where that holds every id."""
    if ids.dtype == np.int32 or (len(ids) and not (ids.min() >= -(2**31) and ids.max() < 2**31)):
        return ids
    return ids.astype(np.int32)
