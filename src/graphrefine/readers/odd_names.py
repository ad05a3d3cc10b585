"""Names of nodes that are worth a word: some that are hardly names, and pairs that are written in two ways.

A table that was exported, joined or summed up by hand often has a NULL, a total or an id written as 1.0 among its ids.
They are read as names, as they may be meant (Namibia is NA), and told. Names are looked at block by block, as there may
be more of them than memory.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphrefine.readers.options import AFTER_DIGITS
from graphrefine.tables.vocabulary import EMPTY_WORDS

_NUMBER = re.compile(r"([+-]?)0*([0-9]+)(?:\.0+)?")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_MOST = 10_000  # names that are compared with all others
_BLOCK = 1 << 16  # names at a time
_SHOWN = 3  # names that are no integers


def add_remarks(report: Mapping[str, Any], *runs: Sequence[str]) -> Mapping[str, Any]:
    """Return the report of a reading, with remarks on the names of the nodes: see `list_odd_names`.

    Examples
    --------
    >>> add_remarks({"records": 1}, ["1", "1.0"])
    {'records': 1, 'remarks': ["read as two names: '1' and '1.0'"]}
    """
    odd = list_odd_names(*runs)
    return {**report, "remarks": [*report.get("remarks", ()), *odd]} if odd else report


def list_odd_names(*runs: Sequence[str], block: int = _BLOCK) -> list[str]:
    """Remarks on names: one sorted sequence of them, or one for each side of a bipartite graph.

    Examples
    --------
    >>> list_odd_names(["1", "2", "2.0", "NULL"])
    ["programs write for no value what is read as a name: 'NULL'", "read as two names: '2' and '2.0'"]
    """
    review = _Review()
    for names in _unite(runs, block):
        review.add(names)
    words = [repr(word) for word in EMPTY_WORDS if _have(runs, word)]
    empty = [f"programs write for no value what is read as a name: {', '.join(words)}"] if words else []
    return empty + _list_pairs(runs, [*review.numbers.names, *review.texts.names]) + review.list_strangers()


def _unite(runs: Sequence[Sequence[str]], block: int) -> Iterator[list[str]]:
    """Yield the distinct names of sorted runs in order, about a block of each at a time."""
    starts = [0] * len(runs)
    while True:
        heads = [list(run[start : start + block]) for run, start in zip(runs, starts, strict=True)]
        filled = [head for head in heads if head]
        if not filled:
            return
        last = min(head[-1] for head in filled)
        cuts = [bisect_right(head, last) for head in heads]
        starts = [start + cut for start, cut in zip(starts, cuts, strict=True)]
        parts = [head[:cut] for head, cut in zip(heads, cuts, strict=True)]
        yield parts[0] if len(parts) == 1 else sorted(set().union(*parts))


class _Sample:
    """Names evenly among those that are added, a bounded number of them."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._count, self._step = 0, 1

    def add(self, name: str) -> None:
        if self._count % self._step == 0:
            self.names.append(name)
            if len(self.names) > 2 * _MOST:
                self.names, self._step = self.names[::2], 2 * self._step
        self._count += 1


class _Review:
    """Names that may have a twin, and those that are no integers, of all blocks so far."""

    def __init__(self) -> None:
        self.numbers, self.texts = _Sample(), _Sample()
        self._count = self._integers = self._strangers = 0
        self._first_strangers: list[str] = []

    def add(self, names: list[str]) -> None:
        """Look at a sorted block; one of plain words alone has nothing to look at."""
        self._count += len(names)
        lines = "\n".join(names)
        plain = list(map(str.strip, names)) == names
        if not lines.isascii():
            plain = plain and unicodedata.is_normalized("NFC", lines) and _INVISIBLE.search(lines) is None
        if not plain:
            for name in names:
                if _plain(name) != name:
                    self.texts.add(name)
        if names[0] < AFTER_DIGITS:
            for name in names:
                if name[:1] in "+-0" or (name.endswith("0") and ".0" in name):
                    self.numbers.add(name)
        others = names
        if names[0] < AFTER_DIGITS or not lines.isascii():
            others = [name for name in names if not name.removeprefix("-").isdecimal()]
            self._integers += len(names) - len(others)
        self._strangers += len(others) - sum(_have([others], word) for word in EMPTY_WORDS)
        if len(self._first_strangers) < _SHOWN:
            self._first_strangers += [name for name in others[: _SHOWN + len(EMPTY_WORDS)] if name not in EMPTY_WORDS]

    def list_strangers(self) -> list[str]:
        """Return the names that are no integers, where most are."""
        if not self._strangers or self._integers * 10 < self._count * 6:
            return []
        some = ", ".join(map(repr, self._first_strangers[:_SHOWN])) + ", ..." * (self._strangers > _SHOWN)
        return [f"ids are read as texts, as {self._strangers:,} of {self._count:,} are no integers: {some}"]


def _list_pairs(runs: Sequence[Sequence[str]], suspects: list[str]) -> list[str]:
    """Return the first two names that differ only in the way a number is written, in blanks or in code points."""
    for name in suspects:
        for other in (_number(name), _plain(name)):
            if other != name and _have(runs, other):
                return [f"read as two names: {other!r} and {name!r}"]
    return []


def _have(runs: Sequence[Sequence[str]], name: str) -> bool:
    places = [bisect_left(run, name) for run in runs]
    return any(at < len(run) and run[at] == name for run, at in zip(runs, places, strict=True))


def _number(text: str) -> str:
    """Return a whole number without zeros around it; any other text as it is."""
    match = _NUMBER.fullmatch(text)
    return text if match is None else f"{'-' * (match[1] == '-' and match[2] != '0')}{match[2]}"


def _plain(text: str) -> str:
    """Return a text without blanks around it and invisible characters, composed."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).strip()
