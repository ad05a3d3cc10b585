"""What an experiment finds: cells, how to lay them out, pictures, and for a claim the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graphrefine.paper.jobs import Ask
from graphrefine.paper.label_scores import Cell
from graphrefine.paper.setup import Setup
from graphrefine.paper.verdicts import Verdict


@dataclass(frozen=True)
class Layout:
    """A table of cells: one for each value of ``split``, with a row and a column for each value of theirs."""

    row: str
    column: str
    split: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A line, or points, of a picture."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    points_only: bool = False


@dataclass(frozen=True)
class Picture:
    """Lines over two axes."""

    name: str
    title: str
    lines: Sequence[Line]
    x: str
    y: str
    log_x: bool = False
    log_y: bool = False
    note: str = ""


@dataclass(frozen=True)
class Findings:
    """Of one experiment."""

    cells: Sequence[Cell]
    layout: Layout | None = None  # None: a row for each cell
    pictures: Sequence[Picture] = ()
    verdict: Verdict | None = None  # of a claim
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Experiment:
    """A table, a figure or a claim of the paper.

    Parameters
    ----------
    name
        As ``--only`` takes it.
    title
        Its heading.
    says
        Of a claim: what the paper says, and where. Of the others: what is shown.
    find
        Asks for outcomes, and makes findings of them.
    """

    name: str
    title: str
    says: str
    find: Callable[[Setup, Ask], Findings] = field(repr=False)
