"""Parts of a report: sections with text, tables and plots. `report_folder` decides their looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from graphrefine.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Mark = Literal["", "good", "bad", "missing"]
SIGNS: dict[Mark, str] = {"": "", "good": " ✓", "bad": " ✗", "missing": ""}
NOTHING = "–"  # noqa: RUF001  the text of an empty cell
_NUMBER = re.compile(r"[+\-−<>~≈±]*\s*[\d.,]+\s*(%|x|×|ms|s|min|[kMGT]?B)?(\s*±\s*[\d.]+)?( \d+ s)?")  # noqa: RUF001


@dataclass(frozen=True)
class Cell:
    """A cell of a table, with a mark: good, bad, or missing.

    Examples
    --------
    >>> Cell(12345).text, Cell(0.123456).text, Cell(None).text
    ('12,345', '0.1235', '–')
    """

    value: str | float | None
    mark: Mark = ""

    @property
    def text(self) -> str:
        """The value in words."""
        if self.value is None or self.value != self.value:  # NaN alone differs from itself
            return NOTHING
        if isinstance(self.value, str):
            return self.value
        return f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:.4g}"

    @property
    def numeric(self) -> bool:
        """Whether it reads as a number, and so stands to the right."""
        return not isinstance(self.value, str) or bool(_NUMBER.fullmatch(self.value))

    @property
    def sign(self) -> str:
        """The mark as a character, as color alone is not for everybody."""
        return SIGNS[self.mark]


CellLike = Cell | str | float | None


def as_cell(value: CellLike) -> Cell:
    """A cell of any value; None is missing."""
    if isinstance(value, Cell):
        return value
    return Cell(value, "missing" if value is None else "")


@dataclass(frozen=True)
class Table:
    """Rows below a header. A cell is text, a number, None (no value) or a `Cell`."""

    header: Sequence[str]
    rows: Sequence[Sequence[CellLike]]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise InputError(f"a row of {len(row)} cells stands under a header of {len(self.header)}: {row!r}")

    def cells(self) -> list[list[Cell]]:
        """The rows, every cell a `Cell`."""
        return [[as_cell(value) for value in row] for row in self.rows]

    def numeric_columns(self) -> list[bool]:
        """Whether all cells of a column are numbers, for each column."""
        columns = list(zip(*self.cells(), strict=True)) or [()] * len(self.header)
        present = [[cell for cell in column if cell.mark != "missing"] for column in columns]
        return [bool(cells) and all(cell.numeric for cell in cells) for cells in present]


@dataclass(frozen=True)
class Plot:
    """A picture: ``draw`` is called with axes of the right size and colors, several times, and must not keep them."""

    name: str  # of its files: small letters, digits and hyphens
    title: str
    draw: Callable[[Axes], Any]
    note: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", self.name):
            raise InputError(
                f"name={self.name!r}: small letters, digits and hyphens are expected, as in time-f1", argument="name"
            )


@dataclass(frozen=True)
class Section:
    """A heading, paragraphs (an empty line between them), tables and plots, in this order."""

    title: str
    text: str = ""
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()


@dataclass(frozen=True)
class Report:
    """A whole report. ``kind`` and ``title`` identify it, so that no other report is overwritten by mistake."""

    kind: str
    title: str
    sections: Sequence[Section] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        names = [plot.name for plot in self.plots]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise InputError(f"two plots are called {repeated[0]!r}; their files would be the same")

    @property
    def plots(self) -> list[Plot]:
        """The plots of all sections."""
        return [plot for section in self.sections for plot in section.plots]


def paragraphs(text: str) -> list[str]:
    """Text in parts, split at empty lines."""
    parts = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return [part for part in parts if part]
