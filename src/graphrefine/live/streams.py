"""Streams of changes into live vectors: groups of a file, each committed with the place that it reaches.

A stream is known by its place, and the folder remembers how many of its records count, and a hash of them. So an apply
that was killed goes on where it stood, and no record counts twice.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from graphrefine.errors import FormatError, InputError, UnknownNameError
from graphrefine.live.change_lists import SIGNS
from graphrefine.live.changes import Group, read_changes
from graphrefine.live.live import Commit, Live
from graphrefine.live.logged import Mark
from graphrefine.live.naming import Operation


@dataclass
class StreamFigures:
    """Figures of a stream that was applied."""

    groups: int = 0
    changes: int = 0
    skipped: int = 0  # removals of what was not there
    new_nodes: int = 0
    moved: int = 0  # vectors that were published
    before: int = 0  # records that counted already

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
) -> StreamFigures:
    """Commit the changes of a file, or of standard input ("-"), in groups of ``size``.

    Parameters
    ----------
    live
        The folder, open for writing.
    source
        The file; see `graphrefine.live.changes`.
    size
        Changes in a group.
    resume
        Go on after the records of this file that count already.
    again
        Apply a file once more whose records count already.
    skip_unknown
        Pass over removals of what is not there, and count them.
    format
        Format of the file, where its name does not say.
    """
    if resume and source == "-":
        raise InputError("standard input cannot be resumed: its records are gone; give a file", argument="resume")
    stream = source if source == "-" else str(Path(source).resolve())
    position, digest = (0, "") if source == "-" else live.stream_position(stream)
    if position and not resume and not again:
        _refuse_again(source, position, digest, format, sides=live.sources is not None)
    skip = position if resume else 0
    figures, sides = StreamFigures(before=skip), live.sources is not None
    for group in read_changes(
        source, size=size, skip=skip, digest=digest if skip else None, format=format, sides=sides
    ):
        live.collect(_operations(group, live))
        mark = Mark(stream=None if source == "-" else stream, records=group.records, digest=group.digest)
        try:
            commit = live.commit(mark, skip_unknown=skip_unknown)
        except FormatError:  # of the folder, which it names
            raise
        except InputError as error:
            where = f"{os.fspath(source)}, records {group.first:,} to {group.records:,}"
            kind = UnknownNameError if isinstance(error, UnknownNameError) else InputError
            raise kind(f"{where}: {error}", argument=error.argument) from None
        figures.add(commit)
    return figures


def _operations(group: Group, live: Live) -> list[Operation]:
    rows = zip(group.operations.tolist(), group.sources, group.targets, group.weights.tolist(), strict=True)
    return [live.operation(SIGNS[kind], source, target, weight) for kind, source, target, weight in rows]


def _refuse_again(source: str, records: int, digest: str, format: str | None, *, sides: bool) -> None:
    """Raise InputError if the file begins with records that count already."""
    try:
        for _ in read_changes(source, size=1, skip=records, digest=digest, format=format, sides=sides):
            break
    except InputError:  # another file of that name, or one that cannot be read: told when it is
        return
    raise InputError(
        f"{source}: its first {records:,} records count already; --resume goes on after them, --again applies them "
        "once more",
        argument="resume",
    )
