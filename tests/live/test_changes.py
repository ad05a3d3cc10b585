"""`read_changes`: every format, any grouping and skip, cut files, bad records, memory."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import FormatError, InputError
from graphrefine.live.changes import ADD, ADD_NODE, REMOVE, REMOVE_NODE, SET, Group, read_changes
from strategies import PATIENT, WEIGHTS

FORMATS = ["csv", "tsv", "jsonl", "parquet"]
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: bytes(pa.compress(data, "zstd", asbytes=True)),
}


class Change(NamedTuple):
    """A record to be written."""

    op: str
    source: str | int
    target: str | int | None
    weight: float | None

    @property
    def expected(self) -> tuple[Any, ...]:
        """Operation, source, target, weight as they are given."""
        if self.target is None:
            code = ADD_NODE if self.op == "+" else REMOVE_NODE
        else:
            code = {"+": ADD, "-": REMOVE, "=": SET}[self.op]
        weight = 0.0 if self.op == "-" else 1.0 if self.weight is None else float(np.float32(self.weight))
        return code, self.source, self.target, weight


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6)
TEXTS = WORDS | st.sampled_from(["a", "b", "c", 'say "hi"', "a,b", "op", "+", " ' x", "a ", "#a", '"'])


@st.composite
def changes(draw: st.DrawFn, names: st.SearchStrategy[Any] = TEXTS) -> Change:
    source, target = draw(st.lists(names, min_size=2, max_size=2, unique_by=str))
    kind = draw(st.sampled_from(["+", "-", "=", "+node", "-node"]))
    if kind.endswith("node"):
        return Change(kind[0], source, None, None)
    return Change(kind, source, target, None if kind == "-" else draw(st.none() | WEIGHTS))


STREAMS = st.lists(changes(), max_size=25)


def as_bytes(stream: list[Change], format: str, *, header: bool = True) -> bytes:
    if format == "jsonl":
        return "".join(json.dumps(change._asdict()) + "\n" for change in stream).encode()
    if format == "parquet":
        columns = {field: [getattr(change, field) for change in stream] for field in Change._fields}
        kind = pa.int64() if stream and isinstance(stream[0].source, int) else pa.string()
        types = dict(zip(Change._fields, (pa.string(), kind, kind, pa.float64()), strict=True))
        file = io.BytesIO()
        pq.write_table(pa.table({field: pa.array(columns[field], types[field]) for field in types}), file)
        return file.getvalue()
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="," if format == "csv" else "\t", lineterminator="\n")
    quoted = csv.writer(text, delimiter=writer.dialect.delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([Change._fields] if header else [])
    for change in stream:  # blanks at an end need quotes, which the writer does not know
        loose = any(str(field) != str(field).strip(" \t") for field in change)
        (quoted if loose else writer).writerow(["" if field is None else field for field in change])
    return text.getvalue().encode()


def records(groups: list[Group]) -> list[tuple[Any, ...]]:
    rows = []
    for group in groups:
        columns = group.operations.tolist(), group.sources, group.targets, group.weights.tolist()
        rows += list(zip(*columns, strict=True))
    return rows


def read(data: bytes, **options: Any) -> list[Group]:
    return list(read_changes(io.BytesIO(data), **options))


def read_until_error(data: bytes, **options: Any) -> tuple[list[Group], str]:
    groups: list[Group] = []
    with pytest.raises(InputError) as caught:
        groups.extend(read_changes(io.BytesIO(data), **options))  # keeps what came before the error
    return groups, str(caught.value)


@pytest.mark.parametrize("format", FORMATS)
@PATIENT
@given(stream=STREAMS, size=st.integers(1, 30), header=st.booleans())
def test_changes_come_back_in_groups_of_any_size(format: str, stream: list[Change], size: int, header: bool) -> None:
    groups = read(as_bytes(stream, format, header=header), size=size, format=format)
    assert records(groups) == [change.expected for change in stream]
    assert [len(group.sources) for group in groups[:-1]] == [size] * (len(groups) - 1)
    assert all(0 < len(group.sources) <= size for group in groups)
    assert [group.first for group in groups] == list(range(1, len(stream) + 1, size))
    assert [group.records for group in groups] == [
        min(first + size, len(stream)) for first in range(0, len(stream), size)
    ]
    assert all(group.operations.dtype == np.uint8 and group.weights.dtype == np.float32 for group in groups)


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("format", FORMATS)
def test_files_are_told_by_their_names(tmp_path: Path, format: str, suffix: str) -> None:
    stream = [Change("+", "ann", "bob", 2.5), Change("-", "ann", "bob", None), Change("+", "eve", None, None)]
    path = tmp_path / f"changes.{format}{suffix}"
    path.write_bytes(PACKERS[suffix](as_bytes(stream, format)))
    assert records(list(read_changes(path))) == [change.expected for change in stream]
    with path.open("rb") as file:
        assert records(list(read_changes(file))) == [change.expected for change in stream]


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
@PATIENT
@given(stream=st.lists(changes(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 5)), max_size=12))
def test_integers_stay_integers(format: str, stream: list[Change]) -> None:
    groups = read(as_bytes(stream, format), size=5, format=format)
    assert records(groups) == [change.expected for change in stream]
    assert all(type(name) is int for group in groups for name in group.sources)


def test_integers_that_a_table_made_floats_are_integers() -> None:
    file = io.BytesIO()
    table = {"op": ["+", "-", "+"], "source": [1.0, 2.0, 3.0], "target": [2.0, None, float("nan")]}
    pq.write_table(pa.table(table), file)
    (group,) = read(file.getvalue())
    assert (group.sources, group.targets) == ([1, 2, 3], [2, None, None])
    assert type(group.sources[0]) is int and group.operations.tolist() == [ADD, REMOVE_NODE, ADD_NODE]


@PATIENT
@given(stream=STREAMS, size=st.integers(1, 9), other=st.integers(1, 9), skip=st.integers(0, 25))
def test_any_skip_goes_on_where_it_stood(stream: list[Change], size: int, other: int, skip: int) -> None:
    data, skip = as_bytes(stream, "csv"), min(skip, len(stream))
    digests = {group.records: group.digest for group in read(data, size=1)}
    assert len(set(digests.values())) == len(digests)
    rest = read(data, size=size, skip=skip, digest=digests.get(skip))
    assert records(rest) == [change.expected for change in stream[skip:]]
    for groups in (rest, read(data, size=other), read(as_bytes(stream, "jsonl"), size=size)):
        assert all(group.digest == digests[group.records] for group in groups)
    assert [group.first for group in rest] == list(range(skip + 1, len(stream) + 1, size))


@PATIENT
@given(stream=st.lists(changes(), min_size=1, max_size=8), at=st.integers(0, 7), other=changes())
def test_another_change_has_another_digest(stream: list[Change], at: int, other: Change) -> None:
    at = min(at, len(stream) - 1)
    edited = [*stream[:at], other, *stream[at + 1 :]]
    same = stream[at].expected == other.expected
    digests = [read(as_bytes(each, "csv"))[-1].digest for each in (stream, edited)]
    assert (digests[0] == digests[1]) == same
    if not same:
        groups, message = read_until_error(as_bytes(edited, "csv"), skip=len(stream), digest=digests[0])
        assert groups == [] and "this is another file" in message


def test_a_shorter_file_is_another_file(tmp_path: Path) -> None:
    path = tmp_path / "changes.csv"
    path.write_bytes(b"+,a,b,\n+,a,c,\n")
    with pytest.raises(InputError, match=r"changes.csv: this is another file: 3 records .* and it has 2$"):
        list(read_changes(path, skip=3))
    assert list(read_changes(path, skip=2)) == []
    groups, message = read_until_error(b"+,a,b,\n+,a,a,\n", skip=2)
    assert groups == [] and "this is another file" in message and "line 2" in message and "self-loop" in message
    with pytest.raises(InputError, match="another file"):
        list(read_changes(path, digest="0" * 32))


CUTS = [
    Change("+", "anna", "bob", 12.5),
    Change("=", 'b"o, b', "eve", 125.0),
    Change("-", "émile", "bob", None),
    Change("-", "anna", None, None),
    Change("+", "x1", "x12", None),
    Change("+", "x1", "x123", 7.0),
]


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("size", [1, 2])
def test_a_file_cut_anywhere_gives_whole_groups_alone(format: str, suffix: str, size: int) -> None:
    data = PACKERS[suffix](as_bytes(CUTS, format))
    truth = records(read(data, size=size, format=format))
    assert truth == [change.expected for change in CUTS]
    for end in range(len(data)):
        groups: list[Group] = []
        message = ""
        try:
            groups.extend(read_changes(io.BytesIO(data[:end]), size=size, format=format))
        except FormatError as error:
            message = str(error)
        part = records(groups)
        assert part == truth[: len(part)], end
        text = not suffix and format != "parquet"
        whole = end == 0 if not text else data[:end].endswith((b"\n", b"}")) or end == 0
        assert bool(message) == (not whole or format == "parquet"), end
        if message and text:
            line = data[:end].count(b"\n") + 1
            number = line - (format != "jsonl")
            assert message.startswith(f"the stream, line {line}: record {max(number, 1)} is not whole:")
            assert "--resume goes on" in message and "end it with a line end" in message
            assert len(part) == max(number - 1, 0) // size * size


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_cut_compressed_file_gives_what_it_holds(tmp_path: Path, suffix: str) -> None:
    lines = b"".join(b"+,%d,%d,\n" % (number * 7919 % 100_003, number + 200_000) for number in range(80_000))
    packed = PACKERS[suffix](lines)
    path = tmp_path / f"changes.csv{suffix}"
    path.write_bytes(packed[: len(packed) * 9 // 10])
    groups: list[Group] = []
    with pytest.raises(
        FormatError, match=rf"line (\d+): record \1 is not whole: the {suffix[1:]} data .*--resume"
    ) as error:
        groups.extend(read_changes(path))
    count = groups[-1].records
    assert count > 25_000 and count % 1000 == 0
    number = re.search(r"record (\d+)", str(error.value))
    assert number is not None and 0 < int(number[1]) - count <= 1000
    whole = b"\n".join(lines.split(b"\n")[:count]) + b"\n"
    assert read(whole, size=count)[0].digest == groups[-1].digest
