"""Step 5, origin: the program that wrote a table, which has its own names of columns, or a first comment.

Neo4j has ``:START_ID``, ``:END_ID`` and ``:TYPE``, perhaps with the space of the ids in brackets, and properties with
their types, such as ``weight:float``; its relationships have a direction. Neptune has ``~id``, ``~from``, ``~to`` and
``~label``, and such properties too. Gephi has Source, Target, Type, Id, Label and Weight; the values of Type say
whether an edge has a direction. A file of KONECT has no header, but a first comment that says whether edges have a
direction, or lead from one set to another. Cytoscape has both ends in one column, and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import AmbiguousTable, InputError
from graphrefine.graph.node_ids import Numbered
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import Columns, Marks
from graphrefine.tables import vocabulary
from graphrefine.tables.kinds import Column
from graphrefine.tables.sample import Hints
from graphrefine.tables.source import Source

NODE_TABLE = ("Id", "Label")  # the first columns of Gephi's tables of nodes
_TELLING = ("type", "interaction", "shared interaction")  # names of columns that may belong to an origin
_ROLE = re.compile(r"(?P<name>[^:]*):(?P<role>START_ID|END_ID|TYPE|IGNORE)(?:\((?P<space>[^)]*)\))?(?:\{.*\})?", re.I)
_PROPERTY = re.compile(r"(?P<name>[^:]*)(?::(?P<type>[A-Za-z]+)(?P<list>\[\])?(?:\{.*\})?)?")
_NUMBERS = frozenset({"int", "integer", "long", "short", "byte", "float", "double"})
_KONECT = re.compile(
    rb"%[ \t]*(?P<kind>sym|asym|bip)[ \t]+"
    rb"(?:unweighted|positive|posweighted|signed|multisigned|weighted|multiweighted|dynamic|multiposweighted)\b"
)
_JOINED = re.compile(r".+ \([^()]*\) .+")
_DIRECTIONS = {"directed": True, "undirected": False, "mutual": True}
_GEPHI = frozenset({"id", "label", "weight", "timeset", "interval"})  # beside Source, Target and Type


@dataclass(frozen=True)
class Origin:
    """Meaning of the columns of an edge table, by position from 0.

    ``direction`` is the column whose values declare the direction of each edge (`read_direction`); ``directed`` the
    direction that is declared for all. ``spaces`` are the sets from which the ids of the two ends come: where they
    differ, the same id is two nodes. ``names`` are the columns' names without types.
    """

    name: str
    source: int
    target: int
    weight: int | None
    direction: int | None
    directed: bool | None
    names: tuple[str, ...]
    spaces: tuple[str, str] | None = None

    def complete(self, hints: Hints) -> Hints:
        """Return hints with the columns of the origin, where they choose no others."""
        return replace(
            hints,
            source=self.source if hints.source is None else hints.source,
            target=self.target if hints.target is None else hints.target,
            weights=self.weight if hints.weights is None else hints.weights,
        )

    def find_direction(self, text: NDArray[np.uint8], columns: Columns, marks: Marks, hints: Hints) -> bool | None:
        """Return the direction that a whole text declares; raise InputError where it has edges of both kinds."""
        if self.direction is None or hints.directed is not None:
            return self.directed
        positions = (self.direction, self.direction, -1, -1, columns[4])
        parsed = edge_lists.parse_strings(text, positions, marks, dates=False, threads=hints.threads)
        directions = read_direction(name.decode("utf-8", "replace") for name in parsed.names.split(b"\n"))
        if directions == (True, True):
            raise self._ambiguous_direction()
        return None if directions is None else directions[0]

    def find_whole_direction(
        self, hints: Hints, values: Callable[[int], Sequence[Any]] | None, *, rows: int | None
    ) -> bool | None:
        """Return the direction of all edges of a table; raise InputError where a column says it of each.

        ``values`` returns values of a column. If they are those of all ``rows``, and none is directed, no edge is.
        """
        if hints.directed is not None or hints.bipartite:
            return None
        if self.direction is None:
            return self.directed
        kinds = [] if values is None else values(self.direction)
        directions = read_direction(map(str, kinds)) if len(kinds) else None
        if directions is None:
            return None
        if directions == (False, True) and rows is not None and len(kinds) >= rows:
            return False
        raise self._ambiguous_direction()

    def _ambiguous_direction(self) -> InputError:
        return AmbiguousTable(
            f"column {self.names[self.direction or 0]!r} says which edges have a direction, and a graph has one kind",
            {"directed=True": "edges with a direction", "directed=False": "edges without"},
            argument="directed",
        )

    def refuse_two_spaces(self, source: Source, hints: Hints) -> None:
        """Refuse a file with ids of two sets where only the whole of it tells whether they overlap."""
        if self.spaces is not None and self.spaces[0] != self.spaces[1] and not hints.bipartite:
            problem = "the ids of the two ends are of two sets, which may overlap: pass bipartite=True"
            raise source.error(problem, argument="bipartite")

    def check_spaces(self, numbered: Numbered, hints: Hints) -> None:
        """Refuse ids of two sets that overlap, unless the graph is read as bipartite."""
        if self.spaces is None or self.spaces[0] == self.spaces[1] or hints.bipartite:
            return
        both = np.intersect1d(numbered[0], numbered[1])
        both = both[both >= 0]
        if len(both):
            raise InputError(
                f"the ids of {self.spaces[0]!r} and of {self.spaces[1]!r} are two sets, and "
                f"{numbered[2][both[:1]].tolist()[0]!r} is in both: pass bipartite=True",
                argument="bipartite",
            )


def apply_origin(
    columns: Sequence[Column], hints: Hints, *, preamble: bytes = b"", are_named: bool = True
) -> Origin | None:
    """Return the origin of a table of edges, if it is known.

    Raise InputError for a table of Cytoscape, whose ends are in one column, and for one of nodes of Gephi.
    """
    names = [column.name or "" for column in columns] if are_named else []
    is_telling = any(":" in name or name.startswith("~") or name.strip().lower() in _TELLING for name in names)
    if not is_telling and tuple(names[:2]) != NODE_TABLE and not preamble.startswith(b"%"):
        return None
    if hints.source is None and names:
        _refuse_joined_ends(columns)
        if not hints.bipartite and hints.target is None and vocabulary.find_pair(names) is None:
            _refuse_nodes(names, columns)
    return find_konect(preamble, len(columns)) or find_origin(names)


def find_origin(header: Sequence[str]) -> Origin | None:
    """Return the origin of a table with these names of columns, if it is known.

    Examples
    --------
    >>> neo4j = find_origin([":START_ID(Person)", ":END_ID(Film)", ":TYPE", "weight:float"])
    >>> neo4j.name, neo4j.source, neo4j.target, neo4j.weight, neo4j.spaces
    ('neo4j', 0, 1, 3, ('Person', 'Film'))
    >>> neptune = find_origin(["~id", "~from", "~to", "~label", "weight:Double"])
    >>> neptune.name, neptune.source, neptune.target, neptune.weight
    ('neptune', 1, 2, 4)
    >>> gephi = find_origin(["Source", "Target", "Type", "Id", "Label", "Weight"])
    >>> gephi.name, gephi.weight, gephi.direction
    ('gephi', 5, 2)
    >>> find_origin(["source", "target", "weight"]) is None
    True
    """
    names = [name.strip() for name in header]
    return _find_neo4j(names) or _find_neptune(names) or _find_gephi(names)


def _refuse_joined_ends(columns: Sequence[Column]) -> None:
    """Refuse an edge table of Cytoscape, which has both ends in one column, with the kind of the edge between them."""
    if not any((column.name or "").lower().endswith("interaction") for column in columns):
        return
    for column in columns:
        if (column.name or "").lower() not in ("name", "shared name"):
            continue
        if column.values and all(isinstance(value, str) and _JOINED.fullmatch(value) for value in column.values):
            raise InputError(
                "this is an edge table of Cytoscape, which holds both ends of an edge in one column, "
                f"{column.name!r}, such as {column.values[0]!r}: export the network as GraphML, or split that column "
                "and name the two with source= and target=",
                argument="source",
            )


def _refuse_nodes(names: Sequence[str], columns: Sequence[Column]) -> None:
    """Refuse a table that begins as Gephi's tables of nodes do, where each of the first ids occurs once."""
    texts = [str(each) for each in columns[0].values if each not in (None, "")]
    if tuple(names[:2]) == NODE_TABLE and len(texts) > 1 and len(set(texts)) == len(texts):
        raise InputError(
            f"the columns {', '.join(map(repr, names[:4]))}{', ...' * (len(names) > 4)} are those of a table of "
            "nodes, as Gephi exports it, and each id occurs once: pass the table of edges; or source= and target= "
            "if two of these columns are the ends of edges",
            argument="source",
        )


def read_direction(values: Iterable[str]) -> tuple[bool, bool] | None:
    """Return whether there are directed, and undirected, edges by the values of a column; None if it has other values.

    Examples
    --------
    >>> read_direction(["Undirected", "undirected"]), read_direction(["Directed", "Undirected"])
    ((False, True), (True, True))
    >>> read_direction(["friend", "Directed"]) is None
    True
    """
    kinds = {value.strip().lower() for value in values}
    if not kinds or not kinds <= _DIRECTIONS.keys():
        return None
    directions = {_DIRECTIONS[kind] for kind in kinds}
    return True in directions, False in directions


def _find_neo4j(names: list[str]) -> Origin | None:
    roles = [_ROLE.fullmatch(name) for name in names]
    positions = {match["role"].upper(): at for at, match in enumerate(roles) if match is not None}
    if not {"START_ID", "END_ID"} <= positions.keys():
        return None
    start, end = roles[positions["START_ID"]], roles[positions["END_ID"]]
    assert start is not None and end is not None
    first, second = start["space"], end["space"]
    return Origin(
        "neo4j",
        positions["START_ID"],
        positions["END_ID"],
        next((at for at, name in enumerate(names) if roles[at] is None and _is_weight(name)), None),
        None,
        True,
        tuple(name if roles[at] else _property_name(name) for at, name in enumerate(names)),
        (first, second) if first and second else None,
    )


def _find_neptune(names: list[str]) -> Origin | None:
    folded = [name.lower() for name in names]
    if not {"~from", "~to"} <= set(folded):
        return None
    weight = next((at for at, name in enumerate(names) if _is_weight(name)), None)
    properties = tuple(name if name.startswith("~") else _property_name(name) for name in names)
    return Origin("neptune", folded.index("~from"), folded.index("~to"), weight, None, True, properties)


def _is_weight(name: str) -> bool:
    """Return whether a property is called weight and is a number."""
    match = _PROPERTY.fullmatch(name)
    if match is None or match["list"] or match["name"].lower() not in vocabulary.WEIGHTS:
        return False
    return match["type"] is None or match["type"].lower() in _NUMBERS


def _property_name(name: str) -> str:
    match = _PROPERTY.fullmatch(name)
    return name if match is None or not match["name"] else match["name"]


def _find_gephi(names: list[str]) -> Origin | None:
    folded = [name.lower() for name in names]
    if not {"source", "target", "type"} <= set(folded) or not _GEPHI & set(folded):
        return None
    weight = folded.index("weight") if "weight" in folded else None
    source, target, direction = map(folded.index, ("source", "target", "type"))
    return Origin("gephi", source, target, weight, direction, None, tuple(names))


def find_konect(preamble: bytes, width: int) -> Origin | None:
    r"""Return the origin KONECT, by the lines before records of so many columns, if they are its.

    Examples
    --------
    >>> konect = find_konect(b"% asym positive\n% 9 3 3\n", 4)
    >>> konect.name, konect.directed, konect.weight
    ('konect', True, 2)
    """
    match = _KONECT.match(preamble)
    if match is None:
        return None
    names = ("source", "target", "weight", "time")[:width]
    spaces = ("column 0", "column 1") if match["kind"] == b"bip" else None
    directed = None if spaces else match["kind"] == b"asym"
    return Origin("konect", 0, 1, 2 if width > 2 else None, None, directed, names, spaces)
