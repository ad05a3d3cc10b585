"""What `graphrefine check` and ``drift`` refuse, what they tell of files, and which exit code each of these has."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest

import graphrefine
from cli_runs import refuses, run, works
from graphrefine import Embedding, check, measure_drift
from graphrefine.errors import FormatError, InputError

EDGES = np.random.default_rng(0).integers(40, size=(200, 2))


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """The folder of an embedding, beside its graph, g.csv."""
    np.savetxt(tmp_path / "g.csv", EDGES, fmt="%d", delimiter=",")
    graphrefine.embed(tmp_path / "g.csv", dim=4, quality="fast").save(tmp_path / "x")
    return tmp_path / "x"


@pytest.mark.parametrize(
    ("words", "need"),
    [
        (["-k", "10"], "--against"),
        (["--all"], "--against"),
        (["--seed", "0"], "--against"),
        (["--features", "nosuch.csv"], "--graph"),
        (["--directed"], "--graph"),
        (["--undirected"], "--graph"),
        (["--delimiter", ";"], "--graph"),
        (["--quote", '"'], "--graph"),
    ],
)
def test_options_that_would_do_nothing_are_refused(words: list[str], need: str, whole: Path) -> None:
    message = refuses("check", whole, *words, folder=whole, expected=("is for a ", f"with {need.removeprefix('--')}="))
    assert "say which one" in message
    other = ["--graph", str(whole.parent / "g.csv")] if need == "--against" else ["--against", str(whole)]
    limit = [] if need == "--against" else ["--max-drift", "1"]
    assert run("check", whole, *words, *other, *limit).code == 2  # the other one is of no help


def test_the_same_options_are_taken_where_they_do_something(whole: Path) -> None:
    works("check", whole, "--against", whole, "--max-drift", "0.001", "-k", "10", "--all", "--seed", "0")
    works("check", whole, "--graph", whole.parent / "g.csv", "--undirected", "--delimiter", ",", "--quote", '"')
    works("check", whole, "--threads", "1")


@pytest.mark.parametrize("options", [{"k": 3}, {"sample": None}, {"seed": 1}])
def test_python_refuses_them_without_another_embedding(options: dict[str, Any], whole: Path) -> None:
    with pytest.raises(InputError, match=f"{next(iter(options))}= is for a comparison"):
        check(whole, **options)
    assert check(whole, against=whole, max_drift=0.01, **options).ok


@pytest.mark.parametrize("options", [{"features": "nosuch.csv"}, {"reading": {"directed": False}}])
def test_python_refuses_them_without_a_graph(options: dict[str, Any], whole: Path) -> None:
    with pytest.raises(InputError, match="is for a run on a graph; say which one with graph="):
        check(whole, **options)
    assert check(whole, reading={"directed": None, "bipartite": None, "quote": '"'}).ok  # as without a word


def write_useless(place: Path, kind: str) -> Path:
    vectors = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
    if kind == "names":
        np.savez(place / "names.npz", vectors=vectors, names=np.array(["a", "a", *"bcdefgh"]))
        return place / "names.npz"
    if kind == "numbers":
        np.savez(place / "numbers.npz", vectors=vectors, names=np.array([0, 1, 2, 3, 4, 5, 6, 7, 0]))
        return place / "numbers.npz"
    np.save(place / f"{kind}.npy", vectors[:0] if kind == "nodes" else vectors[:, :0])
    return place / f"{kind}.npy"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("names", "the name 'a' stands for several rows"),
        ("numbers", "the name 0 stands for several rows"),
        ("nodes", "has no nodes"),
        ("columns", "has vectors of no numbers"),
    ],
)
def test_files_that_no_command_can_use_are_problems(kind: str, words: str, whole: Path) -> None:
    place = write_useless(whole.parent, kind)
    (problem,) = check(place).problems
    assert problem.startswith(f"{place}: {words}")
    assert check(whole, against=place, max_drift=2).problems == [problem]
    assert run("check", place).code == run("check", whole, "--against", place, "--max-lost", "1").code == 1
    (same,) = check(graphrefine.load(place)).problems
    assert words in same


def test_one_name_on_both_sides_is_no_problem() -> None:
    assert check(Embedding([1, 2, 1, 2], np.eye(4, 2) + 1, {"sides": "rows", "sources": 2})).ok


def damage(place: Path, how: str) -> None:
    """Damage a file, or a folder of an embedding."""
    inner = place / "vectors.npy" if place.is_dir() else place
    if how == "bit":
        content = bytearray(inner.read_bytes())
        content[-1 if place.is_dir() else len(content) // 2] ^= 1
        inner.write_bytes(content)
    elif how == "half":
        inner.write_bytes(inner.read_bytes()[:100])
    elif how == "empty":
        inner.write_bytes(b"")
    else:
        (place / how).unlink()


@pytest.mark.parametrize(
    ("name", "how"),
    [(name, how) for name in ("y", "y.npz", "y.safetensors") for how in ("bit", "half", "empty")]
    + [("y", "meta.json"), ("y", "vectors.npy"), ("y", "degrees.npy")],
)
def test_damage_is_a_verdict_in_either_place(name: str, how: str, whole: Path) -> None:
    place = whole.parent / name
    graphrefine.load(whole).save(place)
    damage(place, how)
    for words in ([place], [whole, "--against", place, "--max-drift", "1"]):
        done = run("check", *words)
        assert done.code == 1 and f"problem: {place}: " in done.out, (done.out, done.err)


def test_a_path_without_an_embedding_is_a_mistake_in_either_place(whole: Path) -> None:
    other = whole.parent / "folder"
    other.mkdir()
    (other / "readme.txt").write_text("nothing")
    for place, text in (
        (whole.parent / "nothing", "no such file or folder"),
        (whole.parent / "nothing.npz", "no such file or folder"),
        (other, "not an embedding"),
        (Path(os.devnull), "is neither a file nor a folder"),
    ):
        refuses("check", place, folder=whole.parent, expected=(str(place), text))
        refuses(
            "check", whole, "--against", place, "--max-drift", "1", folder=whole.parent, expected=(str(place), text)
        )


def test_a_file_that_may_not_be_read_is_a_mistake(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        cause = PermissionError(13, "Permission denied")
        raise FormatError(whole, "cannot be read as folder: Permission denied") from cause

    monkeypatch.setattr("graphrefine.analysis.check.load_data", refuse)
    with pytest.raises(FormatError, match="Permission denied"):
        check(whole)
    embedding = Embedding(["a", "b"], [[1, 0], [0, 1]])
    monkeypatch.setattr("graphrefine.analysis.check.load", refuse)
    with pytest.raises(FormatError, match="Permission denied"):
        check(embedding, against=whole, max_drift=1)


def test_a_table_of_a_file_is_a_mistake(whole: Path) -> None:
    refuses("check", whole, "--table", "x", folder=whole, expected=("--table 'x': only a server has tables",))


def test_vectors_without_a_recipe_name_their_file(whole: Path) -> None:
    place = whole.parent / "plain.npy"
    np.save(place, np.eye(40, 4))
    message = refuses(
        "check", place, "--graph", whole.parent / "g.csv", folder=whole, expected=(f"{place}: how the vectors",)
    )
    assert "graph" in message and "--graph :" not in message


def test_names_that_do_not_meet_are_told_with_their_files(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 2))
    Embedding(["a", "b", "c"], vectors).save(tmp_path / "old")
    Embedding([7, 8, 9], vectors).save(tmp_path / "new")
    refuses(
        "drift", tmp_path / "old", tmp_path / "new", folder=tmp_path,
        expected=(f"begin with 7 in {tmp_path / 'new'} and with 'a' in {tmp_path / 'old'}",),
    )  # fmt: skip
    with pytest.raises(InputError, match=r"with 7 in the new embedding and with 'a' in the old embedding$"):
        measure_drift(Embedding(["a", "b", "c"], vectors), Embedding([7, 8, 9], vectors))
    with pytest.raises(InputError, match="numbers and texts are different names"):
        measure_drift(Embedding(["7", "8", "9"], vectors), Embedding([7, 8, 9], vectors))
    names = ["café", "naïve", "über"]
    composed, apart = ([normalize(form, name) for name in names] for form in ("NFC", "NFD"))
    with pytest.raises(InputError, match=r"look the same, such as 'café', .* \(Unicode NFC and NFD\)"):
        measure_drift(Embedding(composed, vectors), Embedding(apart, vectors))


def test_a_reading_is_told_only_where_it_differs(whole: Path) -> None:
    graph = whole.parent / "other.csv"
    np.savetxt(graph, EDGES + 100, fmt="%d", delimiter=",")
    (problem,) = check(whole, graph=graph).problems
    assert problem.endswith("made from: it is read as it was then, and its nodes or edges are others")
    (problem,) = check(whole, graph=whole.parent / "g.csv", reading={"directed": True}).problems
    assert "or it was read otherwise: then " in problem and "undirected" in problem and "-> column 1" in problem


def test_a_name_that_stands_twice_is_told_with_its_file(whole: Path) -> None:
    for kind, name in (("names", "'a'"), ("numbers", "0")):
        place = write_useless(whole.parent, kind)
        expected = (f"{place}: the name {name} stands for several rows",)
        refuses("drift", whole, place, folder=whole, expected=expected)
        refuses("drift", place, whole, folder=whole, expected=expected)
