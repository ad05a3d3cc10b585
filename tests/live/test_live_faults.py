"""Live vectors under bad input, damage, full disks and interruptions: each refused by name, and nothing lost."""

from __future__ import annotations

import gc
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
import graphrefine.live
from graphrefine.errors import FormatError, InputError, OutputError, UnknownNameError
from graphrefine.live import writer
from graphrefine.live.change_log import ChangeGroup
from graphrefine.live.checkpoint import Checkpoint
from graphrefine.live.reader import LiveReader
from graphrefine.live.store import Store
from graphrefine.live.vector_table import VectorTable
from graphrefine.live.writer import Live, NameResolution
from live_states import bits, graph_of, published_bits

RING = [(i, (i + step) % 24) for i in range(24) for step in (1, 5)]


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    path = tmp_path / "ring.live"
    graphrefine.live.create(RING, path, dim=4, threads=1).close()
    return path


@pytest.fixture
def live(ring: Path) -> Iterator[Live]:
    with Live(ring, threads=1) as live:
        live.auto_refresh = False
        live.add([0, 40], [9, 3])
        live.commit()
        yield live
        live.rollback()


def open_files(*, besides: str | None = None) -> list[str]:
    """Files that this process has open; besides those of a kind, which an error may hold."""
    gc.collect()
    files = []
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            files.append(str(entry.readlink()))
    return sorted(file for file in files if besides is None or besides not in file)


# ---- changes ---------------------------------------------------------------------------------------------------------

CHANGES: dict[str, tuple[Callable[[Live], Any], type[Exception], str]] = {
    "edge not there": (lambda live: live.remove(0, 13), UnknownNameError, "no edge 0 - 13"),
    "end not there": (lambda live: live.remove(0, 99), UnknownNameError, "no node is called 99"),
    "node not there": (lambda live: live.remove_nodes([99]), UnknownNameError, "no node is called 99"),
    "removed twice": (lambda live: live.remove([0, 1], [1, 0]), UnknownNameError, "no edge 1 - 0"),
    "zero": (lambda live: live.set(0, 1, 0), InputError, "remove()"),
    "too large in all": (lambda live: live.add([0, 0], [7, 7], 2.0**100), InputError, r"a sum with it.*2\^100"),
    "one bad of several": (lambda live: live.add([0, 1], [7, 8], [1.0, -1.0]), InputError, "positive"),
    "one thing": (lambda live: live.add([0, 1], 7), InputError, "list"),
    "one name": (lambda live: live.remove_nodes("ann"), InputError, "list"),
    "self-loop": (lambda live: live.add(4, 4), InputError, "self-loop"),
    "self-loop in two spellings": (lambda live: live.add(4, "4"), InputError, "self-loop"),
    "text name": (lambda live: live.add(4, "ann"), InputError, "no integer"),
    "None": (lambda live: live.add(4, None), InputError, "None"),
    "None as a node": (lambda live: live.add_nodes([None]), InputError, "empty"),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGES)
def test_a_change_that_cannot_be_is_refused_and_nothing_of_its_group_counts(live: Live, case: str) -> None:
    change, kind, message = CHANGES[case]
    before, files = bits(live), sorted(each.name for each in live.path.iterdir())
    live.add(5, 100)
    live.set(1, 2, 7.5)
    with pytest.raises(kind, match=message) as caught:
        change(live)
        live.commit()
    assert type(caught.value) is kind
    live.rollback()
    assert bits(live) == before
    assert sorted(each.name for each in live.path.iterdir()) == files
    live.add(5, 100)
    assert live.commit()[:3] == (2, 1, 0)


def test_text_names_are_text_that_can_be_written(tmp_path: Path) -> None:
    with graphrefine.live.create([("a", "b"), ("b", "c")], tmp_path / "text.live", dim=2) as live:
        live.add("a", 12)
        live.commit()
        assert "12" in live
        with pytest.raises(InputError, match="no name"):
            live.add("a", "\ud800")
        live.add("a", "\udc80 is a byte that was not UTF-8")
        live.commit()
        live.refresh()
        assert "\udc80 is a byte that was not UTF-8" in live


def test_removals_of_what_is_not_there_are_counted_if_asked(live: Live) -> None:
    live.remove([0, 0, 0], [13, 99, 1])
    live.remove_nodes([98])
    assert live.commit(skip_unknown=True)[:3] == (2, 4, 3)
    state = bits(live)
    live.close()
    with Live(live.path, threads=1) as again:
        assert bits(again) == state


# ---- folders ---------------------------------------------------------------------------------------------------------


def test_a_graph_or_a_place_that_cannot_be(tmp_path: Path, ring: Path) -> None:
    empty = graphrefine.Graph(np.zeros(4, np.int64), np.empty(0, np.int32), None, np.arange(3))
    refused: list[tuple[Any, str, type[Exception], str]] = [
        (RING, "ring", InputError, "must end in"),
        (RING, "ring.live", OutputError, "already"),
        (RING, "nowhere/ring.live", OutputError, "nowhere"),
        (graphrefine.read(RING, directed=True), "arcs.live", InputError, "directed"),
        (empty, "a.live", InputError, "edges"),
    ]
    for graph, name, kind, message in refused:
        with pytest.raises(kind, match=message):
            graphrefine.live.create(graph, tmp_path / name, dim=4)
    assert [each.name for each in tmp_path.iterdir()] == ["ring.live"]
    with pytest.raises(FormatError, match="no folder of live vectors"):
        graphrefine.live.open(tmp_path / "none.live")


def test_a_second_writer_is_refused(live: Live) -> None:
    with pytest.raises(OutputError, match="another run works"):
        Live(live.path)
    code = f"import graphrefine.live; graphrefine.live.open({str(live.path)!r})"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert other.returncode != 0 and "another run works" in other.stderr
    live.add(0, 14)
    assert live.commit().group == 2


def test_another_numerics_version_may_read_and_not_write(ring: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with LiveReader(ring) as reader:
        state = published_bits(reader)
    monkeypatch.setattr("graphrefine.live.checkpoint.NUMERICS_VERSION", 2)
    with pytest.raises(FormatError, match=r"numerics version 1, .* version 2: .* Reading is possible"):
        Live(ring)
    with LiveReader(ring) as reader:
        assert published_bits(reader) == state
        assert reader.snapshot().recipe["numerics_version"] == 1, "that of the writer"


# ---- damage ----------------------------------------------------------------------------------------------------------


ARRAYS = ("vectors", "indices", "states", "basis", "numbers", "lengths")


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "missing":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(data[: 2 * len(data) // 3])
    else:
        path.write_bytes(data[: len(data) // 2] + bytes(255 - byte for byte in data[len(data) // 2 :]))


@pytest.mark.parametrize("how", ["missing", "empty", "cut", "changed"])
@pytest.mark.parametrize("name", ["live.db", *(f"{name}.npy" for name in ARRAYS)])
def test_damage_of_a_file_is_seen(ring: Path, name: str, how: str) -> None:
    damage(ring / name if name == "live.db" else ring / "generation-000001" / name, how)
    files = open_files(besides=".npy")
    with pytest.raises(FormatError, match=None if name == "live.db" else "backup"), Live(ring, threads=1) as live:
        live.check(deep=False)  # only the bytes are other
    if name == "live.db" and how in ("missing", "empty"):
        with pytest.raises(FormatError):
            LiveReader(ring)
    assert open_files(besides=".npy") == files


@pytest.mark.parametrize(
    ("table", "column", "number"), [("about", "facts", '"tolerance": 0.1'), ("generations", "contents", '"nodes": 24')]
)
def test_other_numbers_in_the_database_are_seen(ring: Path, table: str, column: str, number: str) -> None:
    with closing(sqlite3.connect(ring / "live.db", isolation_level=None)) as database:
        changed = database.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (number, f"{number}5"))
        assert changed.rowcount == 1
    for kind in (Live, LiveReader):
        with pytest.raises(FormatError, match=r"is damaged; go back to a backup"):
            kind(ring)


def test_damage_of_a_group_is_seen(live: Live) -> None:
    live.add([0, 1], [14, 15])
    live.commit()
    live.close()
    with closing(sqlite3.connect(live.path / "live.db", isolation_level=None)) as database:
        ((data,),) = database.execute("SELECT changes FROM groups WHERE id = 2").fetchall()
        database.execute("UPDATE groups SET changes = ? WHERE id = 2", (data[:-1] + bytes([data[-1] ^ 1]),))
        with pytest.raises(FormatError, match="group 2 is damaged"):
            Live(live.path)
        database.execute("UPDATE groups SET changes = ? WHERE id = 2", (data,))
        database.execute("DELETE FROM groups WHERE id = 1")
        with pytest.raises(FormatError, match="group 1 is missing"):
            Live(live.path)


def test_damage_of_an_update_is_seen(live: Live) -> None:
    reader, state = LiveReader(live.path, threads=1), bits(live)[:4]
    live.add([0, 1], [14, 15])
    live.commit()
    with closing(sqlite3.connect(live.path / "live.db", isolation_level=None)) as database:
        database.execute("UPDATE groups SET moved = zeroblob(length(moved)) WHERE id = 2")
        for action in (reader.update, live.check):
            with pytest.raises(FormatError, match="group 2 is damaged"):
                action()
    assert published_bits(reader) == state
    reader.close()


def test_leftovers_of_a_killed_writer_go(live: Live) -> None:
    live.close()
    for name in ("generation-000007", ".generation-000002.graphrefine-0-1-0.new"):
        (live.path / name).mkdir()
        (live.path / name / "indptr.npy").write_bytes(b"half")
    Live(live.path, threads=1).close()
    left = sorted(each.name for each in live.path.iterdir())
    assert left == ["generation-000001", "live.db", "lock"]


# ---- time, room and interruptions --------------------------------------------------------------------------------


@contextmanager
def full_database(live: Live) -> Iterator[None]:
    """Refuse further pages, as SQLite does where the disk is full."""
    connection = live._store._connection
    assert connection is not None
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")
    yield
    connection.execute("PRAGMA max_page_count=1000000")


@contextmanager
def small_files(live: Live) -> Iterator[None]:
    """Let the limit of the system meet the log in its middle; its errors are others than SQLite's own."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(each.stat().st_size for each in live.path.glob("live.db*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 20_000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("limit", [full_database, small_files])
def test_a_full_disk_refuses_a_group_and_the_next_one_counts(
    live: Live, limit: Callable[[Live], AbstractContextManager[None]]
) -> None:
    before, many = bits(live), [list(range(100, 9000)), list(range(101, 9001))]
    live.add(*many)
    with limit(live):
        with pytest.raises(OutputError, match="nothing was changed"):
            live.commit()
        assert bits(live) == before
    live.add(*many)
    assert live.commit().new_nodes == 8901
    state = bits(live)
    live.close()
    with Live(live.path, threads=1) as again:
        assert bits(again) == state


def test_a_refresh_that_fails_is_a_warning_and_its_group_counts(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    live.auto_refresh = True
    monkeypatch.setattr(writer, "LOOK", 1)
    monkeypatch.setattr(writer, "refresh_reason", lambda *_, **__: "a test")

    def fail(*_: Any, **__: Any) -> None:
        raise OutputError("no room for a generation")

    monkeypatch.setattr(writer, "save_checkpoint", fail)
    live.add(0, 14)
    live.commit()
    assert live._refresh is not None
    live._refresh.wait()
    live.add(0, 15)
    with pytest.warns(UserWarning, match="no room"):
        assert live.commit().group == 3
    assert "no room" in live.stats()["refresh_problem"]
    state = bits(live)
    with pytest.raises(OutputError, match="no room"):
        live.refresh()
    assert bits(live) == state
    monkeypatch.undo()
    live.refresh()
    assert live.stats()["generation"] == 2


def test_a_graph_may_lose_all_edges_and_nodes(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LOOK", 1)
    monkeypatch.setattr(writer, "LOGGED", 1)
    live.remove_nodes(live.names.tolist())
    live.commit()
    assert len(live) == 0
    with pytest.raises(InputError, match="no edges"):
        live.refresh()
    live.close()
    with Live(live.path, threads=1) as again:
        assert (len(again), again._table.has_integers) == (0, True)
        again.add(3, 4)
        again.commit()
        assert graph_of(again).edges == {frozenset((3, 4)): 1.0}


class Interrupted:
    """A function that is interrupted before or after it has done its work, once."""

    def __init__(self, function: Callable[..., Any], *, after: bool) -> None:
        self.function, self.after, self.calls = function, after, 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        if self.calls > 1:
            return self.function(*args, **options)
        if self.after:
            self.function(*args, **options)
        raise KeyboardInterrupt


COMMITTING = [
    (NameResolution, "resolve"), (ChangeGroup, "apply"), (writer, "unit_vectors"), (Store, "append"),
    (Store, "_all"), (VectorTable, "apply"), (Live, "_accept"), (Live, "_maintain"),
]  # fmt: skip
REFRESHING = [(writer, "save_checkpoint"), (Store, "switch"), (Store, "remove_old_files"), (Checkpoint, "load")]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("owner", "name"), [*COMMITTING, *REFRESHING], ids=lambda each: getattr(each, "__name__", each)
)
def test_an_interruption_leaves_what_the_disk_has(
    live: Live, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: bool
) -> None:
    refreshing, reader = (owner, name) in REFRESHING, LiveReader(live.path, threads=1)
    live.add([0, 70], [14, 3])
    live.remove_nodes([20])
    if refreshing:
        live.commit()
    stopped = Interrupted(getattr(owner, name), after=after)
    monkeypatch.setattr(owner, name, lambda *args, **options: stopped(*args, **options))
    with pytest.raises(KeyboardInterrupt):
        (live.refresh if refreshing else live.commit)()
        len(live)  # opens what was made
    monkeypatch.undo()
    reader.update()  # the moment before, or the one after
    assert not refreshing or reader.group == 2
    live.backup(live.path.parent / "copy.live")
    with Live(live.path.parent / "copy.live", threads=1) as disk:
        assert bits(live) == bits(disk)
        for each in (live, disk):
            each.add([1, 71], [15, 70])
            each.commit()
        state = bits(live)
        assert state == bits(disk)
    reader.update()
    assert published_bits(reader) == published_bits(live)
    reader.close()
    live.close()
    with Live(live.path, threads=1) as again:
        assert bits(again) == state
    assert len(list(live.path.glob("*generation-*"))) == 1


def test_nothing_stays_open(ring: Path) -> None:
    files = open_files()
    for _ in range(3):
        with Live(ring, threads=1) as live, LiveReader(ring, threads=1) as reader:
            live.add(0, 14)
            live.commit()
            live.refresh()
            reader.update()
            live.check()
    del live, reader
    assert open_files() == files
