"""Header of a table of vectors or features: the delimiter, and which column holds names, which numbers, which neither.

Names stand in the column called node, name, id or the like, wherever it is, else in the first. A first column without a
title beside such a one, as pandas writes for its index, counts rows and is left out. Vectors are a series, a stem with
numbers (v0, v1, ...; 0, 1, ...), where there is one, and any other column is left out; of features, all are meant.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from graphrefine.embedding.formats.io import EDGES
from graphrefine.graph.lookup import list_some
from graphrefine.readers.layout import PAIRS, find_pair, fold_name
from graphrefine.readers.small_table import NODE_WORDS

DELIMITERS = (b",", b";", b"\t", b"|")
HEADER = "'node,v0,v1,...'"
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MEMBER = re.compile(r"(.*?)([0-9]+)[])]?")  # of a series: stem and number
_INDEX = re.compile(r"|index|level_0|unnamed: [0-9]+")  # what pandas and others call a column that counts rows
_NEIGHBORS = {"neighbor", "neighbour"}
_SURE_PAIRS = 3  # of layout.PAIRS: of ends and nothing else, also beside a column of names


class HeaderError(ValueError):
    """A header that says no columns of names and numbers."""


class Record(NamedTuple):
    """Fields of a record without their quotes, the places of those that had some, and how many lines it takes."""

    fields: list[bytes]
    quoted: frozenset[int]
    lines: int


@dataclass
class Columns:
    """Columns of a table by their places, and what is to be told of how they were understood."""

    titles: list[str]
    name: int | None  # None: the rows are numbered
    numbers: list[int]
    named: bool = False  # the header calls the column of names so
    series: bool = False  # the numbers have one stem
    quotes: bool = False  # the header has quotes, and numbers may have some too
    remarks: list[str] = field(default_factory=list)

    @property
    def plain(self) -> bool:
        """Whether all columns are used, the names first."""
        return self.name == 0 and self.numbers == list(range(1, len(self.titles)))


def is_number(text: str) -> bool:
    """Whether a text is a finite decimal number.

    Examples
    --------
    >>> is_number("-1.5e-3"), is_number("1_0"), is_number("v0")
    (True, False, False)
    """
    return _NUMBER.fullmatch(text.strip()) is not None


def find_delimiter(header: bytes, first: bytes) -> bytes:
    """What splits the header and the first record into as many fields, two at least; a comma if nothing does.

    Examples
    --------
    >>> find_delimiter(b"node;v0", b"a;0,5"), find_delimiter(b"node,a|b", b"x,1"), find_delimiter(b"node,v0", b"")
    (b';', b',', b',')
    """
    for delimiter in DELIMITERS:
        widths = {len(record.fields) for line in (header, first) for record in split_records(line, delimiter)}
        if len(widths) == 1 and widths.pop() > 1:
            return delimiter
    return next((delimiter for delimiter in DELIMITERS if delimiter in header), b",")


def split_records(block: bytes, delimiter: bytes) -> Iterator[Record]:
    r"""The records of a block of whole lines, up to the first that is damaged.

    Examples
    --------
    >>> [record.fields for record in split_records(b'a;"b;""c"" d"\n1;2\n3', b";")]
    [[b'a', b'b;"c" d'], [b'1', b'2']]
    """
    if b'"' not in block:
        for line in block.split(b"\n")[:-1]:
            yield Record(line.rstrip(b"\r").split(delimiter), frozenset(), 1)
        return
    mark = re.escape(delimiter)
    pattern = re.compile(rb'(?:"([^"]*(?:""[^"]*)*)"|([^"\r\n' + mark + rb"]*))(" + mark + rb"|\r?\n)")
    fields: list[bytes] = []
    quoted: set[int] = set()
    lines = at = 0
    while match := pattern.match(block, at):
        plain = match[1] is None
        quoted |= set() if plain else {len(fields)}
        fields.append(match[2] if plain else match[1].replace(b'""', b'"'))
        lines += match[0].count(b"\n")
        at = match.end()
        if match[3] != delimiter:
            yield Record(fields, frozenset(quoted), lines)
            fields, quoted, lines = [], set(), 0


def find_columns(titles: list[str], sample: list[str], *, features: bool = False) -> Columns:
    """The columns of a table by its header and the fields of its first record; HeaderError where there are none.

    Examples
    --------
    >>> columns = find_columns(["", "node", "v0", "v1", "pagerank"], ["0", "ada", "0.5", "1", "0.1"])
    >>> columns.name, columns.numbers, columns.remarks
    (1, [2, 3], ["names are those of its column 'node'", "left out: its columns 1 (no name), 'pagerank'"])
    >>> find_columns(["v0", "v1"], ["0.5", "1"]).name is None
    True
    """
    titles = [title.strip() for title in titles]
    words = [title.lower() for title in titles]
    names = [at for at, word in enumerate(words) if word in NODE_WORDS]
    _check_titles(titles, names)
    index = {0} if _INDEX.fullmatch(words[0]) else set()
    others = sorted(set(range(len(titles))).difference(index, names))
    series = _find_series(titles, others, single=bool(names))
    columns = Columns(titles, _choose_name(titles, names), [], named=bool(names), series=bool(series))
    if not names:
        _name_unnamed(columns, series, sample)
    columns.numbers = [at for at in others if at != columns.name and (features or not series or at in series)]
    if not columns.numbers:
        raise HeaderError(
            f"has no column of numbers, only {_list(titles, range(len(titles)))}; a header {HEADER} is expected, "
            "then a name and its numbers in each line"
        )
    _remark(columns, index, features=features)
    return columns


def _check_titles(titles: list[str], names: list[int]) -> None:
    """Refuse data in the place of a header, the header of a list of edges, and two columns with one name."""
    numbers = [title for title in titles if is_number(title)]
    counting = numbers == [str(column) for column in range(len(numbers))] and len(numbers) < len(titles)
    if numbers and not names and not counting:  # as pandas calls columns
        hint = f"; {EDGES}" if len(titles) in (2, 3) else ""
        raise HeaderError(f"holds numbers where the header {HEADER} should be; add one{hint}")
    pair = find_pair(titles)
    ends = [] if pair is None else [titles[at] for at in pair]
    sure = {fold_name(end) for couple in PAIRS[:_SURE_PAIRS] for end in couple}
    near = [title for title in titles if title.lower() in _NEIGHBORS]
    if names and near:
        raise HeaderError(f"its columns {list_some([titles[names[0]], *near])} are those of a list of edges; {EDGES}")
    if ends and (not names or sure.issuperset(map(fold_name, ends))):
        raise HeaderError(f"its columns {list_some(ends)} are those of a list of edges; {EDGES}")
    twice = next((title for title, count in Counter(titles).items() if title and count > 1), None)
    if twice is not None:
        raise HeaderError(f"two columns have one name, {twice!r}; rename one")


def _choose_name(titles: list[str], names: list[int]) -> int | None:
    """The column of names among those that are called so; None if there is none."""
    node = [at for at in names if titles[at].lower() == "node"]
    if len(names) > 1 and not node:
        several = _list(titles, names)
        raise HeaderError(f"has several columns that could name the nodes, {several}; call one of them node")
    return next(iter(node or names), None)


def _name_unnamed(columns: Columns, series: set[int], sample: list[str]) -> None:
    """Take the first column for the names, unless it belongs to the series and holds a number."""
    if 0 not in series:
        columns.name = 0
    elif sample and not is_number(sample[0]):
        columns.name = 0
        columns.remarks.append(f"names are those of its first column, {columns.titles[0]!r}")
    else:
        columns.remarks.append("no column is called node, name or id, so its rows are numbered from 0")


def _find_series(titles: list[str], places: list[int], *, single: bool) -> set[int]:
    """Places of the columns with one stem and a number, if they are half of these or more; none if there is no such.

    One column alone is a series if it has the number 0, and ``single`` allows it.
    """
    members: dict[str, list[int]] = defaultdict(list)
    for at in places:
        if match := _MEMBER.fullmatch(titles[at]):
            members[match[1]].append(at)
    largest = max(members.values(), key=len, default=[])
    alone = len(largest) == 1 and not (single and titles[largest[0]].endswith("0"))
    tie = sum(len(each) == len(largest) for each in members.values()) > 1
    return set() if alone or tie or 2 * len(largest) < len(places) else set(largest)


def _remark(columns: Columns, index: set[int], *, features: bool) -> None:
    """Add what is not plain: the choice of names, columns that are left out, numbers that may not be meant."""
    titles, name = columns.titles, columns.name
    rest = sorted(set(range(len(titles))).difference(columns.numbers, [name]))
    if columns.named and (index - {name} or (name != 0 and not columns.series)):
        assert name is not None
        columns.remarks.append(f"names are those of its column {titles[name]!r}")
        if not columns.series:
            columns.remarks.append(f"numbers those of {_list(titles, columns.numbers)}")
    if rest:
        noun = "column" if len(rest) == 1 else "columns"
        columns.remarks.append(f"left out: its {noun} {_list(titles, rest)}")
    numbered = [title for at in columns.numbers if (title := titles[at])[-1:].isdigit()]
    if not columns.series and not features and 1 < len(numbered) < len(columns.numbers):
        columns.remarks.append(f"its columns {_list(titles, columns.numbers)} are all taken for coordinates")


def _list(titles: list[str], places: list[int] | range) -> str:
    """The first few of these columns, by name or else by place from 1."""
    few = [repr(titles[at]) if titles[at] else f"{at + 1} (no name)" for at in places[:8]]
    return ", ".join(few) + (", ..." if len(places) > len(few) else "")
