"""Findings of an experiment: cells with our figures beside the paper's, their layout, pictures, a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple, TypeVar

from reproduction.verdicts import NOT_MEASURED, Verdict

Status = Literal["measured", "planned", "left out", "missing", "failed"]
T = TypeVar("T")


class Gap(NamedTuple):
    """Reason why a figure of ours is absent."""

    status: Status
    reason: str


def gather(values: Iterable[T | Gap]) -> list[T] | Gap:
    """All values, or the first gap among them.

    Examples
    --------
    >>> gather([1, 2])
    [1, 2]
    >>> gather([1, Gap("missing", "no graph")])
    Gap(status='missing', reason='no graph')
    """
    whole: list[T] = []
    for value in values:
        if isinstance(value, Gap):
            return value
        whole.append(value)
    return whole


def join_notes(*notes: str) -> str:
    """Notes in one line, each once, without the empty ones.

    Examples
    --------
    >>> join_notes("stand-in", "", "stand-in; 2 threads")
    'stand-in; 2 threads'
    """
    return "; ".join(dict.fromkeys(part for note in notes for part in note.split("; ") if part))


@dataclass(frozen=True)
class Cell:
    """A figure of ours beside the paper's."""

    what: Mapping[str, Any]  # names of the figure: graph, method, measure ...
    ours: float | None = None
    paper: float | None = None
    unit: str = ""  # of both
    note: str = ""  # remark beside the figure; for a gap, its reason
    comparable: bool = True  # False if ours is about another graph or other settings
    details: Mapping[str, Any] = field(default_factory=dict)  # further figures, such as the spread
    status: Status = "measured"  # or the kind of the gap

    @property
    def difference(self) -> float | None:
        """Ours - paper, or None if the two cannot be compared."""
        if self.ours is None or self.paper is None or not self.comparable:
            return None
        return self.ours - self.paper

    def to_dict(self) -> dict[str, Any]:
        """Entry in results.json.

        Examples
        --------
        >>> Cell({"method": "line"}, 36.0, 35.5).to_dict()["difference"]
        0.5
        """
        entry = {**asdict(self), "difference": self.difference}
        return {name: value for name, value in entry.items() if value not in ("", {})}


def make_gap_cell(what: Mapping[str, Any], gap: Gap, paper: float | None = None, unit: str = "") -> Cell:
    """A cell without a figure of ours."""
    return Cell(what, None, paper, unit, gap.reason, status=gap.status)


@dataclass(frozen=True)
class Layout:
    """A table of cells for each value of ``split``; its rows and columns are the values of the two other names."""

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
    """Findings of one experiment."""

    cells: Sequence[Cell]
    layout: Layout | None = None  # None: a row for each cell
    pictures: Sequence[Picture] = ()
    verdict: Verdict | None = None  # of a claim
    notes: Sequence[str] = ()

    @classmethod
    def without(cls, gap: Gap, **what: Any) -> Findings:
        """Findings of a claim that could not be measured at all."""
        return cls([make_gap_cell(what, gap)], verdict=NOT_MEASURED)
