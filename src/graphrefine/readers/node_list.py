"""Nodes beside those of the edges: a count, names, or a file with a name on each line."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import Numbered, add_nodes, name_array
from graphrefine.graph.node_names import from_strings
from graphrefine.readers.source import Source


def read_nodes(nodes: Any) -> int | NDArray[Any] | None:
    """The option ``nodes`` as a count, an array of names, or None.

    Examples
    --------
    >>> read_nodes(["b", "a"]).tolist(), read_nodes(3)
    (['b', 'a'], 3)
    """
    if nodes is None:
        return None
    if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool):
        if nodes < 1:
            raise InputError(f"nodes={nodes}: the number of nodes must be positive", argument="nodes")
        return int(nodes)
    if isinstance(nodes, str | PathLike):
        lines, encoding = Source(nodes, needs="a name on each line is expected").lines()
        return from_strings([name for line in lines if (name := line.decode(encoding).strip())])
    if not isinstance(nodes, Iterable):
        raise InputError(f"nodes={nodes!r}: give a count, names, or a file with a name on each line", argument="nodes")
    return name_array(nodes)


def number_with_nodes(numbered: Numbered, extra: int | NDArray[Any]) -> Numbered:
    """Number again with further nodes: those named, or 0 to ``extra`` - 1."""
    if not isinstance(extra, int):
        return add_nodes(numbered, extra)
    names = numbered[2]
    if names.dtype == object or (len(names) and not (names[0] >= 0 and names[-1] < extra)):
        outside = next(name for name in names.tolist() if isinstance(name, str) or not 0 <= name < extra)
        raise InputError(
            f"nodes={extra} means nodes 0 to {extra - 1}, and the edges mention {outside!r}", argument="nodes"
        )
    return add_nodes(numbered, np.arange(extra))
