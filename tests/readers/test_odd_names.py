"""Names that are hardly names, and names that may be one: read as they are, and told."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine import read
from graphrefine.readers.odd_names import list_odd_names
from graphrefine.readers.read import _are_plain
from graphrefine.tables.vocabulary import EMPTY_WORDS


def reading(folder: Path, rows: str) -> str:
    path = folder / "edges.csv"
    path.write_text(f"source,target\n{rows}", encoding="utf-8")
    return read(path).reading


@pytest.mark.parametrize("word", [word for word in EMPTY_WORDS if word])
def test_words_for_no_value(tmp_path: Path, word: str) -> None:
    assert f"read as a name: {word!r}" in reading(tmp_path, f"a,b\nb,{word}\n")


def test_an_empty_name_in_memory() -> None:
    graph = read(pd.DataFrame({"source": ["", "b"], "target": ["a", ""]}))
    assert graph.names.tolist() == ["", "a", "b"]
    assert "read as a name: ''" in graph.reading


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("-3", "-3.0"),
        ("7", "007"),
        ("7", "+7"),
        ("0", "-0"),
        ("ann", "ann\u00a0"),
        ("ann", "an\u200bn"),
        ("\u00e9", "e\u0301"),
    ],
)
def test_names_that_may_be_one(tmp_path: Path, one: str, other: str) -> None:
    assert f"read as two names: {one!r} and {other!r}" in reading(tmp_path, f"{one},x\n{other},y\n")


def test_blanks_in_quotes(tmp_path: Path) -> None:
    assert "read as two names: 'ann' and 'ann '" in reading(tmp_path, 'ann,x\n"ann ",y\n')


def test_a_column_that_was_turned_into_floats(tmp_path: Path) -> None:
    frame = pd.DataFrame({"source": [1, 2, None], "target": [2, 3, 4]})  # pandas writes 1.0, 2.0
    frame.to_csv(tmp_path / "edges.csv", index=False)
    assert "read as two names: '2' and '2.0'" in read(tmp_path / "edges.csv").reading


def test_a_total_among_integers(tmp_path: Path) -> None:
    rows = "".join(f"{u},{u + 1}\n" for u in range(100))
    assert "as 1 of 102 are no integers: 'Total'" in reading(tmp_path, f"{rows}Total,\n")
    assert "no integers" not in reading(tmp_path, rows)


@pytest.mark.parametrize("rows", ["0001,0002\n0002,0003\n", "1.0,1.1\n1.1,2.0\n", "Nancy,Nadia\nNadia,Nullarbor\n"])
def test_names_that_are_nothing_but_names(tmp_path: Path, rows: str) -> None:
    assert "read as" not in reading(tmp_path, rows)


NAMES = st.one_of(
    st.sampled_from([*EMPTY_WORDS, "1", "1.0", "01", "+1", "-0", "0", "a", "a ", " a", "e\u0301", "\u00e9", "a\u200b"]),
    st.text("ab01.-+ \u00e9", max_size=4),
)


@given(st.lists(NAMES, min_size=1, max_size=12, unique=True))
def test_pairs_that_are_told_are_there(names: list[str]) -> None:
    texts = sorted(names)
    remarks = list_odd_names(texts)
    assert not remarks or not _are_plain(texts)  # the quick look before hides none
    pairs = {(a, b) for a in texts for b in texts if a != b}
    for remark in remarks:
        if remark.startswith("read as two names"):
            assert remark.removeprefix("read as two names: ") in {f"{a!r} and {b!r}" for a, b in pairs}
    same = any(unicodedata.normalize("NFC", a) == b for a, b in pairs) or any(a.strip() == b for a, b in pairs)
    assert not same or any(remark.startswith("read as two names") for remark in remarks)


@given(st.lists(NAMES, unique=True), st.lists(NAMES, unique=True), st.integers(1, 5))
def test_blocks_and_sides_make_no_difference(one: list[str], other: list[str], block: int) -> None:
    whole = list_odd_names(sorted({*one, *other}))
    assert list_odd_names(sorted(one), sorted(other), block=block) == whole


def test_a_pair_among_many_round_numbers() -> None:
    names = sorted([*map(str, range(300_000)), "77777.0"])
    assert "read as two names: '77777' and '77777.0'" in list_odd_names(names)


def test_names_of_a_matrix_that_are_not_sorted() -> None:
    frame = pd.DataFrame([[0, 1, 1], [1, 0, 1], [1, 1, 0]], ["z", "NULL", "a"], ["z", "NULL", "a"])
    assert "read as a name: 'NULL'" in read(frame).reading
