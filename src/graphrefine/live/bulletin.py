"""The bulletin of a folder of live vectors: what readers in other processes see, one moment at a time.

A database of its own beside the log, ``bulletin.db``: the number of a generation, and for each group since then the
vectors that it moved, the names of nodes that are new, and the rows of nodes that are gone. All of it can be made again
from the log, and is, when the writer opens a folder whose bulletin is behind or damaged; so it need not wait for the
disk (``synchronous=OFF``), as the log does. Each post has a checksum: what a power cut may leave is seen.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import FormatError, InputError, OutputError
from graphrefine.live.published import Published
from graphrefine.live.store import empty_log, naming_problems

NAME = "bulletin.db"
BUSY = 30.0  # seconds that one waits for a moment when the database is free
CHUNK = 8192  # rows of a post, when all are written anew
TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE posts (
    id INTEGER PRIMARY KEY, change_group INTEGER NOT NULL, first INTEGER NOT NULL, names TEXT NOT NULL,
    removed BLOB NOT NULL, nodes BLOB NOT NULL, groups BLOB NOT NULL, lengths BLOB NOT NULL, degrees BLOB NOT NULL,
    vectors BLOB NOT NULL, checksum INTEGER NOT NULL
);
CREATE INDEX posts_group ON posts (change_group);
"""
COLUMNS = "first, names, removed, nodes, groups, lengths, degrees, vectors, checksum"


class Moved(NamedTuple):
    """Vectors of some nodes that are other than before."""

    nodes: NDArray[np.int64]
    lengths: NDArray[np.float64]  # before they were made unit
    vectors: NDArray[np.float32]  # (m, dim), unit rows
    groups: NDArray[np.int64] | int = 0  # that moved them
    degrees: NDArray[np.float64] | float = 0.0  # of the nodes


class Post(NamedTuple):
    """News of a group."""

    first: int  # row of the first name
    names: list[Any]  # of nodes that are new, in the order of their rows
    removed: NDArray[np.int64]  # rows whose node is there no more
    moved: Moved

    def give_to(self, published: Published) -> None:
        """Bring published vectors to this moment."""
        published.add(self.names[max(len(published) - self.first, 0) :])  # some may be there already
        published.put(*self.moved)
        published.remove(self.removed)


class News(NamedTuple):
    """What a reader has not seen yet."""

    generation: int
    group: int
    posts: list[Post]
    whole: bool  # whether these are all since the generation, to be given to its vectors


class Bulletin:
    """The bulletin of a folder.

    Parameters
    ----------
    folder
        The folder of live vectors.
    write
        Whether this is the writer's; it makes a bulletin that is missing or damaged anew.
    """

    def __init__(self, folder: Path, *, write: bool) -> None:
        self.path, self._write = folder / NAME, write
        self._replaced = False  # whether the file is another than that of the news before
        if write:
            self._connection = self._open_or_make()
        else:
            self._connection = self._open("ro")

    def _open(self, mode: str) -> sqlite3.Connection:
        address, connection = f"{self.path.absolute().as_uri()}?mode={mode}", None
        file = _file_number(self.path)
        try:
            connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY, check_same_thread=False)
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA secure_delete=ON")  # names that were removed leave the file
            _read_numbers(connection)
            self._file = file
            return connection
        except (sqlite3.Error, LookupError) as error:
            if connection is not None:
                connection.close()
            raise self._damage(error) from None

    def _open_or_make(self) -> sqlite3.Connection:
        with suppress(FormatError):
            connection = self._open("rw")
            if _is_sound(connection):
                return connection
            connection.close()
        with naming_problems(self.path):
            self._make()
        return self._open("rw")

    def _make(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(NAME + suffix).unlink(missing_ok=True)
        place = self.path.with_name(f"{NAME}.new")
        place.unlink(missing_ok=True)
        with closing(sqlite3.connect(place, isolation_level=None)) as fresh:
            fresh.execute("PRAGMA journal_mode=WAL")
            fresh.executescript(f"BEGIN; {TABLES} INSERT INTO about VALUES ('generation', 0), ('group', -1); COMMIT;")
        place.replace(self.path)

    def copy_to(self, folder: Path) -> int:
        """Copy it as it is now into another folder; the number of its generation."""
        with closing(sqlite3.connect(folder / NAME)) as copy:
            with self._errors():
                self._connection.backup(copy)
            return _read_numbers(copy)[0]

    def _damage(self, error: object) -> FormatError:
        return FormatError(
            self.path, f"cannot be read ({error}); it is made anew when the folder is opened for writing"
        )

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        with self._errors():
            try:
                self._connection.execute(kind)
                yield
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
        except sqlite3.ProgrammingError:
            raise InputError(f"{self.path.parent} was closed; open it again") from None
        except sqlite3.Error as error:
            if not self._write:
                raise self._damage(error) from None
            raise OutputError(
                f"{self.path}: {error}; committed changes are safe, and readers see them once the folder is opened "
                "for writing again"
            ) from None

    @property
    def moment(self) -> tuple[int, int]:
        """Numbers of the generation and of the last group that it has."""
        with self._transaction("BEGIN"):
            return _read_numbers(self._connection)

    def post(self, group: int, post: Post) -> None:
        """Post the news of a group."""
        with self._transaction("BEGIN IMMEDIATE"):
            self._insert(group, post)
            self._connection.execute("UPDATE about SET value = ? WHERE key = 'group'", (group,))

    def _insert(self, group: int, post: Post) -> None:
        moved = post.moved
        parts = (
            json.dumps(post.names),
            post.removed.astype("<i8").tobytes(),
            moved.nodes.astype("<i8").tobytes(),
            np.broadcast_to(np.asarray(moved.groups, "<i8"), moved.nodes.shape).tobytes(),
            moved.lengths.astype("<f8").tobytes(),
            np.broadcast_to(np.asarray(moved.degrees, "<f8"), moved.nodes.shape).tobytes(),
            np.ascontiguousarray(moved.vectors, "<f4").tobytes(),
        )
        row = (group, post.first, *parts, _checksum(post.first, *parts))
        places = ", ".join("?" * len(row))
        self._connection.execute(f"INSERT INTO posts (change_group, {COLUMNS}) VALUES ({places})", row)

    def rewrite(self, generation: int, group: int, published: Published) -> None:
        """All news since a generation as one, for readers of any moment; each vector stands once."""
        rows, gone = published.moved_rows(), np.flatnonzero(published.removed())
        none = Moved(np.empty(0, np.int64), np.empty(0), np.empty((0, published.dim), np.float32))
        with self._transaction("BEGIN IMMEDIATE"):
            self._connection.execute("DELETE FROM posts")
            first, end = len(published.base), len(published)
            self._insert(group, Post(first, published.new_names(), gone[:0], none))
            for start in range(0, len(rows), CHUNK):
                some = rows[start : start + CHUNK]
                own = published.lengths[some], published.rows(some), published.groups[some], published.degrees[some]
                moved = Moved(some, *own)
                self._insert(group, Post(end, [], gone[:0], moved))
            self._insert(group, Post(end, [], gone, none))
            numbers = [(generation, "generation"), (group, "group")]
            self._connection.executemany("UPDATE about SET value = ? WHERE key = ?", numbers)
        empty_log(self._connection)

    def news(self, *, generation: int, group: int) -> News:
        """What came after a moment; all of it, if that was one of another generation, or of another bulletin."""
        if _file_number(self.path) != self._file:  # it was made anew, or a backup is here now
            fresh, old = self._open("ro"), self._connection
            self._connection, self._replaced = fresh, True
            old.close()
        with self._transaction("BEGIN"):
            now, last = _read_numbers(self._connection)
            if not now and generation > 0:
                return News(generation, group, [], whole=False)
            if not now:
                raise self._damage("its writer is about to fill it")
            whole = self._replaced or now != generation or last < group
            query = f"SELECT {COLUMNS} FROM posts WHERE change_group > ? ORDER BY id"
            rows = self._connection.execute(query, (-1 if whole else group,)).fetchall()
        try:
            posts = [_post_of(*row) for row in rows]
        except ValueError as error:
            raise self._damage(error) from None
        self._replaced = False
        return News(now, last, posts, whole)


def _file_number(path: Path) -> tuple[int, int]:
    try:
        facts = path.stat()
    except OSError:
        return (-1, -1)
    return facts.st_dev, facts.st_ino


def _read_numbers(connection: sqlite3.Connection) -> tuple[int, int]:
    facts = dict(connection.execute("SELECT key, value FROM about").fetchall())
    return int(facts["generation"]), int(facts["group"])


def _is_sound(connection: sqlite3.Connection) -> bool:
    """Whether the database can be written on; all posts are written anew then."""
    try:
        tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
        wanted = {" ".join(table.split()) for table in TABLES.split(";") if table.strip()}
        same = {" ".join(sql.split()) for (sql,) in tables} == wanted
        return same and connection.execute("PRAGMA quick_check").fetchone()[0] == "ok"
    except sqlite3.DatabaseError:
        return False


def _checksum(first: int, names: str, *parts: bytes) -> int:
    crc = zlib.crc32(names.encode(), first & 0xFFFFFFFF)
    for part in parts:
        crc = zlib.crc32(part, crc)
    return crc


def _post_of(first: int, names: str, *parts: Any) -> Post:
    *blobs, checksum = parts
    if _checksum(first, names, *blobs) != checksum:
        raise ValueError("a post is not as it was written")
    removed, nodes, groups = (np.frombuffer(data, "<i8").astype(np.int64, copy=False) for data in blobs[:3])
    lengths, degrees = (np.frombuffer(data, "<f8").astype(np.float64, copy=False) for data in blobs[3:5])
    table = np.frombuffer(blobs[5], "<f4").astype(np.float32, copy=False).reshape(len(nodes), -1 if len(nodes) else 0)
    return Post(first, json.loads(names), removed, Moved(nodes, lengths, table, groups, degrees))
