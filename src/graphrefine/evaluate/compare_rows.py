"""What a comparison returns: a row for each method and dimension, best first; for JSON and for a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from graphrefine.visuals.console import seconds

BASELINE = "baseline"


@dataclass(frozen=True)
class Row:
    """One method with one dimension.

    Attributes
    ----------
    method : str
        Its name; of a baseline, what it is.
    dim : int or None
        Length of the vectors, if there are any.
    status : str
        "done", "refused" (the method cannot take the graph), "baseline" (what methods must beat), or how it ended: see
        `graphrefine.evaluate.embed_subprocess.Outcome`.
    message : str
        Why, unless it is done.
    quality : float or None
        What rows are sorted by: Micro F1 in percent, or AUC.
    shown : dict
        What a table shows of it, a text for each of `Comparison.columns`.
    scores : dict
        All that was measured; see `graphrefine.evaluate.compare_judges`.
    seconds, total_seconds, peak_bytes
        Spent computing; the same with start, reading and writing; the most memory held.
    recipe : dict
        The settings that made the vectors.

    Examples
    --------
    >>> Row("line", 64, "timeout", "not done after 300 s").reason
    'timeout: not done after 300 s'
    """

    method: str
    dim: int | None
    status: str
    message: str = ""
    quality: float | None = None
    shown: Mapping[str, str] = field(default_factory=dict)
    scores: Mapping[str, Any] = field(default_factory=dict)
    seconds: float | None = None
    total_seconds: float | None = None
    peak_bytes: int | None = None
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Method and dimension."""
        return self.method if self.dim is None else f"{self.method}, dim {self.dim}"

    @property
    def reason(self) -> str:
        """The status, and why it is not "done"."""
        return f"{self.status}: {self.message}" if self.message else self.status

    def cost(self) -> tuple[str | None, str | None]:
        """Time and memory, as a person would say them."""
        time = None if self.seconds is None else seconds(self.seconds)
        return time, f"{self.peak_bytes / 1e6:,.0f} MB" if self.peak_bytes else None

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Row:
        """A row as it was stored; KeyError or TypeError if it is none."""
        return cls(**{each.name: stored[each.name] for each in fields(cls)})


@dataclass(frozen=True)
class Comparison:
    """The outcome of `graphrefine.evaluate.compare.compare`; printed, it is a table.

    Attributes
    ----------
    rows : tuple of Row
        Best first; then what did not finish.
    columns : tuple of str
        What was measured, by the names of `Row.shown`.
    axis : str
        What `Row.quality` is.
    protocol : str
        One sentence that says what the numbers are.
    graph, inputs, limits : dict
        What was read; what the numbers depend on; what each child was allowed.
    """

    rows: tuple[Row, ...]
    columns: tuple[str, ...]
    axis: str
    protocol: str
    graph: Mapping[str, Any]
    inputs: Mapping[str, Any]
    limits: Mapping[str, Any]

    @property
    def finished(self) -> list[Row]:
        """Those that have vectors, best first."""
        return [row for row in self.rows if row.status == "done"]

    def table(self) -> list[tuple[str, ...]]:
        """Rows of text, the names of the columns first; why something is not done stands in `Row.reason`."""
        table = [("method", "dim", "time", "memory", *self.columns, "status")]
        for row in self.rows:
            measured = [row.shown.get(column) for column in self.columns]
            cells = (None if row.dim is None else str(row.dim), *row.cost(), *measured)
            table.append((row.method, *(cell or "" for cell in cells), row.status))
        return table

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings, ready for JSON."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}

    def __str__(self) -> str:
        table = self.table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table
        ]
        return "\n".join([self.protocol, *lines])


def ordered(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The best first; rows without a figure last, as they were.

    Examples
    --------
    >>> rows = [Row("a", 8, "failed"), Row("b", 8, "done", quality=1.0), Row("c", 8, "done", quality=2.0)]
    >>> [row.method for row in ordered(rows)]
    ['c', 'b', 'a']
    """
    return tuple(sorted(rows, key=lambda row: -float("inf") if row.quality is None else row.quality, reverse=True))
