"""Fingerprints by their definition, and seals: one changed bit anywhere in a file is found."""

from __future__ import annotations

import hashlib
import json
import random
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphrefine
from graphrefine import Embedding, load
from graphrefine.embedding.fingerprint import Fingerprint
from graphrefine.errors import ArgumentWarning, FormatError
from graphrefine.system.digest import digest_array, digest_file

RING = [(f"n{i}", f"n{(i * 7 + 1) % 40}") for i in range(40)]
SEALED = ["x", "x.npz", "x.parquet", "x.arrow", "x.safetensors"]


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
    with (tmp_path / "f").open("rb") as file:
        assert digest_file(file.fileno()) == wanted
        place = (3 << 20) - 2
        other = content.tobytes()[:place] + b"abcd" + content.tobytes()[place + 4 :]
        assert digest_file(file.fileno(), {place: b"abcd"}) == digest_array(np.frombuffer(other, np.uint8), "u1")


def test_each_part_of_the_fingerprint_changes_alone(ring: Embedding) -> None:
    def differences(**change: Any) -> list[str]:
        parts: dict[str, Any] = {"names": ring.names, "vectors": ring.vectors, "recipe": ring.recipe, **change}
        other = Embedding(parts["names"], parts["vectors"], parts["recipe"], degrees=ring.degrees,
                          fold_map=ring.fold_map, degree_weight=ring.degree_weight)  # fmt: skip
        return ring.fingerprint.differences(other.fingerprint)

    moved = ring.vectors.copy()
    moved[3, 1] = np.nextafter(moved[3, 1], np.float32(2))
    assert differences() == []
    assert differences(vectors=moved) == ["vectors"]
    assert differences(names=ring.names[::-1]) == ["names"]
    assert differences(recipe={**ring.recipe, "seed": 9}) == ["settings"]
    assert differences(recipe={**ring.recipe, "numerics_version": 9}) == ["arithmetic"]
    assert differences(recipe={**ring.recipe, "graph": "0"}) == ["graph"]
    assert differences(recipe={**ring.recipe, "version": "9", "reading": "x", "made_on": {}}) == []


@pytest.mark.parametrize("name", SEALED)
def test_files_hold_the_fingerprint_and_it_is_true(name: str, ring: Embedding, tmp_path: Path) -> None:
    from graphrefine.embedding.formats.stored_parts import load_parts

    ring.save(tmp_path / name)
    parts = load_parts(tmp_path / name)
    assert Fingerprint.parse(parts.marks.fingerprint) == ring.fingerprint == load(tmp_path / name).fingerprint
    assert parts.recipe == ring.recipe


@pytest.mark.parametrize("name", SEALED)
def test_one_flipped_bit_is_found_by_load(name: str, ring: Embedding, tmp_path: Path) -> None:
    path = tmp_path / name
    ring.save(path)
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    draws = random.Random(name)
    for _ in range(60):
        file = draws.choice(files)
        content = bytearray(file.read_bytes())
        content[draws.randrange(len(content))] ^= 1 << draws.randrange(8)
        before = file.read_bytes()
        file.write_bytes(content)
        with pytest.raises(FormatError):
            load(path)
        file.write_bytes(before)
    load(path)


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_flipped_bit_in_the_size_of_a_seal_is_damage(name: str, ring: Embedding, tmp_path: Path) -> None:
    """Once taken for a file that another program has written anew, which is loaded with a warning."""
    ring.save(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    copies = [found.start() for found in re.finditer(rb"grs1-[0-9a-f]{16}-", content)]
    assert len(copies) == (2 if name == "x.arrow" else 1)
    for copy in copies:
        for place in range(copy, copy + 21):
            changed = bytearray(content)
            changed[place] ^= 1 << place % 3
            (tmp_path / name).write_bytes(changed)
            with pytest.raises(FormatError):
                load(tmp_path / name)


def test_a_flipped_bit_in_the_first_byte_of_an_archives_comment_is_damage(ring: Embedding, tmp_path: Path) -> None:
    """Once taken for a comment of somebody else, and the file for one without a seal."""
    ring.save(tmp_path / "x.npz")
    content = (tmp_path / "x.npz").read_bytes()
    first = content.rindex(b"PK\5\6") + 22
    assert content[first:].startswith(b'{"format": "graphrefine embedding"')
    for bit in range(8):
        changed = bytearray(content)
        changed[first] ^= 1 << bit
        (tmp_path / "x.npz").write_bytes(changed)
        with pytest.raises(FormatError, match="comment"):
            load(tmp_path / "x.npz")


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_file_that_another_program_wrote_anew_is_loaded_with_a_word(
    name: str, ring: Embedding, tmp_path: Path
) -> None:
    import pyarrow as pa
    from pyarrow import ipc, parquet

    ring.save(tmp_path / name)
    if name == "x.parquet":
        parquet.write_table(parquet.read_table(tmp_path / name).slice(0, 7), tmp_path / name)
    else:
        with pa.OSFile(str(tmp_path / name)) as source:
            table = ipc.open_file(source).read_all().slice(0, 7)
        with ipc.new_file(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table)
    with pytest.warns(ArgumentWarning, match="written anew by another program"):
        some = load(tmp_path / name)
    assert some.names.tolist() == ring.names[:7].tolist()


def test_large_mapped_files_are_verified_on_request(
    ring: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphrefine.embedding.formats.stored_parts.VERIFIED", 100)
    ring.save(tmp_path / "x")
    content = bytearray((tmp_path / "x" / "vectors.npy").read_bytes())
    content[-1] ^= 1
    (tmp_path / "x" / "vectors.npy").write_bytes(content)
    load(tmp_path / "x")
    load(tmp_path / "x", verify=False)
    with pytest.raises(FormatError, match=r"vectors\.npy does not have the checksum"):
        load(tmp_path / "x", verify=True)


def test_a_name_that_looks_like_a_seal_stays_a_name(tmp_path: Path) -> None:
    names = ["grs1-" + "0" * 16 + "-" + "0" * 32, "bob"]
    for name in SEALED:
        Embedding(names, [[1], [2]]).save(tmp_path / name)
        assert load(tmp_path / name).names.tolist() == names


def test_a_replaced_folder_has_no_stray_files(ring: Embedding, tmp_path: Path) -> None:
    for _ in range(2):
        ring.save(tmp_path / "x")
    copy = shutil.copytree(tmp_path / "x", tmp_path / "y")
    assert str(load(copy).fingerprint) == str(ring.fingerprint)
    assert {path.name for path in tmp_path.iterdir()} == {"x", "y"}
