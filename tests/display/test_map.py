"""Maps of embeddings: classes, pictures, pages and tables, layouts kept beside an embedding, the command."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import re
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from matplotlib.transforms import Bbox

import graphrefine
from cli_runs import contents, refuses, works
from graphrefine import Embedding
from graphrefine.display.colors import DARK, LIGHT
from graphrefine.display.maps import Map, find_layout, obtain_layout
from graphrefine.display.maps import map as map_module
from graphrefine.display.maps.map import NO_CLASS, draw, rank_hubs, render_page
from graphrefine.display.maps.points import Classes, assign_classes
from graphrefine.errors import InputError, MissingExtraError, OutputError

EVIL = "</script><b>&\"'\u2028$x_1$"


def embedding(n: int = 60, *, names: Any = None, groups: int = 3) -> Embedding:
    rng = np.random.default_rng(0)
    vectors = np.eye(8)[np.arange(n) % groups] + 0.1 * rng.normal(size=(n, 8))
    return Embedding(names, vectors.astype(np.float32), degrees=np.arange(n))


def hand_made(**given: Any) -> Map:
    places = np.array([[-1, -1], [0, 0.5], [1, 1], [0.25, 0]], np.float32)
    classes = Classes(("red", EVIL), np.array([0, 0, 1, -1], np.int32), np.array([2, 1]))
    names = np.array(["ada", EVIL, "cy", "dee"], object)
    return Map(names, places, **{"classes": classes, "degrees": np.array([1, 9, 3, 0], np.float32), **given})


def test_classes_of_nodes(tmp_path: Path) -> None:
    several = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 0, 1], [0, 1, 0], [0, 0, 0]])
    found = assign_classes(several, np.arange(6))  # the most frequent of a node's labels
    assert found.names == ("1", "0", "2") and found.codes.tolist() == [0, 1, 0, 2, 0, -1]
    assert found.counts.tolist() == [3, 1, 1]
    (tmp_path / "labels.csv").write_text("node,label\nbob,red\nada,blue\nbob,red\nzoe,red\n")
    found = assign_classes(tmp_path / "labels.csv", np.array(["ada", "cy", "bob"], object))
    assert [None if code < 0 else found.names[code] for code in found.codes] == ["blue", None, "red"]
    assert found.missing == 1
    classes = assign_classes([str(number) for number in range(30) for _ in range(31 - number)], np.arange(495))
    few = classes.most_frequent(11)
    assert few.names == (*classes.names[:10], "other") and few.counts.sum() == 495
    assert (few.codes[classes.codes < 10] == classes.codes[classes.codes < 10]).all() and few.codes.max() == 10


@pytest.mark.parametrize(
    ("suffix", "begin"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("html", b"<!DO"), ("parquet", b"PAR1")]
)
def test_a_map_is_saved_the_same_each_time(suffix: str, begin: bytes, tmp_path: Path) -> None:
    for n in (0, 1, 2, 60):
        drawn = embedding(n).map(np.arange(n) % 3 if n > 2 else None, "pca" if n > 2 else "auto")
        one, two = (tmp_path / f"{name}.{suffix}" for name in ("one", "two"))
        drawn.save(one)
        drawn.save(two)
        assert one.read_bytes() == two.read_bytes() and one.read_bytes().startswith(begin)


def test_the_picture_shows_each_class_in_its_color() -> None:
    for dark, palette in ((False, LIGHT.classes), (True, DARK.classes)):
        drawn = embedding().map(np.arange(60) % 3, "pca")
        pixels = imread(io.BytesIO(draw(drawn, "png", names=0, dark=dark)))[:, :, :3]
        for code, tone in enumerate(palette[:5]):
            wanted = np.array([int(tone[at : at + 2], 16) for at in (1, 3, 5)]) / 255
            count = (np.abs(pixels - wanted).max(axis=2) < 0.01).sum()
            assert count > 20 if code < 3 else count < 20, "three classes, and no other color"


def test_hubs_are_ranked_by_their_neighbors() -> None:
    assert rank_hubs(hand_made()).tolist() == [1, 2, 0], "a node without neighbors is no hub"
    assert rank_hubs(hand_made(degrees=None)).tolist() == []


def test_names_on_a_picture_do_not_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes: list[Bbox] = []

    def place(*arguments: Any, **style: Any) -> bool:
        placed = original(*arguments, **style)
        boxes[:] = arguments[4]
        return placed

    original = map_module._place
    monkeypatch.setattr(map_module, "_place", place)
    points = np.random.default_rng(0).normal(scale=0.05, size=(200, 2)).astype(np.float32)
    crowded = Map(np.arange(200), points, degrees=np.arange(200, dtype=np.float32))
    draw(crowded, "png", names=50)
    assert 5 < len(boxes) < 50, "some names find room, and not all"
    assert not any(one.count_overlaps(boxes[:at]) for at, one in enumerate(boxes))


def test_the_page_holds_every_point_and_no_name_breaks_out() -> None:
    page = render_page(hand_made(title=EVIL))
    assert page.count("</script>") == 2 and "<b>" not in page
    inside = page.split('id="data">')[1].split("</script>")[0]
    assert not {"<", ">", "&", "\u2028"} & {*inside}
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://", page), "nothing is loaded from anywhere"
    script = page.rsplit("<script>", 1)[1].split("</script>")[0]
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'" in page, "its own script alone"
    data = json.loads(inside)
    assert data["names"] == ["ada", EVIL, "cy", "dee"] and data["classes"] == [["red", 2], [EVIL, 1]]
    places = np.frombuffer(b64decode(data["coordinates"]), "<u2").reshape(-1, 2)
    np.testing.assert_allclose(places / 65535 * 2 - 1, hand_made().coordinates, atol=1e-4)
    assert list(b64decode(data["codes"])) == [0, 0, 1, NO_CLASS]


def test_the_table_has_places_labels_and_degrees(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    hand_made().save(tmp_path / "map.parquet")
    table = parquet.read_table(tmp_path / "map.parquet")
    assert table.column_names == ["id", "x", "y", "label", "degree"]
    assert table["id"].to_pylist() == ["ada", EVIL, "cy", "dee"] and table["x"].to_pylist() == [-1, 0, 1, 0.25]
    assert table["label"].to_pylist() == ["red", "red", EVIL, None]


def test_what_cannot_be_saved_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = hand_made()
    for name, fact in (("map.gif", ".parquet"), ("no/map.png", "does not exist")):
        with pytest.raises(OutputError, match=fact):
            drawn.save(tmp_path / name)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    for name, extra in (("map.png", "plot"), ("map.parquet", "io")):
        with pytest.raises(MissingExtraError, match=extra):
            drawn.save(tmp_path / name)
    drawn.save(tmp_path / "map.html")
    assert [path.name for path in tmp_path.iterdir()] == ["map.html"]
    bad = embedding(names=[f"node {row}" for row in range(60)])
    bad.vectors[5, 1] = np.nan
    with pytest.raises(InputError, match="60 nodes"):
        embedding().map(["a", "b", "c"])
    with pytest.raises(InputError, match="'node 5'"):
        bad.map()


def saved(folder: Path, n: int = 60) -> Embedding:
    embedding(n).save(folder / "friends")
    return graphrefine.load(folder / "friends")


def test_a_layout_is_kept_beside_the_embedding_for_its_vectors(tmp_path: Path) -> None:
    known = saved(tmp_path)
    assert find_layout(known, "clusters") is None
    made = obtain_layout(known, seed=2)
    again = obtain_layout(graphrefine.load(tmp_path / "friends"), seed=2)
    assert (made.from_cache, again.from_cache, again.method) == (False, True, "clusters")
    np.testing.assert_array_equal(made.coordinates, again.coordinates)
    plain = Embedding(None, known.vectors)
    np.testing.assert_array_equal(made.coordinates, obtain_layout(plain, seed=2).coordinates)
    assert find_layout(known, "clusters", seed=3) is None and find_layout(known, "pca", seed=2) is None
    obtain_layout(saved(tmp_path))
    turned = embedding()
    turned.vectors[:] = turned.vectors[::-1].copy()
    turned.save(tmp_path / "friends")
    assert find_layout(graphrefine.load(tmp_path / "friends"), "clusters") is None
    for from_cache in (False, True):
        assert obtain_layout(graphrefine.load(tmp_path / "friends")).from_cache == from_cache


@pytest.mark.parametrize("damage", ["short", "one bit", "meta"])
def test_a_damaged_layout_is_computed_again(damage: str, tmp_path: Path) -> None:
    known = saved(tmp_path)
    obtain_layout(known)
    file = tmp_path / "friends.map" / ("meta.json" if damage == "meta" else "coordinates.npy")
    content = bytearray(file.read_bytes())
    content[-3] ^= damage == "one bit"  # still a finite number
    file.write_bytes(content[:1] if damage == "meta" else content[: -1 if damage == "short" else None])
    assert find_layout(known, "clusters") is None
    assert not obtain_layout(known).from_cache
    # A folder whose meta.json cannot be read may be somebody else's: it is not replaced.
    assert obtain_layout(known).from_cache == (damage != "meta")


@pytest.mark.parametrize("owner", ["a newer version", "somebody else", "a file among ours"])
def test_folders_of_others_are_left_alone(owner: str, tmp_path: Path) -> None:
    known, folder = saved(tmp_path), tmp_path / "friends.map"
    if owner == "somebody else":
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
    else:
        obtain_layout(known)
        meta = folder / "meta.json"
        if owner == "a newer version":
            meta.write_text(json.dumps({**json.loads(meta.read_text()), "version": 9}))
        else:
            (folder / "notes.txt").write_text("mine")
    before = contents(folder)
    assert not obtain_layout(known, seed=2).from_cache
    assert contents(folder) == before


def test_the_command_draws_and_tells(tmp_path: Path) -> None:
    saved(tmp_path)
    (tmp_path / "labels.csv").write_text("node,label\n" + "".join(f"{n},{'ab'[n % 2]}\n" for n in range(50)) + "99,a\n")
    done = works("map", tmp_path / "friends", "--labels", tmp_path / "labels.csv", "-o", tmp_path / "m.png", "--json")
    figures = done.figures
    assert (figures["nodes"], figures["method"], figures["labeled"], figures["classes"]) == (60, "clusters", 50, 2)
    assert figures["seconds"] >= figures["layout_seconds"] > 0
    assert "50 of 60 nodes have a label" in done.err and "1 nodes of" in done.err
    out = works(
        "map", tmp_path / "friends", "-o", tmp_path / "m.svg", "--method", "pca", "--names", "none", "--dark"
    ).out
    assert re.fullmatch(r".*m\.svg: 60 nodes by pca in .*\n", out)


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["-o", "map.html", "--dark"], "--dark"),
        (["-o", "map.parquet", "--names", "3"], "--names"),
        (["-o", "map.png", "--names", "many"], "'many'"),
        (["-o", "map.png", "--variable", "x"], "--labels"),
        (["-o", "map.png", "--labels", "others.csv"], "none of the 2 nodes of"),
        (["-o", "map.png", "--method", "tsne"], "'tsne'"),
    ],
)
def test_mistakes_are_named(arguments: list[str], fact: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path)
    (tmp_path / "others.csv").write_text("node,label\nx,a\ny,b\n")
    refuses("map", "friends", *arguments, folder=tmp_path, expected=(fact,))
