"""The log of the library on stderr, while a command runs: GRAPHREFINE_LOG=info."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from graphrefine.errors import InputError


@contextmanager
def showing_log(level: str) -> Iterator[None]:
    """A stretch in which records of the logger `graphrefine` from this level on go to stderr."""
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        raise InputError(f"GRAPHREFINE_LOG is {level!r}, which is no level; it can be debug, info, warning or error")
    logger, handler = logging.getLogger("graphrefine"), logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(number)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)
