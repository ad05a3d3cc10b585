"""Names that are hardly names: read as they are, with a note."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine import read
from graphrefine.readers.odd_names import are_plain, list_odd_names
from graphrefine.tables.vocabulary import EMPTY_WORDS


@pytest.mark.parametrize(
    ("rows", "note"),
    [
        *((f"a,b\nb,{word}\n", f"read as a name: {word!r}") for word in EMPTY_WORDS if word),
        ("".join(f"{u},{u + 1}\n" for u in range(100)) + "Total,\n", "as 1 are no integers: 'Total'"),
        ("1.0,2\n2.0,3\n,4\n4,5\n5,6\n6,7\n", "as 2 are no integers: '1.0', '2.0'"),  # as pandas writes a gap
        ("".join(f"{u},{u + 1}\n" for u in range(100)), ""),
        ("0001,0002\n0002,0003\n", ""),
        ("1.0,1.1\n1.1,2.0\n", ""),
        ("Nancy,Nadia\nNadia,Nullarbor\n", ""),
    ],
)
def test_notes_on_names(tmp_path: Path, rows: str, note: str) -> None:
    path = tmp_path / "edges.csv"
    path.write_text(f"source,target\n{rows}", encoding="utf-8")
    reading = read(path).reading
    assert note in reading if note else "read as" not in reading


def test_names_in_memory() -> None:
    graph = read(pd.DataFrame({"source": ["", "b"], "target": ["a", ""]}))
    assert graph.names.tolist() == ["", "a", "b"]
    assert "read as a name: ''" in graph.reading
    frame = pd.DataFrame([[0, 1, 1], [1, 0, 1], [1, 1, 0]], ["z", "NULL", "a"], ["z", "NULL", "a"])
    assert "read as a name: 'NULL'" in read(frame).reading  # of a matrix, whose names are not sorted


NAMES = st.one_of(
    st.sampled_from([*EMPTY_WORDS, "1", "1.0", "01", "+1", "-0", "a", "a "]), st.text("ab01.-+ ", max_size=4)
)


@given(st.lists(NAMES, min_size=1, max_size=12, unique=True), st.integers(0, 12))
def test_the_quick_look_hides_no_note(names: list[str], cut: int) -> None:
    assert not list_odd_names(sorted(names[:cut]), sorted(names[cut:])) or not are_plain(names)
