"""Headers of Neo4j, Neptune, Gephi and others, in texts and in other tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from graphrefine.errors import InputError
from graphrefine.ingestion.ingest import ingest
from graphrefine.readers.read import read
from graphrefine.tables.origin import find_origin


@pytest.mark.parametrize(
    ("header", "name", "positions", "spaces"),
    [
        (":START_ID,:END_ID,:TYPE", "neo4j", (0, 1, None, None), None),
        (":TYPE,:END_ID,:START_ID", "neo4j", (2, 1, None, None), None),
        (":start_id,:end_id", "neo4j", (0, 1, None, None), None),
        (":START_ID(Person),role,:END_ID(Movie),:TYPE", "neo4j", (0, 2, None, None), ("Person", "Movie")),
        (":START_ID,since:int,:END_ID,weight:float", "neo4j", (0, 2, 3, None), None),
        (":START_ID,:END_ID,Weight", "neo4j", (0, 1, 2, None), None),
        (":START_ID,:END_ID,weight:string", "neo4j", (0, 1, None, None), None),
        (":START_ID,:END_ID,weight:float[]", "neo4j", (0, 1, None, None), None),
        ("weight:IGNORE,:START_ID,:END_ID", "neo4j", (1, 2, None, None), None),
        ("person:START_ID(P){id-type:long}, film:END_ID(P) ", "neo4j", (0, 1, None, None), None),
        ("Source,Target,Type,Id,Label,timeset,Weight", "gephi", (0, 1, 6, 2), None),
        ("Id,Type,Target,Source", "gephi", (3, 2, None, 1), None),
        ("source,target,type,weight", "gephi", (0, 1, 3, 2), None),
        *((header, "", (), None) for header in
          ("source,target", "source,target,weight", "source,target,type", ":START_ID,:TYPE", "a,b,c", "", "::,:")),
    ],
)  # fmt: skip
def test_origins(header: str, name: str, positions: tuple[Any, ...], spaces: tuple[str, str] | None) -> None:
    origin = find_origin(header.split(","))
    if not name:
        assert origin is None
        return
    assert origin is not None and origin.name == name
    assert (origin.source, origin.target, origin.weight, origin.direction) == positions
    assert (origin.directed, origin.spaces) == (True if name == "neo4j" else None, spaces)


TABLES: dict[str, dict[str, list[Any]]] = {
    "neo4j": {":TYPE": ["KNOWS", "LIKES"], ":START_ID": [1, 2], ":END_ID": [2, 3]},
    "neptune": {
        "~id": ["e1", "e2"],
        "~from": ["a", "b"],
        "~to": ["b", "c"],
        "~label": ["x", "x"],
        "weight:Double": [2.0, 3.0],
    },
    "apoc": {"_start": [1, 2], "_end": [2, 3], "_type": ["x", "y"], "_id": [7, 9]},
    "memgraph": {"id": [0, 1], "start": [10, 11], "end": [11, 12], "type": ["x", "y"]},
    "gephi": {"Source": [1, 2], "Target": [2, 3], "Type": ["Undirected"] * 2, "Id": [0, 1], "Weight": [1.0, 2.0]},
    "gephi, directed": {"Source": [1, 2], "Target": [2, 3], "Type": ["Directed"] * 2, "Weight": [1.0, 2.0]},
}
ENDS = dict(zip(TABLES, ((1, 2), (1, 2), (0, 1), (1, 2), (0, 1), (0, 1)), strict=True))


def forms_of(columns: dict[str, list[Any]], folder: Path) -> dict[str, Any]:
    """One table in every form that has names of columns."""
    frame = pd.DataFrame(columns)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    frame.to_feather(folder / "t.arrow")
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    with closing(sqlite3.connect(folder / "t.sqlite")) as connection:
        frame.to_sql("edges", connection, index=False, if_exists="replace")
    files = {suffix: folder / f"t.{suffix}" for suffix in ("csv", "parquet", "arrow", "jsonl", "sqlite")}
    return {"pandas": frame, "arrow table": pa.table(columns), **files}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_means_the_same_in_every_form(name: str, tmp_path: Path) -> None:
    columns = TABLES[name]
    source, target = (list(columns.values())[at] for at in ENDS[name])
    for form, table in forms_of(columns, tmp_path).items():
        graph = read(table)
        edges = {(str(a), str(b)) for a in graph.names for b in graph.neighbors(a)}
        expected = {(str(a), str(b)) for a, b in zip(source, target, strict=True)}
        if not graph.directed:
            expected |= {(b, a) for a, b in expected}
        assert edges == expected, form
        assert graph.directed == (name in ("neo4j", "neptune", "gephi, directed")), form
        assert (graph.report["weight_column"] is not None) == any("eight" in column for column in columns), form


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_ingest_takes_the_direction_of_a_table(form: str, tmp_path: Path) -> None:
    table = forms_of(TABLES["neo4j"], tmp_path)[form]
    assert ingest(table, tmp_path / "g.grf").directed
    kinds = {**TABLES["gephi"], "Type": ["friend", "foe"]}
    assert not ingest(forms_of(kinds, tmp_path)[form], tmp_path / "h.grf").directed


@pytest.mark.parametrize(
    ("columns", "options", "problem"),
    [
        ({**TABLES["gephi"], "Type": ["Directed", "Undirected"]}, {"directed": True}, "'Type' says"),
        (
            {":START_ID(Person)": [1, 2, 3], ":END_ID(Film)": [1, 1, 4]},
            {"bipartite": True},
            "name different things, and .* in both",
        ),
        (
            {"SUID": [100, 101], "interaction": ["pp", "pp"], "name": ["A (pp) B", "B b (pp) C"]},
            {"source": "SUID", "target": "name"},
            "this is an edge table of Cytoscape",
        ),
    ],
)
def test_tables_that_are_refused_in_every_form(
    columns: dict[str, list[Any]], options: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    for form, table in forms_of(columns, tmp_path).items():
        with pytest.raises(InputError, match=problem):
            read(table)
        assert read(table, **options).edges >= 2, form


@pytest.mark.parametrize("last", ["Undirected", "Directed"])
def test_the_direction_of_every_edge_of_a_long_table_counts(last: str, tmp_path: Path) -> None:
    """Beyond the rows that a sample has, all are looked at in every form."""
    rows = 3000
    kinds = ["Undirected"] * (rows - 1) + [last]
    columns = {"Source": range(rows), "Target": range(1, rows + 1), "Type": kinds, "Id": range(rows)}
    for form, table in forms_of({name: list(values) for name, values in columns.items()}, tmp_path).items():
        if last == "Undirected":
            assert not read(table).directed, form
        else:
            with pytest.raises(InputError, match=r"pass directed=True .* directed=False"):
                read(table)
        assert read(table, directed=True).directed


NODES = ["Id,Label\n1,ann\n2,bob\n3,cy\n", "Id,Label,timeset,modularity_class\nann,Ann,,0\nbob,Bob,,1\ncy,Cy,,0\n"]


@pytest.mark.parametrize("text", NODES)
def test_tables_of_nodes_of_gephi_are_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text(text)
    for take in (read, lambda path: ingest(path, tmp_path / "nodes.grf")):
        with pytest.raises(InputError, match=r"nodes\.csv.*'Id', 'Label'.* table of nodes.* pass the table of edges"):
            take(path)
    assert read(path, source="Id", target="Label").report["columns"] == ["Id", "Label"]
    assert text != NODES[0] or read(path, bipartite=True).edges == 3  # ids and labels as two sets


@pytest.mark.parametrize(
    "text",
    [
        "Id,Label\n1,ann\n1,bob\n3,cy\n",  # an id with several
        "Id,Label,Source,Target\n0,x,ann,bob\n1,y,bob,cy\n",
        "id,name,age\n1,ann,30\n2,bob,40\n",  # nothing says plainly that these are nodes
        "id,label\n1,ann\n2,bob\n",
        "Label,Id\nann,1\nbob,2\n",
        "u,v,interaction\nx,y,pp\ny,z,pp\n",  # the kind of edges of Cytoscape, and no column of names
    ],
)
def test_tables_that_may_be_edges_are_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text(text)
    assert read(tmp_path / "edges.csv").edges > 1
