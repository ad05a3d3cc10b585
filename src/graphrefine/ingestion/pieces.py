"""Pieces: some records of an input, as its reader gives them, and what is left of them when they are kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


class Packed(NamedTuple):
    """Distinct names, sorted by their bytes: all of these, and where each begins and the last one ends."""

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]

    @classmethod
    def of_lines(cls, lines: bytes) -> Packed:
        r"""Names with a line each.

        Examples
        --------
        >>> text, offsets = Packed.of_lines(b"ada\nbob")
        >>> bytes(text), offsets.tolist()
        (b'adabob', [0, 3, 6])
        """
        text = np.frombuffer(lines, np.uint8)
        ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
        return cls(text[text != ord("\n")], np.append(0, ends - np.arange(len(ends))))

    def take(self, which: NDArray[np.integer[Any]]) -> Packed:
        """Some of the names, in ascending order of their places."""
        lengths = np.diff(self.offsets)
        chosen = np.zeros(len(lengths), np.bool_)
        chosen[which] = True
        return Packed(self.text[np.repeat(chosen, lengths)], np.append(0, np.cumsum(lengths[chosen])))


@dataclass(frozen=True)
class Piece:
    """Records in the order of their file."""

    source: NDArray[Any]  # (m,) ids, int32 or int64; or, with names, which name (int32), -1 where it is missing
    target: NDArray[Any]  # (m,)
    weights: NDArray[np.float32] | None = None  # (m,)
    names: Packed | None = None
    missing: tuple[Mask | None, Mask | None] = (None, None)  # of ids: which are not there
    comments: int = 0
    share: float = 1.0  # of the file that has been read


@dataclass(frozen=True)
class Kept:
    """The records that are edges between two nodes, what the others said, and how many there were."""

    source: NDArray[Any]
    target: NDArray[Any]
    weights: NDArray[np.float32] | None
    alone: NDArray[np.int64]  # ids that only dropped records have; with names there is no need
    names: Packed | None
    tally: dict[str, int]
    alone_targets: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # of a bipartite graph
    first: int = -1  # of a bipartite graph: how many of the names, the first ones, are sources


def keep(piece: Piece, *, bipartite: bool = False) -> Kept:
    """Drop records without an end, without a weight and from a node to itself, in this order; their nodes stay.

    In a bipartite graph the ends are never the same node. Names are then listed for each side on its own.

    Examples
    --------
    >>> kept = keep(Piece(np.array([1, 2, 5]), np.array([2, 2, 6]), np.array([1, 1, 0], np.float32)))
    >>> kept.source.tolist(), kept.alone.tolist(), kept.tally
    ([1], [2, 5, 6], {'records': 3, 'missing': 0, 'zero_weights': 1, 'self_loops': 1})
    """
    source, target, weights = piece.source, piece.target, piece.weights
    gone = _missing(piece)
    missing = gone[0] | gone[1]
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
            alone = [side[dropped & ~none].astype(np.int64) for side, none in zip((source, target), gone, strict=True)]
            if not bipartite:
                alone = [np.concatenate(alone), alone[0][:0]]
        source, target = source[~dropped], target[~dropped]
        weights = None if weights is None else weights[~dropped]
    lone = [np.unique(side) for side in alone]
    return Kept(_narrow(source), _narrow(target), weights, lone[0], names, tally, lone[1], first)


def _by_sides(
    source: NDArray[np.int32], target: NDArray[np.int32], names: Packed
) -> tuple[NDArray[np.int32], NDArray[np.int32], Packed, int]:
    """List names once for each side on which they stand, those of sources first; and how many these are."""
    present = [np.unique(side[side >= 0]) for side in (source, target)]
    ends, listed, before = [], [], 0
    for side, there in zip((source, target), present, strict=True):
        ends.append(np.where(side >= 0, before + np.searchsorted(there, side), -1).astype(np.int32))
        listed.append(names.take(there))
        before += len(there)
    text = np.concatenate([each.text for each in listed])
    offsets = np.concatenate([listed[0].offsets, listed[1].offsets[1:] + listed[0].offsets[-1]])
    return ends[0], ends[1], Packed(text, offsets), len(present[0])


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
