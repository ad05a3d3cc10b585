"""Label tables in text: a node and a label in each line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError

FilePath = str | PathLike[str]

INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # 007 and -0 are names; 18 digits fit int64
LABEL_WORDS = frozenset({"label", "labels", "class", "classes", "group", "groups", "category", "target"})
NODE_WORDS = frozenset({"node", "nodes", "node_id", "nodeid", "id", "name", "vertex"})
DELIMITERS = {".csv": ",;\t", ".tsv": "\t"}  # by suffix, the first that occurs
ANY_DELIMITER = "\t,; "
COMPRESSIONS = frozenset({".gz", ".bz2", ".xz"})


class Table(NamedTuple):
    """The two columns of a label table: int64 where every entry is an integer, else str."""

    nodes: NDArray[Any]
    labels: NDArray[Any]


class _Record(NamedTuple):
    line: int
    fields: list[str]


def read_table(path: FilePath, *, header: bool | None = None) -> Table:
    """Read the nodes and labels of a text file; `evaluate.labels.read_labels` says what it may look like."""
    records = list(_records(path))
    if not records:
        raise FormatError(path, "empty; a node and a label are expected in each line")
    if header is None:
        header = _has_header(records)
    node, label = _columns(path, records[0], header)
    entries = records[1:] if header else records
    if not entries:
        raise FormatError(path, "nothing after the header; a node and a label are expected in each line")
    for record in entries:
        _check(path, record, width=len(records[0].fields), needed=(node, label))
    return Table(
        nodes=_parse([record.fields[node] for record in entries]),
        labels=_parse([record.fields[label] for record in entries]),
    )


def _records(path: FilePath) -> Iterator[_Record]:
    delimiter = ""
    for number, line in enumerate(_lines(path), start=1):
        text = line.strip()
        if not text or text[0] in "#%":
            continue
        delimiter = delimiter or _delimiter(path, text)
        yield _Record(number, _fields(line.rstrip("\r"), delimiter))


def _lines(path: FilePath) -> list[str]:
    import bz2
    import gzip
    import lzma
    import zlib

    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    try:
        with openers.get(Path(path).suffix.lower(), open)(path, "rb") as file:
            content: bytes = file.read()
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise FormatError(path, f"the compressed file is damaged or cut short ({error})") from None
    except OSError as error:
        raise FormatError(path, f"cannot be read: {error.strerror or error}") from None
    if b"\0" in content[:4096]:
        raise FormatError(path, "not a text file; labels come as .mat or as a table (node, label) in text")
    return _decode(content.removeprefix(b"\xef\xbb\xbf")).split("\n")


def _decode(content: bytes) -> str:
    """UTF-8, or else Latin-1, as graph files are read: the names must meet."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _delimiter(path: FilePath, text: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSIONS:
        suffixes.pop()
    allowed = DELIMITERS.get(suffixes[-1], ANY_DELIMITER) if suffixes else ANY_DELIMITER
    return next((mark for mark in allowed if mark in text), allowed[0])


def _fields(line: str, delimiter: str) -> list[str]:
    import csv

    if delimiter == " ":
        return line.split()
    if '"' in line and delimiter != "\t":
        fields = next(csv.reader([line.strip()], delimiter=delimiter, skipinitialspace=True))
    else:
        fields = line.split(delimiter)
    return [field.strip() for field in fields]


def _has_header(records: list[_Record]) -> bool:
    first = records[0].fields
    if INTEGER.fullmatch(first[0]):
        return False
    if any(field.lower() in LABEL_WORDS for field in first[1:]):
        return True
    if any(letter.isdigit() for letter in first[0]):  # more likely a node like 007 or x1 than a column's name
        return False
    return len(records) > 1 and all(INTEGER.fullmatch(record.fields[0]) for record in records[1:])


def _columns(path: FilePath, first: _Record, header: bool) -> tuple[int, int]:
    """Which columns hold the node and the label."""
    words = [field.lower() for field in first.fields]
    if len(words) == 1:
        problem = f"one column ({first.fields[0]!r}) where a node and a label are expected"
        raise FormatError(path, problem, line=first.line)
    if len(words) == 2:
        return 0, 1
    nodes = [column for column, word in enumerate(words) if header and word in NODE_WORDS]
    labels = [column for column, word in enumerate(words) if header and word in LABEL_WORDS]
    if len(nodes) != 1 or len(labels) != 1:
        raise FormatError(
            path,
            f"{len(words)} columns where a node and a label are expected; keep two, or add a header that "
            "calls one of them node and one label",
            line=first.line,
        )
    return nodes[0], labels[0]


def _check(path: FilePath, record: _Record, *, width: int, needed: tuple[int, int]) -> None:
    seen = len(record.fields)
    if seen != width:
        columns = "one column" if seen == 1 else f"{seen} columns"
        raise FormatError(path, f"{columns} where the first line has {width}", line=record.line)
    if not all(record.fields[column] for column in needed):
        raise FormatError(path, "an empty node or label; leave out nodes without labels", line=record.line)


def _parse(texts: list[str]) -> NDArray[Any]:
    if all(INTEGER.fullmatch(text) for text in texts):
        return np.array(texts, dtype=np.int64)
    return np.array(texts, dtype=object)
