"""Files of every format on the command line: good ones are described, bad ones refused with 2, no traceback."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import igraph
import networkx as nx
import pytest

from cli_runs import refuses, works

CLUB = nx.karate_club_graph()


def database(path: Path, connect: Callable[[str], Any]) -> None:
    with closing(connect(str(path))) as connection:
        connection.execute("create table ties (source integer, target integer, weight double)")
        rows = [(u, v, float(weight)) for u, v, weight in CLUB.edges(data="weight")]
        connection.executemany("insert into ties values (?, ?, ?)", rows)
        connection.commit()


def node_link(path: Path) -> None:
    path.write_text(json.dumps(nx.node_link_data(CLUB, edges="links")))


GOOD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "g.gexf": (lambda path: nx.write_gexf(CLUB, path), "read  gexf; undirected, as the graph says"),
    "gexf.graphml": (lambda path: nx.write_gexf(CLUB, path), "read  gexf; undirected, as the graph says"),
    "g.gml": (lambda path: nx.write_gml(CLUB, path), "nodes named by 'label'"),
    "g.net": (lambda path: igraph.Graph.from_networkx(CLUB).write_pajek(str(path)), "read  pajek; undirected, as the"),
    "g.json": (node_link, "read  json; edges 'source' - 'target', undirected, as the graph says; weights 'weight'"),
    "g.adjlist": (lambda path: nx.write_adjlist(CLUB, path), "each line is a node and its neighbors"),
    "g.sqlite": (lambda path: database(path, sqlite3.connect), "table 'ties'"),
    "g.duckdb": (lambda path: database(path, duckdb.connect), "table 'ties'"),
}


@pytest.mark.filterwarnings("ignore:Node attribute:UserWarning")
@pytest.mark.parametrize("name", GOOD)
def test_good_files_are_described(tmp_path: Path, name: str) -> None:
    write, expected = GOOD[name]
    write(tmp_path / name)
    done = works("info", tmp_path / name, "--dim", "2")
    assert "nodes  34 " in done.out and "edges  78 " in done.out
    assert expected in done.out


def test_a_query(tmp_path: Path) -> None:
    database(tmp_path / "g.db", sqlite3.connect)
    query = "select target, source from ties where weight > 2"
    figures = works("info", tmp_path / "g.db", "--query", query, "--json").figures
    assert figures["edges"] == sum(weight > 2 for _, _, weight in CLUB.edges(data="weight"))


def empty_database(path: Path) -> None:
    database(path, sqlite3.connect)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table other (a, b)")
        connection.commit()


def test_options_are_written_as_they_are_typed(tmp_path: Path) -> None:
    empty_database(tmp_path / "g.db")
    refuses(
        "embed", tmp_path / "g.db", "-o", tmp_path / "out", folder=tmp_path, expected=("'other', 'ties'", "--query")
    )
    nx.write_graphml(CLUB, tmp_path / "g.graphml")
    arguments = ("embed", tmp_path / "g.graphml", "-o", tmp_path / "out", "--names", "club")
    refuses(*arguments, folder=tmp_path, expected=("'club' of the nodes '0' and '1' is 'Mr. Hi'",))
    refuses(*arguments[:-2], "--format", "gexf", folder=tmp_path, expected=("'gexf'", "--format"))
