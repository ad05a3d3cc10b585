"""Figures that say how good what is shown is: neighbours that share a label, labels that are found, edges that are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphrefine.explore.making import Task

if TYPE_CHECKING:
    from graphrefine.explore.shown import Shown


def make_scores(shown: Shown) -> list[Task]:
    """The figures that can be had, to be worked out in the background."""
    return []
