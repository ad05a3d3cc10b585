"""Changes of a graph, read as a stream in groups: edges and nodes that come, go, or get another weight.

A record has an operation, a source, a target and a weight. ``+`` adds an edge (of weight 1 if none is given; the
weights of one that is there add up), ``-`` removes one, ``=`` sets the weight of one. With an empty target, ``+`` adds
a node and ``-`` removes a node with its edges. A record that cannot be used refuses its whole group; the groups before
that are given.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from itertools import chain
from os import PathLike
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.live.change_checks import ADD, ADD_NODE, REMOVE, REMOVE_NODE, SET, Changes, check_blocks
from graphrefine.live.change_records import check_format, read_blocks
from graphrefine.readers.source import Source

__all__ = ["ADD", "ADD_NODE", "REMOVE", "REMOVE_NODE", "SET", "Group", "read_changes"]

NEEDS = "a change is expected on each line"
_encode = json.JSONEncoder(separators=(",", ":")).encode


class Group(NamedTuple):
    """Changes that count together."""

    operations: NDArray[np.uint8]  # ADD, REMOVE, SET, REMOVE_NODE or ADD_NODE
    sources: list[str | int | None]  # as they are read: texts, from JSON and parquet integers too
    targets: list[str | int | None]  # None for operations on nodes
    weights: NDArray[np.float32]  # 1 where none was given, 0 where something is removed
    first: int  # the number of the first record, from 1
    records: int  # of the stream, up to the end of this group
    digest: str  # hash of these records, the same for groups of any size


def read_changes(
    source: str | PathLike[str] | IO[bytes],
    *,
    size: int = 1000,
    skip: int = 0,
    digest: str | None = None,
    format: str | None = None,
    sides: bool = False,
) -> Iterator[Group]:
    r"""Read changes in groups of ``size`` records, the last one shorter; the file is never held as a whole.

    Parameters
    ----------
    source : path, open file or "-"
        csv, tsv, jsonl or parquet, also compressed (.gz .bz2 .xz .zst). Standard input ("-") and open files are told
        by their first bytes. Columns, or keys, are op, source, target, weight; csv and tsv may name them in a header,
        in any order.
    size : int
        Records in a group.
    skip : int
        Records that were counted before, and are not given again.
    digest : str, optional
        ``digest`` of the group that ended with record ``skip``. Other records there are refused: it is another file.
    format : str, optional
        "csv", "tsv", "jsonl" or "parquet", where neither suffix nor first bytes tell it.

    sides : bool
        Whether the graph is bipartite: an edge may then join two nodes of one name.

    Examples
    --------
    >>> import io
    >>> lines = b"op,source,target,weight\n+,ann,bob,2\n-,ann,eve,\n+,ann,cid,\n-,bob,,\n"
    >>> first, second = read_changes(io.BytesIO(lines), size=3)
    >>> first.operations.tolist(), first.sources, first.targets, first.weights.tolist()
    ([0, 1, 0], ['ann', 'ann', 'ann'], ['bob', 'eve', 'cid'], [2.0, 0.0, 1.0])
    >>> second.first, second.records, second.operations.tolist() == [REMOVE_NODE]
    (4, 4, True)
    >>> (rest,) = read_changes(io.BytesIO(lines), skip=first.records, digest=first.digest)
    >>> rest.sources, rest.digest == second.digest
    (['bob'], True)
    """
    if size < 1:
        raise InputError(f"size={size} must be at least 1", argument="size")
    if skip < 0:
        raise InputError(f"skip={skip} must be at least 0", argument="skip")
    place, file = _locate(source)
    changes = check_blocks(place, read_blocks(place, file, check_format(place, format)), sides=sides)
    return _read_groups(place, changes, size=size, skip=skip, digest=digest)


def _locate(source: str | PathLike[str] | IO[bytes]) -> tuple[Source, IO[bytes] | None]:
    """The source with a name for messages, and the file if it is open already."""
    if isinstance(source, str | PathLike):
        return Source(source, needs=NEEDS), None
    if source is sys.stdin.buffer:
        return Source("-", needs=NEEDS), None
    name = getattr(source, "name", None)
    return Source(name if isinstance(name, str) else "the stream", needs=NEEDS), source


def _read_groups(
    source: Source, changes: Iterator[Changes], *, size: int, skip: int, digest: str | None
) -> Iterator[Group]:
    hashes = _Hashes()
    rest = _skip_records(source, changes, hashes, skip)
    if digest not in (None, hashes.digest()):
        raise source.error(f"this is another file: its first {skip} records are not those that were applied before")
    records = skip
    for group in _regroup(rest, size):
        hashes.update(group)
        first, records = records + 1, records + len(group.sources)
        yield Group(*group, first, records, hashes.digest())


def _skip_records(source: Source, blocks: Iterator[Changes], hashes: _Hashes, skip: int) -> Iterator[Changes]:
    """The records after the first ``skip``, which are hashed."""
    records, problem = 0, ""
    while records < skip:
        try:
            block = next(blocks, None)
        except FormatError as error:
            block, problem = None, f" ({error})"
        if block is None:
            raise source.error(
                f"this is another file: {skip} records were applied before, and it has {records}{problem}"
            )
        count = min(len(block.sources), skip - records)
        hashes.update(block.part(0, count))
        records += count
        if count < len(block.sources):
            return chain([block.part(count, len(block.sources))], blocks)
    return blocks


def _regroup(blocks: Iterable[Changes], size: int) -> Iterator[Changes]:
    parts: list[Changes] = []
    count = 0
    for block in blocks:
        parts.append(block)
        count += len(block.sources)
        if count >= size:
            whole = _join(parts)
            end = count - count % size
            yield from (whole.part(start, start + size) for start in range(0, end, size))
            parts, count = [whole.part(end, count)], count - end
    if count:
        yield _join(parts)


def _join(parts: list[Changes]) -> Changes:
    operations, sources, targets, weights = zip(*parts, strict=True)
    return Changes(
        np.concatenate(operations),
        list(chain.from_iterable(sources)),
        list(chain.from_iterable(targets)),
        np.concatenate(weights),
    )


class _Hashes:
    """Hashes of the columns; records of the same effect have the same, in any format and grouping."""

    def __init__(self) -> None:
        self._columns = [blake2b(digest_size=16) for _ in Changes._fields]

    def update(self, changes: Changes) -> None:
        """Add records."""
        if changes.sources:
            texts = [f"{_encode(names)[1:-1]},".encode() for names in (changes.sources, changes.targets)]
            numbers = [changes.operations.tobytes(), changes.weights.astype("<f4").tobytes()]
            for column, data in zip(self._columns, numbers + texts, strict=True):
                column.update(data)

    def digest(self) -> str:
        """The hash of all records so far."""
        return blake2b(b"".join(column.digest() for column in self._columns), digest_size=16).hexdigest()
