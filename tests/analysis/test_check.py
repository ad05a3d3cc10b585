"""`graphrefine.check` and ``graphrefine check``: whole files, the same bits again, and the gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from cli_runs import refuses, run
from graphrefine import Embedding, check
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
