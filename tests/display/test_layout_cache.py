"""The cache of layouts: one changed bit, or a newer version, and it is not used."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from graphrefine import Embedding, load
from graphrefine.display.maps.layout import find_layout, obtain_layout


def test_a_changed_layout_is_made_anew_and_a_newer_one_is_left_alone(tmp_path: Path) -> None:
    Embedding(None, np.random.default_rng(0).normal(size=(60, 4))).save(tmp_path / "x.npy")
    embedding = load(tmp_path / "x.npy")
    made = obtain_layout(embedding, "clusters").coordinates
    again = find_layout(embedding, "clusters")
    assert again is not None and np.array_equal(again, made)
    file = tmp_path / "x.npy.map" / "coordinates.npy"
    content = bytearray(file.read_bytes())
    content[-3] ^= 1  # still a finite number
    file.write_bytes(content)
    assert find_layout(embedding, "clusters") is None
    assert not obtain_layout(embedding, "clusters").from_cache and obtain_layout(embedding, "clusters").from_cache
    meta = tmp_path / "x.npy.map" / "meta.json"
    meta.write_text(json.dumps({**json.loads(meta.read_text()), "version": 9}))
    with pytest.warns(UserWarning, match="newer graphrefine, format 9; this one reads up to 2.* is not stored"):
        assert not obtain_layout(embedding, "clusters").from_cache
    assert json.loads(meta.read_text())["version"] == 9
