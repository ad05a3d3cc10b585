"""`graphrefine.check` and ``graphrefine check``: whole files, the same bits again, and the gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np
import pytest

import graphrefine
from cli_runs import refuses, run
from graphrefine import Embedding, check, measure_drift
from graphrefine.errors import ArgumentWarning, InputError

EDGES = np.random.default_rng(0).integers(120, size=(700, 2))


@pytest.fixture(scope="module")
def vectors() -> Embedding:
    return graphrefine.embed(EDGES, dim=8, quality="fast")


@pytest.mark.parametrize("name", ["x", "x.npz", "x.parquet", "x.arrow", "x.safetensors"])
def test_a_whole_file_passes_and_one_of_another_bit_does_not(name: str, vectors: Embedding, tmp_path: Path) -> None:
    vectors.save(tmp_path / name)
    verdict = check(tmp_path / name)
    assert verdict.ok and verdict.stats["whole"] is True
    assert verdict.stats["fingerprint"]["name"] == verdict.stats["stored"]["name"] == str(vectors.fingerprint)
    file = tmp_path / name / "degrees.npy" if name == "x" else tmp_path / name
    content = bytearray(file.read_bytes())
    content[-1 if name == "x" else len(content) // 2] ^= 1
    file.write_bytes(content)
    verdict = check(tmp_path / name)
    assert not verdict and verdict.stats["whole"] is False and verdict.problems


@pytest.mark.parametrize("name", ["x.npy", "x.csv", "x.csv.gz", "x.vec", "x.bin"])
def test_formats_without_a_fingerprint_are_held_to_one_that_is_expected(
    name: str, vectors: Embedding, tmp_path: Path
) -> None:
    plain = Embedding(None, vectors.vectors)
    plain.save(tmp_path / name)
    verdict = check(tmp_path / name, expect=plain.fingerprint.vectors)
    assert verdict.ok and "no fingerprint is stored" in verdict.notes[0]
    assert check(tmp_path / name, expect=str(plain.fingerprint)).ok
    assert not check(tmp_path / name, expect="0" * 32).ok


def test_the_recipe_is_run_again(vectors: Embedding, tmp_path: Path) -> None:
    vectors.save(tmp_path / "x")
    verdict = check(tmp_path / "x", graph=EDGES[::-1])
    assert verdict.ok and verdict.stats["remade"] == {
        "reading": graphrefine.read(EDGES[::-1]).reading,
        "same_graph": True,
        "same_vectors": True,
        "differing_nodes": 0,
        "largest_difference": 0.0,
    }
    for other in ({"graph": EDGES[:-1]}, {"graph": EDGES, "reading": {"directed": True}}):
        (problem,) = check(tmp_path / "x", **other).problems
        assert "not the one that the vectors were made from" in problem
    moved = vectors.vectors.copy()
    moved[5, 2] = np.nextafter(moved[5, 2], np.float32(9))
    verdict = check(Embedding(vectors.names, moved, vectors.recipe), graph=EDGES)
    assert verdict.stats["remade"]["differing_nodes"] == 1
    assert "1 of 120 vectors have other bits here" in verdict.problems[0]


@pytest.mark.parametrize(
    "settings",
    [
        {"method": "prone", "dim": 4},
        {"dim": 8, "directed": True, "quality": "fast"},
        {"dim": 4, "filter": (0.5, 0.5), "quality": "fast"},
        {"dim": "auto", "quality": "fast"},
    ],
)
def test_recipes_of_all_kinds_can_be_run_again(settings: dict[str, Any]) -> None:
    assert check(graphrefine.embed(EDGES, **settings), graph=EDGES).ok


def test_why_the_bits_differ_is_said(vectors: Embedding) -> None:
    for changes, fact in (({"kernel": "scipy"}, "kernel 'scipy' and 'native'"), ({"numerics_version": 9}, "version 9")):
        claimed = Embedding(vectors.names, vectors.vectors + 1, {**vectors.recipe, **changes})
        assert fact in check(claimed, graph=EDGES).problems[0]
    for derived, fact in (
        (vectors.align_to(vectors), "aligned"),
        (vectors.truncated(2), "truncated"),
        (Embedding(None, [[1]]), "no method is recorded"),
    ):
        with pytest.raises(InputError, match=fact):
            check(derived, graph=EDGES)
    other = Embedding(vectors.names, vectors.vectors, {**vectors.recipe, "kernel": "none"})
    for compare in (graphrefine.measure_drift, Embedding.align_to):
        with pytest.warns(ArgumentWarning, match="made by different computations"):
            compare(vectors, other)


def test_the_gate(vectors: Embedding, tmp_path: Path) -> None:
    near = vectors.vectors + np.random.default_rng(1).normal(0, 0.05, vectors.shape).astype(np.float32)
    new = tmp_path / "near.npy"
    np.save(new, near)
    figures = graphrefine.measure_drift(vectors, graphrefine.load(new)).stats
    moved, kept = figures["moved"]["mean"], figures["kept"]
    assert 0.05 < moved < 1 and 0.1 < kept < 0.99
    assert check(vectors, against=new, max_drift=moved + 1e-6, min_neighbors=kept - 1e-6).ok
    beyond = check(vectors, against=new, max_drift=moved - 1e-6, min_neighbors=kept + 1e-6)
    assert len(beyond.problems) == 2 and "mean drift" in beyond.problems[0] and "are kept" in beyond.problems[1]
    assert {name: beyond.stats["drift"][name] for name in figures} == figures
    fewer = Embedding(vectors.names[:90], vectors.vectors[:90])
    assert check(vectors, against=fewer, max_drift=0.001).ok  # of the nodes that are there
    beyond = check(vectors, against=fewer, max_drift=0.001, max_lost=0.2)
    assert beyond.problems == ["30 nodes of 120 are lost, 0.25, above 0.2"]
    assert check(vectors, against=fewer, max_lost=0.25).ok


def test_the_command_and_its_exit_codes(vectors: Embedding, tmp_path: Path) -> None:
    old = tmp_path / "x"
    vectors.save(old)
    np.savetxt(tmp_path / "g.txt", EDGES, fmt="%d")
    done = run("check", old, "--graph", tmp_path / "g.txt")
    assert done.code == 0 and "whole, the same bits here" in done.out and str(vectors.fingerprint) in done.out
    graphrefine.embed(EDGES, dim=8, seed=5, quality="fast").save(tmp_path / "y.npz")
    done = run("check", old, "--against", tmp_path / "y.npz", "--max-drift", "0.001", "--json")
    verdict = json.loads(done.out)
    assert done.code == 1 and verdict["ok"] is False and verdict["whole"] is True
    assert (verdict["drift"]["lost"], verdict["drift"]["new"], verdict["drift"]["shared"]) == (0, 0, 120)
    assert run("check", old, "--max-drift", "1").code == 2


@pytest.mark.parametrize("given", [{"directed": True}, {"bipartite": True}])
def test_options_of_reading_leave_the_direction_to_the_recipe(given: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    np.savetxt(path, EDGES, fmt="%d", delimiter=";")
    graphrefine.embed(path, dim=8, quality="fast", delimiter=";", **given).save(tmp_path / "x")
    check_command = ["check", str(tmp_path / "x"), "--graph", str(path), "--delimiter", ";"]
    done = run(*check_command)
    assert done.code == 0 and "the same bits here" in done.out, done.out
    other = run(*check_command, "--undirected")
    assert other.code == 1 and "not the one that the vectors were made from" in other.out
    assert check(tmp_path / "x", graph=path, reading={"delimiter": ";"}).ok


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_vectors_that_are_no_numbers(bad: float, tmp_path: Path) -> None:
    """A mapped file is not looked through when it is opened; whoever uses all of it finds them."""
    vectors = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    old, new = (str(tmp_path / f"{name}.npy") for name in ("old", "new"))
    np.save(old, vectors)
    vectors[7, 2] = bad
    np.save(new, vectors)
    problem = f"the vector of node 7 (row 7) has {bad}, not a number"
    assert check(new).problems == check(old, against=new, max_drift=0.2).problems == [f"{new}: {problem}"]
    for words in (("drift", old), ("duplicates",), ("communities",)):
        refuses(*words, new, folder=tmp_path, expected=(problem,))
    refuses("convert", new, tmp_path / "copy.npz", folder=tmp_path, expected=(problem,))


# Mistakes, damaged files, and which exit code each of these has.

SMALL = np.random.default_rng(0).integers(40, size=(200, 2))


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """The folder of an embedding, beside its graph, g.csv."""
    np.savetxt(tmp_path / "g.csv", SMALL, fmt="%d", delimiter=",")
    graphrefine.embed(tmp_path / "g.csv", dim=4, quality="fast").save(tmp_path / "x")
    return tmp_path / "x"


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
    with pytest.raises(InputError) as refused:
        check(whole, table="x")
    assert refused.value.argument == "table"


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
