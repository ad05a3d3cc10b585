"""Times of edges: which edges count (``since``, ``until``), and how much an old one does (``half_life``).

Times are seconds since 1970, in milliseconds, microseconds or nanoseconds where numbers are that large; dates, also
written as 20240131; or any other numbers, such as steps, which are compared as they are. An edge at time t counts if
``since <= t < until``. Its weight is multiplied by ``2 ** ((t - now) / half_life)``, where now is ``until`` or the
newest time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import Numbered, is_missing_id
from graphrefine.readers.options import Moment, ReadOptions
from graphrefine.tables.kinds import read_days, unit_of

SPANS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400, "w": 604800, "month": 2629800, "y": 31557600}
# Dates as ISO 8601 has them, also with slashes. `datetime.fromisoformat` alone takes more, such as 20240131 and
# 2024-W05, which a column of numbers or names may hold by accident.
_DATE = re.compile(
    r"[0-9]{4}([-/])[0-9]{2}\1[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?"
)
_SPAN = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*")


def _stamp(moment: date) -> float:
    whole = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)
    return (whole if whole.tzinfo else whole.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True)
class TimeRule:
    """Rule for the edges of a table with times: the unit of the times in a second, the bounds, the half-life.

    The unit is None where times are numbers such as steps, which have none.
    """

    unit: float | None
    since: float | None
    until: float | None
    half_life: float | None

    def show(self, time: float) -> str:
        """Return a time as text."""
        if self.unit is None:
            return f"{time:g}"
        return datetime.fromtimestamp(time / self.unit, UTC).strftime("%Y-%m-%d %H:%M").removesuffix(" 00:00")

    def select(self, times: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return a mask of the edges that count."""
        mask = np.ones(len(times), np.bool_)
        if self.since is not None:
            mask &= times >= self.since
        if self.until is not None:
            mask &= times < self.until
        return mask

    def weigh(
        self, weights: NDArray[np.float32] | None, times: NDArray[np.float64], *, newest: float
    ) -> NDArray[np.float32] | None:
        """Return weights of the edges, seen from ``until`` or from the newest."""
        if self.half_life is None:
            return weights
        now = newest if self.until is None else self.until
        factors = np.exp2((times - now) / self.half_life)
        return np.asarray(factors if weights is None else factors * weights, np.float32)


def make_rule(options: ReadOptions, times: NDArray[np.float64], *, dates: bool) -> tuple[TimeRule, NDArray[np.float64]]:
    """Return the rule of the options, for times that begin with these; and the times, seconds of days as 20240131."""
    days = None if dates else read_days(times)
    times, dates = (times, dates) if days is None else (days, True)
    unit = 1.0 if dates else unit_of(times)
    since, until = (
        None if moment is None else _scale_moment(moment, argument, unit)
        for argument, moment in (("since", options.since), ("until", options.until))
    )
    if since is not None and until is not None and since >= until:
        raise InputError(f"since={options.since!r} is not before until={options.until!r}", argument="since")
    half_life = None if options.half_life is None else _scale_span(options.half_life, unit)
    return TimeRule(unit, since, until, half_life), times


def _scale_moment(moment: Moment, argument: str, unit: float | None) -> float:
    """Return a moment of an option in units: a number is in units already, unless it is a day such as 20240131."""
    if isinstance(moment, date):
        seconds = _stamp(moment)
    else:
        try:
            number = float(moment)
        except ValueError:
            seconds = _parse_moment(str(moment), argument)
        else:
            days = None if unit is None else read_days([number])
            return number if days is None or unit is None else float(days[0]) * unit
    if unit is None:
        problem = f"{argument}={moment!r} is a date, and the times are mere numbers; give a number"
        raise InputError(problem, argument=argument)
    return seconds * unit


def _parse_moment(text: str, argument: str) -> float:
    try:
        return _stamp(datetime.fromisoformat(text.strip().replace("/", "-")))
    except ValueError:
        problem = f"{argument}={text!r} is no date such as 2024-01-31 or 2024-01-31T12:30, and no number"
        raise InputError(problem, argument=argument) from None


def _scale_span(value: str | float, unit: float | None) -> float:
    """Return a half-life in units."""
    match = _SPAN.fullmatch(str(value).lower())
    word = match[2] if match else ""
    name = next((each for each in (word, word.removesuffix("s"), word[:1]) if each in SPANS), "")
    if match is None or (word and not name) or float(match[1]) <= 0:
        raise InputError(
            f"half_life={value!r} is not a time such as 30d, 12h, 2w or 1y, or a number of seconds",
            argument="half_life",
        )
    if unit is None and name:
        problem = f"half_life={value!r} has a unit, and the times are mere numbers; give a number"
        raise InputError(problem, argument="half_life")
    return float(match[1]) if unit is None else float(match[1]) * SPANS.get(name, 1) * unit


def use_times(
    numbered: Numbered,
    weights: NDArray[np.float32] | None,
    times: NDArray[np.float64],
    options: ReadOptions,
    report: dict[str, Any],
    *,
    dates: bool,
) -> tuple[Numbered, NDArray[np.float32] | None]:
    """Return the edges that count and their weights, and add them to ``report``; other nodes are left out."""
    rule, times = make_rule(options, times, dates=dates)
    mask = rule.select(times)
    if not len(times):
        raise InputError("there is no edge in the graph")
    if not mask.any():
        first, last = (rule.show(float(bound)) for bound in (times.min(), times.max()))
        problem = f"no edge lies within the times; they go from {first} to {last}"
        raise InputError(problem, argument="since" if options.since is not None else "until")
    newest = float(times[mask].max())
    weights = rule.weigh(None if weights is None else weights[mask], times[mask], newest=newest)
    within = f" from {rule.show(float(times[mask].min()))} to {rule.show(newest)}"
    report["times"] = describe_times(options, within, int((~mask).sum()))
    return (numbered if mask.all() else _keep(numbered, mask)), weights


def _keep(numbered: Numbered, mask: NDArray[np.bool_]) -> Numbered:
    """Return the edges of a mask, and their nodes."""
    source, target, names = numbered
    source, target = source[mask], target[mask]
    there = np.zeros(len(names) + 1, np.bool_)  # the last one is for -1: no node
    there[source] = there[target] = True
    rank = np.append(np.cumsum(there[:-1]) - 1, -1).astype(np.int32)
    return rank[source], rank[target], names[there[:-1]]


def describe_times(options: ReadOptions, within: str, left_out: int = 0) -> str:
    """Return the use of times in words; ``within`` says from when to when."""
    column = repr(options.time) if isinstance(options.time, str) else f"column {options.time}"
    others = f", {left_out:,} other record{'s' * (left_out != 1)} left out" if left_out else ""
    halved = "" if options.half_life is None else f", weights halve every {options.half_life}"
    return f"times {column}{within}{others}{halved}"


def describe_options(options: ReadOptions) -> str:
    """Return the use of times in words, from the options alone."""
    since = "" if options.since is None else f" since {options.since}"
    return describe_times(options, since + ("" if options.until is None else f" until {options.until}"))


def _read_date(value: Any) -> float:
    """Return a date, perhaps with a time, in seconds since 1970; NaN for any other value."""
    text = str(value).strip()
    try:
        return _stamp(datetime.fromisoformat(text.replace("/", "-"))) if _DATE.fullmatch(text) else np.nan
    except ValueError:
        return np.nan


def times_of(values: NDArray[Any]) -> tuple[NDArray[np.float64], bool]:
    """Return the times in a column of a table, and whether they are dates; raise where one is missing or neither."""
    kind = values.dtype.kind
    if kind == "M":
        missing, seconds = np.isnat(values), values.astype("datetime64[ns]").astype(np.int64) / 1e9
    elif kind in "iuf":
        missing, seconds = np.isnan(values.astype(np.float64)), values.astype(np.float64)
    else:
        missing = np.array([is_missing_id(value) for value in values.tolist()], np.bool_)
        seconds = np.array(
            [np.nan if gone else _read_date(value) for value, gone in zip(values.tolist(), missing, strict=True)]
        )
        kind = "M"
    wrong = np.flatnonzero(missing | ~np.isfinite(seconds))
    if len(wrong):
        at = int(wrong[0])
        raise InputError(f"record {at + 1}: time {values[at]!r} is missing, or no time", argument="time")
    return seconds, kind == "M"
