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
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.system.work_folder import WorkFolder

VERSION = 1
REMOVE_NODE = 3  # operation of the kernel, see `graphrefine.live.changes`
SUFFIX = ".live"
DATABASE = "live.db"
NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "fuse.sshfs", "fuse.s3fs", "lustre", "glusterfs", "ceph"}
REQUESTS = 100_000  # groups back that ids of requests are remembered for
BUSY = 30.0  # seconds that a reader waits for a moment when the database can be opened
TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE groups (
    id INTEGER PRIMARY KEY, time REAL NOT NULL, changes BLOB NOT NULL, names TEXT NOT NULL,
    stream TEXT, records INTEGER, digest TEXT
);
CREATE TABLE requests (request TEXT PRIMARY KEY, change_group INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE streams (stream TEXT PRIMARY KEY, records INTEGER NOT NULL, digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE refreshes (
    id INTEGER PRIMARY KEY, time REAL NOT NULL, begun INTEGER NOT NULL, ended INTEGER NOT NULL, reason TEXT NOT NULL,
    figures TEXT NOT NULL
);
"""


class LoggedGroup(NamedTuple):
    """A group of changes as it is logged: rows of nodes in place of names."""

    operations: NDArray[np.uint8]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    weights: NDArray[np.float32]
    names: list[Any]  # of the nodes that are new with it, integers or strings
    skip: bool = False  # whether edges that are not there were passed over

    def removed(self) -> NDArray[np.int32]:
        """Rows of nodes that are removed with it."""
        return np.unique(self.sources[self.operations == REMOVE_NODE])

    def to_bytes(self) -> bytes:
        """The changes; names apart."""
        head = np.array([len(self.operations), self.skip], "<i8")
        parts = (head, self.operations, self.sources.astype("<i4"), self.targets.astype("<i4"))
        return b"".join(part.tobytes() for part in (*parts, self.weights.astype("<f4")))

    @classmethod
    def from_bytes(cls, data: bytes, names: list[Any]) -> LoggedGroup:
        """The group whose `to_bytes` these are.

        Examples
        --------
        >>> ends = np.array([0, 1], np.int32), np.array([1, 2], np.int32)
        >>> group = LoggedGroup(np.zeros(2, np.uint8), *ends, np.ones(2, np.float32), ["ann"])
        >>> LoggedGroup.from_bytes(group.to_bytes(), ["ann"]).targets.tolist()
        [1, 2]
        """
        count, skip = (int(each) for each in np.frombuffer(data, "<i8", 2))
        at = 16
        parts = []
        for dtype in ("<u1", "<i4", "<i4", "<f4"):
            part = np.frombuffer(data, dtype, count, at)
            parts.append(part.astype(part.dtype.newbyteorder("="), copy=False))
            at += part.nbytes
        return cls(*parts, names, bool(skip))


class Mark(NamedTuple):
    """Where a group comes from: a request, or a stream of changes up to some record."""

    request: str | None = None
    stream: str | None = None
    records: int | None = None
    digest: str | None = None


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
        check_file_system(self.path)
        self._lock: WorkFolder | None = None
        if write:
            self._lock = _locked(self.path)
        try:
            self._connection = _connect(self.path / DATABASE, write=write)
            self._check_version()
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
            facts = {"version": VERSION, "generation": 1, "group": 0, **about}
            rows = [(key, json.dumps(value)) for key, value in facts.items()]
            connection.executemany("INSERT INTO about VALUES (?, ?)", rows)
        finally:
            connection.close()

    def close(self) -> None:
        """Close the database and give the lock back."""
        if getattr(self, "_connection", None) is not None:
            self._connection.close()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _check_version(self) -> None:
        version = self.fact("version")
        if version != VERSION:
            raise FormatError(
                self.path, f"has layout {version}, and this graphrefine reads {VERSION}; take a newer graphrefine"
            )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One moment for several reads, or all or nothing of several writes."""
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE" if self.write else "BEGIN")
        try:
            yield
            with self._errors():
                self._connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the database as ours."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise OutputError(f"{self.path}: the database refused: {error}; nothing was changed") from None
        except sqlite3.DatabaseError as error:
            raise FormatError(self.path, f"the database is damaged: {error}; go back to a backup") from None

    def _all(self, query: str, *values: Any) -> list[Any]:
        with self._errors():
            return self._connection.execute(query, values).fetchall()

    def _run(self, query: str, *values: Any) -> None:
        with self._errors():
            self._connection.execute(query, values)

    def fact(self, key: str) -> Any:
        """One of the facts about the folder."""
        rows = self._all("SELECT value FROM about WHERE key = ?", key)
        if not rows:
            raise FormatError(self.path, f"the database has no {key!r}: it is damaged; go back to a backup")
        return json.loads(rows[0][0])

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
        """Commit a group; its number."""
        number = self.group + 1
        with self.transaction():
            row = (number, time.time(), group.to_bytes(), json.dumps(group.names), mark.stream, mark.records, mark.digest)
            self._run("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?, ?)", *row)
            if mark.request is not None:
                self._run("INSERT INTO requests VALUES (?, ?)", mark.request, number)
                self._run("DELETE FROM requests WHERE change_group < ?", number - REQUESTS)
            if mark.stream is not None:
                position = (mark.stream, mark.records, mark.digest)
                self._run("INSERT OR REPLACE INTO streams VALUES (?, ?, ?)", *position)
            self.set_fact("group", number)
        return number

    def groups(self, *, after: int) -> Iterator[tuple[int, LoggedGroup]]:
        """The groups after one of them, in order."""
        with self._errors():
            for number, data, names in self._connection.execute(
                "SELECT id, changes, names FROM groups WHERE id > ? ORDER BY id", (after,)
            ):
                yield number, LoggedGroup.from_bytes(data, json.loads(names))

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

    def swap(self, generation: int, *, through: int, refresh: dict[str, Any] | None = None) -> None:
        """Go over to a new generation, which holds all groups through one of them."""
        with self.transaction():
            self.set_fact("generation", generation)
            self._run("DELETE FROM groups WHERE id <= ?", through)
            if refresh is not None:
                figures = dict(refresh)
                reason, begun = figures.pop("reason"), figures.pop("begun")
                row = (time.time(), begun, through, reason, json.dumps(figures))
                self._run("INSERT INTO refreshes (time, begun, ended, reason, figures) VALUES (?, ?, ?, ?, ?)", *row)

    def remove_old_generations(self) -> None:
        """Remove all generations but the one in use; readers that have files of another one open keep them."""
        keep = self.folder(self.generation).name
        for folder in self.path.glob("*generation-*"):
            if folder.name != keep and folder.is_dir():
                shutil.rmtree(folder, ignore_errors=True)

    def backup(self, target: Path) -> None:
        """Copy database and generation of one moment into a folder that is being filled."""
        copy = sqlite3.connect(target / DATABASE)
        try:
            with self._errors():
                self._connection.backup(copy)
            row = copy.execute("SELECT value FROM about WHERE key = 'generation'").fetchone()
        finally:
            copy.close()
        folder = self.folder(int(json.loads(row[0])))
        shutil.copytree(folder, target / folder.name)


def _connect(path: Path, *, write: bool) -> sqlite3.Connection:
    mode = "rw" if write else "ro"
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("SELECT value FROM about LIMIT 1").fetchone()
    except sqlite3.OperationalError as error:
        raise FormatError(path.parent, f"the database cannot be opened: {error}") from None
    except sqlite3.DatabaseError as error:
        raise FormatError(path.parent, f"the database is damaged: {error}; go back to a backup") from None
    return connection


def _locked(path: Path) -> WorkFolder:
    folder = WorkFolder(path)
    try:
        folder.lock()
    except OutputError as error:
        raise OutputError(f"{error}; live vectors have one writer, and readers as many as they like") from None
    return folder


def check_file_system(path: Path) -> None:
    """Raise InputError for a network file system, where locks of SQLite are not to be trusted."""
    kind = file_system(path)
    if kind in NETWORK:
        raise InputError(
            f"{path} is on a network file system ({kind}), where the locks of a database cannot be trusted; put it on "
            "a disk of this machine"
        )


def file_system(path: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """The kind of file system that a path is on; "" where the system does not say.

    Examples
    --------
    >>> import tempfile
    >>> mounts = Path(tempfile.mkdtemp()) / "mounts"
    >>> _ = mounts.write_text("disk / ext4 rw 0 0\\nserver:/a /srv/data nfs4 rw 0 0\\n")
    >>> file_system(Path("/srv/data/web.live"), mounts), file_system(Path("/srv"), mounts)
    ('nfs4', 'ext4')
    """
    best, kind = -1, ""
    with suppress(OSError):
        place = str(path.resolve())
        for line in mounts.read_text(errors="surrogateescape").splitlines():
            point, name = line.split()[1:3]
            point = point.replace("\\040", " ")
            inside = place == point or place.startswith(point.rstrip("/") + "/")
            if inside and len(point) >= best:
                best, kind = len(point), name
    return kind
