"""Live vectors: any groups of changes against a plain model, and the same bits wherever they are read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphrefine.live
from graphrefine.errors import InputError, OutputError
from graphrefine.live import model as fitting
from graphrefine.live import writer
from graphrefine.live.change_log import Change
from graphrefine.live.reader import LiveReader
from graphrefine.live.server import LiveService
from graphrefine.live.writer import Live
from live_states import Model, Replay, bits, generations, graph_of, published_bits

RING = [(i, (i + step) % 24) for i in range(24) for step in (1, 5)]
STEPS = st.tuples(st.sampled_from("++=--+n-"), st.integers(0, 29), st.integers(0, 29), st.sampled_from([0.5, 1.0, 3.0]))
GROUPS = st.lists(
    st.tuples(st.lists(STEPS, max_size=12), st.sampled_from(["", "", "", "read", "refresh", "open"])), max_size=8
)


@contextmanager
def folder_of(edges: list[tuple[Any, Any]], **options: Any) -> Iterator[Path]:
    with TemporaryDirectory() as place:
        path = Path(place) / "graph.live"
        graphrefine.live.create(edges, path, threads=1, **{"dim": 4, **options}).close()
        yield path


def operations_of(steps: list[tuple[str, int, int, float]], model: Model, name: Any) -> list[Change]:
    """Changes that the graph can take, which become part of the model; ``n`` is about a node."""
    operations = []
    for sign, u, v, weight in steps:
        source, target = name(u), name(v)
        if sign == "n":
            kind = "-" if source in model.names and u % 2 else "+"
            operation = Change(kind, source, None, 0.0)
        elif u == v or (sign == "-" and frozenset((source, target)) not in model.edges):
            continue
        else:
            operation = Change(sign, source, target, 0.0 if sign == "-" else weight)
        model.apply(*operation)
        operations.append(operation)
    return operations


@pytest.mark.parametrize("name", [int, lambda u: f"node {u}" if u else ""], ids=["integers", "strings"])
@given(groups=GROUPS)
@settings(max_examples=20)
def test_any_groups_of_changes_are_what_a_plain_model_and_every_reader_have(name: Any, groups: Any) -> None:
    with folder_of([(name(u), name(v)) for u, v in RING]) as path:
        live, reader = Live(path, threads=1), LiveReader(path, threads=1)
        live.auto_refresh = False
        model = graph_of(live)
        for steps, then in groups:
            live.collect(operations_of(steps, model, name))
            live.commit()
            own = graph_of(live)
            assert (own.edges, own.names, len(live)) == (model.edges, model.names, len(model.names))
            if then == "refresh" and model.edges:
                live.refresh()
            before = bits(live)
            if then == "open":
                live.close()
                live = Live(path, threads=1)
                live.auto_refresh = False
                assert bits(live) == before
            if then == "read":
                reader.update()
                assert published_bits(reader) == before[:4]
                assert reader.bounds().tobytes() == live.bounds().tobytes()
        reader.update()
        assert published_bits(reader) == published_bits(live)
        with LiveReader(path, threads=1) as late:
            assert published_bits(late) == published_bits(live)
        assert live.check()["beyond_lag"] == 0
        reader.close()
        live.close()


def test_refreshes_by_itself_give_what_a_replay_of_the_log_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "LOOK", 1)
    monkeypatch.setattr(fitting, "MOST_NEW", 0.02)
    path, rng = tmp_path / "ring.live", np.random.default_rng(7)
    graphrefine.live.create(RING, path, dim=4, threads=1).close()
    shutil.copytree(path, tmp_path / "replay.live")
    groups = [[Change("+", int(u), int(u) + 1, 1.0) for u in rng.integers(0, 24 + 2 * i, 3)] for i in range(30)]
    with Live(path, threads=1) as live:
        for operations in groups:
            live.collect(operations)
            live.commit()
    with Live(path, threads=1) as live:
        assert len(live.drift()) >= 2
        replay = Replay(tmp_path / "replay.live", lambda number: groups[number - 1])
        replay.follow(live)
        assert bits(replay.live) == bits(live)
        replay.live.close()


def test_bounds_stats_and_drift(tmp_path: Path) -> None:
    with graphrefine.live.create(RING, tmp_path / "ring.live", dim=4, threads=1) as live:
        live.add(0, 100)
        live.add_nodes([200])
        live.commit()
        assert live.bound(200) == 0.0
        assert live.bounds().tolist() == [2.0 if (own := live.bound(each)) is None else own for each in live.names]
        assert np.all(live.sharp_bounds() <= live.bounds() + 1e-12)
        assert live.drift() == []
        stats = live.refresh("a test")
        (drift,) = live.drift()
        assert {drift["reason"], drift["begun"], drift["ended"]} == {"a test", 1}
        assert 0 <= drift["drift"] == stats["drift"] < 2
        stats = live.stats()
        keys = ("nodes", "edges", "group", "generation", "new_since_refresh")
        assert [stats[key] for key in keys] == [26, 49, 1, 2, 0]


def test_a_block_commits_or_drops_what_it_collected(tmp_path: Path) -> None:
    path = tmp_path / "ring.live"
    with graphrefine.live.create(RING, path, dim=4, threads=1) as live:
        live.add(0, 12)
    with pytest.raises(InputError, match="closed"):
        live.stats()
    with pytest.raises(RuntimeError), graphrefine.live.open(path) as live:
        live.add(0, 13)
        raise RuntimeError
    with graphrefine.live.open(path) as live:
        assert (0, 12) in {tuple(sorted(edge)) for edge in graph_of(live).edges}
        assert frozenset((0, 13)) not in graph_of(live).edges
        live.add(0, 13)
        live.rollback()
        assert live.commit() == (1, 0, 0, 0, 0)
        with pytest.raises(InputError, match="not committed"):
            live.add(0, 13)
            live.refresh()
        live.rollback()


def test_a_backup_while_it_is_written(tmp_path: Path) -> None:
    with graphrefine.live.create(RING, tmp_path / "ring.live", dim=4, threads=1) as live:
        live.add("40", 1)
        live.remove(0, 1)
        live.commit()
        live.add(0, 9)  # not committed
        live.backup(tmp_path / "copy.live")
        state = bits(live)
        live.commit()
        live.refresh()
        with pytest.raises(OutputError, match="already"):
            live.backup(tmp_path / "copy.live")
    with LiveReader(tmp_path / "copy.live", threads=1) as reader:
        assert published_bits(reader) == state[:4]
    with Live(tmp_path / "copy.live", threads=1) as copy:
        assert bits(copy) == state
    assert sorted(each.name for each in tmp_path.iterdir()) == ["copy.live", "ring.live"]


def test_names_that_were_removed_are_in_no_file_after_a_refresh(tmp_path: Path) -> None:
    path = tmp_path / "ring.live"
    names = [(f"person {u}", f"person {v}") for u, v in RING]
    with graphrefine.live.create(names, path, dim=4, threads=1) as live, LiveReader(path, threads=1):
        live.add("person 3", "a secret name")
        live.add("person 3", "the name 'secret' as it is")
        live.commit()
        assert "a secret name" in live
        live.remove_nodes(["a secret name", "person 7", "the name 'secret' as it is"])
        live.commit()
        live.refresh()
        for word in (b"secret", b"person 7"):
            assert [each.name for each in path.rglob("*") if each.is_file() and word in each.read_bytes()] == []


def test_a_long_log_becomes_a_generation_when_the_folder_is_closed(tmp_path: Path, monkeypatch: Any) -> None:
    """It is no refresh: the energy that the basis has lost since the last one stays known, and so does the commit."""
    monkeypatch.setattr(writer, "LOGGED", 3)
    path = tmp_path / "ring.live"
    with graphrefine.live.create(RING, path, dim=4, threads=1) as live:
        share = live.stats()["captured_at_refresh"]
        live.add(["100", "101", "102", "103"], [1, 2, 3, 4])
        live.remove_nodes([20])
        live.commit()
        state, reader = bits(live), LiveReader(path, threads=1)
    assert sorted(each.name for each in path.glob("*generation*")) == ["generation-000002"]
    with LiveService(path, threads=1) as again:
        assert published_bits(again) == state[:4]
        assert generations(again) == [(2, 1)]
        reader.update()
        assert published_bits(reader) == state[:4]
        stats = again.state()
        assert stats["captured_at_refresh"] == share > stats["captured_energy"]
        assert stats["generation"] == 2 and stats["last_commit"] is not None
    reader.close()


def test_readers_of_any_moment_follow_checkpoints_of_a_writer_that_goes_on(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(writer, "LOGGED", 40)
    path, readers = tmp_path / "ring.live", list[LiveReader]()
    names = [("" if u == 0 else str(u), "" if v == 0 else str(v)) for u, v in RING]
    with graphrefine.live.create(names, path, dim=4, threads=1) as live:
        live.auto_refresh = False
        for i in range(12):
            readers.append(LiveReader(path, threads=1))
            live.add(["", f"new {i}"], [f"new {i}", str(i + 1)])
            live.remove_nodes([f"new {i - 1}"] if i else ["20"])
            live.commit()
            assert "" in live
            for reader in readers[::3]:
                reader.update()
                assert published_bits(reader) == published_bits(live)
        assert len(generations(live)) >= 2 and live.drift() == []
        for reader in readers:
            reader.update()
            assert published_bits(reader) == published_bits(live)
            reader.close()
