"""Changes of live vectors that are collected, and not committed yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphrefine.errors import InputError
from graphrefine.live.naming import Operation
from graphrefine.live.sides import Side, SideNames


class PendingChanges:
    """Changes that wait for `commit`, in order; each is checked when it comes, or by the commit."""

    _pending: list[Operation]
    _sides: SideNames | None = None

    def add(self, source: Any, target: Any, weight: Any = 1.0) -> None:
        """Add an edge, or several (lists of ends); of an edge that is there, the weights add up."""
        self._collect("+", source, target, weight)

    def set(self, source: Any, target: Any, weight: Any) -> None:
        """Set the weight of an edge, or of several; one that is not there is made."""
        self._collect("=", source, target, weight)

    def remove(self, source: Any, target: Any) -> None:
        """Remove an edge, or several."""
        self._collect("-", source, target, 0.0)

    def add_nodes(self, names: Iterable[Any], *, side: Side | None = None) -> None:
        """Add nodes without edges, those of a bipartite graph to a side; those that are there stay."""
        self._pending += [Operation("+", self._key(name, side), None, 0.0) for name in list_values(names)]

    def remove_nodes(self, names: Iterable[Any], *, side: Side | None = None) -> None:
        """Remove nodes and their edges, those of a bipartite graph from a side."""
        self._pending += [Operation("-", self._key(name, side), None, 0.0) for name in list_values(names)]

    def _key(self, name: Any, side: Side | None) -> Any:
        """A name as the folder keeps it."""
        if self._sides is None:
            if side is not None:
                raise InputError(f"side={side!r} is of bipartite graphs, and this one is not", argument="side")
            return name
        if side not in ("source", "target"):
            raise InputError(f"side={side!r} must be 'source' or 'target' in a bipartite graph", argument="side")
        return self._sides.key(name, side)

    def operation(self, sign: str, source: Any, target: Any, weight: float) -> Operation:
        """A change that was checked before, of names as the folder keeps them."""
        if self._sides is None:
            return Operation(sign, source, target, weight)
        if source is None:
            return Operation(sign, self._sides.key(target, "target"), None, weight)
        ends = self._sides.key(source, "source"), None if target is None else self._sides.key(target, "target")
        return Operation(sign, *ends, weight)

    def _collect(self, sign: str, source: Any, target: Any, weight: Any) -> None:
        if not isinstance(source, list | tuple | np.ndarray):
            self._pending.append(self._checked(sign, source, target, weight))
            return
        sources, targets = list_values(source), list_values(target)
        weights = [weight] * len(sources) if np.ndim(weight) == 0 else list(weight)
        if not len(sources) == len(targets) == len(weights):
            raise InputError(
                f"there are {len(sources)} sources, {len(targets)} targets and {len(weights)} weights; give as many"
            )
        ends = zip(sources, targets, weights, strict=True)
        self._pending += [self._checked(sign, *each) for each in ends]

    def _checked(self, sign: str, source: Any, target: Any, weight: Any) -> Operation:
        if self._sides is not None:
            source, target = self._sides.key(source, "source"), self._sides.key(target, "target")
        return Operation.checked(sign, source, target, weight)

    def collect(self, operations: Iterable[Operation]) -> None:
        """Collect changes of any kind."""
        self._pending += operations

    def rollback(self) -> None:
        """Drop the changes that were not committed."""
        self._pending = []


def list_values(values: Any) -> list[Any]:
    """Several values as a list; InputError for one thing alone."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InputError(f"{values!r} is one thing; give a list of names")
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
