"""Node ids: ids of edges to node numbers; names of nodes, and the ways to store them.

Names are sorted, integers by value and strings by their UTF-8 bytes, so that the number of a node, which is its row,
never depends on the order of the edges. Typed ids keep their type: only text is searched for integers
(`graphrefine.readers.text`).

Names are one array: int64, or objects that are all ``str``, or any others (`graphrefine.graph.object_ids`), which files
hold as their text. Text is stored as UTF-8. Bytes of a name that were not UTF-8 when the graph was read stand in the
string as Python's surrogate escapes and are written back as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, cast
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.kernels import edge_lists

MAX_NODES = 2**31 - 1
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: multiples of it are spread evenly

Names = NDArray[Any]  # int64, or object holding str, or object holding any ids
Numbered = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any]]
"""Source and target as node numbers (-1: no node), and the names in order."""


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
    """Return a number for each name that depends on it alone, as the seed of a node's random row; None for row numbers.

    A name from 0 to 2^31 - 1 stands for itself, any other for a hash of 31 bits. That two nodes share a hash, as some
    do among a hundred thousand, does no harm: they are drawn the same random row, and no more.

    Examples
    --------
    >>> identities(np.array([2, 5])).tolist(), identities(np.array([0, 1, 2]))
    ([2, 5], None)
    """
    if names.dtype == object:
        if not is_text(names):
            return cast(NDArray[np.int32], _object_ids().hash_objects(names))
        hashes = (crc32(name.encode("utf-8", "surrogateescape")) & MAX_NODES for name in names)
        return np.fromiter(hashes, np.int32, len(names))
    if np.array_equal(names, np.arange(len(names))):
        return None
    large = (names.astype(np.uint64) * GOLDEN >> np.uint64(33)).astype(np.int32)
    return np.where((names >= 0) & (names <= MAX_NODES), names, large).astype(np.int32)


def is_text(names: NDArray[Any]) -> bool:
    """Whether all names are strings."""
    return names.dtype == object and set(map(type, names)) <= {str}


def sort_rows(names: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rows in the order of their names."""
    plain = names.dtype != object or is_text(names)
    keys = names if plain else object_array([_object_ids().order_key(name) for name in names.tolist()])
    return np.argsort(keys, kind="stable")


def text_names(names: Names, *, sources: int | None = None) -> Names:
    """Names as files and pages have them: integers, or strings; InputError where two have one text."""
    if names.dtype != object or is_text(names):
        return names
    return cast(Names, _object_ids().as_texts(names, sources=sources))


def _object_ids() -> Any:
    """Return the module for ids of other types, which most graphs do without."""
    from graphrefine.graph import object_ids

    return object_ids


def as_ids(values: NDArray[Any]) -> NDArray[Any]:
    """Ids as int32, int64 (masked where missing) or as objects, strings or others, with None where missing."""
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
    """Return a list of ids as an array of one dimension, in which 1 beside "a" stays a number."""
    return as_ids(object_array(list(ids)))


def name_array(names: Iterable[Any]) -> NDArray[Any]:
    """Names as `Graph` holds them: int64 if all are integers, else an object array."""
    ids = id_array(names)
    if isinstance(ids, np.ma.MaskedArray) or (ids.dtype == object and None in ids.tolist()):
        raise InputError("a node's name is missing (None or NaN); every node needs a name")
    return ids


def add_nodes(numbered: Numbered, extra: NDArray[Any], *, text: bool = False) -> Numbered:
    """Add nodes that no edge mentions; ``text``: names of a file, which are all integers or all strings.

    Examples
    --------
    >>> source, target, names = add_nodes(number(np.array([5]), np.array([7])), np.array([6, 7]))
    >>> source.tolist(), target.tolist(), names.tolist()
    ([0], [2], [5, 6, 7])
    """
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
            united = object_array(_object_ids().distinct_objects([*own, *others], texts_differ=alike))
        key = _object_ids().table_key
        place = {key(name): at for at, name in enumerate(united.tolist())}
        rank = np.array([place[key(name)] for name in own], dtype=np.int64)
    table = np.append(rank, -1).astype(np.int32)  # the last one stands for -1: no node
    return table[source], table[target], united


def split_sides(numbered: Numbered, *, all_rows: bool = False) -> tuple[Numbered, int]:
    """Assign numbers to sources and targets as two sets of nodes, whatever their names; and the number of sources.

    Sources come first. On each side are the names that stand there in an edge; with ``all_rows`` the ids are row
    numbers, and each side has all from 0 to its largest.

    Examples
    --------
    >>> both = number(np.array([1, 2, 2]), np.array([1, 1, 3]))
    >>> (source, target, names), sources = split_sides(both)
    >>> source.tolist(), target.tolist(), names.tolist(), sources
    ([0, 1, 1], [2, 2, 3], [1, 2, 1, 3], 2)
    """
    *ends, names = numbered
    ranks, names_by_side = [], []
    for side in ends:
        there = np.zeros(len(names) + 1, np.bool_)  # the last one stands for -1: no node
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
    """Floats are ids if they are whole; tables turn integers into floats where one is missing."""
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
        plain_object = _object_ids().plain_object
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
    """Whether a value stands for no id: None, NaN, or pandas's NA and NaT, by their names: it is not imported."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(value != value)


def _number_objects(source: list[Any], target: list[Any], *, apart: bool) -> Numbered:
    if {*map(type, source), *map(type, target)} <= {str, type(None)}:
        sides, names = [source, target], sorted({*source, *target} - {None})
        place: dict[Any, int] = {name: at for at, name in enumerate(names)}
    else:
        key, present = _object_ids().table_key, (value for value in chain(source, target) if value is not None)
        names = _object_ids().distinct_objects(present, texts_differ=not apart)
        sides, place = [list(map(key, side)) for side in (source, target)], {key(at): n for n, at in enumerate(names)}
    place[None] = -1
    first, second = (np.array([place[value] for value in side], dtype=np.int32) for side in sides)
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
    """Names in their one form, checked: ``count`` of them; None means 0 to count - 1.

    Examples
    --------
    >>> as_names(None, 3)
    array([0, 1, 2])
    >>> as_names(["ada", "bob"], 2)
    array(['ada', 'bob'], dtype=object)
    >>> as_names(["ada", (0, 1)], 2)
    array(['ada', (0, 1)], dtype=object)
    """
    if names is None:
        return np.arange(count, dtype=np.int64)
    # np.array would turn a mix of 7 and "ada" into strings.
    array = np.asanyarray(names) if hasattr(names, "__array__") else object_array(list(names))
    if array.shape != (count,):
        raise InputError(f"names has the shape {array.shape}, but there must be one for each of {count} vectors")
    if count == 0:
        return np.arange(0, dtype=np.int64)
    if array.dtype.kind in "iu":
        return _to_int64(array)
    if array.dtype.kind in "OUT":
        return _from_object_array(array)
    raise InputError(f"names has the type {array.dtype}; names are integers or strings")


def _to_int64(array: NDArray[Any]) -> Names:
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"the name {array.max()} does not fit 64 signed bits; give the names as strings")
    return array.astype(np.int64, copy=False)


def _from_object_array(array: NDArray[Any]) -> Names:
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
    """Return a one-dimensional object array, whatever the values are."""
    return np.fromiter(values, object, len(values))


def is_range(names: Names) -> bool:
    """Whether the names are 0, 1, ..., n - 1, which need not be stored."""
    if names.dtype == object or len(names) == 0:
        return len(names) == 0
    return bool(names[0] == 0 and names[-1] == len(names) - 1 and np.all(np.diff(names) == 1))


def from_text(texts: Iterable[bytes]) -> Names:
    """Names out of a text file: integers if every one is written as an integer is, else strings.

    Examples
    --------
    >>> from_text([b"7", b"-1"])
    array([ 7, -1])
    >>> from_text([b"7", b"007"])
    array(['7', '007'], dtype=object)
    """
    return from_strings([text.decode("utf-8", "surrogateescape") for text in texts])


def from_strings(strings: Sequence[str]) -> Names:
    """Names as integers if every one is written as an integer is and fits 64 bits, else as strings.

    Examples
    --------
    >>> from_strings(["7", "-1"]), from_strings(["7", "007"])
    (array([ 7, -1]), array(['7', '007'], dtype=object))
    """
    try:
        integers = list(map(int, strings))
        if list(map(str, integers)) == list(strings):
            return np.array(integers, dtype=np.int64)
    except (ValueError, OverflowError):
        pass
    return object_array(strings)


def encode_all(names: Names) -> list[bytes]:
    r"""Give the bytes of every name, integers in decimal; InputError if no bytes decode to one.

    Examples
    --------
    >>> encode_all(np.array([1, 20])), encode_all(np.array(["caf\udce9"], object))
    ([b'1', b'20'], [b'caf\xe9'])
    """
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
    """Pack strings as one run of UTF-8 bytes, with the offset of each and of the end.

    Examples
    --------
    >>> text, offsets = pack(np.array(["ada", "bob"], dtype=object))
    >>> bytes(text), offsets
    (b'adabob', array([0, 3, 6]))
    """
    joined = "".join(names)
    ascii_only = joined.isascii()  # then a character is a byte, and the lengths are those of the strings
    encoded = None if ascii_only else encode_all(names)
    offsets = np.zeros(len(names) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded or names), dtype=np.int64, count=len(names)), out=offsets[1:])
    text = joined.encode() if encoded is None else b"".join(encoded)
    return np.frombuffer(text, dtype=np.uint8), offsets


def unpack(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Names:
    """Undo ``pack``; ValueError if the offsets do not fit the text.

    Examples
    --------
    >>> unpack(np.frombuffer(b"adabob", np.uint8), np.array([0, 3, 6]))
    array(['ada', 'bob'], dtype=object)
    """
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(text) or np.any(np.diff(offsets) < 0):
        raise ValueError("the offsets of the names do not fit their text")
    whole, ends = text.tobytes(), offsets.tolist()
    if whole.isascii():  # one character a byte: slices of one string, four times as fast
        string = whole.decode("ascii")
        return object_array([string[start:end] for start, end in pairwise(ends)])
    return object_array([whole[start:end].decode("utf-8", "surrogateescape") for start, end in pairwise(ends)])
