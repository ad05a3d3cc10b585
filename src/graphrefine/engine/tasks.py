"""Tasks of the block engine: pieces of its work that any process can do, each with its blocks and numbers.

A task is small, and all else that it needs is on the storage. Done twice, it writes the same bytes.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind = Literal["signs", "half", "single"]
Small = dict[str, NDArray[np.float64]]
"""Small results of a task: ``gram`` (2, padded, padded) and ``sums`` (2, padded), if it has them.

Each is a pair: sums in float64, and what their rounding has lost. Added by `add_pairs` they do not depend on the cuts.
"""


class Ref(NamedTuple):
    """A tall matrix by its number; signs are drawn from their seed wherever they are needed."""

    number: int
    kind: Kind
    seed: int = 0

    def folder(self) -> str:
        """Return the folder of its blocks."""
        return f"tall/{self.number:04d}"

    def name(self, panel: int, block: int) -> str:
        """Return the file of a block of a panel."""
        return f"{self.folder()}/{panel:03d}-{block:06d}"


class Product(NamedTuple):
    """``out = scale * operator @ x + c y - shift`` for a panel of consecutive blocks; see `Engine.apply`."""

    out: Ref
    x: Ref
    operator: int
    panel: int
    blocks: tuple[int, int]
    scale: float = 1.0
    plus: tuple[float, Ref] | None = None
    shift: NDArray[np.float32] | None = None
    unit: bool = False
    gram: bool = False

    def name(self) -> str:
        """Return its name among the tasks of a step."""
        return f"{self.panel:03d}-{self.blocks[0]:06d}"


class Rotation(NamedTuple):
    """``out = x @ rotation - shift`` for all panels of a block; see `Engine.rotate`, `gram`, `sums`, `collect`."""

    out: Ref | None  # None: the task has sums only, or its rows go to a file
    x: Ref
    blocks: tuple[int, int]
    rotation: NDArray[np.float32] | None = None
    triangular: bool = False
    shift: NDArray[np.float32] | None = None
    unit: bool = False
    gram: bool = False
    sums: bool = False
    weights: str | None = None  # the name of a vector with a number for each node
    file: tuple[str, int, int] | None = None  # for float32 rows: its name, the offset of the first, columns of a row

    def name(self) -> str:
        """Return its name among the tasks of a step."""
        return f"{self.blocks[0]:06d}"


Task: TypeAlias = Product | Rotation


def add_pairs(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of two pairs of a sum and its rest; the rounding of the first goes to the second.

    Examples
    --------
    >>> add_pairs(np.array([1.0, 0.0]), np.array([2.0**-60, 0.0])).tolist() == [1.0, 2.0**-60]
    True
    """
    # Knuth's two-sum: the rounding of a sum of two floats is a float, and these lines find it. Plain sums of blocks
    # would depend on how many there are.
    total = one[0] + other[0]
    part = total - one[0]
    lost = (one[0] - (total - part)) + (other[0] - part)
    return np.stack([total, one[1] + other[1] + lost])


def dtype_of(kind: Kind) -> Any:
    """Return the type of a tall matrix's numbers: float32, bfloat16 as uint16, or 32 signs in a word."""
    return {"single": np.float32, "half": np.uint16, "signs": np.uint32}[kind]
