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


@pytest.mark.parametrize(
    ("shape", "names", "fact"),
    [
        ((9, 4), np.array(["a", "a", *"bcdefgh"]), "'a'"),
        ((9, 4), np.array([0, 1, 2, 3, 4, 5, 6, 7, 0]), "0"),
        ((0, 4), np.zeros(0, np.int64), "nodes"),
        ((9, 0), np.arange(9), "numbers"),
    ],
)
def test_files_that_no_command_can_use_are_problems(shape: tuple[int, int], names: Any, fact: str, whole: Path) -> None:
    path = whole.parent / "useless.npz"
    np.savez(path, vectors=np.ones(shape, np.float32), names=names)
    (problem,) = check(path).problems
    assert problem.startswith(f"{path}: ") and fact in problem
    assert check(whole, against=path, max_drift=2).problems == [problem]
    assert not check(graphrefine.load(path)).ok
    assert check(whole, reading={"directed": None, "quote": '"'}).ok, "options at their defaults are taken"
    assert check(Embedding([1, 2, 1, 2], np.eye(4, 2) + 1, {"sides": "rows", "sources": 2})).ok, "a name on each side"


@pytest.mark.parametrize(
    ("name", "file", "keep"),
    [(name, name, keep) for name in ("y.npz", "y.safetensors") for keep in (100, 0)]
    + [("y", f"y/{file}", keep) for file in ("vectors.npy", "degrees.npy", "meta.json") for keep in (100, None)],
)
def test_damage_is_a_verdict_in_either_place(name: str, file: str, keep: int | None, whole: Path) -> None:
    """A file is cut after some bytes, or is not there (None)."""
    path, damaged = whole.parent / name, whole.parent / file
    graphrefine.load(whole).save(path)
    content = damaged.read_bytes()
    damaged.unlink()
    if keep is not None:
        damaged.write_bytes(content[:keep])
    for words in ([path], [whole, "--against", path, "--max-drift", "1"]):
        done = run("check", *words)
        assert done.code == 1 and f"problem: {path}: " in done.out, (done.out, done.err)


def test_a_path_without_an_embedding_is_a_mistake_in_either_place(whole: Path) -> None:
    other = whole.parent / "folder"
    other.mkdir()
    (other / "readme.txt").write_text("nothing")
    for path in (whole.parent / "nothing", whole.parent / "nothing.npz", other):
        for words in ([path], [whole, "--against", path, "--max-drift", "1"]):
            refuses("check", *words, folder=whole.parent, expected=(str(path),))


def test_names_that_do_not_meet_are_given_with_their_files(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 2))
    Embedding(["a", "b", "c"], vectors).save(tmp_path / "old")
    Embedding([7, 8, 9], vectors).save(tmp_path / "new")
    both = (f"{tmp_path / 'new'} has 7", f"{tmp_path / 'old'} has 'a'")
    refuses("drift", tmp_path / "old", tmp_path / "new", folder=tmp_path, expected=both)
    composed, apart = ([normalize(form, name) for name in ("café", "naïve", "über")] for form in ("NFC", "NFD"))
    for old, new in ((["7", "8", "9"], [7, 8, 9]), (composed, apart)):
        with pytest.raises(InputError, match="no node"):
            measure_drift(Embedding(old, vectors), Embedding(new, vectors))
