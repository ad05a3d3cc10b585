"""Headers of Neo4j and Gephi."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphrefine.errors import FormatError
from graphrefine.readers.dialects import find_dialect, read_direction
from graphrefine.readers.read import read


@pytest.mark.parametrize(
    ("header", "places", "spaces"),
    [
        (":START_ID,:END_ID,:TYPE", (0, 1, None), None),
        (":TYPE,:END_ID,:START_ID", (2, 1, None), None),
        (":start_id,:end_id", (0, 1, None), None),
        (":START_ID(Person),role,:END_ID(Movie),:TYPE", (0, 2, None), ("Person", "Movie")),
        (":START_ID,since:int,:END_ID,weight:float", (0, 2, 3), None),
        (":START_ID,:END_ID,Weight", (0, 1, 2), None),
        (":START_ID,:END_ID,weight:string", (0, 1, None), None),
        (":START_ID,:END_ID,weight:float[]", (0, 1, None), None),
        ("weight:IGNORE,:START_ID,:END_ID", (1, 2, None), None),
        ("person:START_ID(P){id-type:long}, film:END_ID(P) ", (0, 1, None), ("P", "P")),
    ],
)
def test_neo4j(header: str, places: tuple[Any, ...], spaces: tuple[str, str] | None) -> None:
    dialect = find_dialect(header.split(","))
    assert dialect is not None and dialect.name == "neo4j"
    assert (dialect.source, dialect.target, dialect.weight) == places
    assert (dialect.directed, dialect.direction, dialect.spaces) == (True, None, spaces)


def test_neo4j_names_lose_their_types() -> None:
    dialect = find_dialect([":START_ID", ":END_ID", "since:int", "tags:string[]", "plain"])
    assert dialect is not None
    assert dialect.names == (":START_ID", ":END_ID", "since", "tags", "plain")


@pytest.mark.parametrize(
    ("header", "places"),
    [
        ("Source,Target,Type,Id,Label,timeset,Weight", (0, 1, 6, 2)),
        ("Id,Type,Target,Source", (3, 2, None, 1)),
        ("source,target,type,weight", (0, 1, 3, 2)),
    ],
)
def test_gephi(header: str, places: tuple[Any, ...]) -> None:
    dialect = find_dialect(header.split(","))
    assert dialect is not None and dialect.name == "gephi"
    assert (dialect.source, dialect.target, dialect.weight, dialect.direction) == places
    assert dialect.directed is None


@pytest.mark.parametrize(
    "header", ["source,target", "source,target,weight", "source,target,type", ":START_ID,:TYPE", "a,b,c", "", "::,:"]
)
def test_other_headers(header: str) -> None:
    assert find_dialect(header.split(",")) is None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["Directed", " directed "], (True, False)),
        (["Undirected"], (False, True)),
        (["Undirected", "Directed"], (True, True)),
        (["Mutual"], (True, False)),
        (["Directed", ""], None),
        (["follows"], None),
        ([], None),
    ],
)
def test_values_that_declare_a_direction(values: list[str], expected: tuple[bool, bool] | None) -> None:
    assert read_direction(values) == expected


def test_an_edge_table_of_cytoscape_is_refused(tmp_path: Path) -> None:
    """Both ends are in one column; the first two columns are no ends."""
    header = '"SUID","EdgeBetweenness","interaction","name","selected","shared interaction","shared name"\n'
    rows = (
        '"100","3.5","pp","A (pp) B","false","pp","A (pp) B"\n"101","2.0","pp","B b (pp) C","false","pp","B b (pp) C"\n'
    )
    path = tmp_path / "edges.csv"
    path.write_text(header + rows)
    with pytest.raises(FormatError, match=r"line 1: this is an edge table of Cytoscape.*'name', such as 'A \(pp\) B'"):
        read(path)
    path.write_text("a,interaction,b\nx,pp,y\ny,pp,z\n")
    assert read(path, source="a", target="b").edges == 2
