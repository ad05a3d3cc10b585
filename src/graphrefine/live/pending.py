"""Changes of live vectors that are collected, and not committed yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from graphrefine.errors import InputError
from graphrefine.live.naming import Operation


class PendingChanges:
    """Changes that wait for `commit`, in order; each is checked when it comes, or by the commit."""

    _pending: list[Operation]

    def add(self, source: Any, target: Any, weight: Any = 1.0) -> None:
        """Add an edge, or several (lists of ends); of an edge that is there, the weights add up."""
        self._collect("+", source, target, weight)

    def set(self, source: Any, target: Any, weight: Any) -> None:
        """Set the weight of an edge, or of several; one that is not there is made."""
        self._collect("=", source, target, weight)

    def remove(self, source: Any, target: Any) -> None:
        """Remove an edge, or several."""
        self._collect("-", source, target, 0.0)

    def add_nodes(self, names: Iterable[Any]) -> None:
        """Add nodes without edges; those that are there stay."""
        self._pending += [Operation("+", name, None, 0.0) for name in list_values(names)]

    def remove_nodes(self, names: Iterable[Any]) -> None:
        """Remove nodes and their edges."""
        self._pending += [Operation("-", name, None, 0.0) for name in list_values(names)]

    def _collect(self, sign: str, source: Any, target: Any, weight: Any) -> None:
        if not isinstance(source, list | tuple | np.ndarray):
            self._pending.append(Operation.checked(sign, source, target, weight))
            return
        sources, targets = list_values(source), list_values(target)
        weights = [weight] * len(sources) if np.ndim(weight) == 0 else list(weight)
        if not len(sources) == len(targets) == len(weights):
            raise InputError(
                f"there are {len(sources)} sources, {len(targets)} targets and {len(weights)} weights; give as many"
            )
        ends = zip(sources, targets, weights, strict=True)
        self._pending += [Operation.checked(sign, *each) for each in ends]

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
