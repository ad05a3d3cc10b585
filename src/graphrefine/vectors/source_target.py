"""Source and target: the part of an embedding that belongs to each side.

The score of an edge from u to v is ``source_u . target_v``. What the two are, the recipe says:

=================  ======================  ==================================================================
graph              recipe                  source and target
=================  ======================  ==================================================================
undirected         no ``sides``            both are the vectors
directed           ``sides: columns``      the first and the last half of the columns, a row for every node
bipartite          ``sides: rows``,        the first ``sources`` rows and the others: two sets of nodes
                   ``sources: <count>``
=================  ======================  ==================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError

Side = Literal["source", "target"]
Names = NDArray[Any]  # (n,): int64, or object holding str

SIDES: tuple[Side, Side] = ("source", "target")


@dataclass(frozen=True)
class Sides:
    """Where the two sides of vectors lie."""

    kind: Literal["columns", "rows"] | None  # None: every vector is both
    start: int = 0  # the column or row at which targets begin

    @classmethod
    def of(cls, recipe: Mapping[str, Any], shape: tuple[int, int]) -> Sides:
        """What a recipe says about vectors (n, dim); InputError where it does not fit them.

        Examples
        --------
        >>> Sides.of({"sides": "columns"}, (5, 8)), Sides.of({}, (5, 8)).kind
        (Sides(kind='columns', start=4), None)
        """
        kind = recipe.get("sides")
        if kind is None:
            return cls(None)
        if kind == "columns" and shape[1] % 2 == 0:
            return cls("columns", shape[1] // 2)
        sources = recipe.get("sources")
        if kind == "rows" and type(sources) is int and 0 <= sources <= shape[0]:
            return cls("rows", sources)
        of = f"{kind!r}, sources={sources!r}" if kind == "rows" else repr(kind)
        raise InputError(
            f"the recipe says sides={of}, which does not fit {shape[0]} vectors of {shape[1]} numbers; it can be "
            "'columns' where dim is even, or 'rows' with sources, the number of rows of the first side"
        )

    def vectors(self, vectors: NDArray[np.float32], side: Side) -> NDArray[np.float32]:
        """One side of the vectors: a view, never a copy."""
        if self.kind == "columns":
            return vectors[:, : self.start] if side == "source" else vectors[:, self.start :]
        return vectors[self.rows(len(vectors), side)]

    def names(self, names: Names, side: Side) -> Names:
        """The names that belong to the rows of one side."""
        return names[self.rows(len(names), side)]

    def rows(self, count: int, side: Side) -> slice:
        """Which of so many rows a side has."""
        if self.kind != "rows":
            return slice(0, count)
        return slice(0, self.start) if side == "source" else slice(self.start, count)

    def first(self, side: Side) -> int:
        """The row of all at which the rows of a side begin."""
        return self.start if self.kind == "rows" and side == "target" else 0


ONE = Sides(None)  # the sides of an undirected graph
