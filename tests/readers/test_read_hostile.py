"""Damaged files of every format: an error that names the file, or a graph; never anything else."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrefine.errors import FormatError
from graphrefine.readers.read import read
from strategies import PATIENT


def club() -> Any:
    graph = nx.karate_club_graph().subgraph(range(8)).copy()
    return nx.DiGraph(graph) if len(graph) % 2 else graph


def write_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table ties (source, target, weight)")
        connection.executemany("insert into ties values (?, ?, ?)", list(club().edges(data="weight")))
        connection.commit()


def write_matlab(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["network"] = nx.to_numpy_array(club())


def write_lines(path: Path) -> None:
    path.write_text(
        "".join(json.dumps({"u": u, "v": v, "weight": w}) + "\n" for u, v, w in club().edges(data="weight"))
    )


WRITERS: dict[str, Callable[[Path], Any]] = {
    "graphml": lambda path: nx.write_graphml(club(), path),
    "gexf": lambda path: nx.write_gexf(club(), path),
    "gml": lambda path: nx.write_gml(club(), path),
    "net": lambda path: nx.write_pajek(nx.Graph(club().edges), path),
    "json": lambda path: path.write_text(json.dumps(nx.node_link_data(club(), edges="links"))),
    "jsonl": write_lines,
    "edgelist": lambda path: nx.write_edgelist(club(), path),
    "adjlist": lambda path: nx.write_multiline_adjlist(club(), path),
    "db": write_database,
    "mat": write_matlab,
}


@cache
def whole(suffix: str, folder: Path) -> bytes:
    path = folder / f"whole.{suffix}"
    WRITERS[suffix](path)
    return path.read_bytes()


@pytest.mark.parametrize("suffix", WRITERS)
@PATIENT
@given(data=st.data())
def test_damage(tmp_path_factory: pytest.TempPathFactory, suffix: str, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp() / "hostile"
    folder.mkdir(exist_ok=True)
    content = bytearray(whole(suffix, folder))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.sampled_from(["cut", "flip", "insert", "repeat"])):
            case "cut":
                del content[at : at + data.draw(st.integers(1, 200))]
            case "flip":
                content[at] = data.draw(st.integers(0, 255))
            case "insert":
                content[at:at] = data.draw(
                    st.sampled_from([b'"', b"[", b"]", b"{", b"}", b"<", b">", b"\0", b"-", b"9" * 40])
                )
            case _:
                content[at:at] = content[at : at + 100]
        content = content or bytearray(b" ")
    path = folder / f"damaged.{suffix}"
    path.write_bytes(content)
    try:
        graph = read(path)
    except FormatError as error:
        assert str(error).startswith(str(path))
    else:
        assert graph.edges > 0
