"""Thrift's compact form, in which parquet files describe themselves: structures out of bytes, nothing believed.

Pyarrow's own view of such a description ends the process where it is damaged, so it is not asked.
"""

from __future__ import annotations

from typing import Any

_STOP, _TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 0, 1, 2, 3, 7, 8, 9, 10, 11, 12
Fields = dict[int, Any]


def read_struct(data: memoryview, at: int) -> tuple[Fields, int]:
    """The values of a structure by the numbers of their fields, and the place after it.

    Numbers are integers, texts views of bytes, lists lists; of other values there is None. IndexError or ValueError
    where the bytes are no structure.

    Examples
    --------
    >>> read_struct(memoryview(bytes([0x15, 4, 0x18, 2, 97, 98, 0])), 0)[0].keys()
    dict_keys([1, 2])
    """
    field, fields = 0, Fields()
    while (head := data[at]) != _STOP:
        at += 1
        if head >> 4:
            field += head >> 4
        else:
            field, at = _read_number(data, at)
        fields[field], at = _read_value(data, at, head & 15)
    return fields, at + 1


def number_of(fields: Fields, field: int) -> int:
    """A number of a structure, 0 if it has none; ValueError where something else stands there."""
    number = fields.get(field, 0)
    if type(number) is not int:
        raise ValueError(f"field {field} is no number")
    return number


def structs_of(fields: Fields, field: int) -> list[Fields]:
    """The structures of a list, none if there is no list; ValueError where something else stands there."""
    structs = fields.get(field, [])
    if not isinstance(structs, list) or not all(isinstance(each, dict) for each in structs):
        raise ValueError(f"field {field} is no list of structures")
    return structs


def _read_value(data: memoryview, at: int, kind: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return data[at], at + 1
    if kind == _DOUBLE:
        return None, at + 8
    if kind == _BINARY:
        size, at = _read_varint(data, at)
        return data[at : at + size], at + size
    if kind == _STRUCT:
        return read_struct(data, at)
    if kind in (_LIST, _SET):
        return _read_list(data, at)
    if kind == _MAP or kind > _STRUCT:
        raise ValueError(f"values of type {kind} are not known")
    return _read_number(data, at)


def _read_list(data: memoryview, at: int) -> tuple[Any, int]:
    head, at = data[at], at + 1
    kind = head & 15
    count, at = (head >> 4, at) if head >> 4 < 15 else _read_varint(data, at)
    if count > data.nbytes - at:
        raise ValueError(f"a list announces {count:,} values, more than there are bytes")
    if kind in (_TRUE, _FALSE, _BYTE, _DOUBLE):
        return None, at + count * (8 if kind == _DOUBLE else 1)
    values = []
    for _ in range(count):
        value, at = _read_value(data, at, kind)
        values.append(value)
    return values, at


def _read_number(data: memoryview, at: int) -> tuple[int, int]:
    number, at = _read_varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    number = shift = 0
    while data[at] & 0x80:
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise ValueError("a number has no end")
    return number | data[at] << shift, at + 1
