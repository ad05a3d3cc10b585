"""Ingesting gives the graph that reading gives, in pieces, within its budget, and taken up where it was cut short."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import PropertyMock, patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrefine import read
from graphrefine.errors import InputError
from graphrefine.graph import Graph, check
from graphrefine.ingesting.budget import Budget
from graphrefine.ingesting.run import ingest
from graphrefine.kernels import ingest as kernels
from graphrefine.kernels import twin_arcs
from strategies import INTEGERS, PATIENT, WEIGHTS, WORDS, Edge, edge_lists

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("duckdb")


def same(found: Graph, expected: Graph, *, report: bool = True) -> None:
    """Equal to the bit."""
    for name in ("indptr", "indices", "weights", "names"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert (ours is None) == (theirs is None), name
        if ours is not None:
            assert ours.dtype == theirs.dtype, name
            np.testing.assert_array_equal(ours, theirs, err_msg=name)
    assert found.directed == expected.directed
    assert found.degrees().tobytes() == expected.degrees().tobytes()
    assert found.context().tobytes() == expected.context().tobytes()
    if report:
        assert dict(found.report) == dict(expected.report)
        assert found.source == expected.source


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


IDS = st.one_of(INTEGERS.map(str), st.integers(0, 5000).map(str), WORDS.filter(lambda w: not set(w) & set('#%,;"')))


@settings(PATIENT, max_examples=40)
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
    options: dict[str, Any] = {"directed": data.draw(st.booleans()), "header": False}
    options |= {"weights": 2 if weighted else False, "delimiter": "\t"}
    expected = read(tmp_path / "g.tsv", **options)
    bits = data.draw(st.sampled_from([None, 0]))
    with tiny(text=data.draw(st.sampled_from([1, 30, 200])), bits=bits):
        found = ingest(tmp_path / "g.tsv", tmp_path / "g.grf", **options)
    same(found, expected)
    check(found)
    alone_in(tmp_path, "g.tsv", "g.grf")


@settings(PATIENT, max_examples=25)
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
        text = "".join(written[start:stop]).encode()
        if number % 2:
            (tmp_path / "parts" / f"{number}.tsv").write_bytes(text)
        else:
            (tmp_path / "parts" / f"{number}.tsv.gz").write_bytes(gzip.compress(text))
    with tiny(text=50):
        found = ingest(tmp_path / "parts", tmp_path / "g.grf", delimiter="\t", **options)
    same(found, expected, report=False)
    for name in ("records", "self_loops", "duplicates", "reciprocal", "missing", "zero_weights", "encoding"):
        assert found.report[name] == expected.report[name], name
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


@settings(PATIENT, max_examples=40)
@given(tables(), st.booleans(), st.sampled_from([None, 0]))
def test_tables_are_the_graph_that_read_gives(tmp_path: Path, table: Any, directed: bool, bits: int | None) -> None:
    pq.write_table(table, tmp_path / "g.parquet", row_group_size=11)
    try:
        expected = read(tmp_path / "g.parquet", directed=directed)
    except InputError as error:
        with tiny(bits=bits), pytest.raises(InputError) as caught:
            ingest(tmp_path / "g.parquet", tmp_path / "g.grf", directed=directed)
        assert str(caught.value).split(": ", 1)[1] == str(error).split(": ", 1)[1]
        alone_in(tmp_path, *({"g.parquet", "g.arrow"} & {path.name for path in tmp_path.iterdir()}), *_grf(tmp_path))
        return
    with tiny(bits=bits):
        found = ingest(tmp_path / "g.parquet", tmp_path / "g.grf", directed=directed)
    same(found, expected)
    with pa.OSFile(str(tmp_path / "g.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=9)
    with tiny(bits=bits):
        found = ingest(tmp_path / "g.arrow", tmp_path / "g.grf", directed=directed)
    same(found, read(tmp_path / "g.arrow", directed=directed))
    alone_in(tmp_path, "g.parquet", "g.arrow", "g.grf")


def _grf(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.grf")}


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


@pytest.mark.parametrize("seed", range(3))
def test_kernels_and_twins_agree(seed: int) -> None:
    native = pytest.importorskip("graphrefine.kernels._native", reason="the compiled kernels are not built")
    random = np.random.default_rng(seed)
    lowest = -(2**40) if seed else 5
    ids = (lowest + random.integers(0, 9000, 500)).astype(np.int64)
    for kind in (np.int64, np.int32) if lowest >= 0 else (np.int64,):
        sets = [kernels.IdSet(lowest, lowest + 9000) for _ in range(2)]
        native.mark_ids(sets[0].bits, sets[0].pages, lowest, ids.astype(kind))
        twin_arcs.mark_ids(sets[1].bits, sets[1].pages, lowest, ids.astype(kind))
        np.testing.assert_array_equal(sets[0].bits, sets[1].bits)
        np.testing.assert_array_equal(sets[0].pages, sets[1].pages)
        sets[0].close()
        ranks = [
            module.rank_ids(sets[0].bits, sets[0].before, lowest, ids.astype(kind), threads=threads)
            for module, threads in ((native, 1), (native, 3), (twin_arcs, 1))
        ]
        for each in ranks:
            np.testing.assert_array_equal(each, np.searchsorted(np.unique(ids), ids))
    nodes, bounds = 300, np.array([0, 10, 11, 150, 300], np.int32)
    u, v = random.integers(0, nodes, (2, 2000)).astype(np.int32)
    weights = random.choice([0.1, 0.25, 3, 1e6], 2000).astype(np.float32) if seed else None
    for both in (False, True):
        settings_: dict[str, Any] = {"weights": weights, "bounds": bounds, "both": both}
        dealt = [native.deal_arcs(u, v, threads=threads, **settings_) for threads in (1, 2, 5)]
        dealt.append(twin_arcs.deal_arcs(u, v, threads=1, **settings_))
        for records, offsets in dealt:
            np.testing.assert_array_equal(records, dealt[0][0])
            np.testing.assert_array_equal(offsets, dealt[0][1])
        width = 2 if weights is None else 3
        part = dealt[0][0][dealt[0][1][2] * width : dealt[0][1][3] * width]
        merged = [native.merge_arcs(139, 11, part, weighted=width == 3, threads=threads) for threads in (1, 4)]
        merged.append(twin_arcs.merge_arcs(139, 11, part, weighted=width == 3, threads=1))
        for rows in merged:
            for one, other in zip(rows, merged[0], strict=True):
                np.testing.assert_array_equal(one, other)
