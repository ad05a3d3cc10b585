"""What `graphrefine check` and ``drift`` refuse, what they tell of files, and which exit code each of these has."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest

import graphrefine
from cli_runs import refuses, run
from graphrefine import Embedding, check, measure_drift
from graphrefine.errors import InputError

EDGES = np.random.default_rng(0).integers(40, size=(200, 2))


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """The folder of an embedding, beside its graph, g.csv."""
    np.savetxt(tmp_path / "g.csv", EDGES, fmt="%d", delimiter=",")
    graphrefine.embed(tmp_path / "g.csv", dim=4, quality="fast").save(tmp_path / "x")
    return tmp_path / "x"


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"k": 3}, "against"),
        ({"sample": None}, "against"),
        ({"seed": 1}, "against"),
        ({"max_drift": 0.1}, "max_drift"),
        ({"against": "x"}, "against"),
        ({"against": "x", "max_drift": 3}, "max_drift"),
        ({"against": "x", "min_neighbors": -1}, "min_neighbors"),
        ({"features": "nosuch.csv"}, "graph"),
        ({"reading": {"directed": False}}, "graph"),
        ({"table": "x"}, "table"),
        ({"expect": "grf1:abc"}, "expect"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], argument: str, whole: Path) -> None:
    with pytest.raises(InputError) as refused:
        check(whole, **options)
    assert refused.value.argument == argument


def test_options_at_their_defaults_are_taken(whole: Path) -> None:
    assert check(whole, reading={"directed": None, "bipartite": None, "quote": '"'}).ok
    assert check(whole, against=whole, max_drift=0.01, k=3, sample=None, seed=1).ok
    refuses("check", whole, "--delimiter", ";", folder=whole, expected=("a run on a graph",))
    refuses("check", whole, "-k", "3", folder=whole, expected=("a comparison with another embedding",))


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
        ("names", "duplicate name 'a'"),
        ("numbers", "duplicate name 0"),
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
    ):
        refuses("check", place, folder=whole.parent, expected=(str(place), text))
        refuses(
            "check", whole, "--against", place, "--max-drift", "1", folder=whole.parent, expected=(str(place), text)
        )


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
