"""Step 4, header: whether the first record of a text names the columns.

Of edges (`detect_header`): signs of an edge are numbers in the first record, and names that occur below too. Signs of a
header: columns of numbers below words; names of another kind than all names below (a mark, a digit or a capital letter
that all of them have); or hardly any other record has two names that occur nowhere else. A usual pair of names needs no
other sign than that the next records do not have them. Where there is no sign, other usual names of columns decide, and
where there are none either, the text is refused.

Of labels (`detect_label_header`), the names of the nodes that they are for are the strongest sign; then the types of
the columns, values that occur again, and last the usual words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import numpy as np

from graphrefine.errors import AmbiguousTable, InputError
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import Parsed, Status
from graphrefine.tables import vocabulary
from graphrefine.tables.kinds import column_values, is_amount, is_finite, is_number
from graphrefine.tables.sample import Dialect, Hints, Record, Sample
from graphrefine.tables.source import Source
from graphrefine.tables.vocabulary import find_pair, fold_name

# Bytes of the text in which names of the first record are looked for. `ingest` reads twice as many before it decides,
# so that it decides as `read` does.
HEAD = 1 << 20
LEAST = 4  # records below which numbers in the first are no sign of their number
FEW = 4  # records by which one column of numbers is no proof of a header
FEWEST = 5  # records by which a kind of names is known
SHARE = 0.01  # of records that have no name in common with others, below which one that does is no accident
WIDTH = 4  # columns of a matrix; a narrower table has edges

_MARKS: tuple[Callable[[str], bool], ...] = (
    lambda name: any(letter.isdigit() for letter in name),
    lambda name: name[:1].isupper(),
    *(lambda name, mark=mark: mark in name for mark in "@./:-# "),
    lambda name: not name.isascii(),
)
_WORD = re.compile(r"(?i)(:|_)?[a-z]+[ _-]?ids?(\(.*\))?|.*_(id|name|key)")

# ---- edges -----------------------------------------------------------------------------------------------------------


def detect_header(source: Source, data: bytes, sample: Sample, hints: Hints) -> Sample:
    """Return the sample with its column names in its dialect, if its first record has them, or marked as a matrix."""
    first = sample.rows[0]
    if len(first) >= WIDTH:
        if is_matrix(sample.rows, hints):
            return replace(sample, is_matrix=True)
        _refuse_square(source, data, sample, hints)
    has_header, is_doubtful = _judge_edges(source, data, sample, hints)
    if not has_header:
        return sample
    end, lines = sample.end
    line, names = sample.dialect.line + lines, tuple(first)
    dialect = replace(sample.dialect, header=True, skip=end, line=line, names=names, is_doubtful=is_doubtful)
    return replace(sample, dialect=dialect, rows=sample.rows[1:])


def _judge_edges(source: Source, data: bytes, sample: Sample, hints: Hints) -> tuple[bool, bool]:
    """Return whether the first record names the columns; and whether only the absence of its names below says so."""
    if hints.header is not None or hints.are_named:
        return hints.header is not False, False
    first, rest = sample.rows[0], sample.rows[1:]
    if any(map(is_number, first)):  # columns are not called 7 or 0.5, but by pandas, with its index
        rows = list(map(str, range(len(rest))))
        return vocabulary.are_counted(first) and len(rest) > 1 and column_values(rest, 0) == rows, False
    test = is_number if sample.dialect.delimiter == "," else is_amount
    below = [column_values(rest, at) for at in range(len(first))]
    typed = sum(bool(name and values) and all(map(test, values)) for name, values in zip(first, below, strict=True))
    is_sure = typed > 1 or (typed == 1 and (len(rest) > FEW or len(first) > 2))
    if is_sure and {*filter(None, first)}.isdisjoint(name for record in rest for name in record):
        return True, False
    verdict = None
    if not is_sure:
        text = data[sample.end[0] : sample.end[0] + HEAD + 1]
        verdict = judge_names(sample.rows, text, sample.dialect, hints)
    if verdict is None:
        problem = f"this line can be a header, or the edge {' - '.join(map(repr, first[:2]))}"
        readings = {"header=True": "a header", "header=False": "an edge"}
        raise source.error(AmbiguousTable(problem, readings, argument="header"), line=sample.line)
    return verdict, verdict and find_pair(first) is None


def judge_names(rows: list[Record], text: bytes, dialect: Dialect, hints: Hints) -> bool | None:
    """Return whether the first record, followed by ``text``, is a header; None if that cannot be known."""
    first, rest = rows[0], rows[1:]
    are_words = all(fold_name(name) in vocabulary.HEADERS or _WORD.fullmatch(name) for name in first if name)
    if not rest or len(first) == 2 == 1 + len(set(first)):
        return are_words and not rest and find_pair(first) is not None
    if first in rest and find_pair(first) is not None:
        return True  # and refused by `check_header`
    below = {field for record in rest for field in record if field}
    if any(name in below for name in first):
        return False
    if find_pair(first) is not None:
        return True  # also if it occurs later: a package may be called dependency
    if any(_differs(first[at], column_values(rest, at)) for at in range(len(first))):
        return True
    apart = _share_apart(first, text, dialect, hints)
    if apart is None or (apart < SHARE and len(rest) > 2):
        return apart is not None
    return True if are_words else None


def _differs(name: str, values: list[str]) -> bool:
    """Return whether a name lacks what all names below have."""
    are_enough = name and len(values) >= FEWEST and len(set(values)) > 1
    return bool(are_enough) and any(not has(name) and all(map(has, values)) for has in _MARKS)


def _share_apart(first: Record, text: bytes, dialect: Dialect, hints: Hints) -> float | None:
    """Return the share of records with two names that occur nowhere else; None if the first one's are below."""
    source, target = (None if column is None else int(column) for column in (hints.source, hints.target))
    source = int(target == 0) if source is None else source
    target = int(source == 0) if target is None else target
    if not (0 <= source < len(first) and 0 <= target < len(first)):
        return None
    head = np.frombuffer(text[:HEAD], np.uint8)
    if len(text) > HEAD:
        head = head[: edge_lists.whole_records(head, dialect.marks)]
    columns = (source, target, -1, -1, len(first))
    parsed = edge_lists.parse_strings(head, columns, dialect.marks, dates=False, threads=1)
    if parsed.status != Status.OK or not len(parsed.source):
        return None
    names = set(parsed.names.split(b"\n"))
    if any(name.encode() in names for name in first):
        return None
    counts = np.bincount(np.concatenate([parsed.source, parsed.target]) + 1)  # those of no node first
    apart = (counts[parsed.source + 1] == 1) & (counts[parsed.target + 1] == 1)
    return float(apart.mean())


def check_header(source: Source, parsed: Parsed, dialect: Dialect, ends: tuple[int, int], nodes: list[str]) -> None:
    """Refuse a doubtful header whose names are ``nodes`` too, and edges that are the header again."""
    # A header that nothing but the absence of its names below says is one was judged by the first megabyte alone. If a
    # node far below has such a name, the first line was an edge, and without this check it would be lost.
    if dialect.is_doubtful and nodes:
        readings = {"header=True": "names of columns", "header=False": "an edge"}
        problem = f"the first line is taken for a header, and its name {nodes[0]!r} is the name of a node too"
        raise source.error(AmbiguousTable(problem, readings, argument="header"))
    titles = [dialect.names[at] for at in ends]
    if not set(titles) <= set(nodes):
        return
    names = parsed.names.split(b"\n")
    first, second = (names.index(title.encode()) for title in titles)
    if bool(((parsed.source == first) & (parsed.target == second)).any()):
        raise InputError(
            f"the names of the columns, {', '.join(map(repr, titles))}, occur again below, as in files that were "
            "joined: take out all but the first; or pass header=False if they are an edge",
            argument="header",
        )


def check_counts(parsed: Parsed, width: int) -> None:
    """Refuse a first edge that tells how many nodes and edges there are, as files of other programs begin."""
    source, target = parsed.source, parsed.target
    if not parsed.integers or width != 2 or len(source) <= LEAST or target[0] != len(source) - 1:
        return
    highest = max(int(source[1:].max()), int(target[1:].max()))
    if highest <= int(source[0]) <= 2 * highest and min(int(source.min()), int(target.min())) >= 0:
        raise AmbiguousTable(
            f"the first line, {source[0]} {target[0]}, can be an edge, or the numbers of nodes and of edges, as "
            f"{target[0]} edges follow",
            {"header=True": "the numbers", "header=False": "an edge"},
            argument="header",
        )


# ---- matrices --------------------------------------------------------------------------------------------------------


def is_matrix(rows: list[Record], hints: Hints) -> bool:
    """Return whether a table is an adjacency matrix: its first column has the names of its first record, or of rows."""
    first, *rest = rows
    if hints.choose_columns:
        return False
    if any(len(row) != len(first) or not all(not each or is_number(each) for each in row[1:]) for row in rest):
        return False
    names, labels = first[1:], [row[0] for row in rest]
    if len(rest) >= WIDTH - 1 and labels == names[: len(labels)] and len(set(names)) == len(names):
        return True
    are_distinct = len(rest) > 1 and len(set(labels)) == len(labels)
    return bool(hints.bipartite) and are_distinct and not any(map(is_number, [*first, *labels]))


def _refuse_square(source: Source, data: bytes, sample: Sample, hints: Hints) -> None:
    """Refuse as many records of numbers as there are columns: a list of edges, or a matrix without names of rows."""
    first, *rest = sample.rows
    lines = data.count(b"\n", sample.end[0]) + (not data.endswith(b"\n"))
    is_chosen = hints.weights is not None or hints.choose_columns
    if is_chosen or lines != len(first) or find_pair(first) or any(map(is_number, first)):
        return
    if all(all(map(is_number, column_values(rest, at))) for at in range(len(first))):
        problem = (
            f"a table of {lines} x {lines} numbers can be an adjacency matrix or a list of edges; a matrix has the "
            "names of its rows in the first column"
        )
        raise source.error(AmbiguousTable(problem, {"source= and target=": "edges"}, argument="source"))


# ---- labels ----------------------------------------------------------------------------------------------------------


def detect_label_header(
    columns: Sequence[Sequence[Any]], known: AbstractSet[str] | None, *, header: bool | None, chosen: Sequence[Any]
) -> bool:
    """Return whether the first row of a table of labels names its columns; ``known`` are the nodes, where at hand."""
    if header is not None:
        return header
    if any(isinstance(column, str) and not column.isdecimal() for column in chosen):
        return True
    verdict = judge_labels(columns, known)
    if verdict is None:
        readings = {"header=True": "names of columns", "header=False": "a node with its label"}
        if known is None:
            readings["names= with the names of the nodes"] = "those to decide"
        first = ", ".join(repr(column[0]) for column in columns)
        raise AmbiguousTable(f"the first row is {first}", readings, argument="header")
    return verdict


def judge_labels(columns: Sequence[Sequence[str]], known: AbstractSet[str] | None) -> bool | None:
    """Return whether the first row of a table of labels names its columns; None if it cannot be said."""
    first, below = [column[0] for column in columns], [column[1:] for column in columns]
    counts = [0 if known is None else len(known & set(values)) for values in below]
    node = counts.index(max(counts))
    words = [first[node].lower() in vocabulary.NODES, any(each.lower() in vocabulary.LABELS for each in first)]
    recurs = any(each and each in set(values) for each, values in zip(first, below, strict=True))
    if known is not None:
        if first[node] in known:
            return None if all(words) and not recurs else False
        if below[node] and all(name in known for name in below[node]) and (any(words) or not recurs):
            return True
    verdict = _judge_types(first, below)
    if verdict or (verdict is False and not any(words)):
        return verdict
    if any(words):
        return None if recurs or verdict is False else True
    are_strangers = known is not None and not known & set(columns[node])
    return False if recurs or not below[node] or are_strangers else None


def _judge_types(first: list[str], below: Sequence[Sequence[str]]) -> bool | None:
    """Return what the kinds of the columns say of the first row."""
    if any(map(is_finite, first)):  # columns are not called 7, unless by their positions
        return None if first == [str(at) for at in range(len(first))] else False
    for title, values in zip(first, below, strict=True):
        present = [value for value in values if value.strip() not in vocabulary.NO_VALUES]
        have_digits = not re.search("[0-9]", title) and all(re.search("[0-9]", value) for value in present)
        if present and (not title or have_digits):
            return True
    return None
