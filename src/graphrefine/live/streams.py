"""Files of changes into live vectors: groups of a file, each committed with the record that it reaches.

A file is known by its path, and the folder remembers how many of its records count, and a hash of them. So an apply
that was killed goes on after the last group, and no record counts twice.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from graphrefine.errors import FormatError, InputError, UnknownNameError
from graphrefine.live.change_log import Origin
from graphrefine.live.changes import read_changes
from graphrefine.live.writer import Commit, Live


@dataclass
class StreamStats:
    """Stats of a file that was applied."""

    groups: int = 0
    changes: int = 0
    skipped: int = 0  # removals of what did not exist
    new_nodes: int = 0
    moved: int = 0  # vectors that were published
    before: int = 0  # records that were applied before

    def add(self, commit: Commit) -> None:
        """Count a group."""
        self.groups += 1
        self.changes += commit.changes
        self.skipped += commit.skipped
        self.new_nodes += commit.new_nodes
        self.moved += commit.moved


def apply_stream(
    live: Live,
    source: str,
    *,
    size: int = 1000,
    resume: bool = False,
    again: bool = False,
    skip_unknown: bool = False,
    format: str | None = None,
) -> StreamStats:
    """Commit the changes of a file, or of standard input ("-"), in groups of ``size``.

    Parameters
    ----------
    live : Live
        The folder, open for writing.
    source : str
        The file; see `graphrefine.live.changes`.
    size : int
        Changes in a group.
    resume : bool
        Go on after the records of this file that were applied before.
    again : bool
        Apply a file once more that was applied before.
    skip_unknown : bool
        Skip removals of what does not exist, and count them.
    format : str, optional
        Format of the file, where its name does not say.
    """
    if resume and source == "-":
        raise InputError("standard input cannot be resumed: its records are gone; give a file", argument="resume")
    stream = None if source == "-" else str(Path(source).resolve())
    position, digest = (0, "") if stream is None else live.stream_position(stream)
    sides = live.sources is not None
    if position and not resume and not again and _begins_with(source, position, digest, format, sides=sides):
        raise InputError(
            f"{source}: its first {position:,} records count already; --resume goes on after them, --again applies "
            "them once more",
            argument="resume",
        )
    skip = position if resume else 0
    stats = StreamStats(before=skip)
    groups = read_changes(source, size=size, skip=skip, digest=digest if skip else None, format=format, sides=sides)
    for group in groups:
        live.collect(group.changes)
        origin = Origin(stream=stream, records=group.records, digest=group.digest)
        try:
            commit = live.commit(origin, skip_unknown=skip_unknown)
        except FormatError:  # of the folder, which it names
            raise
        except InputError as error:
            where = f"{os.fspath(source)}, records {group.first:,} to {group.records:,}"
            kind = UnknownNameError if isinstance(error, UnknownNameError) else InputError
            raise kind(f"{where}: {error}", argument=error.argument) from None
        stats.add(commit)
    return stats


def _begins_with(source: str, records: int, digest: str, format: str | None, *, sides: bool) -> bool:
    """Return whether a file begins with records that were applied before."""
    try:
        next(read_changes(source, size=1, skip=records, digest=digest, format=format, sides=sides), None)
    except InputError:  # another file of that name, or one that cannot be read: its reading says so
        return False
    return True
