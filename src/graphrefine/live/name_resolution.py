"""Changes by names become changes by rows: names that are new get rows, in the order in which they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphrefine.errors import InputError, UnknownNameError
from graphrefine.graph.lookup import SIDES, quote_name
from graphrefine.live.change_log import CHANGE, RANGE, REMOVE_NODE, SIGNS, Change, ChangeGroup
from graphrefine.live.vector_table import VectorTable

_SKIP = "nothing of its group was changed. skip_unknown=True skips such changes and counts them"


class NameResolution:
    """Rows of names while a group of changes is made: those that exist, and new ones."""

    def __init__(self, table: VectorTable) -> None:
        self._table = table
        self._rows: dict[Any, int | None] = {}  # of names that this group adds, or removes (None)
        self._new: list[Any] = []
        self._positions: list[int] = []  # of the changes by rows among those by names

    def _row(self, name: Any) -> int | None:
        return self._rows[name] if name in self._rows else self._table.row_of(name)

    def _row_or_new(self, name: Any) -> int:
        row = self._row(name)
        if row is None:
            row = self._rows[name] = len(self._table) + len(self._new)
            self._new.append(name)
        return row

    def resolve(self, changes: Sequence[Change], *, skip: bool) -> tuple[ChangeGroup, int]:
        """Return the changes by rows, and the number of those that were skipped as their nodes do not exist."""
        resolved = list[tuple[int, int, int, float]]()
        skipped = 0
        for position, change in enumerate(changes):
            try:
                kind, rows = self._resolve(change)
            except InputError as error:
                if skip and isinstance(error, UnknownNameError):
                    skipped += 1
                    continue
                raise type(error)(f"change {position + 1} of {len(changes)}: {error}") from None
            if kind is not None:
                resolved.append((kind, rows[0], rows[-1], change.weight))
                self._positions.append(position)
        return ChangeGroup(np.array(resolved, CHANGE), self._new, skip), skipped

    def _resolve(self, change: Change) -> tuple[int | None, list[int]]:
        """Return the kernel's operation (None: there is nothing more to do) and the rows of the ends."""
        if change.source is None and not self._table.has_sides:
            raise InputError("the source is empty; only a change of a bipartite graph has a target alone")
        ends = zip((change.source, change.target), SIDES, strict=True)
        names = [self._table.key(name, side) for name, side in ends if name is not None]
        if len(names) == 2 and names[0] == names[1]:  # also 1 and "1"
            raise InputError(f"the edge {_edge(change)} is a self-loop; live graphs have none")
        if change.sign != "-":
            rows = [self._row_or_new(name) for name in names]
            return (None if len(names) == 1 else SIGNS[change.sign]), rows
        rows = []
        for name in names:
            if (row := self._row(name)) is None:
                shown = quote_name(self._table.name(name))
                raise UnknownNameError(f"no node is called {shown}, so there is nothing to remove; {_SKIP}")
            rows.append(row)
        if len(names) == 1:
            self._rows[names[0]] = None
            return REMOVE_NODE, rows
        return SIGNS["-"], rows

    def refusal(self, problem: int, changes: Sequence[Change], index: int) -> InputError:
        """Return the error of a change of the group that the kernel's graph cannot take."""
        position = self._positions[index]
        change = changes[position]
        where, edge = f"change {position + 1} of {len(changes)}", _edge(change)
        if problem == 1:
            return UnknownNameError(f"{where}: there is no edge {edge} to remove; {_SKIP}")
        text = f"{where}: the weight {change.weight} of {edge}, or a sum with it, lies outside of {RANGE}"
        return InputError(f"{text}; nothing of its group was changed", argument="weight")


def _edge(change: Change) -> str:
    return f"{quote_name(change.source)} - {quote_name(change.target)}"
