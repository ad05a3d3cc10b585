"""Ingesting gives the graph that reading gives, in pieces, within its budget, and goes on after an interruption."""

from __future__ import annotations

import bz2
import gzip
import itertools
import json
import lzma
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import PropertyMock, patch

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_runs import PROGRAM, run
from graphrefine import read
from graphrefine.errors import InputError, OutputError
from graphrefine.graph.graph import Graph
from graphrefine.ingestion.ingest import ingest, ingest_files
from graphrefine.ingestion.job import Budget
from graphrefine.kernels import native
from graphrefine.kernels.edge_lists import IdSet
from graphrefine.readers.options import ReadOptions
from graphrefine.system.work_folder import WorkFolder
from graphs import check
from oracles import edges as oracle
from strategies import INTEGERS, PATIENT, WEIGHTS, Edge, edge_lists

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("duckdb")


def same(graph: Graph, expected: Graph, *, report: bool = True) -> None:
    """Equal to the bit."""
    for name in ("indptr", "indices", "weights", "names"):
        ours, theirs = getattr(graph, name), getattr(expected, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert ours.dtype == theirs.dtype, name
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
    assert (graph.directed, graph.sources) == (expected.directed, expected.sources)
    assert graph.degrees().tobytes() == expected.degrees().tobytes()
    assert graph.context().tobytes() == expected.context().tobytes()
    if report:
        assert graph.report == expected.report
        assert graph.source == expected.source


@contextmanager
def tiny(*, text: int = 40, rows: int = 7, bits: int | None = None, bucket: int = 600) -> Iterator[None]:
    """Everything in many small parts."""
    sizes = {"text": text, "rows": rows, "bucket": bucket}
    if bits is not None:
        sizes["bits"] = bits
    with patch.multiple(Budget, **{name: PropertyMock(return_value=size) for name, size in sizes.items()}):
        yield


def alone_in(folder: Path, *names: str) -> None:
    """Nothing else is there: no work folder, no hidden file."""
    assert {path.name for path in folder.iterdir()} == set(names)


def lines(edges: list[Edge], *, weighted: bool) -> list[str]:
    return [f"{u}\t{v}\t{w!r}\n" if weighted else f"{u}\t{v}\n" for u, v, w in edges]


@settings(PATIENT, max_examples=30)
@given(st.data())
def test_text_is_the_graph_that_read_gives(tmp_path: Path, data: st.DataObject) -> None:
    edges = data.draw(
        edge_lists(ids=data.draw(st.sampled_from([None, st.integers(0, 5000).map(str), INTEGERS.map(str)])))
    )
    weighted = data.draw(st.booleans())
    written = lines(edges, weighted=weighted)
    if data.draw(st.booleans()):  # fields that are empty, edges without weight
        ends = f"\t{edges[0][0]}" + ("\t1" if weighted else "") + "\n"
        written.insert(data.draw(st.integers(0, len(written))), ends)
    if weighted and data.draw(st.booleans()):
        written.append(f"{edges[0][0]}\t{edges[-1][1]}\t0\n")
    written.insert(data.draw(st.integers(0, len(written))), "# a comment\n")
    (tmp_path / "g.tsv").write_text("".join(written))
    kind = data.draw(st.sampled_from([{}, {"directed": True}, {"bipartite": True}]))
    options: dict[str, Any] = {**kind, "header": False, "weights": 2 if weighted else False, "delimiter": "\t"}
    options["comments"] = "#"
    expected = read(tmp_path / "g.tsv", **options)
    bits = data.draw(st.sampled_from([None, 0]))
    with tiny(text=data.draw(st.sampled_from([1, 30, 200])), bits=bits):
        graph = ingest(tmp_path / "g.tsv", tmp_path / "g.grf", **options)
    same(graph, expected)
    check(graph)
    alone_in(tmp_path, "g.tsv", "g.grf")


@settings(PATIENT, max_examples=12)
@given(st.data())
def test_parts_are_the_whole(tmp_path: Path, data: st.DataObject) -> None:
    edges = data.draw(edge_lists(ids=data.draw(st.sampled_from([None, st.integers(0, 5000).map(str)]))))
    written = lines(edges, weighted=True)
    (tmp_path / "whole.tsv").write_text("".join(written))
    options: dict[str, Any] = {"directed": data.draw(st.booleans()), "header": False, "weights": 2}
    expected = read(tmp_path / "whole.tsv", delimiter="\t", **options)
    shutil.rmtree(tmp_path / "parts", ignore_errors=True)
    (tmp_path / "parts").mkdir()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(written)), max_size=3)))
    bounds = zip([0, *cuts], [*cuts, len(written)], strict=True)
    for number, (start, stop) in enumerate(each for each in bounds if each[0] < each[1]):
        text, path = "".join(written[start:stop]).encode(), tmp_path / "parts" / f"{number}.tsv"
        path.with_suffix(".tsv" if number % 2 else ".tsv.gz").write_bytes(text if number % 2 else gzip.compress(text))
    with tiny(text=50):
        graph = ingest(tmp_path / "parts", tmp_path / "g.grf", delimiter="\t", **options)
    same(graph, expected, report=False)
    for name in ("records", "self_loops", "duplicates", "reciprocal", "missing", "zero_weights", "encoding"):
        assert graph.report[name] == expected.report[name], name
    alone_in(tmp_path, "whole.tsv", "parts", "g.grf")


@st.composite
def tables(draw: st.DrawFn) -> Any:
    """Arrow tables: integers of all kinds, floats, strings, dictionaries, nulls."""
    count = draw(st.integers(1, 30))
    kind = draw(st.sampled_from(["int32", "int64", "mixed", "float", "string", "both", "dictionary"]))
    small = st.integers(0, 9)
    node = {"int64": INTEGERS | small, "string": st.text(max_size=4) | small.map(str)}.get(kind, small)
    nulls = st.none() | node if draw(st.booleans()) else node
    first, second = (draw(st.lists(nulls, min_size=count, max_size=count)) for _ in range(2))
    types = {"int32": [pa.int32()] * 2, "int64": [pa.int64()] * 2, "mixed": [pa.uint16(), pa.int64()]}
    types |= {"float": [pa.float64(), pa.int32()], "string": [pa.string(), pa.large_string()]}
    types |= {"both": [pa.int64(), pa.string()], "dictionary": [pa.int64(), pa.int64()]}
    if kind == "both":
        second = [None if value is None else str(value) for value in second]
    columns = [pa.array(values, each) for values, each in zip((first, second), types[kind], strict=True)]
    if kind == "dictionary":
        columns = [column.dictionary_encode() for column in columns]
    named = {"note": pa.array(["x"] * count), "src": columns[0], "dst": columns[1]}
    if draw(st.booleans()):
        named["weight"] = pa.array(draw(st.lists(WEIGHTS | st.just(0.0), min_size=count, max_size=count)))
    return pa.table(named)


@settings(PATIENT, max_examples=30)
@given(tables(), st.sampled_from(["", "directed", "bipartite"]), st.sampled_from([None, 0]))
def test_tables_are_the_graph_that_read_gives(tmp_path: Path, table: Any, kind: str, bits: int | None) -> None:
    options: dict[str, Any] = {kind: True} if kind else {}
    pq.write_table(table, tmp_path / "g.parquet", row_group_size=11)
    try:
        expected = read(tmp_path / "g.parquet", **options)
    except InputError as error:
        with tiny(bits=bits), pytest.raises(InputError) as caught:
            ingest(tmp_path / "g.parquet", tmp_path / "x.grf", **options)
        assert str(caught.value).split(": ", 1)[1] == str(error).split(": ", 1)[1]
        assert not list(tmp_path.glob("x.grf*"))
        return
    with tiny(bits=bits):
        graph = ingest(tmp_path / "g.parquet", tmp_path / "g.grf", **options)
    same(graph, expected)
    with pa.OSFile(str(tmp_path / "g.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=9)
    with tiny(bits=bits):
        graph = ingest(tmp_path / "g.arrow", tmp_path / "g.grf", **options)
    same(graph, read(tmp_path / "g.arrow", **options))
    alone_in(tmp_path, "g.parquet", "g.arrow", "g.grf")


def test_many_edges_in_many_pieces_and_buckets(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    ends = (20_000 * random.random((2, 60_000)) ** 3).astype(np.int32)
    weights = random.random(60_000).astype(np.float32)
    table = pa.table({"source": ends[0], "target": ends[1], "weight": weights})
    pq.write_table(table, tmp_path / "g.parquet")
    for directed in (False, True):
        expected = read(tmp_path / "g.parquet", directed=directed)
        for options in ({"rows": 1000, "bucket": 40_000}, {"rows": 7000, "bucket": 200_000, "bits": 0}):
            with tiny(**options):
                same(ingest(tmp_path / "g.parquet", tmp_path / "g.grf", directed=directed), expected)


def same_arrays(results: Sequence[Any]) -> None:
    for result in results:
        for one, other in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(3))
def test_kernels_agree_with_the_oracle(seed: int) -> None:
    random = np.random.default_rng(seed)
    lowest = -(2**40) if seed else 5
    numbers = (lowest + random.integers(0, 9000, 500)).astype(np.int64)
    kinds: list[type[np.integer[Any]]] = [np.int64] if seed else [np.int64, np.int32]
    for ids in (numbers.astype(kind) for kind in kinds):
        ours, theirs = IdSet(lowest, lowest + 9000), IdSet(lowest, lowest + 9000)
        native.mark_ids(ours.bits, ours.pages, lowest, ids)
        oracle.mark_ids(theirs.bits, theirs.pages, lowest, ids)
        same_arrays([(ours.bits, ours.pages), (theirs.bits, theirs.pages)])
        ours.close()
        for module, threads in ((native, 1), (native, 3), (oracle, 1)):
            ranks = module.rank_ids(ours.bits, ours.before, lowest, ids, threads=threads)
            np.testing.assert_array_equal(ranks, np.searchsorted(np.unique(ids), ids))
    bounds, both_ends = np.array([0, 10, 11, 150, 300], np.int32), random.integers(0, 300, (2, 2000)).astype(np.int32)
    weights = random.choice([0.1, 0.25, 3, 1e6], 2000).astype(np.float32) if seed else None
    width = 2 if weights is None else 3
    runs = ((native, 1), (native, 2), (native, 5), (oracle, 1))
    for both in (False, True):
        given_: dict[str, Any] = {"weights": weights, "bounds": bounds, "both": both}
        dealt = [module.deal_arcs(*both_ends, threads=threads, **given_) for module, threads in runs]
        same_arrays(dealt)
        records, offsets = dealt[0]
        part = records[offsets[2] * width : offsets[3] * width]
        same_arrays(
            [module.merge_arcs(139, 11, part, weighted=width == 3, threads=threads) for module, threads in runs]
        )


# ---- inputs of all kinds -----------------------------------------------------------------------------------------


def test_compressions_encodings_and_headers(tmp_path: Path) -> None:
    text = "source,target,weight\n" + "".join(f"café{i % 7},b{i % 5},{i % 3 + 0.5}\n" for i in range(60))
    files = {"a.csv.gz": gzip.compress(text.encode()), "b.csv.bz2": bz2.compress(text.encode())}
    files |= {"c.csv.xz": lzma.compress(text.encode()), "d.csv": text.encode("latin-1"), "e.csv": text.encode("utf-16")}
    files["f.csv.zst"] = bytes(pa.compress(text.encode(), codec="zstd", asbytes=True))
    files["g.csv"] = b"\xef\xbb\xbf" + text.encode()
    files["h.txt"] = b"# nothing\n" * 9_000 + b"1 2\n2 3\n" + b"x" * 5000 + b" 1\n3 4"  # long preamble, long lines
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        with tiny(text=100):
            same(ingest(tmp_path / name, tmp_path / "g.grf"), read(tmp_path / name))
    with tiny(text=100):
        graph = ingest(tmp_path / "d.csv", tmp_path / "g.grf", encoding="cp1252")
    same(graph, read(tmp_path / "d.csv", encoding="cp1252"))
    table = pa.table({"u": [1, 2, 3], "v": [2, 3, 4]})
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.parquet.gz").write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    same(ingest(tmp_path / "t.parquet.gz", tmp_path / "t.grf"), read(tmp_path / "t.parquet.gz"))
    with pa.OSFile(str(tmp_path / "s.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    same(ingest(tmp_path / "s.arrow", tmp_path / "t.grf"), read(tmp_path / "s.arrow"))


def test_headers_of_parts(tmp_path: Path) -> None:
    rows = [f"{i},{i % 4},{i % 6 + 10},2.5\n" for i in range(30)]
    (tmp_path / "whole.csv").write_text("when,src,dst,weight\n" + "".join(rows))
    expected = read(tmp_path / "whole.csv")
    for header in ("", "when,src,dst,weight\n"):
        (tmp_path / "1.csv").write_text("when,src,dst,weight\n" + "".join(rows[:10]))
        (tmp_path / "2.csv").write_text(header + "".join(rows[10:]))
        (tmp_path / "3.csv").write_text("when,src,dst,weight\n")
        graph = ingest([tmp_path / f"{part}.csv" for part in "123"], tmp_path / "g.grf")
        same(graph, expected, report=False)
        assert graph.report["files"] == 3 and graph.report["columns"] == ["src", "dst"]
        assert graph.source == f"{tmp_path / '1.csv'} and 2 more"


def test_extra_nodes(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("1 2\n2 3\n7 7\n")
    (tmp_path / "nodes.txt").write_text("1\n9\n12\n")
    for nodes in (10, [4, 40], ["a", "b"], tmp_path / "nodes.txt"):
        for bits in (None, 0):
            with tiny(bits=bits):
                graph = ingest(tmp_path / "g.txt", tmp_path / "g.grf", nodes=nodes)
            same(graph, read(tmp_path / "g.txt", nodes=nodes))
    (tmp_path / "latin.txt").write_bytes("é b\nb c\n".encode("latin-1"))
    graph = ingest(tmp_path / "latin.txt", tmp_path / "g.grf", nodes=["ü", "d"])
    same(graph, read(tmp_path / "latin.txt", nodes=["ü", "d"]))
    with pytest.raises(InputError, match="猫"):
        ingest(tmp_path / "latin.txt", tmp_path / "x.grf", nodes=["猫"])
    with pytest.raises(InputError, match="nodes=5 means nodes 0 to 4, and the edges mention 7"):
        ingest(tmp_path / "g.txt", tmp_path / "g.grf", nodes=5)
    alone_in(tmp_path, "g.txt", "latin.txt", "nodes.txt", "g.grf")


def test_other_formats_are_read_whole_if_they_fit(tmp_path: Path) -> None:
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 2 1\n")
    (tmp_path / "h.txt").write_text("1 2\n")
    same(ingest(tmp_path / "g.mtx", tmp_path / "g.grf", memory="1GB"), read(tmp_path / "g.mtx"))
    networkx.write_graphml(networkx.karate_club_graph(), tmp_path / "club.graphml")
    stored = ingest(tmp_path / "club.graphml", tmp_path / "club.grf")
    assert (stored.nodes, stored.edges, dict(stored.attributes)) == (34, 78, {})
    assert "attributes of nodes" in stored.reading
    large = patch("graphrefine.ingestion.ingest.reading_bytes", return_value=10**10)
    with large, pytest.raises(InputError, match=r"g\.mtx: .* the budget is 1,000 MB") as caught:
        ingest(tmp_path / "g.mtx", tmp_path / "g.grf", memory="1GB")
    assert caught.value.argument == "memory"
    with pytest.raises(InputError, match=r"g\.mtx: .*several parts"):
        ingest([tmp_path / "g.mtx", tmp_path / "h.txt"], tmp_path / "g.grf")


# ---- bad input ---------------------------------------------------------------------------------------------------


def test_mistakes_are_named_and_leave_nothing(tmp_path: Path) -> None:
    good, ends = "1 2 0.5\n" * 40, pa.array([None] * 30, pa.string())
    texts = {"a": good, "b": f"# note\n{good}1 2 x\n", "c": f"{good}1\n", "u": "1 2\n" * 40, "none": "# a comment\n"}
    for name, text in (texts | {"loops": "1 1\n2 2\n"}).items():
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"1 2\n" * 5000)[:-20])
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    pq.write_table(pa.table({"u": [1, 2], "v": [2, 3], "weight": [1.0, -1.0]}), tmp_path / "minus.parquet")
    pq.write_table(pa.table({"src": ends, "dst": ends}), tmp_path / "empty.parquet")
    (tmp_path / "empty").mkdir()
    ingest(tmp_path / "u.txt", tmp_path / "made.grf")
    os.mkfifo(tmp_path / "pipe.csv")
    here = {path.name for path in tmp_path.iterdir()}
    cases: list[tuple[list[str], str, str | None]] = [
        (["a.txt", "b.txt"], r"b\.txt, line 42: weight 'x'", "weights"),
        (["a.txt", "c.txt"], r"c\.txt, line 41: ", None),
        (["a.txt", "u.txt"], r"u\.txt: .*a\.txt has some", "weights"),
        (["loops.txt"], r"loops\.txt: .* 2 self-loops", None),
        (["none.txt"], r"none\.txt: there is no edge in the file", "comments"),
        (["cut.txt.gz"], r"cut\.txt\.gz: the gz data", None),
        (["bad.parquet"], r"bad\.parquet: ", None),
        (["empty.parquet"], r"empty\.parquet: there is no edge", None),
        (["minus.parquet"], r"minus\.parquet: record 2: weight -1\.0", "weights"),
        (["absent.txt"], r"absent\.txt: ", None),
        (["pipe.csv"], r"pipe\.csv: a pipe or device", None),
        (["*.tsv"], r"\*\.tsv: ", "paths"),
        (["a.txt", "a.*"], r"a\.txt: is given twice", "paths"),
        (["empty"], "no file of a known format", "paths"),
        (["made.grf"], "is a graph on disk already", "paths"),
        ([], "nothing to ingest", "paths"),
    ]
    for names, fact, argument in cases:
        with tiny(text=64), pytest.raises(InputError, match=fact) as caught:
            ingest([tmp_path / name for name in names], tmp_path / "g.grf")
        assert caught.value.argument == argument, names
        alone_in(tmp_path, *here)
    with pytest.raises(InputError, match="standard input"):
        ingest("-", tmp_path / "g.grf")
    with pytest.raises(InputError, match="delimiter= does not apply to a parquet file"):
        ingest(tmp_path / "minus.parquet", tmp_path / "g.grf", delimiter=",")
    (tmp_path / "empty" / "thesis.txt").touch()
    with pytest.raises(OutputError, match="is a folder but no graph on disk"):
        ingest(tmp_path / "u.txt", tmp_path / "empty")


def test_too_little_memory_and_too_little_disk(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("1 2\n" * 1000)
    little = patch("shutil.disk_usage", return_value=shutil.disk_usage(tmp_path)._replace(free=10**6))
    none = patch.object(Budget, "free", PropertyMock(return_value=10_000))
    with pytest.raises(InputError, match="the least possible is 256 MB"):
        ingest(tmp_path / "g.txt", tmp_path / "g.grf", memory="200MB")
    with little, pytest.raises(OutputError, match="needs about 67 MB of disk, and 1 MB are free"):
        ingest(tmp_path / "g.txt", tmp_path / "g.grf")
    with none, pytest.raises(InputError, match="the least possible is 161 MB"):
        ingest(tmp_path / "g.txt", tmp_path / "g.grf")
    shutil.rmtree(tmp_path / "g.grf.work", ignore_errors=True)


def test_memory_stays_within_the_budget(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    ends = random.integers(0, 400_000, (2, 3_000_000)).astype(np.int32)
    pq.write_table(pa.table({"u": ends[0], "v": ends[1]}), tmp_path / "g.parquet")
    command = [*PROGRAM, "ingest", str(tmp_path / "g.parquet"), "-o", str(tmp_path / "g.grf"), "--memory", "256MB"]
    figures = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    assert figures["nodes"] == 400_000 - int((np.bincount(ends.ravel(), minlength=400_000) == 0).sum())
    assert 50 < figures["peak_mb"] < figures["budget_mb"] == 256
    assert abs(figures["predicted_mb"] / figures["peak_mb"] - 1) < 0.25


# ---- interruptions -----------------------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for the end of the process."""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("ids", ["integers", "far apart", "strings"])
def test_cut_short_after_any_step_it_goes_on_to_the_same_bytes(tmp_path: Path, ids: str) -> None:
    random = np.random.default_rng(1)
    pairs = random.integers(0, 30, (60, 2)) * (10**16 if ids == "far apart" else 1)
    name = "n{}" if ids == "strings" else "{}"
    (tmp_path / "g.txt").write_text("".join(f"{name.format(u)} {name.format(v)}\n" for u, v in pairs))
    with tiny(text=250, bucket=3500):
        ingest(tmp_path / "g.txt", tmp_path / "whole.grf", directed=True)
        expected = contents(tmp_path / "whole.grf")
        for steps in itertools.chain([1, 50], itertools.count(98)):  # reading has a hundred steps
            count = itertools.count(1)

            def advance(*_: Any, steps: int = steps, count: Iterator[int] = count) -> None:
                if next(count) == steps:
                    raise Killed

            try:
                with patch("graphrefine.progress.Stages.advance", advance):
                    ingest(tmp_path / "g.txt", tmp_path / "g.grf", directed=True)
                break
            except Killed:
                assert (tmp_path / "g.grf.work").exists() and not (tmp_path / "g.grf").exists()
                done = ingest_files(tmp_path / "g.txt", tmp_path / "g.grf", ReadOptions(directed=True))
                assert done.resumed and contents(tmp_path / "g.grf") == expected
                shutil.rmtree(tmp_path / "g.grf")
        assert steps > 105
    assert contents(tmp_path / "g.grf") == expected
    alone_in(tmp_path, "g.txt", "whole.grf", "g.grf")


SMALL_PARTS = """
from unittest.mock import PropertyMock, patch
from graphrefine.ingestion.job import Budget
from graphrefine.cli.main import main
sizes = {"text": 3000, "rows": 500, "bucket": 30_000}
with patch.multiple(Budget, **{name: PropertyMock(return_value=size) for name, size in sizes.items()}):
    main()
"""


@pytest.mark.parametrize("times", [2, pytest.param(15, marks=pytest.mark.slow)])
def test_killed_it_goes_on_to_the_same_bytes(tmp_path: Path, times: int) -> None:
    random = np.random.default_rng(times)
    pairs = random.integers(0, 3000, (12_000, 2))
    (tmp_path / "g.txt").write_text("".join(f"n{u} n{v}\n" for u, v in pairs))
    command = [sys.executable, "-c", SMALL_PARTS, "ingest", str(tmp_path / "g.txt"), "-o"]
    start = time.monotonic()
    subprocess.run([*command, str(tmp_path / "whole.grf")], check=True, capture_output=True)
    usual = time.monotonic() - start
    expected, killed = contents(tmp_path / "whole.grf"), 0
    for moment in np.linspace(0.3, 1.0, times) * usual:
        run = subprocess.Popen([*command, str(tmp_path / "g.grf")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            run.communicate(timeout=moment)
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            killed += 1
        subprocess.run([*command, str(tmp_path / "g.grf")], check=True, capture_output=True)
        assert contents(tmp_path / "g.grf") == expected
        shutil.rmtree(tmp_path / "g.grf")
        for hidden in tmp_path.glob(".g.grf.graphrefine-*"):  # of a run that was killed while the graph got its name
            shutil.rmtree(hidden)
        alone_in(tmp_path, "g.txt", "whole.grf")
    assert killed


def test_state_is_removed_before_the_files_that_it_describes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is killed while it tidies up must not leave state that says there is work to go on with."""
    removed: list[str] = []
    with WorkFolder(tmp_path / "g.work") as work:
        (work.path / "arcs").mkdir()
        (work.path / "names.npy").write_bytes(b"1")
        for second, name in enumerate(("run", "arcs")):
            work.save(name, {})
            os.utime(work.path / f"{name}.json", (second, second))
        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", lambda path: removed.append(path.name))
            patched.setattr(shutil, "rmtree", lambda path: removed.append(path.name))
            work.clear()
    assert removed[:2] == ["run.json", "arcs.json"] and set(removed[2:]) == {"arcs", "names.npy"}


def test_work_that_was_begun_differently_is_refused(tmp_path: Path) -> None:
    text, other, output = tmp_path / "g.txt", tmp_path / "h.txt", tmp_path / "g.grf"
    text.write_text("1 2\n2 3\n3 4\n" * 50)
    other.write_text("1 2\n")
    with pytest.raises(Killed), tiny(), patch("graphrefine.ingestion.ingest.merge", side_effect=Killed):
        ingest(text, output, memory="512MB")
    changes: list[tuple[list[Path], dict[str, Any], str]] = [
        ([text], {"directed": True}, "directed"),
        ([text], {"weights": False}, "weights"),
        ([text], {"nodes": 10}, "nodes"),
        ([text], {"memory": "300MB"}, "memory"),
        ([text, other], {}, "inputs"),
    ]
    for paths, options, name in changes:
        with pytest.raises(OutputError, match=rf"g\.grf\.work: .* other {name};"):
            ingest(paths, output, **options)
    text.write_text("1 2\n2 3\n")
    with pytest.raises(OutputError, match="other inputs"):
        ingest(text, output)
    shutil.rmtree(tmp_path / "g.grf.work")
    same(ingest(text, output), read(text))
    with WorkFolder(tmp_path / "g.grf.work"), pytest.raises(OutputError, match="another run works in"):
        ingest(text, output)


# ---- the command -------------------------------------------------------------------------------------------------


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("ann bob\nbob cleo\n")
    (tmp_path / "2.txt").write_text("cleo ann\ncleo cleo\n")
    done = run("ingest", tmp_path / "1.txt", tmp_path / "2.txt", "-o", tmp_path / "g.grf", "--memory", "1GB", "--json")
    assert done.code == 0 and done.err.startswith("read: ") and "self-loops left out: 1\n" in done.err
    figures = done.figures
    assert (figures["nodes"], figures["edges"], figures["graph"]["files"]) == (3, 3, 2)
    assert list(figures["seconds"]) == ["read", "number", "deal", "merge", "finish", "total"]
    assert figures["bytes"] == sum(path.stat().st_size for path in (tmp_path / "g.grf").iterdir())
    assert figures["budget_mb"] == 1000 and not figures["resumed"]
    done = run("ingest", tmp_path / "*.txt", "-o", tmp_path / "g.grf", "--directed")
    assert done.code == 0 and "Graph(3 nodes, 3 edges, directed, unweighted)" in done.out
    assert run("embed", tmp_path / "g.grf", "-o", tmp_path / "out", "--dim", "2").code == 0
    for arguments, fact in (
        (["1.txt", "-o", "x.grf", "--memory", "much"], "--memory 'much'"),
        (["1.txt", "-o", "x.grf", "--memory", "1MB"], "--memory 1MB"),
        (["1.txt", "-o", "x.grf", "--bipartite", "--directed"], "directed and bipartite"),
        (["g.grf", "-o", "g.grf"], "is an input, and would be replaced"),
    ):
        files = [tmp_path / each if "." in each else each for each in arguments]
        done = run("ingest", *files)
        assert (done.code, done.out) == (2, "") and fact in done.err, done.err


@pytest.mark.parametrize(
    ("kind", "mark"),
    [("Delta Lake", "_delta_log/0.json"), ("Iceberg", "metadata/v1.metadata.json"), ("Hudi", ".hoodie/properties")],
)
def test_tables_whose_log_says_which_files_count_are_refused(kind: str, mark: str, tmp_path: Path) -> None:
    """They hold deleted files too, whose edges would count."""
    edges = pa.table({"source": [1, 2], "target": [2, 3]})
    for path in ("table/data/a=1/kept.parquet", "table/data/a=1/deleted.parquet", "plain/kept.parquet"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(edges, tmp_path / path)
    (tmp_path / "table" / mark).parent.mkdir()
    (tmp_path / "table" / mark).write_text("{}")
    for paths in ("table", ".", "table/data/*/*.parquet", "table/data/a=1", "table/data/a=1/kept.parquet"):
        with pytest.raises(InputError, match=f"table: is a table of {kind}") as caught:
            ingest(tmp_path / paths, tmp_path / "x.grf")
        assert caught.value.argument == "paths"
    assert ingest(tmp_path / "plain", tmp_path / "x.grf").edges == 2
    assert not (tmp_path / "x.grf.work").exists()


@pytest.mark.parametrize("package", ["pyarrow", "duckdb"])
def test_names_need_packages_that_are_named(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "edges.txt").write_text("ann bob\nbob cleo\n")
    monkeypatch.setitem(sys.modules, package, None)
    done = run("ingest", tmp_path / "edges.txt", "-o", tmp_path / "x.grf")
    assert done.code == 2 and f"needs the package {package!r}" in done.err and "Traceback" not in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["edges.txt"]


def broken(*_: Any, **__: Any) -> None:
    raise OSError(5, "Input/output error")


@pytest.mark.parametrize("is_made", [False, True])
def test_a_disk_that_fails(is_made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the graph is made, the work to go on from is named; afterwards, it is no failure."""
    output = tmp_path / "x.grf"
    (tmp_path / "edges.txt").write_text("1 2\n2 3\n")
    if is_made:
        monkeypatch.setattr(WorkFolder, "clear", lambda work, keep=(): broken() if output.exists() else None)
    else:
        monkeypatch.setattr("graphrefine.ingestion.ingest.merge", broken)
    done = run("ingest", tmp_path / "edges.txt", "-o", output)
    assert done.code == (0 if is_made else 2) and output.exists() == is_made
    assert is_made or ("x.grf: cannot be made: " in done.err and "x.grf.work" in done.err)
    monkeypatch.undo()
    assert run("ingest", tmp_path / "edges.txt", "-o", output).code == 0
    assert read(output).edges == 2
    alone_in(tmp_path, "edges.txt", "x.grf")
