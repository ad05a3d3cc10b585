"""Time of a search: its budget, and a forecast of the next trial."""

from __future__ import annotations

import math
import re
from time import perf_counter
from typing import Any

from graphrefine.errors import InputError

UNITS = {"h": 3600, "hour": 3600, "m": 60, "min": 60, "s": 1, "sec": 1, "": 1}
PART = r"(\d+(?:\.\d*)?|\.\d+)\s*(hours?|h|mins?|m|secs?|s|)"


def parse_seconds(budget: Any) -> float:
    """Seconds from a number, or from text as people write it.

    Examples
    --------
    >>> parse_seconds("2min"), parse_seconds("1m30s"), parse_seconds(0.5), parse_seconds("45")
    (120.0, 90.0, 0.5, 45.0)
    """
    if isinstance(budget, str) and re.fullmatch(rf"(\s*{PART}\s*)+", budget.lower()):
        parts = re.findall(PART, budget.lower())
        if len(parts) == 1 or all(unit for _, unit in parts):
            units = [unit.rstrip("s") if len(unit) > 1 else unit for _, unit in parts]
            seconds = sum(float(number) * UNITS[unit] for (number, _), unit in zip(parts, units, strict=True))
        else:
            seconds = math.nan
    elif isinstance(budget, bool) or not isinstance(budget, int | float):
        seconds = math.nan
    else:
        seconds = float(budget)
    if not 0 < seconds < math.inf:
        raise InputError(f"budget={budget!r} is not a time above 0, as in 60s, 2min or 1m30s")
    return seconds


class Clock:
    """The time since the start, beside a budget, and the longest trial of each kind.

    Examples
    --------
    >>> clock = Clock(3600)
    >>> clock.record("range", 2.0)
    >>> clock.allows("range"), Clock(1e-9).allows("range")
    (True, False)
    """

    def __init__(self, budget: float) -> None:
        self.budget, self._start = budget, perf_counter()
        self._longest: dict[str, float] = {}

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return perf_counter() - self._start

    def record(self, kind: str, seconds: float) -> None:
        """Note the time of a trial of this kind."""
        self._longest[kind] = max(seconds, self._longest.get(kind, 0.0))

    def allows(self, kind: str) -> bool:
        """True if another trial of this kind fits into the budget; a new kind may take as long as any."""
        longest = self._longest.get(kind, max(self._longest.values(), default=0.0))
        return self.spent + longest <= self.budget
