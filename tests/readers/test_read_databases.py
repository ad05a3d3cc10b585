"""Databases of SQLite and DuckDB, made by these."""

from __future__ import annotations

import gzip
import re
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from format_writers import edges_of

from graphrefine.errors import FormatError, InputError, MissingExtraError
from graphrefine.readers.read import read

Make = Callable[..., Path]
LINKS = "create table links (id integer, follower text, followee text, weight double, city text)"
ROWS = "insert into links values (1, 'ann', 'bob', 2.5, 'x'), (2, 'bob', 'cy', 1, 'y'), (3, 'cy', null, 1, 'z')"


def make_sqlite(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def make_duckdb(path: Path, *statements: str) -> Path:
    path = path.with_suffix(".duckdb")
    with closing(duckdb.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


@pytest.fixture(params=[make_sqlite, make_duckdb])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda *statements, name="a.sqlite": request.param(tmp_path / name, *statements)


def test_the_only_table(make: Make) -> None:
    graph = read(make(LINKS, ROWS))
    assert edges_of(graph) == {("ann", "bob"): 2.5, ("bob", "ann"): 2.5, ("bob", "cy"): 1, ("cy", "bob"): 1}
    assert graph.report["columns"] == ["follower", "followee"]
    assert graph.report["ignored_columns"] == ["id", "city"]
    assert graph.report["missing"] == 1
    assert "table 'links'" in graph.reading
    assert graph.report["format"] in ("sqlite", "duckdb")


def test_queries_and_options(make: Make) -> None:
    odd = 'create table "odd ""name""" as select 1 as u, 2 as v union select 2, 3'
    path = make(LINKS, ROWS, "create table other (a integer)", odd)
    with pytest.raises(FormatError, match=r"the tables are 'links', 'odd \"name\"', 'other'; pass query="):
        read(path)
    assert read(path, query="links").edges == 2
    assert read(path, query='odd "name"').names.tolist() == [1, 2, 3]
    query = "select city as source, id as target, 2 * weight as w from links where id < 3"
    graph = read(path, query=query)
    assert edges_of(graph)["x", "1"] == 5
    assert "the result of a query" in graph.reading
    assert read(path, query="links", source="city", target="follower", weights="id").edges == 3
    assert read(path, query="links", bipartite=True).sources == 3


def test_the_first_bytes_tell_which_it_is(tmp_path: Path) -> None:
    path = make_duckdb(tmp_path / "a", LINKS, ROWS).rename(tmp_path / "a.db")
    assert read(path).report["format"] == "duckdb"
    with pytest.raises(FormatError, match="format='sqlite', and this is a duckdb database"):
        read(path, format="sqlite")
    plain = make_sqlite(tmp_path / "b.txt", LINKS, ROWS)
    assert read(plain).report["format"] == "sqlite"
    packed = tmp_path / "packed.db.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read(packed).edges == 2
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(FormatError, match="unpack it into a file first"):
        read(packed)


def test_reading_leaves_no_trace(tmp_path: Path) -> None:
    path = make_sqlite(tmp_path / "a.db", "pragma journal_mode = wal", LINKS, ROWS)
    before = path.read_bytes()
    assert read(path).edges == 2
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]
    with closing(sqlite3.connect(path)) as connection:  # what another program has not yet put into the file is read too
        connection.execute("insert into links values (4, 'cy', 'dan', 1, 'x')")
        connection.commit()
        assert read(path).edges == 3


WRITING = ["delete from links", "update links set id = 1", "drop table links", "create table t (a integer)"]
WRITING += ["attach 'new.db' as new", "insert into links select * from links", "vacuum into 'copy.db'"]
WRITING += ["pragma user_version = 7", "select 1 as u, 2 as v; delete from links"]


@pytest.mark.parametrize("query", WRITING)
def test_queries_that_write_are_refused(
    make: Make, query: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = make(LINKS, ROWS)
    before = path.read_bytes()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match=r"must be one select|says: You can only execute one|says: Parser Error"):
        read(path, query=query)
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_queries_do_not_reach_other_files(tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("u,v\n1,2\n")
    path = make_duckdb(tmp_path / "a", LINKS, ROWS)
    for query in (f"select * from read_csv('{tmp_path}/secret.csv')", f"select * from '{tmp_path}/secret.csv'"):
        with pytest.raises(FormatError, match=r"Permission Error: .* disabled (by|through) configuration"):
            read(path, query=query)


@pytest.mark.parametrize(
    ("statements", "options", "problem"),
    [
        ([LINKS, ROWS], {"query": "nope"}, "query='nope': there is no such table; the tables are 'links'"),
        ([LINKS, ROWS], {"query": "select * from nope"}, "the database says: .*nope"),
        ([LINKS, ROWS], {"query": "select oops from"}, "the database says: "),
        ([LINKS], {}, "there is no edge: the table or query has no rows"),
        ([LINKS, ROWS, "update links set weight = null"], {}, "record 1: the weight is missing"),
        ([LINKS, ROWS, "update links set weight = -1"], {}, "record 1: weight -1"),
        ([LINKS, ROWS], {"weights": "cost"}, "there is no column 'cost'"),
        (["create table t (u text)", "drop table t"], {}, "there is no table in the database"),
    ],
)
def test_what_cannot_be_read(make: Make, statements: list[str], options: dict[str, Any], problem: str) -> None:
    path = make(*statements)
    with pytest.raises(InputError) as caught:
        read(path, **options)
    assert re.search(problem, str(caught.value).removeprefix(str(path)), re.DOTALL), caught.value


def test_damaged_databases(tmp_path: Path) -> None:
    for path in (make_sqlite(tmp_path / "x.db", LINKS, ROWS), make_duckdb(tmp_path / "x", LINKS, ROWS)):
        whole = path.read_bytes()
        for size in (1000, len(whole) // 2):
            path.write_bytes(whole[:size])
            with pytest.raises(FormatError, match=r"the database says|there is no table"):
                read(path)
        path.write_bytes(b"something else" * 20)
        with pytest.raises(FormatError, match="neither a SQLite nor a DuckDB database"):
            read(path)
    make_sqlite(tmp_path / "b.db", "create table t (u, v)", "insert into t values (x'00ff', 'a')")
    with pytest.raises(FormatError, match=r"ids must be integers or strings, not b'\\x00\\xff'"):
        read(tmp_path / "b.db")


def test_a_package_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_duckdb(tmp_path / "a", LINKS, ROWS)
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"reading DuckDB databases needs .*'duckdb'.*graphrefine\[scale\]"):
        read(path)
