"""Vectors in a real PostgreSQL with pgvector, there and back."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from round_trips import AWKWARD, assert_same, embeddings, numbers

import postgres_server
from cli_runs import check_refused, ring_of_cliques, run, works
from graphrefine import embed, read
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.formats import check_address, check_output, format_place, pgvector
from graphrefine.errors import FormatError, InputError, MissingExtraError, OutputError
from postgres_server import Server
from processes import start_process

patient = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
AWKWARD_NAMES = ["", "\\N", "\\.", "\\", "it's", '"', "a\tb", "\n", "\r\n", "a\\tb", "\\x41", "\\101", "é🙂", " "]
AWKWARD_NAMES += ["--", ";", "$$", "'); DROP TABLE mine; --", "\n\\.\nDROP TABLE mine;", ":mine", "%s"]
AWKWARD_NAMES += ["\x01\b\f\v", "NULL", "\u2028"]
names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12) | st.sampled_from(AWKWARD_NAMES)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with postgres_server.running() as running:
        yield running


def query(server: Server, text: str) -> str:
    done = server.psql("-c", text)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def describe(server: Server, table: str) -> Any:
    return json.loads(query(server, f"SELECT obj_description('{table}'::regclass, 'pg_class')"))


def put_comment(server: Server, table: str, text: str) -> None:
    escaped = text.replace("'", "''")
    query(server, f"COMMENT ON TABLE {table} IS '{escaped}'")


def sample(count: int = 40, dim: int = 8, **state: Any) -> Embedding:
    vectors = np.random.default_rng(3).standard_normal((count, dim))
    return Embedding([f"nöde {row}" for row in range(count)], vectors, {"seed": 1}, **state)


@patient
@given(embedding=embeddings(names, least=1) | embeddings(numbers, least=1))
def test_by_connection(server: Server, embedding: Embedding) -> None:
    embedding.save(server.address(), table="by connection")
    assert_same(load(server.address(), table="by connection"), embedding)


def test_a_degree_weight_that_is_a_number_of_json_is_read(server: Server) -> None:
    """As in the tables of 0.1.0."""
    older = sample(3, 2, degrees=[1, 2, 3], degree_weight=0.25)
    older.save(server.address(), table="older")
    comment = describe(server, "older")
    comment["graphrefine"]["degree_weight"] = 0.25
    put_comment(server, "older", json.dumps(comment))
    assert_same(load(server.address(), table="older"), older)


def test_every_awkward_name_and_number(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 4_000, dtype=np.uint32).view(np.float32)
    rows = len(AWKWARD_NAMES)
    vectors = np.concatenate([AWKWARD, bits[np.isfinite(bits)]])[: rows * 100].reshape(rows, 100)
    large = np.random.default_rng(0).standard_normal((6 * 512, 512)).astype(np.float32)
    monkeypatch.setattr(pgvector, "_ROWS", 5)  # blocks are cut anywhere
    for embedding in (
        Embedding(AWKWARD_NAMES, vectors, degrees=np.arange(rows)),
        Embedding(None, np.ones((2, 512)), degrees=[1, 1], fold_map=large),
        Embedding(None, np.ones((0, 3))),
    ):
        embedding.save(server.address(), table="awkward")
        assert_same(load(server.address(), table="awkward"), embedding)


def test_names_on_both_sides_of_a_bipartite_graph(server: Server) -> None:
    two = Embedding([1, 2, 1, 3], [[1], [2], [3], [4]], {"sides": "rows", "sources": 2}, degrees=[1, 2, 3, 4])
    two.save(server.address(), table="two")
    back = load(server.address(), table="two")
    assert_same(back, two)
    assert back.index(1, side="target") == 0
    assert query(server, "SELECT vector, degree FROM two WHERE side = 'target' AND node = 1") == "[3]|3"
    query(server, "DELETE FROM two WHERE row_index = 0")
    with pytest.raises(FormatError, match="3 rows where 4 are expected"):
        load(server.address(), table="two")


def test_rows_that_were_added_and_deleted_since(server: Server) -> None:
    sample(4, 2).save(server.address(), table="changed")
    query(server, "DELETE FROM changed WHERE row_index = 1; INSERT INTO changed VALUES (9, 'new', '[0.5,1]')")
    back = load(server.address(), table="changed")
    assert back.names.tolist() == ["nöde 0", "nöde 2", "nöde 3", "new"] and back["new"].tolist() == [0.5, 1]


@pytest.mark.parametrize("index", [False, True])
def test_nearest_neighbors_there_are_ours(server: Server, index: bool) -> None:
    embedding = sample(60)
    unit = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    ours = np.argsort(-(unit @ unit.T), axis=1, kind="stable")
    embedding.save(server.address(), table="near", index=index)
    order = "SET enable_seqscan = off; " if index else ""
    for row in range(0, 60, 7):
        node = embedding.names[row]
        vector = f"(SELECT vector FROM near WHERE node = '{node}')"
        nearest = query(server, f"{order}SELECT row_index FROM near ORDER BY vector <=> {vector} LIMIT 11").split("\n")
        assert [int(each) for each in nearest] == ours[row, :11].tolist()
    used = query(server, f"{order}EXPLAIN SELECT node FROM near ORDER BY vector <=> '{[1] * 8}' LIMIT 5")
    assert ("Index Scan" in used) == index


def test_one_of_ours_is_replaced_and_others_only_if_asked(server: Server) -> None:
    query(server, "CREATE TABLE foreign_table (node int); INSERT INTO foreign_table VALUES (7)")
    place, embedding = server.address(), sample(3, 2)
    with pytest.raises(OutputError, match=r"'foreign_table'; .*replace=True"):
        embedding.save(place, table="foreign_table")
    assert query(server, "SELECT node FROM foreign_table") == "7"
    with pytest.raises(FormatError, match="'foreign_table' was not written by graphrefine"):
        load(place, table="foreign_table")
    embedding.save(place, table="foreign_table", replace=True)
    Embedding([1, 2], [[1], [2]]).save(place, table="foreign_table")
    assert load(place, table="foreign_table").dim == 1


SLOWLY = """
import sys, time, numpy as np
from graphrefine.embedding.embedding import Embedding
from graphrefine.embedding.formats import pgvector
def copy_rows(*arguments, original=pgvector._copy_rows):
    original(*arguments)
    print("rows are there", flush=True)
    time.sleep(60)
pgvector._copy_rows = copy_rows
Embedding(None, np.ones((500, 4))).save(sys.argv[1], table="kept")
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_stopped_leaves_the_old_table(server: Server, end: signal.Signals) -> None:
    embedding = sample(5, 3)
    embedding.save(server.address(), table="kept")
    command = [sys.executable, "-c", SLOWLY, server.address()]
    with start_process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        assert running.stdout is not None
        try:
            assert running.stdout.readline() == "rows are there\n"
            assert_same(load(server.address(), table="kept"), embedding)  # readers do not wait
        finally:
            running.send_signal(end)
        assert running.wait(20) != 0
    until = time.monotonic() + 20
    writing = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'graphrefine'"
    while query(server, writing) != "0" and time.monotonic() < until:
        time.sleep(0.05)
    assert_same(load(server.address(), table="kept"), embedding)
    assert query(server, "SELECT count(*) FROM pg_class WHERE relname LIKE 'graphrefine_new%'") == "0"


@pytest.mark.parametrize(
    "table", ['x"; DROP TABLE mine; --', "x'; DROP TABLE mine; --", "$graphrefine$", "sélect", ":mine", "%s", "a b\\"]
)
def test_a_table_of_any_name_is_only_a_name(server: Server, table: str) -> None:
    query(server, "DROP TABLE IF EXISTS mine; CREATE TABLE mine (x int)")
    embedding = Embedding(AWKWARD_NAMES, np.ones((len(AWKWARD_NAMES), 1)), {"note": "'; DROP TABLE mine; --\\"})
    for _ in range(2):  # the second time there is one to replace
        embedding.save(server.address(), table=table, index=True)
    assert_same(load(server.address(), table=table), embedding)
    assert query(server, "SELECT count(*) FROM mine") == "0"


def test_names_that_no_table_has_are_refused_before_a_server_is_asked() -> None:
    for table in ("", "a.b.c", "x" * 64, "nul\0", "\ud800"):
        with pytest.raises(InputError, match=r"table=.* 63 "):
            sample(2, 2).save("postgresql://nobody@127.0.0.1:1/none", table=table)
    for good in ("postgresql:///x", "postgresql://[::1]:5432/x", "postgresql://a@h1:1,h2:2/x?host=/tmp"):
        check_address(good)


def test_tables_in_a_schema_and_of_the_widest_vectors(server: Server) -> None:
    query(server, 'CREATE SCHEMA IF NOT EXISTS "My graphs"')
    sample(3, 2).save(server.address(), table="My graphs.people")
    assert load(server.address(), table="My graphs.people").dim == 2
    Embedding(None, np.ones((2, 2_000))).save(server.address(), table="wide", index=True)
    assert load(server.address(), table="wide").dim == 2_000


NOISE = "".join(map(chr, np.random.default_rng(0).integers(33, 0x2FFF, 3000)))  # nothing that compresses


@pytest.mark.parametrize(
    ("refused", "index", "fact"),
    [
        (Embedding(["nul\0"], [[1]]), False, "0x00"),
        (Embedding([NOISE], [[1]]), False, "index row"),
        (Embedding(["caf\udce9"], [[1]]), False, "UTF-8"),
        (Embedding(["b", "a", "a"], np.ones((3, 1))), False, r"=\(a\)"),
        (Embedding(None, np.ones((2, 0))), False, "dimensions"),
        (Embedding(None, np.ones((2, 16_001))), False, "16000"),
        (Embedding(None, np.ones((2, 2_001))), True, "2000"),
        ([[1, np.nan]], False, "NaN"),
    ],
)
def test_what_a_table_cannot_hold(server: Server, tmp_path: Path, refused: Any, index: bool, fact: str) -> None:
    if isinstance(refused, list):  # only a mapped file may hold it
        np.save(tmp_path / "bad.npy", np.array(refused, np.float32))
        refused = load(tmp_path / "bad.npy")
    sample(3, 2).save(server.address(), table="held")
    with pytest.raises(OutputError, match=fact):
        refused.save(server.address(), table="held", index=index)
    assert_same(load(server.address(), table="held"), sample(3, 2))
    assert query(server, "SELECT count(*) FROM pg_class WHERE relname LIKE 'graphrefine_new%'") == "0"


def test_comments_that_are_damaged(server: Server) -> None:
    whole = sample(9, 2, degrees=np.arange(9), degree_weight=0.5, fold_map=np.ones((12, 2), np.float32))
    whole.save(server.address(), table="damaged")
    good = describe(server, "damaged")["graphrefine"]
    changes: list[tuple[str, Any]] = [("recipe", 7), ("names", "integers"), ("columns", 7), ("fold_map", 7)]
    changes += [("columns", ["node", "vector"]), ("columns", ["row_index", "node", "vector"])]
    changes += [("fold_map", "12x2:AAAA"), ("version", 99), ("version", None), ("dim", 3), ("dim", "two")]
    changes += [("degree_weight", -1), ("degree_weight", [1])]
    damaged: list[Any] = [{**good, name: value} for name, value in changes]
    damaged += [{k: v for k, v in good.items() if k != name} for name in ("dim", "columns")]
    texts = [json.dumps({"graphrefine": value}) for value in (*damaged, 3, [], good)]
    for text in (texts[-1][: len(texts[-1]) // 2], *texts[:-1]):
        put_comment(server, "damaged", text)
        with pytest.raises(InputError, match=r"^postgresql://postgres@/postgres: "):
            load(server.address(), table="damaged")
    put_comment(server, "damaged", texts[-1])
    assert_same(load(server.address(), table="damaged"), whole)


def test_rows_that_are_damaged(server: Server) -> None:
    for change, fact in (
        ("ALTER vector TYPE vector(3) USING '[1,2,3]'", "expected 2 dimensions, not 3"),
        ("ALTER vector TYPE text USING '[1,x]'", "x"),
        *((f"ALTER degree DROP NOT NULL, ALTER degree TYPE real USING {value}", "degrees") for value in ("NULL", "-1")),
        *((f"DROP COLUMN {column}", f'"{column}" does not exist') for column in ("degree", "node", "row_index")),
    ):
        sample(9, 2, degrees=np.arange(9)).save(server.address(), table="torn", replace=True)
        query(server, f"ALTER TABLE torn {change}")
        with pytest.raises(InputError, match=rf"^postgresql://postgres@/postgres: .*{fact}"):
            load(server.address(), table="torn")


def test_servers_that_refuse(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    query(server, "DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN; REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    for place, table, fact in (
        (server.address(user="guest"), "refused", "permission denied"),
        (server.address(user="stranger"), "refused", 'role "stranger" does not exist'),
        (server.address(), "nowhere.people", 'schema "nowhere" does not exist'),
    ):
        with pytest.raises(OutputError, match=fact):
            sample(2, 2).save(place, table=table)
    with pytest.raises(InputError, match='database "nowhere" does not exist'):
        load(server.address(database="nowhere"))
    with pytest.raises(InputError, match='"nothing" does not exist'):
        load(server.address(), table="nothing")
    monkeypatch.setattr(pgvector, "EXTENSION", "CREATE EXTENSION nosuchvector")
    with pytest.raises(OutputError, match="nosuchvector"):
        sample(2, 2).save(server.address(), table="refused")


SECRETS = ["ada:s3cret@127.0.0.1:1/x", "ada@127.0.0.1:1/x?password=s3cret", "a:s3cret@h:b/x"]
SECRETS += ["ada:p/s3cret@127.0.0.1:1/x", "ada:p@s3cret@127.0.0.1:1/x", "ada:s3cret@127.0.0.1:1/x?no=1"]
SECRETS += ["ada:%zs3cret@127.0.0.1:1/x", "ada:p#s3cret@127.0.0.1:1/x", "ada:p?s3cret@127.0.0.1:1/x"]


@pytest.mark.parametrize("secret", SECRETS)
def test_passwords_are_never_shown(secret: str, tmp_path: Path) -> None:
    address = f"postgresql://{secret}"
    assert "s3cret" not in format_place(address)
    sample(2, 2).save(tmp_path / "a")
    calls: list[Callable[[], object]] = [
        lambda: sample(2, 2).save(address),
        lambda: load(address),
        lambda: check_output(address),
        lambda: sample(2, 2).save(address, format="parquet"),
    ]
    messages = [check_refused(run("convert", tmp_path / "a", address, "--json"))]
    messages += [check_refused(run("convert", address, tmp_path / "b"))]
    for call in calls:
        with pytest.raises((OutputError, InputError)) as caught:
            call()
        messages.append(str(caught.value))
    for message in messages:
        assert message and "s3cret" not in message


def test_without_psycopg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"graphrefine\[postgres\]"):
        sample(2, 2).save("postgresql://ada@127.0.0.1:1/x")


def test_passwords_are_not_shown_by_commands_that_read(server: Server, tmp_path: Path) -> None:
    """The server asks for no password, and takes any."""
    place = server.address(user="postgres:s3cret", database="secrets")
    query(server, "CREATE DATABASE secrets")
    embed(read(ring_of_cliques()), dim=4).save(place)
    np.savetxt(tmp_path / "g.txt", ring_of_cliques(), fmt="%d")
    for arguments in (
        ["neighbors", place, "0"],
        ["evaluate", "reconstruction", tmp_path / "g.txt", place],
        ["embed", tmp_path / "g.txt", "--align-to", place, "-o", tmp_path / "out"],
        ["convert", place, tmp_path / "x.csv"],
    ):
        for done in (works(*arguments), works(*arguments, "--json")):
            assert done.out and "s3cret" not in done.out + done.err, arguments


def test_convert_there_and_back(server: Server, tmp_path: Path) -> None:
    numbers = np.random.default_rng(5).standard_normal((48, 8)).astype(np.float32)
    embedding = sample(degrees=np.arange(40), fold_map=numbers, degree_weight=0.3)
    embedding.save(tmp_path / "my.friends", format="folder")
    place = server.address()
    done = works("convert", tmp_path / "my.friends", place, "--to", "pgvector", "--from", "folder", "--index", "--json")
    assert done.figures["target"] == "postgresql://postgres@/postgres"
    assert done.figures["target_format"] == "pgvector" and done.figures["nodes"] == 40
    works("convert", place, place, "--table", "my")
    works("convert", place, tmp_path / "back.npz", "--table", "my")
    assert_same(load(tmp_path / "back.npz"), embedding)
    query(server, "DROP TABLE IF EXISTS back; CREATE TABLE back (x int)")
    check_refused(run("convert", tmp_path / "back.npz", place), "--replace")
    works("convert", tmp_path / "back.npz", place, "--replace")


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [("x.npz --index", "--index"), ("x.npz --table t", "--table"), ("x.npz --replace", "--replace"), ("x.sql", ".sql"),
     ("postgresql://127.0.0.1:1/x --to csv", "pgvector"), ("x.sql --to pgvector", "pgvector")],
)  # fmt: skip
def test_options_that_do_not_apply_are_refused(arguments: str, fact: str, tmp_path: Path) -> None:
    sample(2, 2).save(tmp_path / "a")
    check_refused(run("convert", tmp_path / "a", *arguments.split()), fact)


def test_embed_and_files_have_no_tables(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    for scheme, fact in (("postgresql", "make a file first"), ("postgresql+psycopg", "postgresql+psycopg://ada")):
        done = run("embed", tmp_path / "g.txt", "-o", f"{scheme}://ada:s3cret@127.0.0.1:1/x")
        assert "s3cret" not in check_refused(done, fact)
    sample(2, 2).save(tmp_path / "a")
    with pytest.raises(InputError, match="is no server"):
        load(tmp_path / "a", table="x")
