"""GML with all that it may have; what NetworkX and igraph write is in `test_every_format`."""

from __future__ import annotations

from pathlib import Path

import pytest
from format_writers import edges_of

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


def write(tmp_path: Path, text: str, name: str = "a.gml", encoding: str = "utf-8") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding=encoding)
    return path


def test_records_entities_and_labels(tmp_path: Path) -> None:
    text = MUSEUM.replace("{label}", "x")
    assert read(write(tmp_path, text.partition("\n")[2], "a.txt")).report["format"] == "gml"
    graph = read(write(tmp_path, text))
    assert graph.names.tolist() == ["Café&unknown;A", "café & bar", "x"]
    assert graph.attributes["value"].tolist() == [4, 3, None]
    assert graph.attributes["graphics.fill.color"].tolist() == [None, "red", None]
    assert graph.attributes["tag"].tolist() == [None, None, ("a", "b")]
    assert graph.attributes["id"].tolist() == [6, 5, 7]
    assert edges_of(graph)["café & bar", "Café&unknown;A"] == 1
    assert "nodes named by 'label'" in graph.reading and "not used: 'value'" in graph.reading
    assert edges_of(read(write(tmp_path, MUSEUM), weights="value", names="id"))["5", "6"] == 2.5


def test_labels_that_name_two_nodes_do_not_name(tmp_path: Path) -> None:
    path = write(tmp_path, MUSEUM.replace("{label}", "caf&#233; &amp; bar"))
    graph = read(path)
    assert graph.names.tolist() == [5, 6, 7]
    assert "nodes named by id, as 'label' of the nodes '5' and '7' is 'café & bar'" in graph.reading
    with pytest.raises(FormatError, match="names='label': 'label' of the nodes '5' and '7'"):
        read(path, names="label")


def test_latin_1(tmp_path: Path) -> None:
    text = 'graph [ node [ id 1 label "é" ] node [ id 2 label "b" ] edge [ source 1 target 2 ] ]'
    path = write(tmp_path, text, encoding="latin-1")
    graph = read(path)
    assert (graph.names.tolist(), graph.report["encoding"]) == (["b", "é"], "latin-1")
    assert "text that is not UTF-8, read as Latin-1" in graph.reading
    with pytest.raises(FormatError, match="line 1: the text is not utf-8"):
        read(path, encoding="utf-8")
