"""Values of labels and nodes: their text, and the marks of a missing one; the same for every form of labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError
from graphrefine.graph.node_ids import from_strings

LABEL_WORDS = frozenset({"label", "labels", "class", "classes", "group", "groups", "category", "target"})
"""Usual names, in lower case, of the column of the labels."""

PLAIN = frozenset({str, int, float, bool})
"""Types of which equal values have one text."""

_MISSING_TEXTS = frozenset({"", "nan", "NaN", "<NA>"})
_MISSING_TYPES = frozenset({"NAType", "NaTType", "MaskedConstant"})  # by name: pandas is not imported
_WHOLE = re.compile(r"(-?[0-9]+)\.0")

Blame = Callable[[InputError, int | None], InputError]


@dataclass(frozen=True)
class LabelOptions:
    """How to read labels; see `graphrefine.readers.labels.read_labels`."""

    header: bool | None = None
    node_column: str | int | None = None
    label_column: str | int | None = None


@dataclass(frozen=True)
class Entries:
    """A label, several or none for each entry, with its node; without nodes, the entries are in the order of rows."""

    labels: Sequence[Any]
    nodes: Sequence[Any] | None = None
    manner: str = ""  # how they were read, in words
    blame: Blame = lambda error, _: error  # an error with the file and the line of an entry

    def refuse(self, problem: str, entry: int | None = None) -> InputError:
        """An error about an entry."""
        return self.blame(InputError(problem, argument="labels"), entry)

    def with_blame(self, blame: Blame) -> Entries:
        """The same, with errors that name another place."""
        return replace(self, blame=blame)

    def with_manner(self, *parts: str) -> Entries:
        """The same, with words about the way they were read before those that are there."""
        return replace(self, manner=", ".join(part for part in (*parts, self.manner) if part))


@dataclass(frozen=True)
class Membership:
    """A matrix with a row for each node and a column for each class: True, or 1, where a node has a label."""

    matrix: Any
    classes: Sequence[Any] | None = None  # by default numbers from 0
    nodes: Sequence[Any] | None = None
    manner: str = ""
    blame: Blame = lambda error, _: blame_memory(error, None)

    def refuse(self, problem: str, entry: int | None = None) -> InputError:
        """An error about a row."""
        return self.blame(InputError(problem, argument="labels"), entry)

    def with_blame(self, blame: Blame) -> Membership:
        """The same, with errors that name another place."""
        return replace(self, blame=blame)

    def members(self) -> tuple[NDArray[Any], NDArray[Any], tuple[str, ...]]:
        """Rows and columns of the entries, and the classes, integers by value."""
        problem = _matrix_problem(self.matrix)
        if problem:
            raise self.refuse(problem)
        row, column = (np.asarray(part) for part in self.matrix.nonzero())
        texts = [str(number) for number in self.classes or range(self.matrix.shape[1])]
        order = np.argsort(from_strings(texts), kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return row, rank[column], tuple(texts[place] for place in order.tolist())


def _matrix_problem(matrix: Any) -> str:
    """The reason why a matrix cannot be labels; empty if it can."""
    if matrix.ndim != 2:
        return f"one or two dimensions are expected, not {matrix.ndim}"
    if 0 in matrix.shape:
        return f"a row for each node is expected, and the shape is {matrix.shape}"
    if matrix.dtype.kind not in "biuf":
        return f"0 (does not have the label) and 1 (has it) are expected, not values of type {matrix.dtype}"
    values = matrix if isinstance(matrix, np.ndarray) else matrix.data
    odd = values[~np.isin(values, (0, 1))]
    if odd.size:
        return f"0 (does not have the label) and 1 (has it) are expected, not values such as {odd.flat[0].item()!r}"
    return ""


def blame_memory(error: InputError, _: int | None) -> InputError:
    """An error about labels in memory."""
    return InputError(f"labels: {error}", argument=error.argument or "labels")


def blame_file(path: str, lines: Sequence[int | None] = ()) -> Blame:
    """Errors that name a file, and the line of an entry where it has lines."""
    return partial(_blame_line, path, lines)


def _blame_line(path: str, lines: Sequence[int | None], error: InputError, entry: int | None) -> InputError:
    line = lines[entry] if entry is not None and entry < len(lines) else None
    return FormatError(path, str(error), line=line, argument=error.argument)


def is_missing(value: Any) -> bool:
    """Whether a value stands for no value: None, NaN, an empty text.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), " ", "nan", 0, "None", False)]
    [True, True, True, True, False, False, False]
    """
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    if isinstance(value, str):
        return value.strip() in _MISSING_TEXTS
    return isinstance(value, float | np.floating) and bool(value != value)


def is_collection(value: Any) -> bool:
    """Whether a value is several labels."""
    return isinstance(value, list | tuple | set | frozenset) or (isinstance(value, np.ndarray) and value.ndim > 0)


def text_of(value: Any) -> str:
    """A value in words: a whole number without a point, as tables turn integers into floats where one is missing.

    Examples
    --------
    >>> text_of(7.0), text_of(np.int64(7)), text_of("007"), text_of(True), text_of(0.5)
    ('7', '7', '007', 'True', '0.5')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else str(value)


def texts_of_classes(labels: Iterable[str]) -> list[str]:
    """Texts of labels; where all are whole numbers, without ".0" at the end.

    Examples
    --------
    >>> texts_of_classes(["1.0", "12"]), texts_of_classes(["1.0", "x"])
    (['1', '12'], ['1.0', 'x'])
    """
    texts = list(labels)
    if any(text.endswith(".0") for text in texts) and all(_is_whole(text) for text in texts):
        return [text.removesuffix(".0") for text in texts]
    return texts


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() or _WHOLE.fullmatch(text) is not None


def sample(values: Iterable[Any]) -> str:
    """The first values, for messages."""
    some = [repr(value.item() if isinstance(value, np.generic) else value) for _, value in zip(range(4), values)]  # noqa: B905
    return ", ".join(some[:3]) + (", ..." if len(some) > 3 else "")
