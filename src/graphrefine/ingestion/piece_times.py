"""Times of edges in pieces: the rule of `graphrefine.readers.times`, the same for all pieces of a file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.ingestion.spool import Piece, select_records
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source
from graphrefine.readers.times import TimeRule, settle_days


class PieceClock:
    """The rule for times, which the first piece of a file fixes."""

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self._rule: TimeRule | None = None
        if options.half_life is not None and options.until is None:
            problem = "half_life= needs until= here: the newest edge is not known before all are read"
            raise InputError(problem, argument="half_life")

    def select(self, piece: Piece, times: NDArray[np.float64], *, dates: bool) -> Piece:
        """The records of a piece that count, with their weights."""
        if not len(times):
            return piece
        times, dates = settle_days(times, dates=dates)
        rule = TimeRule.of(self.options, times, dates=dates)
        self._rule = self._rule or rule
        if rule != self._rule:
            problem = f"the times in column {self.options.time!r} change their unit within the file"
            raise self.source.error(problem, argument="time")
        mask = rule.select(times)
        weights = None if piece.weights is None else piece.weights[mask]
        return select_records(piece, mask, rule.weigh(weights, times[mask], newest=0.0))
