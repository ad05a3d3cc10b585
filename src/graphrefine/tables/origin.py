"""Step 5, origin: the program that wrote a table, which has its own names of columns, or a first comment.

Neo4j has ``:START_ID``, ``:END_ID`` and ``:TYPE``, perhaps with the space of the ids in brackets, and properties with
their types, such as ``weight:float``; its relationships have a direction. Neptune has ``~id``, ``~from``, ``~to`` and
``~label``, and such properties too. Gephi has Source, Target, Type, Id, Label and Weight; the values of Type say
whether an edge has a direction. A file of KONECT has no header, but a first comment that says whether edges have a
direction, or lead from one set to another. Cytoscape has both ends in one column, and is refused; so is Gephi's table
of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graphrefine.errors import InputError
from graphrefine.tables import vocabulary
from graphrefine.tables.kinds import Column
from graphrefine.tables.sample import Hints

_ROLE = re.compile(r"[^:]*:(?P<role>START_ID|END_ID|TYPE|IGNORE)(?:\((?P<space>[^)]*)\))?(?:\{.*\})?", re.IGNORECASE)
_PROPERTY = re.compile(r"(?P<name>[^:]*)(?::(?P<type>[A-Za-z]+)(?:\{.*\})?)?")  # no list, as weight:float[] is
_NUMBERS = {"int", "integer", "long", "short", "byte", "float", "double"}
_KONECT = re.compile(
    rb"%[ \t]*(?P<kind>sym|asym|bip)[ \t]+"
    rb"(?:unweighted|positive|posweighted|signed|multisigned|weighted|multiweighted|dynamic|multiposweighted)\b"
)
_JOINED = re.compile(r".+ \([^()]*\) .+")
_DIRECTIONS = {"directed": True, "undirected": False, "mutual": True}
# A table of others may have source, target and type, where the type is a kind of edge: one more name is Gephi's.
_GEPHI = frozenset({"id", "label", "weight", "timeset", "interval"})


@dataclass(frozen=True)
class Origin:
    """Meaning of the columns of an edge table, by position from 0."""

    name: str
    source: int
    target: int
    weight: int | None = None
    directed: bool | None = None  # declared for all edges
    spaces: tuple[str, str] | None = None  # two sets from which the ids come: the same id is then two nodes
    direction: int | None = None  # column whose values declare the direction of each edge

    def complete(self, hints: Hints) -> Hints:
        """Return hints with the columns of the origin, where they choose no others."""
        return replace(
            hints,
            source=self.source if hints.source is None else hints.source,
            target=self.target if hints.target is None else hints.target,
            weights=self.weight if hints.weights is None else hints.weights,
        )


def apply_origin(columns: Sequence[Column], hints: Hints, *, preamble: bytes = b"") -> Origin | None:
    """Return the origin of a table of edges, if its column names or the lines before them tell; refuse other tables."""
    if not columns or columns[0].name is None:
        return find_konect(preamble, len(columns))
    names = [column.name or "" for column in columns]
    if hints.source is None:
        _refuse_joined_ends(names, columns)
        if not hints.bipartite and hints.target is None and vocabulary.find_pair(names) is None:
            _refuse_nodes(names, columns)
    return find_konect(preamble, len(columns)) or find_origin(names)


def find_origin(header: Sequence[str]) -> Origin | None:
    """Return the origin of a table with these names of columns, if it is known."""
    names = [name.strip() for name in header]
    folded = [name.lower() for name in names]
    weight = next((at for at, name in enumerate(names) if _is_weight(name)), None)
    roles = {
        match["role"].upper(): (at, match["space"]) for at, match in enumerate(map(_ROLE.fullmatch, names)) if match
    }
    if {"START_ID", "END_ID"} <= roles.keys():
        (source, first), (target, second) = roles["START_ID"], roles["END_ID"]
        spaces = (first, second) if first and second and first != second else None
        return Origin("neo4j", source, target, weight, True, spaces)
    if {"~from", "~to"} <= set(folded):
        return Origin("neptune", folded.index("~from"), folded.index("~to"), weight, True)
    if {"source", "target", "type"} <= set(folded) and _GEPHI & set(folded):
        source, target, direction = map(folded.index, ("source", "target", "type"))
        weight = folded.index("weight") if "weight" in folded else None
        return Origin("gephi", source, target, weight, direction=direction)
    return None


def _is_weight(name: str) -> bool:
    """Return whether a property is called weight and is a number."""
    match = _PROPERTY.fullmatch(name)
    if match is None or match["name"].lower() not in vocabulary.WEIGHTS:
        return False
    return match["type"] is None or match["type"].lower() in _NUMBERS


def find_konect(preamble: bytes, width: int) -> Origin | None:
    """Return the origin KONECT, if the lines before records of ``width`` columns are its."""
    match = _KONECT.match(preamble)
    if match is None:
        return None
    weight = 2 if width > 2 else None
    if match["kind"] == b"bip":
        return Origin("konect", 0, 1, weight, spaces=("column 0", "column 1"))
    return Origin("konect", 0, 1, weight, match["kind"] == b"asym")


def read_direction(values: Iterable[str]) -> set[bool]:
    """Return which directions of edges are among the values of a column; none if it has other values."""
    kinds = {value.strip().lower() for value in values}
    return {_DIRECTIONS[kind] for kind in kinds} if kinds <= _DIRECTIONS.keys() else set()


def _refuse_joined_ends(names: Sequence[str], columns: Sequence[Column]) -> None:
    """Refuse an edge table of Cytoscape, which has both ends in one column, with the kind of the edge between them."""
    if not any(name.lower() in ("interaction", "shared interaction") for name in names):
        return
    for name, column in zip(names, columns, strict=True):
        if name.lower() not in ("name", "shared name"):
            continue
        if column.values and all(isinstance(value, str) and _JOINED.fullmatch(value) for value in column.values):
            raise InputError(
                "this is an edge table of Cytoscape, which holds both ends of an edge in one column, "
                f"{name!r}, such as {column.values[0]!r}: export the network as GraphML, or split that column "
                "and name the two with source= and target=",
                argument="source",
            )


def _refuse_nodes(names: Sequence[str], columns: Sequence[Column]) -> None:
    """Refuse a table that begins as Gephi's tables of nodes do, where each of the first ids occurs once."""
    if tuple(names[:2]) != ("Id", "Label"):
        return
    ids = [str(each) for each in columns[0].values if each not in (None, "")]
    if len(ids) > 1 and len(set(ids)) == len(ids):
        raise InputError(
            f"the columns {', '.join(map(repr, names[:4]))}{', ...' * (len(names) > 4)} are those of a table of "
            "nodes, as Gephi exports it, and each id occurs once: pass the table of edges; or source= and target= "
            "if two of these columns are the ends of edges",
            argument="source",
        )
