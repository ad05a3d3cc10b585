"""Node ids that are neither all integers nor all strings: tuples, dates, floats, a mix; they come back as they are.

Two ids are one node where Python holds them to be equal, as 1 and 1.0. Their order is that of the names of their types,
then of their values, and does not depend on the order of the edges; nor does `hash_objects` on the process, as Python's
own hash would.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import date, datetime
from numbers import Number
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError

_ORDERED = (bool, int, float, str, bytes, date)  # types whose values have one order


def order_key(value: Any) -> tuple[Any, ...]:
    """Return the key by which ids are sorted: type, then value; what has no order of its own has that of its `repr`.

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
    r"""Return a key for an id in a dictionary or set, equal where ids are: hashes of whole numbers can be foreseen.

    A file could hold thousands of integers with one hash, which is the remainder of 2^61 - 1; texts have a salt.

    Examples
    --------
    >>> table_key("ann"), table_key(31), table_key((31.0, "ann"))
    ('ann', '\x001f', ('\x001f', 'ann'))
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
    """Refuse an object whose only text is its place in memory: no two runs would sort it alike."""
    if isinstance(value, tuple | frozenset):
        for each in value:
            _check_repr(each)
    elif getattr(type(value), "__repr__", None) is object.__repr__:
        raise InputError(
            f"the id {value!r} has no text of its own, by which nodes would have the same order in every run; give its "
            "class a __repr__, or ids that are integers, strings or tuples"
        )


def distinct_objects(values: Iterable[Any], *, texts_differ: bool) -> list[Any]:
    """Return the distinct ids in order; InputError for two that Python or people may take for one.

    ``texts_differ``: refuse 1 beside "1", as in a table that has one of its columns as numbers and the other as text.

    Examples
    --------
    >>> distinct_objects([(1, 0), "a", 2, 2.0, (0, 1), "a"], texts_differ=True)
    [2, 'a', (0, 1), (1, 0)]
    >>> distinct_objects([2, 3.0, 1], texts_differ=True)
    [1, 2, 3]
    """
    distinct: dict[Hashable, Any] = {}
    for value in values:
        first = distinct.setdefault(key := table_key(value), value)
        if first is not value and not _same_kinds(first, value):
            if isinstance(first, bool) or isinstance(value, bool):
                raise InputError(f"the ids {first!r} and {value!r} are equal in Python; give one of them another name")
            distinct[key] = min(first, value, key=_by_kind)
    if texts_differ:
        _check_texts(distinct.values())
    return sorted(_as_integers(list(distinct.values())), key=order_key)


def _as_integers(values: list[Any]) -> list[Any]:
    """Whole floats beside integers as integers, if there is nothing else: tables make them of integers."""
    kinds = set(map(type, values))
    if kinds == {int, float} and all(float(value).is_integer() for value in values if isinstance(value, float)):
        return [int(value) for value in values]
    return values


def _same_kinds(first: Any, second: Any) -> bool:
    """Whether two equal ids are of the same types, also within: (0, 1) and (0.0, 1) are not."""
    if type(first) is not type(second) or not isinstance(first, tuple | frozenset):
        return type(first) is type(second)
    kinds = [*map(type, first)]
    if isinstance(first, tuple) and not {tuple, frozenset}.intersection(kinds):
        return kinds == [*map(type, second)]
    return order_key(first) == order_key(second)


def _by_kind(value: Any) -> tuple[Any, ...]:
    return not isinstance(value, int), order_key(value)


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


def hash_objects(names: NDArray[Any]) -> NDArray[np.int32]:
    """Return a number of 31 bits for each name, the same in every process."""
    texts = (name if isinstance(name, str) else repr(order_key(name)) for name in names.tolist())
    hashes = (crc32(text.encode("utf-8", "surrogateescape")) & 0x7FFFFFFF for text in texts)
    return np.fromiter(hashes, np.int32, len(names))


def as_texts(names: NDArray[Any], *, sources: int | None = None) -> NDArray[Any]:
    """Names as files and pages have them, strings; InputError where two of one side have one text.

    Examples
    --------
    >>> names = np.empty(2, object)
    >>> names[:] = [(0, 1), 7]
    >>> as_texts(names).tolist()
    ['(0, 1)', '7']
    """
    texts = [str(name) for name in names.tolist()]
    for side in (slice(0, sources), slice(len(texts) if sources is None else sources, None)):
        by_text: dict[str, Any] = {}
        for name, text in zip(names[side].tolist(), texts[side], strict=True):
            if text in by_text:
                raise InputError(
                    f"the names {by_text[text]!r} and {name!r} are both written {text!r} in a file; rename one"
                )
            by_text[text] = name
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array
