"""Results of a comparison: a row for each method and dimension, best first; for JSON and for a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from graphrefine.display.console import format_table, seconds
from graphrefine.display.table import Table, Tabular, table_of, text_html

BASELINE = "baseline"


@dataclass(frozen=True)
class Row:
    """One method with one dimension.

    Attributes
    ----------
    method : str
        Name of the method or of the baseline.
    dim : int or None
        Length of the vectors, if there are any.
    status : str
        "done", "refused" (the method cannot take the graph), "baseline" (a row that methods must beat), or the end of
        the process: see `graphrefine.evaluate.embed_subprocess.Outcome`.
    message : str
        Reason of any other status than "done".
    quality : float or None
        Micro F1 in percent, or AUC: rows are sorted by it.
    cells : dict
        A text for each of `Comparison.columns`.
    scores : dict
        All figures; see `graphrefine.evaluate.compare_tasks`.
    seconds, total_seconds, peak_bytes
        Time of computing; the same with start, reading and writing; highest memory.
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
    cells: Mapping[str, str] = field(default_factory=dict)
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
        """The status and its reason."""
        return f"{self.status}: {self.message}" if self.message else self.status

    def cost(self) -> tuple[str | None, str | None]:
        """Time and memory as text."""
        time = None if self.seconds is None else seconds(self.seconds)
        return time, f"{self.peak_bytes / 1e6:,.0f} MB" if self.peak_bytes else None

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Row:
        """A row from its stored fields; KeyError or TypeError if they are not those of a row."""
        return cls(**{each.name: stored[each.name] for each in fields(cls)})


@dataclass(frozen=True)
class Comparison(Tabular):
    """Result of `graphrefine.evaluate.compare.compare`; printed and in a notebook, it is a table.

    Attributes
    ----------
    rows : tuple of Row
        Best first; then methods that did not finish.
    columns : tuple of str
        Titles of the figures, the keys of `Row.cells`.
    axis : str
        Name of `Row.quality`.
    protocol : str
        The meaning of the numbers, in a sentence.
    graph, inputs, limits : dict
        Size of the graph; all that the numbers depend on; limits of each child.
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
        """Rows with vectors, best first."""
        return [row for row in self.rows if row.status == "done"]

    def table(self) -> Table:
        """A row for each method and dimension: quality (what `axis` names), seconds, bytes, and how it ended."""
        rows = [
            {"method": row.method, "dim": row.dim, "quality": row.quality, "seconds": row.seconds,
             "total_seconds": row.total_seconds, "peak_bytes": row.peak_bytes, "status": row.status,
             "message": row.message}
            for row in self.rows
        ]  # fmt: skip
        return table_of(rows, {"quality": self.axis, "protocol": self.protocol})

    def _repr_html_(self) -> str:
        """The comparison in a notebook."""
        return text_html(self.text_rows(), f"{len(self.rows)} rows, the best first", [self.protocol])

    def text_rows(self) -> list[tuple[str, ...]]:
        """Rows of text, the column titles first; `Row.reason` has the reason of a status."""
        table = [("method", "dim", "time", "memory", *self.columns, "status")]
        for row in self.rows:
            figures = [row.cells.get(column) for column in self.columns]
            cells = (None if row.dim is None else str(row.dim), *row.cost(), *figures)
            table.append((row.method, *(cell or "" for cell in cells), row.status))
        return table

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain numbers, lists and strings, for JSON."""
        return {**asdict(self), "rows": [asdict(row) for row in self.rows]}

    def text(self) -> str:
        """The table as text."""
        table = self.text_rows()
        left = [place for place, name in enumerate(table[0]) if name in ("method", "score", "status")]
        return format_table(table, left=left)

    def __str__(self) -> str:
        return f"{self.protocol}\n{self.text()}"


def sort_rows(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Rows, the best first; rows without a figure last, in their order.

    Examples
    --------
    >>> rows = [Row("a", 8, "failed"), Row("b", 8, "done", quality=1.0), Row("c", 8, "done", quality=2.0)]
    >>> [row.method for row in sort_rows(rows)]
    ['c', 'b', 'a']
    """
    return tuple(sorted(rows, key=lambda row: -float("inf") if row.quality is None else row.quality, reverse=True))
