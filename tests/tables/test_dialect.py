"""Text tables of which nothing is said, read by `graphrefine.read`, pandas, polars and DuckDB.

They need not agree, but every difference has a name: a kind of difference that nobody has seen fails the test.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from time import perf_counter

import pytest

from graphrefine.errors import InputError
from graphrefine.readers.read import read
from graphrefine.tables.dialect import DELIMITERS
from text_oracles import SNIFFERS, Sniffed
from text_tables import BLANKS, TextTable, draw_table

UNNAMED = "UNNAMED"
SAME = "the same"
RIGHT, WRONG_HEADER, WRONG_RECORDS = "as written", "another header than written", "other records than written"
WRONG_DELIMITER = "another delimiter than written"
REASONS = {
    "header": "header or record",
    "delimiter": "which delimiter",
    "comments": "comment or record",
    "source": "which columns are the ends",
    "weights": "what the numbers are",
    "time": "what the numbers are",
    "quote": "quotes",
}
"""Reasons of a refusal, by the argument that is to blame."""

MESSAGES = {
    r"no edge": "no edge",
    r"quote": "quotes",
    r"columns? \(split by|where \d+ are needed|an edge needs two columns": "ragged columns",
    r"line (end|break)": "a line break in a name",
}
WORDS = {word: character for character, word in DELIMITERS.items()}


def sniff(path: Path) -> Sniffed | InputError:
    """What ours makes of a text."""
    try:
        report = read(path, threads=1).report
    except InputError as error:
        return error
    return Sniffed(
        WORDS.get(report["delimiter"], report["delimiter"]), header=report["header"], records=report["records"]
    )


def name_refusal(error: InputError) -> str:
    """The reason of a refusal in a few words."""
    if error.argument in REASONS:
        return f"we refuse: {REASONS[error.argument]}"
    for pattern, reason in MESSAGES.items():
        if re.search(pattern, str(error)):
            return f"we refuse: {reason}"
    return f"{UNNAMED} refusal: {error}"


def name_reading(table: TextTable, ours: Sniffed | InputError) -> str:
    """How ours compares with what was written."""
    if isinstance(ours, InputError):
        return name_refusal(ours)
    if ours.delimiter != table.delimiter:
        return f"we read {WRONG_DELIMITER}"
    if ours.header != (table.header is not None):
        return f"we read {WRONG_HEADER}: {'none' if table.header else 'one'}"
    if ours.records != len(table.rows) and not _has_blank_record(table):
        return f"we read {WRONG_RECORDS}"
    return f"we read it {RIGHT}"


def name_difference(tool: str, table: TextTable, ours: Sniffed | InputError, theirs: Sniffed | Exception) -> str:
    """The name of the difference between the readings of one text by ours and by another reader."""
    if isinstance(ours, InputError):
        return f"both refuse it ({tool})" if isinstance(theirs, Exception) else name_refusal(ours)
    if isinstance(theirs, Exception):
        return f"{tool} refuses it"
    if ours == theirs:
        return SAME
    if ours.delimiter != theirs.delimiter:
        return "polars always splits by commas" if tool == "polars" else f"{tool} finds another delimiter"
    if ours.header != theirs.header and tool != "DuckDB":
        return f"{tool} always takes a header"
    if ours.header != theirs.header:
        return f"DuckDB sees {'a' if theirs.header else 'no'} header, we see {'one' if ours.header else 'none'}"
    return _name_count(tool, table)


def _name_count(tool: str, table: TextTable) -> str:
    """The name of a difference in the number of records alone."""
    if table.comment_lines:
        return f"{tool} takes comments for records, or for the header"
    if any("\n" in cell or "\r" in cell for row in table.rows for cell in row):
        return f"{tool} ends records within quotes"
    if _has_blank_record(table):
        return f"{tool} counts a record without content, or does not"
    if '"' in table.text:
        return f"{tool} has other rules of quotes"
    if "'" in table.text:
        return f"{tool} takes ' for a quote"
    if table.delimiter == " ":
        return f"{tool} splits at every single blank"
    if re.search(r"(?m)^[ \t]*\r?$(?!\Z)", table.text):
        return f"{tool} counts blank lines"
    return f"{UNNAMED} count of records by {tool}"


def _has_blank_record(table: TextTable) -> bool:
    rows = [*table.rows] if table.header is None else [table.header, *table.rows]
    return any(not "".join(row).strip(BLANKS) for row in rows)


def compare_many(seeds: range, folder: Path) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Count how ours reads many texts, and the differences from each of the others; print both."""
    readings: Counter[str] = Counter()
    differences: dict[str, Counter[str]] = {tool: Counter() for tool in SNIFFERS}
    shown: set[str] = set()
    path = folder / "edges.txt"
    start = perf_counter()
    for seed in seeds:
        table = draw_table(Random(seed), plain=True)
        data = table.encode()
        path.write_bytes(data)
        ours = sniff(path)
        names = [name_reading(table, ours)]
        readings[names[0]] += 1
        for tool in SNIFFERS:
            names.append(name_difference(tool, table, ours, _ask(tool, data, path)))
            differences[tool][names[-1]] += 1
        for name in names:
            if (UNNAMED in name or "than written" in name) and name not in shown:
                shown.add(name)
                print(f"{name}: seed {seed}\n  {table.text!r:.500}")
    print(f"{len(seeds):,} tables, {len(seeds) / (perf_counter() - start):,.0f} a second")
    for title, counts in (("ours against what was written", readings), *differences.items()):
        print(title, *(f"{count:9,}  {name}" for name, count in counts.most_common()), sep="\n")
    return readings, differences


def _ask(tool: str, data: bytes, path: Path) -> Sniffed | Exception:
    try:
        return SNIFFERS[tool](data, path)
    except Exception as error:
        return error


def check_counts(readings: Counter[str], differences: dict[str, Counter[str]]) -> None:
    names = {*readings, *(name for counts in differences.values() for name in counts)}
    assert not [name for name in names if UNNAMED in name]
    wrong = sum(count for name, count in readings.items() if WRONG_DELIMITER in name or WRONG_RECORDS in name)
    assert wrong <= readings.total() / 100
    assert readings[f"we read it {RIGHT}"] > readings.total() / 3
    assert all(counts[SAME] for counts in differences.values())


def test_every_difference_in_sniffing_has_a_name(tmp_path: Path) -> None:
    check_counts(*compare_many(range(300), tmp_path))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_difference_in_sniffing_of_many_tables_has_a_name(tmp_path: Path) -> None:
    check_counts(*compare_many(range(1_000, 31_000), tmp_path))


def test_names_of_differences_tell_them_apart() -> None:
    table = draw_table(Random(3), plain=True)
    comma, header = Sniffed(",", header=False, records=3), Sniffed(",", header=True, records=2)
    assert name_difference("pandas", table, comma, header) == "pandas always takes a header"
    assert name_difference("DuckDB", table, header, comma) == "DuckDB sees no header, we see one"
    assert name_difference("polars", table, Sniffed(";", header=True, records=2), header).endswith("splits by commas")
    assert name_difference("DuckDB", table, comma, ValueError()) == "DuckDB refuses it"
    assert UNNAMED in name_refusal(InputError("something else"))
    assert name_refusal(InputError("say header=", argument="header")) == "we refuse: header or record"
