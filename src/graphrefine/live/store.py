"""The folder of live vectors: generations of arrays that never change, and the log of the groups that came since.

::

    web.live/
      lock                 locked by the process that writes
      live.db              SQLite, write-ahead log, synchronous=FULL: groups of changes, streams, refreshes
      bulletin.db          what readers see: see `graphrefine.live.bulletin`
      generation-000003/   arrays of one moment: see `graphrefine.live.generation`

A group counts once its transaction is in the log. A writer opens the generation and makes the groups again that came
after it, with the same bits. A new generation takes the groups before it along; what was removed is then nowhere any
more.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from graphrefine.errors import FormatError, GraphRefineError, InputError, OutputError
from graphrefine.kernels.numerics import FORMER_KEY, KEY
from graphrefine.live.logged import LoggedGroup, Mark
from graphrefine.system.versions import version_problem
from graphrefine.system.work_folder import WorkFolder

VERSION = 1
SUFFIX = ".live"
DATABASE = "live.db"
REQUESTS = 100_000  # groups back that ids of requests are remembered for
PATIENCE = 200  # milliseconds for readers to let go of the write-ahead log
BUSY = 30.0  # seconds that a reader waits for a moment when the database can be opened
TABLES = """
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
"""


class Store:
    """The folder, for one writer (`write=True`) or for reading.

    Parameters
    ----------
    path
        The folder.
    write
        Whether to take the lock of the writer.
    """

    def __init__(self, path: str | os.PathLike[str], *, write: bool) -> None:
        self.path, self.write = Path(path), write
        if not (self.path / DATABASE).exists():
            raise FormatError(path, "is no folder of live vectors; graphrefine live create makes one")
        self._connection: sqlite3.Connection | None = None
        self._lock: WorkFolder | None = None
        if write:
            self._lock = _locked(self.path)
        try:
            self._connection = _connect(self.path / DATABASE, write=write)
            self._check_version()
            if write and (problem := self._all("PRAGMA quick_check(1)")[0][0]) != "ok":
                raise FormatError(self.path, f"the database is damaged: {problem}; go back to a backup")
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, folder: Path, about: dict[str, Any]) -> None:
        """Make the database in a folder that is being filled."""
        connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.executescript(f"BEGIN; {TABLES} COMMIT;")
            facts = {"version": VERSION, "generation": 1, "group": 0, "id": secrets.token_hex(8), **about}
            rows = [(key, json.dumps(value)) for key, value in facts.items()]
            connection.executemany("INSERT INTO about VALUES (?, ?)", rows)
        finally:
            connection.close()

    def close(self) -> None:
        """Close the database and give the lock back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_version(self) -> None:
        if problem := version_problem(self.fact("version"), VERSION):
            raise FormatError(self.path, problem)

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
        """Errors of the database as ours; ``outcome`` says what they leave."""
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

    def fact(self, key: str) -> Any:
        """One of the facts about the folder."""
        rows = self._all("SELECT value FROM about WHERE key = ?", key)
        if not rows:
            raise FormatError(self.path, f"the database has no {key!r}: it is damaged; go back to a backup")
        return json.loads(rows[0][0])

    @property
    def numerics_version(self) -> Any:
        """Version of the writer's numerics, under its present or its former key."""
        rows = self._all("SELECT value FROM about WHERE key IN (?, ?)", KEY, FORMER_KEY)
        return json.loads(rows[0][0]) if rows else None

    def set_fact(self, key: str, value: Any) -> None:
        """Set a fact, inside a transaction."""
        self._run("UPDATE about SET value = ? WHERE key = ?", json.dumps(value), key)

    @property
    def generation(self) -> int:
        """Number of the generation in use."""
        return int(self.fact("generation"))

    @property
    def group(self) -> int:
        """Number of the last group; 0 before the first."""
        return int(self.fact("group"))

    def folder(self, generation: int) -> Path:
        """The folder of a generation."""
        return self.path / f"generation-{generation:06d}"

    def log(self, group: LoggedGroup, mark: Mark) -> int:
        """Commit a group; its number. A request counts once: InputError for one that has made a group."""
        number = self.group + 1
        if mark.request is not None and (before := self.request_group(mark.request)) is not None:
            raise InputError(f"the request {mark.request!r} has made group {before} already; nothing was changed")
        with self.transaction():
            row = (
                number,
                time.time(),
                group.to_bytes(),
                json.dumps(group.names),
                mark.stream,
                mark.records,
                mark.digest,
            )
            self._run("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?)", *row)
            self._run("INSERT INTO moments VALUES (?, ?)", number, row[1])
            if mark.request is not None:
                self._run("INSERT INTO requests VALUES (?, ?)", mark.request, number)
                self._run("DELETE FROM requests WHERE change_group < ?", number - REQUESTS)
            if mark.stream is not None:
                position = (mark.stream, mark.records, mark.digest)
                self._run("INSERT OR REPLACE INTO streams VALUES (?, ?, ?)", *position)
            self.set_fact("group", number)
        return number

    def groups(self, *, after: int) -> Iterator[tuple[int, LoggedGroup]]:
        """The groups after one of them, in order; FormatError where one is missing or damaged."""
        query, last = "SELECT id, changes, names FROM groups WHERE id > ? ORDER BY id", after
        with self._errors():
            for number, data, names in self._open_connection.execute(query, (after,)):
                try:
                    group = LoggedGroup.from_bytes(data, json.loads(names))
                except ValueError as error:
                    raise FormatError(self.path, f"group {number}: {error}; go back to a backup") from None
                if number != last + 1:
                    break
                yield number, group
                last = number
        if last != self.group:
            raise FormatError(self.path, f"group {last + 1} is missing from the log; go back to a backup")

    def group_at(self, moment: float) -> int:
        """The last group before all that came at a moment, in seconds since 1970, or later; 0 before the first."""
        first = self._all("SELECT min(id) FROM moments WHERE time >= ?", moment)[0][0]
        return self.group if first is None else int(first) - 1

    def last_time(self) -> float | None:
        """When the last group was committed, in seconds since 1970; None before the first."""
        rows = self._all("SELECT time FROM moments ORDER BY id DESC LIMIT 1")
        return float(rows[0][0]) if rows else None

    def find_damage(self) -> str:
        """What SQLite finds wrong with the whole database, or "ok"."""
        return str(self._all("PRAGMA integrity_check")[0][0])

    def request_group(self, request: str) -> int | None:
        """The group that a request has made, or None."""
        rows = self._all("SELECT change_group FROM requests WHERE request = ?", request)
        return int(rows[0][0]) if rows else None

    def stream_position(self, stream: str) -> tuple[int, str]:
        """Records of a stream that count already, and their digest."""
        rows = self._all("SELECT records, digest FROM streams WHERE stream = ?", stream)
        return (int(rows[0][0]), rows[0][1]) if rows else (0, "")

    def refreshes(self) -> list[dict[str, Any]]:
        """Figures of all refreshes, the oldest first."""
        rows = self._all("SELECT time, begun, ended, reason, figures FROM refreshes ORDER BY id")
        keys = ("time", "begun", "ended", "reason")
        return [{**dict(zip(keys, row[:4], strict=True)), **json.loads(row[4])} for row in rows]

    def generations(self) -> list[tuple[int, int]]:
        """Numbers of all generations after the first, and the last group that each began with."""
        return self._all("SELECT id, through FROM generations ORDER BY id")

    def swap(self, generation: int, *, through: int, refresh: dict[str, Any] | None = None) -> None:
        """Go over to a new generation, which holds all groups through one of them."""
        with self.transaction():
            self.set_fact("generation", generation)
            self._run("DELETE FROM groups WHERE id <= ?", through)
            self._run("INSERT INTO generations VALUES (?, ?, ?)", generation, time.time(), through)
            if refresh is not None:
                figures = {**refresh, "generation": generation}
                reason, begun = figures.pop("reason"), figures.pop("begun")
                row = (time.time(), begun, through, reason, json.dumps(figures))
                self._run("INSERT INTO refreshes (time, begun, ended, reason, figures) VALUES (?, ?, ?, ?, ?)", *row)
        empty_log(self._open_connection)

    def remove_old_generations(self, *, but: int | None = None) -> None:
        """Remove all generations but the one in use and ``but``, and leftovers of writers that were killed.

        Readers that have files of a generation open keep them.
        """
        keep = {self.folder(number).name for number in (self.generation, but) if number is not None}
        for entry in self.path.iterdir():
            if entry.match("*generation-*") and entry.name not in keep and entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)

    def backup(self, target: Path) -> int:
        """Copy the database and its generation into a folder that is being filled; the number of the generation."""
        with closing(sqlite3.connect(target / DATABASE)) as copy:
            with self._errors():
                self._open_connection.backup(copy)
            row = copy.execute("SELECT value FROM about WHERE key = 'generation'").fetchone()
        number = int(json.loads(row[0]))
        folder = self.folder(number)
        shutil.copytree(folder, target / folder.name)
        return number


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    mode, connection = "rw" if write else "ro", None
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}",
            uri=True,
            isolation_level=None,
            timeout=BUSY,
            check_same_thread=False,
        )
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
def naming_problems(place: Path) -> Iterator[None]:
    """Errors of databases and disks, while something is made at a place, as ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise OutputError(f"{place}: cannot be made: {error}") from error
    except OSError as error:
        if isinstance(error, GraphRefineError):
            raise
        raise OutputError(f"{place}: cannot be made: {error.strerror or error}") from error


def empty_log(connection: sqlite3.Connection) -> None:
    """Empty SQLite's write-ahead log, as it may hold what was deleted; not while a reader needs it."""
    connection.execute(f"PRAGMA busy_timeout={PATIENCE}")
    with suppress(sqlite3.Error):  # the next one empties it
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute(f"PRAGMA busy_timeout={int(1000 * BUSY)}")


def _locked(path: Path) -> WorkFolder:
    folder = WorkFolder(path)
    try:
        folder.lock()
    except OutputError as error:
        raise OutputError(f"{error}; live vectors have one writer, and readers as many as they like") from None
    return folder
