"""A second arithmetic, for tests: the same kernels, with other random signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphrefine.kernels.arithmetic import ARITHMETICS, Arithmetic

SALT = 1 << 40


def salted(signs: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of random signs, its seeds moved."""

    def draw(seed: int, start: int, **options: Any) -> Any:
        return signs(seed + SALT, start, **options)

    return draw


def register(version: int) -> None:
    """Add a version whose random signs are others; in a worker of a cluster, say."""
    ARITHMETICS[version] = Arithmetic(version, {"signs": salted})
