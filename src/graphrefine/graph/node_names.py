"""Node names: one array, either int64 or objects that are all ``str``, and the ways to store it.

Text is stored as UTF-8. Bytes of a name that were not UTF-8 when the graph was read stand in the string as
Python's surrogate escapes and are written back as the bytes they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError

Names = NDArray[Any]  # int64, or object holding str


def as_names(names: Any, count: int) -> Names:
    """Check names and bring them to their one form.

    Parameters
    ----------
    names : sequence, array or None
        All integers or all strings; None means 0, 1, ..., count - 1.
    count : int
        The number of vectors, and so of names.

    Returns
    -------
    ndarray
        int64, or object holding str.

    Examples
    --------
    >>> as_names(None, 3)
    array([0, 1, 2])
    >>> as_names(["ada", "bob"], 2)
    array(['ada', 'bob'], dtype=object)
    >>> as_names(["ada", 7], 2)
    Traceback (most recent call last):
    graphrefine.errors.InputError: names must be all integers or all strings, not a mix of int, str
    """
    if names is None:
        return np.arange(count, dtype=np.int64)
    array = names if isinstance(names, np.ndarray) else _to_array(names)
    if array.shape != (count,):
        raise InputError(f"names has the shape {array.shape}, but there must be one for each of {count} vectors")
    if count == 0:
        return np.arange(0, dtype=np.int64)
    if array.dtype.kind in "iu":
        return _to_int64(array)
    if array.dtype.kind in "OUT":
        return _fromobject_array(array)
    raise InputError(f"names has the type {array.dtype}; names are integers or strings")


def _to_array(names: Any) -> NDArray[Any]:
    if hasattr(names, "__array__"):
        return np.asarray(names)
    return object_array(list(names))  # np.array would turn a mix of 7 and "ada" into strings


def _to_int64(array: NDArray[Any]) -> Names:
    if array.dtype.kind == "u" and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"the name {array.max()} does not fit 64 signed bits; give the names as strings")
    return array.astype(np.int64, copy=False)


def _fromobject_array(array: NDArray[Any]) -> Names:
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
    mix = ", ".join(sorted(kind.__name__ for kind in kinds))
    raise InputError(f"names must be all integers or all strings, not a mix of {mix}")


def object_array(values: Sequence[Any]) -> NDArray[Any]:
    """A one-dimensional object array, whatever the values are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_range(names: Names) -> bool:
    """Whether the names are 0, 1, ..., n - 1, which need not be stored.

    Examples
    --------
    >>> is_range(np.arange(5)), is_range(np.array([1, 2]))
    (True, False)
    """
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


def encode(name: str) -> bytes:
    r"""Give the bytes of a name; InputError if no bytes decode to it.

    Examples
    --------
    >>> encode("caf\udce9")
    b'caf\xe9'
    """
    try:
        text = name.encode("utf-8", "surrogateescape")
        if text.decode("utf-8", "surrogateescape") == name:
            return text
    except UnicodeEncodeError:
        pass
    raise InputError(f"the name {name!r} is not valid Unicode and cannot be stored; rename the node")


def encode_all(names: Names) -> list[bytes]:
    """Give the bytes of every name, integers in decimal.

    Examples
    --------
    >>> encode_all(np.array([1, 20]))
    [b'1', b'20']
    """
    if names.dtype != object:
        return [b"%d" % name for name in names.tolist()]
    try:
        return [name.encode() for name in names]
    except UnicodeEncodeError:
        return [encode(name) for name in names]


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
