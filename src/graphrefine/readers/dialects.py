"""Dialects of tables: headers of Neo4j's and Neptune's import files and of Gephi's edge tables, comments of KONECT.

Neo4j has ``:START_ID``, ``:END_ID`` and ``:TYPE``, perhaps with the space of the ids in brackets, and properties with
their types, such as ``weight:float``; its relationships have a direction. Neptune has ``~id``, ``~from``, ``~to`` and
``~label``, and such properties too. Gephi has Source, Target, Type, Id, Label and
Weight; the values of Type say whether an edge has a direction. A file of KONECT has no header, but a first comment that
says whether edges have a direction, or lead from one set to another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphrefine.errors import InputError
from graphrefine.graph.node_ids import Numbered
from graphrefine.kernels import edge_lists
from graphrefine.kernels.edge_lists import Columns, Marks
from graphrefine.readers.options import WEIGHT_NAMES, ReadOptions
from graphrefine.readers.source import Source

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
class Dialect:
    """Meaning of the columns of an edge table, by position from 0.

    ``direction`` is the column whose values declare the direction of each edge (`read_direction`); ``directed`` the
    direction that the dialect declares for all. ``spaces`` are the sets from which the ids of the two ends come: where
    they differ, the same id is two nodes. ``names`` are the columns' names without types.
    """

    name: str
    source: int
    target: int
    weight: int | None
    direction: int | None
    directed: bool | None
    names: tuple[str, ...]
    spaces: tuple[str, str] | None = None

    def complete(self, options: ReadOptions) -> ReadOptions:
        """Options with the columns of the dialect, where they name no others."""
        return replace(
            options,
            source=self.source if options.source is None else options.source,
            target=self.target if options.target is None else options.target,
            weights=self.weight if options.weights is None else options.weights,
        )

    def find_direction(
        self, text: NDArray[np.uint8], columns: Columns, marks: Marks, options: ReadOptions
    ) -> bool | None:
        """The direction that a text declares by this dialect; InputError where edges of both kinds are in it."""
        if self.direction is None or options.directed is not None:
            return self.directed
        place = (self.direction, self.direction, -1, -1, columns[4])
        parsed = edge_lists.parse_strings(text, place, marks, dates=False, threads=options.thread_count)
        directions = read_direction(name.decode("utf-8", "replace") for name in parsed.names.split(b"\n"))
        if directions == (True, True):
            raise InputError(
                f"the column {self.names[self.direction]!r} says of some edges that they are directed, and of others "
                "that they are not: say directed=True or directed=False",
                argument="directed",
            )
        return None if directions is None else directions[0]

    def find_whole_direction(
        self, options: ReadOptions, values: Callable[[int], Sequence[Any]] | None, *, rows: int | None
    ) -> bool | None:
        """The direction of all edges of a table; InputError where a column says it of each.

        ``values`` gives values of a column. If they are those of all ``rows``, and none is directed, no edge is.
        """
        if options.directed is not None or options.bipartite:
            return None
        if self.direction is None:
            return self.directed
        kinds = [] if values is None else values(self.direction)
        directions = read_direction(map(str, kinds)) if len(kinds) else None
        if directions is None:
            return None
        if directions == (False, True) and rows is not None and len(kinds) >= rows:
            return False
        raise InputError(
            f"the column {self.names[self.direction]!r} says which edges are directed: say directed=True or "
            "directed=False for all",
            argument="directed",
        )

    def refuse_two_spaces(self, source: Source, options: ReadOptions) -> None:
        """Refuse a file with ids of two sets where it is known after all of them only whether they coincide."""
        if self.spaces is not None and self.spaces[0] != self.spaces[1] and not options.bipartite:
            problem = "the ids of the two ends are of two sets, which may coincide: say bipartite=True"
            raise source.error(problem, argument="bipartite")

    def check_spaces(self, numbered: Numbered, options: ReadOptions) -> None:
        """Refuse ids of two sets that coincide, unless the graph is read as bipartite."""
        if self.spaces is None or self.spaces[0] == self.spaces[1] or options.bipartite:
            return
        both = np.intersect1d(numbered[0], numbered[1])
        both = both[both >= 0]
        if len(both):
            raise InputError(
                f"the ids of {self.spaces[0]!r} and of {self.spaces[1]!r} are two sets, and "
                f"{numbered[2][both[:1]].tolist()[0]!r} is in both: say bipartite=True",
                argument="bipartite",
            )


def find_dialect(header: Sequence[str]) -> Dialect | None:
    """The dialect of the names of columns, if it is that of one.

    Examples
    --------
    >>> neo4j = find_dialect([":START_ID(Person)", ":END_ID(Film)", ":TYPE", "weight:float"])
    >>> neo4j.name, neo4j.source, neo4j.target, neo4j.weight, neo4j.spaces
    ('neo4j', 0, 1, 3, ('Person', 'Film'))
    >>> neptune = find_dialect(["~id", "~from", "~to", "~label", "weight:Double"])
    >>> neptune.name, neptune.source, neptune.target, neptune.weight
    ('neptune', 1, 2, 4)
    >>> gephi = find_dialect(["Source", "Target", "Type", "Id", "Label", "Weight"])
    >>> gephi.name, gephi.weight, gephi.direction
    ('gephi', 5, 2)
    >>> find_dialect(["source", "target", "weight"]) is None
    True
    """
    names = [name.strip() for name in header]
    return _find_neo4j(names) or _find_neptune(names) or _find_gephi(names)


def refuse_joined_ends(header: Sequence[str], values: Callable[[int], Sequence[Any]]) -> None:
    """Refuse an edge table of Cytoscape, which has both ends in one column, with the kind of the edge between them."""
    if not any(name.lower().endswith("interaction") for name in header):
        return
    for at, name in enumerate(header):
        if name.lower() not in ("name", "shared name"):
            continue
        joined = list(values(at))
        if joined and all(isinstance(value, str) and _JOINED.fullmatch(value) for value in joined):
            raise InputError(
                f"this is an edge table of Cytoscape, which holds both ends of an edge in one column, {name!r}, such "
                f"as {joined[0]!r}: export the network as GraphML, or split that column and name the two with source= "
                "and target=",
                argument="source",
            )


def refuse_nodes(header: Sequence[str], ids: Sequence[Any]) -> None:
    """Refuse a table that begins as Gephi's tables of nodes do, where each of the first ids stands once."""
    texts = [str(each) for each in ids if each not in (None, "")]
    if len(texts) > 1 and len(set(texts)) == len(texts):
        raise InputError(
            f"the columns {', '.join(map(repr, header[:4]))}{', ...' * (len(header) > 4)} are those of a table of "
            "nodes, as Gephi exports it, and each id stands once: give the table of edges; or say source= and target= "
            "if two of these columns are the ends of edges",
            argument="source",
        )


def read_direction(values: Iterable[str]) -> tuple[bool, bool] | None:
    """Whether there are directed, and undirected, edges by the values of a column; None if it has other values.

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


def _find_neo4j(names: list[str]) -> Dialect | None:
    roles = [_ROLE.fullmatch(name) for name in names]
    places = {match["role"].upper(): at for at, match in enumerate(roles) if match is not None}
    if not {"START_ID", "END_ID"} <= places.keys():
        return None
    start, end = roles[places["START_ID"]], roles[places["END_ID"]]
    assert start is not None and end is not None
    first, second = start["space"], end["space"]
    return Dialect(
        "neo4j",
        places["START_ID"],
        places["END_ID"],
        next((at for at, name in enumerate(names) if roles[at] is None and _is_weight(name)), None),
        None,
        True,
        tuple(name if roles[at] else _property_name(name) for at, name in enumerate(names)),
        (first, second) if first and second else None,
    )


def _find_neptune(names: list[str]) -> Dialect | None:
    folded = [name.lower() for name in names]
    if not {"~from", "~to"} <= set(folded):
        return None
    weight = next((at for at, name in enumerate(names) if _is_weight(name)), None)
    properties = tuple(name if name.startswith("~") else _property_name(name) for name in names)
    return Dialect("neptune", folded.index("~from"), folded.index("~to"), weight, None, True, properties)


def _is_weight(name: str) -> bool:
    """Whether a property is called weight and is a number."""
    match = _PROPERTY.fullmatch(name)
    if match is None or match["list"] or match["name"].lower() not in WEIGHT_NAMES:
        return False
    return match["type"] is None or match["type"].lower() in _NUMBERS


def _property_name(name: str) -> str:
    match = _PROPERTY.fullmatch(name)
    return name if match is None or not match["name"] else match["name"]


def _find_gephi(names: list[str]) -> Dialect | None:
    folded = [name.lower() for name in names]
    if not {"source", "target", "type"} <= set(folded) or not _GEPHI & set(folded):
        return None
    weight = folded.index("weight") if "weight" in folded else None
    return Dialect(
        "gephi", folded.index("source"), folded.index("target"), weight, folded.index("type"), None, tuple(names)
    )


def find_konect(preamble: bytes, width: int) -> Dialect | None:
    r"""The dialect of KONECT, by the lines before records of so many columns, if they are in it.

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
    sides = ("column 0", "column 1") if match["kind"] == b"bip" else None
    directed = None if sides else match["kind"] == b"asym"
    return Dialect("konect", 0, 1, 2 if width > 2 else None, None, directed, names, sides)
