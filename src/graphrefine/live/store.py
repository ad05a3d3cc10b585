"""The folder of live vectors: one database, and a checkpoint of arrays.

::

    web.live/
      lock                 locked by the process that writes
      live.db              SQLite, write-ahead log, synchronous=FULL: log of changes, requests, history
      generation-000003/   arrays of one moment, see `graphrefine.live.checkpoint`
        moved.bin          vectors that moved since, appended

A folder is at a generation, the last one in the database, and after a group, the last one there. Two transactions
change that. `Store.append` commits a group of changes: it counts for the writer and for readers at the same moment.
`Store.switch` goes over to a new checkpoint, which has all groups, and empties the log; names of removed nodes are then
nowhere in the folder. All else in the folder is what a killed writer left, and goes when it is opened for writing.

A writer opens the checkpoint and applies the groups after it again, with the same bits; a reader opens the checkpoint
and puts in the vectors that moved.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, GraphRefineError, InputError, OutputError
from graphrefine.live.change_log import CHANGE, ChangeGroup, Origin, Update, vector_dtype
from graphrefine.system.checks import version_problem
from graphrefine.system.work_folder import WorkFolder

VERSION = 3
SUFFIX = ".live"
DATABASE, MOVED = "live.db", "moved.bin"
REQUESTS = 100_000  # groups back that ids of requests are remembered for
# Seconds that a connection waits for another one. Readers take no lock that a writer waits for, but opening a database
# whose writer was killed recovers its log under a lock that all need.
BUSY = 30.0
TRIES = 100  # of opening or copying a checkpoint that a writer may be replacing
ADVICE = "go back to a backup"
TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE groups (
    id INTEGER PRIMARY KEY, changes BLOB NOT NULL, names TEXT NOT NULL, skip INTEGER NOT NULL,
    start INTEGER NOT NULL, size INTEGER NOT NULL, count INTEGER NOT NULL, moved_checksum INTEGER NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE moments (id INTEGER PRIMARY KEY, time REAL NOT NULL, changes INTEGER NOT NULL, request TEXT UNIQUE);
CREATE INDEX moments_time ON moments (time);
CREATE TABLE streams (stream TEXT PRIMARY KEY, records INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE generations (
    id INTEGER PRIMARY KEY, time REAL NOT NULL, ended INTEGER NOT NULL, begun INTEGER, reason TEXT, stats TEXT
);
"""

Row = tuple[Any, ...]  # of the table groups
_Value = TypeVar("_Value")


class Store:
    """The database of a folder, for one writer (``write=True``), which takes a lock, or for reading."""

    def __init__(self, path: str | os.PathLike[str], *, write: bool) -> None:
        self.path, self._write = Path(path), write
        if not (self.path / DATABASE).exists():
            raise FormatError(path, "is no folder of live vectors; graphrefine live create makes one")
        self._connection: sqlite3.Connection | None = None
        self._lock = WorkFolder(self.path)
        try:
            if write:  # the system releases the lock when the process ends: there is nothing to clear after a kill -9
                self._lock.lock()
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        problem = "ok"
        try:
            self._connection = _connect(self.path / DATABASE, mode="rw" if self._write else "ro")
            self.facts = {key: json.loads(value) for key, value in self._all("SELECT key, value FROM about")}
            version = self.facts["version"]
            if self._write:
                problem = self._all("PRAGMA quick_check(1)")[0][0]
        except (sqlite3.Error, OutputError, KeyError, ValueError) as error:
            raise FormatError(self.path, f"the database cannot be read: {error}; {ADVICE}") from None
        if version in range(1, VERSION):
            raise FormatError(self.path, f"was written by an older graphrefine (format {version}); create it again")
        if newer := version_problem(version, VERSION):
            raise FormatError(self.path, newer)
        if problem != "ok":
            raise FormatError(self.path, f"the database is damaged: {problem}; {ADVICE}")

    @classmethod
    def create(cls, folder: Path, facts: dict[str, Any]) -> None:
        """Create the database in a folder that is being filled."""
        with closing(_connect(folder / DATABASE, mode="rwc")) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(f"BEGIN; {TABLES} COMMIT;")
            facts = {"version": VERSION, "id": secrets.token_hex(8), **facts}
            rows = [(key, json.dumps(value)) for key, value in facts.items()]
            connection.executemany("INSERT INTO about VALUES (?, ?)", rows)
            connection.execute("INSERT INTO generations (id, time, ended) VALUES (1, ?, 0)", (time.time(),))

    def close(self) -> None:
        """Close the database and release the lock."""
        if self._connection is not None:
            self._connection.close()
        self._lock.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Read several times at one moment, or write all or nothing."""
        try:
            self._all("BEGIN IMMEDIATE" if self._write else "BEGIN")
            yield
            self._all("COMMIT")
        except BaseException:
            with suppress(GraphRefineError):
                self._all("ROLLBACK")
            raise

    def _all(self, query: str, *values: Any) -> list[Any]:
        """Run a query and return its rows; errors of SQLite become ours."""
        assert self._connection is not None
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.ProgrammingError:
            raise InputError(f"{self.path} was closed; open it again") from None
        except sqlite3.OperationalError as error:
            raise OutputError(f"{self.path}: the database refused: {error}; nothing was changed") from None
        except sqlite3.DatabaseError as error:
            raise FormatError(self.path, f"the database is damaged: {error}; {ADVICE}") from None

    # ---- facts -------------------------------------------------------------------------------------------------------

    @property
    def generation(self) -> int:
        """Number of the checkpoint in use."""
        return int(self._all("SELECT max(id) FROM generations")[0][0])

    @property
    def group(self) -> int:
        """Number of the last group; 0 before the first."""
        return int(self._all("SELECT coalesce(max(id), 0) FROM moments")[0][0])

    def last_time(self) -> float | None:
        """Return when the last group was committed, in seconds since 1970; None before the first."""
        rows = self._all("SELECT time FROM moments ORDER BY id DESC LIMIT 1")
        return float(rows[0][0]) if rows else None

    def count_changes(self, since: float, *, seconds: int) -> dict[int, int]:
        """Return the numbers of changes since a time, by their interval of ``seconds``, counted from 1970."""
        query = "SELECT CAST(time / ? AS INTEGER), sum(changes) FROM moments WHERE time >= ? GROUP BY 1"
        return dict(self._all(query, seconds, since))

    def request_group(self, request: str) -> int | None:
        """Return the group that a request has made, or None."""
        rows = self._all("SELECT id FROM moments WHERE request = ?", request)
        return int(rows[0][0]) if rows else None

    def stream_position(self, stream: str) -> tuple[int, str]:
        """Return the number of records of a stream that are applied already, and their digest."""
        rows = self._all("SELECT records, digest FROM streams WHERE stream = ?", stream)
        return rows[0] if rows else (0, "")

    def refreshes(self) -> list[dict[str, Any]]:
        """Return the stats of all refreshes, the oldest first."""
        columns = "id, time, begun, ended, reason, stats"
        rows = self._all(f"SELECT {columns} FROM generations WHERE reason IS NOT NULL ORDER BY id")
        keys = ("generation", "time", "begun", "ended", "reason")
        return [{**dict(zip(keys, row[:5], strict=True)), **json.loads(row[5])} for row in rows]

    def find_damage(self) -> str:
        """Return what SQLite finds wrong with the whole database, or "ok"."""
        return str(self._all("PRAGMA integrity_check")[0][0])

    # ---- groups ------------------------------------------------------------------------------------------------------

    def append(self, update: Update, origin: Origin, *, changes: int) -> None:
        """Commit a group with the vectors that moved."""
        number = update.number
        # The id of the request and the position in the stream are committed with the group: after a kill the sender
        # repeats what was not acknowledged, and what counts already is known.
        with self.transaction():
            self._write_update(update)
            self._all("INSERT INTO moments VALUES (?, ?, ?, ?)", number, time.time(), changes, origin.request)
            self._all("UPDATE moments SET request = NULL WHERE id = ?", number - REQUESTS)
            if origin.stream is not None:
                self._all("INSERT OR REPLACE INTO streams VALUES (?, ?, ?)", *origin[1:])

    def _write_update(self, update: Update) -> None:
        number, group, moved = update
        data = moved.tobytes()
        # Some MB for each group. In the database, whose every commit waits for the disk, they made groups of 1,000
        # changes slower by a fifth. They follow from the log, so that their file need not wait: what a power cut takes
        # from it is seen by the checksum, and `restore` appends it again. What a transaction that fails has appended
        # stays there, unused.
        try:
            with (self.folder(self.generation) / MOVED).open("ab") as file:
                span = (file.tell(), len(data), len(moved), zlib.crc32(data))
                file.write(data)
        except OSError as error:
            problem = f"{self.path}: vectors cannot be written: {error.strerror or error}; nothing was changed"
            raise OutputError(problem) from None
        row = (number, group.changes.tobytes(), json.dumps(group.names), int(group.skip), *span)
        self._all("INSERT OR REPLACE INTO groups VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", *row, _checksum(row))

    def _read_moved(self, generation: int, row: Row) -> NDArray[Any] | None:
        """Return the vectors of a group; None if they are not as they were written."""
        start, size, count, checksum = row[4:8]
        with (self.folder(generation) / MOVED).open("rb") as file:
            file.seek(start)
            data = file.read(size)
        if zlib.crc32(data) != checksum:
            return None
        fixed = vector_dtype(0).itemsize
        return np.frombuffer(data, vector_dtype((size // count - fixed) // 4 if count else 0))

    def restore(self, update: Update) -> None:
        """Write the vectors of a group that was committed once more, if the file does not have them."""
        (row,) = self._all("SELECT * FROM groups WHERE id = ?", update.number)
        kept = self._read_moved(self.generation, row)
        if kept is None or kept.tobytes() != update.moved.tobytes():
            self._write_update(update)

    def groups(self, *, after: int) -> Iterator[tuple[int, ChangeGroup]]:
        """Yield the groups after one of them, in order; FormatError where one is missing or damaged."""
        for number in range(after + 1, self.group + 1):
            rows = self._all("SELECT * FROM groups WHERE id = ?", number)
            if not rows:
                raise FormatError(self.path, f"group {number} is missing from the log; {ADVICE}")
            yield number, self._parse(rows[0])

    def _parse(self, row: Row) -> ChangeGroup:
        # SQLite has no checksums of its pages: a flipped bit in a blob would be a wrong vector without this one.
        if _checksum(row[:-1]) != row[-1]:
            raise FormatError(self.path, f"group {row[0]} is damaged: its checksum is another one; {ADVICE}")
        return ChangeGroup(np.frombuffer(row[1], CHANGE), json.loads(row[2]), bool(row[3]))

    def updates(self, generation: int, group: int) -> tuple[int, int, Iterator[Update]]:
        """Return the newest generation and group, and what came after another moment: all, if its generation is older.

        The vectors are read while they are asked for.
        """
        # One transaction: between two queries the writer may go over to a checkpoint and empty the log.
        with self.transaction():
            newest, last = self.generation, self.group
            rows = self._all("SELECT * FROM groups WHERE id > ?", group if newest == generation else 0)
        return newest, last, self._read_updates(newest, rows)

    def _read_updates(self, generation: int, rows: Iterable[Row]) -> Iterator[Update]:
        for row in rows:
            group, moved = self._parse(row), self._read_moved(generation, row)
            if moved is None:
                problem = f"vectors of group {row[0]} are damaged; opening the folder for writing writes them again"
                raise FormatError(self.path, problem)
            yield Update(row[0], group, moved)

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def folder(self, generation: int) -> Path:
        """Return the folder of a checkpoint."""
        return self.path / f"generation-{generation:06d}"

    def retry(self, work: Callable[[], _Value]) -> _Value:
        """Do some work with the newest checkpoint, again where a writer has replaced it meanwhile."""
        for _ in range(TRIES):
            with suppress(FileNotFoundError):
                return work()
        raise FormatError(self.path, f"its generation is missing, or changes too often; {ADVICE}")

    def switch(self, generation: int, *, refresh: dict[str, Any] | None = None) -> None:
        """Go over to a new checkpoint, which has all groups; the log and the old one are removed."""
        stats = dict(refresh or {})
        # The new checkpoint is on the disk under its name by now. A kill before the commit leaves the old one in use,
        # and a kill after it an old folder that is never opened: either is whole.
        with self.transaction():
            row = (generation, time.time(), self.group, stats.pop("begun", None), stats.pop("reason", None))
            self._all("INSERT INTO generations VALUES (?, ?, ?, ?, ?, ?)", *row, json.dumps(stats))
            self._all("DELETE FROM groups")
        # The write-ahead log may hold names that were removed, until it is emptied. A reader that is in a transaction
        # for longer than BUSY keeps it; the next switch empties it then.
        with suppress(OutputError):
            self._all("PRAGMA wal_checkpoint(TRUNCATE)")
        with suppress(OSError):  # it goes when the folder is opened for writing
            self.remove_old_files()

    def remove_old_files(self) -> None:
        """Remove other checkpoints than the one in use, and unfinished ones; readers that have one open keep it."""
        current = self.folder(self.generation)
        for entry in self.path.glob("*generation-*"):
            if entry != current:
                shutil.rmtree(entry, ignore_errors=True)

    def copy_to(self, target: Path) -> Path:
        """Copy the database and its checkpoint into a folder that is being filled; return the checkpoint's folder.

        FileNotFoundError if the checkpoint is replaced meanwhile.
        """
        assert self._connection is not None
        # The database first, as it says which checkpoint belongs to it. Vectors of later groups in its file do no harm.
        with closing(sqlite3.connect(target / DATABASE)) as copy:
            self._connection.backup(copy)
            generation = copy.execute("SELECT max(id) FROM generations").fetchone()[0]
        folder = self.folder(generation)
        (target / folder.name).mkdir()
        for file in folder.iterdir():
            shutil.copyfile(file, target / folder.name / file.name)
        return target / folder.name


def _checksum(row: Row) -> int:
    return zlib.crc32(repr(row).encode())


def _connect(path: Path, *, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    # One thread at a time uses it, but not always the same: that of a server is not the one that opened the folder.
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY, check_same_thread=False)
    try:
        # FULL: a commit returns when the disk has it. NORMAL would lose the last groups in a power cut.
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA secure_delete=ON")  # names that were removed leave the file
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Raise errors of databases and disks, while something is made at a path, as ours."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, GraphRefineError):
            raise
        raise OutputError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from error
