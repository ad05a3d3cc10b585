"""Names that no node has: an error with names that are near, or left out of a batch with a word on how many."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from cli_runs import refuses, works
from graphrefine import Embedding, load
from graphrefine.errors import ArgumentWarning, InputError, UnknownNameError

PEOPLE = Embedding(["ada", "bob", "cy"], [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    PEOPLE.save(tmp_path / "people.npz")
    return tmp_path / "people.npz"


@pytest.mark.parametrize(
    "call",
    [
        lambda names: PEOPLE.neighbors(names),
        lambda names: PEOPLE.score(names),
        lambda names: PEOPLE.score("ada", names),
        lambda names: PEOPLE.recommend(names),
    ],
)
def test_the_error_of_a_batch_counts_the_unknown_names(call: Any) -> None:
    message = (
        "no node is called 'adda'; similar names: ada; 2 of 4 names are unknown, such as 'adda', 'x'; pass unknown="
    )
    with pytest.raises(InputError, match=message):
        call(["ada", "adda", "bob", "x"])


def test_skipped_neighbors_are_empty_lists() -> None:
    message = "names that no node has were left out: 2 of 4, such as 'x', 'y'"
    with pytest.warns(ArgumentWarning, match=message) as caught:
        lists = PEOPLE.neighbors(["x", "ada", "y", "cy"], k=1, unknown="skip")
    assert len(caught) == 1 and caught[0].filename == __file__
    assert [[near.node for near in each] for each in lists] == [[], ["bob"], [], ["bob"]]
    with pytest.warns(ArgumentWarning, match="1 of 1"):
        assert PEOPLE.neighbors("x", unknown="skip") == []
    links = [("ann", "tea"), ("bob", "tea"), ("bob", "cake"), ("cy", "cake"), ("tea", "cake")]
    sides = graphrefine.embed(links, 2, bipartite=True)
    with pytest.warns(ArgumentWarning, match="1 of 2"):
        lists = sides.neighbors(["nobody", "tea"], 1, score="link", side="target", unknown="skip", exclude_linked=links)
    assert lists[0] == [] and len(lists[1]) == 1
    assert lists[1] == sides.neighbors("tea", 1, score="link", side="target", exclude_linked=links)


@pytest.mark.parametrize(
    ("names", "expected", "note"),
    [
        ((["ada", "x", "bob"], ["bob", "ada", "cy"]), [0.6, np.nan, 0.8], "1 of 3, such as 'x'"),
        (("ada", ["x", "cy"]), [np.nan, 0], "1 of 2, such as 'x'"),
        ((["x", "ada"],), [[np.nan] * 3, [1, 0.6, 0]], "1 of 2"),
        (("x", "ada"), np.nan, "1 of 1"),
    ],
)
def test_skipped_pairs_are_nan_in_their_place(names: Any, expected: Any, note: str) -> None:
    with pytest.warns(ArgumentWarning, match=note) as caught:
        np.testing.assert_allclose(PEOPLE.score(*names, unknown="skip"), expected, atol=1e-6)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("call", "given"),
    [(PEOPLE.score, "ada"), (PEOPLE.neighbors, "ada"), (PEOPLE.recommend, "ada"), (PEOPLE.fold_in, [("eve", "ada")])],
)
def test_unknown_is_error_or_skip(call: Any, given: Any) -> None:
    with pytest.raises(InputError, match="unknown='drop' is not known; it can be 'error', 'skip'"):
        call(given, unknown="drop")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_equal(call(given, unknown="skip"), call(given))


EDGES = [("eve", "ada"), ("eve", "x"), ("gus", "eve"), ("gus", "y"), ("hal", "y")]


def test_edges_to_unknown_nodes_are_left_out() -> None:
    with pytest.raises(InputError, match=r"'x' \(and 1 more\) is not known.*unknown='skip'"):
        PEOPLE.fold_in(EDGES)
    with pytest.warns() as caught:
        folded = PEOPLE.fold_in(EDGES, unknown="skip")
    texts = [str(each.message) for each in caught]
    assert texts[0].startswith("3 edges were left out") and "'x', 'y'" in texts[0]
    assert "without a known neighbor that has a vector: 1 of 3, such as 'hal'" in texts[1] and len(texts) == 2
    assert {each.filename for each in caught} == {__file__}
    expected = PEOPLE.fold_in([("eve", "ada"), ("gus", "eve")])
    assert np.array_equal(folded.vectors[:2], expected.vectors) and not folded.vectors[2].any()
    assert folded.names.tolist() == ["eve", "gus", "hal"]
    assert folded.recipe["skipped"] == {"edges": 3, "nodes": 2, "names": ["x", "y"]}


def test_commands_leave_unknown_names_out(stored: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("adda\nada\nx\ncy\n")
    typed: list[str | Path] = ["neighbors", stored, "--from", tmp_path / "names.txt", "-k", "1"]
    message = refuses(*typed, folder=tmp_path, expected=("similar names: ada", "2 of 4 names are unknown"))
    assert "pass --skip-unknown to leave" in message
    done = works(*typed, "--skip-unknown", "--json")
    assert done.err == "note: names that no node has were left out: 2 of 4, such as 'adda', 'x'\n"
    assert [row["node"] for row in done.figures["results"]] == ["ada", "cy"]
    assert done.figures["skipped"] == {"count": 2, "names": ["adda", "x"]}
    assert works("neighbors", stored, "ada", "--skip-unknown", "--json").figures["skipped"]["count"] == 0
    assert "skipped" not in works("neighbors", stored, "ada", "--json").figures
    assert works("neighbors", stored, "x", "--skip-unknown", "--json").figures["results"] == []
    (tmp_path / "new.csv").write_text("".join(f"{new},{known}\n" for new, known in EDGES[:4]))
    typed = ["fold-in", tmp_path / "new.csv", "--into", stored, "-o", tmp_path / "new.npz"]
    refuses(*typed, folder=tmp_path, expected=("'x' (and 1 more) is not known", "--skip-unknown"))
    done = works(*typed, "--skip-unknown", "--json")
    assert done.figures["skipped"] == {"edges": 2, "nodes": 2, "names": ["x", "y"]} and done.figures["nodes"] == 2
    assert "warning: 2 edges were left out" in done.err
    assert json.loads(json.dumps(graphrefine.load(tmp_path / "new.npz").recipe))["skipped"]["edges"] == 2


INTEGERS = Embedding([7, 8, 9], np.array([[1, 0], [0.6, 0.8], [0, 1]]))
SPELLINGS = ["007", "+7", "07"]
HINT = "the names are integers, and 7 is one of them"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    INTEGERS.save(tmp_path / "people")
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
        (f"500,7\n501,{spelling}\n", f"'{spelling}' is not known"),
        (f"{spelling},8\n", f"'{spelling}' is not known; {HINT}; write 7 if that is meant"),
    ):
        edges.write_text(f"source,target\n{text}")
        words = (f"edges.csv: {expected}", HINT)
        refuses("fold-in", edges, "--into", people, "-o", tmp_path / "new.npz", folder=tmp_path, expected=words)
    with pytest.raises(UnknownNameError, match=HINT):
        INTEGERS.index(spelling)
    with pytest.raises(InputError, match=HINT):
        INTEGERS.fold_in([("new", spelling), ("new", "8")])


def test_plain_integers_are_known_as_text_on_sides_too(people: Path, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\nnew,7\nnew,8\n")
    works("fold-in", tmp_path / "edges.csv", "--into", people, "-o", tmp_path / "new.npz")
    assert load(tmp_path / "new.npz") == INTEGERS.fold_in([("new", 7), ("new", 8)])
    assert "0.6" in works("neighbors", people, "7", "-k", "1").out
    refuses("neighbors", people, "x7", folder=tmp_path, expected=("the names are integers, such as 7",))
    shop = Embedding([1, 7, 8], np.array([[1, 2], [1, 0], [1, 1]]), {"sides": "rows", "sources": 1})
    assert shop.fold_in([("new", "7")]).names.tolist() == ["new"]
    with pytest.raises(InputError, match=HINT):
        shop.fold_in([("new", "007"), ("new", "8")])
    with pytest.raises(InputError, match="'01' is not known; the names are integers, and 1 is one of them"):
        shop.fold_in([("01", "7")])
