"""The folder of live vectors: one database, and the arrays of one moment beside it.

::

    web.live/
      lock                 locked by the process that writes
      live.db              SQLite, write-ahead log, synchronous=FULL: changes, vectors that moved, requests, history
      generation-000003/   arrays of one moment, see `graphrefine.live.checkpoint`

A folder is at a generation, the last one in the database, and after a group, the last one there. Two transactions
change that. `Store.append` commits a group of changes: it counts for the writer and for readers at the same moment.
`Store.switch` goes over to a new checkpoint, which has all groups, and empties the log; names of removed nodes are then
nowhere in the folder. All else in the folder is what a killed writer left, and goes when it is opened for writing.

A writer opens the checkpoint and applies the changes after it again, with the same bits; a reader opens the checkpoint
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
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from graphrefine.errors import FormatError, GraphRefineError, InputError, OutputError
from graphrefine.live.change_log import CHANGE, ChangeGroup, Origin, Update, vector_dtype
from graphrefine.system.checks import version_problem
from graphrefine.system.files import replacing_folder
from graphrefine.system.work_folder import WorkFolder

VERSION = 4
DATABASE = "live.db"
REQUESTS = 100_000  # groups back that ids of requests are remembered for
# Seconds that a connection waits for another one. Readers take no lock that a writer waits for, but opening a database
# whose writer was killed recovers its log under a lock that all need.
BUSY = 30.0
TRIES = 100  # of opening or copying a checkpoint that a writer may be replacing
ADVICE = "go back to a backup"
# FULL: a commit returns when the disk has it. NORMAL would lose the last groups in a power cut. By secure_delete, names
# that were removed leave the file.
WRITING = "PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
# The vacuum gives the room of an emptied log back to the disk. A checksum is of the other columns: SQLite has none.
TABLES = f"""
PRAGMA auto_vacuum = FULL;
PRAGMA journal_mode = WAL;
PRAGMA user_version = {VERSION};
CREATE TABLE about (facts TEXT NOT NULL, checksum INTEGER NOT NULL);
CREATE TABLE groups (
    id INTEGER PRIMARY KEY, changes BLOB NOT NULL, names TEXT NOT NULL, skip INTEGER NOT NULL, moved BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE moments (id INTEGER PRIMARY KEY, time REAL NOT NULL, changes INTEGER NOT NULL, request TEXT UNIQUE);
CREATE INDEX moments_time ON moments (time);
CREATE TABLE streams (stream TEXT PRIMARY KEY, records INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE generations (
    id INTEGER PRIMARY KEY, time REAL NOT NULL, ended INTEGER NOT NULL, refresh TEXT, contents TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
"""

_Value = TypeVar("_Value")


class Store:
    """The database of a folder, for one writer (``write=True``), which takes a lock, or for reading."""

    def __init__(self, path: str | os.PathLike[str], *, write: bool) -> None:
        self.path, self._write = Path(path), write
        if not (self.path / DATABASE).exists():
            raise FormatError(path, "is no folder of live vectors; graphrefine live create makes one")
        with ExitStack() as stack:
            if write:  # the system releases the lock when the process ends: there is nothing to clear after a kill -9
                stack.enter_context(WorkFolder(self.path))
            try:
                connection = _connect(self.path / DATABASE, mode="rw" if write else "ro")
                self._connection = stack.enter_context(closing(connection))
                self._check_database()
                facts = self._read_checked("the database", "SELECT facts, checksum FROM about")[0]
            except (sqlite3.Error, OutputError) as error:
                raise FormatError(self.path, f"the database cannot be read: {error}; {ADVICE}") from None
            self.facts: dict[str, Any] = json.loads(facts)
            self._resources = stack.pop_all()

    def _check_database(self) -> None:
        """Raise FormatError unless the database is of this version and, for a writer, sound."""
        version = self._all("PRAGMA user_version")[0][0]
        if version != VERSION:
            problem = version_problem(version, VERSION) or "was written by an older graphrefine; create it again"
            raise FormatError(self.path, problem)
        if self._write:
            self._connection.executescript(WRITING)
            if (damage := self._all("PRAGMA quick_check(1)")[0][0]) != "ok":
                raise FormatError(self.path, f"the database is damaged: {damage}; {ADVICE}")

    @classmethod
    def create(cls, folder: Path, facts: dict[str, Any], contents: dict[str, Any]) -> None:
        """Create the database in a folder that is being filled, with the contents of its first checkpoint."""
        with closing(_connect(folder / DATABASE, mode="rwc")) as connection:
            connection.executescript(WRITING + TABLES)
            row = _with_checksum(json.dumps({"id": secrets.token_hex(8), "created": time.time(), **facts}))
            connection.execute("INSERT INTO about VALUES (?, ?)", row)
            row = _with_checksum(1, time.time(), 0, None, json.dumps(contents))
            connection.execute("INSERT INTO generations VALUES (?, ?, ?, ?, ?, ?)", row)

    def close(self) -> None:
        """Close the database and release the lock."""
        self._resources.close()

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
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.ProgrammingError:
            raise InputError(f"{self.path} was closed; open it again") from None
        except sqlite3.OperationalError as error:
            raise OutputError(f"{self.path}: the database refused: {error}; nothing was changed") from None
        except sqlite3.DatabaseError as error:
            raise FormatError(self.path, f"the database is damaged: {error}; {ADVICE}") from None

    def _read_checked(self, what: str, query: str, *values: Any) -> tuple[Any, ...]:
        """Return the row of a query whose last column is a checksum of the others."""
        rows = self._all(query, *values)
        if not rows or _with_checksum(*rows[0][:-1]) != rows[0]:
            raise FormatError(self.path, f"{what} is {'damaged' if rows else 'missing'}; {ADVICE}")
        row: tuple[Any, ...] = rows[0]
        return row

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
        rows = self._all("SELECT id, time, ended, refresh FROM generations WHERE refresh IS NOT NULL ORDER BY id")
        keys = ("generation", "time", "ended")
        return [{**dict(zip(keys, row, strict=True)), **json.loads(refresh)} for *row, refresh in rows]

    def find_damage(self) -> str:
        """Return what SQLite finds wrong with the whole database, or "ok"."""
        return str(self._all("PRAGMA integrity_check")[0][0])

    # ---- groups ------------------------------------------------------------------------------------------------------

    def append(self, update: Update, origin: Origin, *, changes: int) -> None:
        """Commit a group with the vectors that moved."""
        number, group, moved = update
        row = _with_checksum(number, group.changes.tobytes(), json.dumps(group.names), int(group.skip), moved.tobytes())
        # The id of the request and the position in the stream are committed with the group: after a kill the sender
        # repeats what was not acknowledged, and what counts already is known.
        with self.transaction():
            self._all("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?)", *row)
            self._all("INSERT INTO moments VALUES (?, ?, ?, ?)", number, time.time(), changes, origin.request)
            self._all("UPDATE moments SET request = NULL WHERE id = ?", number - REQUESTS)
            if origin.stream is not None:
                self._all("INSERT OR REPLACE INTO streams VALUES (?, ?, ?)", *origin[1:])

    def updates(self, *, after: int) -> Iterator[Update]:
        """Yield the groups after one of them, in order; FormatError where one is missing or damaged."""
        for number in range(after + 1, self.group + 1):
            row = self._read_checked(f"group {number}", "SELECT * FROM groups WHERE id = ?", number)
            group = ChangeGroup(np.frombuffer(row[1], CHANGE), json.loads(row[2]), bool(row[3]))
            yield Update(number, group, np.frombuffer(row[4], vector_dtype(self.facts["settings"]["dim"])))

    # ---- checkpoints -------------------------------------------------------------------------------------------------

    def folder(self, generation: int) -> Path:
        """Return the folder of a checkpoint."""
        return self.path / f"generation-{generation:06d}"

    def checkpoint(self) -> tuple[int, int, dict[str, Any]]:
        """Return the number of the checkpoint in use, the group that it was made after, and its contents."""
        query = "SELECT * FROM generations ORDER BY id DESC LIMIT 1"
        row = self._read_checked("the entry of the generation", query)
        return row[0], row[2], json.loads(row[4])

    def retry(self, work: Callable[[], _Value]) -> _Value:
        """Do some work with the newest checkpoint, again where a writer has replaced it meanwhile."""
        for _ in range(TRIES):
            with suppress(FileNotFoundError):
                return work()
        raise FormatError(self.path, f"its generation is missing, or changes too often; {ADVICE}")

    def switch(self, generation: int, contents: dict[str, Any], *, refresh: dict[str, Any] | None = None) -> None:
        """Go over to a new checkpoint, which has all groups; the log and the old one are removed."""
        stats = None if refresh is None else json.dumps(refresh)
        row = _with_checksum(generation, time.time(), self.group, stats, json.dumps(contents))
        # The new checkpoint is on the disk under its name by now. A kill before the commit leaves the old one in use,
        # and a kill after it an old folder that is never opened: either is whole.
        with self.transaction():
            self._all("INSERT INTO generations VALUES (?, ?, ?, ?, ?, ?)", *row)
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

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Copy the folder as one moment has it, while it is written, to a new path."""

        def copy() -> None:
            with new_folder(Path(path)) as folder, closing(sqlite3.connect(folder / DATABASE)) as database:
                # The database first, as it says which checkpoint belongs to it.
                self._connection.backup(database)
                query = "SELECT id, contents FROM generations ORDER BY id DESC LIMIT 1"
                generation, contents = database.execute(query).fetchone()
                arrays = self.folder(generation)
                (folder / arrays.name).mkdir()
                for name in json.loads(contents)["files"]:
                    shutil.copyfile(arrays / name, folder / arrays.name / name)

        self.retry(copy)


def _with_checksum(*row: Any) -> tuple[Any, ...]:
    parts = (value if isinstance(value, bytes) else repr(value).encode() for value in row)
    return *row, zlib.crc32(b"\0".join(parts))


def _connect(path: Path, *, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    # One thread at a time uses it, but not always the same: that of a server is not the one that opened the folder.
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY, check_same_thread=False)


def _refuse_existing(path: Path) -> None:
    """Raise OutputError if there is anything at a path."""
    if path.exists():
        raise OutputError(f"{path} exists already, and live vectors are not replaced; remove it or choose another path")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a folder of live vectors, which gets its name in one step; errors of databases and disks become ours."""
    try:
        with replacing_folder(path, replaceable=_refuse_existing, durable=True) as folder:
            yield folder
    except (sqlite3.Error, OSError) as error:
        # A file that is missing is one of a checkpoint that was replaced: see `Store.retry`.
        if isinstance(error, GraphRefineError | FileNotFoundError):
            raise
        raise OutputError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from error
