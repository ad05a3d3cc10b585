r"""Changes of a graph from files and standard input, and how a folder follows them.

A change has an operation, a source, a target and a weight. ``+`` adds an edge (of weight 1 if none is given; the
weights of one that exists add up), ``-`` removes one, ``=`` sets the weight of one. With an empty target, ``+`` adds a
node and ``-`` removes a node with its edges. A record that cannot be used refuses its whole group; the groups before
that are yielded.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, count, islice
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from graphrefine.errors import FormatError, InputError, suggest
from graphrefine.live.change_log import SIGNS, Change, Origin, parse_change, shorten
from graphrefine.readers.formats import BY_SUFFIX
from graphrefine.tables.decode import refuse_page
from graphrefine.tables.dialect import QuoteError, split_records
from graphrefine.tables.roles import assign_changes
from graphrefine.tables.sample import Dialect
from graphrefine.tables.source import Source, stream_bytes
from graphrefine.tables.vocabulary import CHANGES

if TYPE_CHECKING:
    from graphrefine.live.writer import Live

FORMATS = ("csv", "tsv", "jsonl")
DELIMITERS = {"csv": ",", "tsv": "\t"}
EXAMPLE = '{"op": "+", "source": "ann", "target": "bob"}'
LONGEST = 1 << 20  # bytes of a line: a stream without line ends would fill the memory
_CUT = (
    "the last line has no line end and may be cut, as a weight 12 may have been 125; its group does not count. If it "
    "is whole, end it with one; once the file is whole, --resume goes on after the last group that counts"
)

Record = Sequence[Any]  # the four fields as they are read


class Group(NamedTuple):
    """Changes that count together."""

    changes: list[Change]
    first: int  # the number of the first record, from 1
    records: int  # of the file, up to the end of this group
    digest: str  # hash of these records, the same for groups of any size


def read_changes(
    source: str | PathLike[str] | IO[bytes],
    *,
    size: int = 1000,
    skip: int = 0,
    digest: str | None = None,
    format: str | None = None,
) -> Iterator[Group]:
    r"""Yield changes in groups of ``size`` records, the last one shorter; the file is never held as a whole.

    The format of standard input ("-") and of open files is found by their first bytes, that of others by the suffix;
    ``format`` names it where neither tells. ``skip`` records, which count already, are not yielded again; if their hash
    is another one than ``digest``, that of the group which ended there, it is another file, and refused.

    Examples
    --------
    >>> import io
    >>> lines = b"op,source,target,weight\n+,ann,bob,2\n-,ann,eve,\n+,ann,cid,\n-,bob,,\n"
    >>> first, second = read_changes(io.BytesIO(lines), size=3)
    >>> second.first, second.records, second.changes
    (4, 4, [Change(sign='-', source='bob', target=None, weight=0.0)])
    >>> (rest,) = read_changes(io.BytesIO(lines), skip=first.records, digest=first.digest)
    >>> rest == second
    True
    """
    file = None if isinstance(source, str | PathLike) else source
    where = Source(source if isinstance(source, str | PathLike) else "the stream", needs="a change is expected")
    if format is None and where.suffix in BY_SUFFIX:
        format = BY_SUFFIX[where.suffix].name
    if format not in FORMATS and (format is not None or where.suffix):
        problem = f"the format {format or where.suffix!r} is none of changes{suggest(format or '', FORMATS)}"
        raise where.error(f"{problem}; pass format='csv' or another of {', '.join(FORMATS)}", argument="format")
    changes = _read_file(where, file, format)
    # Lines of JSON: records of the same effect have the same hash in any format and grouping.
    hashed, records = blake2b(digest_size=16), 0
    try:
        for change in islice(changes, skip):
            hashed.update(json.dumps(change).encode())
            records += 1
    except FormatError as error:
        raise where.error(f"this is another file than the one whose {skip} records count already: {error}") from None
    if records < skip or digest not in (None, hashed.hexdigest()):
        raise where.error(f"this is another file: its first {skip} records are not those that count already")
    while group := list(islice(changes, size)):
        hashed.update("".join(map(json.dumps, group)).encode())
        first, records = records + 1, records + len(group)
        yield Group(group, first, records, hashed.hexdigest())


# ---- formats ---------------------------------------------------------------------------------------------------------


def _read_file(source: Source, file: IO[bytes] | None, format: str | None) -> Iterator[Change]:
    portions = stream_bytes(source, file)
    head = b""
    for portion in portions:
        head += portion
        if len(head) > 4:  # bytes that tell a format; a stream may give fewer at a time, and be slow to go on
            break
    head = head.removeprefix(codecs.BOM_UTF8)
    if format is None:
        format = "jsonl" if head.lstrip().startswith(b"{") else "csv"
    refuse_page(source, head)
    lines = _split_lines(chain([head], portions))
    records = map(_parse_object, lines) if format == "jsonl" else _read_delimited(lines, DELIMITERS[format])
    yield from _check_records(source, records)


def _check_records(source: Source, records: Iterator[Record | None]) -> Iterator[Change]:
    """Yield the changes up to one that cannot be used, and raise an error that names its line."""
    for number in count(1):
        try:
            record = next(records)
            change = None if record is None else parse_change(record)
        except StopIteration:
            return
        except FormatError:  # of the file as a whole, such as a compressed one that is cut
            raise
        except InputError as error:
            raise source.error(str(error), line=number) from None
        if change is not None:
            yield change


def _split_lines(portions: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their ends; the last one as it is."""
    rest = b""
    for portion in portions:
        *lines, rest = (rest + portion).split(b"\n")
        yield from (line + b"\n" for line in lines)
        if len(rest) > LONGEST:
            break
    if rest.strip():
        yield rest


def _read_delimited(lines: Iterable[bytes], delimiter: str) -> Iterator[Record | None]:
    """Yield the record of each line; None for a header or a blank line. Blanks around fields drop."""
    dialect = Dialect(delimiter)
    columns: tuple[int, ...] = (0, 1, 2, 3)
    widths: tuple[int, ...] = (3, 4)
    is_first = True
    for line in lines:
        if not line.endswith(b"\n"):
            raise InputError(_CUT)
        try:
            text = line.decode("utf-8").removesuffix("\n").removesuffix("\r")
            fields = next((fields for *_, fields in split_records(text, dialect)), None)
        except UnicodeDecodeError as error:
            raise InputError(
                f"the text is not UTF-8 (byte 0x{line[error.start]:02x}); save the file as UTF-8"
            ) from None
        except QuoteError:
            raise InputError(f"a quote has no end on this line, or more than its field: {shorten(line)}") from None
        if fields is None:
            yield None
            continue
        if is_first and fields[0] not in SIGNS and not {*CHANGES}.isdisjoint(field.lower() for field in fields):
            columns, widths, fields = assign_changes(tuple(fields)), (len(fields),), None
        elif len(fields) not in widths:
            needed = " or ".join(map(str, widths))
            raise InputError(f"{len(fields)} field(s) split by {delimiter!r}, and {needed} are needed: {shorten(text)}")
        is_first = False
        yield None if fields is None else _pick(fields, columns)


def _parse_object(line: bytes) -> Record | None:
    """Return the record of a line of jsonl; None for a blank one."""
    if not line.strip():
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        cut = "" if line.endswith(b"\n") else f": {_CUT}"
        raise InputError(f"not an object such as {EXAMPLE}: {shorten(line.strip())}{cut}")
    return _pick(list(value.values()), assign_changes(tuple(value)))


def _pick(fields: Record, columns: tuple[int, ...]) -> Record:
    return [fields[column] for column in columns if column < len(fields)]


# ---- into a folder ---------------------------------------------------------------------------------------------------


def apply_changes(
    live: Live,
    source: str,
    *,
    size: int = 1000,
    resume: bool = False,
    skip_unknown: bool = False,
    format: str | None = None,
) -> dict[str, int]:
    """Commit the changes of a file, or of standard input ("-"), in groups of ``size``; return counts.

    The folder knows a file by its path, and remembers how many of its records count, and a hash of them: with
    ``resume`` an apply that was killed goes on after the last group, and no record counts twice.
    """
    if resume and source == "-":
        raise InputError("standard input cannot be resumed: its records are gone; give a file", argument="resume")
    stream = None if source == "-" else str(Path(source).resolve())
    position, digest = (0, "") if stream is None else live.stream_position(stream)
    if position and not resume:
        try:
            next(read_changes(source, size=1, skip=position, digest=digest, format=format), None)
        except InputError:  # another file of that name, or one that cannot be read: its reading says so
            pass
        else:
            raise InputError(
                f"{source}: its first {position:,} records count already; --resume goes on after them; to apply them "
                "once more, send the file to standard input (-)",
                argument="resume",
            )
    skip = position if resume else 0
    counts = {"groups": 0, "changes": 0, "skipped": 0, "new_nodes": 0, "moved": 0, "before": skip}
    for group in read_changes(source, size=size, skip=skip, digest=digest if skip else None, format=format):
        live.collect(group.changes)
        # The group and the position in the file are committed in one transaction: a kill between two of them could
        # make records count twice, or not at all.
        origin = Origin(stream=stream, records=group.records, digest=group.digest)
        try:
            commit = live.commit(origin, skip_unknown=skip_unknown)
        except FormatError:  # of the folder, which it names
            raise
        except InputError as error:
            where = f"{source}, records {group.first:,} to {group.records:,}"
            raise type(error)(f"{where}: {error}", argument=error.argument) from None
        counts["groups"] += 1
        for name in ("changes", "skipped", "new_nodes", "moved"):
            counts[name] += getattr(commit, name)
    return counts
