"""The memory that reading a file may take.

The budget is that of ``memory=`` where a run has one (`reading_within`), else most of what is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from graphrefine.errors import FormatError, InputError
from graphrefine.system.memory import budget_of, gigabytes

READING = 4  # bytes of memory for each byte of a file, while it is read
PACKED = 4  # bytes of data for each byte of a compressed file
# Bytes that are unpacked without a look at the memory: asking for what is free takes longer than small files do.
UNASKED = 1 << 26
ALWAYS = 1_000_000  # nodes that a file of any size may state
FIELDS = 1 << 14  # names of fields or attributes that records may have, as many as columns of a spreadsheet
COLUMNS = 1 << 16  # columns of a table of text, which may be a matrix
_budget: ContextVar[int | None] = ContextVar("budget", default=None)


@contextmanager
def reading_within(budget: int | None) -> Iterator[None]:
    """Hold files that are read within this block to a budget of memory; None: to the free memory."""
    token = _budget.set(budget)
    try:
        yield
    finally:
        _budget.reset(token)


def unpacked_limit(copies: int = 2) -> int:
    """Return the most bytes that a file may unpack to; without a budget, ``copies`` of them are to fit."""
    budget = _budget.get()
    return budget_of(None) // copies if budget is None else max(budget // READING, UNASKED)


class UnpackedError(FormatError):
    """A file that is too large for the memory; in pieces it may not be."""


IN_PIECES = "pass a larger memory=, or ingest the file, which reads it in pieces"


def check_unpacked(path: str, size: int, what: str, *, hint: str = IN_PIECES, copies: int = 2) -> None:
    """Refuse a file whose data takes, or states that it takes, more bytes in memory than the budget allows.

    Examples
    --------
    >>> with reading_within(500_000_000):
    ...     check_unpacked("edges.csv.gz", 1_000_000_000, "the gz data")
    Traceback (most recent call last):
    graphrefine.tables.limits.UnpackedError: edges.csv.gz: the gz data unpacks to more than 0.1 GB, the most that ...
    """
    if size <= UNASKED or size <= (most := unpacked_limit(copies)):
        return
    budget = _budget.get()
    room = f"a memory of {gigabytes(budget)}" if budget is not None else "the free memory"
    raise UnpackedError(
        path,
        f"{what} unpacks to more than {gigabytes(most)}, the most that {room} allows for reading; {hint}",
        argument="memory",
    )


def check_stated(count: int, size: int, what: str) -> None:
    """Refuse a number of nodes that is far beyond what a file of ``size`` bytes can be about."""
    # The rows of an empty matrix take no byte of a file, and memory for each of them: a damaged number would take all.
    if count < 0 or count > max(ALWAYS, 8 * size):
        raise InputError(
            f"the file states {count:,} {what}, and has {size:,} bytes: it is damaged, or not what it seems"
        )


def check_fields(count: int, what: str = "attributes") -> None:
    """Refuse records with more names of fields than any table has."""
    if count > FIELDS:
        raise InputError(
            f"there are more than {FIELDS:,} {what}, of which a file may have no more: are names of nodes among them? "
            "leave out those that say nothing about edges"
        )
