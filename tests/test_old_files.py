"""Files that each version of each stored format has written are read for ever; those of a newer version are refused.

``tests/old_files`` has a folder for each format and version, written by ``scripts/old_files.py`` of its time, with what
is in them as ``expected.json``. Work folders are stamped with their inputs, so that they are made here.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import pytest

import graphrefine
from arrow_tables import change_metadata
from graphrefine.display.maps.layout import find_layout, obtain_layout
from graphrefine.errors import FormatError, OutputError
from graphrefine.ingestion.ingest import ingest
from graphrefine.live.reader import LiveReader
from graphrefine.live.writer import Live
from graphrefine.pipeline.memory_plan import RUN
from graphrefine.pipeline.out_of_core import working
from graphrefine.progress import Stages
from graphrefine.refine.settings import RefineSettings
from graphrefine.search.searcher import Search
from graphrefine.system.work_folder import WorkFolder

OLD = Path(__file__).parent / "old_files"
NEWER = r"was written by a newer graphrefine, format 99; this one reads up to \d+: install a newer graphrefine"
WITH_DIGESTS = 2  # the first indexes and maps had none: they are caches, and made anew
SUFFIXES = ("", ".npz", ".parquet", ".arrow", ".safetensors")


def list_folders(kind: str) -> list[str]:
    """The folders of a format, one for each version."""
    return sorted(path.name for path in OLD.glob(f"{kind}-*") if (path / "expected.json").exists())


@pytest.fixture
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A copy of the files, and what is in them."""
    folder = tmp_path / request.param
    shutil.copytree(OLD / request.param, folder)
    return folder, json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def folder_version(folder: Path) -> int:
    """The version of the format of a folder of old files."""
    return int(folder.name.rpartition("-")[2])


def test_each_version_has_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(OLD.parents[1] / "scripts"))
    import old_files  # type: ignore[import-not-found, unused-ignore]

    missing = [name for name in old_files.WRITERS if not (OLD / name / "expected.json").exists()]
    assert missing == [], "run: python scripts/old_files.py"
    sys.modules.pop("old_files")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("old", list_folders("embedding"), indirect=True)
def test_embeddings(old: tuple[Path, dict[str, Any]], suffix: str) -> None:
    path, expected = old[0] / f"rings{suffix}", old[1]
    embedding = graphrefine.load(path, verify=True)
    assert embedding.names.tolist() == expected["names"] and embedding.names[-1] == "é 1"
    assert np.array_equal(embedding.vectors, np.array(expected["vectors"], np.float32))
    state = {name: piece.tolist() for name, piece in embedding.state.arrays().items()}
    assert state == expected["state"] and str(embedding.fingerprint) == expected["fingerprint"]
    raise_version(path)
    with pytest.raises(FormatError, match=NEWER):
        graphrefine.load(path)


@pytest.mark.parametrize("name", ["people", *(f"people{suffix}" for suffix in SUFFIXES[1:])])
def test_embeddings_of_0_1_0(name: str, tmp_path: Path) -> None:
    """Their content is in ``goldens/readings.json``. Parquet and arrow had no fold map then."""
    embedding = graphrefine.load(OLD / "embedding-1-of-0.1.0" / name)
    learned = not name.endswith((".parquet", ".arrow"))
    assert embedding.state.degree_weight == 0.01 and (embedding.fold_map is not None) == learned
    embedding.save(tmp_path / name)  # by this version
    assert graphrefine.load(tmp_path / name) == embedding
    with nullcontext() if learned else pytest.warns(UserWarning, match="nothing was learned"):
        assert embedding.fold_in([("gus", "ada"), ("gus", "cy")]).recipe["learnt"] is learned


def raise_version(path: Path) -> None:
    """The same file, said to be of format 99."""
    if path.suffix in (".parquet", ".arrow"):
        change_metadata(path, "graphrefine.version", "99")
    elif path.suffix == ".npz":
        np.savez(path, **{**np.load(path), "version": np.array("99")})
    elif path.suffix == ".safetensors":
        content = path.read_bytes()
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        header["__metadata__"]["version"] = "99"
        text = json.dumps(header).encode()
        path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])
    else:
        change_json(path / "meta.json", lambda meta: meta.update(version=99))


def change_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """A JSON object with something changed."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize("old", list_folders("graph"), indirect=True)
def test_graphs(old: tuple[Path, dict[str, Any]]) -> None:
    path, expected = old[0] / "rings.grf", old[1]
    graph = graphrefine.read(path)
    assert graph.names.tolist() == expected["names"] and graph.weights is not None
    for name in ("indptr", "indices", "weights"):
        assert np.asarray(getattr(graph, name)).tolist() == expected[name], name
    change_json(path / "manifest.json", lambda manifest: manifest.update(version=99))
    with pytest.raises(FormatError, match=f"{NEWER}, or ingest it again"):
        graphrefine.read(path)


@pytest.mark.parametrize("old", list_folders("index"), indirect=True)
def test_indexes(old: tuple[Path, dict[str, Any]]) -> None:
    folder, expected = old
    embedding = graphrefine.load(folder / "rings.npy")
    search = Search(embedding, index=True)
    place = folder / "rings.npy.cosine.index"
    assert search.index is not None and search.index.path == place
    assert search.index.is_new == (folder_version(folder) < WITH_DIGESTS)
    found = search.nearest(rows=list(range(len(embedding))), k=2).rows
    units = embedding.vectors / np.linalg.norm(embedding.vectors, axis=1, keepdims=True)
    ours, theirs = (np.einsum("ik,ijk->ij", units, units[np.array(rows)]) for rows in (found, expected["rows"]))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)  # some are as near as others, but for their last bits
    change_json(place / "meta.json", lambda meta: meta.update(version=99))
    newer = Search(embedding, index=True).index
    assert newer is not None and newer.path is None and re.search(NEWER, newer.problem)


@pytest.mark.parametrize("old", list_folders("map"), indirect=True)
def test_maps(old: tuple[Path, dict[str, Any]]) -> None:
    folder, expected = old
    embedding = graphrefine.load(folder / "rings.npy")
    found = find_layout(embedding, "clusters")
    assert (found is None) == (folder_version(folder) < WITH_DIGESTS)
    if found is not None:
        assert np.array_equal(found, np.array(expected["coordinates"], np.float32))
    made, again = obtain_layout(embedding, "clusters").coordinates, find_layout(embedding, "clusters")
    assert again is not None and np.array_equal(made, again)
    change_json(folder / "rings.npy.map" / "meta.json", lambda meta: meta.update(version=99))
    newer = (folder / "rings.npy.map" / "meta.json").read_bytes()
    assert not obtain_layout(embedding, "clusters").from_cache
    assert (folder / "rings.npy.map" / "meta.json").read_bytes() == newer  # a newer version's cache is left as it is


@pytest.mark.parametrize("old", list_folders("live"), indirect=True)
def test_live_folders(old: tuple[Path, dict[str, Any]]) -> None:
    path, expected = old[0] / "rings.live", old[1]["vectors"]
    with graphrefine.live.open(path, read_only=True) as reader:
        assert {name: np.asarray(reader.vector(name)).tolist() for name in expected} == expected
    try:
        with graphrefine.live.open(path, threads=1) as live:
            assert np.asarray(live.vector("new")).tolist() == expected["new"]
            live.add(["n2"], ["n8"])
            assert live.commit().changes == 1
            assert not np.array_equal(live.vector("n2"), np.array(expected["n2"], np.float32))
    except FormatError as error:
        if "Reading is possible" not in str(error):
            raise
        pytest.skip(f"written with another arithmetic or kernel: {error}")
    with closing(sqlite3.connect(path / "live.db", isolation_level=None)) as database:
        database.execute("PRAGMA user_version = 99")
    refuse_live(path)


def refuse_live(path: Path) -> None:
    """Check that a folder of live vectors is refused as one of a newer version."""
    for kind in (Live, LiveReader):
        with pytest.raises(FormatError, match=NEWER):
            kind(path)


@pytest.mark.parametrize("version", [None, 1, 99])
def test_work_folders_of_ingest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int | None) -> None:
    edges, path = tmp_path / "edges.csv", tmp_path / "g.grf"
    edges.write_text("u,v\na,b\nb,c\n")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("graphrefine.ingestion.ingest._buckets", Mock(side_effect=KeyboardInterrupt))
        ingest(edges, path)
    with WorkFolder(f"{path}.work") as work:
        state = {name: value for name, value in work.state("job").items() if name != "format"}
        work.save("job", state if version is None else {"format": version, **state})
    if version == 99:
        with pytest.raises(OutputError, match=f"{NEWER}, or delete that folder to start again"):
            ingest(edges, path)
    else:
        ingest(edges, path)
        assert graphrefine.read(path).names.tolist() == ["a", "b", "c"]


def test_a_work_folder_of_a_newer_embed_is_left_alone(tmp_path: Path) -> None:
    graph, plan = graphrefine.read([("a", "b"), ("b", "c")]), cast(Any, None)  # which is not reached
    with WorkFolder(tmp_path / "work") as work:
        work.save(RUN, {"format": 99})
        run = working(graph, RefineSettings(dim=2), plan, work=work, method="refine", stages=Stages(None))
        with pytest.raises(OutputError, match=f"{NEWER}, or delete that folder"), run:
            raise AssertionError("begun")
        assert work.state(RUN) == {"format": 99}
