"""The work of the block engine in pieces that can be done anywhere: what to do, to which blocks, with which numbers.

A task is small, and all it needs beside itself is on the storage. Done twice, it writes the same bytes.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Kind = Literal["signs", "half", "single"]
Small = dict[str, NDArray[np.float64]]
"""What a task gives back: ``gram`` (padded, padded) and ``sums`` (padded,), where asked for."""


class Ref(NamedTuple):
    """A tall matrix by its number; signs are drawn anew from their seed wherever they are needed."""

    number: int
    kind: Kind
    seed: int = 0

    def folder(self) -> str:
        """Where its blocks are kept."""
        return f"tall/{self.number:04d}"

    def name(self, panel: int, block: int) -> str:
        """The file of a block of a panel."""
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
        """Among the tasks of a step."""
        return f"{self.panel:03d}-{self.blocks[0]:06d}"


class Turn(NamedTuple):
    """``out = x @ rotation - shift`` for all panels of a block; see `Engine.rotate`, `gram`, `sums`, `collect`."""

    out: Ref | None  # None: only the sums are wanted, or the result goes to a file
    x: Ref
    blocks: tuple[int, int]
    rotation: NDArray[np.float32] | None = None
    triangular: bool = False
    shift: NDArray[np.float32] | None = None
    unit: bool = False
    gram: bool = False
    sums: bool = False
    weights: str | None = None  # the name of a vector with a number for each node
    file: tuple[str, int, int] | None = None  # float32 rows go there: its name, where they begin, columns of a row

    def name(self) -> str:
        """Among the tasks of a step."""
        return f"{self.blocks[0]:06d}"


Task: TypeAlias = Product | Turn


def dtype_of(kind: Kind) -> Any:
    """How the numbers of a tall matrix are stored: float32, bfloat16 as uint16, or 32 signs in a word."""
    return {"single": np.float32, "half": np.uint16, "signs": np.uint32}[kind]
