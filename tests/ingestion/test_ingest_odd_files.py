"""Odd and damaged files: `ingest` understands them as `read` does, or refuses them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphrefine import ingest, read
from graphrefine.errors import InputError
from graphrefine.ingestion.spool import read_numbers


def check_alike(path: Path, **options: Any) -> Any:
    """Hold the graph that is ingested to the one that is read; return that."""
    whole, stored = read(path, **options), ingest(path, path.with_suffix(".grf"), **options)
    assert whole.names.tolist() == stored.names.tolist()
    assert whole.indptr.tolist() == stored.indptr.tolist() and whole.indices.tolist() == stored.indices.tolist()
    return whole


def check_refused(path: Path, message: str, **options: Any) -> None:
    """Both refuse a file by these words, and nothing is left."""
    with pytest.raises(InputError, match=message):
        read(path, **options)
    with pytest.raises(InputError, match=message):
        ingest(path, path.with_suffix(".grf"), **options)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("last", ["1,2", "ann,2"])
def test_records_without_any_end_are_no_node(last: str, tmp_path: Path) -> None:
    """An export of nodes, then of edges: a piece of it may have no end at all."""
    path = tmp_path / "apoc.csv"
    path.write_text(f"_id,_labels,_start,_end,_type\n1,:P,,,\n2,:P,,,\n,,{last},KNOWS")  # no line end: two pieces
    graph = check_alike(path)
    assert sorted(map(str, graph.names.tolist())) == sorted(last.split(","))


@pytest.mark.parametrize("options", [{}, {"bipartite": True}, {"nodes": 7}, {"directed": True}])
def test_a_file_without_any_end_has_no_edge(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("source,target\n,\n,\n,\n")
    check_refused(path, r"g\.csv: there is no edge in the graph$", **options)


@pytest.mark.parametrize("options", [{"directed": True}, {"directed": False}, {}])
def test_ids_of_two_sets_are_not_taken_for_one(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "rated.csv"
    path.write_text(":START_ID(User),:END_ID(Movie),:TYPE\n1,2,RATED\n2,3,RATED\n")
    check_refused(path, "two sets.* pass bipartite=True", **options)
    assert check_alike(path, bipartite=True).nodes == 4


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("utf-16", "does not begin with the mark of utf-16: pass encoding='utf-16-le'"),
        ("utf-16-le", "the text is not utf-16-le: truncated data"),
        ("idna", "no encoding 'idna'"),
        ("undefined", "no encoding 'undefined'"),
    ],
)
def test_texts_that_are_not_in_their_encoding(encoding: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_bytes("é ü\nü ß!\n".encode())
    check_refused(path, message, encoding=encoding)


@pytest.mark.parametrize("suffix", [".arrow", ".parquet"])
@pytest.mark.parametrize("column", ["target", "note"])
def test_tables_that_are_not_sound(suffix: str, column: str, tmp_path: Path) -> None:
    """Offsets outside of the texts, or texts that are none: of a column that is used, and of one that is not."""
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / f"g{suffix}"
    ends = {"source": ["ann", "bob"], "target": ["bob", "cy"]}
    ends |= {column: ["XYZVW", "S"]} if column == "note" else {"target": ["XYZVW", "S"]}
    if suffix == ".arrow":
        with pa.ipc.new_file(path, pa.table(ends).schema) as writer:
            writer.write_table(pa.table(ends))
        sound, damaged = struct.pack("<3i", 0, 5, 6), struct.pack("<3i", 0, 5, 1 << 30)
    else:
        import pyarrow.parquet as pq

        pq.write_table(pa.table(ends), path, compression="none", use_dictionary=False, write_statistics=False)
        sound, damaged = b"XYZVW", b"\xff\xfeZVW"
    assert path.read_bytes().count(sound) == 1
    path.write_bytes(path.read_bytes().replace(sound, damaged))
    if column == "target":
        check_refused(path, "this is not a readable")
    else:
        assert check_alike(path).names.tolist() == ["ann", "bob", "cy"]


@pytest.mark.parametrize(("damage", "message"), [(12, "ends before 4 numbers were read"), (16, "")])
def test_a_piece_that_cannot_be_read_is_no_shorter_piece(damage: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "000000.bin"
    path.write_bytes(np.arange(4, dtype=np.int32).tobytes()[:damage])
    with path.open("rb") as file:
        if message:
            with pytest.raises(OSError, match=message):
                read_numbers(file, np.int32, 4)
        else:
            assert read_numbers(file, np.int32, 4).tolist() == [0, 1, 2, 3]
            assert read_numbers(file, np.int64, 0).tolist() == []


ODD = {
    "zeros": ("7", "007"),
    "floats": ("7", "7.0"),
    "normal forms": ("\u00e9", "e\u0301"),
    "no-break space": ("ann", "ann\u00a0"),
    "zero width": ("ann", "an\u200bn"),
}


@pytest.mark.parametrize("options", [{}, {"bipartite": True}])
@pytest.mark.parametrize("pair", ODD.values(), ids=ODD)
def test_remarks_on_names(pair: tuple[str, str], options: dict[str, Any], tmp_path: Path) -> None:
    """Those of `read`, and they stay with the graph."""
    path = tmp_path / "odd.csv"
    path.write_text(f"source,target\n{pair[0]},8\n8,{pair[1]}\nNULL,9\n", encoding="utf-8")
    whole = check_alike(path, **options)
    stored = read(path.with_suffix(".grf"))
    assert stored.reading == whole.reading
    assert f"read as two names: {pair[0]!r} and {pair[1]!r}" in stored.reading
    assert "read as a name: 'NULL'" in stored.reading


def test_remarks_on_more_names_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("source,target\n" + "".join(f"{n},n{n}\n" for n in range(70_000)) + "70001,1e5\n69999.0,1\n")
    check_alike(path)
    assert "read as two names: '69999' and '69999.0'" in read(path.with_suffix(".grf")).reading


def test_plain_names_have_no_remarks(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("source,target\nann,bob\nbob,z\u00fcrich\n", encoding="utf-8")
    check_alike(path)
    assert "remarks" not in read(path.with_suffix(".grf")).report
