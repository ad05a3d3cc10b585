"""`read_changes`: the message of each bad record, what is refused with it, and what text may look like."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_runs import run, works
from graphrefine.errors import FormatError, InputError
from graphrefine.live.change_checks import convert, describe_problem
from graphrefine.live.change_lines import Block
from graphrefine.live.changes import Group, read_changes
from processes import start_process
from strategies import PATIENT

GOOD = b"+,ann,bob,2\n-,ann,bob,\n"
BAD = {
    "*,a,b,": "line 3: op '*' is not known; it must be + (add), - (remove) or = (set a weight)",
    ",a,b,": "line 3: op '' is not known",
    "+,,b,": "line 3: the source is empty; name a node",
    "-,,,": "line 3: the source is empty; name a node",
    "=,a,,2": "line 3: the target is empty; = sets the weight of an edge: name both of its nodes",
    "+,a,,2": "line 3: weight '2' stands beside a node (with an empty target + adds one); leave it empty",
    "-,a,,2": "line 3: weight '2' stands beside a node (with an empty target - removes one); leave it empty",
    "-,a,b,2": "line 3: weight '2' stands beside -, which removes; leave it empty, or set a weight by =",
    "+,a,b,-2": "line 3: weight '-2' is negative; weights must be positive",
    "=,a,b,0": "line 3: weight '0' is no edge; remove an edge by -",
    "+,a,b,nan": "line 3: weight 'nan' is not a finite float32 number above 0; weights must be",
    "+,a,b,inf": "line 3: weight 'inf' is not a finite float32 number above 0; weights must be",
    "+,a,b,1e39": "line 3: weight '1e39' is not a finite float32 number above 0; weights must be",
    "+,a,b,1e-60": "line 3: weight '1e-60' is not a finite float32 number above 0; weights must be",
    "+,a,b,two": "line 3: weight 'two' is not a number; write it as 2 or 0.5, or leave it empty for 1",
    "+,a,b,1_0": "line 3: weight '1_0' is not a number",
    "+,a,b,٣": "line 3: weight '٣' is not a number",
    "+,a,a,": "line 3: source and target are both 'a', a self-loop; leave it out, as an edge joins two nodes",
    "+,a": "line 3: there are 2 fields (split by commas), where 3 or 4 are needed (op, source, target, weight): '+,a'",
    "+": "line 3: there is 1 field (split by commas), where 3 or 4",
    "+,a,b,1,5": "line 3: there are 5 fields (split by commas), where 3 or 4",
    '+,"a,b,': "line 3: a quote is opened and not closed on this line; close it, as a name must fit on one line",
    '+,"a"x,b,': "line 3: characters stand after the quote that closes a field; double a quote within a field",
    "+,a\0,b,": "line 3: a zero byte stands in the line; changes are text in UTF-8, or parquet",
    "+,a\rb,c,": "line 3: a return (\\r) stands within the line; end lines with \\n or \\r\\n",
}


def refuse(data: bytes, **options: Any) -> tuple[list[Group], str]:
    """The groups before an error, and its message."""
    groups: list[Group] = []
    with pytest.raises(FormatError) as caught:
        groups.extend(read_changes(io.BytesIO(data), **options))
    return groups, str(caught.value)


@pytest.mark.parametrize("line", BAD)
def test_a_bad_record_is_named_and_refuses_its_group(line: str) -> None:
    data = GOOD + line.encode() + b"\n+,x,y,\n*,a,b,\n"
    for size, whole in ((1, 2), (2, 1), (3, 0)):
        groups, message = refuse(data, size=size)
        assert message.startswith(f"the stream, {BAD[line]}")
        assert len(groups) == whole and all(len(group.sources) == size for group in groups)


def test_text_that_is_not_utf8() -> None:
    groups, message = refuse(GOOD + b"+,caf\xe9,b,\n", size=2)
    assert len(groups) == 1
    assert message == "the stream, line 3: the text is not UTF-8 (byte 0xe9); save the file as UTF-8"
    assert "line 1: the text is not UTF-8" in refuse("+,a,b,\n".encode("utf-16"))[1]


HEADERS = {
    b"operation,source,target\n": "no column is called 'op' ('operation', 'source', 'target'); op, source and target",
    b"op,from,to\n": "no column is called 'source'",
    b"op,op,source,target\n": "two columns are called 'op'",
    b"op,source,target,weights\n": "no column is called 'weight', but one is called 'weights'; rename it",
    b"action,from,to\n": "op 'action' is not known; it must be + (add), - (remove) or = (set a weight); a header",
}


@pytest.mark.parametrize("header", HEADERS)
def test_a_header_that_names_too_little(header: bytes) -> None:
    groups, message = refuse(b"\n" + header + GOOD)
    assert groups == [] and message.startswith(f"the stream, line 2: {HEADERS[header]}")


def test_a_header_gives_the_order_and_the_number_of_fields() -> None:
    data = b"\xef\xbb\xbfTime,Weight,TARGET,Op,source\n1,2,bob,+,ann\n2,,,-,eve\n"
    (group,) = read_changes(io.BytesIO(data))
    assert (group.sources, group.targets, group.weights.tolist()) == (["ann", "eve"], ["bob", None], [2.0, 0.0])
    message = refuse(b"op,source,target,weight\n+,a,b\n")[1]
    assert message == "the stream, line 2: there are 3 fields (split by commas), where the header has 4: '+,a,b'"


JSON = {
    '{"op": "+", "source": "a"}': "no column is called 'target' ('op', 'source')",
    '{"op": "+", "source": "a", "target": "b", "wieght": 2}': "no column is called 'weight', but one",
    '["+", "a", "b"]': 'this is no object such as {"op": "+", "source": "ann", "target": "bob"}: \'["+", "a", "b"]\'',
    '{"op": "+", "source": "a", "target": "b"} {}': "this is no object such as",
    '{"op": "+", "source": "a", "target': "this is no object such as",
    '{"op": "+", "source": 1.5, "target": "b"}': "source 1.5 is no name; give a text or a whole number",
    '{"op": "+", "source": true, "target": "b"}': "source True is no name",
    '{"op": "+", "source": null, "target": "b"}': "the source is empty",
    '{"op": "+", "source": "a", "target": ["b"]}': "target ['b'] is no name",
    '{"op": "+", "source": "a\\nb", "target": "b"}': "source 'a\\nb' holds a line end; names must fit on one line",
    '{"op": "+", "source": "\\ud800", "target": "b"}': "source '\\ud800' holds half of a surrogate pair",
    '{"op": "+", "source": 9223372036854775808, "target": "b"}': "source 9223372036854775808 is beyond 64 bits",
    '{"op": "+", "source": 1, "target": "1"}': "source and target are both 1, a self-loop",
    '{"op": "+", "source": 1, "target": 1.0}': "source and target are both 1, a self-loop",
    '{"op": ["+"], "source": 1, "target": 2}': "op ['+'] is not known",
    '{"op": "+", "source": 1, "target": 2, "weight": true}': "weight True is not a number",
    '{"op": "+", "source": 1, "target": 2, "weight": 0}': "weight 0 is no edge",
    '{"op": "+", "source": 1, "target": 2, "weight": NaN}': "weight nan is not a finite",
    '{"op": "+", "source": 1, "target": 2, "weight": 1' + "0" * 400 + "}": "weight 10000",
    "[" * 100_000: "this is no object such as",
}


@pytest.mark.parametrize("line", JSON, ids=range(len(JSON)))
def test_a_bad_object_is_named(line: str) -> None:
    good = json.dumps({"op": "+", "source": "ann", "target": 0})
    groups, message = refuse(f"{good}\n\n{line}\n{good}\n".encode(), size=1)
    assert message.startswith(f"the stream, line 3: {JSON[line]}")
    assert [group.targets for group in groups] == [[0]]


def test_a_bad_row_of_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "changes.parquet"
    rows = 40_000
    table = {"op": ["+"] * rows, "source": range(rows), "target": [-1] * (rows - 1) + [rows - 1]}
    pq.write_table(pa.table({name: list(column) for name, column in table.items()}), path)
    groups: list[Group] = []
    with pytest.raises(FormatError, match=r"changes.parquet: record 40000: source and target are both 39999") as error:
        groups.extend(read_changes(path, size=700))
    assert groups[-1].records == 39_900 and error.value.__cause__ is None
    pq.write_table(pa.table({"source": [1], "target": [2]}), path)
    with pytest.raises(FormatError, match=r"changes.parquet: no column is called 'op'"):
        list(read_changes(path))


VALUES = st.sampled_from([None, "", "a", "b", 1, 1.0, 2.5, True, math.nan, "\n", "\ud800", 2**70, "1", "None", 0, "0"])
NUMBERS = st.sampled_from(
    [None, "2", " 2 ", "", "-1", "0", 0, -1, 3, 1.5, math.inf, math.nan, True, "1_0", 10**400, "x"]
)


@PATIENT
@given(st.sampled_from(["+", "-", "=", "", "*", None, 1]), VALUES, VALUES.filter(lambda value: value != ""), NUMBERS)
def test_a_block_is_refused_exactly_if_a_record_has_a_problem(op: Any, source: Any, target: Any, weight: Any) -> None:
    block = Block(["+", op], ["x", source], ["y", target], [None, weight], [1, 2])
    problem = describe_problem(op, source, target, weight)
    if problem is None:
        assert len(convert(block).sources) == 2
    else:
        with pytest.raises(ValueError):
            convert(block)


def test_text_as_people_write_it() -> None:
    data = b'\n + , ann ,bob, 2 \r\n\r\n   \n=,"Smith, J" ," a b",.5\n-,ann,bob\n+,"say ""hi""",5" pipe,1e2\n'
    (group,) = read_changes(io.BytesIO(data))
    assert group.sources == ["ann", "Smith, J", "ann", 'say "hi"']
    assert group.targets == ["bob", " a b", "bob", '5" pipe']
    assert group.weights.tolist() == [2.0, 0.5, 0.0, 100.0]
    assert refuse(data + b"+,a,a,\n")[1].startswith("the stream, line 8: source and target")


@pytest.mark.parametrize("data", [b"", b"\n\n", b"op,source,target\n", b"\xef\xbb\xbf", b"  "])
def test_a_file_without_records_has_no_groups(data: bytes) -> None:
    assert list(read_changes(io.BytesIO(data))) == []


def test_a_whole_last_object_needs_no_line_end() -> None:
    line = b'{"op": "+", "source": "a", "target": "b"}'
    (group,) = read_changes(io.BytesIO(b"\xef\xbb\xbf" + line))
    assert group.sources == ["a"]
    assert "record 2 is not whole" in refuse(line + b"\n" + line[:-1])[1]


def test_a_line_without_end_is_not_held() -> None:
    assert "the line has more than 1048576 bytes" in refuse(b"+,a,b,\n" + b"x" * 3_000_000)[1]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("gone.csv", None, "gone.csv: there is no such file"),
        ("changes.xlsx", b"", "changes.xlsx: the suffix '.xlsx' is not one of changes: .*format='csv'"),
        ("changes.csv.gz", b"+,a,b,\n", "changes.csv.gz: the name says .gz, but the content is something else"),
        ("changes.csv.gz", b"", "changes.csv.gz: the file is empty; a change is expected on each line"),
        ("changes.csv", b"<!doctype html><p>", "changes.csv: this is a web page"),
        ("changes.parquet", b"PAR1 cut", "changes.parquet: this is not a readable parquet file"),
        ("changes.parquet", None, "changes.parquet: there is no such file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, content: bytes | None, problem: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=problem):
        list(read_changes(tmp_path / name))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"size": 0}, "size=0 must be at least 1"),
        ({"skip": -1}, "skip=-1 must be at least 0"),
        ({"format": "jsonnl"}, "format='jsonnl' is not known .did you mean 'jsonl'.*; changes can be csv, tsv, jsonl"),
    ],
)
def test_arguments_that_cannot_be_used(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem) as error:
        read_changes("changes.csv", **options)
    assert error.value.argument in options


PROGRAM = """
from graphrefine.live.changes import read_changes
for group in read_changes("-", size=1):
    print(group.sources, group.targets, flush=True)
"""


def test_standard_input_is_read_as_it_comes() -> None:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start_process([sys.executable, "-c", PROGRAM], **pipes) as process:
        assert process.stdin and process.stdout and process.stderr
        for name in (b"a", b"c"):
            process.stdin.write(b"+,%s,b,\n" % name)
            process.stdin.flush()
            assert process.stdout.readline() == f"['{name.decode()}'] ['b']\n".encode()
        process.stdin.write(b"+,d,b")
        process.stdin.close()
        assert process.stdout.read() == b""
        assert b"FormatError: standard input, line 3: record 3 is not whole" in process.stderr.read()
        assert process.wait() == 1


class Endless(io.RawIOBase):
    """Lines that are made while they are read."""

    def __init__(self, count: int) -> None:
        self.lines, self.count, self.rest = 0, count, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while len(self.rest) < len(buffer) and self.lines < self.count:
            self.rest += b"".join(b"+,%d,t,\n" % (self.lines + at) for at in range(1000))
            self.lines += 1000
        portion, self.rest = self.rest[: len(buffer)], self.rest[len(buffer) :]
        buffer[: len(portion)] = portion
        return len(portion)


def test_a_stream_is_not_held() -> None:
    file, ahead, records = Endless(400_000), 0, 0
    for group in read_changes(io.BufferedReader(file), size=500):
        records = group.records
        ahead = max(ahead, file.lines - records)
    assert records == 400_000
    assert ahead < 150_000  # the records of one portion and of one block, of at most 256 KB each


def test_the_way_to_names_as_text_works(tmp_path: Path) -> None:
    (tmp_path / "g.csv").write_text("source,target\n1,2\n2,3\n3,1\n")
    (tmp_path / "changes.csv").write_text("op,source,target\n+,bob,2\n")
    (tmp_path / "nodes.txt").write_text("bob\n")
    create = ("live", "create", tmp_path / "g.csv", "--dim", "2", "-o")
    works(*create, tmp_path / "integers.live")
    message = run("live", "apply", tmp_path / "integers.live", tmp_path / "changes.csv").err
    assert "'bob' is no integer" in message and "create the graph anew with nodes=, a file that lists such" in message
    works(*create, tmp_path / "texts.live", "--nodes", tmp_path / "nodes.txt")
    works("live", "apply", tmp_path / "texts.live", tmp_path / "changes.csv")
