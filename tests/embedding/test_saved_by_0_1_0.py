"""Embeddings that version 0.1.0 saved, with what it had learned, are loaded as they were.

Eight edges between six people, ``graphrefine.embed(edges, 2, threads=1)``. Parquet and arrow had no fold map then.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from graphrefine import Embedding, load

SAVED = Path(__file__).parents[1] / "old_files" / "embedding-1-of-0.1.0"
NAMES = ["ada", "bob", "cy", "dot", "eve", "fay"]
NUMBERS = """0.52122587 -0.85341877 0.98313415 0.18288584 0.99459875 -0.103794426
0.060146455 0.99818957 -0.94582057 -0.32468978 -0.9998795 0.015529099"""
VECTORS = np.array(NUMBERS.split(), np.float32).reshape(6, 2)
MAP = """0 0 0 0 0.27811414 -0.08058271 0.16800201 -0.47780338 0.06007455 0.101921804 0.2791007 -1.8691132
0 0 0 0 -0.44288984 -0.19724837 -0.13468577 -0.08104318 -0.30305248 0.09709384 -0.01622355 -0.56887245"""
FOLD_MAP = np.array(MAP.split(), np.float32).reshape(12, 2)
FILES = {name: "parquet" not in name and "arrow" not in name for name in (  # whether there is a fold map
    "people", "people.npz", "people.safetensors", "people.parquet", "people.arrow",
)}  # fmt: skip


@pytest.mark.parametrize(("name", "with_map"), FILES.items())
def test_saved_embeddings_come_back_with_their_state(name: str, with_map: bool, tmp_path: Path) -> None:
    embedding = load(SAVED / name)
    assert_people(embedding, with_map=with_map)
    copy = shutil.copytree(SAVED / name, tmp_path / name) if name == "people" else shutil.copy(SAVED / name, tmp_path)
    load(copy).save(copy)  # in its place, by this version
    assert_people(load(copy), with_map=with_map)


def assert_people(embedding: Embedding, *, with_map: bool) -> None:
    assert embedding.names.tolist() == NAMES
    np.testing.assert_array_equal(embedding.vectors, VECTORS)
    assert embedding.degrees is not None and embedding.degrees.dtype == np.float32
    assert embedding.degrees.tolist() == [4, 2, 3, 3, 2, 2]
    assert embedding.state.degree_weight == 0.01
    assert (embedding.fold_map is not None) == with_map
    if embedding.fold_map is not None:
        np.testing.assert_array_equal(embedding.fold_map, FOLD_MAP)
    assert embedding.recipe["version"] == "0.1.0" and embedding.recipe["method"] == "refine"
    cosine = float(VECTORS[0] @ VECTORS[1])
    assert embedding.score("ada", "bob") == pytest.approx(cosine + 0.01 * np.log(4 * 2), abs=1e-6)


def test_all_fold_the_same_where_there_is_a_map() -> None:
    edges = [("gus", "ada"), ("gus", "cy")]
    folded = [load(SAVED / name).fold_in(edges) for name, with_map in FILES.items() if with_map]
    assert len(folded) == 3 and all(each.recipe["learnt"] for each in folded)
    assert len({each.vectors.tobytes() for each in folded}) == 1
    with pytest.warns(UserWarning, match="nothing was learned"):
        mean = load(SAVED / "people.arrow").fold_in(edges)
    assert mean.vectors.tobytes() != folded[0].vectors.tobytes(), "the control: the map matters"
