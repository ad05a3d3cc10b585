"""Durability of outputs: whether they wait for the disk where nothing else is said, as those of commands do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_default = False  # of the process, for all threads


@contextmanager
def durable_outputs() -> Iterator[None]:
    """A stretch in which outputs wait for the disk, unless they say otherwise; it holds for all threads.

    Examples
    --------
    >>> with durable_outputs():
    ...     is_durable(None), is_durable(False)
    (True, False)
    >>> is_durable(None)
    False
    """
    global _default
    before, _default = _default, True
    try:
        yield
    finally:
        _default = before


def is_durable(durable: bool | None) -> bool:
    """Whether an output waits for the disk; None leaves it to the stretch that it is in."""
    return _default if durable is None else durable
