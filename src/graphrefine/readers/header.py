"""Header of a text whose columns are all strings: names of the columns in its first record, or an edge.

Signs of an edge: one of its names stands below too. Signs of a header: its names are of another kind than all names
below (a mark, a digit or a capital letter that all of them have), or hardly any other record has two names that stand
nowhere else; a usual pair of names needs no other sign than that the next records do not have them. Where there is no
sign, other usual names of columns decide, and where there are none either, nothing does.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from graphrefine.errors import InputError
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import Marks, Parsed, Status
from graphrefine.readers.layout import PAIRS, Layout, Record, find_pair, fold_name
from graphrefine.readers.options import ReadOptions
from graphrefine.readers.source import Source

HEAD = 1 << 20  # bytes of the text that are looked at
LEAST = 4  # records below which numbers in the first are no sign of their number
FEWEST = 5  # records by which a kind of names is known
SHARE = 0.01  # of records that stand apart, below which one that does is no accident
WORDS = frozenset(
    {fold_name(name) for pair in PAIRS for name in pair}
    | {"node", "vertex", "name", "id", "key", "person", "friend", "author", "coauthor", "package", "dependson", "word"}
    | {"label", "type", "title", "country", "city", "page", "link", "url", "product", "customer", "movie", "company"}
)
"""Usual names of columns: they decide only where nothing else does."""

_MARKS: tuple[Callable[[str], bool], ...] = (
    lambda name: any(letter.isdigit() for letter in name),
    lambda name: name[:1].isupper(),
    *(lambda name, mark=mark: mark in name for mark in "@./:-# "),
    lambda name: not name.isascii(),
)


def find_header(records: list[Record], text: bytes, marks: Marks, options: ReadOptions) -> bool | None:
    r"""Whether the first of all records is a header; None if that cannot be known. ``text`` follows the first record.

    Examples
    --------
    >>> records = [["package", "depends_on"], ["numpy", "python"], ["scipy", "numpy"]]
    >>> find_header(records, b"numpy,python\nscipy,numpy\n", (",", "", "", ""), ReadOptions())
    True
    >>> records[0] = ["scipy", "python"]
    >>> find_header(records, b"numpy,python\nscipy,numpy\n", (",", "", "", ""), ReadOptions())
    False
    """
    first, rest = records[0], records[1:]
    words = all(_is_word(name) for name in first if name)
    if not rest or len(first) == 2 == 1 + len(set(first)):
        return words and not rest and find_pair(first) is not None
    if first in rest and find_pair(first) is not None:
        raise second_header_error(first)
    below = {field for record in rest for field in record if field}
    if any(name in below for name in first):
        return False
    if find_pair(first) is not None:
        return True  # whatever comes later: a package may be called dependency
    if any(_differs(first[at], [record[at] for record in rest if at < len(record)]) for at in range(len(first))):
        return True
    apart = _share_apart(first, text, marks, options)
    if apart is None or (apart < SHARE and len(rest) > 2):
        return apart is not None
    return True if words else None


def _differs(name: str, below: list[str]) -> bool:
    """Whether a name lacks what all names below have."""
    values = [value for value in below if value]
    if not name or len(values) < FEWEST or len(set(values)) < 2:
        return False
    return any(not has(name) and all(map(has, values)) for has in _MARKS)


def _is_word(name: str) -> bool:
    return (
        fold_name(name) in WORDS
        or re.fullmatch(r"(?i)(:|_)?[a-z]+[ _-]?ids?(\(.*\))?|.*_(id|name|key)", name) is not None
    )


def _share_apart(first: Record, text: bytes, marks: Marks, options: ReadOptions) -> float | None:
    """The share of records with two names that stand nowhere else.

    None if a name of the first record is among them, or if the records cannot be parsed, which is told later.
    """
    ends = _positions_of_ends(options, len(first))
    if ends is None:
        return None
    head = text[:HEAD]
    if len(text) > HEAD:
        head = head[: edge_lists.whole_records(np.frombuffer(head, np.uint8), marks)]
    columns = (*ends, -1, -1, len(first))
    parsed = edge_lists.parse_strings(np.frombuffer(head, np.uint8), columns, marks, dates=False, threads=1)
    if parsed.status != Status.OK or not len(parsed.source):
        return None
    names = set(parsed.names.split(b"\n"))
    if any(name.encode() in names for name in first):
        return None
    counts = np.bincount(np.concatenate([parsed.source, parsed.target]) + 1)  # those of no node first
    apart = (counts[parsed.source + 1] == 1) & (counts[parsed.target + 1] == 1)
    return float(apart.mean())


def _positions_of_ends(options: ReadOptions, count: int) -> tuple[int, int] | None:
    """The columns of the ends, as far as the options say by position; None for columns that are not there."""
    source, target = (None if column is None else int(column) for column in (options.source, options.target))
    source = source if source is not None else int(target == 0)
    target = target if target is not None else int(source == 0)
    return (source, target) if 0 <= source < count and 0 <= target < count else None


def header_problem(first: Record) -> str:
    """The problem of a first record that may be a header, in words."""
    edge = " - ".join(map(repr, first[:2]))
    problem = f"this line can be a header, or the edge {edge}: say header=True or header=False"
    if all(first):
        return problem
    return f"{problem}; it names {sum(map(bool, first))} of {len(first)} columns: if it is a title, take it away"


def second_header_error(names: Record) -> InputError:
    """The error for names of columns that stand again below, as in files that were joined."""
    return InputError(
        f"the names of the columns, {', '.join(map(repr, names))}, stand again below, as in files that were joined: "
        "take out all but the first; or say header=False if they are an edge",
        argument="header",
    )


def check_header(source: Source, parsed: Parsed, layout: Layout, nodes: list[str]) -> None:
    """Refuse a doubtful header whose names are ``nodes`` too, and edges that are the header again."""
    name = next((name for name in nodes if name in layout.doubtful), None)
    if name is not None:
        raise source.error(
            f"the first line is taken for a header, and its name {name!r} is the name of a node too: say header=True "
            "or header=False",
            argument="header",
        )
    ends = [layout.names[at] for at in (layout.edge_columns.source, layout.edge_columns.target)]
    if not set(ends) <= set(nodes):
        return
    names = parsed.names.split(b"\n")
    first, second = (names.index(name.encode()) for name in ends)
    if bool(((parsed.source == first) & (parsed.target == second)).any()):
        raise second_header_error(ends)


def check_counts(parsed: Parsed, layout: Layout) -> None:
    """Refuse a first edge that tells how many nodes and edges there are, as files of other programs begin."""
    source, target = parsed.source, parsed.target
    if not parsed.integers or layout.columns[4] != 2 or len(source) <= LEAST or target[0] != len(source) - 1:
        return
    highest = max(int(source[1:].max()), int(target[1:].max()))
    if highest <= int(source[0]) <= 2 * highest and min(int(source.min()), int(target.min())) >= 0:
        raise InputError(
            f"the first line, {source[0]} {target[0]}, can be an edge, or the numbers of nodes and of edges, as "
            f"{target[0]} edges follow: say header=True to leave it out, or header=False for an edge",
            argument="header",
        )
