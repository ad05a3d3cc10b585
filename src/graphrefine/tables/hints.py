"""Hints: what the caller says about a table. This module loads nothing, as the options of commands are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What the caller says about a table; what is None is detected.

    ``source``, ``target``, ``weights`` and ``time`` choose columns, by name or position from 0; ``weights=False``
    leaves weights out.
    """

    delimiter: str | None = None
    header: bool | None = None
    quote: str = '"'
    comments: str | None = None
    encoding: str | None = None
    source: str | int | None = None
    target: str | int | None = None
    weights: Any = None
    time: str | int | None = None
    directed: bool | None = None
    bipartite: bool | None = None
    threads: int = 1

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns that are chosen: source, target, weights, time."""
        return self.source, self.target, None if self.weights is False else self.weights, self.time

    @property
    def are_named(self) -> bool:
        """Whether a column is chosen by its name."""
        return any(isinstance(column, str) and not column.isdecimal() for column in self.columns)
