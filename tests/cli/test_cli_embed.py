"""`graphrefine embed`: standard input, options that reach the method, awkward graphs, and what --json says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import graphrefine
from cli_runs import PAIRS, embeds, ring_of_cliques, spawn, works, write_csv
from graphrefine.embedding.embedding import load

EDGES = ring_of_cliques()
NODES = 20


def _text(delimiter: str) -> bytes:
    return "".join(f"{u}{delimiter}{v}\n" for u, v in EDGES.tolist()).encode()


@pytest.fixture(scope="module")
def expected() -> graphrefine.Embedding:
    return graphrefine.embed(EDGES, dim=8)


@pytest.fixture
def edges(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "edges.csv", EDGES)


def test_inputs_and_outputs_of_other_kinds(tmp_path: Path, expected: graphrefine.Embedding, edges: Path) -> None:
    found = embeds("-", "--dim", "8", to=tmp_path / "a", stdin=_text(" "))
    np.testing.assert_array_equal(found.vectors, expected.vectors)
    half = sp.coo_matrix((np.ones(len(EDGES)), EDGES.T), shape=(NODES, NODES))
    sp.save_npz(tmp_path / "g.npz", (half + half.T).tocsr())
    found = embeds("-", "--dim", "8", to=tmp_path / "b", stdin=(tmp_path / "g.npz").read_bytes())
    np.testing.assert_array_equal(found.vectors, expected.vectors)
    done = spawn("embed", "-", "-o", tmp_path / "c", "--dim", "8", input=gzip.compress(_text("\t")))
    assert (done.code, done.err) == (0, PAIRS.replace("csv", "text"))
    np.testing.assert_array_equal(load(tmp_path / "c").vectors, expected.vectors)
    embeds(edges, "--dim", "8", to=tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected.vectors)
    works("embed", edges, "--dim", "8", "-o", tmp_path / "v2.0", "--output-format", "npz")
    np.testing.assert_array_equal(load(tmp_path / "v2.0", format="npz").vectors, expected.vectors)


def test_json_is_one_object_with_the_promised_figures(tmp_path: Path, edges: Path) -> None:
    done = works("embed", edges, "-o", tmp_path / "out", "--json", "--threads", "1", "--seed", "5")
    assert done.err.startswith(f"{PAIRS}warning: --dim: dim is reduced from 128 to 20 (the number of nodes")
    figures = done.figures
    assert f"read: {figures['reading']}\n" == PAIRS
    assert (figures["nodes"], figures["edges"], figures["dim"], figures["isolated"]) == (20, len(EDGES), 20, 0)
    assert (figures["threads"], figures["seed"], figures["output"]) == (1, 5, str(tmp_path / "out"))
    seconds = figures["seconds"]
    views = ["proximity", "range", "filter", "memory", "regions", "far", "local", "axes"]
    assert list(seconds) == ["read", *views, "learn", "write", "total", "compute"]
    assert all(value > 0 for value in seconds.values())
    apart = seconds["read"] + seconds["learn"] + seconds["write"]
    assert seconds["compute"] == pytest.approx(seconds["total"] - apart)
    assert sum(seconds[view] for view in views) <= seconds["compute"]
    assert 20 < figures["peak_mb"] < 5000
    assert figures["recipe"] == load(tmp_path / "out").recipe
    assert figures["recipe"]["seed"] == 5 and figures["recipe"]["dim"] == 20


def test_the_peak_is_that_of_the_command_alone(tmp_path: Path, edges: Path) -> None:
    ballast = np.ones(60_000_000)  # 480 MB here, which the command does not hold
    figures = spawn("embed", edges, "-o", tmp_path / "out", "--json").figures
    assert ballast.sum() > 0
    assert figures["peak_mb"] < 300


def test_without_json_there_is_one_line_on_stdout(tmp_path: Path, edges: Path) -> None:
    done = works("embed", edges, "-o", tmp_path / "out", "--dim", "4")
    assert done.out.count("\n") == 1 and done.err == PAIRS
    assert done.out.startswith(f"{tmp_path / 'out'}: 20 nodes x 4 from {len(EDGES)} edges in ")


OPTIONS: list[tuple[list[str], dict[str, Any]]] = [
    (["--preset", "paper", "--power", "2"], {"preset": "paper", "power": 2}),
    (["--block", "4"], {"block": 4}),
    (["--negative", "5", "--exponent", "0.5"], {"negative": 5.0, "exponent": 0.5}),
    (["--filter", "heat", "--order", "4", "--scale", "2"], {"filter": "heat", "order": 4, "scale": 2.0}),
    (["--filter", "0,0.5,0.25"], {"filter": (0, 0.5, 0.25)}),
    (["--seed", "3", "--filter", "none"], {"seed": 3, "filter": "none"}),
    (["--one-sided", "--no-log-weights", "--no-bfloat16"],
     {"two_sided": False, "log_weights": False, "bfloat16": False}),
]  # fmt: skip


@pytest.mark.parametrize(("typed", "options"), OPTIONS)
def test_options_reach_the_method(tmp_path: Path, typed: list[str], options: dict[str, Any]) -> None:
    path = tmp_path / "weighted.csv"
    path.write_text("".join(f"{u},{v},{1 + (3 * u + v) % 5}\n" for u, v in EDGES.tolist()))
    found = embeds(path, "--dim", "6", *typed, to=tmp_path / "out")
    wanted = graphrefine.embed(path, dim=6, **options)
    np.testing.assert_array_equal(found.vectors, wanted.vectors)
    assert found.recipe == wanted.recipe
    if typed[0] != "--block":
        assert not np.allclose(found.vectors, graphrefine.embed(path, dim=6).vectors, atol=1e-4)


def test_columns_weights_nodes_and_options_of_text(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    rows = [("when", "caller", "callee", "minutes"), (1, "ann", "bob", 3), (2, "bob", "cy", 9), (3, "ann", "cy", 1)]
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows))
    (tmp_path / "nodes.txt").write_text("zoe\nann\n")
    figures = works(
        "embed", path, "-o", tmp_path / "a", "--weights", "minutes", "--nodes", tmp_path / "nodes.txt", "--json"
    ).figures
    assert load(tmp_path / "a").names.tolist() == ["ann", "bob", "cy", "zoe"]
    assert figures["graph"]["columns"] == ["caller", "callee"] and figures["graph"]["weight_column"] == "minutes"
    by_position = embeds(path, *("--source", "1", "--target", "2", "--weights", "3"), "--dim", "3", to=tmp_path / "b")
    wanted = graphrefine.embed([("ann", "bob", 3), ("bob", "cy", 9), ("ann", "cy", 1)], dim=3)
    np.testing.assert_array_equal(by_position.vectors, wanted.vectors)
    unweighted = embeds(path, "--weights", "none", "--dim", "3", to=tmp_path / "c")
    wanted = graphrefine.embed([("ann", "bob"), ("bob", "cy"), ("ann", "cy")], dim=3)
    np.testing.assert_array_equal(unweighted.vectors, wanted.vectors)
    path = tmp_path / "tags.dat"
    path.write_bytes("#red;#blue\n#blue;grün\n".encode("cp1252"))
    options = ("--comments", "", "--delimiter", "semicolon", "--encoding", "cp1252", "--no-header")
    assert embeds(path, *options, to=tmp_path / "a").names.tolist() == ["#blue", "#red", "grün"]
    named = ("--comments", "", "--delimiter", "semicolon", "--header")
    assert embeds(path, *named, to=tmp_path / "b").names.tolist() == ["#blue", "grün"]


def test_isolated_nodes_are_zero_and_reported(tmp_path: Path, edges: Path) -> None:
    done = works("embed", edges, "-o", tmp_path / "out", "--nodes", "23", "--dim", "4", "--json")
    assert done.figures["nodes"] == 23 and done.figures["isolated"] == 3 and done.figures["zero_vectors"] == 3
    assert done.err == f"{PAIRS}note: nodes without edges, their vectors zero: 3\n"
    vectors = np.asarray(load(tmp_path / "out").vectors)
    assert (vectors[20:] == 0).all() and np.isfinite(vectors).all() and (vectors[:20] != 0).any(axis=1).all()


def test_odd_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "weights=1 graph \udcff.csv"
    write_csv(path, EDGES)
    done = spawn("embed", path.name, "-o", "out \udcff", "--json", "--dim", "4")
    assert done.code == 0, done.err
    assert json.loads(done.out)["output"] == "out \udcff"
    assert spawn("info", path.name, env={"PYTHONIOENCODING": "ascii"}).code == 0
