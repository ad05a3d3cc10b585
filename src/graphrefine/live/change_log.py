"""The log of a folder: what one group of changes leaves for the next writer and for readers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

REMOVE_NODE = 3  # operation of the kernel, see `graphrefine.live.name_resolution`
CHANGE = np.dtype([("operation", "u1"), ("source", "<i4"), ("target", "<i4"), ("weight", "<f4")])


class ChangeGroup(NamedTuple):
    """A group of changes by rows of nodes, not names."""

    changes: NDArray[Any]  # of the type CHANGE
    names: list[Any]  # of the nodes that are new with it, integers or strings
    skip: bool = False  # whether removals of edges that do not exist are skipped

    def removed(self) -> NDArray[np.int64]:
        """Return the rows of nodes that are removed with it."""
        return np.unique(self.changes["source"][self.changes["operation"] == REMOVE_NODE]).astype(np.int64)

    def apply(self, kernel: Any) -> tuple[int, int]:
        """Apply the changes to the kernel's graph and settle it, without a commit; return what `change` returns."""
        kernel.add_nodes(len(self.names))
        ends = (self.changes[each].astype(np.int32) for each in ("source", "target"))
        operations, weights = self.changes["operation"].copy(), self.changes["weight"].astype(np.float32)
        outcome: tuple[int, int] = kernel.change(operations, *ends, weights, skip=self.skip)
        if not outcome[1]:
            kernel.settle()
        return outcome


class Origin(NamedTuple):
    """The origin of a group: a request, or a file of changes up to some record."""

    request: str | None = None
    stream: str | None = None
    records: int | None = None
    digest: str | None = None


class Update(NamedTuple):
    """A group with the vectors that moved: what a reader needs to go on from the group before it."""

    number: int  # of the group, from 1
    group: ChangeGroup
    moved: NDArray[Any]  # of the type `vector_dtype`, a record for each row


def vector_dtype(dim: int) -> np.dtype[Any]:
    """Return the type of a record of a vector that moved; its length is the one before it was made unit."""
    return np.dtype([("row", "<i8"), ("length", "<f8"), ("degree", "<f8"), ("vector", "<f4", (dim,))])
