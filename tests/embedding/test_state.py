"""State in files: damaged pieces, fields of later versions, large maps; round trips are in `test_embedding_formats`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arrow_tables import change_metadata, read_table, write_table
from graphrefine.embedding.embedding import Embedding, load
from graphrefine.embedding.state import FOLD_BLOCKS, State
from graphrefine.errors import FormatError, InputError

FILES = ("x", "x.npz", "x.parquet", "x.arrow", "x.safetensors")


GOOD = State(np.ones(3, np.float32), np.ones((12, 2), np.float32), 0.25)
ENCODED = GOOD.texts()["fold_map"]
DAMAGED_TEXTS = [("degree_weight", text) for text in ("much", "", "nan", "inf", "-0.5")]
DAMAGED_TEXTS += [
    ("fold_map", text) for text in ("", "no map", ENCODED.partition(":")[2], ENCODED[:-1], ENCODED + "AA")
]
DAMAGED_TEXTS += [("fold_map", ENCODED.replace("12x2", shape)) for shape in ("12", "12x2x1", "12xtwo", "13x2", "2x12")]
DAMAGED_TEXTS += [("fold_map", ENCODED.replace("A", other, 1)) for other in "!é"]


@pytest.mark.parametrize("suffix", ["arrow", "parquet"])
@pytest.mark.parametrize(("name", "text"), DAMAGED_TEXTS)
def test_damaged_text_in_a_file_is_a_format_error(tmp_path: Path, suffix: str, name: str, text: str) -> None:
    path = tmp_path / f"x.{suffix}"
    embedding = Embedding(None, np.ones((3, 2)), degrees=GOOD.degrees, fold_map=GOOD.fold_map, degree_weight=0.25)
    embedding.save(path)
    change_metadata(path, f"graphrefine.{name}", text)
    with pytest.raises(FormatError, match=rf"x\.{suffix}: "):
        load(path, verify=False)


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"degree_weight": np.array(-1.0)}, "the degree weight is -1.0"),
        *(({"degree_weight": np.array(weight)}, "the degree weight is") for weight in ("much", np.nan, [0.1, 0.2])),
        ({"degrees": np.ones(2, np.float32)}, "one number for each of 3"),
        *(({"degrees": np.full(3, value, np.float32)}, "finite and not negative") for value in (np.nan, -1)),
        ({"degrees": np.array(["a", "b", "c"])}, "one number for each of 3"),
        ({"fold_map": np.ones((2, 2), np.float32)}, r"fold_map has the shape \(2, 2\); it must be \(12, 2\)"),
        ({"degrees": None}, "degrees be given"),
    ],
)
def test_damaged_arrays_in_an_npz_are_a_format_error(tmp_path: Path, arrays: dict[str, Any], problem: str) -> None:
    whole = {"vectors": np.ones((3, 2), np.float32), **GOOD.arrays(), **arrays}
    np.savez(tmp_path / "x.npz", **{name: array for name, array in whole.items() if array is not None})
    with pytest.raises(FormatError, match=rf"x\.npz: .*{problem}"):
        load(tmp_path / "x.npz")


def test_fold_maps_beyond_the_usual_limit_of_parquet_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a text in the footer, pyarrow reads 100 MB unless told otherwise: those of 1,600 numbers have more."""
    from graphrefine.embedding.formats import arrow_files

    text = len(State(fold_map=np.zeros((FOLD_BLOCKS * 160, 160), np.float32)).texts()["fold_map"])
    assert 4 / 3 * text * 10**2 > 10**8, "the schema is in the footer once more, in base64"
    assert 4 / 3 * text * 40**2 < arrow_files._FOOTER_BYTES
    Embedding(None, np.ones((3, 2)), degrees=GOOD.degrees, fold_map=GOOD.fold_map).save(tmp_path / "x.parquet")
    assert load(tmp_path / "x.parquet").fold_map is not None
    monkeypatch.setattr(arrow_files, "_FOOTER_BYTES", 100)
    with pytest.raises(FormatError, match="size limit"):  # the control: the limit is the one that counts
        load(tmp_path / "x.parquet")


def test_weights_of_other_types_are_kept_as_they_are(tmp_path: Path) -> None:
    for weight in (np.float32(0.1), np.float64(0.1), 1):
        embedding = Embedding(None, np.ones((2, 1)), degrees=[1, 1], degree_weight=weight)  # type: ignore[arg-type]
        assert type(embedding.degree_weight) is float and embedding.degree_weight == weight
        for name in FILES:
            embedding.save(tmp_path / name)
            assert load(tmp_path / name).degree_weight == weight
    for state in ({"degrees": [1]}, {"degrees": [1, 1], "degree_weight": "much"}):
        with pytest.raises(InputError, match="degree"):
            Embedding(None, np.ones((2, 1)), **state)


@pytest.mark.parametrize("name", FILES[1:4])
def test_fields_of_later_versions_are_left_alone(name: str, tmp_path: Path) -> None:
    embedding = Embedding(None, np.ones((3, 2)), degrees=GOOD.degrees, fold_map=GOOD.fold_map, degree_weight=0.25)
    embedding.save(tmp_path / name)
    if name == "x.npz":
        with np.load(tmp_path / name) as stored:
            arrays = dict(stored)
        np.savez(tmp_path / name, **arrays, another=np.array(7))
    else:
        table = read_table(tmp_path / name)
        metadata = {**table.schema.metadata, b"graphrefine.another": b"7"}
        write_table(table.replace_schema_metadata(metadata), tmp_path / name)
    assert load(tmp_path / name) == embedding
