"""Names that are hardly names, and names that may be one: read as they are, with a note."""

from __future__ import annotations

import unicodedata
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
        *(
            (f"{one},x\n{other},y\n", f"read as two names: {one!r} and {other!r}")
            for one, other in (
                ("1", "1.0"),
                ("-3", "-3.0"),
                ("7", "007"),
                ("7", "+7"),
                ("0", "-0"),
                ("ann", "ann\u00a0"),
                ("ann", "an\u200bn"),
                ("\u00e9", "e\u0301"),
            )
        ),
        ('ann,x\n"ann ",y\n', "read as two names: 'ann' and 'ann '"),
        ("1.0,2\n2.0,3\n,4\n", "read as two names: '2' and '2.0'"),  # as pandas writes integers with a gap
        ("".join(f"{u},{u + 1}\n" for u in range(100)) + "Total,\n", "as 1 are no integers: 'Total'"),
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
    st.sampled_from([*EMPTY_WORDS, "1", "1.0", "01", "+1", "-0", "0", "a", "a ", " a", "e\u0301", "\u00e9", "a\u200b"]),
    st.text("ab01.-+ \u00e9", max_size=4),
)


@given(st.lists(NAMES, min_size=1, max_size=12, unique=True), st.integers(0, 12))
def test_pairs_in_notes_are_there_on_either_side(names: list[str], cut: int) -> None:
    texts = sorted(names)
    notes = list_odd_names(sorted(names[:cut]), sorted(names[cut:]))
    assert not notes or not are_plain(texts)  # the quick look before hides none
    pairs = {(a, b) for a in texts for b in texts if a != b}
    for note in notes:
        if note.startswith("read as two names"):
            assert note.removeprefix("read as two names: ") in {f"{a!r} and {b!r}" for a, b in pairs}
    same = any(unicodedata.normalize("NFC", a) == b for a, b in pairs) or any(a.strip() == b for a, b in pairs)
    assert not same or any(note.startswith("read as two names") for note in notes)
