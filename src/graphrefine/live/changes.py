r"""Changes of a graph: edges and nodes that come, go, or get another weight; checked, from lists or files.

A change has an operation, a source, a target and a weight. ``+`` adds an edge (of weight 1 if none is given; the
weights of one that exists add up), ``-`` removes one, ``=`` sets the weight of one. With an empty target, ``+`` adds a
node and ``-`` removes a node with its edges. A record that cannot be used refuses its whole group; the groups before
that are yielded.
"""

from __future__ import annotations

import codecs
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from graphrefine.errors import FormatError, InputError, suggest
from graphrefine.kernels.text_records import QuoteError, split_record
from graphrefine.live.name_resolution import LARGEST_WEIGHT, LEAST_WEIGHT, RANGE
from graphrefine.readers.arrow import PARQUET, import_pyarrow, parquet_batches, sound
from graphrefine.readers.formats import BY_SUFFIX
from graphrefine.tables.decode import refuse_page
from graphrefine.tables.source import CODECS, SUFFIXES, Source, stream_bytes, wrap_errors

OPERATIONS = ("+", "-", "=")
FIELDS = ("op", "source", "target", "weight")
FORMATS = ("csv", "tsv", "jsonl", "parquet")
NEEDS = "a change is expected on each line"
EXAMPLE = '{"op": "+", "source": "ann", "target": "bob"}'
LONGEST = 1 << 20  # bytes of a line
ROWS = 1 << 14  # records of parquet that are read at once
_WHOLE = 2.0**53  # floats up to this are ids if they are whole: tables write integers so where one is missing
_NO_END = "the last line has no line end and may be cut, as a weight 12 may have been 125; if whole, end it with one"
_ADVICE = "its group does not count; once the file is whole, --resume goes on after the last group that does"

Record = tuple[Any, Any, Any, Any]  # the four fields as they are read; None for one that is empty


class Change(NamedTuple):
    """A change that is checked."""

    sign: str
    source: str | int | None  # None for a node on the target side of a bipartite graph
    target: str | int | None  # None for a node
    weight: float  # 0 where something is removed


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
    graphrefine.errors.InputError: weight 2 of -, which removes; leave it empty, or set a weight by =
    """
    if not isinstance(sign, str) or sign not in OPERATIONS:
        known = "it must be + (add), - (remove) or = (set a weight)"
        raise InputError(f"unknown op {_shorten(sign)}; {known}; a header names op, source and target")
    source = None if source is None or source == "" else _check_name("source", source)
    target = None if target is None else _check_name("target", target)
    if source is None and (target is None or not sides):
        raise InputError("the source is empty; name a node")
    if source is None or target is None:
        if sign == "=":
            raise InputError("an end is empty; = sets the weight of an edge: name both of its nodes")
        if weight is not None:
            raise InputError(f"weight {_shorten(weight)} of a node (one end is empty); leave it empty")
    elif not sides and str(source) == str(target):
        raise InputError(f"source and target are both {_shorten(source)}, a self-loop; an edge joins two nodes")
    if sign == "-" and weight is not None:
        raise InputError(f"weight {_shorten(weight)} of -, which removes; leave it empty, or set a weight by =")
    return Change(sign, source, target, 0.0 if sign == "-" else 1.0 if weight is None else _check_weight(weight))


def _check_name(field: str, name: Any) -> str | int:
    if isinstance(name, str):
        if name == "":
            raise InputError(f"the {field} is empty; name a node")
        if "\n" in name:
            raise InputError(f"{field} {_shorten(name)} has a line end; names must fit on one line")
        if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
            raise InputError(f"{field} {_shorten(name)} has half of a surrogate pair, which is no character")
        return name
    if isinstance(name, float) and name.is_integer() and abs(name) <= _WHOLE:
        name = int(name)
    if isinstance(name, bool) or not isinstance(name, int):
        raise InputError(f"{field} {_shorten(name)} is no name; give a text or a whole number")
    if not -(2**63) <= name < 2**63:
        raise InputError(f"{field} {_shorten(name)} is beyond 64 bits; give it as text")
    return name


def _check_weight(weight: Any) -> float:
    try:
        if isinstance(weight, bool) or (isinstance(weight, str) and not (weight.isascii() and "_" not in weight)):
            raise ValueError
        number = float(weight)
    except (ValueError, TypeError):
        raise InputError(
            f"non-numeric weight {_shorten(weight)}; write it as 2 or 0.5, or leave it empty for 1"
        ) from None
    except OverflowError:
        number = math.inf
    if number < 0:
        raise InputError(f"negative weight {_shorten(weight)}; weights must be positive")
    if number == 0:
        raise InputError(f"weight {_shorten(weight)} is no edge; remove an edge by -")
    if not LEAST_WEIGHT <= number <= LARGEST_WEIGHT:
        raise InputError(f"weight {_shorten(weight)} lies outside of {RANGE}")
    return number


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 62 else f"{text[:58]}...{text[0] if isinstance(value, str) else ''}"


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
    graphrefine.errors.InputError: change 1 of 1: negative weight -2; weights must be positive
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
    if isinstance(source, str | PathLike) or source is sys.stdin.buffer:
        where, file = Source(source if isinstance(source, str | PathLike) else "-", needs=NEEDS), None
    else:
        name = getattr(source, "name", None)
        where, file = Source(name if isinstance(name, str) else "the stream", needs=NEEDS), source
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
    if format is not None:
        if format not in FORMATS:
            known = f"changes can be {', '.join(FORMATS)}"
            raise InputError(f"unknown format={format!r}{suggest(format, FORMATS)}; {known}", argument="format")
        return format
    if not source.suffix:
        return None
    named = BY_SUFFIX.get(source.suffix)
    if named is None or named.name not in FORMATS:
        suffixes = " ".join(suffix for suffix, each in BY_SUFFIX.items() if each.name in FORMATS)
        compressions = " ".join(codec.suffix for codec in CODECS)
        problem = f"changes are read from files with {suffixes}, each also with {compressions}; or pass format='csv'"
        raise source.error(f"the suffix {source.suffix!r} is not one of changes: {problem}", argument="format")
    return named.name


def _read_records(source: Source, file: IO[bytes] | None, format: str | None, *, sides: bool) -> Iterator[Change]:
    """Yield the changes up to one that cannot be used, and raise an error that names its line or its record."""
    if format == "parquet" and file is None and Path(source.path).suffix.lower() not in SUFFIXES:
        yield from _check_rows(source, _read_parquet(source, source.path), sides=sides)
        return
    portions = stream_bytes(source, file)
    head = b""
    for portion in portions:
        head += portion
        if len(head) > 4:  # bytes that tell a format
            break
    head = head.removeprefix(codecs.BOM_UTF8)
    if format is None:
        format = "parquet" if head.startswith(b"PAR1") else "jsonl" if head.lstrip().startswith(b"{") else "csv"
    if format == "parquet":
        with TemporaryFile() as plain:
            plain.writelines(chain([head], portions))
            plain.seek(0)
            yield from _check_rows(source, _read_parquet(source, plain), sides=sides)
        return
    refuse_page(source, head)
    lines = JsonLines() if format == "jsonl" else DelimitedLines("\t" if format == "tsv" else ",")
    yield from _check_lines(source, lines, chain([head], portions), sides=sides)


def _check_rows(source: Source, rows: Iterator[Record], *, sides: bool) -> Iterator[Change]:
    for number, row in enumerate(rows, 1):
        try:
            change = check_change(*row, sides=sides)
        except InputError as error:
            raise source.error(f"record {number}: {error}") from None
        yield change


def _check_lines(
    source: Source, lines: JsonLines | DelimitedLines, portions: Iterable[bytes], *, sides: bool
) -> Iterator[Change]:
    records = 0
    for number, (line, cut) in enumerate(_split_lines(source, portions), 1):
        try:
            if cut is not None and not (cut == _NO_END and lines.is_whole(line)):
                raise InputError(f"record {records + 1} is not whole: {cut}; {_ADVICE}")
            record = lines.parse(_decode(line))
            change = None if record is None else check_change(*record, sides=sides)
        except InputError as error:
            raise source.error(str(error), line=number) from None
        if change is not None:
            records += 1
            yield change


def _split_lines(source: Source, portions: Iterable[bytes]) -> Iterator[tuple[bytes, str | None]]:
    """Yield lines and None; at the end, if a line is cut, what there is of it, and why."""
    rest = b""
    try:
        for portion in portions:
            *lines, rest = (rest + portion).split(b"\n")
            for line in lines:
                yield line, None
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
    if "\0" in text:
        raise InputError("the line has a zero byte; changes are text in UTF-8, or parquet")
    if "\r" in text:
        raise InputError("the line has a return (\\r) in it; end lines with \\n or \\r\\n")
    return text


class DelimitedLines:
    """Lines of csv or tsv, of which the first may name the columns; blanks around fields and blank lines drop."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._columns: tuple[int, int, int, int | None] = (0, 1, 2, 3)
        self._widths: tuple[int, ...] = ()  # numbers of fields of a record; none before the first is seen

    def is_whole(self, line: bytes) -> bool:
        """Return whether a last line without a line end is whole: nobody can tell."""
        return False

    def parse(self, line: str) -> Record | None:
        """Return the record of a line; None for a header or a blank line."""
        fields = self._split(line)
        if len(fields) < 2 and not any(fields):
            return None
        if not self._widths:
            if fields[0] not in OPERATIONS and not {*FIELDS}.isdisjoint(field.lower() for field in fields):
                self._columns, self._widths = find_columns(fields), (len(fields),)
                return None
            self._widths = (3, 4)
        if len(fields) not in self._widths:
            needed = "3 or 4 are needed (op, source, target, weight)"
            if len(self._widths) == 1:
                needed = f"the header has {self._widths[0]}"
            marks = "commas" if self._delimiter == "," else "tabs"
            raise InputError(f"{len(fields)} field(s) (split by {marks}), where {needed}: {_shorten(line)}")
        op, source, target, weight = self._columns
        amount = fields[weight] if weight is not None and weight < len(fields) else ""
        return fields[op], fields[source], fields[target] or None, amount or None

    def _split(self, line: str) -> list[str]:
        if '"' not in line:
            return [field.strip(" \t") for field in line.split(self._delimiter)]
        try:
            fields = list(split_record(line.encode(), (self._delimiter, '"', "", "")))
        except QuoteError:
            raise InputError(f"a quote has no end on this line, or more than its field: {_shorten(line)}") from None
        return [field.text.decode() if field.quoted else field.text.decode().strip(" \t") for field in fields]


class JsonLines:
    """Lines of jsonl, each an object with the fields as its keys."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, ...], list[str | None]] = {}  # of the four fields, by all keys of an object

    def is_whole(self, line: bytes) -> bool:
        """Return whether a last line without a line end is whole: whether its object is closed."""
        try:
            return isinstance(json.loads(line), dict)
        except (ValueError, RecursionError):
            return False

    def parse(self, line: str) -> Record | None:
        """Return the record of a line; None for a blank one."""
        if not line.strip():
            return None
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise InputError(f"not an object such as {EXAMPLE}: {_shorten(line.strip())}")
        keys = self._keys.get(tuple(value))
        if keys is None:
            names = list(value)
            op, source, target, weight = find_columns(names)
            keys = [names[op], names[source], names[target], None if weight is None else names[weight]]
            self._keys[tuple(value)] = keys
        sign, first, second, amount = (None if key is None else value[key] for key in keys)
        return sign, first, None if second == "" else second, amount


def find_columns(names: Sequence[str]) -> tuple[int, int, int, int | None]:
    """Return the positions of op, source, target and weight by their names, in any case and order.

    Examples
    --------
    >>> find_columns(["Target", "Source", "time", "Op"])
    (3, 1, 0, None)
    """
    words = [name.strip().lower() for name in names]
    header = ", ".join(map(repr, names))
    for field in FIELDS:
        if words.count(field) > 1:
            raise InputError(f"duplicate column {field!r} ({header}); rename one")
        if field not in words and field != "weight":
            raise InputError(f"no column is called {field!r} ({header}); op, source and target must be named")
    if "weight" not in words:
        odd = next((name for name, word in zip(names, words, strict=True) if suggest(word, ["weight"])), None)
        if odd is not None:
            raise InputError(f"no column is called 'weight', but one is called {odd!r}; rename it")
    weight = words.index("weight") if "weight" in words else None
    return words.index("op"), words.index("source"), words.index("target"), weight


def _read_parquet(source: Source, file: Any) -> Iterator[Record]:
    import_pyarrow("parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq
    import pyarrow.types as types

    with wrap_errors(source, PARQUET), pq.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20) as table:
        names = list(table.schema_arrow.names)
        used = [names[position] for position in find_columns(names) if position is not None]
        for batch in parquet_batches(table, batch_size=ROWS, columns=used, use_threads=False):
            columns = [sound(batch).column(name) for name in used]
            columns = [column.cast(pa.float64()) if types.is_decimal(column.type) else column for column in columns]
            for op, source_name, target, *weight in zip(*(column.to_pylist() for column in columns), strict=True):
                is_empty = target in ("", None) or target != target
                yield op, source_name, None if is_empty else target, weight[0] if weight else None
