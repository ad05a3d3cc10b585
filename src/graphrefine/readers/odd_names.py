"""Names of nodes that are worth a word: some that are hardly names, and pairs that are written in two ways.

A table that was exported, joined or summed up by hand often has a NULL, a total or an id written as 1.0 among its ids.
They are read as names, as they may be meant (Namibia is NA), and told.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable

EMPTY_WORDS = ("", "#N/A", "#REF!", "#VALUE!", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "\\N", "nan", "null")
"""Texts that programs write for no value."""

_NUMBER = re.compile(r"([+-]?)0*([0-9]+)(?:\.0+)?")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_SAMPLE, _MOST = 64, 10_000  # names that tell whether ids are integers; those that are compared with all others


def list_odd_names(texts: list[str]) -> list[str]:
    """Remarks on sorted names.

    Examples
    --------
    >>> list_odd_names(["1", "2", "2.0", "NULL"])
    ["programs write for no value what is read as a name: 'NULL'", "read as two names: '2' and '2.0'"]
    """
    lines = "\n".join(["", *texts, ""])
    words = [repr(word) for word in EMPTY_WORDS if _has(texts, word)]
    empty = [f"programs write for no value what is read as a name: {', '.join(words)}"] if words else []
    return empty + _list_pairs(texts, lines) + _list_strangers(texts)


def _has(texts: list[str], name: str) -> bool:
    at = bisect_left(texts, name)
    return at < len(texts) and texts[at] == name


def _list_pairs(texts: list[str], lines: str) -> list[str]:
    """The first two names that differ only in the way a number is written, in blanks or in code points."""
    suspects: list[str] = []
    if any(mark in lines for mark in (".0\n", "\n0", "\n+", "\n-0")):
        suspects += _some(text for text in texts if text[:1] in "+-0" or text.endswith("0"))
    if " \n" in lines or "\n " in lines or not lines.isascii():
        suspects += _some(text for text in texts if _plain(text) != text)
    for text in suspects:
        for other in {_number(text), _plain(text)} - {text}:
            if _has(texts, other):
                return [f"read as two names: {other!r} and {text!r}"]
    return []


def _some(texts: Iterable[str]) -> list[str]:
    every = list(texts)
    return every[:: max(1, len(every) // _MOST)]


def _number(text: str) -> str:
    """A whole number without zeros around it; any other text as it is."""
    match = _NUMBER.fullmatch(text)
    return text if match is None else f"{'-' * (match[1] == '-' and match[2] != '0')}{match[2]}"


def _plain(text: str) -> str:
    """A text without blanks around it and invisible characters, composed."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).strip()


def _list_strangers(texts: list[str]) -> list[str]:
    """The names that are no integers, where nearly all are."""
    sample = texts[:: max(1, len(texts) // _SAMPLE)]
    if sum(map(_is_integer, sample)) * 10 < len(sample) * 6:
        return []
    strangers = [text for text in texts if not _is_integer(text) and text not in EMPTY_WORDS]
    if not strangers or len(strangers) * 10 > len(texts) * 4:
        return []
    some = ", ".join(map(repr, strangers[:3])) + ", ..." * (len(strangers) > 3)
    return [f"ids are read as texts, as {len(strangers):,} of {len(texts):,} are no integers: {some}"]


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal()
