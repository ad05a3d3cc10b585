"""Text tables of which nothing is said: read as they were written, or refused for a known reason; hardly ever else."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from graphrefine.errors import AmbiguousTable, FormatError, InputError
from graphrefine.ingestion.ingest import ingest
from graphrefine.readers.read import read
from graphrefine.tables.dialect import DELIMITERS
from text_tables import BLANKS, TextTable, draw_table

RIGHT, HEADER, RECORDS, DELIMITER = "as written", "another header", "other records", "another delimiter"
UNKNOWN = "unknown"
ARGUMENTS = {"header", "delimiter", "comments", "source", "weights", "time", "quote"}
PROBLEMS = r"no edge|quote|columns? \(split by|where \d+ are needed|an edge needs two columns|line (end|break)"
WORDS = {word: character for character, word in DELIMITERS.items()}


def name_reading(table: TextTable, path: Path) -> str:
    """How a text is read, compared with what was written; or why it is refused."""
    path.write_bytes(table.encode())
    try:
        report = read(path, threads=1).report
    except InputError as error:
        known = error.argument in ARGUMENTS or re.search(PROBLEMS, str(error))
        return f"refused: {error.argument}" if known else f"{UNKNOWN}: {error}"
    if WORDS.get(report["delimiter"], report["delimiter"]) != table.delimiter:
        return DELIMITER
    if report["header"] != (table.header is not None):
        return HEADER
    rows = [*table.rows] if table.header is None else [table.header, *table.rows]
    has_blank = any(not "".join(row).strip(BLANKS) for row in rows)
    return RIGHT if report["records"] == len(table.rows) or has_blank else RECORDS


def check_many(seeds: range, folder: Path) -> None:
    readings = Counter(name_reading(draw_table(Random(seed), plain=True), folder / "edges.txt") for seed in seeds)
    print(*(f"{count:9,}  {name}" for name, count in readings.most_common()), sep="\n")
    assert not [name for name in readings if UNKNOWN in name]
    assert readings[DELIMITER] + readings[RECORDS] <= readings.total() / 100
    assert readings[RIGHT] > readings.total() / 3


def test_drawn_tables(tmp_path: Path) -> None:
    check_many(range(300), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_drawn_tables(tmp_path: Path) -> None:
    check_many(range(1_000, 31_000), tmp_path)


def test_another_reading_has_another_name(tmp_path: Path) -> None:
    """The control: what was written otherwise is noticed."""
    table = TextTable("a;b\nb;c\n", "", [("a", "b"), ("b", "c")], None, ";", '"', None, (0, 1, None))
    assert name_reading(table, tmp_path / "t.txt") == RIGHT
    for name, change in ((DELIMITER, {"delimiter": ","}), (HEADER, {"header": ("u", "v")}), (RECORDS, {"rows": []})):
        assert name_reading(TextTable(**{**vars(table), **change}), tmp_path / "t.txt") == name


def written(folder: Path, text: str, name: str = "edges.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "names", "comments"),
    [
        ("# by hand\n% and more\npython,#coding\n#java,python\n", ["#coding", "#java", "python"], 2),
        ("#python,#coding\n#java,#python\n", ["#coding", "#java", "#python"], 0),
        ("python,%x\n%y,python\n", ["%x", "%y", "python"], 0),
        ("#source,target\n1,2\n2,3\n", [1, 2, 3], 1),
        ("\n  # blank lines, and blanks before\n\n1,2\n", [1, 2], 1),
    ],
)
def test_signs_begin_comments_before_the_first_record_only(
    tmp_path: Path, text: str, names: list[Any], comments: int
) -> None:
    graph = read(written(tmp_path, text))
    assert (graph.names.tolist(), graph.report["comments"]) == (names, comments)


def test_first_lines_that_may_be_comments_or_names_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "#python,#coding\njava,python\n#coding,java\n")
    with pytest.raises(FormatError, match=r"line 1: names below begin as comments do.*comments='#' .* comments=''"):
        read(path)
    assert read(path, comments="").names.tolist() == ["#coding", "#python", "java", "python"]
    assert read(path, comments="#").names.tolist() == ["java", "python"]


@pytest.mark.parametrize(
    ("name", "text", "delimiter", "names"),
    [
        ("e.csv", "Smith, John;Doe, Jane\nDoe, Jane;Roe, Max\n", ";", ["Doe, Jane", "Roe, Max", "Smith, John"]),
        ("e.csv", "1,5;2\n2,5;3\n", ";", ["1,5", "2", "2,5", "3"]),
        ("e.txt", "ann smith,bob jones\nbob jones,cleo x\n", ",", ["ann smith", "bob jones", "cleo x"]),
        ("e.txt", "1, 2\n2, 3\n", None, [1, 2, 3]),
        ("e.txt", "a|b\nb|c\n", None, ["a", "b", "c"]),
    ],
)
def test_two_delimiters_are_refused(
    tmp_path: Path, name: str, text: str, delimiter: str | None, names: list[Any]
) -> None:
    path = written(tmp_path, text, name)
    if delimiter is not None:
        with pytest.raises(AmbiguousTable, match="split in two ways") as caught:
            read(path)
        assert f"delimiter={delimiter!r}" in caught.value.readings
    assert read(path, delimiter=delimiter, header=False).names.tolist() == names


def test_lines_of_old_machines(tmp_path: Path) -> None:
    path = written(tmp_path, "source,target\ra,b\rb,c\r")
    assert read(path).names.tolist() == ingest(path, tmp_path / "g.grf").names.tolist() == ["a", "b", "c"]
    with pytest.raises(FormatError, match="line 2: a return"):
        read(written(tmp_path, "source,target\na\rx,b\nb,c\n"))
    assert read(written(tmp_path, 'source,target,note\na,b,"x\ry"\nb,c,z\n')).names.tolist() == ["a", "b", "c"]


def test_blanks_around_names_are_dropped_and_counted_for_every_delimiter(tmp_path: Path) -> None:
    for mark, name in ((",", "e.csv"), ("\t", "e.tsv"), (";", "e.csv"), ("|", "e.txt")):
        text = f'ann{mark} bob \nbob{mark}cleo\n cleo{mark}" dan "\n'
        graph = read(written(tmp_path, text, name))
        assert graph.names.tolist() == [" dan ", "ann", "bob", "cleo"], name
        assert graph.report["trimmed"] == 2
        assert graph.reading.endswith("names with blanks around them, read without: 2")


LARGE = 40_000


def test_quoted_line_ends_are_cut_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, 900, (LARGE, 2)).tolist()
    note = '"Dear all,\n1,2\n""see"" you\r\n"'
    text = "source,target,note\n" + "".join(f"n{u},n{v},{note if u % 3 else 'x'}\n" for u, v in pairs)
    path = written(tmp_path, text)
    expected = read([(f"n{u}", f"n{v}") for u, v in pairs])
    for graph in (read(path), ingest(path, tmp_path / "g.grf", memory="256MB")):
        assert graph.names.tolist() == expected.names.tolist()
        np.testing.assert_array_equal(graph.indices, expected.indices)
        np.testing.assert_array_equal(graph.weights, expected.weights)


def test_a_first_record_longer_than_the_sample(tmp_path: Path) -> None:
    note = "very long\n" * 20_000
    path = written(tmp_path, f'source,target,note\na,b,"{note}"\nb,c,"{note}"\n')
    assert read(path).names.tolist() == ingest(path, tmp_path / "g.grf").names.tolist() == ["a", "b", "c"]
