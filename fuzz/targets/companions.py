"""Folders beside an embedding, the index and the layout of a map: a changed one is made anew, and never believed."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from fuzz.codecs import mutate_bundle, pack_files, pack_folder, unpack_files, write_folder
from fuzz.target import Target
from fuzz.targets.vectors import change_json

NODES, DIM = 40, 4
ANSWERS: dict[str, Any] = {}  # without a folder, by kind


def make_embedding() -> Any:
    """An embedding of a few nodes."""
    import numpy as np

    import graphrefine

    return graphrefine.Embedding(None, np.random.default_rng(0).normal(size=(NODES, DIM)).astype(np.float32))


def seeds(kind: str) -> list[bytes]:
    """The folder that a search, or a map, leaves."""
    from graphrefine import load

    with tempfile.TemporaryDirectory() as folder:
        make_embedding().save(Path(folder, "friends"))
        use(load(Path(folder, "friends")), kind)
        (companion,) = Path(folder).glob(f"friends.*{kind}")
        return [pack_folder(companion)]


def use(embedding: Any, kind: str) -> Any:
    """What the folder is for: places, or neighbors of some nodes."""
    from graphrefine.display.maps.layout import obtain_layout

    if kind == "map":
        return obtain_layout(embedding, "clusters", threads=1).coordinates.tolist()
    return [[each.node for each in embedding.neighbors(node, k=3, index=True, threads=1)] for node in range(3)]


def run(data: bytes, folder: Path, kind: str) -> None:
    """Use an embedding beside a changed folder: the answers are those without it; a changed layout is not found."""
    from graphrefine import load
    from graphrefine.display.maps.layout import find_layout

    path = folder / "friends"
    make_embedding().save(path)
    name = "friends.map" if kind == "map" else "friends.cosine.index"
    write_folder(data, folder / name)
    if kind not in ANSWERS:
        ANSWERS[kind] = use(make_embedding(), kind)
    if kind == "map":
        places = find_layout(load(path), "clusters")
        answer = ANSWERS[kind] if places is None else places.tolist()
    else:
        answer = use(load(path), kind)
    assert answer == ANSWERS[kind], "the answers of a changed folder were taken"


def change(rng: Random, data: bytes) -> bytes:
    """One file changed, ``meta.json`` more often than others, at times with sizes that fit."""
    files = unpack_files(data)
    if rng.random() < 0.6 or "meta.json" not in files:
        return mutate_bundle(rng, data)
    files["meta.json"] = change_json(rng, files["meta.json"])
    changed = unpack_files(mutate_bundle(rng, pack_files(files)))
    try:
        meta = json.loads(files["meta.json"])
        meta["files"] = {name: len(content) for name, content in changed.items() if name != "meta.json"}
        changed["meta.json"] = json.dumps(meta).encode()
    except (ValueError, TypeError):
        pass
    return pack_files(changed)


TARGETS = [
    Target("load-index", "vectors", lambda: seeds("index"), lambda data, folder: run(data, folder, "index"), change),
    Target("load-map", "vectors", lambda: seeds("map"), lambda data, folder: run(data, folder, "map"), change),
]
