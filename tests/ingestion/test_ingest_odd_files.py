"""Odd and damaged files: `ingest` understands them as `read` does, or refuses them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from graphrefine import ingest, read
from graphrefine.errors import InputError


def check_alike(path: Path, **options: Any) -> Any:
    """Hold the graph that is ingested to the one that is read; return that."""
    whole, stored = read(path, **options), ingest(path, path.with_suffix(".grf"), **options)
    assert whole.names.tolist() == stored.names.tolist()
    assert whole.indptr.tolist() == stored.indptr.tolist() and whole.indices.tolist() == stored.indices.tolist()
    return whole


def check_refused(path: Path, fact: str, argument: str | None, **options: Any) -> None:
    """Both refuse a file for one reason, and nothing is left."""
    for refuse in (read, lambda path, **options: ingest(path, path.with_suffix(".grf"), **options)):
        with pytest.raises(InputError, match=fact) as caught:
            refuse(path, **options)
        assert caught.value.argument == argument
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("last", ["1,2", "ann,2"])
def test_records_without_any_end_are_no_node(last: str, tmp_path: Path) -> None:
    """An export of nodes, then of edges: a piece of it may have no end at all."""
    path = tmp_path / "apoc.csv"
    path.write_text(f"_id,_labels,_start,_end,_type\n1,:P,,,\n2,:P,,,\n,,{last},KNOWS")  # no line end: two pieces
    graph = check_alike(path)
    assert sorted(map(str, graph.names.tolist())) == sorted(last.split(","))


@pytest.mark.parametrize(
    ("text", "options", "fact", "argument"),
    [
        *(("source,target\n,\n,\n,\n", options, r"g\.csv: there is no edge in the graph$", None)
          for options in ({}, {"bipartite": True}, {"nodes": 7}, {"directed": True})),
        *((":START_ID(User),:END_ID(Movie),:TYPE\n1,2,RATED\n2,3,RATED\n", options, "two sets", "bipartite")
          for options in ({}, {"directed": True}, {"directed": False})),
        *(("\u00e9 \u00fc\n\u00fc \u00df!\n", {"encoding": encoding}, encoding, "encoding")
          for encoding in ("utf-16", "utf-16-le", "idna", "undefined")),
    ],
)  # fmt: skip
def test_texts_that_are_refused(
    text: str, options: dict[str, Any], fact: str, argument: str | None, tmp_path: Path
) -> None:
    """No end at all, ids of two sets that are not to be taken for one, and another encoding."""
    (tmp_path / "g.csv").write_text(text, encoding="utf-8")
    check_refused(tmp_path / "g.csv", fact, argument, **options)
    if argument == "bipartite":
        assert check_alike(tmp_path / "g.csv", bipartite=True).nodes == 4


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
        check_refused(path, "this is not a readable", None)
    else:
        assert check_alike(path).names.tolist() == ["ann", "bob", "cy"]


@pytest.mark.parametrize("options", [{}, {"bipartite": True}])
def test_notes_on_names(options: dict[str, Any], tmp_path: Path) -> None:
    """Those of `read`, and they stay with the graph."""
    path = tmp_path / "odd.csv"
    path.write_text("source,target\n7,8\n8,total\nNULL,9\n", encoding="utf-8")
    whole = check_alike(path, **options)
    stored = read(path.with_suffix(".grf"))
    assert stored.reading == whole.reading
    assert "as 1 are no integers: 'total'" in stored.reading
    assert "read as a name: 'NULL'" in stored.reading


def test_notes_on_more_names_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("source,target\n" + "".join(f"{n},{n + 1}\n" for n in range(70_000)) + "70001,1e5\n69999.0,z\n")
    check_alike(path)
    assert "as 3 are no integers: '1e5', '69999.0', 'z'" in read(path.with_suffix(".grf")).reading
    path.write_text("source,target\nann,bob\nbob,z\u00fcrich\n", encoding="utf-8")
    check_alike(path)
    assert "notes" not in read(path.with_suffix(".grf")).report


@pytest.mark.parametrize(("mark", "last"), [(",", "5"), (",", ""), (" ", "5")])
def test_ids_in_both_sets_are_found_across_pieces(mark: str, last: str, tmp_path: Path) -> None:
    path = tmp_path / ("ratings.csv" if mark == "," else "ratings.txt")
    edges = "".join(f"{user}{mark}{900_001 + user % 7}\n" for user in range(10, 80_010))  # more than a piece
    path.write_text(("userId,movieId\n" if mark == "," else "% bip unweighted\n") + edges)
    assert ingest(path, tmp_path / "g.grf", memory="256MB").names.tolist() == read(path).names.tolist()
    path.write_text(path.read_text() + f"900001{mark}{last}\n")
    for refuse in (read, lambda path: ingest(path, tmp_path / "h.grf", memory="256MB")):
        with pytest.raises(InputError, match="name different things, and 900001 is in both") as caught:
            refuse(path)
        assert caught.value.argument == "bipartite"
