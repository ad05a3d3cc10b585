"""GML against NetworkX and igraph, which write it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_writers import edges_of
from graphrefine.errors import FormatError
from graphrefine.readers.read import read

MUSEUM = """# a comment with "quotes" [ and brackets
Creator "someone & more"
graph [
  comment "nothing"
  node [ id 5 label "caf&#233; &amp; bar" value 3 graphics [ x 1.5 fill [ color "red" ] ] ]
  node [ id 6 label "Caf&eacute;&unknown;&#x41;" value 4 ]
  node [ id 7 label "{label}" tag "a" tag "b" ]
  edge [ source 5 target 6 value 2.5e0 ]
  edge [ source 6 target 7 value 4 weight .5 ]
]
"""


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "a.gml"
    path.write_text(text, encoding="utf-8")
    return path


def test_records_entities_and_labels(tmp_path: Path) -> None:
    graph = read(write(tmp_path, MUSEUM.replace("{label}", "x")))
    assert graph.names.tolist() == ["CafÉ&unknown;A".replace("É", "é"), "café & bar", "x"]
    assert graph.attributes["value"].tolist() == [4, 3, None]
    assert graph.attributes["graphics.fill.color"].tolist() == [None, "red", None]
    assert graph.attributes["tag"].tolist() == [None, None, ("a", "b")]
    assert graph.attributes["id"].tolist() == [6, 5, 7]
    assert edges_of(graph)["café & bar", "Café&unknown;A"] == 1
    assert "nodes named by 'label'" in graph.reading
    assert "not used: 'value'" in graph.reading
    assert edges_of(read(write(tmp_path, MUSEUM), weights="value", names="id"))["5", "6"] == 2.5


def test_labels_that_name_two_nodes_do_not_name(tmp_path: Path) -> None:
    graph = read(write(tmp_path, MUSEUM.replace("{label}", "caf&#233; &amp; bar")))
    assert graph.names.tolist() == [5, 6, 7]
    assert "nodes named by id, as 'label' of the nodes '5' and '7' is 'café & bar'" in graph.reading
    with pytest.raises(FormatError, match="names='label': 'label' of the nodes '5' and '7'"):
        read(write(tmp_path, MUSEUM.replace("{label}", "caf&#233; &amp; bar")), names="label")


def test_content_tells_where_the_name_does_not(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("graph [\n node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] ]")
    assert read(tmp_path / "a.txt").report["format"] == "gml"


def test_latin_1(tmp_path: Path) -> None:
    text = 'graph [ node [ id 1 label "é" ] node [ id 2 label "b" ] edge [ source 1 target 2 ] ]'
    (tmp_path / "a.gml").write_bytes(text.encode("latin-1"))
    graph = read(tmp_path / "a.gml")
    assert (graph.names.tolist(), graph.report["encoding"]) == (["b", "é"], "latin-1")
    assert "text that is not UTF-8, read as Latin-1" in graph.reading
    with pytest.raises(FormatError, match="line 1: the text is not utf-8"):
        read(tmp_path / "a.gml", encoding="utf-8")


@given(cut=st.integers(0, 400), junk=st.text(alphabet='[]"# ab1.', max_size=6))
def test_damaged_files_are_refused_or_read(tmp_path_factory: pytest.TempPathFactory, cut: int, junk: str) -> None:
    path = write(tmp_path_factory.mktemp("gml"), MUSEUM[:cut] + junk + MUSEUM[cut + len(junk) :])
    try:
        read(path)
    except FormatError as error:
        assert str(error).startswith(str(path))
