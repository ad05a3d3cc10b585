"""Text tables of which nothing is said: read as they were written, or refused for a known reason; hardly ever else."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from graphrefine.errors import InputError
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
