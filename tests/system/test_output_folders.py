"""Own files that a user puts into an output folder: they are never deleted with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphrefine
from graphrefine.display.maps.layout import obtain_layout
from graphrefine.errors import OutputError
from graphrefine.search.searcher import Search
from graphrefine.system.files import check_only, read_mark


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    vectors = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    graphrefine.Embedding(None, vectors).save(tmp_path / "friends")
    return tmp_path / "friends"


def test_a_map_is_not_replaced_over_own_files(saved: Path) -> None:
    folder = saved.with_name("friends.map")
    first = obtain_layout(graphrefine.load(saved), "clusters", seed=1).coordinates
    (folder / "notes.txt").write_text("mine")
    obtain_layout(graphrefine.load(saved), "clusters", seed=2)
    assert (folder / "notes.txt").read_text() == "mine"
    assert np.array_equal(np.load(folder / "coordinates.npy"), first)


def test_an_index_is_not_replaced_over_own_files(saved: Path) -> None:
    pytest.importorskip("usearch")
    first = Search(graphrefine.load(saved), index=True).index
    assert first is not None and first.path is not None and first.path.is_dir()
    (first.path / "notes.txt").write_text("mine")
    graphrefine.Embedding(None, -graphrefine.load(saved).vectors).save(saved)
    second = Search(graphrefine.load(saved), index=True).index
    assert second is not None and second.path is None and "also holds notes.txt" in second.problem
    assert (first.path / "notes.txt").read_text() == "mine"


def test_other_things_in_folders_are_named(tmp_path: Path) -> None:
    (tmp_path / ".DS_Store").touch()
    check_only(tmp_path, None, kind="index")
    (tmp_path / "drafts").mkdir()
    for files in (None, {"meta.json"}):
        with pytest.raises(OutputError, match="would be lost"):
            check_only(tmp_path, files, kind="index")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "other"}', "[" * 100_000, "\udcff"])
def test_a_mark_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "meta.json").write_text(text, errors="surrogateescape")
    assert read_mark(tmp_path / "meta.json", "ours") is None
