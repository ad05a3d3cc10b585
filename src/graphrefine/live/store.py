"""The folder of live vectors: one database, and checkpoints of arrays that never change.

::

    web.live/
      lock                 locked by the process that writes
      live.db              SQLite, write-ahead log, synchronous=FULL: log of changes, updates for readers, metadata
      moved-000005.bin     vectors of the updates, appended
      generation-000003/   arrays of one moment, see `graphrefine.live.checkpoint`

A group of changes and its update of the vectors are one transaction: it counts for the writer and for readers at the
same moment. A writer opens the checkpoint and applies the groups after it again, with the same bits; a reader opens the
checkpoint and applies the updates. A new checkpoint takes the place of the groups and updates before it in one
transaction, and the names of removed nodes are then nowhere in the folder.

Vectors that moved are some MB a group, and follow from the log. So they are in a file that need not wait for the disk:
in the database, whose every commit waits, they made groups of 1,000 changes slower by a fifth. What a power cut may
take from that file is seen by a checksum, and written again when the folder is opened for writing.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from graphrefine.errors import FormatError, GraphRefineError, InputError, OutputError
from graphrefine.live.change_log import ChangeGroup, Origin, Update, vector_records
from graphrefine.system.checks import version_problem
from graphrefine.system.work_folder import WorkFolder

VERSION = 2
SUFFIX = ".live"
DATABASE = "live.db"
REQUESTS = 100_000  # groups back that ids of requests are remembered for
PATIENCE = 200  # milliseconds for readers to let go of the write-ahead log
BUSY = 30.0  # seconds that a connection waits for a moment when the database is free
UPDATES = """
CREATE TABLE updates (
    id INTEGER PRIMARY KEY, change_group INTEGER NOT NULL, first INTEGER NOT NULL, names TEXT NOT NULL,
    removed BLOB NOT NULL, start INTEGER NOT NULL, bytes INTEGER NOT NULL, count INTEGER NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX updates_group ON updates (change_group);
INSERT INTO about VALUES ('moved', '0');
"""
TABLES = f"""
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE groups (
    id INTEGER PRIMARY KEY, time REAL NOT NULL, changes BLOB NOT NULL, names TEXT NOT NULL,
    stream TEXT, records INTEGER, digest TEXT
);
CREATE TABLE moments (id INTEGER PRIMARY KEY, time REAL NOT NULL);
CREATE TABLE requests (request TEXT PRIMARY KEY, change_group INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE streams (stream TEXT PRIMARY KEY, records INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE generations (id INTEGER PRIMARY KEY, time REAL NOT NULL, through INTEGER NOT NULL);
CREATE TABLE refreshes (
    id INTEGER PRIMARY KEY, time REAL NOT NULL, begun INTEGER NOT NULL, ended INTEGER NOT NULL, reason TEXT NOT NULL,
    figures TEXT NOT NULL
);
{UPDATES}
"""


class Unseen(NamedTuple):
    """What a reader has not seen yet."""

    generation: int
    group: int
    updates: list[Update]
    is_whole: bool  # whether these are all since the checkpoint, to be applied to its vectors


class Store:
    """The database of a folder, for one writer (``write=True``) or for reading.

    Parameters
    ----------
    path : path
        The folder.
    write : bool
        Whether to take the lock of the writer.
    """

    def __init__(self, path: str | os.PathLike[str], *, write: bool) -> None:
        self.path, self.write = Path(path), write
        if not (self.path / DATABASE).exists():
            raise FormatError(path, "is no folder of live vectors; graphrefine live create makes one")
        self._connection: sqlite3.Connection | None = None
        self._lock: WorkFolder | None = None
        try:
            if write:
                self._lock = _lock(self.path)
            self._connect()
            if problem := version_problem(self.fact("version"), VERSION):
                raise FormatError(self.path, problem)
            if write and (problem := self._all("PRAGMA quick_check(1)")[0][0]) != "ok":
                raise FormatError(self.path, f"the database is damaged: {problem}; go back to a backup")
            if self.fact("version") == 1:
                self._upgrade()
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        self._inode = _inode(self.path / DATABASE)
        self._connection = _connect(self.path / DATABASE, write=self.write)

    @classmethod
    def create(cls, folder: Path, facts: dict[str, Any]) -> None:
        """Create the database in a folder that is being filled."""
        with closing(sqlite3.connect(folder / DATABASE, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.executescript(f"BEGIN; {TABLES} COMMIT;")
            facts = {"version": VERSION, "generation": 1, "group": 0, "id": secrets.token_hex(8), **facts}
            rows = [(key, json.dumps(value)) for key, value in facts.items()]
            connection.executemany("INSERT INTO about VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the database and release the lock."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _upgrade(self) -> None:
        """Import the updates of a folder of version 1, which had them in a database of its own, ``bulletin.db``."""
        if not self.write:
            Store(self.path, write=True).close()
            return
        old = self.path / "bulletin.db"
        with self._errors(), closing(_connect(old, write=True)) as posts:
            about = dict(posts.execute("SELECT key, value FROM about").fetchall())
            if about != {"generation": self.generation, "group": self.group}:
                raise FormatError(self.path, "its writer was killed; open it once with the version that wrote it")
            columns = "change_group, first, names, removed, nodes, groups, lengths, degrees, vectors"
            with self.transaction():
                for statement in UPDATES.split(";"):
                    self._run(statement)
                for group, first, names, removed, *parts in posts.execute(f"SELECT {columns} FROM posts ORDER BY id"):
                    rows = np.frombuffer(parts[0], "<i8")
                    moved = vector_records(rows, len(parts[4]) // 4 // max(len(rows), 1))
                    moved["group"] = np.frombuffer(parts[1], "<i8")
                    moved["length"], moved["degree"] = (np.frombuffer(part, "<f8") for part in parts[2:4])
                    moved["vector"] = np.frombuffer(parts[4], "<f4").reshape(moved["vector"].shape)
                    self._add_update(group, Update(first, json.loads(names), np.frombuffer(removed, "<i8"), moved))
                self._set_fact("version", VERSION)
        for file in self.path.glob("bulletin.db*"):
            file.unlink()

    @property
    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise InputError(f"{self.path} was closed; open it again")
        return self._connection

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One moment for several reads, or all or nothing of several writes."""
        with self._errors():
            self._open_connection.execute("BEGIN IMMEDIATE" if self.write else "BEGIN")
        try:
            yield
            with self._errors():
                self._open_connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._open_connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors(self, outcome: str = "nothing was changed") -> Iterator[None]:
        """Raise errors of the database as ours; ``outcome`` says what they leave."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OutputError(f"{self.path}: the database refused: {error}; {outcome}") from None
        except sqlite3.DatabaseError as error:
            raise FormatError(self.path, f"the database is damaged: {error}; go back to a backup") from None

    def _all(self, query: str, *values: Any) -> list[Any]:
        with self._errors("what was committed before stays"):
            return self._open_connection.execute(query, values).fetchall()

    def _run(self, query: str, *values: Any) -> None:
        with self._errors():
            self._open_connection.execute(query, values)

    # ---- facts -------------------------------------------------------------------------------------------------------

    def facts(self) -> dict[str, Any]:
        """Return the facts about the folder."""
        return {key: json.loads(value) for key, value in self._all("SELECT key, value FROM about")}

    def fact(self, key: str) -> Any:
        """Return one of the facts about the folder."""
        rows = self._all("SELECT value FROM about WHERE key = ?", key)
        if not rows:
            raise FormatError(self.path, f"the database has no {key!r}: it is damaged; go back to a backup")
        return json.loads(rows[0][0])

    def _set_fact(self, key: str, value: Any) -> None:
        self._run("UPDATE about SET value = ? WHERE key = ?", json.dumps(value), key)

    @property
    def generation(self) -> int:
        """Number of the checkpoint in use."""
        return int(self.fact("generation"))

    @property
    def group(self) -> int:
        """Number of the last group; 0 before the first."""
        return int(self.fact("group"))

    def group_at(self, moment: float) -> int:
        """Return the last group before all that came at a moment, in seconds since 1970, or later; 0 if none did."""
        first = self._all("SELECT min(id) FROM moments WHERE time >= ?", moment)[0][0]
        return self.group if first is None else int(first) - 1

    def last_time(self) -> float | None:
        """Return when the last group was committed, in seconds since 1970; None before the first."""
        rows = self._all("SELECT time FROM moments ORDER BY id DESC LIMIT 1")
        return float(rows[0][0]) if rows else None

    def request_group(self, request: str) -> int | None:
        """Return the group that a request has made, or None."""
        rows = self._all("SELECT change_group FROM requests WHERE request = ?", request)
        return int(rows[0][0]) if rows else None

    def stream_position(self, stream: str) -> tuple[int, str]:
        """Return the number of records of a stream that are applied already, and their digest."""
        rows = self._all("SELECT records, digest FROM streams WHERE stream = ?", stream)
        return (int(rows[0][0]), rows[0][1]) if rows else (0, "")

    def refreshes(self) -> list[dict[str, Any]]:
        """Return the stats of all refreshes, the oldest first."""
        rows = self._all("SELECT time, begun, ended, reason, figures FROM refreshes ORDER BY id")
        keys = ("time", "begun", "ended", "reason")
        return [{**dict(zip(keys, row[:4], strict=True)), **json.loads(row[4])} for row in rows]

    def find_damage(self) -> str:
        """Return what SQLite finds wrong with the whole database, or "ok"."""
        return str(self._all("PRAGMA integrity_check")[0][0])

    # ---- groups and updates ------------------------------------------------------------------------------------------

    def append(self, group: ChangeGroup, origin: Origin, update: Update) -> int:
        """Commit a group and its update, and return its number; InputError for a request that has made a group."""
        number = self.group + 1
        if origin.request is not None and (before := self.request_group(origin.request)) is not None:
            raise InputError(f"the request {origin.request!r} has made group {before} already; nothing was changed")
        with self.transaction():
            now = time.time()
            row = (number, now, group.to_bytes(), json.dumps(group.names), origin.stream, origin.records, origin.digest)
            self._run("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?)", *row)
            self._run("INSERT INTO moments VALUES (?, ?)", number, now)
            if origin.request is not None:
                self._run("INSERT INTO requests VALUES (?, ?)", origin.request, number)
                self._run("DELETE FROM requests WHERE change_group < ?", number - REQUESTS)
            if origin.stream is not None:
                self._run("INSERT OR REPLACE INTO streams VALUES (?, ?, ?)", *origin[1:])
            self._add_update(number, update)
            self._set_fact("group", number)
        return number

    def _add_update(self, group: int, update: Update) -> None:
        """Append vectors to their file, and refer to them; what a transaction that fails has appended stays unused."""
        first, names, removed, moved, count, checksum = update.to_row()
        try:
            with self._moved_file(self.fact("moved")).open("ab") as file:
                row = (group, first, names, removed, file.tell(), len(moved), count, checksum)
                file.write(moved)
        except OSError as error:
            problem = f"{self.path}: vectors cannot be written: {error.strerror or error}; nothing was changed"
            raise OutputError(problem) from None
        columns = "change_group, first, names, removed, start, bytes, count, checksum"
        self._run(f"INSERT INTO updates ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *row)

    def _moved_file(self, number: int) -> Path:
        return self.path / f"moved-{number:06d}.bin"

    def rewrite_updates(self, updates: Iterable[Update]) -> None:
        """Replace all updates since the checkpoint by fewer ones, in a new file."""
        with self.transaction():
            self._clear_updates()
            for update in updates:
                self._add_update(self.group, update)
        self.remove_old_files()

    def _clear_updates(self) -> None:
        number = self.fact("moved") + 1
        self._moved_file(number).unlink(missing_ok=True)  # of a writer that was killed
        self._run("DELETE FROM updates")
        self._set_fact("moved", number)

    def groups(self, *, after: int) -> Iterator[tuple[int, ChangeGroup]]:
        """Yield the groups after one of them, in order; FormatError where one is missing or damaged."""
        query, last = "SELECT id, changes, names FROM groups WHERE id > ? ORDER BY id", after
        with self._errors():
            for number, data, names in self._open_connection.execute(query, (after,)):
                try:
                    group = ChangeGroup.from_bytes(data, json.loads(names))
                except ValueError as error:
                    raise FormatError(self.path, f"group {number} is damaged: {error}; go back to a backup") from None
                if number != last + 1:
                    break
                yield number, group
                last = number
        if last != self.group:
            raise FormatError(self.path, f"group {last + 1} is missing from the log; go back to a backup")

    def unseen(self, *, generation: int, group: int) -> Unseen:
        """Return the updates after a moment; all since the checkpoint, if it was one of another generation."""
        if is_other := _inode(self.path / DATABASE) != self._inode:  # another folder has been put at this path
            self._open_connection.close()
            self._connect()
        with self.transaction():
            newest, last = self.generation, self.group
            is_whole = is_other or newest != generation or last < group
            file = self._moved_file(self.fact("moved"))
            columns = "first, names, removed, start, bytes, count, checksum"
            query = f"SELECT {columns} FROM updates WHERE change_group > ? ORDER BY id"
            rows = self._all(query, -1 if is_whole else group)
        updates = list[Update]()
        with file.open("rb") if rows else BytesIO() as vectors:
            for first, names, removed, start, size, count, checksum in rows:
                vectors.seek(start)
                try:
                    updates.append(Update.from_row(first, names, removed, vectors.read(size), count, checksum))
                except ValueError as error:
                    problem = f"an update is damaged: {error}; opening the folder for writing writes it again"
                    raise FormatError(self.path, problem) from None
        return Unseen(newest, last, updates, is_whole)

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def folder(self, generation: int) -> Path:
        """Return the folder of a checkpoint."""
        return self.path / f"generation-{generation:06d}"

    def switch(self, generation: int, *, through: int, refresh: dict[str, Any] | None = None) -> None:
        """Go over to a new checkpoint, which has all groups through one of them; the old one is removed."""
        with self.transaction():
            self._set_fact("generation", generation)
            self._run("DELETE FROM groups WHERE id <= ?", through)
            self._clear_updates()
            self._run("INSERT INTO generations VALUES (?, ?, ?)", generation, time.time(), through)
            if refresh is not None:
                stats = {**refresh, "generation": generation}
                row = (time.time(), stats.pop("begun"), through, stats.pop("reason"), json.dumps(stats))
                self._run("INSERT INTO refreshes (time, begun, ended, reason, figures) VALUES (?, ?, ?, ?, ?)", *row)
        self._empty_log()
        self.remove_old_files()

    def _empty_log(self) -> None:
        """Empty SQLite's write-ahead log, which may hold removed names; the next call does, where a reader needs it."""
        connection = self._open_connection
        connection.execute(f"PRAGMA busy_timeout={PATIENCE}")
        with suppress(sqlite3.Error):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        connection.execute(f"PRAGMA busy_timeout={int(1000 * BUSY)}")

    def remove_old_files(self) -> None:
        """Remove what is not in use: older checkpoints and vectors, and unfinished ones of writers that were killed.

        Readers that have files of a checkpoint open keep them.
        """
        current = {self.folder(self.generation).name, self._moved_file(self.fact("moved")).name}
        for entry in self.path.iterdir():
            if entry.match("*generation-*") and entry.name not in current:
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.match("moved-*.bin") and entry.name not in current:
                entry.unlink(missing_ok=True)

    def copy_to(self, target: Path) -> Path:
        """Copy the database and its checkpoint into a folder that is being filled; return the checkpoint's folder."""
        with closing(sqlite3.connect(target / DATABASE)) as copy:
            with self._errors():
                self._open_connection.backup(copy)
            numbers = dict(copy.execute("SELECT key, value FROM about WHERE key IN ('generation', 'moved')").fetchall())
        folder, vectors = self.folder(int(numbers["generation"])), self._moved_file(int(numbers["moved"]))
        shutil.copytree(folder, target / folder.name)
        if vectors.exists():
            shutil.copy(vectors, target / vectors.name)
        return target / folder.name


def _inode(path: Path) -> int:
    return path.stat().st_ino if path.exists() else 0


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    mode, connection = "rw" if write else "ro", None
    address = f"{path.absolute().as_uri()}?mode={mode}"
    try:
        connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY, check_same_thread=False)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")  # names that were removed leave the file
        connection.execute("SELECT value FROM about LIMIT 1").fetchone()
        return connection
    except sqlite3.Error as error:
        if connection is not None:
            connection.close()
        if isinstance(error, sqlite3.OperationalError):
            raise FormatError(path.parent, f"the database cannot be opened: {error}") from None
        raise FormatError(path.parent, f"the database is damaged: {error}; go back to a backup") from None


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Raise errors of databases and disks, while something is made at a path, as ours."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, GraphRefineError):
            raise
        raise OutputError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from error


def _lock(path: Path) -> WorkFolder:
    folder = WorkFolder(path)
    try:
        folder.lock()
    except OutputError as error:
        raise OutputError(f"{error}; live vectors have one writer, and any number of readers") from None
    return folder
