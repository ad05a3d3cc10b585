"""Every format: round trips bit for bit, agreement with other programs, damaged and foreign files."""

from __future__ import annotations

import copy
import gzip
import json
import re
import struct
import tempfile
import tracemalloc
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from round_trips import AWKWARD, any_text, assert_same, embeddings, numbers

import graphrefine
from arrow_tables import write_table
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.formats import csv_file, decimals
from graphrefine.errors import ArgumentWarning, FormatError, InputError
from graphrefine.tables import source as limits
from graphrefine.tables.source import UnpackedError, reading_within

ALL = ["folder", "x.npz", "x.parquet", "x.arrow", "x.safetensors", "x.vec", "x.bin", "x.csv", "x.csv.gz"]
WORD2VEC = ["x.vec", "x.bin"]
WITH_RECIPE = ["folder", "x.npz", "x.parquet", "x.arrow", "x.safetensors"]
quick = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])

SMALL = np.array([[1.25, 2], [3, 4], [5, 6.5]])

solid_text = st.text(st.characters(codec="utf-8", exclude_characters=" \t\n\r\f\v"), min_size=1, max_size=12)
NAMES = dict.fromkeys(ALL, (numbers, any_text))
NAMES |= dict.fromkeys(WORD2VEC, (numbers, solid_text.filter(lambda text: not text.lstrip("-").isdecimal())))


def through(embedding: Embedding, name: str) -> Embedding:
    with tempfile.TemporaryDirectory() as folder:
        embedding.save(Path(folder) / name)
        assert [each.name for each in Path(folder).iterdir()] == [name]
        return copy.deepcopy(load(Path(folder) / name))


def check_through(embedding: Embedding, name: str) -> Embedding:
    """Return the embedding that comes back from a file, held to what its format keeps."""
    back = through(embedding, name)
    assert_same(back, embedding, with_state=name in WITH_RECIPE)
    assert name not in WITH_RECIPE or back.fingerprint == embedding.fingerprint
    return back


@pytest.mark.parametrize("name", ALL)
@quick
@given(data=st.data())
def test_everything_comes_back_that_a_format_keeps(name: str, data: st.DataObject) -> None:
    check_through(data.draw(st.one_of([embeddings(names) for names in NAMES[name]])), name)


@pytest.mark.parametrize("name", ["x.vec", "x.csv"])
@pytest.mark.parametrize("with_arrow", [True, False])
def test_every_float32_survives_text(name: str, with_arrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not with_arrow:
        monkeypatch.setattr(decimals, "_arrow", lambda: None)
    bits = np.random.default_rng(0).integers(0, 2**32, 20_000, dtype=np.uint32).view(np.float32)
    vectors = np.concatenate([AWKWARD, bits[np.isfinite(bits)]])[:16_000].reshape(-1, 10)
    check_through(Embedding(None, vectors), name)
    # Some readers go by way of float64.
    assert np.float32(np.float64("7.038531e-26")) != AWKWARD[-2], "the case that this guards against"
    texts = decimals.format_rows(AWKWARD.reshape(1, -1), b" ")[0].split(b" ")
    assert np.array([float(text) for text in texts]).astype(np.float32).tobytes() == AWKWARD.tobytes()


def test_blocks_are_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decimals, "_VALUES_AT_ONCE", 4)
    for blocks in ("_ARROW_VALUES", "_PARQUET_VALUES"):
        monkeypatch.setattr(f"graphrefine.embedding.formats.arrow_files.{blocks}", 4)
    vectors = np.random.default_rng(1).standard_normal((9, 3))
    names = ['a"b', "a\nb", "\n", "a,b", '""', "a\r\nb", "", "ä", "x"]
    for name in ALL:
        solid = [f"node{row}" for row in range(9)]
        check_through(Embedding(solid if name in WORD2VEC else names, vectors, degrees=range(9)), name)


@pytest.mark.parametrize("suffix", [".vec", ".txt", ".w2v", ".bin"])
def test_blanks_of_names_are_refused_or_become_underscores(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    refused: list[tuple[list[str], Any, str]] = [
        *((["good", bad], "refuse", re.escape(repr(bad))) for bad in ("two words", "tab\there", "line\nend", "")),
        (["a b", "a_b"], "replace", "both be 'a_b'"),
        (["a b", "a\tb"], "replace", "both be 'a_b'"),
        (["", "c"], "replace", "'' is empty"),
        (["b", "c"], "drop", "blank_names='drop'"),
    ]
    for names, choice, fact in refused:
        with pytest.raises(InputError, match=fact):
            Embedding(names, [[1], [2]]).save(path, blank_names=choice)
    assert not list(tmp_path.iterdir())
    embedding = Embedding(["good", "two words", "a\tb\nc", "x_y"], [[1], [2], [3], [4]])
    with pytest.warns(UserWarning, match=f"x{suffix}: .* in 2 names") as caught:
        embedding.save(path, blank_names="replace")
    assert caught[0].filename == __file__
    assert load(path).names.tolist() == ["good", "two_words", "a_b_c", "x_y"]
    assert embedding.names.tolist()[1] == "two words", "the embedding is as it was"
    Embedding([7, 8], [[1], [2]]).save(path, blank_names="replace")  # integers have none
    assert load(path).names.tolist() == [7, 8]
    with pytest.raises(InputError, match="blank_names"):
        embedding.save(tmp_path / "x.npz", blank_names="replace")


def test_names_that_were_not_utf8_come_back_as_the_bytes_they_were(tmp_path: Path) -> None:
    embedding = Embedding([b"caf\xe9".decode("utf-8", "surrogateescape"), "café"], [[1], [2]])
    for name in ("folder", "x.npz", "x.safetensors", "x.vec", "x.bin", "x.csv"):
        embedding.save(tmp_path / name)
        assert load(tmp_path / name).names.tolist() == embedding.names.tolist()
    assert (tmp_path / "x.csv").read_bytes() == b'node,v0\n"caf\xe9",1\n"caf\xc3\xa9",2\n'
    for name in ("x.parquet", "x.arrow"):
        with pytest.raises(InputError, match=r"caf.*not valid UTF-8.*\.npz"):
            embedding.save(tmp_path / name)
    for name in ("folder", "x.safetensors", "x.csv", "x.vec"):
        for bad in ("\ud800", "\udcc3\udca9"):  # the second would come back as "é"
            with pytest.raises(InputError, match="not valid Unicode"):
                Embedding([bad], [[1]]).save(tmp_path / name)


@pytest.mark.parametrize("name", ALL)
def test_numbers_as_strings_stay_strings_where_the_format_can_tell(name: str) -> None:
    one, two = (through(Embedding(names, [[1], [2]]), name) for names in (["1", "2"], ["007", "7"]))
    assert one.names.tolist() == ([1, 2] if name in WORD2VEC else ["1", "2"])
    assert two.names.tolist() == ["007", "7"]


def test_npz_keeps_awkward_names_and_npy_warns_that_they_are_lost(tmp_path: Path) -> None:
    for names in (["a\0", "b"], ["x" * 10_000, *"abcdefghijklmnop"]):
        embedding = Embedding(names, np.ones((len(names), 1)))
        embedding.save(tmp_path / "x.npz")
        assert load(tmp_path / "x.npz").names.tolist() == names
        assert (tmp_path / "x.npz").stat().st_size < 20_000
    with pytest.warns(UserWarning, match=r"names are not saved.*\.npz"):
        Embedding(["a", "b"], [[1], [2]]).save(tmp_path / "x.npy")
    assert load(tmp_path / "x.npy").names.tolist() == [0, 1]
    Embedding(None, AWKWARD.reshape(2, 5)).save(tmp_path / "x.npy")  # nothing lost, no warning
    assert np.load(tmp_path / "x.npy").tobytes() == AWKWARD.tobytes()
    assert load(tmp_path / "x.npy").vectors.tobytes() == AWKWARD.tobytes()


@pytest.mark.parametrize("name", ["folder", "x.npy", "x.arrow", "x.safetensors"])
def test_mapped_formats_share_the_file(name: str, tmp_path: Path) -> None:
    Embedding(None, np.ones((1000, 64))).save(tmp_path / name)
    tracemalloc.start()
    vectors = load(tmp_path / name).vectors
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < vectors.nbytes / 2
    assert not vectors.flags.writeable
    assert type(vectors) is np.ndarray


@pytest.mark.parametrize("name", ALL)
def test_saving_makes_no_copy_of_the_vectors(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decimals, "_VALUES_AT_ONCE", 1 << 14)
    monkeypatch.setattr("graphrefine.embedding.formats.arrow_files._PARQUET_VALUES", 1 << 14)
    rows = 200_000 if name == "x.npz" else 20_000  # NumPy writes an npz by blocks of 16 MB
    embedding = Embedding(None, np.ones((rows, 64)))
    Embedding(None, np.ones((1, 1))).save(tmp_path / name)  # imports count for nothing
    tracemalloc.start()
    embedding.save(tmp_path / name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < embedding.vectors.nbytes / 2


@pytest.fixture
def sample() -> Embedding:
    vectors = np.random.default_rng(2).standard_normal((50, 10)).astype(np.float32)
    vectors[0] = AWKWARD
    return Embedding([f"nöde_{row}" for row in range(50)], vectors, {"seed": 1})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WORD2VEC)
def test_gensim_reads_and_writes_the_same(name: str, sample: Embedding, tmp_path: Path) -> None:
    keyed_vectors = pytest.importorskip("gensim.models").KeyedVectors
    sample.save(tmp_path / name)
    theirs = keyed_vectors.load_word2vec_format(str(tmp_path / name), binary=name.endswith(".bin"))
    assert theirs.index_to_key == sample.names.tolist()
    assert theirs.vectors.tobytes() == sample.vectors.tobytes()
    theirs.save_word2vec_format(str(tmp_path / f"their-{name}"), binary=name.endswith(".bin"))
    back = load(tmp_path / f"their-{name}")
    assert back.names.tolist() == sample.names.tolist()
    assert back.vectors.astype(np.float64) == pytest.approx(sample.vectors.astype(np.float64), rel=1e-6)


def test_the_original_programs_line_ends_are_read(tmp_path: Path) -> None:
    vector = np.array([1.5, -2], dtype="<f4").tobytes()
    (tmp_path / "c.bin").write_bytes(b"2 2\na " + vector + b"\nb " + vector + b"\n")
    (tmp_path / "c.txt").write_bytes(b"2 2\r\na 1.5 -2 \r\nb +1.5 -2.0e0 \r\n")
    for name in ("c.bin", "c.txt"):
        embedding = load(tmp_path / name)
        assert embedding.names.tolist() == ["a", "b"]
        assert embedding.vectors.tolist() == [[1.5, -2], [1.5, -2]]


def test_safetensors_reads_and_writes_the_same(sample: Embedding, tmp_path: Path) -> None:
    from safetensors.numpy import load_file, save_file

    sample.save(tmp_path / "x.safetensors")
    theirs = load_file(tmp_path / "x.safetensors")
    assert theirs["vectors"].tobytes() == sample.vectors.tobytes()
    assert theirs["names_text"].tobytes().decode() == "".join(sample.names)
    (tmp_path / "plain").touch()
    assert (tmp_path / "x.safetensors").stat().st_mode == (tmp_path / "plain").stat().st_mode
    other = {"names": np.arange(50, 100), "vectors": sample.vectors, "bias": np.zeros(3, dtype=np.float16)}
    save_file(other, tmp_path / "y.safetensors")
    back = load(tmp_path / "y.safetensors")
    assert back.names.tolist() == list(range(50, 100)) and back.vectors.tobytes() == sample.vectors.tobytes()


def test_pandas_and_numpy_read_and_write_the_same(sample: Embedding, tmp_path: Path) -> None:
    for name, reader in (("x.parquet", pd.read_parquet), ("x.feather", pd.read_feather)):
        sample.save(tmp_path / name)
        frame = reader(tmp_path / name)
        assert frame["node"].tolist() == sample.names.tolist()
        assert np.stack(frame["vector"].tolist()).tobytes() == sample.vectors.tobytes()
    for name in ("x.csv", "x.csv.gz"):
        sample.save(tmp_path / name)
        frame = pd.read_csv(tmp_path / name, index_col="node", engine="python")
        assert frame.index.tolist() == sample.names.tolist()
        assert frame.columns.tolist() == [f"v{column}" for column in range(10)]
        assert frame.to_numpy(dtype=np.float32).tobytes() == sample.vectors.tobytes()
    sample.save(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz", allow_pickle=False) as archive:
        assert archive["names"].tolist() == sample.names.tolist()
        assert archive["vectors"].tobytes() == sample.vectors.tobytes()
    sample.save(tmp_path / "folder")
    assert np.load(tmp_path / "folder" / "vectors.npy").tobytes() == sample.vectors.tobytes()
    wide = pd.DataFrame(sample.vectors, index=sample.names)
    wide.to_csv(tmp_path / "wide.csv")
    assert load(tmp_path / "wide.csv").vectors.tobytes() == sample.vectors.tobytes()
    lists = pd.DataFrame({"user": range(50, 100), "embedding": [row.astype(float) for row in sample.vectors]})
    lists.to_parquet(tmp_path / "lists.parquet")
    lists.to_feather(tmp_path / "lists.feather")
    lists.astype({"user": "str"}).astype({"user": "category"}).to_parquet(tmp_path / "strings.parquet")
    for name in ("lists.parquet", "lists.feather"):
        assert load(tmp_path / name).names.tolist() == list(range(50, 100))
        assert load(tmp_path / name).vectors.tobytes() == sample.vectors.tobytes()
    assert load(tmp_path / "strings.parquet").names[0] == "50"


@pytest.mark.parametrize("index", [range(500, 504), range(7, -1, -2), range(4)])
def test_the_counting_index_of_a_frame_names_its_rows(index: range, tmp_path: Path) -> None:
    frame = pd.DataFrame({"vector": [[1.0, 2.0]] * 4}, index=pd.RangeIndex(index.start, index.stop, index.step))
    frame.to_parquet(tmp_path / "x.parquet")
    assert pd.read_parquet(tmp_path / "x.parquet").index.tolist() == list(index)
    table = pa.Table.from_pandas(frame)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=3)
    for name, rows in (("x.arrow", 4), ("xx.arrow", 3)):
        with pa.ipc.new_file(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
    for name in ("x.parquet", "rows.parquet", "x.arrow", "xx.arrow"):
        assert load(tmp_path / name).names.tolist() == list(index)
    pq.write_table(table.slice(1), tmp_path / "cut.parquet")
    with pytest.warns(ArgumentWarning, match=r"cut\.parquet: names of its rows are 0, 1, .*not that of 3 rows"):
        assert load(tmp_path / "cut.parquet").names.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "note", [b"", b"\xff", b"[]", b'{"index_columns": [{"start": "a"}]}', b'{"index_columns": [["x"]]}', b"[" * 100_000]
)
def test_a_note_of_pandas_that_says_nothing_is_left_out(note: bytes, tmp_path: Path) -> None:
    write_table(pa.table({"vector": [[1.0], [2.0]]}).replace_schema_metadata({b"pandas": note}), tmp_path / "x.parquet")
    assert load(tmp_path / "x.parquet").names.tolist() == [0, 1]


def test_parquet_is_laid_out_as_promised(sample: Embedding, tmp_path: Path) -> None:
    sample.save(tmp_path / "x.parquet")
    file = pq.ParquetFile(tmp_path / "x.parquet")
    column = file.metadata.row_group(0).column(1)
    assert "BYTE_STREAM_SPLIT" in column.encodings
    assert column.compression == "ZSTD"
    assert not column.has_dictionary_page
    assert file.schema_arrow.field("vector").type.list_size == 10
    assert pa.types.is_float32(file.schema_arrow.field("vector").type.value_type)


@pytest.mark.parametrize("name", ["x.npy", *ALL[1:]])
def test_a_file_cut_anywhere_is_refused_by_name(name: str, tmp_path: Path) -> None:
    source, names = tmp_path / name, None if name == "x.npy" else ["é", "bob", "eve"]
    Embedding(names, SMALL, {"seed": 1}).save(source)
    whole = source.read_bytes()
    cuts = range(len(whole)) if len(whole) < 600 else range(0, len(whole), len(whole) // 199)
    for cut in [*cuts, len(whole) - 1]:
        if name == "x.csv" and cut and whole[cut - 1 : cut] == b"\n":
            continue  # whole lines are lost: nothing in a csv file could tell
        source.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match=str(source)):
            load(source)


def test_a_folder_with_a_part_cut_or_missing_is_refused(tmp_path: Path) -> None:
    Embedding(["a", "b"], [[1], [2]]).save(tmp_path / "emb")
    for part in sorted((tmp_path / "emb").iterdir()):
        whole = part.read_bytes()
        for cut in (0, len(whole) // 2, len(whole) - 1 if part.suffix == ".npy" else len(whole) - 3):
            part.write_bytes(whole[:cut])
            with pytest.raises(FormatError, match=part.name):
                load(tmp_path / "emb")
        part.unlink()
        with pytest.raises(FormatError, match=f"{part.name} is missing"):
            load(tmp_path / "emb")
        part.write_bytes(whole)
    assert load(tmp_path / "emb").names.tolist() == ["a", "b"]


@pytest.mark.filterwarnings("ignore::graphrefine.errors.ArgumentWarning")  # written anew, or a header that is not plain
@pytest.mark.parametrize("name", ["x.npy", *ALL[1:]])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_changed_byte_never_gives_anything_but_our_errors(name: str, data: st.DataObject) -> None:
    names = None if name == "x.npy" else ["a", "bob", "eve"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        Embedding(names, SMALL, {"seed": 1}).save(path)
        content = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 3))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(content)
        try:
            embedding = load(path)
            assert len(embedding.names) == len(embedding.vectors)
        except InputError as error:
            assert str(path) in str(error)


def save_safetensors(path: Path, header: object) -> None:
    text = json.dumps(header).encode() if not isinstance(header, bytes) else header
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * 8)


READ = "cannot be read as safetensors"  # by its package


def tensor(shape: list[int], *offsets: int, dtype: str = "F32") -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("x.vec", b"", "line 1: must begin with two counts"),
        ("x.vec", b"a 0.5 0.25\n", "line 1: must begin with two counts"),
        ("x.vec", b"2 2\na 1 2\nb 1\n", "line 3: 1 numbers where 2"),
        ("x.vec", b"2 2\na 1 2\nb 1 x\n", "line 3: 'x' is not a number"),
        ("x.vec", b"2 2\na 1 2\nb  1\n", "line 3: '' is not a number"),
        ("x.vec", b"2 1\na 1\nb 1\nc 1\n", "line 4: has more than the 2 nodes"),
        ("x.vec", b"3 1\na 1\nb 1\n", "ends after 2 of 3 nodes"),
        ("x.vec", b"9 9\na 1\n", "too small"),
        ("x.vec", b"2 1\na 1\nb nan\n", "node 'b'.*nan"),
        ("x.csv", b"", "line 1: .*empty"),
        ("x.csv", b"a,0.5,-0.25\nb,1,2\n", "line 1: .*header"),
        ("x.csv", b'node,v0\n"a\nb",1\nc,x\n', "line 4: 'x' is not a number, in its column 'v0'"),
        ("x.csv", b'node,v0\n"a"b,1\n', "line 2: .*damaged"),
        ("x.csv", b'node,v0\na"b,1\n', "line 2: .*quote"),
        ("x.csv", b"node,v0\na,\n", "line 2: 0 numbers where 1"),
        ("x.csv", b"node,v0\na,inf\n", "node 'a'.*inf"),
        ("x.safetensors", {"a": tensor([1, 2], 0, 8)}, "no tensor 'vectors', only a"),
        ("x.safetensors", {"vectors": tensor([2, 2], 0, 8, dtype="BF16")}, "type BF16"),
        ("x.safetensors", {"vectors": tensor([2, 2], 0, 8)}, READ),
        ("x.safetensors", {"vectors": tensor([2], 0, 8)}, "floating-point"),
        ("x.safetensors", {"__metadata__": 3}, READ),
        ("x.safetensors", b'{"a":' * 100_000, READ),
    ],
)
def test_damaged_content_is_refused_with_its_line(name: str, content: object, problem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "x.safetensors":
        save_safetensors(path, content)
    else:
        path.write_bytes(content)  # type: ignore[arg-type]  # bytes
    with pytest.raises(FormatError, match=rf"{name}.*{problem}"):
        load(path)


@pytest.mark.parametrize("first", ["", "source,target\n", "from,to,weight\n"])
@pytest.mark.parametrize("suffix", ["", ",7", ",0.5"])
def test_a_list_of_edges_is_no_embedding(first: str, suffix: str, tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("1 2\n2 3\n3 1\n")
    with pytest.raises(FormatError, match=r"edges\.txt.*graphrefine embed"):
        load(tmp_path / "edges.txt")
    for edges in ([(1, 2), (2, 3), (4, 3)], [(1, 8), (1, 9), (2, 8)]):  # an end is a name; a name stands twice
        (tmp_path / "edges.csv").write_text(first + "".join(f"{u},{v}{suffix}\n" for u, v in edges))
        with pytest.raises(FormatError, match=r"edges\.csv.*list of edges graphrefine embed makes vectors"):
            load(tmp_path / "edges.csv")


@pytest.mark.parametrize("dim", [1, 2])
def test_vectors_that_look_like_edges_come_back_where_we_wrote_them(dim: int) -> None:
    for name in ("x.csv", "x.csv.gz", "x.vec"):
        check_through(Embedding([1, 2, 3], np.array([[2, 1], [3, 1], [1, 1]])[:, :dim]), name)


def test_foreign_numpy_files_are_explained(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", weights=np.ones((2, 2)), bias=np.ones(2))
    np.save(tmp_path / "flat.npy", np.ones(3))
    np.save(tmp_path / "edges.npy", np.ones((3, 2), dtype=int))
    pickles = np.array([["a"], [1]], dtype=object)
    np.savez(tmp_path / "names.npz", vectors=np.ones((2, 1), np.float32), names=pickles[:, 0])
    np.savez(tmp_path / "vectors.npz", vectors=pickles)
    np.save(tmp_path / "vectors.npy", pickles)
    for name, fact in (
        ("other.npz", "only weights, bias"),
        ("flat.npy", "floating"),
        ("edges.npy", "graphrefine embed"),
        *((name, "[Oo]bject") for name in ("names.npz", "vectors.npz", "vectors.npy")),
    ):
        with pytest.raises(FormatError, match=rf"{name}.*{fact}"):
            load(tmp_path / name)
    np.save(tmp_path / "double.npy", np.asfortranarray([[1.5, 2], [3, 4]]))
    assert load(tmp_path / "double.npy").vectors.tolist() == [[1.5, 2], [3, 4]]


def test_foreign_parquet_is_explained(tmp_path: Path) -> None:
    vectors = pa.array([[1.0, 2.0], [3.0, 4.0]])
    ragged, missing = pa.array([[1.0], [3.0, 4.0]]), pa.array([[1.0, None], [3.0, 4.0]])
    ids, words = pa.array([1, 2]), pa.array(["a", "b"])
    for columns, problem in (
        ({"id": ids, "word": words}, r"one column of lists.*id \(int64\), word \(string\)"),
        ({"id": ids, "a": vectors, "b": vectors}, "one column of lists of numbers, or one called 'vector'"),
        ({"id": ids, "a": [["x"], ["y"]]}, r"one column of lists of numbers.*a \(list<"),
        ({"id": ids, "word": words, "a": vectors}, "several columns that could name the nodes"),
        ({"id": ids, "a": ragged}, "vectors of 1 and of 2 numbers"),
        ({"id": ids, "a": missing}, "missing vectors or numbers"),
        ({"id": pa.array([1, None]), "a": vectors}, "missing names in its column 'id'"),
        ({"node": pa.array([1.5, 2.5]), "vector": vectors}, "column 'node' holds double"),
        ({"node": pa.array([b"a", b"b"]), "vector": vectors}, "column 'node' holds binary"),
    ):
        for name in ("x.parquet", "x.arrow"):
            write_table(pa.table(columns), tmp_path / name)
            with pytest.raises(FormatError, match=rf"{name}: .*{problem}"):
                load(tmp_path / name)
    for columns, names in (
        ({"a": vectors, "word": words, "node": ids}, [1, 2]),
        ({"a": vectors}, [0, 1]),
        ({"score": pa.array([1.5, 2.5]), "vector": vectors}, [0, 1]),
        ({"node": words, "vector": vectors, "degree": ["PhD", "none"]}, ["a", "b"]),
        ({"node": words, "counts": [[1, 2], [3, 4]]}, ["a", "b"]),
        ({"node": words, "neighbors": [[1], [0]], "embedding": vectors}, ["a", "b"]),
        ({"node": words, "vector": [[1, 2], [3, 4]], "embedding": ragged}, ["a", "b"]),
    ):
        for name in ("x.parquet", "x.arrow"):
            write_table(pa.table(columns), tmp_path / name)
            back = load(tmp_path / name)
            assert back.names.tolist() == names and back.vectors.tolist() == vectors.to_pylist()
            assert back.degrees is None, "a column of another program is no state"


def test_a_folder_of_a_later_version_or_another_program_is_refused(tmp_path: Path) -> None:
    Embedding(None, [[1]]).save(tmp_path / "emb")
    meta = json.loads((tmp_path / "emb" / "meta.json").read_text())
    for change, problem in (
        ({"version": 2}, "written by a newer graphrefine, format 2; this one reads up to 1"),
        ({"format": "other"}, "of 'other'"),
        ({"dim": "1"}, "no proper 'dim'"),
        ({"dim": 2}, r"float32 \(1, 1\), not float32 \(1, 2\)"),
    ):
        (tmp_path / "emb" / "meta.json").write_text(json.dumps(meta | change))
        with pytest.raises(FormatError, match=problem):
            load(tmp_path / "emb")


ROWS, DIM = 20_000, 16  # of files that ask for more memory than they hold


def zeros() -> Any:
    numbers = pa.array(np.zeros(ROWS * DIM, np.float32))
    return pa.table({"node": range(ROWS), "vector": pa.FixedSizeListArray.from_arrays(numbers, DIM)})


def write_bomb(path: Path) -> None:
    match "".join(path.suffixes):
        case ".npz":
            np.savez_compressed(path, vectors=np.zeros((ROWS, DIM), np.float32))
        case ".parquet":
            pq.write_table(zeros(), path)
        case ".arrow":
            with pa.ipc.new_file(str(path), zeros().schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
                file.write_table(zeros())
        case _:
            header = ",".join(["node", *(f"v{at}" for at in range(DIM))])
            path.write_bytes(gzip.compress("\n".join([header, *(["1" + ",0" * DIM] * ROWS), ""]).encode()))


@pytest.mark.parametrize("suffix", [".npz", ".parquet", ".arrow", ".csv.gz"])
def test_bombs_are_refused(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "UNASKED", 10_000)  # bytes between two looks at the memory
    path = tmp_path / f"a{suffix}"
    write_bomb(path)
    assert path.stat().st_size < 200_000
    with reading_within(1_000_000), pytest.raises(UnpackedError, match=rf"a{suffix}: .*unpacks to more than"):
        graphrefine.load(path)
    if suffix != ".csv.gz":  # where all nodes have one name
        assert len(graphrefine.load(path)) == ROWS


def test_texts_that_are_no_table_are_refused_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b'node,v0\n"' + b"a,1\n" * 200_000)
    start = process_time()
    with pytest.raises(FormatError, match="cut short or damaged"):
        graphrefine.load(path)
    assert process_time() - start < 5.0  # it was minutes
    monkeypatch.setattr(csv_file, "LONGEST", 10_000)
    path = tmp_path / "a.csv"
    path.write_bytes(b"node,v0\n" + b"1" * 20_000)
    with pytest.raises(FormatError, match="a line is longer than 10,000 bytes"):
        graphrefine.load(path)
