"""Sizes of the texts of a parquet file before they are read: one that is stored once may stand in every row.

A column is a row of pages, each with a header in thrift's compact form. Texts are stored as they are, or once in the
dictionary at the beginning, which the rows name by number, or as what they do not share with the text before them. So
how long a text can be is known from the pages alone, and with it how many rows can be read at a time.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from typing import NamedTuple

from graphrefine.readers.limits import UNASKED, check_unpacked
from graphrefine.readers.thrift import Fields, number_of, read_struct, structs_of

_MARK = b"PAR1"
_ROW_GROUPS, _COLUMNS, _ABOUT = 4, 1, 3  # fields of the footer, of a row group, of a column
_TYPE, _PATH, _CODEC, _VALUES, _BYTES, _FIRST, _NAMED = 1, 3, 4, 5, 7, 9, 11  # fields of what is told of a column
_TEXTS, _FIXED = 6, 7  # types of columns
_DICTIONARY = 2  # kind of a page
_KIND, _UNPACKED, _PACKED, _DATA, _DATA_2 = 1, 2, 3, 5, 8  # fields of the header of a page
_ENCODINGS = {_DATA: 2, _DATA_2: 4}  # fields of the headers of data
_SHARED = 7  # encoding of texts without what they share with the one before
_PLAIN, _CODECS = 0, {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_SHORT = 1 << 13  # bytes of a dictionary whose texts are not looked at


class PageSizes(NamedTuple):
    """The bytes of all pages, unpacked, of the longest text in them, and of the texts of all rows, both at most."""

    pages: int
    longest: int
    texts: int

    @property
    def rows(self) -> int:
        """Rows whose texts surely fit into the memory that is not asked for."""
        return max(UNASKED // max(self.longest, 1), 1)


def check_pages(
    path: str, data: memoryview, columns: Collection[str] | None = None, *, at_once: bool = True
) -> PageSizes:
    """Refuse a parquet file whose pages, ``at_once`` or each by itself, unpack beyond the memory; their sizes.

    ``columns``: those of these columns alone. ValueError where the file is damaged.
    """
    try:
        return _check_columns(path, data, columns, at_once=at_once)
    except (IndexError, RecursionError):
        raise ValueError("the footer, or the header of a page, is damaged") from None


def _check_columns(path: str, data: memoryview, columns: Collection[str] | None, *, at_once: bool) -> PageSizes:
    pages = longest = texts = walked = 0
    for column in _list_columns(data):
        name, *inner = (bytes(part).decode("utf-8", "replace") for part in _path(column))
        if columns is not None and name not in columns:
            continue
        walked += number_of(column, _BYTES)
        if walked > data.nbytes:
            raise ValueError("the columns of the file are longer than it is")
        size, largest, most = _column_sizes(column, data)
        values = max(number_of(column, _VALUES), 0)
        several = values * most if inner and most > _SHORT else 0  # any number of them in a row
        pages, longest, texts = pages + size + several, max(longest, most), texts + values * most
        if at_once and pages > data.nbytes:
            check_unpacked(path, pages, "the parquet data")
        elif not at_once:
            check_unpacked(path, largest + several, "a page", way_out="say a larger memory=")
    return PageSizes(pages, longest, texts)


def _list_columns(data: memoryview) -> Iterator[Fields]:
    """What the footer tells of each column of each row group."""
    size = int.from_bytes(data[-8:-4], "little")
    if data[-4:] != _MARK or size > data.nbytes - 12:
        raise ValueError("there is no footer at the end")
    footer, _ = read_struct(data[-8 - size : -8], 0)
    for group in structs_of(footer, _ROW_GROUPS):
        for column in structs_of(group, _COLUMNS):
            about = column.get(_ABOUT)
            if not isinstance(about, dict):
                raise ValueError("nothing is told of a column")
            yield about


def _path(column: Fields) -> list[memoryview]:
    path = column.get(_PATH)
    if not isinstance(path, list) or not path or not all(isinstance(part, memoryview) for part in path):
        raise ValueError("a column has no name")
    return path


def _column_sizes(column: Fields, data: memoryview) -> tuple[int, int, int]:
    """The bytes of the pages of a column of a row group, of its largest page, and of its longest text at most."""
    start, left, kind = (number_of(column, field) for field in (_FIRST, _VALUES, _TYPE))
    start = named if 0 < (named := number_of(column, _NAMED)) < start else start
    end, pages, largest, longest = start + number_of(column, _BYTES), 0, 0, 0
    if start < 0:
        raise ValueError("a column begins before the file")
    while start < end and left > 0:
        header, body = read_struct(data, start)
        start = body + max(number_of(header, _PACKED), 0)
        size = max(number_of(header, _UNPACKED), 0)
        pages, largest = pages + size, max(largest, size)
        (data_header, encoding) = next(
            ((header[at], field) for at, field in _ENCODINGS.items() if at in header), ({}, 0)
        )
        if encoding and isinstance(data_header, dict):
            left -= max(number_of(data_header, 1), 0)
            longest = max(longest, size if number_of(data_header, encoding) == _SHARED else 0)
        elif number_of(header, _KIND) == _DICTIONARY and kind in (_TEXTS, _FIXED):
            codec = number_of(column, _CODEC) if kind == _TEXTS else -1
            longest = max(longest, _longest_text(data[body:start], size, codec))
    return pages, largest, longest


def _longest_text(page: memoryview, size: int, codec: int) -> int:
    """The bytes of the longest text of a dictionary; those of all where it cannot be unpacked here."""
    if size <= _SHORT or size > UNASKED or codec not in (*_CODECS, _PLAIN):
        return size
    import pyarrow as pa

    try:
        whole = bytes(page) if codec == _PLAIN else pa.decompress(page, size, _CODECS[codec], asbytes=True)
    except (pa.ArrowException, OSError, ValueError):
        return size
    at = longest = 0
    read, last = struct.Struct("<I").unpack_from, len(whole) - 4
    while at <= last:
        (length,) = read(whole, at)
        at += 4 + length
        if length > longest:
            longest = length
    return min(longest, size)
