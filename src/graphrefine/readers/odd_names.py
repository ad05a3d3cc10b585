"""Notes on names of nodes that are hardly names.

An exported table often has a NULL, a total or an id written as 1.0 among its ids. They are read as names, as they may
be meant (Namibia is NA), and a note says so.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any

from graphrefine.tables.vocabulary import EMPTY_WORDS

_AFTER_DIGITS = ":"  # the character after 9: blanks, signs and digits come before it
_BLOCK = 1 << 16  # names at a time, as there may be more of them than memory


def add_name_notes(report: Mapping[str, Any], *runs: Sequence[str]) -> Mapping[str, Any]:
    """Return the report of a reading, with notes on the names of the nodes: see `list_odd_names`."""
    odd = list_odd_names(*runs)
    return {**report, "notes": [*report.get("notes", ()), *odd]} if odd else report


def list_odd_names(*runs: Sequence[str]) -> list[str]:
    """Return notes on names: one sorted sequence of them, or one for each side of a bipartite graph."""
    words = [repr(word) for word in EMPTY_WORDS if _have(runs, word)]
    notes = [f"programs write for no value what is read as a name: {', '.join(words)}"] if words else []
    integers, strangers, some = 0, 0, list[str]()
    for names in (list(run[start : start + _BLOCK]) for run in runs for start in range(0, len(run), _BLOCK)):
        texts = names
        if names[0] < _AFTER_DIGITS:
            texts = [name for name in names if not name.removeprefix("-").isdecimal()]
            integers += len(names) - len(texts)
        strangers += len(texts) - len({*EMPTY_WORDS}.intersection(texts))
        some += [name for name in texts[: 3 + len(EMPTY_WORDS)] if name not in EMPTY_WORDS][: 4 - len(some)]
    if strangers and 2 * strangers < integers:  # where most are integers, texts were hardly meant
        shown = ", ".join(map(repr, some[:3])) + ", ..." * (len(some) > 3)
        notes.append(f"ids are read as texts, as {strangers:,} are no integers: {shown}")
    return notes


def are_plain(names: list[Any]) -> bool:
    """Return whether names are nothing but words, or no texts, so that there is nothing to note."""
    try:
        return min(names, default="") >= _AFTER_DIGITS and set(EMPTY_WORDS).isdisjoint(names)
    except TypeError:  # names of other types
        return True


def _have(runs: Sequence[Sequence[str]], name: str) -> bool:
    positions = [bisect_left(run, name) for run in runs]
    return any(at < len(run) and run[at] == name for run, at in zip(runs, positions, strict=True))
