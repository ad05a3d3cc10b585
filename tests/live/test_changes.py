"""`read_changes`: every format, any grouping and skip, cut files, what is refused, memory."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import FormatError, InputError
from graphrefine.live.change_log import Change, parse_change
from graphrefine.live.changes import Group, read_changes
from processes import start_process
from strategies import PATIENT

FORMATS = ["csv", "tsv", "jsonl"]
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: bytes(pa.compress(data, "zstd", asbytes=True)),
}


class Record(NamedTuple):
    """A record to be written."""

    op: str
    source: str | int
    target: str | int | None
    weight: float | None

    @property
    def change(self) -> Change:
        """The change that it is."""
        weight = 0.0 if self.op == "-" or self.target is None else 1.0 if self.weight is None else self.weight
        return Change(self.op, self.source, self.target, weight)


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=6)
TEXTS = WORDS | st.sampled_from(["a", "b", "c", 'say "hi"', "a,b", "op", "+", " ' x", "a ", "#a", '"'])
WEIGHTS = st.floats(2.0**-100, 2.0**100)


@st.composite
def records(draw: st.DrawFn, names: st.SearchStrategy[Any] = TEXTS) -> Record:
    source, target = draw(st.lists(names, min_size=2, max_size=2, unique_by=str))
    kind = draw(st.sampled_from(["+", "-", "=", "+node", "-node"]))
    if kind.endswith("node"):
        return Record(kind[0], source, None, None)
    return Record(kind, source, target, None if kind == "-" else draw(st.none() | WEIGHTS))


STREAMS = st.lists(records(), max_size=25)


def as_bytes(stream: list[Record], format: str, *, header: bool = True) -> bytes:
    if format == "jsonl":
        return "".join(json.dumps(record._asdict()) + "\n" for record in stream).encode()
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="," if format == "csv" else "\t", lineterminator="\n")
    quoted = csv.writer(text, delimiter=writer.dialect.delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows([Record._fields] if header else [])
    for record in stream:  # blanks at an end need quotes, which the writer does not know
        is_loose = any(str(field) != str(field).strip(" \t") for field in record)
        (quoted if is_loose else writer).writerow(["" if field is None else field for field in record])
    return text.getvalue().encode()


def changes_of(groups: list[Group]) -> list[Change]:
    return [change for group in groups for change in group.changes]


def expected(stream: list[Record]) -> list[Change]:
    return [record.change for record in stream]


def read(data: bytes, **options: Any) -> list[Group]:
    return list(read_changes(io.BytesIO(data), **options))


def refuse(data: bytes, **options: Any) -> tuple[list[Group], str]:
    """The groups before an error, and its message."""
    groups: list[Group] = []
    with pytest.raises(FormatError) as caught:
        groups.extend(read_changes(io.BytesIO(data), **options))
    return groups, str(caught.value)


# ---- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", FORMATS)
@PATIENT
@given(stream=STREAMS, size=st.integers(1, 30), header=st.booleans())
def test_changes_come_back_in_groups_of_any_size(format: str, stream: list[Record], size: int, header: bool) -> None:
    groups = read(as_bytes(stream, format, header=header), size=size, format=format)
    assert changes_of(groups) == expected(stream)
    firsts = list(range(1, len(stream) + 1, size))
    assert [group.first for group in groups] == firsts
    assert [group.records for group in groups] == [min(first - 1 + size, len(stream)) for first in firsts]


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("format", FORMATS)
def test_formats_are_found_by_names_and_by_first_bytes(tmp_path: Path, format: str, suffix: str) -> None:
    stream = [Record("+", "ann", "bob", 2.5), Record("-", "ann", "bob", None), Record("+", "eve", None, None)]
    path = tmp_path / f"changes.{format}{suffix}"
    path.write_bytes(PACKERS[suffix](as_bytes(stream, format)))
    assert changes_of(list(read_changes(path))) == expected(stream)
    with path.open("rb") as file:
        given = format if format == "tsv" else None  # as commas are expected where nothing tells
        assert changes_of(list(read_changes(file, format=given))) == expected(stream)


def test_integers_stay_integers_also_where_a_table_made_them_floats() -> None:
    floats = b'{"op": "+", "source": 1.0, "target": 2.0}\n{"op": "-", "source": 2.0, "target": null}\n'
    (group,) = read(floats + b'{"op": "+", "source": 3.0, "target": NaN}\n')
    assert group.changes == [("+", 1, 2, 1.0), ("-", 2, None, 0.0), ("+", 3, None, 0.0)]
    assert type(group.changes[0].source) is int
    stream = [Record("+", -(2**63), 2**63 - 1, None), Record("-", 0, 7, None)]
    changes = changes_of(read(as_bytes(stream, "jsonl")))
    assert changes == expected(stream) and all(type(change.source) is int for change in changes)


@PATIENT
@given(stream=STREAMS, size=st.integers(1, 9), other=st.integers(1, 9), skip=st.integers(0, 25))
def test_any_skip_resumes_after_it(stream: list[Record], size: int, other: int, skip: int) -> None:
    data, skip = as_bytes(stream, "csv"), min(skip, len(stream))
    digests = {group.records: group.digest for group in read(data, size=1)}
    assert len(set(digests.values())) == len(digests)
    rest = read(data, size=size, skip=skip, digest=digests.get(skip))
    assert changes_of(rest) == expected(stream[skip:])
    for groups in (rest, read(data, size=other), read(as_bytes(stream, "jsonl"), size=size)):
        assert all(group.digest == digests[group.records] for group in groups)
    assert [group.first for group in rest] == list(range(skip + 1, len(stream) + 1, size))


@PATIENT
@given(stream=st.lists(records(), min_size=1, max_size=8), at=st.integers(0, 7), other=records())
def test_another_change_has_another_digest(stream: list[Record], at: int, other: Record) -> None:
    at = min(at, len(stream) - 1)
    edited = [*stream[:at], other, *stream[at + 1 :]]
    digests = [read(as_bytes(each, "csv"))[-1].digest for each in (stream, edited)]
    assert (digests[0] == digests[1]) == (stream[at].change == other.change)
    if digests[0] != digests[1]:
        groups, message = refuse(as_bytes(edited, "csv"), skip=len(stream), digest=digests[0])
        assert groups == [] and "another file" in message
    groups, message = refuse(as_bytes(stream, "csv"), skip=len(stream) + 1)
    assert groups == [] and "another file" in message


def test_text_as_people_write_it() -> None:
    data = b'\n + , ann ,bob, 2 \r\n\r\n   \n=,"Smith, J" ," a b",.5\n-,ann,bob\n+,"say ""hi""",5" pipe,1e2\n'
    (group,) = read(data)
    assert group.changes == [
        ("+", "ann", "bob", 2.0), ("=", "Smith, J", " a b", 0.5), ("-", "ann", "bob", 0.0),
        ("+", 'say "hi"', '5" pipe', 100.0),
    ]  # fmt: skip
    assert "line 8" in refuse(data + b"*,a,b,\n")[1]


def test_a_header_names_the_columns_in_any_order() -> None:
    (group,) = read(b"\xef\xbb\xbfTime,Weight,TARGET,Op,source\n1,2,bob,+,ann\n2,,,-,eve\n")
    assert group.changes == [("+", "ann", "bob", 2.0), ("-", "eve", None, 0.0)]
    for data in (b"", b"\n\n", b"op,source,target\n", b"\xef\xbb\xbf", b"  "):
        assert read(data) == [], "no records"


# ---- what is cut -----------------------------------------------------------------------------------------------------

CUTS = [
    Record("+", "anna", "bob", 12.5),
    Record("=", 'b"o, b', "eve", 125.0),
    Record("-", "émile", "bob", None),
    Record("-", "anna", None, None),
    Record("+", "x1", "x12", None),
    Record("+", "x1", "x123", 7.0),
]


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("size", [1, 2])
def test_a_file_cut_anywhere_gives_whole_groups_alone(format: str, suffix: str, size: int) -> None:
    data, truth = PACKERS[suffix](as_bytes(CUTS, format)), expected(CUTS)
    for end in range(len(data)):
        groups: list[Group] = []
        message = ""
        try:
            groups.extend(read_changes(io.BytesIO(data[:end]), size=size, format=format))
        except FormatError as error:
            message = str(error)
        part = changes_of(groups)
        assert part == truth[: len(part)], end
        is_text = not suffix
        is_whole = end == 0 or (is_text and data[:end].endswith((b"\n", b"}")))
        assert bool(message) != is_whole, end
        if message and is_text:
            line = data[:end].count(b"\n") + 1
            number = line - (format != "jsonl")
            assert message.startswith(f"the stream, line {line}: ")
            assert "--resume" in message and len(part) == max(number - 1, 0) // size * size


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_cut_compressed_file_gives_what_it_holds(tmp_path: Path, suffix: str) -> None:
    lines = b"".join(b"+,%d,%d,\n" % (number * 7919 % 100_003, number + 200_000) for number in range(80_000))
    packed = PACKERS[suffix](lines)
    path = tmp_path / f"changes.csv{suffix}"
    path.write_bytes(packed[: len(packed) * 9 // 10])
    groups: list[Group] = []
    with pytest.raises(FormatError, match=f"the {suffix[1:]} data"):
        groups.extend(read_changes(path))
    count = groups[-1].records
    assert count > 25_000 and count % 1000 == 0
    whole = b"\n".join(lines.split(b"\n")[:count]) + b"\n"
    assert read(whole, size=count)[0].digest == groups[-1].digest


# ---- what is refused -------------------------------------------------------------------------------------------------

GOOD = b'{"op": "+", "source": "ann", "target": 0}\n'
BAD: dict[bytes, tuple[str, ...]] = {  # the first lines that are good, and bad ones with a fact that their error has
    b"+,ann,bob,2\n-,ann,bob,\n": (
        "*,a,b,|'*'", ",a,b,|op ''", "-,,,|empty", "=,a,,2|empty", "+,a,,2|'2'", "-,a,,2|'2'", "-,a,b,2|'2'",
        "+,a,b,-2|'-2'", "=,a,b,0|'0'", "+,a,b,nan|'nan'", "+,a,b,inf|'inf'", "+,a,b,1e39|'1e39'",
        "+,a,b,1e-60|'1e-60'", "+,a,b,two|'two'", "+,a,b,1_0|'1_0'", "+,a,b,٣|٣", "+,a|2 field", "+|1 field",
        "+,a,b,1,5|5 field", '+,"a,b,|quote', '+,"a"x,b,|quote', "+,a\0,b,|no name", "+,a\rb,c,|no name",
        "+,caf\udce9,b,|0xe9",
    ),
    GOOD * 2: (
        '{"op": "+", "source": "a"}|\'target\'', '["+", "a", "b"]|object', "[" * 100_000 + "|object",
        '{"op": "+", "source": "a", "target": "b", "wieght": 2}|\'wieght\'',
        '{"op": "+", "source": "a", "target": "b"} {}|object', '{"op": "+", "source": "a", "target": |object',
        '{"op": "+", "source": 1.5, "target": "b"}|1.5', '{"op": "+", "source": true, "target": "b"}|True',
        '{"op": "+", "source": null, "target": null}|empty', '{"op": "+", "source": "a", "target": ["b"]}|[\'b\']',
        '{"op": "+", "source": "a\\nb", "target": "b"}|no name',
        '{"op": "+", "source": "\\ud800", "target": 1}|no name',
        '{"op": "+", "source": 9223372036854775808, "target": "b"}|9223372036854775808',
        '{"op": ["+"], "source": 1, "target": 2}|[\'+\']', '{"op": "+", "source": 1, "target": 2, "weight": true}|True',
        '{"op": "+", "source": 1, "target": 2, "weight": 0}|weight 0',
        '{"op": "+", "source": 1, "target": 2, "weight": NaN}|nan',
        '{"op": "+", "source": 1, "target": 2, "weight": 1' + "0" * 400 + "}|10000",
    ),
}  # fmt: skip


@pytest.mark.parametrize("good", BAD, ids=["csv", "jsonl"])
def test_a_bad_line_is_named_and_refuses_its_group(good: bytes) -> None:
    for case in BAD[good]:
        line, _, fact = case.rpartition("|")
        for size, whole in ((1, 2), (2, 1), (3, 0)):
            groups, message = refuse(good + line.encode("utf-8", "surrogateescape") + b"\n" + good, size=size)
            assert message.startswith("the stream, line 3: ") and fact in message, case
            assert [len(group.changes) for group in groups] == [size] * whole


def test_a_header_that_names_too_little() -> None:
    headers = {"operation,source,target": "'op'", "op,from,to": "'source'", "op,op,source,target": "'op'"}
    for header, fact in {**headers, "op,source,target,weights": "'weights'"}.items():
        groups, message = refuse(f"\n{header}\n+,a,b,1\n".encode())
        assert groups == [] and message.startswith("the stream, line 2: ") and fact in message


VALUES = st.sampled_from([None, "", "a", "b", 1, 1.0, 2.5, True, math.nan, "\n", "\ud800", 2**70, "1", "None", 0, "0"])
NUMBERS = st.sampled_from(
    [None, "2", " 2 ", "", "-1", "0", 0, -1, 3, 1.5, math.inf, math.nan, True, "1_0", 10**400, "x"]
)


@PATIENT
@given(st.sampled_from(["+", "-", "=", "", "*", None, 1]), VALUES, VALUES, NUMBERS)
def test_any_values_are_a_proper_change_or_a_problem(op: Any, source: Any, target: Any, weight: Any) -> None:
    try:
        change = parse_change([op, source, target, weight])
    except InputError:
        return
    assert change.sign in "+-=" and type(change.weight) is float
    ends = [each for each in (change.source, change.target) if each is not None]
    assert ends and all(type(each) in (str, int) and each != "" for each in ends)
    assert (change.weight > 0) == (op != "-" and len(ends) == 2)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    files = {"changes.xlsx": b"", "changes.csv.gz": b"+,a,b,\n", "empty.csv.gz": b"", "changes.jsonnl": b""}
    files |= {"changes.csv": b"<!doctype html><p>", "changes.parquet": b"PAR1", "stream.csv": b"PAR1\xff"}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    for name in (*files, "gone.csv"):
        with pytest.raises(FormatError, match=name):
            list(read_changes(tmp_path / name))


# ---- streams ---------------------------------------------------------------------------------------------------------

PROGRAM = """
from graphrefine.live.changes import read_changes
for group in read_changes("-", size=1):
    print(group.changes[0].source, flush=True)
"""


def test_standard_input_is_read_as_it_comes() -> None:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start_process([sys.executable, "-c", PROGRAM], **pipes) as process:
        assert process.stdin and process.stdout and process.stderr
        for name in (b"a", b"c"):
            process.stdin.write(b"+,%s,b,\n" % name)
            process.stdin.flush()
            assert process.stdout.readline() == name + b"\n"
        process.stdin.write(b"+,d,b")
        process.stdin.close()
        assert process.stdout.read() == b""
        assert b"standard input, line 3: " in process.stderr.read()
        assert process.wait() == 1


class Endless(io.RawIOBase):
    """Lines that are made while they are read."""

    def __init__(self, count: int, line: bytes = b"+,%d,t,\n") -> None:
        self.lines, self.count, self.rest, self.line = 0, count, b"", line

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self.rest) < len(buffer) and self.lines < self.count:
            fresh = [self.line % number if b"%" in self.line else self.line for number in range(1000)]
            self.rest += b"".join(fresh)
            self.lines += 1000
        portion, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(portion)] = portion
        return len(portion)


def test_a_stream_is_not_held() -> None:
    file, ahead, count = Endless(200_000), 0, 0
    for group in read_changes(io.BufferedReader(file), size=500):
        count = group.records
        ahead = max(ahead, file.lines - count)
    assert count == 200_000
    assert ahead < 100_000  # the records of one portion, of at most 256 KB, and of the buffer before it
    file = Endless(1 << 30, line=b"x")
    with pytest.raises(FormatError, match=r"line 1: .*no line end"):
        list(read_changes(io.BufferedReader(file)))
    assert file.lines < 1 << 23
