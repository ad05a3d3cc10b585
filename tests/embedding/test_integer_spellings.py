"""Where names are integers, a text is the name of one only as it is written: 7, and not 007, in every command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli_runs import refuses, works
from graphrefine import Embedding, load
from graphrefine.errors import InputError, UnknownNameError

PEOPLE = Embedding([7, 8, 9], np.array([[1, 0], [0.6, 0.8], [0, 1]]))
SPELLINGS = ["007", "+7", "07"]
HINT = "the names are integers, and 7 is one of them"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    PEOPLE.save(tmp_path / "people")
    return tmp_path / "people"


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_another_spelling_is_another_name(people: Path, tmp_path: Path, spelling: str) -> None:
    names = tmp_path / "names.txt"
    names.write_text(f"8\n{spelling}\n")
    refuses("neighbors", people, spelling, folder=tmp_path, expected=(f"no node is called '{spelling}'; {HINT}",))
    refuses("neighbors", people, "--from", names, folder=tmp_path, expected=(f"no node is called '{spelling}'", HINT))
    done = works("neighbors", people, "7", spelling, "--skip-unknown", "--json", "-k", "1").figures
    assert done["skipped"] == {"count": 1, "names": [spelling]} and [each["node"] for each in done["results"]] == [7]
    edges = tmp_path / "edges.csv"
    for text, expected in (
        (f"500,7\n501,{spelling}\n", f"an edge leads to '{spelling}', which is neither known nor a new node"),
        (f"{spelling},8\n", f"'{spelling}' is not known; {HINT}; write 7 if that is meant"),
    ):
        edges.write_text(f"source,target\n{text}")
        words = (f"edges.csv: {expected}", HINT)
        refuses("fold-in", edges, "--into", people, "-o", tmp_path / "new.npz", folder=tmp_path, expected=words)
    with pytest.raises(UnknownNameError, match=HINT):
        PEOPLE.index(spelling)
    with pytest.raises(InputError, match=HINT):
        PEOPLE.fold_in([("new", spelling), ("new", "8")])


def test_plain_integers_are_known_as_text(people: Path, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\nnew,7\nnew,8\n")
    works("fold-in", tmp_path / "edges.csv", "--into", people, "-o", tmp_path / "new.npz")
    assert load(tmp_path / "new.npz") == PEOPLE.fold_in([("new", 7), ("new", 8)])
    assert "0.6" in works("neighbors", people, "7", "-k", "1").out
    refuses("neighbors", people, "x7", folder=tmp_path, expected=("the names are integers, such as 7",))


def test_sides_have_the_same_rule() -> None:
    shop = Embedding([1, 7, 8], np.array([[1, 2], [1, 0], [1, 1]]), {"sides": "rows", "sources": 1})
    assert shop.fold_in([("new", "7")]).names.tolist() == ["new"]
    with pytest.raises(InputError, match=HINT):
        shop.fold_in([("new", "007"), ("new", "8")])
    with pytest.raises(InputError, match="'01' is not known; the names are integers, and 1 is one of them"):
        shop.fold_in([("01", "7")])
