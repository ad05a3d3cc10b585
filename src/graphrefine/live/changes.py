r"""Changes of a graph: edges and nodes that come, go, or get another weight; checked, from lists or files.

A change has an operation, a source, a target and a weight. ``+`` adds an edge (of weight 1 if none is given; the
weights of one that exists add up), ``-`` removes one, ``=`` sets the weight of one. With an empty target, ``+`` adds a
node and ``-`` removes a node with its edges. A record that cannot be used refuses its whole group; the groups before
that are yielded.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from graphrefine.errors import FormatError, InputError, UnknownNameError, suggest
from graphrefine.live.change_log import Origin
from graphrefine.live.name_resolution import SIGNS, Change, check_weight, shorten
from graphrefine.readers.arrow import PARQUET, import_pyarrow, parquet_batches, sound
from graphrefine.readers.formats import BY_SUFFIX
from graphrefine.tables.decode import refuse_page
from graphrefine.tables.dialect import QuoteError, split_records
from graphrefine.tables.sample import Dialect
from graphrefine.tables.source import CODECS, SUFFIXES, Source, stream_bytes, wrap_errors
from graphrefine.tables.vocabulary import CHANGES

if TYPE_CHECKING:
    from graphrefine.live.writer import Live

FORMATS = ("csv", "tsv", "jsonl", "parquet")
DELIMITERS = {"csv": ",", "tsv": "\t"}
NEEDS = "a change is expected on each line"
EXAMPLE = '{"op": "+", "source": "ann", "target": "bob"}'
LONGEST = 1 << 20  # bytes of a line: a stream without line ends would fill the memory
ROWS = 1 << 14  # records of parquet that are read at once
_WHOLE = 2.0**53  # floats up to this are ids if they are whole: tables write integers so where one is missing
_NO_END = "the last line has no line end and may be cut, as a weight 12 may have been 125; if whole, end it with one"
_ADVICE = "its group does not count; once the file is whole, --resume goes on after the last group that does"

Record = Sequence[Any]  # the four fields as they are read; None for one that is empty
Columns = tuple[int, int, int, int | None]  # positions of op, source, target and weight


class Group(NamedTuple):
    """Changes that count together."""

    changes: list[Change]
    first: int  # the number of the first record, from 1
    records: int  # of the file, up to the end of this group
    digest: str  # hash of these records, the same for groups of any size


# ---- one change ------------------------------------------------------------------------------------------------------


def check_change(sign: Any, source: Any, target: Any, weight: Any, *, sides: bool = False) -> Change:
    """Return a change, or raise InputError with the problem and what to do about it.

    Examples
    --------
    >>> check_change("+", "ann", 3.0, None)
    Change(sign='+', source='ann', target=3, weight=1.0)
    >>> check_change("-", "ann", "bob", 2)
    Traceback (most recent call last):
    graphrefine.errors.InputError: weight 2 of a removal or of a node; leave it empty
    """
    if not isinstance(sign, str) or sign not in SIGNS:
        known = "it must be + (add), - (remove) or = (set a weight)"
        raise InputError(f"unknown op {shorten(sign)}; {known}; a header names op, source and target")
    # An item of a bipartite graph is a change with a target alone.
    may_be_left_out = sides and target is not None
    source = None if may_be_left_out and source in (None, "") else _check_name("source", source)
    target = None if target is None else _check_name("target", target)
    is_node = source is None or target is None
    if is_node and sign == "=":
        raise InputError("an end is empty; = sets the weight of an edge: name both of its nodes")
    if weight is not None and (is_node or sign == "-"):
        raise InputError(f"weight {shorten(weight)} of a removal or of a node; leave it empty")
    if not is_node and not sides and str(source) == str(target):
        raise InputError(f"source and target are both {shorten(source)}, a self-loop; an edge joins two nodes")
    if sign == "-":
        return Change(sign, source, target, 0.0)
    return Change(sign, source, target, 1.0 if weight is None else check_weight(weight))


def _check_name(field: str, name: Any) -> str | int:
    if isinstance(name, float) and name.is_integer() and abs(name) <= _WHOLE:
        return int(name)
    if type(name) is int and -(2**63) <= name < 2**63:
        return name
    # Halves of surrogate pairs come from JSON alone; no file of vectors could hold such a name, or one with a line end.
    is_text = isinstance(name, str) and name != "" and "\n" not in name
    if is_text and (name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)):
        return str(name)
    raise InputError(
        f"the {field} {shorten(name)} is no name; name a node by text on one line or an integer of 64 bits"
    )


def check_changes(changes: Sequence[Any], *, sides: bool = False) -> list[Change]:
    """Return changes that are given as lists, or raise InputError with the first that cannot be used.

    Parameters
    ----------
    changes : list
        A list of two to four values for each: an operation, a source, a target and a weight. Target and weight may be
        missing, or None.
    sides : bool
        Whether the graph is bipartite: an edge may then join two nodes of one name.

    Examples
    --------
    >>> check_changes([["-", "cleo"]])
    [Change(sign='-', source='cleo', target=None, weight=0.0)]
    >>> check_changes([["+", "ann", "bob", -2]])
    Traceback (most recent call last):
    graphrefine.errors.InputError: change 1 of 1: weight -2 is not a positive number in 2^-100 to 2^100; ...
    """
    checked = []
    for number, change in enumerate(changes, 1):
        try:
            if not isinstance(change, list | tuple) or not 2 <= len(change) <= 4:
                raise InputError('a list such as ["+", "ann", "bob", 2] is expected')
            checked.append(check_change(*[*change, None, None][:4], sides=sides))
        except InputError as error:
            raise InputError(f"change {number} of {len(changes)}: {error}") from None
    return checked


# ---- files -----------------------------------------------------------------------------------------------------------


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
        csv, tsv, jsonl or parquet, also compressed (.gz .bz2 .xz .zst). The format of standard input ("-") and of open
        files is found by their first bytes. Columns, or keys, are op, source, target, weight; csv and tsv may name
        them in a header, in any order.
    size : int
        Records in a group.
    skip : int
        Records that were counted before, and are not yielded again.
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
    >>> second.first, second.records, second.changes
    (4, 4, [Change(sign='-', source='bob', target=None, weight=0.0)])
    >>> (rest,) = read_changes(io.BytesIO(lines), skip=first.records, digest=first.digest)
    >>> rest == second
    True
    """
    if size < 1:
        raise InputError(f"size={size} must be at least 1", argument="size")
    if skip < 0:
        raise InputError(f"skip={skip} must be at least 0", argument="skip")
    if source is sys.stdin.buffer:
        source = "-"
    file = None if isinstance(source, str | PathLike) else source
    name = source if isinstance(source, str | PathLike) else getattr(source, "name", None)
    where = Source(name if isinstance(name, str | PathLike) else "the stream", needs=NEEDS)
    changes = _read_records(where, file, _check_format(where, format), sides=sides)
    return _make_groups(where, changes, size=size, skip=skip, digest=digest)


def _make_groups(
    source: Source, changes: Iterator[Change], *, size: int, skip: int, digest: str | None
) -> Iterator[Group]:
    # Lines of JSON: records of the same effect have the same hash in any format and grouping.
    hashed, records = blake2b(digest_size=16), 0
    other = "this is another file:"
    try:
        for change in islice(changes, skip):
            hashed.update(json.dumps(change).encode())
            records += 1
    except FormatError as error:
        raise source.error(f"{other} {skip} records were applied before, and it has {records} ({error})") from None
    if records < skip:
        raise source.error(f"{other} {skip} records were applied before, and it has {records}")
    if digest not in (None, hashed.hexdigest()):
        raise source.error(f"{other} its first {skip} records are not those that were applied before")
    while group := list(islice(changes, size)):
        hashed.update("".join(map(json.dumps, group)).encode())
        first, records = records + 1, records + len(group)
        yield Group(group, first, records, hashed.hexdigest())


def _check_format(source: Source, format: str | None) -> str | None:
    """Return the format that was named, or that of the suffix; None where the first bytes must tell it."""
    if format is None and source.suffix in BY_SUFFIX:
        format = BY_SUFFIX[source.suffix].name
    if format in FORMATS or (format is None and not source.suffix):
        return format
    compressions = " ".join(codec.suffix for codec in CODECS)
    problem = f"changes can be {', '.join(FORMATS)}, each also with {compressions}"
    given = f"format={format!r}{suggest(format, FORMATS)}" if format else f"the suffix {source.suffix!r}"
    raise source.error(f"{given} is no format of changes; {problem}; or pass format='csv'", argument="format")


def _read_records(source: Source, file: IO[bytes] | None, format: str | None, *, sides: bool) -> Iterator[Change]:
    """Yield the changes up to one that cannot be used, and raise an error that names its line or its record."""
    if format == "parquet" and file is None and Path(source.path).suffix.lower() not in SUFFIXES:
        yield from _check_rows(source, _read_parquet(source, source.path), sides=sides)
        return
    portions = stream_bytes(source, file)
    head = b""
    for portion in portions:
        head += portion
        if len(head) > 4:  # bytes that tell a format; a stream may give fewer at a time, and be slow to go on
            break
    head = head.removeprefix(codecs.BOM_UTF8)
    if format is None:
        format = "parquet" if head.startswith(b"PAR1") else "jsonl" if head.lstrip().startswith(b"{") else "csv"
    if format == "parquet":
        with TemporaryFile() as plain:  # whose end has the places of the columns
            plain.writelines(chain([head], portions))
            plain.seek(0)
            yield from _check_rows(source, _read_parquet(source, plain), sides=sides)
        return
    refuse_page(source, head)
    yield from _check_lines(source, format, chain([head], portions), sides=sides)


def _check_rows(source: Source, rows: Iterator[Record], *, sides: bool) -> Iterator[Change]:
    for number, row in enumerate(rows, 1):
        try:
            change = check_change(*row, sides=sides)
        except InputError as error:
            raise source.error(f"record {number}: {error}") from None
        yield change


def _check_lines(source: Source, format: str, portions: Iterable[bytes], *, sides: bool) -> Iterator[Change]:
    records = 0
    parse = _parse_object if format == "jsonl" else DelimitedLines(DELIMITERS[format]).parse
    for number, (line, cut) in enumerate(_split_lines(source, portions), 1):
        try:
            # Without a line end, an object that is closed is whole; of fields nobody can tell.
            if cut and not (cut == _NO_END and format == "jsonl" and _load_object(line) is not None):
                raise InputError(f"record {records + 1} is not whole: {cut}; {_ADVICE}")
            record = parse(_decode(line))
            change = None if record is None else check_change(*record, sides=sides)
        except InputError as error:
            raise source.error(str(error), line=number) from None
        if change is not None:
            records += 1
            yield change


def _split_lines(source: Source, portions: Iterable[bytes]) -> Iterator[tuple[bytes, str]]:
    """Yield lines and ""; at the end, if a line is cut, what there is of it, and why."""
    rest = b""
    try:
        for portion in portions:
            *lines, rest = (rest + portion).split(b"\n")
            yield from ((line, "") for line in lines)
            if len(rest) > LONGEST:
                yield rest, f"the line has more than {LONGEST} bytes; a line of changes has one record"
                return
    except FormatError as error:  # of a decompressor
        yield rest, str(error).removeprefix(f"{source.name}: ")
        return
    if rest.strip():
        yield rest, _NO_END


def _decode(line: bytes) -> str:
    try:
        text = line.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"the text is not UTF-8 (byte 0x{line[error.start]:02x}); save the file as UTF-8") from None
    for character, name in (("\0", "zero byte"), ("\r", "return (\\r)")):
        if character in text:
            raise InputError(f"the line has a {name} in it; changes are lines of text, or parquet")
    return text


class DelimitedLines:
    """Lines of csv or tsv, of which the first may name the columns; blanks around fields and blank lines drop."""

    def __init__(self, delimiter: str) -> None:
        self._dialect = Dialect(delimiter)
        self._columns: Columns = (0, 1, 2, 3)
        self._widths: tuple[int, ...] = ()  # numbers of fields of a record; none before the first is seen

    def parse(self, line: str) -> Record | None:
        """Return the record of a line; None for a header or a blank line."""
        try:
            fields = next((fields for *_, fields in split_records(line, self._dialect)), None)
        except QuoteError:
            raise InputError(f"a quote has no end on this line, or more than its field: {shorten(line)}") from None
        if fields is None:
            return None
        if not self._widths:
            if fields[0] not in SIGNS and not {*CHANGES}.isdisjoint(field.lower() for field in fields):
                self._columns, self._widths = find_columns(tuple(fields)), (len(fields),)
                return None
            self._widths = (3, 4)
        if len(fields) not in self._widths:
            needed = " or ".join(map(str, self._widths))
            raise InputError(
                f"{len(fields)} field(s) split by {self._dialect.delimiter!r}, where {needed} are needed "
                f"({', '.join(CHANGES)}, or those of the header): {shorten(line)}"
            )
        *names, weight = _pick(fields, self._columns)
        return *names, weight or None


def _parse_object(line: str) -> Record | None:
    """Return the record of a line of jsonl; None for a blank one."""
    if not line.strip():
        return None
    value = _load_object(line)
    if value is None:
        raise InputError(f"not an object such as {EXAMPLE}: {shorten(line.strip())}")
    return _pick(list(value.values()), find_columns(tuple(value)))


def _load_object(line: str | bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _pick(fields: Record, columns: Columns) -> Record:
    """Return operation, source, target (None for an empty one) and weight of a record."""
    op, source, target, weight = columns
    amount = None if weight is None or weight >= len(fields) else fields[weight]
    return fields[op], fields[source], None if fields[target] == "" else fields[target], amount


@lru_cache(64)  # of the keys of each line of jsonl
def find_columns(names: tuple[str, ...]) -> Columns:
    """Return the positions of op, source, target and weight by their names, in any case and order.

    Examples
    --------
    >>> find_columns(("Target", "Source", "time", "Op"))
    (3, 1, 0, None)
    """
    words = [name.strip().lower() for name in names]
    listed = ", ".join(map(repr, names))
    for field in CHANGES:
        if words.count(field) > 1 or (field not in words and field != "weight"):
            raise InputError(f"one column is to be called {field!r}, and {words.count(field)} are: {listed}")
    if "weight" in words:
        return words.index("op"), words.index("source"), words.index("target"), words.index("weight")
    # Weights under a name that is not known would be left out without a word.
    if odd := next((name for name in names if suggest(name.strip().lower(), ["weight"])), None):
        raise InputError(f"no column is called 'weight', but one is called {odd!r}; rename it")
    return words.index("op"), words.index("source"), words.index("target"), None


def _read_parquet(source: Source, file: Any) -> Iterator[Record]:
    import_pyarrow("parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as types

    with wrap_errors(source, PARQUET), pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20) as table:
        names = table.schema_arrow.names
        used = [names[position] for position in find_columns(tuple(names)) if position is not None]
        for batch in parquet_batches(table, batch_size=ROWS, columns=used, use_threads=False):
            parts = [sound(batch).column(name) for name in used]
            parts = [part.cast(pa.float64()) if types.is_decimal(part.type) else part for part in parts]
            for fields in zip(*(part.to_pylist() for part in parts), strict=True):
                op, name, target, weight = _pick(fields, (0, 1, 2, 3))
                yield op, name, None if target != target else target, weight  # NaN: empty, as pandas writes it


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

    A file is known by its path, and the folder remembers how many of its records count, and a hash of them. So an
    apply that was killed goes on after the last group, and no record counts twice.

    Parameters
    ----------
    live : Live
        The folder, open for writing.
    source : str
        The file; see `read_changes`.
    size : int
        Changes in a group.
    resume : bool
        Go on after the records of this file that were applied before.
    skip_unknown : bool
        Skip removals of what does not exist, and count them.
    format : str, optional
        Format of the file, where its name does not say.
    """
    if resume and source == "-":
        raise InputError("standard input cannot be resumed: its records are gone; give a file", argument="resume")
    stream = None if source == "-" else str(Path(source).resolve())
    position, digest = (0, "") if stream is None else live.stream_position(stream)
    options: dict[str, Any] = {"format": format, "sides": live.sources is not None}
    if position and not resume and _begins_with(source, skip=position, digest=digest, **options):
        raise InputError(
            f"{source}: its first {position:,} records count already; --resume goes on after them; to apply them once "
            "more, send the file to standard input (-)",
            argument="resume",
        )
    skip = position if resume else 0
    counts = {"groups": 0, "changes": 0, "skipped": 0, "new_nodes": 0, "moved": 0, "before": skip}
    for group in read_changes(source, size=size, skip=skip, digest=digest if skip else None, **options):
        live.collect(group.changes)
        origin = Origin(stream=stream, records=group.records, digest=group.digest)
        try:
            commit = live.commit(origin, skip_unknown=skip_unknown)
        except FormatError:  # of the folder, which it names
            raise
        except InputError as error:
            where = f"{source}, records {group.first:,} to {group.records:,}"
            kind = UnknownNameError if isinstance(error, UnknownNameError) else InputError
            raise kind(f"{where}: {error}", argument=error.argument) from None
        for name, count in (commit._asdict() | {"groups": 1}).items():
            if name in counts:
                counts[name] += count
    return counts


def _begins_with(source: str, **options: Any) -> bool:
    """Return whether a file begins with records that were applied before."""
    try:
        next(read_changes(source, size=1, **options), None)
    except InputError:  # another file of that name, or one that cannot be read: its reading says so
        return False
    return True
