"""Every format of graphs: round trips against NetworkX, damage, and weights outside of what float32 holds.

A new format has a line in `format_writers.WRITERS`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from format_writers import WRITERS, edges_of, edges_of_networkx, networkx_graphs, same_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from graphrefine import ingest, read
from graphrefine.errors import FormatError, InputError
from graphrefine.graph.adjacency import FLOAT32_RANGE
from graphrefine.readers.formats import FORMATS
from strategies import PATIENT

FEWER = settings(PATIENT, max_examples=40)  # for each of two dozen writers, of which DuckDB takes 0.4 s
CLUB = nx.convert_node_labels_to_integers(nx.karate_club_graph().subgraph(range(8)))


def test_every_format_has_a_writer() -> None:
    assert {writer.format for writer in WRITERS.values()} == {format.name for format in FORMATS}


@pytest.mark.parametrize("name", WRITERS)
@FEWER
@given(data=st.data())
def test_files_come_back(tmp_path: Path, name: str, data: st.DataObject) -> None:
    writer = WRITERS[name]
    graph = data.draw(networkx_graphs(names=writer.names))
    if writer.format == "metis":
        graph = nx.Graph(graph)
    writer.write(graph, tmp_path / name)
    if writer.has_direction:
        same_graph(read(tmp_path / name), graph)
        return
    # Without it, names such as "source" in the first record are taken for a header.
    options: dict[str, Any] = {"header": True} if writer.format in ("csv", "tsv") else {}
    held = read(tmp_path / name, directed=graph.is_directed(), **options)
    assert held.report["format"] == writer.format
    expected = edges_of_networkx(graph, first=writer.first)
    assert edges_of(held) == (expected if writer.has_weights else dict.fromkeys(expected, 1.0))
    nodes = [node for node in graph if writer.has_isolated or graph.degree(node)]
    names = [node + writer.first for node in nodes] if writer.first else nodes
    assert sorted(map(str, held.names.tolist())) == sorted(map(str, names))


@cache
def whole(name: str, folder: Path) -> bytes:
    WRITERS[name].write(CLUB, folder / f"whole.{name}")
    return (folder / f"whole.{name}").read_bytes()


# Their libraries end the process on some damage, whatever is looked at before; the fuzzer reads such files in a child.
NATIVE = ("5.mat", "a.parquet", "a.feather", "a.arrow", "a.arrows", "a.duckdb")


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in (*NATIVE, "ogb")])
@FEWER
@given(data=st.data())
def test_damage_is_an_error_of_the_file_or_a_graph(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damage"
    folder.mkdir(exist_ok=True)
    content = bytearray(whole(name, folder))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.sampled_from(["cut", "flip", "insert", "repeat"])):
            case "cut":
                del content[at : at + data.draw(st.integers(1, 200))]
            case "flip":
                content[at] = data.draw(st.integers(0, 255))
            case "insert":
                marks = [b'"', b"[", b"]", b"{", b"}", b"<", b">", b"\0", b"-", b"9" * 40]
                content[at:at] = data.draw(st.sampled_from(marks))
            case _:
                content[at:at] = content[at : at + 100]
        content = content or bytearray(b" ")
    path = folder / f"damaged.{name}"
    path.write_bytes(content)
    try:
        graph = read(path)
    except FormatError as error:
        assert str(error).startswith(str(path))
    else:
        assert graph.edges > 0


def ingest_file(path: Path) -> Any:
    return ingest(path, path.with_suffix(".grf"))


@pytest.mark.parametrize("take", [read, ingest_file])
@pytest.mark.parametrize(("weight", "fact"), [(1e-50, "is 0 as a float32 number"), (1e39, "is not a finite float32")])
@pytest.mark.parametrize("name", [name for name, writer in WRITERS.items() if writer.has_weights])
def test_weights_outside_of_float32(tmp_path: Path, name: str, weight: float, fact: str, take: Any) -> None:
    if name == "ogb" and take is ingest_file:
        return
    WRITERS[name].write(nx.Graph([(0, 1, {"weight": 1.0}), (1, 2, {"weight": weight})]), tmp_path / name)
    with pytest.raises(InputError, match=rf"{name}.*weight .*{fact}.*; {FLOAT32_RANGE}$"):
        take(tmp_path / name)
