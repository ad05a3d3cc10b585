"""Live vectors in files and in a real PostgreSQL: all of them, or those that moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import graphrefine
import graphrefine.live
import postgres_server
from cli_runs import check_refused, run, works
from graphrefine.live.writer import Live
from postgres_server import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres_server.running() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two rings of 30 nodes that one edge joins."""
    edges = [(f"{ring}{i}", f"{ring}{(i + step) % 30}") for ring in "ab" for i in range(30) for step in (1, 2)]
    graphrefine.live.create([*edges, ("a0", "b0")], tmp_path / "rings.live", dim=8).close()
    return tmp_path / "rings.live"


def change(folder: Path) -> None:
    """A change at one end of a ring: most of the other ring stays."""
    with graphrefine.live.open(folder) as rings:
        rings.add("new", "a5")
        rings.add("new", "a6")
        rings.remove_nodes(["a20"])


def table(server: Server, name: str) -> dict[str, list[float]]:
    back = graphrefine.load(server.address(), table=name)
    return {str(node): back[node].tolist() for node in back.names.tolist()}


def vectors(folder: Path) -> dict[str, list[float]]:
    with graphrefine.live.open(folder, read_only=True) as rings:
        return {str(node): rings[node].tolist() for node in rings.names.tolist()}


def test_a_table_is_made_and_follows_changes_refreshes_and_another_folder(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    def export(source: Path) -> int:
        figures = works("live", "export", source, "--to", server.address(), "--table", "rings", "--json").figures
        assert table(server, "rings") == vectors(source)
        assert figures["nodes"] == len(vectors(source))
        return int(figures["written"])

    assert export(folder) == 60
    change(folder)
    assert 1 < export(folder) < 60
    assert export(folder) == 0
    with graphrefine.live.open(folder) as rings:
        rings.refresh()
    assert export(folder) == 60  # all of a new generation
    assert export(folder) == 0
    graphrefine.live.create([(i, (i + 1) % 9) for i in range(9)], tmp_path / "other.live", dim=2).close()
    assert export(tmp_path / "other.live") == 9


def test_a_file_has_what_moved_since_a_group(folder: Path, tmp_path: Path) -> None:
    change(folder)
    some = works("live", "export", folder, "-o", tmp_path / "some.npz", "--changed-since", "0", "--json").figures
    part, whole = graphrefine.load(tmp_path / "some.npz"), vectors(folder)
    assert len(part) == some["written"] < 60 and "new" in part
    assert all(part[node].tolist() == whole[str(node)] for node in part.names.tolist())
    none = works("live", "export", folder, "-o", tmp_path / "no.npz", "--json", "--changed-since", "1").figures
    assert none["after"] == 1 and none["written"] == 0
    with graphrefine.live.open(folder) as rings:
        rings.refresh()  # at that very group: all vectors of before are others
    every = works("live", "export", folder, "-o", tmp_path / "all.npz", "--json", "--changed-since", "1").figures
    assert every["written"] == 60
    server = ["--to", "postgresql://nobody@localhost/none", "--changed-since", "0"]
    check_refused(run("live", "export", folder, *server), "--changed-since")
    for targets in ([], ["-o", "x.npz", "--to", "postgresql://nobody@localhost/none"]):
        check_refused(run("live", "export", folder, *targets), "--to")


def test_neighbors_by_an_index_follow_changes_and_refreshes(folder: Path) -> None:
    """With as many candidates as there are nodes, an index finds what an exact search does."""
    pytest.importorskip("usearch")
    with Live(folder) as rings, graphrefine.live.open(folder, read_only=True) as reader:
        for step in range(4):
            for each in (rings, reader):
                for name in ("a3", "b7", "a19"):
                    exact, by_index = (each.neighbors(name, 10, index=index) for index in (False, True))
                    assert np.allclose([near.score for near in exact], [near.score for near in by_index], atol=1e-5)
            rings.add([f"new{step}"] * 2, ["a5", "b6"])
            rings.remove(f"b{2 * step + 8}", f"b{2 * step + 9}")
            rings.remove_nodes([f"a{10 + step}"])
            rings.commit()
            if step == 2:
                rings.refresh()
            reader.update()
            assert "a10" not in [near.name for near in reader.neighbors("a9", 60, index=True)]
