"""Node ids: from ids of edges to node numbers and sorted names, and how names are stored.

Names are sorted, integers by value and strings by their UTF-8 bytes, so that the number of a node, which is its row,
never depends on the order of the edges. Typed ids keep their type: only text is searched for integers
(`graphrefine.readers.text`).

Names are one array: int64, or objects that are all ``str``, or any others (tuples, dates, floats, a mix), which files
hold as their text. Of those, two are one node where Python holds them to be equal, as 1 and 1.0; they are sorted by the
names of their types, then by value.

Text is stored as UTF-8. Bytes of a name that were not UTF-8 when the graph was read are in the string as Python's
surrogate escapes and are written back as they were.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from datetime import date, datetime
from itertools import chain, pairwise
from numbers import Number
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.kernels import edge_lists

MAX_NODES = 2**31 - 1  # a node number is an int32, in rows as in files; -1 is no node
# 2^64 over the golden ratio: multiples of it are spread evenly, so that the upper bits of the product differ for ids
# that are close together. A part of the numerics version: the rows that REFINE draws depend on it.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)

_ORDERED = (bool, int, float, str, bytes, date)  # types whose values have one order

Names = NDArray[Any]  # int64, or object holding str, or object holding any ids
# Source and target as node numbers (-1: no node), and the names in order.
Numbered = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any]]


def number(source: NDArray[Any], target: NDArray[Any], *, threads: int = 1, apart: bool = False) -> Numbered:
    """Assign numbers to the ids of two arrays of equal length; ``apart``: they are two sets of ids.

    Examples
    --------
    >>> source, target, names = number(np.array([30, 10]), np.array([20, 30]))
    >>> source.tolist(), target.tolist(), names.tolist()
    ([2, 0], [1, 2], [10, 20, 30])
    """
    return number_checked(as_ids(source), as_ids(target), threads=threads, apart=apart)


def number_checked(first: NDArray[Any], second: NDArray[Any], *, threads: int = 1, apart: bool = False) -> Numbered:
    """Assign numbers to ids as `as_ids` gives them; see `number`."""
    if first.dtype == object or second.dtype == object:
        return _number_objects(first.tolist(), second.tolist(), apart=apart)
    if first.dtype != second.dtype or any(isinstance(side, np.ma.MaskedArray) for side in (first, second)):
        return _number_masked(first.astype(np.int64), second.astype(np.int64))
    return edge_lists.number_ids(np.ascontiguousarray(first), np.ascontiguousarray(second), threads=threads)


def identities(names: NDArray[Any]) -> NDArray[np.int32] | None:
    """Return a number for each name, the seed of a node's random row; None for names that are row numbers."""
    # A name from 0 to 2^31 - 1 is its own number, any other has a hash of 31 bits. That two nodes share a hash, as some
    # do among a hundred thousand, does no harm: they are drawn the same random row, and no more.
    if names.dtype == object:
        # Python's own hash of a string differs in every process, and the set's order of a frozenset with it; the key by
        # which names are sorted does not.
        texts = (name if isinstance(name, str) else repr(order_key(name)) for name in names.tolist())
        hashes = (crc32(text.encode("utf-8", "surrogateescape")) & MAX_NODES for text in texts)
        return np.fromiter(hashes, np.int32, len(names))
    if np.array_equal(names, np.arange(len(names))):
        return None
    large = (names.astype(np.uint64) * GOLDEN >> np.uint64(33)).astype(np.int32)
    return np.where((names >= 0) & (names <= MAX_NODES), names, large).astype(np.int32)


def is_text(names: NDArray[Any]) -> bool:
    """Return whether all names are strings."""
    return names.dtype == object and set(map(type, names)) <= {str}


def sort_rows(names: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows in the order of their names."""
    plain = names.dtype != object or is_text(names)
    keys = names if plain else object_array([order_key(name) for name in names.tolist()])
    return np.argsort(keys, kind="stable")


def text_names(names: Names, *, sources: int | None = None) -> Names:
    """Return names as files and pages have them: integers, or strings; InputError where two have one text."""
    if names.dtype != object or is_text(names):
        return names
    texts = [str(name) for name in names.tolist()]
    for side in (slice(0, sources), slice(len(texts) if sources is None else sources, None)):
        by_text: dict[str, Any] = {}
        for name, text in zip(names[side].tolist(), texts[side], strict=True):
            if text in by_text:
                raise InputError(
                    f"the names {by_text[text]!r} and {name!r} are both written {text!r} in a file; rename one"
                )
            by_text[text] = name
    return object_array(texts)


def as_ids(values: NDArray[Any]) -> NDArray[Any]:
    """Return ids as int32, int64 (masked where missing) or as objects, strings or others, with None where missing."""
    kind = values.dtype.kind
    if kind in "iu":
        if kind == "u" and values.size and values.max() > np.iinfo(np.int64).max:
            raise InputError(f"the id {values.max()} does not fit 64-bit integers; give such ids as strings")
        return values if values.dtype in (np.int32, np.int64) else values.astype(np.int64)
    if kind == "f":
        return _from_floats(values)
    if kind in "US":
        return np.char.decode(values, "utf-8").astype(object) if kind == "S" else values.astype(object)
    if kind in "OT":
        return _from_objects(values.tolist())
    raise InputError(f"ids must be integers or strings, not {values.dtype}")


def id_array(ids: Any) -> NDArray[Any]:
    """Return a list of ids as an array of one dimension, in which 1 next to "a" stays a number."""
    return as_ids(object_array(list(ids)))


def name_array(names: Iterable[Any]) -> NDArray[Any]:
    """Return names as `Graph` holds them: int64 if all are integers, else an object array."""
    ids = id_array(names)
    if isinstance(ids, np.ma.MaskedArray) or (ids.dtype == object and None in ids.tolist()):
        raise InputError("a node's name is missing (None or NaN); every node needs a name")
    return ids


def add_nodes(numbered: Numbered, extra: NDArray[Any], *, text: bool = False) -> Numbered:
    """Add nodes that no edge mentions; ``text``: names of a file, which are all integers or all strings."""
    source, target, names = numbered
    if names.dtype != object and extra.dtype != object:
        united: NDArray[Any] = np.union1d(names, extra)
        rank = np.searchsorted(united, names)
    else:
        own, others = names.tolist(), extra.tolist()
        if text or (is_text(names) and is_text(extra)):
            own, others = [str(name) for name in own], [str(name) for name in others]
            united = object_array(sorted({*own, *others}))
        else:
            alike = names.dtype != object or is_text(names)
            united = object_array(distinct_objects([*own, *others], texts_differ=alike))
        rows = {table_key(name): row for row, name in enumerate(united.tolist())}
        rank = np.array([rows[table_key(name)] for name in own], dtype=np.int64)
    table = np.append(rank, -1).astype(np.int32)  # the last entry is that of -1: no node
    return table[source], table[target], united


def split_sides(numbered: Numbered, *, all_rows: bool = False) -> tuple[Numbered, int]:
    """Assign numbers to sources and targets as two sets of nodes; return also the number of sources.

    Sources come first. On each side are the names that an edge has there; with ``all_rows`` the ids are row numbers,
    and each side has all from 0 to its largest.
    """
    *ends, names = numbered
    ranks, names_by_side = [], []
    for side in ends:
        there = np.zeros(len(names) + 1, np.bool_)  # the last entry is that of -1: no node
        there[side] = True
        there[-1] = False
        if all_rows:
            there[: int(side.max(initial=-1)) + 1] = True
        ranks.append(np.where(there, np.cumsum(there) - 1, -1))
        names_by_side.append(names[there[:-1]])
    sources = len(names_by_side[0])
    targets = np.where(ranks[1] >= 0, ranks[1] + sources, -1)
    first, second = (rank[side].astype(np.int32) for rank, side in zip((ranks[0], targets), ends, strict=True))
    return (first, second, np.concatenate(names_by_side)), sources


def _from_floats(values: NDArray[Any]) -> NDArray[Any]:
    """Return whole floats as integers, masked where one is NaN; InputError for any other."""
    # Tables turn integers into floats where one is missing. Beyond 2^53 a float no longer tells neighboring integers
    # apart: two ids may have become one node.
    missing = np.isnan(values)
    present = values[~missing]
    odd = present[(present != np.floor(present)) | (np.abs(present) > 2**53)]
    if odd.size:
        raise InputError(f"the id {odd[0]} is not a whole number; give ids as integers or strings")
    ids = np.where(missing, 0, values).astype(np.int64)
    return np.ma.masked_array(ids, mask=missing) if missing.any() else ids


def _from_objects(values: list[Any]) -> NDArray[Any]:
    kinds = set(map(type, values))
    plain = values
    if not kinds <= {int} and kinds != {str}:
        plain = [None if is_missing_id(value) else plain_object(value) for value in values]
        kinds = set(map(type, plain)) - {type(None)}
    if all(issubclass(kind, int) and kind is not bool for kind in kinds):
        numbers = [0 if value is None else int(value) for value in plain]
        if all(-(2**63) <= value < 2**63 for value in numbers):
            mask = [value is None for value in plain]
            ids = np.array(numbers, dtype=np.int64)
            return np.ma.masked_array(ids, mask=mask) if any(mask) else ids
    check_line_ends(plain)
    return object_array(plain)


def check_line_ends(ids: Iterable[Any]) -> None:
    """Refuse strings that would not fit on a line of a file."""
    odd = next((value for value in ids if isinstance(value, str) and "\n" in value), None)
    if odd is not None:
        raise InputError(f"the id {odd!r} holds a line end; names must fit on one line")


def is_missing_id(value: Any) -> bool:
    """Return whether a value is no id: None, NaN, or pandas's NA and NaT, by their names, as pandas is not imported."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def _number_objects(source: list[Any], target: list[Any], *, apart: bool) -> Numbered:
    sides: list[list[Any]] = [source, target]
    if {*map(type, source), *map(type, target)} <= {str, type(None)}:
        names = sorted({*source, *target} - {None})
        rows: dict[Any, int] = {name: row for row, name in enumerate(names)}
    else:
        present = (value for value in chain(source, target) if value is not None)
        names = distinct_objects(present, texts_differ=not apart)
        sides = [list(map(table_key, side)) for side in sides]
        rows = {table_key(name): row for row, name in enumerate(names)}
    rows[None] = -1
    first, second = (np.array([rows[value] for value in side], dtype=np.int32) for side in sides)
    return first, second, name_array(names)


def _number_masked(source: NDArray[np.int64], target: NDArray[np.int64]) -> Numbered:
    hidden = [np.ma.getmaskarray(side) for side in (source, target)]
    values = [np.asarray(side) for side in (source, target)]
    names = np.unique(np.concatenate([v[~m] for v, m in zip(values, hidden, strict=True)]))
    first, second = (
        np.where(m, -1, np.searchsorted(names, v)).astype(np.int32) for v, m in zip(values, hidden, strict=True)
    )
    return first, second, names


def as_names(names: Any, count: int) -> Names:
    """Return ``count`` names in their one form, checked; None means 0 to count - 1."""
    if names is None:
        return np.arange(count, dtype=np.int64)
    # np.array would turn a mix of 7 and "ada" into strings.
    array = np.asanyarray(names) if hasattr(names, "__array__") else object_array(list(names))
    if array.shape != (count,):
        raise InputError(f"names has the shape {array.shape}, but there must be one for each of {count} vectors")
    if count == 0:
        return np.arange(0, dtype=np.int64)
    if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"the name {array.max()} does not fit 64 signed bits; give the names as strings")
    if array.dtype.kind in "iu":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind not in "OUT":
        raise InputError(f"names has the type {array.dtype}; names are integers or strings")
    kinds = set(map(type, array)) if array.dtype == object else {np.str_}
    if kinds <= {str}:
        return array
    if all(issubclass(kind, str) for kind in kinds):
        return object_array([str(name) for name in array])
    if all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        try:
            return array.astype(np.int64)
        except OverflowError as error:
            raise InputError("a name does not fit 64 signed bits; give the names as strings") from error
    return name_array(array)


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """Return a one-dimensional object array; np.array would make two dimensions of tuples of one length."""
    return np.fromiter(values, object, len(values))


def is_range(names: Names) -> bool:
    """Return whether the names are 0, 1, ..., n - 1, which need not be stored."""
    if names.dtype == object or len(names) == 0:
        return len(names) == 0
    return bool(names[0] == 0 and names[-1] == len(names) - 1 and np.all(np.diff(names) == 1))


def from_text(texts: Iterable[bytes]) -> Names:
    """Return the names of a text file, as `from_strings` does."""
    return from_strings([text.decode("utf-8", "surrogateescape") for text in texts])


def from_strings(strings: Sequence[str]) -> Names:
    """Return names as integers if every one is written as an integer is and fits 64 bits, else as strings.

    Examples
    --------
    >>> from_strings(["7", "-1"]), from_strings(["7", "007"])
    (array([ 7, -1]), array(['7', '007'], dtype=object))
    """
    # "007", "+7" and "1_000" are integers for Python too; only what comes back as the same text is one here.
    try:
        integers = list(map(int, strings))
        if list(map(str, integers)) == list(strings):
            return np.array(integers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    return object_array(strings)


def encode_all(names: Names) -> list[bytes]:
    """Return the bytes of every name, integers in decimal; InputError if no bytes decode to one."""
    if names.dtype != object:
        return [b"%d" % name for name in names.tolist()]
    try:
        return [name.encode() for name in names]
    except UnicodeEncodeError:
        return [_encode(name) for name in names]


def _encode(name: str) -> bytes:
    try:
        text = name.encode("utf-8", "surrogateescape")
        if text.decode("utf-8", "surrogateescape") == name:
            return text
    except UnicodeEncodeError:
        pass
    raise InputError(f"the name {name!r} is not valid Unicode and cannot be stored; rename the node")


def pack(names: Names) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pack strings as one run of UTF-8 bytes, with the offset of each and of the end."""
    joined = "".join(names)
    ascii_only = joined.isascii()  # then a character is a byte, and the lengths are those of the strings
    encoded = None if ascii_only else encode_all(names)
    offsets = np.zeros(len(names) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded or names), dtype=np.int64, count=len(names)), out=offsets[1:])
    text = joined.encode() if encoded is None else b"".join(encoded)
    return np.frombuffer(text, dtype=np.uint8), offsets


def unpack(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Names:
    """Undo ``pack``; ValueError if the offsets do not fit the text."""
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(text) or np.any(np.diff(offsets) < 0):
        raise ValueError("the offsets of the names do not fit their text")
    whole, ends = text.tobytes(), offsets.tolist()
    if whole.isascii():  # a character is a byte: slices of one string, four times as fast
        string = whole.decode("ascii")
        return object_array([string[start:end] for start, end in pairwise(ends)])
    return object_array([whole[start:end].decode("utf-8", "surrogateescape") for start, end in pairwise(ends)])


# Ids that are neither all integers nor all strings


def order_key(value: Any) -> tuple[Any, ...]:
    """Return the key by which ids are sorted: type, then value, or `repr` for types without an order.

    Examples
    --------
    >>> sorted([("b", 1), 2, (0, "a"), 1.5, "x", frozenset({3, 1})], key=order_key)
    [1.5, frozenset({1, 3}), 2, 'x', (0, 'a'), ('b', 1)]
    """
    kind = type(value).__name__
    if isinstance(value, tuple):
        return kind, tuple(order_key(each) for each in value)
    if isinstance(value, frozenset):
        return kind, tuple(sorted(order_key(each) for each in value))
    if isinstance(value, datetime):
        return kind, value.utcoffset() is not None, value
    return kind, value if isinstance(value, _ORDERED) else repr(value)


def table_key(value: Any) -> Any:
    """Return a key for an id in a dictionary or set, equal where ids are: hashes of whole numbers can be foreseen.

    A file could hold thousands of integers with one hash, which is the remainder of 2^61 - 1; texts have a salt.
    """
    if isinstance(value, str):
        return value if value[:1] != "\0" else "\0" + value
    if isinstance(value, tuple):
        return tuple(map(table_key, value))
    try:
        return f"\0{int(value):x}" if isinstance(value, Number) and value == int(value) else value  # type: ignore
    except (ValueError, OverflowError, TypeError):  # NaN, infinity, complex numbers
        return value


def plain_object(value: Any) -> Any:
    """Return an id as Python has it, rather than NumPy; InputError if it cannot be one."""
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if isinstance(value, str):
        return str.__str__(value)
    try:
        hash(value)
    except TypeError:
        raise InputError(
            f"the id {value!r} is a {type(value).__name__}, which can change; give ids that cannot (a tuple, a string)"
        ) from None
    _check_repr(value)
    return value


def _check_repr(value: Any) -> None:
    """Refuse an object whose only text is its address in memory: no two runs would sort it alike."""
    if isinstance(value, tuple | frozenset):
        for each in value:
            _check_repr(each)
    elif getattr(type(value), "__repr__", None) is object.__repr__:
        raise InputError(
            f"the id {value!r} has no text but its address in memory, so that nodes would have another order in every "
            "run; give its class a __repr__, or ids that are integers, strings or tuples"
        )


def distinct_objects(values: Iterable[Any], *, texts_differ: bool) -> list[Any]:
    """Return the distinct ids in order; InputError for two that Python or people may take for one.

    ``texts_differ``: refuse 1 and "1", as in a table that has one of its columns as numbers and the other as text.
    """
    distinct: dict[Hashable, Any] = {}
    for value in values:
        first = distinct.setdefault(key := table_key(value), value)
        if first is not value and not _same_kinds(first, value):
            if isinstance(first, bool) or isinstance(value, bool):
                raise InputError(f"the ids {first!r} and {value!r} are equal in Python; give one of them another name")
            distinct[key] = min(first, value, key=lambda each: (not isinstance(each, int), order_key(each)))
    if texts_differ:
        _check_texts(distinct.values())
    return sorted(_as_integers(list(distinct.values())), key=order_key)


def _as_integers(values: list[Any]) -> list[Any]:
    """Return whole floats as integers where all ids are numbers."""
    # A table makes floats of a column of integers where one is missing, and leaves the other column as it is: 1.0 and 2
    # come from the same ids.
    kinds = set(map(type, values))
    if kinds == {int, float} and all(float(value).is_integer() for value in values if isinstance(value, float)):
        return [int(value) for value in values]
    return values


def _same_kinds(first: Any, second: Any) -> bool:
    """Return whether two equal ids are of the same types, also within: (0, 1) and (0.0, 1) are not."""
    # Of equal ids that differ in type, one has to be chosen by a rule; the first one would depend on the edges' order.
    if type(first) is not type(second) or not isinstance(first, tuple | frozenset):
        return type(first) is type(second)
    kinds = [*map(type, first)]
    if isinstance(first, tuple) and not {tuple, frozenset}.intersection(kinds):
        return kinds == [*map(type, second)]
    return order_key(first) == order_key(second)


def _check_texts(values: Iterable[Any]) -> None:
    """Refuse a string that another id, which is none, is written as."""
    listed = list(values)
    strings = {value for value in listed if isinstance(value, str)}
    for value in listed:
        if strings and not isinstance(value, str) and str(value) in strings:
            raise InputError(
                f"the ids {value!r} and {str(value)!r} are both written {str(value)!r}: they may be one node or two; "
                "give all ids as strings if it is one, another name to one of them if they are two"
            )
