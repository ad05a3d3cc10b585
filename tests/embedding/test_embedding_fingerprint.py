"""Fingerprints by their definition, and files held to them: a changed number in a file is found."""

from __future__ import annotations

import hashlib
import json
import random
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from arrow_tables import read_table, write_table
from graphrefine import Embedding, load
from graphrefine.embedding.formats import choose_format
from graphrefine.errors import ArgumentWarning, FormatError
from graphrefine.system.digest import digest_array, digest_file
from graphrefine.system.files import replacing_folder

RING = [(f"n{i}", f"n{(i * 7 + 1) % 40}") for i in range(40)]
VERIFIED_FORMATS = ["x", "x.npz", "x.parquet", "x.arrow", "x.safetensors"]


@pytest.fixture(scope="module")
def ring() -> Embedding:
    return graphrefine.embed(RING, dim=4, learn=True)


def sha(content: bytes) -> str:
    """The digest of less than 2^20 bytes, by the page on reproducibility."""
    return hashlib.sha256(hashlib.sha256(content).digest()).hexdigest()[:32]


def canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def test_the_fingerprint_is_what_the_documentation_says(ring: Embedding) -> None:
    graph, found = graphrefine.read(RING), ring.fingerprint
    names = b"".join(len(name).to_bytes(4, "little") for name in ring.names) + "".join(ring.names).encode()
    facts = {
        "directed": False,
        "sources": None,
        "names": sha(names),
        "indptr": sha(graph.indptr.astype("<i8").tobytes()),
        "indices": sha(graph.indices.astype("<i4").tobytes()),
        "weights": None,
    }
    apart = {"graph", "reading", "version", "numerics_version", "processor_dependence", "made_on"}
    settings = {name: value for name, value in ring.recipe.items() if name not in apart}
    bits = {"arithmetic": ring.recipe["numerics_version"], "kernel": "native"}
    parts = [
        ("graph", sha(canonical(facts))),
        ("settings", sha(canonical(settings))),
        ("arithmetic", sha(canonical(bits))),
        ("names", sha(names)),
        ("vectors", sha(ring.vectors.astype("<f4").tobytes())),
    ]
    assert found[:5] == tuple(digits for _, digits in parts)
    lines = "".join(f"{name} {digits}\n" for name, digits in parts)
    assert str(found) == "grf1:" + hashlib.sha256(lines.encode()).hexdigest()[:32]
    assert ring.fold_map is not None and ring.degrees is not None
    assert found.state == sha(
        canonical(
            {
                "degrees": sha(ring.degrees.tobytes()),
                "fold_map": sha(ring.fold_map.tobytes()),
                "degree_weight": sha(np.float64(ring.degree_weight).tobytes()),
            }
        )
    )


def test_large_content_is_hashed_in_blocks(tmp_path: Path) -> None:
    content = np.random.default_rng(0).integers(0, 256, (11 << 20) + 5, np.uint8)
    blocks = [content[at : at + (1 << 20)].tobytes() for at in range(0, len(content), 1 << 20)]
    wanted = hashlib.sha256(b"".join(hashlib.sha256(block).digest() for block in blocks)).hexdigest()[:32]
    assert digest_array(content, "u1") == wanted
    (tmp_path / "f").write_bytes(content.tobytes())
    assert digest_file(tmp_path / "f") == wanted
    (tmp_path / "empty").touch()
    assert digest_file(tmp_path / "empty") == digest_array(content[:0], "u1")


def test_each_part_of_the_fingerprint_changes_alone(ring: Embedding) -> None:
    moved = ring.vectors.copy()
    moved[3, 1] = np.nextafter(moved[3, 1], np.float32(2))
    for change, expected in (
        ({}, []),
        ({"vectors": moved}, ["vectors"]),
        ({"names": ring.names[::-1]}, ["names"]),
        ({"recipe": {**ring.recipe, "seed": 9}}, ["settings"]),
        ({"recipe": {**ring.recipe, "numerics_version": 9}}, ["arithmetic"]),
        ({"recipe": {**ring.recipe, "graph": "0"}}, ["graph"]),
        ({"recipe": {**ring.recipe, "version": "9", "reading": "x", "made_on": {}}}, []),
    ):
        parts: dict[str, Any] = {"names": ring.names, "vectors": ring.vectors, "recipe": ring.recipe}
        other = Embedding(**{**parts, **ring.state.arrays(), **change})
        assert ring.fingerprint.differences(other.fingerprint) == expected


@pytest.mark.parametrize("name", VERIFIED_FORMATS)
def test_one_flipped_bit_is_found_by_load_or_changes_nothing(name: str, ring: Embedding, tmp_path: Path) -> None:
    """Bytes that no content depends on, such as those that align arrays, may have any value."""
    path, refused = tmp_path / name, 0
    ring.save(path)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    draws = random.Random(name)
    for _ in range(60):
        file = draws.choice(files)
        before = file.read_bytes()
        content = bytearray(before)
        content[draws.randrange(len(content))] ^= 1 << draws.randrange(8)
        file.write_bytes(content)
        try:
            assert load(path).fingerprint == ring.fingerprint
        except FormatError:
            refused += 1
        file.write_bytes(before)
    assert refused > 20 and load(path) == ring


@pytest.mark.parametrize("name", VERIFIED_FORMATS)
def test_one_changed_number_is_found(name: str, ring: Embedding, tmp_path: Path) -> None:
    """The control: with another program's numbers in the place of ours, only the fingerprint can tell."""
    moved = ring.vectors.copy()
    moved[3, 1] += 1
    path = tmp_path / name
    file_format = choose_format(path)
    with replacing_folder(path, replaceable=file_format.check_replaceable) if name == "x" else nullcontext(path) as out:
        file_format.write(out, ring.data._replace(vectors=moved, fingerprint=json.dumps(ring.fingerprint.to_dict())))
    with pytest.raises(FormatError, match="vectors differ"):
        load(path)
    assert np.array_equal(load(path, verify=False).vectors, moved)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_file_that_another_program_rewrote_is_loaded_with_a_warning(
    name: str, ring: Embedding, tmp_path: Path
) -> None:
    ring.save(tmp_path / name)
    write_table(read_table(tmp_path / name).slice(0, 7), tmp_path / name)
    with pytest.warns(ArgumentWarning, match="rewritten by another program"):
        some = load(tmp_path / name)
    assert some.names.tolist() == ring.names[:7].tolist()


def test_large_mapped_files_are_verified_on_request(
    ring: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphrefine.embedding.formats.io.VERIFIED", 100)
    ring.save(tmp_path / "x")
    content = bytearray((tmp_path / "x" / "vectors.npy").read_bytes())
    content[-1] ^= 1
    (tmp_path / "x" / "vectors.npy").write_bytes(content)
    load(tmp_path / "x")
    load(tmp_path / "x", verify=False)
    with pytest.raises(FormatError, match="vectors differ"):
        load(tmp_path / "x", verify=True)
