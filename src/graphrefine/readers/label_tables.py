"""Label tables: a node and a label in each record of a `small_table`."""

from __future__ import annotations

import re
from os import PathLike
from typing import Any, NamedTuple

from numpy.typing import NDArray

from graphrefine.graph.node_names import from_strings
from graphrefine.readers.small_table import NODE_WORDS, Record, count_columns, read_records
from graphrefine.readers.source import Source

LABEL_WORDS = frozenset({"label", "labels", "class", "classes", "group", "groups", "category", "target"})
"""Usual names, in lower case, of the column of the labels."""

_NEEDS = "a node and a label are expected in each line"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 007 and -0 are names


class LabelTable(NamedTuple):
    """The two columns of a label table: int64 if every entry is an integer, else str."""

    nodes: NDArray[Any]
    labels: NDArray[Any]


def read_label_table(path: str | PathLike[str], *, header: bool | None = None) -> LabelTable:
    """Read the nodes and labels of a table; `graphrefine.readers.labels.read_labels` describes it."""
    source = Source(path, needs=_NEEDS)
    records = list(read_records(source))
    if not records:
        raise source.empty_error()
    first = records[0]
    if header is None:
        header = first.line is None or _has_header(records)
    node, label = _find_columns(source, first, header)
    entries = records[1:] if header else records
    if not entries:
        raise source.error(f"nothing after the header; {_NEEDS}")
    for record in entries:
        if len(record.fields) != len(first.fields):
            problem = f"{count_columns(record.fields)} where the first line has {len(first.fields)}"
            raise source.error(problem, line=record.line)
        if not (record.fields[node] and record.fields[label]):
            raise source.error("an empty node or label; leave out nodes without labels", line=record.line)
    return LabelTable(
        nodes=from_strings([record.fields[node] for record in entries]),
        labels=from_strings([record.fields[label] for record in entries]),
    )


def _has_header(records: list[Record]) -> bool:
    first = records[0].fields
    if _INTEGER.fullmatch(first[0]):
        return False
    if any(field.lower() in LABEL_WORDS for field in first[1:]):
        return True
    if any(letter.isdigit() for letter in first[0]):  # more likely a node like 007 or x1 than a column's name
        return False
    return len(records) > 1 and all(_INTEGER.fullmatch(record.fields[0]) for record in records[1:])


def _find_columns(source: Source, first: Record, header: bool) -> tuple[int, int]:
    """Positions of the columns of the node and the label."""
    names = [field.lower() for field in first.fields]
    if len(names) == 1:
        raise source.error(f"one column ({first.fields[0]!r}) where a node and a label are expected", line=first.line)
    if len(names) == 2:
        return 0, 1
    nodes = [column for column, name in enumerate(names) if header and name in NODE_WORDS]
    labels = [column for column, name in enumerate(names) if header and name in LABEL_WORDS]
    if len(nodes) != 1 or len(labels) != 1:
        raise source.error(
            f"{len(names)} columns where a node and a label are expected; keep two, or add a header that "
            "calls one of them node and one label",
            line=first.line,
        )
    return nodes[0], labels[0]
