"""Embedding: what it holds, finds and refuses; conversion; the check before the work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from cli_runs import run
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.formats import FORMATS, check_content, check_output, choose_format
from graphrefine.errors import FormatError, InputError, MissingExtraError, OutputError


@pytest.fixture
def people() -> Embedding:
    return Embedding(["ada", "bob", "eve"], [[1, 2], [3, 4], [5, 6]], {"seed": 7, "dim": 2})


def test_vectors_are_float32_and_recipes_as_they_come_back_from_a_file() -> None:
    vectors = np.ones((3, 2), dtype=np.float32)
    assert Embedding(None, vectors).vectors is vectors
    converted = Embedding(None, np.asfortranarray(np.arange(6.0).reshape(3, 2))).vectors
    assert converted.dtype == np.float32
    assert converted.flags.c_contiguous
    assert converted.tolist() == [[0, 1], [2, 3], [4, 5]]
    largest = np.finfo(np.float32).max  # whose sum is infinite
    assert Embedding(None, [[largest, largest]]).vectors.tolist() == [[largest, largest]]
    assert Embedding(None, [[1]], {"powers": (1, 2)}).recipe == {"powers": [1, 2]}
    recipe = Embedding(None, [[1]], {"seed": np.int64(1), "parts": [np.float32(0.5), np.True_]}).recipe
    assert recipe == {"seed": 1, "parts": [0.5, True]} and type(recipe["seed"]) is int


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (None, [0, 1]),
        ([5, np.int16(6)], [5, 6]),
        (np.array([5, 6], dtype=np.uint8), [5, 6]),
        (np.array(["a", "bc"]), ["a", "bc"]),
        (["007", "7"], ["007", "7"]),
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
    ],
)
def test_names_have_one_of_two_forms(names: Any, expected: list[object]) -> None:
    kept = Embedding(names, [[1], [2]]).names
    assert kept.tolist() == expected
    assert {type(name) for name in kept.tolist()} == {type(expected[0])}
    assert kept.dtype == (np.int64 if isinstance(expected[0], int) else object)


@pytest.mark.parametrize(
    ("names", "vectors", "recipe", "problem"),
    [
        (["a", None], [[1], [2]], {}, "a node's name is missing"),
        (["a", {"b"}], [[1], [2]], {}, "which can change"),
        (np.array([0.5, 1.5]), [[1], [2]], {}, "float64"),
        (["a"], [[1], [2]], {}, r"shape \(1,\).*2 vectors"),
        ([2**63, 1], [[1], [2]], {}, "64 signed bits"),
        (np.array([2**63], dtype=np.uint64), [[1]], {}, "9223372036854775808"),
        (None, [1, 2], {}, r"shape \(2,\)"),
        (None, [[1, 2], [3]], {}, "array of float32"),
        (None, [["x"]], {}, "array of float32"),
        (["a", "b"], [[1], [np.nan]], {}, r"node 'b' \(row 1\) has nan"),
        (None, [[1], [np.inf]], {}, "has inf"),
        (None, [[np.inf], [-np.inf]], {}, "has inf"),
        (None, [[1e39]], {}, "has inf"),
        (None, [[1]], {"seeds": {1, 2}}, "JSON"),
        (None, [[1]], {"loss": float("nan")}, "JSON"),
        (None, [[1]], [("seed", 1)], "dict"),
    ],
)
def test_what_cannot_be_an_embedding_is_refused(names: Any, vectors: Any, recipe: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Embedding(names, vectors, recipe)


def test_a_name_of_two_rows_is_refused_when_looked_up() -> None:
    with pytest.raises(InputError, match="duplicate name 'a'"):
        Embedding(["b", "a", "a"], [[1], [2], [3]]).index("b")


def test_every_suffix_has_one_format() -> None:
    suffixes = [suffix for each in FORMATS for suffix in each.suffixes]
    assert len(suffixes) == len(set(suffixes))
    for each in FORMATS:
        for suffix in each.suffixes:
            assert choose_format(f"Some.Thing{suffix.upper()}") is each
    assert choose_format("folder/name").folder
    assert choose_format(".hidden").folder


@pytest.mark.parametrize("name", ["vectors.xyz", "vectors.gz", "emb.v1"])
def test_unknown_suffix_lists_the_known(people: Embedding, tmp_path: Path, name: str) -> None:
    for action in (people.save, load, check_output):
        with pytest.raises(InputError, match=rf"{name}.*\.npy.*\.parquet.*\.safetensors"):
            action(tmp_path / name)
    with pytest.raises(InputError, match="'xyz' is not known; known: folder, npy"):
        people.save(tmp_path / name, format="xyz")
    assert not list(tmp_path.iterdir())


def test_format_can_be_named(people: Embedding, tmp_path: Path) -> None:
    people.save(tmp_path / "emb.v1", format="folder")
    people.save(tmp_path / "emb.dat", format="csv")
    assert (tmp_path / "emb.dat").read_text() == 'node,v0,v1\n"ada",1,2\n"bob",3,4\n"eve",5,6\n'
    assert load(tmp_path / "emb.v1").recipe == people.recipe  # a folder is known without its suffix
    assert load(tmp_path / "emb.dat", format="csv")["bob"].tolist() == [3, 4]


def test_convert_to_itself_keeps_it(people: Embedding, tmp_path: Path) -> None:
    for name in ("folder", "file.safetensors", "file.arrow"):
        people.save(tmp_path / name)
        assert run("convert", tmp_path / name, tmp_path / name).code == 0
        assert load(tmp_path / name).vectors.tobytes() == people.vectors.tobytes()


@pytest.mark.parametrize("name", ["gone.npy", "gone.parquet", "gone.arrow", "gone.csv", "gone"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(FormatError, match=rf"{name}.*[Nn]o such file"):
        load(tmp_path / name)


def test_paths_of_another_kind_are_named(people: Embedding, tmp_path: Path) -> None:
    people.save(tmp_path / "emb")
    people.save(tmp_path / "emb.npz")
    (tmp_path / "plain").write_text("x")
    for name, format, kind in (("emb", "npz", "folder"), ("emb.npz", "folder", "file"), ("plain", None, "file")):
        with pytest.raises(FormatError, match=f"is a {kind}, so it cannot be read"):
            load(tmp_path / name, format=format)
    (tmp_path / "ring.csv").write_text("a,b\nb,c\nc,a\n")
    graphrefine.live.create(tmp_path / "ring.csv", tmp_path / "ring.live", dim=2).close()
    graphrefine.ingest(tmp_path / "ring.csv", tmp_path / "ring.grf")
    (tmp_path / "other").mkdir()
    for name, told in (
        ("ring.live", "is a folder of live vectors; graphrefine live has commands for it"),
        ("ring.grf", "is a graph on disk, not an embedding; graphrefine embed makes vectors of it"),
        ("other", "meta.json is missing: not a whole embedding"),
    ):
        with pytest.raises(FormatError, match=f"{name}: {told}"):
            load(tmp_path / name)


def test_check_output_finds_trouble_before_the_work(
    people: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_format = check_output(tmp_path / "fine.vec")
    check_content(tmp_path / "fine.vec", file_format, people.names, people.vectors.size)
    with pytest.raises(InputError, match="'a b'"):
        check_content(tmp_path / "x.vec", file_format, np.array(["a b"], dtype=object), 1)
    with pytest.raises(OutputError, match=r"needs about 12,000,000,000\.0 GB of disk, and"):
        check_content(tmp_path / "x.vec", file_format, people.names, 10**18)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="mine: is a folder but no embedding"):
        check_output(tmp_path / "mine")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"parquet.*pyarrow.*graphrefine\[io\]"):
        check_output(tmp_path / "x.parquet")


NUMBERS = np.arange(20, dtype=np.float32).reshape(5, 4)


def test_sides_are_the_vectors_or_half_of_their_columns() -> None:
    """One vector for each node is its source and its target."""
    embedding = Embedding(None, NUMBERS)
    assert np.shares_memory(embedding.source, embedding.vectors)
    assert np.array_equal(embedding.source, NUMBERS) and np.array_equal(embedding.target, NUMBERS)
    assert embedding.source_names.tolist() == embedding.target_names.tolist() == [0, 1, 2, 3, 4]
    # Half of the columns are sources, the others targets, and neither is a copy.
    embedding = Embedding("abcde", NUMBERS, {"sides": "columns"})
    assert np.array_equal(embedding.source, NUMBERS[:, :2]) and np.array_equal(embedding.target, NUMBERS[:, 2:])
    assert np.shares_memory(embedding.source, embedding.vectors)
    assert embedding.index("b") == embedding.index("b", side="source") == embedding.index("b", side="target") == 1


def test_sides_as_rows() -> None:
    """The first rows are one set of nodes, the others another, and a name may stand in both."""
    embedding = Embedding([1, 7, 9, 7, 8], NUMBERS, {"sides": "rows", "sources": 3})
    assert np.array_equal(embedding.source, NUMBERS[:3]) and np.array_equal(embedding.target, NUMBERS[3:])
    assert np.shares_memory(embedding.target, embedding.vectors)
    assert embedding.source_names.tolist() == [1, 7, 9] and embedding.target_names.tolist() == [7, 8]
    assert embedding.index(9) == 2 and embedding.index(8) == 4
    assert embedding.index(7, side="source") == 1 and embedding.index(7, side="target") == 0
    assert 7 in embedding and 5 not in embedding
    with pytest.raises(InputError, match=r'7 is a name on both sides; pass side="source"'):
        embedding.index(7)
    with pytest.raises(InputError, match="on the target side; the first is 7"):
        embedding.index(1, side="target")
    with pytest.raises(InputError, match="side='left' is not known; it can be 'source', 'target'"):
        embedding.index(7, side="left")  # type: ignore[arg-type]


@pytest.mark.parametrize("sources", [0, 5])
def test_an_empty_side(sources: int) -> None:
    embedding = Embedding(None, NUMBERS, {"sides": "rows", "sources": sources})
    assert len(embedding.source) == sources and len(embedding.target) == 5 - sources
    assert embedding.index(3) == 3
    with pytest.raises(InputError, match="there is no node there"):
        embedding.index(3, side="target" if sources else "source")


@pytest.mark.parametrize(
    ("recipe", "dim"),
    [
        ({"sides": "diagonal"}, 4),
        ({"sides": "rows"}, 4),
        ({"sides": "rows", "sources": 6}, 4),
        ({"sides": "rows", "sources": True}, 4),
        ({"sides": "columns"}, 3),
    ],
)
def test_a_recipe_that_does_not_fit(recipe: dict[str, Any], dim: int) -> None:
    """A recipe written by hand is checked when a side is asked for."""
    with pytest.raises(InputError, match=rf"the recipe says sides=.* does not fit 5 vectors of {dim} numbers"):
        _ = Embedding(None, NUMBERS[:, :dim], recipe).source
