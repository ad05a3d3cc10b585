"""Tables written in any dialect are sniffed back."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from graphrefine.tables.dialect import split_records
from graphrefine.tables.sample import Dialect, Hints
from graphrefine.tables.sniff import sniff
from graphrefine.tables.source import Source
from strategies import PATIENT

NAMES = st.lists(st.text("abcdefgh", min_size=3, max_size=6), min_size=4, max_size=9, unique=True)
CELLS = st.text("ab,;|\t \"'\n", min_size=1, max_size=6).filter(lambda text: bool(text.strip(" \t\n")))


@PATIENT
@given(
    names=NAMES,
    delimiter=st.sampled_from(",;\t|"),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    has_header=st.booleans(),
    is_quoted=st.booleans(),
    preamble=st.sampled_from(["", "# a comment\n", "\n\n"]),
)
def test_an_edge_list_in_any_dialect(
    tmp_path: Path,
    names: list[str],
    delimiter: str,
    end: str,
    encoding: str,
    has_header: bool,
    is_quoted: bool,
    preamble: str,
) -> None:
    rows = [[first, second, "0.5"] for first, second in zip(names, [*names[1:], names[0]], strict=True)]
    lines = [["source", "target", "weight"]] * has_header + rows
    text = preamble + "".join(
        delimiter.join(f'"{cell}"' if is_quoted else cell for cell in row) + "\n" for row in lines
    )
    path = tmp_path / ("e.tsv" if delimiter == "\t" else "e.csv")
    path.write_bytes(text.replace("\n", end).encode(encoding))
    sample = sniff(Source(path), Hints(header=has_header))
    assert sample is not None and sample.rows == rows and sample.dialect.delimiter == delimiter
    assert sample.dialect.header is has_header and [column.is_numeric for column in sample.columns] == [0, 0, 1]
    if has_header:
        detected = sniff(Source(path), Hints())
        assert detected is not None and detected.dialect.names == ("source", "target", "weight")


@PATIENT
@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1), delimiter=st.sampled_from(",;\t| "))
def test_quoted_records_are_split_as_they_were_written(rows: list[list[str]], delimiter: str) -> None:
    text = "".join(delimiter.join('"' + cell.replace('"', '""') + '"' for cell in row) + "\n" for row in rows)
    split = list(split_records(text, Dialect(delimiter)))
    assert [fields for *_, fields in split] == rows
    assert [begin for begin, *_ in split[1:]] == [end for _, end, _ in split[:-1]]
