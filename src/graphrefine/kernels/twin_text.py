"""The twin of ``native/text.cpp``: text edge lists to arrays, in plain Python.

The functions return what the compiled ones return: a status and the line of the first error, the records in
file order, and the names as lines of one byte string.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

INTEGER = re.compile(rb"0|-?[1-9][0-9]{0,18}")
NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
WORD = re.compile(rb"[^ \t]+")  # between blanks
_OK, _NOT_INTEGER, _TOO_WIDE, _FEW_COLUMNS, _MANY_COLUMNS, _BAD_WEIGHT = range(6)
_BLANKS = b" \t"

_Parsed = tuple[int, int, NDArray[Any], NDArray[Any], NDArray[np.float32] | None, bytes, int]


class _Stop(Exception):  # noqa: N818 - carries a status; never seen outside this module
    def __init__(self, status: int) -> None:
        self.status = status


def parse_integers(
    text: NDArray[np.uint8],
    columns: tuple[int, int, int, int],
    *,
    delimiter: str,
    comments: str,
    wide: bool,
    threads: int,
) -> _Parsed:
    """See `graphrefine.kernels.edge_lists.parse_integers`; `threads` is for the compiled twin."""
    dtype = np.int64 if wide else np.int32
    bounds = np.iinfo(dtype)

    def read(field: bytes) -> int:
        field = field.strip(_BLANKS)
        if not INTEGER.fullmatch(field):
            raise _Stop(_NOT_INTEGER)
        value = int(field)
        if not -(2**63) <= value < 2**63:
            raise _Stop(_NOT_INTEGER)
        # The compiled twin leaves the lowest 32-bit number to the wide parser.
        if not bounds.min + (not wide) <= value <= bounds.max:
            raise _Stop(_TOO_WIDE)
        return value

    status, line, edges, values, skipped = _parse(text.tobytes(), columns, (delimiter, comments), read)
    source, target, weights = _arrays(edges, values, dtype, columns[2] >= 0)
    return status, line, source, target, weights, b"", skipped


def parse_strings(
    text: NDArray[np.uint8],
    columns: tuple[int, int, int, int],
    *,
    delimiter: str,
    comments: str,
    threads: int,
) -> _Parsed:
    """See `graphrefine.kernels.edge_lists.parse_strings`; `threads` is for the compiled twin."""
    numbers: dict[bytes, int] = {}

    def read(field: bytes) -> int:
        bare = field.strip(_BLANKS)
        if not bare:
            return -1
        return numbers.setdefault(field if delimiter == "\t" else bare, len(numbers))

    status, line, edges, values, skipped = _parse(text.tobytes(), columns, (delimiter, comments), read)
    names = sorted(numbers)
    rank = np.empty(len(names) + 1, dtype=np.int32)
    rank[-1] = -1  # an empty field has the number -1 before and after
    rank[[numbers[name] for name in names]] = np.arange(len(names))
    source, target, weights = _arrays(edges, values, np.int32, columns[2] >= 0)
    return status, line, rank[source], rank[target], weights, b"\n".join(names), skipped


def split_fields(line: bytes, delimiter: bytes) -> list[bytes]:
    """The fields of one line; a single space stands for any run of blanks.

    A field is quoted if it begins with a quote that is closed right before a delimiter or the line end; any
    other quote is an ordinary character.

    Examples
    --------
    >>> split_fields(b'"a, b",c d,"e', b",")
    [b'a, b', b'c d', b'"e']
    """
    if delimiter == b" ":
        return WORD.findall(line)
    if b'"' not in line:
        return line.split(delimiter)
    quoted = re.compile(rb' *"((?:[^"]|"")*)" *(?=' + re.escape(delimiter) + rb"|\Z)")
    fields, at = [], 0
    while at <= len(line):
        match = quoted.match(line, at)
        if match:
            fields.append(match[1].replace(b'""', b'"'))
            at = match.end() + 1
        else:
            end = line.find(delimiter, at)
            stop = len(line) if end < 0 else end
            fields.append(line[at:stop])
            at = stop + 1
    return fields


def _parse(
    data: bytes, columns: tuple[int, int, int, int], marks: tuple[str, str], read: Callable[[bytes], int]
) -> tuple[int, int, list[int], list[float], int]:
    delimiter, comments = marks[0].encode(), marks[1].encode()
    order = sorted(at for at in columns[:3] if at >= 0)  # in file order: the first error is the first
    edges: list[int] = []
    values: list[float] = []
    skipped = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        bare = line.removesuffix(b"\r")
        first = bare.lstrip(_BLANKS)[:1]
        if not first:
            continue
        if first in comments:
            skipped += 1
            continue
        try:
            source, target, weight = _record(split_fields(bare, delimiter), columns, order, read)
        except _Stop as stop:
            return stop.status, number, [], [], skipped
        edges += (source, target)
        values.append(weight)
    return _OK, 0, edges, values, skipped


def _record(
    fields: list[bytes], columns: tuple[int, int, int, int], order: list[int], read: Callable[[bytes], int]
) -> tuple[int, int, float]:
    _, target, weight, most = columns
    ends, value = [0, 0], 1.0
    for at in order:
        if at >= len(fields):
            raise _Stop(_FEW_COLUMNS)
        if at == weight:
            value = _weight(fields[at])
        else:
            ends[at == target] = read(fields[at])
    if len(fields) > most:
        raise _Stop(_MANY_COLUMNS)
    return ends[0], ends[1], value


def _weight(field: bytes) -> float:
    field = field.strip(_BLANKS)
    if not NUMBER.fullmatch(field):
        raise _Stop(_BAD_WEIGHT)
    with np.errstate(over="ignore", under="ignore"):
        value = float(np.float32(float(field)))
    if value < 0 or math.isinf(value):
        raise _Stop(_BAD_WEIGHT)
    return value


def _arrays(
    edges: list[int], values: list[float], dtype: type[np.signedinteger[Any]], weighted: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float32] | None]:
    pairs = np.array(edges, dtype=dtype).reshape(-1, 2)  # (m, 2)
    weights = np.array(values, dtype=np.float32) if weighted else None
    return np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]), weights
