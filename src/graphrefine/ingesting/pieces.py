"""Pieces: some records of an input, as its reader gives them, and what is left of them when they are kept."""

from __future__ import annotations

from dataclasses import dataclass
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


def keep(piece: Piece) -> Kept:
    """Drop records without an end, without a weight and from a node to itself, in this order; their nodes stay.

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
    loop = ~missing & ~zero & (source == target)
    tally = {"records": len(source), "missing": int(missing.sum())}
    tally |= {"zero_weights": int(zero.sum()), "self_loops": int(loop.sum())}
    dropped = missing | zero | loop
    alone = np.zeros(0, np.int64)
    if dropped.any():
        if piece.names is None:
            ends = [side[dropped & ~none].astype(np.int64) for side, none in zip((source, target), gone, strict=True)]
            alone = np.unique(np.concatenate(ends))
        source, target = source[~dropped], target[~dropped]
        weights = None if weights is None else weights[~dropped]
    return Kept(_narrow(source), _narrow(target), weights, alone, piece.names, tally)


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
